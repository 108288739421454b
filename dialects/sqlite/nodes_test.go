package sqlite_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sqlc-dev/meyer/ast"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/sqlguard"
)

var (
	nodeMethod      = regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+)\) Children\(\) \[\]Node`)
	statementMethod = regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+)\) stmtNode\(\)`)
)

// TestNodeTable checks that the table lists exactly the parser's node types.
func TestNodeTable(t *testing.T) {
	// A type is a node by its method Children, and a statement by its method
	// stmtNode.
	source := dialecttest.Source(t, "github.com/sqlc-dev/meyer/ast")
	names, statements := dialecttest.Names(nodeMethod, source), dialecttest.Names(statementMethod, source)
	if len(names) < 60 || len(statements) < 25 {
		t.Fatalf("only %d node types found, %d of them statements", len(names), len(statements))
	}
	if diff := cmp.Diff(names, sqlite.NodeNames()); diff != "" {
		t.Errorf("node table, - the parser's, + ours:\n%s", diff)
	}
	for _, name := range names {
		use := sqlite.NodeUse(name)
		if isRoot := use == "root" || use == "refused"; use == "" || isRoot != slices.Contains(statements, name) {
			t.Errorf("%s is listed as %q; the parser has it as a statement: %v", name, use, slices.Contains(statements, name))
		}
	}
}

// nodeTypes are the types of the nodes of a query, by name.
var nodeTypes = map[string]reflect.Type{
	"SelectStmt": reflect.TypeFor[ast.SelectStmt](), "ExplainStmt": reflect.TypeFor[ast.ExplainStmt](), "PragmaStmt": reflect.TypeFor[ast.PragmaStmt](),
	"With": reflect.TypeFor[ast.With](), "CTE": reflect.TypeFor[ast.CTE](), "SelectQuery": reflect.TypeFor[ast.SelectQuery](),
	"ValuesClause": reflect.TypeFor[ast.ValuesClause](), "ResultColumn": reflect.TypeFor[ast.ResultColumn](), "TableRef": reflect.TypeFor[ast.TableRef](),
	"OrderingTerm": reflect.TypeFor[ast.OrderingTerm](), "Limit": reflect.TypeFor[ast.Limit](), "WindowDef": reflect.TypeFor[ast.WindowDef](),
	"FrameBound": reflect.TypeFor[ast.FrameBound](), "QualifiedName": reflect.TypeFor[ast.QualifiedName](),
	"BinaryExpr": reflect.TypeFor[ast.BinaryExpr](), "UnaryExpr": reflect.TypeFor[ast.UnaryExpr](), "ParenExpr": reflect.TypeFor[ast.ParenExpr](),
	"LikeExpr": reflect.TypeFor[ast.LikeExpr](), "IsExpr": reflect.TypeFor[ast.IsExpr](), "NullCheckExpr": reflect.TypeFor[ast.NullCheckExpr](),
	"BetweenExpr": reflect.TypeFor[ast.BetweenExpr](), "InExpr": reflect.TypeFor[ast.InExpr](), "CaseExpr": reflect.TypeFor[ast.CaseExpr](),
	"CaseWhen": reflect.TypeFor[ast.CaseWhen](), "CastExpr": reflect.TypeFor[ast.CastExpr](), "CollateExpr": reflect.TypeFor[ast.CollateExpr](),
	"FuncCall": reflect.TypeFor[ast.FuncCall](), "ExistsExpr": reflect.TypeFor[ast.ExistsExpr](), "SubqueryExpr": reflect.TypeFor[ast.SubqueryExpr](),
	"VectorExpr": reflect.TypeFor[ast.VectorExpr](), "QualifiedRef": reflect.TypeFor[ast.QualifiedRef](), "Star": reflect.TypeFor[ast.Star](),
	"Ident": reflect.TypeFor[ast.Ident](), "Literal": reflect.TypeFor[ast.Literal](), "TypeName": reflect.TypeFor[ast.TypeName](),
	"JoinOperator": reflect.TypeFor[ast.JoinOperator](), "CompoundOp": reflect.TypeFor[ast.CompoundOp](),
	"BindParam": reflect.TypeFor[ast.BindParam](), "RaiseExpr": reflect.TypeFor[ast.RaiseExpr](),
}

// TestWalkVisitsEveryField plants a forbidden expression, or a name, in every
// field of every type of node that a query can hold, and looks whether the
// walk meets it there.
func TestWalkVisitsEveryField(t *testing.T) {
	fields := 0
	for _, name := range sqlite.NodeNames() {
		switch sqlite.NodeUse(name) {
		case "refused", "definition":
			continue
		}
		typ, ok := nodeTypes[name]
		if !ok {
			t.Errorf("%s is not in nodeTypes", name)
			continue
		}
		for i := range typ.NumField() {
			field := typ.Field(i)
			// The words of a join are keywords, which complete.go judges.
			if !holdsNodes(field.Type) || field.Type == reflect.TypeFor[*ast.JoinOperator]() {
				continue
			}
			fields++
			if sqlite.NodeUse(name) == "leaf" {
				t.Errorf("%s.%s holds nodes, and the type is listed as a leaf", name, field.Name)
				continue
			}
			t.Run(name+"."+field.Name, func(t *testing.T) { plant(t, typ, i) })
		}
	}
	if fields < 60 {
		t.Errorf("only %d fields tried", fields)
	}
}

// probeText is a text that consists of the word probe, which the tests plant.
const probeText = "probe"

var probeSpan = ast.Span{Start: 0, Stop: len(probeText)}

func plant(t *testing.T, typ reflect.Type, field int) {
	t.Helper()
	node := fill(typ, 3)
	target := node.Elem().Field(field)
	// What a list or a node holds is tried by its own type; here the first
	// expression or name that can be reached from the field is the probe.
	value, forbidden := probe(target.Type(), 6)
	if !value.IsValid() {
		t.Fatalf("no probe for a field of type %s", target.Type())
	}
	target.Set(value)
	stmt, ok := embed(node)
	if !ok {
		t.Fatalf("%s cannot be embedded in a query", typ)
	}
	st, met := sqlite.Walk(probeText, stmt)
	if forbidden {
		for _, f := range st.Effects {
			if f.Code == sqlguard.CodeParameterNotAllowed {
				return
			}
		}
		t.Error("the walk does not meet an expression there")
	} else if !met(probeSpan.Start, probeSpan.Stop) {
		t.Error("the walk does not meet a name there")
	}
}

var (
	exprType = reflect.TypeFor[ast.Expr]()
	coreType = reflect.TypeFor[ast.SelectCore]()
	stmtType = reflect.TypeFor[ast.Stmt]()
	nodeType = reflect.TypeFor[ast.Node]()
)

// holdsNodes reports whether a field of type t holds nodes.
func holdsNodes(t reflect.Type) bool {
	if t.Kind() == reflect.Slice {
		return holdsNodes(t.Elem())
	}
	if t.Kind() == reflect.Struct {
		return t.Name() != "Span" && reflect.PointerTo(t).Implements(nodeType) && hasNodeFields(t)
	}
	return (t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer) && t.Implements(nodeType)
}

func hasNodeFields(t reflect.Type) bool {
	return slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.Name != "Span" && holdsNodes(f.Type) })
}

// probe returns a value of type t that contains a bind parameter (forbidden is
// true) or, if only names are possible, the name probe.
func probe(t reflect.Type, depth int) (value reflect.Value, forbidden bool) {
	if depth == 0 {
		return reflect.Value{}, false
	}
	switch {
	case t == exprType:
		return reflect.ValueOf(&ast.BindParam{Span: probeSpan, Raw: probeText}), true
	case t == coreType:
		return probe(reflect.TypeFor[*ast.SelectQuery](), depth-1)
	case t == stmtType:
		return probe(reflect.TypeFor[*ast.SelectStmt](), depth-1)
	case t == reflect.TypeFor[*ast.Ident]():
		return reflect.ValueOf(&ast.Ident{Span: probeSpan, Name: probeText, Raw: probeText}), false
	case t == reflect.TypeFor[*ast.TypeName]():
		return reflect.ValueOf(&ast.TypeName{Span: probeSpan, Name: probeText, Raw: probeText}), false
	case t.Kind() == reflect.Slice:
		item, forbidden := probe(t.Elem(), depth)
		if !item.IsValid() {
			return item, false
		}
		list := reflect.MakeSlice(t, 0, 1)
		return reflect.Append(list, item), forbidden
	case t.Kind() == reflect.Pointer:
		node := fill(t.Elem(), 3)
		for _, wantForbidden := range []bool{true, false} {
			for i := range t.Elem().NumField() {
				if field := t.Elem().Field(i); holdsNodes(field.Type) {
					if value, forbidden := probe(field.Type, depth-1); value.IsValid() && forbidden == wantForbidden {
						node.Elem().Field(i).Set(value)
						return node, forbidden
					}
				}
			}
		}
	}
	return reflect.Value{}, false
}

// fill returns a node of type t in which the fields that a parser always sets
// hold harmless nodes.
func fill(t reflect.Type, depth int) reflect.Value {
	node := reflect.New(t)
	if depth == 0 {
		return node
	}
	literal := reflect.ValueOf(&ast.Literal{Kind: ast.LitNull})
	for i := range t.NumField() {
		field, f := node.Elem().Field(i), t.Field(i)
		if strings.Contains(f.Tag.Get("json"), "omitempty") {
			continue
		}
		switch {
		case f.Type == exprType:
			field.Set(literal)
		case f.Type == coreType:
			field.Set(fill(reflect.TypeFor[ast.SelectQuery](), depth-1))
		case f.Type == stmtType:
			field.Set(fill(reflect.TypeFor[ast.SelectStmt](), depth-1))
		case f.Type == reflect.TypeFor[*ast.Ident]():
			field.Set(reflect.ValueOf(&ast.Ident{}))
		case f.Type == reflect.TypeFor[[]ast.SelectCore]():
			field.Set(reflect.ValueOf([]ast.SelectCore{&ast.SelectQuery{}}))
		case f.Type == reflect.TypeFor[[]*ast.Ident]():
			field.Set(reflect.ValueOf([]*ast.Ident{{}}))
		case f.Type == reflect.TypeFor[[][]ast.Expr]():
			field.Set(reflect.ValueOf([][]ast.Expr{{}}))
		case f.Type.Kind() == reflect.Pointer && f.Type.Implements(nodeType):
			field.Set(fill(f.Type.Elem(), depth-1))
		}
	}
	return node
}

// embed puts a node into a statement at a position that its type permits.
func embed(node reflect.Value) (ast.Stmt, bool) {
	query := &ast.SelectQuery{}
	stmt := &ast.SelectStmt{Cores: []ast.SelectCore{query}}
	switch n := node.Interface().(type) {
	case ast.Stmt:
		return n, true
	case ast.Expr:
		query.Where = n
	case *ast.SelectQuery:
		stmt.Cores[0] = n
	case *ast.ValuesClause:
		stmt.Cores[0] = n
	case *ast.With:
		stmt.With = n
	case *ast.CTE:
		stmt.With = &ast.With{CTEs: []*ast.CTE{n}}
	case *ast.ResultColumn:
		query.Columns = []*ast.ResultColumn{n}
	case *ast.TableRef:
		query.From = []*ast.TableRef{n}
	case *ast.OrderingTerm:
		query.OrderBy = []*ast.OrderingTerm{n}
	case *ast.Limit:
		query.Limit = n
	case *ast.WindowDef:
		query.Windows = []*ast.WindowDef{n}
	case *ast.FrameBound:
		query.Windows = []*ast.WindowDef{{StartBound: n}, {EndBound: n}}
	case *ast.QualifiedName:
		query.From = []*ast.TableRef{{Name: n}}
	case *ast.CaseWhen:
		query.Where = &ast.CaseExpr{Whens: []*ast.CaseWhen{n}}
	default:
		return nil, false
	}
	return stmt, true
}

// strange nodes satisfy the parser's interfaces but are not from its package.
type (
	strangeStmt struct{ ast.Stmt }
	strangeExpr struct{ ast.Expr }
	strangeCore struct{ ast.SelectCore }
	// InsertStmt has the name of a listed node.
	InsertStmt struct{ ast.Stmt }
)

// TestUnknownNodes checks that the walk refuses nodes that the table does not list.
func TestUnknownNodes(t *testing.T) {
	query := func(q *ast.SelectQuery) ast.Stmt { return &ast.SelectStmt{Cores: []ast.SelectCore{q}} }
	for name, stmt := range map[string]ast.Stmt{
		"statement":           strangeStmt{&ast.SelectStmt{}},
		"pointer":             &strangeStmt{&ast.SelectStmt{}},
		"name of a known one": &InsertStmt{&ast.SelectStmt{}},
		"explained":           &ast.ExplainStmt{Stmt: &strangeStmt{&ast.SelectStmt{}}},
		"core":                &ast.SelectStmt{Cores: []ast.SelectCore{strangeCore{&ast.SelectQuery{}}}},
		"expression":          query(&ast.SelectQuery{Where: strangeExpr{&ast.Literal{}}}),
		"column":              query(&ast.SelectQuery{Columns: []*ast.ResultColumn{{Expr: &strangeExpr{&ast.Literal{}}}}}),
	} {
		st, _ := sqlite.Walk("", stmt)
		if !slices.ContainsFunc(st.Effects, func(f sqlguard.Finding) bool { return f.Code == sqlguard.CodeStatementNotAllowed }) {
			t.Errorf("%s: no effect refuses it: %+v", name, st)
		}
	}
}
