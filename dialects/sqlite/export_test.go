package sqlite

import (
	"maps"
	"slices"

	"github.com/sqlc-dev/meyer/ast"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// PragmaListed reports whether a PRAGMA may be read.
func PragmaListed(name string) bool {
	_, ok := pragmas[lexical.Lower(name)]
	return ok
}

// PragmaSets reports whether a listed PRAGMA would set something if it were
// given a value.
func PragmaSets(name string) bool { return pragmas[lexical.Lower(name)] == argNone }

// NodeUse names what the walker does with a type of node, "" when the type is
// not listed.
func NodeUse(name string) string {
	return map[nodeUse]string{
		useRoot: "root", useRefused: "refused", usePart: "part", useLeaf: "leaf",
		useForbidden: "forbidden", useDefinition: "definition",
	}[nodeRules[name].use]
}

// NodeNames are the listed types of nodes.
func NodeNames() []string { return slices.Sorted(maps.Keys(nodeRules)) }

// Walk judges one statement of a text as Analyze does, and reports which of
// the places start..end were met.
func Walk(sql string, n ast.Stmt) (st sqlguard.Statement, met func(start, end int) bool) {
	w := newWalker(sql)
	w.statement(n, &st)
	return st, w.seen.has
}

// WordClass is the class that the reader gives to a word: name, reserved, or
// soft for keywords that can be names.
func WordClass(word string) string {
	switch classOf(word) {
	case wordReserved:
		return "reserved"
	case wordSoft, wordSyntax, wordCall:
		return "soft"
	case wordName:
		return "name"
	default:
		return ""
	}
}

// Complete returns an error unless a walk over the tree of the only statement of sql meets
// everything in sql.
func Complete(sql string, n ast.Stmt) error {
	w := newWalker(sql)
	var st sqlguard.Statement
	w.statement(n, &st)
	return w.complete()
}

// Instead are the functions of other servers with what to write instead.
func Instead() map[string]string { return wording.Functions }
