package sqlite

import (
	"github.com/sqlc-dev/meyer/ast"
	"github.com/sqlc-dev/meyer/parser"

	"github.com/ktxhq/ktx/dialects/internal/syntaxtree"
	"github.com/ktxhq/ktx/sqlguard"
)

// Tree returns the syntax tree of each statement, for people to read.
func (Dialect) Tree(sql string) ([]sqlguard.Node, error) {
	statements, err := parser.ParseString(sql)
	if err != nil {
		return nil, syntaxError(sql, err)
	}
	reader := syntaxtree.Reader{
		Packages: []string{astPath},
		Hidden:   []string{"Span", "Raw"},
		Names:    []string{"Ident"},
		Text:     treeText,
		Place:    treePlace,
	}
	nodes := make([]sqlguard.Node, len(statements))
	for i, n := range statements {
		nodes[i] = reader.Read(n, statementSpan(sql, n))
	}
	return nodes, nil
}

// treeText spells names, literals and parameters.
func treeText(v any) (string, bool) {
	switch n := v.(type) {
	case *ast.Ident:
		return n.Name, true
	case *ast.Literal:
		return n.Raw, true
	case *ast.BindParam:
		return n.Raw, true
	default:
		return "", false
	}
}

func treePlace(v any) sqlguard.Span {
	if n, ok := v.(ast.Node); ok {
		return sqlguard.Span{Start: n.Pos(), End: n.End()}
	}
	return sqlguard.Span{}
}
