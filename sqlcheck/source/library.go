package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Files reads the other files of a project. Paths have slashes.
type Files interface {
	// Read returns the content of a file. ok is false if there is no such file,
	// or if it may not be read.
	Read(name string) (content string, ok bool)
	// Names returns the names of the files in a folder, in order.
	Names(folder string) []string
	// Folder reports whether there is a folder with that name.
	Folder(name string) bool
	// Top returns the highest folder of which a file in a folder may use others.
	Top(folder string) string
}

// Library is what the other files of a project declare: the constants to which
// a file refers. It reads a file when another one refers to it, and keeps what
// it read. A nil Library knows no other file.
type Library struct {
	files Files

	mu       sync.Mutex
	packages map[string]*goPackage
	modules  map[string]*goModule
	scripts  map[string]*script // by path

	uses sync.Mutex
	used map[string]map[string]bool // by what needs them: files and folders
}

// NewLibrary returns a library of files.
func NewLibrary(files Files) *Library {
	return &Library{files: files, packages: map[string]*goPackage{}, modules: map[string]*goModule{}, scripts: map[string]*script{}, used: map[string]map[string]bool{}}
}

// use notes that what is found in a file, or in the files of a folder, depends
// on another file or folder, which need not exist.
func (l *Library) use(from, other string) {
	l.uses.Lock()
	defer l.uses.Unlock()
	if l.used[from] == nil {
		l.used[from] = map[string]bool{}
	}
	l.used[from][other] = true
}

// Uses returns the files and folders on which what Find found in a file, or
// what others take from it, depends: by file or folder, each with those that it
// depends on itself.
func (l *Library) Uses() map[string][]string {
	l.uses.Lock()
	defer l.uses.Unlock()
	all := make(map[string][]string, len(l.used))
	for from, others := range l.used {
		all[from] = slices.Collect(maps.Keys(others))
	}
	return all
}

// goPackage is the constants and variables that a package of Go declares.
type goPackage struct {
	library *Library
	folder  string

	lang    language
	top     *function
	names   *scope
	changed map[string]bool // variables that a function of the package assigns
}

// goModule is where the packages of a module of Go lie.
type goModule struct{ folder, path string }

// goPackage returns the package to which the file at a path belongs.
func (l *Library) goPackage(name string, tree *ast.File) *goPackage {
	if l == nil || name == "" {
		return &goPackage{}
	}
	l.use(name, path.Dir(name))
	return l.packageIn(path.Dir(name), tree.Name.Name, strings.HasSuffix(name, "_test.go"))
}

// packageIn returns the package in a folder, with the given name or, if there
// is none given, the one that others import.
func (l *Library) packageIn(folder, name string, tests bool) *goPackage {
	key := folder + "\x00" + name + "\x00" + strconv.FormatBool(tests)
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.packages[key]; p != nil {
		return p
	}
	p := &goPackage{library: l, folder: folder, changed: map[string]bool{}}
	l.packages[key] = p
	top := &function{body: &stmt{kind: stmtBlock}}
	lang := &goFile{options: &Options{}, imports: map[string]string{}}
	for _, file := range l.files.Names(folder) {
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") && !tests {
			continue
		}
		l.use(folder, path.Join(folder, file))
		content, ok := l.files.Read(path.Join(folder, file))
		if !ok {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, "", content, parser.SkipObjectResolution)
		if err != nil || name != "" && tree.Name.Name != name || name == "" && tree.Name.Name == "main" {
			continue
		}
		g := newGoFile(content, set.File(tree.Pos()), tree, lang.options)
		maps.Copy(lang.imports, g.imports)
		for _, d := range tree.Decls {
			if gen, ok := d.(*ast.GenDecl); ok {
				top.body.list = append(top.body.list, g.specs(gen)...)
			}
		}
		p.changes(tree)
	}
	p.names = resolve(top, false, goMutates)
	p.lang, p.top = lang, top
	return p
}

// changes collects the names that a file assigns, wherever they are declared.
func (p *goPackage) changes(tree *ast.File) {
	name := func(e ast.Expr) {
		if n, ok := e.(*ast.Ident); ok {
			p.changed[n.Name] = true
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if n.Tok != token.DEFINE {
					name(e)
				}
			}
		case *ast.IncDecStmt:
			name(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				name(n.Key)
				name(n.Value)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				name(n.X)
			}
		}
		return true
	})
}

// assigns reports whether a variable of the package may be assigned elsewhere:
// by a function of the package, or by any other package.
func (p *goPackage) assigns(name string) bool {
	return p.names == nil || p.changed[name] || ast.IsExported(name)
}

// value returns the value of a name of the package, or of the package with an
// import path.
func (p *goPackage) value(importPath, name string) *value {
	if p.library == nil {
		return nil
	}
	if importPath != "" {
		folder, ok := p.library.folderOf(p.folder, importPath)
		if !ok || !ast.IsExported(name) {
			return nil
		}
		p.library.use(p.folder, folder)
		return p.library.packageIn(folder, "", false).value("", name)
	}
	v := p.names.names[name]
	if v == nil || v.times != 1 || v.init == nil {
		return nil
	}
	constant := unicode.IsLetter(rune(name[0])) || name[0] == '_'
	if !constant || p.assigns(name) && !p.isConstant(v) {
		return nil
	}
	return reading(p.lang, p.top, 1).name(&node{kind: nodeName, name: name, v: v})
}

// isConstant reports whether a name was declared with const.
func (p *goPackage) isConstant(v *variable) bool { return v.init.constant }

var moduleLine = lazily(`(?m)^module[ \t]+"?([^\s"]+)`)

// folderOf returns the folder of the package with an import path, which a file
// in a folder imports. Only packages of the same module are known.
func (l *Library) folderOf(from, importPath string) (string, bool) {
	m, top := l.moduleOf(from), l.files.Top(from)
	for at := from; ; at = path.Dir(at) { // the files that say so
		l.use(from, path.Join(at, "go.mod"))
		if at == top || at == path.Dir(at) || m != nil && at == m.folder {
			break
		}
	}
	if m == nil {
		return "", false
	}
	if importPath == m.path {
		return m.folder, true
	}
	rest, ok := strings.CutPrefix(importPath, m.path+"/")
	return path.Join(m.folder, rest), ok
}

// moduleOf returns the module to which a folder belongs, or nil.
func (l *Library) moduleOf(folder string) *goModule {
	l.mu.Lock()
	defer l.mu.Unlock()
	var passed []string
	var m *goModule
	top := l.files.Top(folder)
	for {
		known, ok := l.modules[folder]
		if ok {
			m = known
			break
		}
		passed = append(passed, folder)
		if content, ok := l.files.Read(path.Join(folder, "go.mod")); ok {
			if found := moduleLine().FindStringSubmatch(content); found != nil {
				m = &goModule{folder, found[1]}
			}
			break
		}
		up := path.Dir(folder)
		if up == folder || folder == top {
			break
		}
		folder = up
	}
	for _, f := range passed {
		l.modules[f] = m
	}
	return m
}

// script is what a file of JavaScript, TypeScript or Python declares.
type script struct {
	path    string
	lang    language
	top     *function
	names   *scope
	exports map[string]*node
	stars   []string
}

// jsExtensions are tried for the name of a module.
var jsExtensions = []string{"", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", "/index.ts", "/index.tsx", "/index.js"}

// exported returns the value that a module exports under a name. The module is
// named as the file at a path names it. Only modules with a relative name are
// known.
func (l *Library) exported(from, module, name string, depth int) *value {
	if l == nil || from == "" || !strings.HasPrefix(module, ".") || name == "*" || depth > 3 {
		return nil
	}
	base := path.Join(path.Dir(from), module)
	if !within(l.files.Top(path.Dir(from)), base) {
		return nil
	}
	for _, extension := range jsExtensions {
		file := base + extension
		if !Reads(file) {
			continue
		}
		l.use(from, file)
		if s := l.script(file); s != nil {
			return s.exported(l, name, depth)
		}
	}
	if trimmed, ok := strings.CutSuffix(base, ".js"); ok { // TypeScript names what it will be compiled to
		l.use(from, trimmed+".ts")
		if s := l.script(trimmed + ".ts"); s != nil {
			return s.exported(l, name, depth)
		}
	}
	return nil
}

// script returns a file of JavaScript or TypeScript, nil if it cannot be read.
func (l *Library) script(file string) *script {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, known := l.scripts[file]; known {
		return s
	}
	var s *script
	if content, ok := l.files.Read(file); ok {
		if p, top, err := parseJavaScript(content, file); err == nil {
			s = &script{path: file, exports: p.exports, stars: p.stars}
			for _, n := range p.exports { // names are those of the file
				top.body.list = append(top.body.list, &stmt{kind: stmtExpr, value: n})
			}
			prune(top, resolve(top, true, jsMutates), p.exports)
			s.lang, s.top = &javaScript{options: &Options{Path: file, Library: l}}, top
		}
	}
	l.scripts[file] = s
	return s
}

// exported returns the value that the script exports under a name.
func (s *script) exported(l *Library, name string, depth int) *value {
	n := s.exports[name]
	if n == nil {
		for _, star := range s.stars {
			if v := l.exported(s.path, star, name, depth+1); v != nil {
				return v
			}
		}
		return nil
	}
	return reading(s.lang, s.top, depth).eval(n)
}

// pyExported returns the value that a module of Python assigns to a name. The
// module is named as the file at a path names it. Modules lie beside the file,
// in a package around it, or where a relative name leads.
func (l *Library) pyExported(from, module, name string, depth int) *value {
	if l == nil || from == "" || depth > 3 {
		return nil
	}
	folder := path.Dir(from)
	top := l.files.Top(folder)
	up := 0
	for strings.HasPrefix(module, ".") {
		module = module[1:]
		up++
	}
	folders := []string{}
	if up > 0 {
		for range up - 1 {
			folder = path.Dir(folder)
		}
		folders = append(folders, folder)
	} else {
		for range 6 {
			folders = append(folders, folder)
			if folder == top || path.Dir(folder) == folder {
				break
			}
			folder = path.Dir(folder)
		}
	}
	relative := strings.ReplaceAll(module, ".", "/")
	for _, folder := range folders {
		if !within(top, folder) {
			continue
		}
		if first, _, below := strings.Cut(relative, "/"); below {
			// If the first folder is not there, nothing in it is.
			if first = path.Join(folder, first); !l.files.Folder(first) {
				l.use(from, first)
				continue
			}
		}
		for _, file := range []string{path.Join(folder, relative) + ".py", path.Join(folder, relative, "__init__.py")} {
			l.use(from, file)
			if s := l.pyScript(file); s != nil {
				return s.assigned(name, depth)
			}
		}
	}
	return nil
}

// within reports whether a path lies in a folder or is the folder.
func within(folder, name string) bool {
	return name == folder || strings.HasPrefix(name, strings.TrimSuffix(folder, "/")+"/")
}

// pyScript returns a file of Python, nil if it cannot be read.
func (l *Library) pyScript(file string) *script {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, known := l.scripts[file]; known {
		return s
	}
	var s *script
	if content, ok := l.files.Read(file); ok {
		if p, top, err := parsePython(content); err == nil && !p.dynamic {
			s = &script{path: file, top: top, lang: &python{options: &Options{Path: file, Library: l}, imports: importsCommand(content)}}
			s.names = resolve(top, false, pyMutates)
			prune(top, s.names, nil)
		}
	}
	l.scripts[file] = s
	return s
}

// prune lets go of what no other file can need of a script: its statements, and the
// bodies of functions that no value at its top calls.
func prune(top *function, names *scope, exports map[string]*node) {
	top.body.list = nil
	called := map[*function]bool{}
	seen := map[*node]bool{}
	var walk func(n *node, callee bool)
	var statement func(s *stmt)
	walk = func(n *node, callee bool) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		switch n.kind { //nolint:exhaustive // the others have only parts
		case nodeFunction:
			called[n.fn] = called[n.fn] || callee
			if !callee && !called[n.fn] {
				n.fn.body = nil
			}
			return
		case nodeName:
			if n.v != nil && n.v.fn == top && n.v.init != nil && n.v.init.kind == nodeFunction {
				called[n.v.init.fn] = true
			}
		}
		walk(n.x, n.kind == nodeCall)
		for _, part := range n.list {
			walk(part, false)
		}
		statement(n.do)
	}
	statement = func(s *stmt) {
		if s == nil {
			return
		}
		walk(s.value, false)
		for _, inner := range s.list {
			statement(inner)
		}
	}
	for _, v := range names.names {
		if v.init != nil && v.init.kind != nodeFunction {
			walk(v.init, false)
		}
	}
	for _, n := range exports {
		if n.kind != nodeName { // else its value is above
			walk(n, false)
		}
	}
	for _, v := range names.names {
		if v.init != nil && v.init.kind == nodeFunction && !called[v.init.fn] {
			v.init.fn.body = nil
		}
	}
}

// assigned returns the value of a name that the script assigns once.
func (s *script) assigned(name string, depth int) *value {
	v := s.names.names[name]
	if v == nil || v.times != 1 {
		return nil
	}
	return reading(s.lang, s.top, depth).name(&node{kind: nodeName, name: name, v: v})
}
