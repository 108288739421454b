package ktx_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sourceCode has the names that the module declares, and the names of its Go files.
type sourceCode struct {
	names map[string]bool // Name, Type.Member, package.Name, package.Type.Member
	files map[string]bool // base names
}

func readCode(t *testing.T) sourceCode {
	t.Helper()
	code := sourceCode{names: map[string]bool{}, files: map[string]bool{}}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dir := range strings.FieldsSeq(string(out)) {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			code.files[filepath.Base(name)] = true
			code.declare(file)
		}
	}
	return code
}

// receiver returns the name of the type that a method belongs to.
func receiver(method *ast.FuncDecl) string {
	owner := method.Recv.List[0].Type
	for {
		switch of := owner.(type) {
		case *ast.StarExpr:
			owner = of.X
		case *ast.IndexExpr: // a type parameter
			owner = of.X
		case *ast.IndexListExpr:
			owner = of.X
		case *ast.Ident:
			return of.Name
		default:
			return ""
		}
	}
}

func (c sourceCode) declare(file *ast.File) {
	pkg := strings.TrimSuffix(file.Name.Name, "_test")
	note := func(names ...string) {
		name := strings.Join(names, ".")
		c.names[name], c.names[pkg+"."+name] = true, true
	}
	members := func(owner string, fields *ast.FieldList) {
		for _, f := range fields.List {
			for _, id := range f.Names {
				note(owner, id.Name)
			}
		}
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				note(decl.Name.Name)
				continue
			}
			note(receiver(decl), decl.Name.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						note(id.Name)
					}
				case *ast.TypeSpec:
					note(spec.Name.Name)
					switch body := spec.Type.(type) {
					case *ast.StructType:
						members(spec.Name.Name, body.Fields)
					case *ast.InterfaceType:
						members(spec.Name.Name, body.Methods)
					}
				}
			}
		}
	}
}

var (
	goName    = regexp.MustCompile(`^(?:[A-Za-z]\w*\.)+[A-Za-z]\w*$|^[A-Z]\w*[a-z]\w*$`)
	fileName  = regexp.MustCompile(`^[\w./*-]+\.(?:go|md|json|yaml|tsv|txtar)$|^[\w.*-]+/[\w./*-]*$`)
	localFile = []string{"ktx.yaml", "anchor.json", "copy.json"}
	notInCode = []string{"functions.allow", "guard.types"} // keys of ktx.yaml
)

// unknownNames returns the names and files in a document that do not exist in the
// code.
func (d document) unknownNames(code sourceCode) []span {
	var unknown []span
	for _, s := range d.spans {
		switch {
		case slices.Contains(localFile, s.text) || slices.Contains(notInCode, s.text):
		case fileName.MatchString(s.text):
			matches, err := filepath.Glob(filepath.FromSlash(strings.TrimSuffix(s.text, "/")))
			if (err != nil || len(matches) == 0) && !code.files[s.text] {
				unknown = append(unknown, span{s.text + " is no file", s.line})
			}
		case goName.MatchString(s.text) && !code.names[s.text]:
			unknown = append(unknown, span{s.text + " is not in the code", s.line})
		}
	}
	return unknown
}

// testCommandFault says what is wrong with a go test command that selects tests by
// name: a package or a test that does not exist.
func testCommandFault(line string) string {
	words := shellWords(line)
	at := slices.Index(words, "-run")
	if len(words) < 2 || words[1] != "test" || at < 0 || at+1 >= len(words) {
		return ""
	}
	pattern, err := regexp.Compile(words[at+1])
	if err != nil {
		return err.Error()
	}
	for _, pkg := range words[2:at] {
		if strings.HasPrefix(pkg, "-") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*_test.go"))
		if err != nil || len(files) == 0 {
			return pkg + " has no tests"
		}
		found := false
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				return err.Error()
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
				found = found || pattern.Match(m[1])
			}
		}
		if !found {
			return "no test of " + pkg + " has such a name"
		}
	}
	return ""
}
