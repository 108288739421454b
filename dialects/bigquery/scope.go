package bigquery

import (
	"strings"

	"github.com/sqlc-dev/zetajones/ast"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
)

// scope is a list of names: of common table expressions, or of aliases.
type scope struct {
	name string // folded
	up   *scope
}

func (s *scope) has(name string) bool {
	name = lexical.Lower(name)
	for ; s != nil; s = s.up {
		if s.name == name {
			return true
		}
	}
	return false
}

// with adds the members of a WITH to the names of common table expressions. A member sees
// those before it, and with RECURSIVE all. It sees no alias of the query around it.
func (w *walker) with(n *ast.WithClause) {
	member := func(name string) {
		if !strings.Contains(name, ".") { // which FROM could take for the path of a table
			w.ctes = &scope{lexical.Lower(name), w.ctes}
		}
	}
	path, aliases, recursive := w.path, w.aliases, w.recursive
	w.aliases, w.recursive = nil, w.recursive || n.Recursive
	if n.Recursive {
		for _, e := range n.Entries {
			if e.AliasedQuery != nil {
				member(e.AliasedQuery.Identifier.Name)
			}
		}
	}
	for _, e := range n.Entries {
		if e.AliasedQuery == nil {
			w.node(e)
			continue
		}
		name := e.AliasedQuery.Identifier.Name
		w.path = joinPath(path, "with."+name)
		w.node(e)
		if !n.Recursive {
			member(name)
		}
	}
	w.path, w.aliases, w.recursive = path, aliases, recursive
}

func joinPath(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}

// visible adds the alias of a part of FROM to the names that surely are aliases to the
// right of it. A clause such as PIVOT makes another relation, so that the name is none.
func (w *walker) visible(name string, after []ast.Node) {
	for _, n := range after {
		if _, ok := n.(*ast.SampleClause); !ok {
			return
		}
	}
	if name != "" {
		w.aliases = &scope{lexical.Lower(name), w.aliases}
	}
}

// apart walks a part of a query that does not see the aliases beside it.
func (w *walker) apart(n ast.Node) {
	aliases := w.aliases
	w.aliases = w.outside
	w.node(n)
	w.aliases = aliases
}
