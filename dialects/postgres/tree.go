package postgres

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/syntaxtree"
	"github.com/ktxhq/ktx/sqlguard"
)

// Tree returns the syntax tree of each statement, for people to read. As for Analyze,
// untrusted SQL needs a bound on its depth before it reaches Tree.
func (Dialect) Tree(sql string) ([]sqlguard.Node, error) {
	tree, err := parseTree(sql)
	if err != nil {
		return nil, syntaxError(sql, err)
	}
	reader := syntaxtree.Reader{
		Packages: []string{nodePackage},
		Hidden: []string{
			"Location", "Inh", "Relpersistence", "StmtLocation", "StmtLen", "Typemod", "FrameOptions",
			"SETOP_NONE", "LIMIT_OPTION_DEFAULT", "COERCE_EXPLICIT_CALL", "SORTBY_DEFAULT", "SORTBY_NULLS_DEFAULT", "ONCOMMIT_NOOP", "AEXPR_OP", "JOIN_INNER",
			"CTEMaterializeDefault", "DROP_RESTRICT", "OVERRIDING_NOT_SET",
		},
		Text: treeText, Inner: treeInner,
		Names: []string{"String", "Integer", "Float", "Boolean", "BitString", "literal"}, Joined: "String",
		Place: func(v any) sqlguard.Span { return treePlace(sql, v) },
	}
	nodes := make([]sqlguard.Node, len(tree.Stmts))
	for i, raw := range tree.Stmts {
		nodes[i] = reader.Read(raw.Stmt, statementSpan(sql, int(raw.StmtLocation), int(raw.StmtLen)))
	}
	return nodes, nil
}

var nodePackage = reflect.TypeFor[node]().PkgPath()

// literal is a constant in a statement.
type literal struct{ text string }

// treeInner unwraps a node: it removes Node and the wrappers that say which kind
// of node or constant it is.
func treeInner(v any) (any, bool) {
	if n, ok := v.(*node); ok {
		return n.GetNode(), true
	}
	t := reflect.TypeOf(v).Elem()
	choice := strings.HasPrefix(t.Name(), "A_Const_")
	if t.PkgPath() != nodePackage || !choice && !strings.HasPrefix(t.Name(), "Node_") {
		return nil, false
	}
	inner := reflect.ValueOf(v).Elem().Field(0).Interface()
	if text, ok := inner.(interface{ GetSval() string }); ok && choice {
		return &literal{"'" + text.GetSval() + "'"}, true
	}
	return inner, true
}

// treeText spells names and constants.
func treeText(v any) (string, bool) {
	switch n := v.(type) {
	case *literal:
		return n.text, true
	case interface{ GetSval() string }:
		return n.GetSval(), true
	case interface{ GetFval() string }:
		return n.GetFval(), true
	case interface{ GetBsval() string }:
		return n.GetBsval(), true
	case interface{ GetIval() int32 }:
		return strconv.Itoa(int(n.GetIval())), true
	case interface{ GetBoolval() bool }:
		return strconv.FormatBool(n.GetBoolval()), true
	default:
		return "", false
	}
}

// treePlace is the span of the token at the location of a node.
func treePlace(sql string, v any) sqlguard.Span {
	n, ok := v.(interface{ GetLocation() int32 })
	if !ok {
		return sqlguard.Span{}
	}
	at := int(n.GetLocation())
	if at < 0 || at >= len(sql) {
		return sqlguard.Span{}
	}
	l := lexer{sql: sql, pos: at}
	t, ok := l.next()
	if !ok {
		return sqlguard.Span{}
	}
	return sqlguard.Span{Start: t.Start, End: t.End}
}
