package duckdb

import (
	"maps"
	"slices"
	"strings"

	"github.com/sqlc-dev/darkwing/ast"

	"github.com/ktxhq/ktx/sqlguard"
)

// NodeNames returns the types of nodes that the table lists, sorted.
func NodeNames() []string { return slices.Sorted(maps.Keys(nodeRules)) }

// NodeUse returns what the table says of a type of node.
func NodeUse(name string) string {
	return map[nodeUse]string{
		useRoot: "root", useRefused: "refused", usePart: "part", useWriting: "writing", useForbidden: "forbidden", useDefinition: "definition",
	}[nodeRules[name].use]
}

// Walk walks one statement.
func Walk(sql string, n ast.Stmt) sqlguard.Statement {
	w := &walker{sql: sql}
	var st sqlguard.Statement
	w.statement(n, &st)
	return st
}

// Functions returns the names of the lists of functions: those that may be called, the
// denied ones, and the others that were looked at.
func Functions() (allowed, refused, undecided []string) {
	for _, d := range deniedFunctions {
		refused = append(refused, strings.Fields(d.names)...)
	}
	return slices.Sorted(maps.Keys(allowedNames)), refused, strings.Fields(undecidedFunctions)
}

// TableFunctions returns the table functions that may be called.
func TableFunctions() []string { return slices.Sorted(maps.Keys(tableFunctions)) }

// Denied reports whether a rule refuses the function of that name.
func Denied(name string) bool { return denied(name) != nil }
