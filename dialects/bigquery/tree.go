package bigquery

import (
	"reflect"

	"github.com/sqlc-dev/zetajones/ast"

	"github.com/ktxhq/ktx/dialects/internal/syntaxtree"
	"github.com/ktxhq/ktx/sqlguard"
)

// Tree returns the syntax tree of each statement, for people to read.
func (d Dialect) Tree(sql string) ([]sqlguard.Node, error) {
	script, err := parse(sql, d.Lex(sql).List)
	if err != nil {
		return nil, syntaxError(sql, err)
	}
	reader := syntaxtree.Reader{
		Packages: []string{reflect.TypeFor[ast.Identifier]().PkgPath()},
		Hidden:   []string{"Span"},
		Names:    []string{"Identifier"},
		Joined:   "Identifier",
		Text:     treeText,
		Place:    treePlace,
	}
	w := &walker{sql: sql}
	nodes := make([]sqlguard.Node, len(script.Statements.Statements))
	for i, n := range script.Statements.Statements {
		nodes[i] = reader.Read(n, w.statementSpan(n.Pos(), n.End()))
	}
	return nodes, nil
}

// treeText spells names and literals.
func treeText(v any) (string, bool) {
	switch n := v.(type) {
	case *ast.Identifier:
		return n.Name, true
	case *ast.IntLiteral:
		return n.Image, true
	case *ast.FloatLiteral:
		return n.Image, true
	case *ast.BooleanLiteral:
		return n.Image, true
	case *ast.NullLiteral:
		return n.Image, true
	case *ast.StringLiteralComponent:
		return n.Image, true
	case *ast.BytesLiteralComponent:
		return n.Image, true
	default:
		return "", false
	}
}

func treePlace(v any) sqlguard.Span {
	n, ok := v.(ast.Node)
	if !ok || n.Pos() < 0 || n.End() <= n.Pos() {
		return sqlguard.Span{}
	}
	return sqlguard.Span{Start: n.Pos(), End: n.End()}
}
