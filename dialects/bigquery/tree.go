package bigquery

import (
	"reflect"
	"strings"

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
		Hidden:   []string{"Span", "JoinLocation"},
		Names:    []string{"Identifier"},
		Inner:    treeInner,
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

// treeInner looks into nodes that only hold others.
func treeInner(v any) (any, bool) {
	switch n := v.(type) {
	case *ast.SelectList:
		return n.Columns, true
	case *ast.FromClause:
		return n.TableExpression, true
	case *ast.WhereClause:
		return n.Expr, true
	case *ast.GroupingItem:
		if n.Expr != nil && n.Alias == nil && n.Order == nil {
			return n.Expr, true
		}
	case *ast.SelectColumn:
		if n.Alias == nil {
			return n.Expr, true
		}
	}
	return nil, false
}

// treeText spells names and literals.
func treeText(v any) (string, bool) {
	switch n := v.(type) {
	case *ast.Identifier:
		return n.Name, true
	case *ast.PathExpression:
		names := make([]string, len(n.Names))
		for i, part := range n.Names {
			names[i] = part.Name
		}
		return strings.Join(names, "."), true
	case *ast.IntLiteral:
		return n.Image, true
	case *ast.FloatLiteral:
		return n.Image, true
	case *ast.BooleanLiteral:
		return n.Image, true
	case *ast.NullLiteral:
		return n.Image, true
	case *ast.StringLiteral:
		var text strings.Builder
		for _, c := range n.Components {
			text.WriteString(c.Image)
		}
		return text.String(), true
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
