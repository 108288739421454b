package ktx_test

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	guardPath   = module + "/sqlguard"
	gatewayPath = module + "/execution"
)

// drivers are the packages that can send statements to a database.
var drivers = []string{
	"database/sql",
	"database/sql/driver",
	"github.com/jackc/pgx/v5",
	"github.com/jackc/pgx/v5/pgconn",
	"github.com/jackc/pgx/v5/pgproto3",
	"github.com/jackc/pgx/v5/pgxpool",
	"github.com/jackc/pgx/v5/stdlib",
	"github.com/ncruces/go-sqlite3",
	"github.com/ncruces/go-sqlite3/driver",
	"github.com/go-sql-driver/mysql",
	"github.com/mattn/go-sqlite3",
	"github.com/microsoft/go-mssqldb",
	"github.com/duckdb/duckdb-go-bindings",
	module + "/execution/bigquerydb/wire",
	module + "/execution/clickhousedb/wire",
	module + "/execution/duckdbdb/wire",
	module + "/execution/mysqldb/wire",
	module + "/execution/mssqldb/internal/tds",
	module + "/execution/sqlitedb/engine",
}

// sends has the prefixes of the names of a driver's functions that send statements.
var sends = []string{"Begin", "CopyFrom", "CopyTo", "Exec", "Prepare", "Query", "Queue", "Savepoint", "Send", "StartPipeline"}

// program is the module's own code without tests, with its types.
type program struct {
	files   *token.FileSet
	exports map[string]string // compiled packages by import path
	imports types.Importer
	guard   *types.Package
	pkgs    []*checked
}

type checked struct {
	rel   string
	files []*ast.File
	types *types.Package
	info  *types.Info
}

// newProgram returns a program without code that can import the compiled packages.
func newProgram(pkgs []listed) (*program, error) {
	p := &program{files: token.NewFileSet(), exports: map[string]string{}}
	for _, l := range pkgs {
		p.exports[l.ImportPath] = l.Export
	}
	p.imports = importer.ForCompiler(p.files, "gc", func(importPath string) (io.ReadCloser, error) {
		file, ok := p.exports[importPath]
		if !ok || file == "" {
			return nil, fmt.Errorf("no compiled package %s", importPath)
		}
		return os.Open(file)
	})
	var err error
	p.guard, err = p.imports.Import(guardPath)
	return p, err
}

// add parses and type-checks one package.
func (p *program) add(importPath string, sources map[string]any) error {
	c := &checked{
		rel: listed{ImportPath: importPath}.rel(),
		info: &types.Info{
			Types:      map[ast.Expr]types.TypeAndValue{},
			Defs:       map[*ast.Ident]types.Object{},
			Uses:       map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{},
		},
	}
	for name, source := range sources {
		file, err := parser.ParseFile(p.files, name, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		c.files = append(c.files, file)
	}
	config := types.Config{Importer: p.imports}
	var err error
	c.types, err = config.Check(importPath, p.files, c.files, c.info)
	p.pkgs = append(p.pkgs, c)
	return err
}

// load type-checks the module's own packages in one build.
func load(t *testing.T, b build) *program {
	t.Helper()
	pkgs, err := b.all()
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProgram(pkgs)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range pkgs {
		if !ours(l.ImportPath) {
			continue
		}
		if err := p.add(l.ImportPath, sources(l)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// sources names the files of a package, to be read from disk.
func sources(l listed) map[string]any {
	files := map[string]any{}
	for _, name := range l.GoFiles {
		files[filepath.Join(l.Dir, name)] = nil
	}
	return files
}

// A site is a position in the code to which a rule applies.
type site struct {
	rel  string // package
	file string // base name
	line int
	what string
}

func (s site) String() string { return fmt.Sprintf("%s/%s:%d: %s", s.rel, s.file, s.line, s.what) }

func (p *program) site(c *checked, node ast.Node, what string) site {
	at := p.files.Position(node.Pos())
	return site{rel: c.rel, file: filepath.Base(at.Filename), line: at.Line, what: what}
}

// each calls f for every node of the program.
func (p *program) each(f func(c *checked, node ast.Node)) {
	for _, c := range p.pkgs {
		for _, file := range c.files {
			ast.Inspect(file, func(node ast.Node) bool {
				if node != nil {
					f(c, node)
				}
				return true
			})
		}
	}
}

// isGuardType reports whether a type is sqlguard's type of that name.
func isGuardType(t types.Type, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == name && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == guardPath
}

// holdsApproved reports whether a type is an approval, a pointer to one, or a tuple
// with one.
func holdsApproved(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		return holdsApproved(t.Elem())
	case *types.Tuple:
		for v := range t.Variables() {
			if holdsApproved(v.Type()) {
				return true
			}
		}
		return false
	default:
		return isGuardType(t, "Approved")
	}
}

// constructions finds the sites that set the content of an approval: a literal with
// fields, a conversion to the type, or an assignment to a field.
func constructions(p *program) []site {
	var found []site
	field := func(c *checked, expr ast.Expr) {
		ast.Inspect(expr, func(node ast.Node) bool {
			if sel, ok := node.(*ast.SelectorExpr); ok {
				if s := c.info.Selections[sel]; s != nil && s.Kind() == types.FieldVal && holdsApproved(s.Recv()) {
					found = append(found, p.site(c, node, "writes a field of Approved"))
				}
			}
			return true
		})
	}
	p.each(func(c *checked, node ast.Node) {
		switch node := node.(type) {
		case *ast.CompositeLit:
			if t := c.info.TypeOf(node); t != nil && holdsApproved(t) && len(node.Elts) > 0 {
				found = append(found, p.site(c, node, "fills an Approved"))
			}
		case *ast.CallExpr:
			if fun := c.info.Types[node.Fun]; fun.IsType() && holdsApproved(fun.Type) {
				found = append(found, p.site(c, node, "converts to Approved"))
			}
		case *ast.AssignStmt:
			for _, left := range node.Lhs {
				field(c, left)
			}
		case *ast.IncDecStmt:
			field(c, node.X)
		case *ast.RangeStmt:
			for _, left := range []ast.Expr{node.Key, node.Value} {
				if left != nil {
					field(c, left)
				}
			}
		case *ast.UnaryExpr:
			if node.Op == token.AND {
				field(c, node.X)
			}
		}
	})
	return found
}

// approvals finds the calls that return an approval, and the uses of a function that
// returns one as a value.
func approvals(p *program) []site {
	var found []site
	p.each(func(c *checked, node ast.Node) {
		switch node := node.(type) {
		case *ast.Ident:
			if f, ok := c.info.Uses[node].(*types.Func); ok && holdsApproved(f.Signature().Results()) {
				found = append(found, p.site(c, node, "asks for an approval"))
			}
		case *ast.CallExpr:
			// This is a call through a variable. The case above finds calls of
			// declared functions by their names.
			fun := ast.Unparen(node.Fun)
			if sel, ok := fun.(*ast.SelectorExpr); ok {
				fun = sel.Sel
			}
			if id, ok := fun.(*ast.Ident); ok {
				if _, ok := c.info.Uses[id].(*types.Func); ok {
					return
				}
			}
			if t := c.info.TypeOf(node); t != nil && !c.info.Types[node.Fun].IsType() && !c.info.Types[node.Fun].IsBuiltin() && holdsApproved(t) {
				found = append(found, p.site(c, node, "asks for an approval"))
			}
		}
	})
	return found
}

// openings finds the uses of SQLFor, of Approved or of an interface, as a call or as a
// value. SQLFor returns the statement of an approval.
func openings(p *program) []site {
	var found []site
	p.each(func(c *checked, node ast.Node) {
		if id, ok := node.(*ast.Ident); ok {
			if f, ok := c.info.Uses[id].(*types.Func); ok && f.Name() == "SQLFor" {
				found = append(found, p.site(c, node, "opens an approval"))
			}
		}
	})
	return found
}

// implementations finds declared types and anonymous structs that implement
// sqlguard.Dialect.
func implementations(p *program) []site {
	dialect, ok := p.guard.Scope().Lookup("Dialect").Type().Underlying().(*types.Interface)
	if !ok {
		return []site{{what: "sqlguard.Dialect is not an interface"}}
	}
	implements := func(t types.Type) bool {
		if t == nil || types.IsInterface(t) {
			return false
		}
		return types.Implements(t, dialect) || types.Implements(types.NewPointer(t), dialect)
	}
	var found []site
	p.each(func(c *checked, node ast.Node) {
		switch node := node.(type) {
		case *ast.Ident:
			if name, ok := c.info.Defs[node].(*types.TypeName); ok && !name.IsAlias() && implements(name.Type()) {
				found = append(found, p.site(c, node, "implements Dialect"))
			}
		case *ast.CompositeLit:
			if _, ok := node.Type.(*ast.StructType); ok && implements(c.info.TypeOf(node)) {
				found = append(found, p.site(c, node, "implements Dialect"))
			}
		}
	})
	return found
}

// sendings finds the uses of functions that send statements: those of a driver, and
// methods of interfaces that a driver's type implements.
func sendings(p *program) []site {
	var driverTypes []types.Type
	for _, importPath := range drivers {
		if p.exports[importPath] == "" {
			continue // not part of this build
		}
		pkg, err := p.imports.Import(importPath)
		if err != nil {
			return []site{{what: err.Error()}}
		}
		for _, name := range pkg.Scope().Names() {
			if name, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && !types.IsInterface(name.Type()) {
				driverTypes = append(driverTypes, types.NewPointer(name.Type()))
			}
		}
	}
	ofDriver := func(f *types.Func) bool {
		if f.Pkg() != nil && slices.Contains(drivers, f.Pkg().Path()) {
			return true
		}
		recv := f.Signature().Recv()
		if recv == nil {
			return false
		}
		face, ok := recv.Type().Underlying().(*types.Interface)
		return ok && slices.ContainsFunc(driverTypes, func(t types.Type) bool { return types.Implements(t, face) })
	}
	var found []site
	p.each(func(c *checked, node ast.Node) {
		id, ok := node.(*ast.Ident)
		if !ok {
			return
		}
		f, ok := c.info.Uses[id].(*types.Func)
		if ok && slices.ContainsFunc(sends, func(prefix string) bool { return strings.HasPrefix(f.Name(), prefix) }) && ofDriver(f) {
			found = append(found, p.site(c, node, "sends by "+f.FullName()))
		}
	})
	return found
}

// A rule says where sites may be.
type rule struct {
	name   string
	find   func(p *program) []site
	exact  int // how many there must be in what is shipped; 0 means at least one
	permit func(s site) bool
}

// broken returns the sites that the rule does not permit, and a message when the number
// of permitted sites is wrong.
func (r rule) broken(p *program) []string {
	var bad []string
	good := 0
	for _, s := range r.find(p) {
		switch {
		case !r.permit(s):
			bad = append(bad, s.String())
		case !support(s.rel):
			good++
		}
	}
	if good == 0 || (r.exact > 0 && good != r.exact) {
		bad = append(bad, fmt.Sprintf("%d permitted sites, want %s", good, map[bool]string{true: strconv.Itoa(r.exact), false: "some"}[r.exact > 0]))
	}
	return bad
}

// backend reports whether a package is a backend with a driver.
func backend(rel string) bool {
	ok, _ := path.Match("execution/*db", rel)
	return ok
}

// duckdbEngine is the half of the backend of DuckDB that runs in a process of its own.
const duckdbEngine = "execution/duckdbdb/engine"

// support reports whether a package is for tests or generators.
func support(rel string) bool {
	r, _ := roomOf(rel)
	return r.support
}

var rules = []rule{
	{
		name: "an approval is made in one place", find: constructions, exact: 1,
		permit: func(s site) bool { return s.rel == "sqlguard" && s.file == "approve.go" },
	},
	{
		name: "only the gateway asks for approvals", find: approvals,
		permit: func(s site) bool {
			return s.rel == "sqlguard" || support(s.rel) || (s.rel == "execution" && s.file == "gateway.go")
		},
	},
	{
		name: "only a backend's query.go opens approvals", find: openings,
		permit: func(s site) bool { return support(s.rel) || (backend(s.rel) && s.file == "query.go") },
	},
	{
		name: "only dialects and test support read SQL", find: implementations,
		permit: func(s site) bool { return path.Dir(s.rel) == "dialects" || support(s.rel) },
	},
	{
		name: "only query.go and session.go of a backend, and database.go of the audit index, send statements", find: sendings,
		permit: func(s site) bool {
			return support(s.rel) || ((backend(s.rel) || s.rel == duckdbEngine) && (s.file == "query.go" || s.file == "session.go")) || (slices.Contains(stateStores, s.rel) && s.file == "send.go") ||
				s.rel == "execution/audit/index" && s.file == "database.go" // its statements are put together from constants
		},
	},
	{
		name: "markup, and the statements of stores of our own state, are constants", find: statements,
		permit: func(s site) bool { return s.what == constantStatement },
	},
}

// stateStores keep our own state in a database of their own. They send statements of
// their type statement, in send.go.
var stateStores = []string{"research/skills/litestore", "research/skills/pgstore"}

// constantStatement is what a site is that writes a statement as a constant.
const constantStatement = "a constant statement"

// markupPath is the package of the type of markup.
const markupPath = module + "/httpapi/markup"

// statements finds where the stores of our own state make statements, and where anything
// becomes markup.
func statements(p *program) []site {
	var found []site
	p.each(func(c *checked, node ast.Node) {
		e, ok := node.(ast.Expr)
		if !ok {
			return
		}
		t, ok := c.info.Types[e]
		if !ok || !t.IsValue() {
			return
		}
		named, ok := t.Type.(*types.Named)
		if !ok {
			return
		}
		switch {
		case named.Obj().Name() == "statement" && slices.Contains(stateStores, c.rel):
		case named.Obj().Name() == "Markup" && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == markupPath:
		default:
			return
		}
		switch e.(type) {
		case *ast.Ident, *ast.SelectorExpr:
			return // it was made elsewhere
		}
		what := "makes a statement or markup of values"
		if t.Value != nil {
			what = constantStatement
		}
		found = append(found, p.site(c, node, what))
	})
	return found
}

func TestSeal(t *testing.T) {
	for _, b := range tested() {
		t.Run(b.name, func(t *testing.T) {
			p := load(t, b)
			for _, r := range rules {
				for _, bad := range r.broken(p) {
					t.Errorf("%s: %s", r.name, bad)
				}
			}
		})
	}
}

// TestSealFinds adds violations to the code, one after the other, and checks that each
// rule finds its violations.
func TestSealFinds(t *testing.T) {
	pkgs, err := builds[0].all()
	if err != nil {
		t.Fatal(err)
	}
	const (
		inside  = "package sqlguard\n"
		outside = "package planted\nimport \"" + guardPath + "\"\n"
		pgx     = "package planted\nimport (\n\"context\"\n\"github.com/jackc/pgx/v5\"\n\"github.com/jackc/pgx/v5/pgconn\"\n\"github.com/jackc/pgx/v5/pgproto3\"\n)\nvar (\n_ context.Context\n_ *pgx.Conn\n_ *pgconn.PgConn\n_ *pgproto3.Frontend\n)\n"
		stored  = "package litestore\n"
		html    = "package planted\nimport \"" + markupPath + "\"\n"
		sqlite  = "package planted\nimport \"github.com/ncruces/go-sqlite3\"\n"
	)
	for _, c := range []struct {
		rule   int
		source string
		want   int // sites
	}{
		{0, inside + `func planted(s string) Approved { return Approved{text: &s} }`, 1},
		{0, inside + `func planted(s string) []*Approved { return []*Approved{{text: &s}} }`, 1},
		{0, inside + `type same Approved; func planted(s string) Approved { return Approved(same{text: &s}) }`, 1},
		{0, inside + `func planted(s string) (a Approved) { a.text = &s; return a }`, 1},
		{0, inside + `func planted(s string, a Approved) { *a.text = s }`, 1},
		{0, inside + `func planted(a *Approved) *ID { return &a.guard }`, 1},
		{0, inside + `type alias = Approved; func planted(s string) alias { return alias{text: &s} }`, 1},
		{0, inside + `func planted() (a, b Approved) { return Approved{}, a }`, 0},
		{1, outside + `func planted(g *sqlguard.Guard) { _, _ = g.Approve("x") }`, 1},
		{1, outside + `func planted(g *sqlguard.Guard) { f := g.Approve; _, _ = f("x") }`, 2},
		{1, outside + `func planted(g *sqlguard.Guard) { _, _ = (*sqlguard.Guard).Approve(g, "x") }`, 1},
		{1, outside + `type a interface { Approve(string) (sqlguard.Approved, error) }; func planted(g a) { _, _ = g.Approve("x") }`, 1},
		{1, outside + `func planted(g *sqlguard.Guard) { _ = g.Check("x") }`, 0},
		{2, outside + `func planted(a sqlguard.Approved) { _, _ = a.SQLFor(sqlguard.ID{}) }`, 1},
		{2, outside + `type o interface { SQLFor(sqlguard.ID) (string, error) }; func planted(a o) { _, _ = a.SQLFor(sqlguard.ID{}) }`, 1},
		{2, outside + `func planted(a sqlguard.Approved) any { return a.SQLFor }`, 1},
		{3, outside + `type planted struct { sqlguard.Dialect }`, 1},
		{3, outside + `type planted struct{}
			func (*planted) Name() string { return "" }
			func (*planted) Version() string { return "" }
			func (*planted) Session() []sqlguard.Setting { return nil }
			func (*planted) Lex(string) sqlguard.Tokens { return sqlguard.Tokens{} }
			func (*planted) Analyze(string) ([]sqlguard.Statement, error) { return nil, nil }`, 1},
		{3, outside + `func planted(d sqlguard.Dialect) sqlguard.Dialect { type local struct { sqlguard.Dialect }; return local{d} }`, 1},
		{3, outside + `func planted(d sqlguard.Dialect) sqlguard.Dialect { return struct { sqlguard.Dialect }{d} }`, 1},
		{3, outside + `type planted interface { sqlguard.Dialect }`, 0},
		{4, pgx + `func planted(ctx context.Context, c *pgx.Conn) { _, _ = c.Exec(ctx, "x") }`, 1},
		{4, pgx + `func planted(c *pgx.Conn) any { return c.QueryRow }`, 1},
		{4, pgx + `func planted(ctx context.Context, c *pgconn.PgConn) { c.ExecParams(ctx, "x", nil, nil, nil, nil) }`, 1},
		{4, pgx + `func planted(f *pgproto3.Frontend) { f.SendQuery(nil) }`, 1},
		{4, pgx + `type own interface { SendParse(*pgproto3.Parse) }; func planted(o own) { o.SendParse(nil) }`, 1},
		{4, pgx + `type own interface { Query(own) }; func planted(o own) { o.Query(o) }`, 0},
		{4, sqlite + `func planted(c *sqlite3.Conn) { _, _, _ = c.Prepare("x") }`, 1},
		{5, stored + `func planted(s string) statement { return statement(s) }`, 1},
		{5, stored + `func planted(a, b statement) statement { return a + b }`, 1},
		{5, stored + `func planted(a statement) statement { return a }`, 0},
		{5, html + `func planted(d *markup.Document, s string) { d.Put(markup.Markup(s)) }`, 1},
		{5, html + `func planted(s markup.Markup) markup.Markup { return s + s }`, 1},
	} {
		p, err := newProgram(pkgs)
		if err != nil {
			t.Fatal(err)
		}
		importPath, files := module+"/planted", map[string]any{}
		for header, path := range map[string]string{inside: guardPath, stored: module + "/" + stateStores[0]} {
			if strings.HasPrefix(c.source, header) {
				i := slices.IndexFunc(pkgs, func(l listed) bool { return l.ImportPath == path })
				importPath, files = path, sources(pkgs[i])
			}
		}
		files["planted.go"] = c.source
		if err := p.add(importPath, files); err != nil {
			t.Fatalf("%s\n%v", c.source, err)
		}
		r := rules[c.rule]
		var found []site
		for _, s := range r.find(p) {
			if s.file == "planted.go" {
				found = append(found, s)
			}
		}
		if len(found) != c.want || slices.ContainsFunc(found, func(s site) bool { return r.permit(s) && s.rel != "sqlguard" }) {
			t.Errorf("%s\nfound %v, want %d", c.source, found, c.want)
		}
		if c.want > 0 && len(r.broken(p)) == 0 {
			t.Errorf("%s\nthe rule %q does not find it", c.source, r.name)
		}
	}
}

// optIn are the files that only builds with a tag have, and that may use what barred
// bars. No release has such a tag.
var optIn = map[string]string{"execution/sqlitedb/engine/c.go": "csqlite"}

// onlyWith reports whether no build without a tag has a file.
func onlyWith(tag string, file *ast.File) bool {
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if expr, err := constraint.Parse(comment.Text); err == nil && comment.Pos() < file.Package {
				needed := true
				for others := range 1 << 4 { // the other tags of the file, each on or off
					seen := map[string]int{}
					needed = needed && !expr.Eval(func(t string) bool {
						if _, ok := seen[t]; !ok {
							seen[t] = len(seen)
						}
						return t != tag && others>>seen[t]&1 == 1
					})
				}
				return needed
			}
		}
	}
	return false
}

// barred returns the features in one file that our packages must never use.
func barred(name string, source any) ([]string, error) {
	if strings.HasSuffix(name, ".s") || strings.HasSuffix(name, ".syso") {
		return []string{"assembly or an object file"}, nil
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if optIn[name] != "" && onlyWith(optIn[name], file) {
		return nil, nil
	}
	var bad []string
	for _, spec := range file.Imports {
		if slices.Contains([]string{`"C"`, `"plugin"`, `"unsafe"`}, spec.Path.Value) {
			bad = append(bad, "import "+spec.Path.Value)
		}
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, "//go:linkname") || strings.HasPrefix(comment.Text, "//go:cgo_") {
				bad = append(bad, comment.Text)
			}
		}
	}
	return bad, nil
}

// TestNothingGoesAround looks at every source file, including tests and files for
// other builds.
func TestNothingGoesAround(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || name == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".s", ".syso"}, filepath.Ext(base)) {
			return nil
		}
		seen++
		bad, err := barred(name, nil)
		for _, what := range bad {
			t.Errorf("%s: %s", name, what)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Error("no source files seen")
	}
	for name, source := range map[string]string{
		"execution/sqlitedb/engine/c.go": "//go:build csqlite || cgo\n\npackage p\nimport \"C\"",
		"unsafe.go":                      "package p\nimport _ \"unsafe\"",
		"cgo.go":                         "package p\nimport \"C\"",
		"plugin.go":                      "package p\nimport renamed \"plugin\"\nvar _ renamed.Plugin",
		"linkname.go":                    "package p\n//go:linkname a b\nfunc a()",
		"windows.go":                     "//go:build windows\n\npackage p\nimport _ \"unsafe\"",
		"sum_amd64.s":                    "",
	} {
		if bad, err := barred(name, source); err != nil || len(bad) != 1 {
			t.Errorf("%s: found %v, %v; want one finding", name, bad, err)
		}
	}
	if bad, err := barred("fine.go", "package p\n// unsafe is a word here\nimport \"fmt\"\nvar _ = fmt.Sprint"); err != nil || len(bad) != 0 {
		t.Errorf("fine.go: %v, %v", bad, err)
	}
}
