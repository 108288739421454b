// Command golang lists the calls in the Go files below a folder that take SQL, and
// says what their argument is, one JSON object a line. It type-checks the packages
// with go/types and shares no code with ktx, which tools/flow compares with it.
//
// Packages of the standard library and of the modules below the folder are read
// from source. All other packages count as empty; what comes from them has no type.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// place is a call, as tools/flow reads it.
type place struct {
	File  string `json:"file"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	SQL   string `json:"sql,omitempty"`
}

// methods are those of database/sql, pgx, sqlx, bun and gorm that take SQL, with
// the number of arguments before it, without a context.
var methods = map[string]int{
	"Query": 0, "QueryRow": 0, "Exec": 0, "Prepare": 0, "Queue": 0, "Raw": 0, "NewRaw": 0,
	"QueryContext": 0, "QueryRowContext": 0, "ExecContext": 0, "PrepareContext": 0,
	"Queryx": 0, "QueryRowx": 0, "QueryxContext": 0, "QueryRowxContext": 0, "Preparex": 0, "PreparexContext": 0,
	"MustExec": 0, "MustExecContext": 0, "NamedExec": 0, "NamedExecContext": 0, "NamedQuery": 0, "NamedQueryContext": 0,
	"PrepareNamed": 0, "PrepareNamedContext": 0, "Get": 1, "GetContext": 1, "Select": 1, "SelectContext": 1,
}

// commands are the first words of SQL commands in the manuals of PostgreSQL, MySQL
// and SQLite.
var commands = func() map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq("ABORT ALTER ANALYZE ATTACH BEGIN CALL CHECKPOINT CLOSE CLUSTER COMMENT COMMIT COPY CREATE DEALLOCATE DECLARE DELETE DETACH DISCARD DO DROP END EXECUTE EXPLAIN FETCH FLUSH GRANT HANDLER IMPORT INSERT INSTALL KILL LISTEN LOAD LOCK MERGE MOVE NOTIFY OPTIMIZE PRAGMA PREPARE PURGE REASSIGN REFRESH REINDEX RELEASE RENAME REPAIR REPLACE RESET REVOKE ROLLBACK SAVEPOINT SECURITY SELECT SET SHOW SHUTDOWN START TABLE TRUNCATE UNLISTEN UNLOCK UPDATE USE VACUUM VALUES WITH XA") {
		out[word] = true
	}
	return out
}()

// databases are parts of the import paths of packages for databases.
var databases = []string{"database/sql", "pgx", "sqlx", "gorm", "/bun", "lib/pq", "sqlite", "mysql"}

func database(path string) bool {
	for _, part := range databases {
		if strings.Contains(path, part) {
			return true
		}
	}
	return false
}

type loader struct {
	root    string
	set     *token.FileSet
	std     types.Importer
	modules map[string]string // folders, by the path of the module
	known   map[string]*types.Package
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: golang FOLDER")
	}
	set := token.NewFileSet()
	l := &loader{root: os.Args[1], set: set, std: importer.ForCompiler(set, "source", nil), modules: map[string]string{}, known: map[string]*types.Package{}}
	out := bufio.NewWriter(os.Stdout)
	var folders []string
	err := filepath.WalkDir(l.root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "vendor" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir():
			folders = append(folders, path)
		case d.Name() == "go.mod":
			content, err := os.ReadFile(path) //nolint:gosec // a file below the folder
			if err != nil {
				return err
			}
			if name := modfile.ModulePath(content); name != "" {
				l.modules[name] = filepath.Dir(path)
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	encoder := json.NewEncoder(out)
	for _, folder := range folders {
		for _, files := range l.parse(folder, true) {
			info, _ := l.check(folder, files)
			for _, f := range files {
				for _, p := range l.places(f, files, info) {
					if err := encoder.Encode(p); err != nil {
						log.Fatal(err)
					}
				}
			}
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

// parse returns the files of a folder, by package. Tests of the package belong to
// it.
func (l *loader) parse(folder string, tests bool) map[string][]*ast.File {
	out := map[string][]*ast.File{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return out
	}
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") || !tests && strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if f, err := parser.ParseFile(l.set, filepath.Join(folder, e.Name()), nil, parser.ParseComments|parser.SkipObjectResolution); err == nil {
			out[f.Name.Name] = append(out[f.Name.Name], f)
		}
	}
	return out
}

func (l *loader) check(path string, files []*ast.File) (*types.Info, *types.Package) {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: l, Error: func(error) {}, FakeImportC: true}
	p, _ := config.Check(path, l.set, files, info) // what it does not understand has no type
	return info, p
}

// Import implements types.Importer.
func (l *loader) Import(path string) (*types.Package, error) {
	if p, ok := l.known[path]; ok {
		if p == nil {
			return nil, errors.New("a circle")
		}
		return p, nil
	}
	l.known[path] = nil
	p := types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
	p.MarkComplete()
	for module, folder := range l.modules {
		if rest, ok := strings.CutPrefix(path+"/", module+"/"); ok {
			for name, files := range l.parse(filepath.Join(folder, rest), false) {
				if name != "main" && !strings.HasSuffix(name, "_test") {
					_, p = l.check(path, files)
				}
			}
		}
	}
	if !strings.Contains(strings.Split(path, "/")[0], ".") {
		if std, err := l.std.Import(path); err == nil {
			p = std
		}
	}
	l.known[path] = p
	return p, nil
}

// places returns the calls of a file that take SQL.
func (l *loader) places(f *ast.File, files []*ast.File, info *types.Info) (out []place) {
	uses := false
	for _, other := range files { // what the package uses
		for _, i := range other.Imports {
			uses = uses || database(strings.Trim(i.Path.Value, `"`))
		}
	}
	values := assignments(files, info)
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		before, ok := methods[selector.Sel.Name]
		if !ok {
			return true
		}
		at := 0
		if len(call.Args) > 0 && isContext(call.Args[0], info) {
			at++
		}
		at += before
		declared, known := info.Uses[selector.Sel]
		if selector.Sel.Name == "Prepare" && at == 1 && len(call.Args) == 3 { // pgx gives it a name
			at++
		}
		if at >= len(call.Args) || !isText(info.Types[call.Args[at]].Type) || !known && !uses || known && !takes(declared, at) {
			return true
		}
		arg := call.Args[at]
		v := evaluation{info: info, values: values, busy: map[types.Object]bool{}}
		kind, sql := v.of(arg)
		file, _ := filepath.Rel(l.root, l.set.File(f.Pos()).Name())
		offset := func(p token.Pos) int { return l.set.PositionFor(p, false).Offset }
		if kind != "constant" && before == 1 && !known && !strings.HasSuffix(selector.Sel.Name, "Context") && !strings.Contains(sql, " ") && kind != "built" {
			return true // Get and Select of something else
		}
		if !known && sql != "" && !commands[strings.ToUpper(strings.Trim(strings.SplitN(strings.TrimSpace(sql)+" ", " ", 2)[0], "(;\n\t"))] && !strings.Contains(strings.TrimSpace(sql), "\n") {
			return true // a value of a prepared statement
		}
		out = append(out, place{filepath.ToSlash(file), offset(arg.Pos()), offset(arg.End()), selector.Sel.Name, kind, sql})
		return true
	})
	return out
}

// takes reports whether a declared function takes SQL as an argument: one of a
// package for databases, or one that calls its parameter so.
func takes(o types.Object, at int) bool {
	signature, ok := o.Type().(*types.Signature)
	if !ok || at >= signature.Params().Len() {
		return false
	}
	if o.Pkg() != nil && database(o.Pkg().Path()) {
		return true
	}
	switch name := strings.ToLower(signature.Params().At(at).Name()); {
	case strings.Contains(name, "sql"), strings.Contains(name, "query"), strings.Contains(name, "stmt"), strings.Contains(name, "statement"):
		return isText(signature.Params().At(at).Type())
	}
	return false
}

func isContext(e ast.Expr, info *types.Info) bool {
	t := info.Types[e].Type
	if t == nil || t == types.Typ[types.Invalid] {
		name, ok := e.(*ast.Ident)
		return ok && strings.HasSuffix(strings.ToLower(name.Name), "ctx")
	}
	return types.TypeString(t, nil) == "context.Context" || strings.HasSuffix(strings.ToLower(types.ExprString(e)), "ctx")
}

// isText reports whether a type is string, or not known.
func isText(t types.Type) bool {
	if t == nil || t == types.Typ[types.Invalid] {
		return true
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

// assignment is what is assigned to a variable. A nil value is not an expression:
// an element of a range, one of several results, or an address that is taken.
type assignment struct {
	value  ast.Expr
	append bool
}

func assignments(files []*ast.File, info *types.Info) map[types.Object][]assignment {
	out := map[types.Object][]assignment{}
	add := func(to ast.Expr, a assignment) {
		name, ok := to.(*ast.Ident)
		if !ok {
			return
		}
		o := info.Defs[name]
		if o == nil {
			o = info.Uses[name]
		}
		if o != nil {
			out[o] = append(out[o], a)
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					a := assignment{append: n.Tok == token.ADD_ASSIGN}
					if len(n.Lhs) == len(n.Rhs) {
						a.value = n.Rhs[i]
					}
					add(to, a)
				}
			case *ast.ValueSpec:
				for i, to := range n.Names {
					switch {
					case len(n.Values) == len(n.Names):
						add(to, assignment{value: n.Values[i]})
					case len(n.Values) > 0:
						add(to, assignment{})
					}
				}
			case *ast.RangeStmt:
				add(n.Key, assignment{})
				add(n.Value, assignment{})
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					add(n.X, assignment{})
				}
			case *ast.Field: // a parameter
				for _, name := range n.Names {
					add(name, assignment{})
				}
			}
			return true
		})
	}
	return out
}

// evaluation finds what an expression is:
//
//   - literal: literals only
//   - constant: constants, and variables of the package that are assigned once
//   - once: a local name that is assigned once, from one of the above
//   - built: made of several parts, of which one is known
//   - elsewhere: parameters, fields, results of functions
type evaluation struct {
	info   *types.Info
	values map[types.Object][]assignment
	busy   map[types.Object]bool
}

func (v *evaluation) of(e ast.Expr) (kind, sql string) {
	if value := v.info.Types[e].Value; value != nil && value.Kind() == constant.String {
		kind = "literal"
		ast.Inspect(e, func(n ast.Node) bool {
			if _, ok := n.(*ast.Ident); ok {
				kind = "constant"
			}
			return true
		})
		return kind, constant.StringVal(value)
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return v.of(e.X)
	case *ast.Ident:
		return v.name(e)
	case *ast.BinaryExpr:
		return v.parts(e.X, e.Y)
	case *ast.CallExpr:
		f := types.ExprString(e.Fun)
		switch {
		case f == "string" && len(e.Args) == 1, f == "strings.TrimSpace":
			return v.of(e.Args[0])
		case f == "fmt.Sprintf" || f == "fmt.Sprint" || f == "strings.Join":
			return v.parts(e.Args...)
		case strings.HasPrefix(f, "strings.Replace"):
			return v.parts(e.Args[0])
		case strings.HasSuffix(f, ".String") && len(e.Args) == 0:
			if t := v.info.Types[e.Fun.(*ast.SelectorExpr).X].Type; t != nil && (strings.Contains(t.String(), "strings.Builder") || strings.Contains(t.String(), "bytes.Buffer")) { //nolint:forcetypeassert // its name has a dot
				return "built", ""
			}
		}
	case *ast.CompositeLit:
		return v.parts(e.Elts...)
	}
	return "elsewhere", ""
}

// parts says whether something that is made of parts has a known one.
func (v *evaluation) parts(list ...ast.Expr) (kind, sql string) {
	for _, e := range list {
		if k, s := v.of(e); k == "built" || s != "" {
			return "built", ""
		}
	}
	return "elsewhere", ""
}

func (v *evaluation) name(e *ast.Ident) (kind, sql string) {
	o, ok := v.info.Uses[e].(*types.Var)
	if !ok || v.busy[o] {
		return "elsewhere", ""
	}
	v.busy[o] = true
	defer delete(v.busy, o)
	ofPackage := o.Parent() == o.Pkg().Scope()
	list := v.values[o]
	if len(list) == 1 && list[0].value != nil {
		kind, sql = v.of(list[0].value)
		switch {
		case kind == "built" || kind == "elsewhere":
		case ofPackage:
			kind = "constant"
		default:
			kind = "once"
		}
		return kind, sql
	}
	for _, a := range list {
		if a.value == nil {
			continue
		}
		if k, _ := v.of(a.value); k != "elsewhere" {
			return "built", ""
		}
	}
	return "elsewhere", ""
}
