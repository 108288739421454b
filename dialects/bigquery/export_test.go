package bigquery

import (
	"reflect"
	"slices"

	"github.com/sqlc-dev/zetajones/ast"

	"github.com/ktxhq/ktx/sqlguard"
)

// NodeTypes returns the types of the node table, sorted by name, and those that it lists
// twice.
func NodeTypes() (names, twice []string) {
	for _, rule := range nodeRules {
		for _, n := range rule.nodes {
			name := reflect.TypeOf(n).Elem().Name()
			if slices.Contains(names, name) {
				twice = append(twice, name)
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, twice
}

// Parts returns the types of nodes of which the walk visits every field.
func Parts() []reflect.Type {
	var out []reflect.Type
	for _, rule := range nodeRules {
		for _, n := range rule.nodes {
			if rule.use == usePart {
				out = append(out, reflect.TypeOf(n).Elem())
			}
		}
	}
	return out
}

// Walk states the facts of a node that stands where an expression may.
func Walk(n ast.Node) sqlguard.Statement {
	var st sqlguard.Statement
	w := &walker{stmt: &st}
	w.node(n)
	return st
}

// WalkStatement states the facts of a statement.
func WalkStatement(n ast.Node) sqlguard.Statement {
	var st sqlguard.Statement
	w := &walker{}
	w.statement(n, &st)
	return st
}

// Functions returns the names of the tables: the allowed functions, those that are denied by
// their whole name, and those of FROM.
func Functions() (allowed, refused, tables map[string]bool) {
	refused = make(map[string]bool)
	for name := range deniedFunctions.Names {
		refused[name] = true
	}
	return allowedFunctions, refused, tableFunctions
}

// Denied reports whether a rule denies a function.
func Denied(name string) bool { return deniedFunctions.Find(name) != nil }
