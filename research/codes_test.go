package research_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlguard"
)

// Each class of the semantic layer, and each code of other servers, is explained once, and
// nothing is explained that does not exist.
func TestEveryCodeOfAToolIsExplained(t *testing.T) {
	explained := map[string]sqlguard.CodeInfo{}
	for _, c := range research.Codes() {
		if _, twice := explained[string(c.Code)]; twice {
			t.Errorf("%s is explained twice", c.Code)
		}
		if _, ofGuard := sqlguard.LookupCode(c.Code); ofGuard {
			t.Errorf("%s is a code of the guard too", c.Code)
		}
		explained[string(c.Code)] = c
		if c.Title == "" || !strings.HasSuffix(c.Summary, ".") || !strings.HasPrefix(c.Page, "# "+string(c.Code)+"\n\n**"+c.Title+".** "+c.Summary) || !strings.HasSuffix(c.Page, ".\n") {
			t.Errorf("%s: %+v", c.Code, c)
		}
	}
	for file, what := range map[string]string{"semantic/expr/problem.go": "Class", "upstream/errors.go": "Code", "../execution/refused.go": "ReasonUnknownTool"} {
		names := constants(t, file, what)
		if len(names) == 0 {
			t.Errorf("%s has no constants", file)
		}
		for _, name := range names {
			if _, ok := explained[name]; !ok {
				t.Errorf("%s is not explained", name)
			}
			delete(explained, name)
		}
	}
	for name := range explained {
		t.Errorf("%s is explained, and is no code", name)
	}
}

// constants returns the values of the constants of a file that have the type, or whose names
// begin with it.
func constants(t *testing.T, file, what string) []string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(tree, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		named, _ := spec.Type.(*ast.Ident)
		text, ok := spec.Values[0].(*ast.BasicLit)
		if ok && text.Kind == token.STRING && (named != nil && named.Name == what || strings.HasPrefix(spec.Names[0].Name, what)) {
			value, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, value)
		}
		return true
	})
	return out
}
