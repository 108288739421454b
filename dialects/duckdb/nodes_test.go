package duckdb_test

import (
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sqlc-dev/darkwing/ast"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

var nodeMethod = regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+)\) Children\(\) +\[\]Node`)

// TestNodeTable checks that the table lists exactly the parser's node types.
func TestNodeTable(t *testing.T) {
	names := dialecttest.Names(nodeMethod, dialecttest.Source(t, "github.com/sqlc-dev/darkwing/ast"))
	if len(names) < 90 {
		t.Fatalf("only %d node types found", len(names))
	}
	if diff := cmp.Diff(names, duckdb.NodeNames()); diff != "" {
		t.Errorf("node table, - the parser's, + ours:\n%s", diff)
	}
}

// nodes are the parts of a query, each without parts of its own.
var nodes = []ast.Node{
	&ast.SelectStatement{}, &ast.ExplainStatement{}, &ast.PragmaStatement{},
	&ast.SelectNode{}, &ast.SetOperationNode{}, &ast.RecursiveCTENode{}, &ast.CommonTableExpr{}, &ast.DistinctModifier{}, &ast.OrderModifier{},
	&ast.LimitModifier{}, &ast.SampleOptions{}, &ast.AtClause{}, &ast.BaseTableRef{}, &ast.EmptyTableRef{}, &ast.JoinRef{}, &ast.SubqueryRef{},
	&ast.TableFunctionRef{}, &ast.ExpressionListRef{}, &ast.PivotRef{}, &ast.ShowRef{ShowType: ast.ShowTypeDescribe}, &ast.BetweenExpression{}, &ast.CaseExpression{},
	&ast.CastExpression{}, &ast.CollateExpression{}, &ast.ColumnRefExpression{}, &ast.ComparisonExpression{}, &ast.ConjunctionExpression{},
	&ast.ConstantExpression{}, &ast.FunctionExpression{}, &ast.LambdaExpression{}, &ast.OperatorExpression{}, &ast.PositionalReferenceExpression{},
	&ast.StarExpression{}, &ast.SubqueryExpression{}, &ast.TypeExpression{}, &ast.WindowExpression{},
}

// TestWalkVisitsEveryField plants a parameter in every field of every type of node that a
// query can hold, and looks whether the walk meets it there.
func TestWalkVisitsEveryField(t *testing.T) {
	fields := 0
	for _, name := range duckdb.NodeNames() {
		if use := duckdb.NodeUse(name); use != "part" && use != "root" {
			continue
		}
		i := slices.IndexFunc(nodes, func(n ast.Node) bool { return reflect.TypeOf(n).Elem().Name() == name })
		if i < 0 {
			t.Errorf("%s is not in nodes", name)
			continue
		}
		typ := reflect.TypeOf(nodes[i]).Elem()
		for _, field := range reflect.VisibleFields(typ) {
			if field.Anonymous || !field.IsExported() {
				continue
			}
			for n, value := range planted(field.Type, 5) {
				fields++
				node := reflect.New(typ)
				node.Elem().Set(reflect.ValueOf(nodes[i]).Elem())
				node.Elem().FieldByIndex(field.Index).Set(value)
				stmt, ok := embed(node.Interface())
				if !ok {
					t.Fatalf("%s cannot be embedded in a query", typ)
				}
				st := duckdb.Walk("", stmt)
				if !slices.ContainsFunc(st.Effects, func(f sqlguard.Finding) bool { return f.Code == sqlguard.CodeParameterNotAllowed }) {
					t.Errorf("%s.%s, place %d: the walk does not meet the parameter: %+v", name, field.Name, n, st.Effects)
				}
			}
		}
	}
	if fields < 70 {
		t.Errorf("only %d fields tried", fields)
	}
}

// planted returns values of a type that hold a parameter, one for each place.
func planted(t reflect.Type, depth int) []reflect.Value {
	param := &ast.ParameterExpression{Kind: ast.ParameterNumbered, Number: 1}
	query := &ast.SelectNode{Where: param}
	var out []reflect.Value
	switch {
	case depth == 0:
	case t == reflect.TypeFor[ast.Expr]():
		out = append(out, reflect.ValueOf(param))
	case t == reflect.TypeFor[ast.TableRef]():
		out = append(out, reflect.ValueOf(&ast.SubqueryRef{Subquery: &ast.SelectStatement{Node: query}}))
	case t == reflect.TypeFor[ast.QueryNode]():
		out = append(out, reflect.ValueOf(query))
	case t == reflect.TypeFor[ast.Stmt](), t == reflect.TypeFor[*ast.SelectStatement]():
		out = append(out, reflect.ValueOf(&ast.SelectStatement{Node: query}))
	case t == reflect.TypeFor[ast.ResultModifier]():
		out = append(out, reflect.ValueOf(&ast.LimitModifier{Limit: param}))
	case t == reflect.TypeFor[*ast.TypeExpression]():
		out = append(out, reflect.ValueOf(&ast.TypeExpression{Args: []ast.Expr{param}}))
	case t.Kind() == reflect.Slice:
		for _, item := range planted(t.Elem(), depth) {
			out = append(out, reflect.Append(reflect.MakeSlice(t, 0, 1), item))
		}
	case t.Kind() == reflect.Pointer:
		for _, item := range planted(t.Elem(), depth) {
			p := reflect.New(t.Elem())
			p.Elem().Set(item)
			out = append(out, p)
		}
	case t.Kind() == reflect.Struct:
		for _, field := range reflect.VisibleFields(t) {
			if field.Anonymous || !field.IsExported() {
				continue
			}
			for _, item := range planted(field.Type, depth-1) {
				s := reflect.New(t).Elem()
				s.FieldByIndex(field.Index).Set(item)
				out = append(out, s)
			}
		}
	}
	return out
}

// embed puts a node into a statement at a position that its type permits.
func embed(node any) (ast.Stmt, bool) {
	query := &ast.SelectNode{}
	stmt := &ast.SelectStatement{Node: query}
	switch n := node.(type) {
	case ast.Stmt:
		return n, true
	case *ast.TypeExpression:
		query.Where = &ast.CastExpression{CastType: n}
	case ast.Expr:
		query.Where = n
	case ast.QueryNode:
		stmt.Node = n
	case ast.TableRef:
		query.FromTable = n
	case ast.ResultModifier:
		query.Modifiers = []ast.ResultModifier{n}
	case *ast.CommonTableExpr:
		query.CTEs.Entries = []ast.CTEMapEntry{{Name: "x", CTE: n}}
	case *ast.SampleOptions:
		query.Sample = n
	case *ast.AtClause:
		query.FromTable = &ast.BaseTableRef{TableName: "t", At: n}
	default:
		return nil, false
	}
	return stmt, true
}

// strange nodes satisfy the parser's interfaces but are not from its package.
type (
	strangeStmt  struct{ ast.Stmt }
	strangeExpr  struct{ ast.Expr }
	strangeTable struct{ ast.TableRef }
	strangeQuery struct{ *ast.SelectNode }
)

// TestUnknownNodes checks that the walk refuses nodes that it does not know.
func TestUnknownNodes(t *testing.T) {
	query := func(q *ast.SelectNode) ast.Stmt { return &ast.SelectStatement{Node: q} }
	for name, stmt := range map[string]ast.Stmt{
		"statement":  &strangeStmt{&ast.SelectStatement{}},
		"explained":  &ast.ExplainStatement{Statement: &strangeStmt{&ast.SelectStatement{}}},
		"query":      &ast.SelectStatement{Node: strangeQuery{&ast.SelectNode{}}},
		"expression": query(&ast.SelectNode{Where: strangeExpr{&ast.ConstantExpression{}}}),
		"table":      query(&ast.SelectNode{FromTable: strangeTable{&ast.EmptyTableRef{}}}),
	} {
		st := duckdb.Walk("", stmt)
		if !slices.ContainsFunc(st.Effects, func(f sqlguard.Finding) bool { return f.Code == sqlguard.CodeStatementNotAllowed }) {
			t.Errorf("%s: no effect refuses it: %+v", name, st)
		}
	}
}
