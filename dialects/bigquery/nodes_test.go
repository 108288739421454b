package bigquery_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sqlc-dev/zetajones/ast"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

// nodeMethod finds the parser's node types by a method that every node has.
var nodeMethod = regexp.MustCompile(`func \(\w+ \*(\w+)\) Children\(\) +\[\]Node`)

// TestNodeTable checks that the table lists exactly the parser's node types, each once.
func TestNodeTable(t *testing.T) {
	names := dialecttest.Names(nodeMethod, dialecttest.Source(t, "github.com/sqlc-dev/zetajones/ast"))
	if len(names) < 450 {
		t.Fatalf("only %d node types found", len(names))
	}
	got, twice := bigquery.NodeTypes()
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("node table, - the parser's, + ours:\n%s", diff)
	}
	if len(twice) > 0 {
		t.Errorf("listed twice: %v", twice)
	}
}

var (
	typeOfNode = reflect.TypeFor[ast.Node]()
	name       = &ast.Identifier{Name: "x"}
	path       = &ast.PathExpression{Names: []*ast.Identifier{name}}
)

// needed are fields without which the parser makes no such node.
func needed(node reflect.Value) {
	for _, field := range node.Fields() {
		if !field.CanSet() {
			continue
		}
		switch field.Interface().(type) {
		case *ast.Identifier:
			field.Set(reflect.ValueOf(name))
		case *ast.PathExpression:
			field.Set(reflect.ValueOf(path))
		}
	}
	switch n := node.Addr().Interface().(type) {
	case *ast.PathExpression:
		n.Names = path.Names
	case *ast.TablePathExpression:
		n.Path = path
	}
}

// TestWalkVisitsEveryField plants a parameter in every field of every type of node that a
// query can hold, and looks whether the walk meets it there.
func TestWalkVisitsEveryField(t *testing.T) {
	fields := 0
	for _, typ := range bigquery.Parts() {
		for _, field := range reflect.VisibleFields(typ) {
			if field.Anonymous || !field.IsExported() || typ == reflect.TypeFor[ast.Location]() || field.Type == reflect.TypeFor[*ast.JoinParseError]() {
				continue
			}
			for n, value := range planted(field.Type, 6) {
				fields++
				node := reflect.New(typ)
				needed(node.Elem())
				node.Elem().FieldByIndex(field.Index).Set(value)
				planted, ok := reflect.TypeAssert[ast.Node](node)
				if !ok {
					t.Fatalf("%s is no node", typ)
				}
				st := bigquery.Walk(planted)
				if !slices.ContainsFunc(st.Effects, func(f sqlguard.Finding) bool { return f.Code == sqlguard.CodeParameterNotAllowed }) {
					t.Errorf("%s.%s, place %d: the walk does not meet the parameter: %+v", typ.Name(), field.Name, n, st.Effects)
				}
			}
		}
	}
	if fields < 200 {
		t.Errorf("only %d fields tried", fields)
	}
	t.Logf("%d fields", fields)
}

// planted returns values of a type that hold a parameter, one for each place.
func planted(t reflect.Type, depth int) []reflect.Value {
	param := &ast.ParameterExpr{Position: 1}
	var out []reflect.Value
	switch {
	case depth == 0:
	case t == typeOfNode, t == reflect.TypeFor[*ast.ParameterExpr]():
		out = append(out, reflect.ValueOf(param))
	case t.Kind() == reflect.Slice:
		for _, item := range planted(t.Elem(), depth) {
			out = append(out, reflect.Append(reflect.MakeSlice(t, 0, 1), item))
		}
	case t.Kind() == reflect.Pointer && t.Implements(typeOfNode):
		if !slices.Contains(bigquery.Parts(), t.Elem()) {
			return nil // it is refused wherever it stands: TestForbidden
		}
		for _, field := range reflect.VisibleFields(t.Elem()) {
			if field.Anonymous || !field.IsExported() {
				continue
			}
			for _, item := range planted(field.Type, depth-1) {
				p := reflect.New(t.Elem())
				needed(p.Elem())
				p.Elem().FieldByIndex(field.Index).Set(item)
				out = append(out, p)
				break
			}
			if len(out) > 0 {
				break // TestWalkVisitsEveryField plants in the other fields of this type itself
			}
		}
	}
	return out
}

// TestForbidden checks that a node which no query may hold is refused wherever a field can
// hold it.
func TestForbidden(t *testing.T) {
	parts := bigquery.Parts()
	tried := 0
	for _, typ := range parts {
		for _, field := range reflect.VisibleFields(typ) {
			elem := field.Type
			if elem.Kind() == reflect.Slice {
				elem = elem.Elem()
			}
			if field.Anonymous || !field.IsExported() || elem.Kind() != reflect.Pointer || !elem.Implements(typeOfNode) || slices.Contains(parts, elem.Elem()) || elem.Elem() == reflect.TypeFor[ast.ParameterExpr]() {
				continue
			}
			tried++
			node := reflect.New(typ)
			needed(node.Elem())
			value := reflect.New(elem.Elem())
			if field.Type.Kind() == reflect.Slice {
				value = reflect.Append(reflect.MakeSlice(field.Type, 0, 1), value)
			}
			node.Elem().FieldByIndex(field.Index).Set(value)
			if n, ok := reflect.TypeAssert[ast.Node](node); !ok || len(bigquery.Walk(n).Effects) == 0 {
				t.Errorf("%s.%s: nothing refuses a %s", typ.Name(), field.Name, elem.Elem().Name())
			}
		}
	}
	if tried < 12 {
		t.Errorf("only %d fields tried", tried)
	}
}

// strange nodes satisfy the parser's interfaces but are not from its package.
type (
	strangeNode      struct{ ast.Node }
	strangeStatement struct{ *ast.QueryStatement }
)

// TestUnknownNodes checks that the walk refuses nodes that it does not know.
func TestUnknownNodes(t *testing.T) {
	refuses := func(st sqlguard.Statement) bool {
		return slices.ContainsFunc(st.Effects, func(f sqlguard.Finding) bool { return f.Code == sqlguard.CodeStatementNotAllowed })
	}
	if st := bigquery.WalkStatement(&strangeStatement{&ast.QueryStatement{}}); !refuses(st) {
		t.Errorf("statement: %+v", st)
	}
	if st := bigquery.WalkStatement(&ast.QueryStatement{Query: &ast.Query{QueryExpr: strangeNode{&ast.Select{}}}}); !refuses(st) {
		t.Errorf("query: %+v", st)
	}
	if st := bigquery.Walk(&ast.WhereClause{Expr: strangeNode{&ast.NullLiteral{}}}); !refuses(st) {
		t.Errorf("expression: %+v", st)
	}
}

// goldenStatements returns the statements of the parser's own tests.
func goldenStatements(t *testing.T) []string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "github.com/sqlc-dev/zetajones/parser").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "testdata", "*.test"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var out []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for c := range strings.SplitSeq(string(data), "\n==\n") {
			sql, _, _ := strings.Cut(c, "\n--\n")
			for {
				sql = strings.TrimLeft(sql, " \n")
				if !strings.HasPrefix(sql, "[") && !strings.HasPrefix(sql, "#") {
					break
				}
				_, sql, _ = strings.Cut(sql, "\n") // an option of the test, or a comment on it
			}
			out = append(out, sql)
		}
	}
	return out
}

// TestGoldenStatements reads the statements of the parser's own tests. The two lexers
// split them alike, and nothing of a query that parses is skipped.
func TestGoldenStatements(t *testing.T) {
	read, compared := 0, 0
	for _, sql := range goldenStatements(t) {
		if checkLexers(t, sql) {
			compared++
		}
		dialecttest.CheckFacts(t, bigquery.Dialect{}, sql)
		list, err := bigquery.Dialect{}.Analyze(sql)
		if err != nil {
			if strings.Contains(err.Error(), "skipped") {
				t.Errorf("%q: %v", sql, err)
			}
			continue
		}
		for _, st := range list {
			if st.Verb == sqlguard.VerbSelect {
				read++
			}
		}
	}
	if read < 1000 || compared < 3000 {
		t.Errorf("%d queries read, %d texts compared", read, compared)
	}
	t.Logf("%d queries read, %d texts compared", read, compared)
}
