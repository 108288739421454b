package source

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// goSinks are methods and functions of database/sql, pgx, sqlx, bun, gorm and others
// that take SQL, with the index of that argument. In pgx a context comes before
// it.
var goSinks = map[string]goSink{
	"QueryContext": {1, certain}, "QueryRowContext": {1, certain}, "ExecContext": {1, certain}, "PrepareContext": {1, certain},
	"Query": {0, likely}, "QueryRow": {0, likely}, "Exec": {0, likely}, "Prepare": {0, likely}, "Queue": {0, likely},
	"Queryx": {0, certain}, "QueryRowx": {0, certain}, "QueryxContext": {1, certain}, "QueryRowxContext": {1, certain}, "Preparex": {0, certain}, "PreparexContext": {1, certain},
	"MustExec": {0, certain}, "MustExecContext": {1, certain}, "NamedExec": {0, certain}, "NamedExecContext": {1, certain}, "NamedQuery": {0, certain}, "NamedQueryContext": {1, certain},
	"PrepareNamed": {0, certain}, "PrepareNamedContext": {1, certain}, "Get": {1, possible}, "GetContext": {2, certain}, "Select": {1, possible}, "SelectContext": {2, certain},
	"NewRaw": {0, likely}, "Raw": {0, likely}, "RawQuery": {0, likely}, "SimpleQuery": {0, likely},
	"QueryOne": {1, possible}, "ExecOne": {0, likely}, "SQL": {0, possible}, "NewQuery": {0, possible}, // go-pg, xorm, dbx
	"SelectBySql": {0, likely}, "InsertBySql": {0, likely}, "UpdateBySql": {0, likely}, "DeleteBySql": {0, likely}, // dbr
	"Execute": {1, possible}, "ExecuteTransient": {1, likely}, "ExecScript": {1, likely}, "ExecuteScript": {1, likely}, "Prep": {0, possible}, // sqlitex
	"PrepareBatch": {1, likely}, "AsyncInsert": {1, likely}, "ExecParams": {1, likely}, "QueryFunc": {1, likely}, // ClickHouse, pgconn
}

// goMigrations are the fields of the structs in which packages for migrations take lists
// of SQL, or one text, by the end of the import path.
var goMigrations = map[string][]string{"/sql-migrate": {"Up", "Down"}, "/darwin": {"Script"}}

type goSink struct {
	argument int
	certain  certainty
}

// goFile is a Go file that is read.
type goFile struct {
	source  string
	file    *token.File
	options *Options
	imports map[string]string // the path of an imported package, by its name in the file
	jumps   map[string]bool   // the labels that goto names
	passing map[string]int    // functions of the file that pass an argument to a database
	// migrations are the fields of structs that take SQL, by the packages that it imports.
	migrations []string
	// elsewhere returns the value of a name of the package that another file
	// declares, or of a name of an imported package.
	elsewhere func(path, name string) *value
}

// findGo finds the SQL in a Go file.
func findGo(source string, o *Options) (*Source, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, "", source, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 { //nolint:errorlint // the parser's own type
			return nil, &SyntaxError{Offset: list[0].Pos.Offset, Message: list[0].Msg}
		}
		return nil, &SyntaxError{Message: "it is no Go source"}
	}
	g := newGoFile(source, set.File(tree.Pos()), tree, o)
	out := &Source{}
	for _, group := range tree.Comments {
		for _, c := range group.List {
			out.Comments = append(out.Comments, g.span(c))
		}
	}
	if !g.callsSink(tree) {
		return out, nil
	}
	top := &function{span: sqlguard.Span{End: len(source)}, body: &stmt{kind: stmtBlock}}
	for _, d := range tree.Decls {
		top.body.list = append(top.body.list, g.declaration(d)...)
	}
	names, passing := resolveCalls(top, false, goMutates, g.passes)
	g.passing = passing
	p := o.Library.goPackage(o.Path, tree)
	for name, v := range names.names {
		v.open = g.isVariable(tree, name) && p.assigns(name)
	}
	g.elsewhere = p.value
	out.Texts = follow(top, g)
	return out, nil
}

func newGoFile(source string, file *token.File, tree *ast.File, o *Options) *goFile {
	g := &goFile{source: source, file: file, options: o, imports: map[string]string{}, jumps: map[string]bool{}}
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.BranchStmt); ok && s.Tok == token.GOTO {
			g.jumps[s.Label.Name] = true
		}
		return true
	})
	for _, spec := range tree.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		for end, fields := range goMigrations {
			if strings.HasSuffix(path, end) {
				g.migrations = append(g.migrations, fields...)
			}
		}
		if spec.Name != nil {
			g.imports[spec.Name.Name] = path
		} else {
			g.imports[importName(path)] = path
		}
	}
	return g
}

// importName returns the usual name of the package with an import path.
func importName(path string) string {
	parts := strings.Split(path, "/")
	last := parts[len(parts)-1]
	if len(parts) > 1 && len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		last = parts[len(parts)-2]
	}
	return strings.TrimPrefix(last, "go-")
}

// callsSink reports whether a file names a function that takes SQL.
func (g *goFile) callsSink(tree *ast.File) bool {
	found := len(g.migrations) > 0
	ast.Inspect(tree, func(n ast.Node) bool {
		if found {
			return false
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			_, found = g.sinkOf(goCallee(n))
		case *ast.SelectorExpr: // run := db.Exec
			_, found = g.sinkOf(n.Sel.Name)
		}
		return !found
	})
	return found
}

// isVariable reports whether a name of the package is a variable.
func (g *goFile) isVariable(tree *ast.File, name string) bool {
	for _, d := range tree.Decls {
		if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.VAR {
			for _, s := range gen.Specs {
				if spec, ok := s.(*ast.ValueSpec); ok && slices.ContainsFunc(spec.Names, func(n *ast.Ident) bool { return n.Name == name }) {
					return true
				}
			}
		}
	}
	return false
}

// goCallee returns the last name of the function that a call calls.
func goCallee(call *ast.CallExpr) string {
	f := call.Fun
	switch x := f.(type) {
	case *ast.IndexExpr:
		f = x.X
	case *ast.IndexListExpr:
		f = x.X
	}
	switch f := f.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	default:
		return ""
	}
}

func (g *goFile) sinkOf(name string) (goSink, bool) {
	if g.options.sink(name) {
		return goSink{0, certain}, true
	}
	sink, ok := goSinks[name]
	return sink, ok
}

func (g *goFile) offset(p token.Pos) int { return g.file.Offset(p) }

func (g *goFile) span(n ast.Node) sqlguard.Span {
	return sqlguard.Span{Start: g.offset(n.Pos()), End: g.offset(n.End())}
}

// declaration returns the statements of a declaration of the package.
func (g *goFile) declaration(d ast.Decl) []*stmt {
	switch d := d.(type) {
	case *ast.GenDecl:
		return g.specs(d)
	case *ast.FuncDecl:
		fn := g.function(d, d.Type, d.Body)
		fn.later = true
		value := &node{kind: nodeFunction, span: fn.span, fn: fn}
		if d.Recv != nil {
			fn.params, fn.values = g.fields(d.Recv, fn.params, fn.values) // behind those that callers write
			fn.name = d.Name.Name
			return []*stmt{{kind: stmtExpr, value: value}}
		}
		return []*stmt{{kind: stmtFunction, target: g.named(d.Name), value: value}}
	default:
		return nil
	}
}

func (g *goFile) function(n ast.Node, t *ast.FuncType, body *ast.BlockStmt) *function {
	fn := &function{span: g.span(n), body: &stmt{kind: stmtBlock}}
	fn.params, fn.values = g.fields(t.Params, nil, nil)
	fn.params, fn.values = g.fields(t.Results, fn.params, fn.values)
	if body != nil {
		fn.body.list = g.stmts(body.List)
	}
	return fn
}

func (g *goFile) fields(list *ast.FieldList, params, values []*node) ([]*node, []*node) {
	if list == nil {
		return params, values
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			params, values = append(params, g.named(name)), append(values, nil)
		}
		if len(field.Names) == 0 {
			params, values = append(params, &node{}), append(values, nil)
		}
	}
	return params, values
}

func (g *goFile) named(name *ast.Ident) *node {
	return &node{kind: nodeName, name: name.Name, span: g.span(name)}
}

// specs returns the statements of const and var.
func (g *goFile) specs(d *ast.GenDecl) (out []*stmt) {
	for _, s := range d.Specs {
		spec, ok := s.(*ast.ValueSpec)
		if !ok {
			continue
		}
		switch {
		case len(spec.Values) == len(spec.Names):
			for i, name := range spec.Names {
				value := g.expr(spec.Values[i])
				value.constant = d.Tok == token.CONST
				out = append(out, &stmt{kind: stmtDeclare, target: g.named(name), value: value})
			}
		default:
			var value *node
			if len(spec.Values) == 1 {
				out = append(out, &stmt{kind: stmtExpr, value: g.expr(spec.Values[0])})
			} else if d.Tok == token.VAR && spec.Type != nil {
				value = g.zero(spec.Type)
			}
			for _, name := range spec.Names {
				out = append(out, &stmt{kind: stmtDeclare, target: g.named(name), value: value})
			}
		}
	}
	return out
}

// zero returns the zero value of a type, if that is a text, a buffer or a list.
func (g *goFile) zero(t ast.Expr) *node {
	switch t := t.(type) {
	case *ast.Ident:
		if t.Name == "string" {
			return &node{kind: nodeLiteral, text: &Text{}, span: g.span(t)}
		}
	case *ast.SelectorExpr:
		if x, ok := t.X.(*ast.Ident); ok && (x.Name == "strings" && t.Sel.Name == "Builder" || x.Name == "bytes" && t.Sel.Name == "Buffer") {
			return &node{kind: nodeLiteral, text: &Text{}, name: "buffer", span: g.span(t)}
		}
	case *ast.ArrayType:
		return &node{kind: nodeList, span: g.span(t)}
	}
	return nil
}

func (g *goFile) stmts(list []ast.Stmt) (out []*stmt) {
	for i, s := range list {
		if label, ok := s.(*ast.LabeledStmt); ok && g.jumps[label.Label.Name] { // what follows may run again
			return append(out, &stmt{kind: stmtLoop, list: append(g.stmt(label.Stmt), g.stmts(list[i+1:])...)})
		}
		out = append(out, g.stmt(s)...)
	}
	return out
}

func (g *goFile) block(list ...ast.Stmt) *stmt {
	return &stmt{kind: stmtBlock, scoped: true, list: g.stmts(list)}
}

func (g *goFile) stmt(s ast.Stmt) []*stmt {
	one := func(s *stmt) []*stmt { return []*stmt{s} }
	switch s := s.(type) {
	case *ast.AssignStmt:
		return g.assignment(s)
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok {
			return g.specs(d)
		}
	case *ast.ExprStmt:
		return one(&stmt{kind: stmtExpr, value: g.expr(s.X)})
	case *ast.GoStmt:
		return one(&stmt{kind: stmtExpr, value: g.expr(s.Call)})
	case *ast.DeferStmt:
		return one(&stmt{kind: stmtExpr, value: g.expr(s.Call)})
	case *ast.SendStmt:
		return one(&stmt{kind: stmtExpr, value: g.unknown(s, s.Chan, s.Value)})
	case *ast.LabeledStmt:
		return g.stmt(s.Stmt)
	case *ast.BlockStmt:
		return one(g.block(s.List...))
	case *ast.ReturnStmt:
		if len(s.Results) == 1 {
			return one(&stmt{kind: stmtReturn, value: g.expr(s.Results[0])})
		}
		return one(&stmt{kind: stmtReturn, value: &node{kind: nodeList, span: g.span(s), list: g.exprs(s.Results)}})
	case *ast.IfStmt:
		branch := &stmt{kind: stmtBranch, value: g.expr(s.Cond), list: []*stmt{g.block(s.Body.List...)}}
		if s.Else != nil {
			branch.complete = true
			branch.list = append(branch.list, g.block(s.Else))
		}
		return one(g.around(s.Init, branch))
	case *ast.ForStmt:
		loop := &stmt{kind: stmtLoop, list: []*stmt{g.block(s.Body.List...)}}
		if s.Cond != nil {
			loop.list = append([]*stmt{{kind: stmtExpr, value: g.expr(s.Cond)}}, loop.list...)
		}
		if s.Post != nil {
			loop.list = append(loop.list, g.stmt(s.Post)...)
		}
		return one(g.around(s.Init, loop))
	case *ast.RangeStmt:
		loop := &stmt{kind: stmtLoop, value: g.expr(s.X), scoped: s.Tok == token.DEFINE, list: []*stmt{g.block(s.Body.List...)}}
		if s.Value != nil {
			loop.target = g.expr(s.Value)
		}
		if s.Key != nil {
			kind := stmtAssign
			if loop.scoped {
				kind = stmtDeclare
			}
			loop.list = append([]*stmt{{kind: kind, target: g.expr(s.Key)}}, loop.list...)
		}
		return one(loop)
	case *ast.SwitchStmt:
		branch := g.clauses(s.Body)
		if s.Tag != nil {
			branch.value = g.expr(s.Tag)
		}
		return one(g.around(s.Init, branch))
	case *ast.TypeSwitchStmt:
		inner := g.around(s.Assign, g.clauses(s.Body))
		if s.Init != nil {
			inner.list = append(g.stmt(s.Init), inner.list...)
		}
		return one(inner)
	case *ast.SelectStmt:
		return one(g.clauses(s.Body))
	}
	return nil
}

// around returns a block with a statement before another one.
func (g *goFile) around(init ast.Stmt, s *stmt) *stmt {
	out := &stmt{kind: stmtBlock, scoped: true}
	if init != nil {
		out.list = g.stmt(init)
	}
	out.list = append(out.list, s)
	return out
}

func (g *goFile) clauses(body *ast.BlockStmt) *stmt {
	branch := &stmt{kind: stmtBranch}
	for _, c := range body.List {
		b := &stmt{kind: stmtBlock, scoped: true}
		switch c := c.(type) {
		case *ast.CaseClause:
			if n := len(c.Body); n > 0 {
				last, ok := c.Body[n-1].(*ast.BranchStmt)
				b.falls = ok && last.Tok == token.FALLTHROUGH
			}
			for _, e := range c.List {
				b.list = append(b.list, &stmt{kind: stmtExpr, value: g.expr(e)})
			}
			branch.complete = branch.complete || c.List == nil
			b.list = append(b.list, g.stmts(c.Body)...)
		case *ast.CommClause:
			if c.Comm != nil {
				b.list = g.stmt(c.Comm)
			}
			b.list = append(b.list, g.stmts(c.Body)...)
			branch.complete = true
		}
		branch.list = append(branch.list, b)
	}
	return branch
}

func (g *goFile) assignment(s *ast.AssignStmt) (out []*stmt) {
	kind := stmtAssign
	switch s.Tok { //nolint:exhaustive // the others assign what is not a text
	case token.DEFINE:
		kind = stmtDeclare
	case token.ADD_ASSIGN:
		return []*stmt{{kind: stmtAppend, target: g.expr(s.Lhs[0]), value: g.expr(s.Rhs[0])}}
	}
	if len(s.Lhs) != len(s.Rhs) {
		return []*stmt{{kind: kind, target: &node{kind: nodeList, span: g.span(s), list: g.exprs(s.Lhs)}, value: g.expr(s.Rhs[0])}}
	}
	for i := range s.Lhs {
		out = append(out, &stmt{kind: kind, target: g.expr(s.Lhs[i]), value: g.expr(s.Rhs[i])})
	}
	return out
}

func (g *goFile) exprs(list []ast.Expr) (out []*node) {
	for _, e := range list {
		out = append(out, g.expr(e))
	}
	return out
}

// unknown returns an expression that is no text, with the expressions in it.
func (g *goFile) unknown(n ast.Node, parts ...ast.Expr) *node {
	out := &node{span: g.span(n)}
	for _, p := range parts {
		if p != nil {
			out.list = append(out.list, g.expr(p))
		}
	}
	return out
}

// addressed is the name of an unknown value that is an address.
const addressed = "&"

func (g *goFile) expr(e ast.Expr) *node {
	switch e := e.(type) {
	case *ast.BasicLit:
		return g.literal(e)
	case *ast.ParenExpr:
		return g.expr(e.X)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return g.unknown(e, e.X, e.Y)
		}
		left, right := g.expr(e.X), g.expr(e.Y)
		if left.kind == nodeConcat {
			left.list, left.span.End = append(left.list, right), right.span.End
			return left
		}
		return &node{kind: nodeConcat, span: g.span(e), list: []*node{left, right}}
	case *ast.Ident:
		return g.named(e)
	case *ast.SelectorExpr:
		return &node{kind: nodeMember, span: g.span(e), x: g.expr(e.X), name: e.Sel.Name}
	case *ast.IndexExpr:
		return &node{kind: nodeIndex, span: g.span(e), x: g.expr(e.X), list: []*node{g.expr(e.Index)}}
	case *ast.IndexListExpr:
		return g.expr(e.X)
	case *ast.CallExpr:
		return g.callExpr(e)
	case *ast.CompositeLit:
		return g.composite(e)
	case *ast.FuncLit:
		fn := g.function(e, e.Type, e.Body)
		return &node{kind: nodeFunction, span: fn.span, fn: fn}
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			if lit, ok := e.X.(*ast.CompositeLit); ok {
				return g.composite(lit)
			}
			return &node{span: g.span(e), name: addressed, x: g.expr(e.X)}
		}
		return g.unknown(e, e.X)
	case *ast.StarExpr:
		return g.unknown(e, e.X)
	case *ast.SliceExpr:
		return g.unknown(e, e.X, e.Low, e.High, e.Max)
	case *ast.TypeAssertExpr:
		return g.unknown(e, e.X)
	case *ast.KeyValueExpr:
		return g.expr(e.Value)
	default: // a type
		return &node{span: g.span(e)}
	}
}

func (g *goFile) callExpr(e *ast.CallExpr) *node {
	fun := e.Fun
	switch x := fun.(type) { // type arguments
	case *ast.IndexExpr:
		if goCallee(e) != "" {
			fun = x.X
		}
	case *ast.IndexListExpr:
		fun = x.X
	}
	if name, ok := fun.(*ast.Ident); ok && name.Name == "new" && len(e.Args) == 1 {
		if zero := g.zero(e.Args[0]); zero != nil && zero.name == "buffer" {
			return zero
		}
	}
	n := &node{kind: nodeCall, span: g.span(e), x: g.expr(fun), list: g.exprs(e.Args)}
	if e.Ellipsis.IsValid() && len(n.list) > 0 {
		last := n.list[len(n.list)-1]
		n.list[len(n.list)-1] = &node{span: last.span, name: "...", list: []*node{last}}
	}
	n.keys = make([]string, len(n.list))
	return n
}

// composite returns a list, or an object with the keys that are literals or
// names of fields.
func (g *goFile) composite(e *ast.CompositeLit) *node {
	if zero := g.zero(e.Type); zero != nil && zero.name == "buffer" {
		return zero
	}
	out := &node{kind: nodeList, span: g.span(e)}
	_, isMap := e.Type.(*ast.MapType)
	_, isArray := e.Type.(*ast.ArrayType)
	for _, part := range e.Elts {
		pair, ok := part.(*ast.KeyValueExpr)
		if !ok {
			out.list, out.keys = append(out.list, g.expr(part)), append(out.keys, "")
			continue
		}
		if !isArray {
			out.kind = nodeObject
		}
		key := ""
		switch k := pair.Key.(type) {
		case *ast.BasicLit:
			if v, err := strconv.Unquote(k.Value); err == nil && k.Kind == token.STRING {
				key = v
			}
		case *ast.Ident:
			if !isMap {
				key = k.Name
			}
		}
		if key == "" {
			key = "\x00" + strconv.Itoa(len(out.list)) // of which only the position is known
		}
		value := g.expr(pair.Value)
		if slices.Contains(g.migrations, key) && !isMap {
			value = &node{kind: nodeCall, span: value.span, x: &node{name: migration}, list: []*node{value}, keys: []string{""}}
		}
		out.list, out.keys = append(out.list, value), append(out.keys, key)
	}
	return out
}

// migration is the name of what takes the SQL in the struct of a migration.
const migration = "Migration"

// literal returns a literal. Characters count as texts.
func (g *goFile) literal(lit *ast.BasicLit) *node {
	n := &node{kind: nodeLiteral, span: g.span(lit), text: &Text{}}
	at := n.span.Start
	// The source of a raw literal may have CR, which is not part of its value.
	raw := g.source[at:n.span.End]
	switch {
	case lit.Kind == token.CHAR:
		if r, err := strconv.Unquote(lit.Value); err == nil {
			n.text.escaped(r, n.span)
		}
	case lit.Kind != token.STRING:
		return &node{kind: nodeNumber, span: n.span}
	case raw[0] == '`':
		body := raw[1 : len(raw)-1]
		start := 0
		for i := range len(body) {
			if body[i] == '\r' {
				n.text.verbatim(body[start:i], at+1+start)
				start = i + 1
			}
		}
		n.text.verbatim(body[start:], at+1+start)
	default:
		goEscapes(raw[1:len(raw)-1], at+1, n.text)
	}
	return n
}

// goMutates calls change with each variable that a call changes.
func goMutates(n *node, change func(*node, bool)) {
	if n.x != nil && n.x.kind == nodeMember && strings.HasPrefix(n.x.name, "Write") {
		change(n.x.x, true)
	}
	for i, arg := range n.list {
		if arg.name == addressed && arg.kind == nodeUnknown {
			change(arg.x, i == 0 && n.x.kind == nodeMember && strings.HasPrefix(n.x.name, "Fprint"))
		}
	}
}

// outer returns the value of a name that another file of the package declares.
func (g *goFile) outer(_ *flow, n *node) *value { return g.foreign("", n.name, n.span) }

func (g *goFile) imported(*flow, *node) *value { return nil }

func (g *goFile) tagged(*flow, *node) *value { return nil }

// member returns the value of a constant of an imported package.
func (g *goFile) member(_ *flow, n *node) *value {
	if n.x.kind != nodeName || n.x.v != nil || g.imports[n.x.name] == "" {
		return nil
	}
	return g.foreign(g.imports[n.x.name], n.name, n.span)
}

// foreign returns a value of another file as if it stood at a span of this one.
func (g *goFile) foreign(path, name string, span sqlguard.Span) *value {
	if g.elsewhere == nil {
		return nil
	}
	return g.elsewhere(path, name).moved(span)
}

// moved returns a value of another file, all of it at a span of this one.
func (v *value) moved(span sqlguard.Span) *value {
	if v == nil {
		return nil
	}
	out := &value{list: v.list, object: v.object, number: v.number, partial: v.partial, fragment: v.fragment}
	for _, t := range v.texts {
		out.texts = append(out.texts, t.moved(span))
	}
	for _, it := range v.items {
		it.value, it.span = it.value.moved(span), span
		out.items = append(out.items, it)
	}
	if v.fields != nil {
		out.fields = map[string]*value{}
		for name, field := range v.fields {
			out.fields[name] = field.moved(span)
		}
	}
	return out
}

// sink adds the text that a call passes to a database.
func (g *goFile) sink(f *flow, call *node, args []*value) {
	name := ""
	if call.x != nil && (call.x.kind == nodeMember || call.x.kind == nodeName) {
		name = call.x.name
	}
	if call.x != nil && call.x.kind == nodeUnknown && call.x.name == migration && f.once(call) {
		f.passAll(args[0], call.list[0], Text{Call: call.span.Start, Sink: migration, Certain: true})
		return
	}
	sink, ok := g.sinkOf(name)
	if i, passes := g.passing[name]; !ok && passes {
		sink, ok = goSink{i, possible}, true
	}
	if !ok || sink.argument >= len(call.list) || !f.once(call) {
		return
	}
	if call.x.kind == nodeMember {
		switch of := call.x.x; {
		case of.kind == nodeCall && of.x != nil && of.x.name == "EXPECT":
			return // gomock: what it compares the argument with
		case preparedStatement(of.name), of.kind == nodeCall && of.x != nil && preparedStatement(of.x.name):
			sink.certain = possible // its arguments are values
		}
	}
	as := Text{Call: call.span.Start, Sink: name, Certain: sink.certain == certain}
	if call.x.kind == nodeMember {
		as.Receiver = call.x.x.name
	}
	first, last := sink.argument, sink.argument+2
	if sink.certain >= likely {
		if last = first + 1; isContext(call.list[first]) {
			first++
		}
		if name == "Prepare" && first == 1 && len(call.list) == 3 { // pgx gives it a name
			first, last = 2, 2
		}
	}
	for i := first; i < min(len(call.list), last+1); i++ {
		v := args[i]
		if v == nil || len(v.texts) == 0 {
			continue
		}
		as.Span = call.list[i].span
		if i > first && !slices.ContainsFunc(v.texts, func(t *Text) bool { return LooksLikeSQL(t.SQL()) }) {
			break // a value
		}
		f.pass(v, as, sink.certain >= likely, func(t *Text) bool {
			if name == "Query" && len(t.Holes) == 0 && oneWord().MatchString(t.SQL()) {
				return false // a field of a form, such as c.Query("commit"): no statement of one word has rows
			}
			return sink.certain.judges(t)
		})
		return
	}
	if sink.certain >= likely && first < len(call.list) && call.list[first].kind != nodeNumber && call.list[first].kind != nodeFunction {
		as.Span = call.list[first].span
		f.add(unknown(&as))
	}
}

// passes returns the argument that a call passes to a database, or nil.
func (g *goFile) passes(n *node) *node {
	if n.x == nil || n.x.kind != nodeMember {
		return nil
	}
	sink, ok := g.sinkOf(n.x.name)
	if !ok || sink.certain < likely || preparedStatement(n.x.x.name) {
		return nil
	}
	i := sink.argument
	if i < len(n.list) && isContext(n.list[i]) {
		i++
	}
	if i >= len(n.list) {
		return nil
	}
	return n.list[i]
}

// preparedStatement reports whether what has that name is a prepared statement.
func preparedStatement(name string) bool {
	name = strings.TrimRight(strings.ToLower(name), "0123456789")
	return strings.HasSuffix(name, "stmt") || strings.HasSuffix(name, "statement")
}

// isContext reports whether an expression is a context by its name.
func isContext(n *node) bool {
	name := n.name
	if n.kind == nodeCall {
		if n.x.kind == nodeMember && n.x.x.kind == nodeName && n.x.x.name == "context" {
			return true
		}
		name = n.x.name
	}
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "ctx") || strings.HasSuffix(name, "context")
}

// call returns the result of functions of the standard library and of functions
// that return their argument.
func (g *goFile) call(f *flow, n *node, receiver *value, args []*value) (*value, bool) {
	for _, arg := range n.list { // what is at an address may change
		if arg.kind == nodeUnknown && arg.name == addressed && arg.x.kind == nodeName && (n.x.kind != nodeMember || !strings.HasPrefix(n.x.name, "Fprint")) {
			f.set(arg.x.v, nil)
		}
	}
	pack := ""
	if n.x.kind == nodeMember && n.x.x.kind == nodeName && n.x.x.v == nil {
		pack = cmp.Or(g.imports[n.x.x.name], n.x.x.name)
	}
	switch pack {
	case "fmt":
		return g.format(f, n, args), true
	case "strings", "bytes":
		return g.textFunction(f, n, args), true
	case "strconv":
		return &value{number: strings.HasPrefix(n.x.name, "Itoa") || strings.HasPrefix(n.x.name, "Format") && n.x.name != "FormatBool"}, true
	}
	if n.x.kind == nodeMember {
		return g.method(f, n, receiver, args)
	}
	if n.x.kind != nodeName || n.x.v != nil {
		return nil, false
	}
	switch n.x.name {
	case "append":
		return appended(args, n), true
	case "string":
		if len(args) == 1 {
			return args[0], true
		}
	case "len", "cap", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "float32", "float64":
		return &value{number: true}, true
	}
	return nil, false
}

// appended returns a list with more elements.
func appended(args []*value, n *node) *value {
	if len(args) == 0 || args[0] == nil || !args[0].list {
		return nil
	}
	out := &value{list: true, items: slices.Clone(args[0].items)}
	for i, v := range args[1:] {
		out.items = append(out.items, item{value: v, span: n.list[i+1].span, repeat: n.list[i+1].name == "..."})
	}
	return out
}

// method returns the result of a method of a buffer, or of one that returns its
// argument.
func (g *goFile) method(f *flow, n *node, receiver *value, args []*value) (*value, bool) {
	switch n.x.name {
	case "WriteString", "WriteByte", "WriteRune":
		if receiver != nil && receiver.builder && len(args) == 1 && n.x.x.kind == nodeName {
			f.set(n.x.x.v, f.concat([]*value{receiver, args[0]}, []sqlguard.Span{n.x.span, n.list[0].span}))
			return nil, true
		}
	case "String":
		if receiver != nil && receiver.builder {
			plain := *receiver
			plain.builder = false
			return &plain, true
		}
	case "Reset":
		if receiver != nil && receiver.builder && n.x.x.kind == nodeName {
			f.set(n.x.x.v, &value{texts: []*Text{{}}, builder: true})
			return nil, true
		}
	case "Grow", "Len", "Cap":
		return &value{number: true}, true
	case "Rebind":
		if len(args) == 1 {
			return args[0], true
		}
	case "In", "Named": // of sqlx: the query, the arguments and an error
		if n.x.kind == nodeMember && n.x.x.kind == nodeName && n.x.x.name == "sqlx" && len(args) > 0 {
			return &value{list: true, items: []item{{value: args[0], span: n.list[0].span}, {span: n.span}, {span: n.span}}}, true
		}
	default:
		if receiver != nil && receiver.builder && n.x.x.kind == nodeName {
			f.set(n.x.x.v, nil)
		}
	}
	return nil, false
}

// textFunction returns the result of a function of strings.
func (g *goFile) textFunction(f *flow, n *node, args []*value) *value {
	switch n.x.name {
	case "Join":
		if len(args) == 2 {
			return f.join(args[0], args[1], n.span)
		}
	case "TrimSpace", "Trim", "TrimRight", "TrimLeft", "TrimSuffix", "TrimPrefix", "Clone":
		if len(args) > 0 && args[0] != nil && (n.x.name == "TrimSpace" || n.x.name == "Clone") {
			return args[0]
		}
	case "Repeat":
		if len(args) == 2 && args[0] != nil && len(args[0].texts) > 0 && !slices.ContainsFunc(args[0].texts, func(t *Text) bool { return strings.Trim(t.SQL(), "?, ()") != "" || len(t.Holes) > 0 }) {
			return nil // placeholders
		}
	case "NewBufferString":
		if len(args) == 1 && args[0] != nil && len(args[0].texts) > 0 {
			out := *args[0]
			out.builder = true
			return &out
		}
	}
	return nil
}

// format returns the result of a function of fmt.
func (g *goFile) format(f *flow, n *node, args []*value) *value {
	switch n.x.name {
	case "Sprintf":
		return g.sprintf(f, args)
	case "Sprint":
		return f.concat(args, spansOf(n.list))
	case "Fprintf", "Fprint", "Fprintln":
		if len(n.list) == 0 {
			return nil
		}
		target := n.list[0]
		if target.kind == nodeUnknown && target.name == addressed {
			target = target.x
		}
		if target.kind != nodeName || target.v == nil {
			return nil
		}
		old := f.state[target.v]
		if old == nil || !old.builder {
			f.set(target.v, nil)
			return nil
		}
		var added *value
		if n.x.name == "Fprintf" {
			added = g.sprintf(f, args[1:])
		} else {
			added = f.concat(args[1:], spansOf(n.list[1:]))
		}
		f.set(target.v, f.concat([]*value{old, added}, []sqlguard.Span{target.span, n.span}))
	}
	return nil
}

func spansOf(list []*node) (out []sqlguard.Span) {
	for _, n := range list {
		out = append(out, n.span)
	}
	return out
}

// goEscapes appends the content of an interpreted literal.
func goEscapes(body string, at int, t *Text) {
	for rest := body; rest != ""; {
		n := strings.IndexByte(rest, '\\')
		if n < 0 {
			n = len(rest)
		}
		from := at + len(body) - len(rest)
		t.verbatim(rest[:n], from)
		if rest = rest[n:]; rest == "" {
			return
		}
		r, wide, tail, err := strconv.UnquoteChar(rest, '"')
		if err != nil { // the parser has read it
			return
		}
		span := sqlguard.Span{Start: from + n, End: from + n + len(rest) - len(tail)}
		if wide || r < utf8.RuneSelf {
			t.escaped(string(r), span)
		} else {
			t.escaped(string([]byte{byte(r)}), span) //nolint:gosec // \x and octal escapes are of one byte
		}
		rest = tail
	}
}

// sprintf returns the result of fmt.Sprintf with a known format. Each verb of
// which the argument is not known is a hole. The hole of a %d holds a number.
func (g *goFile) sprintf(f *flow, args []*value) *value {
	if len(args) == 0 || args[0] == nil || len(args[0].texts) == 0 {
		return nil
	}
	out := &value{partial: args[0].partial}
	for _, format := range args[0].texts {
		v := g.formatted(f, format, args[1:])
		if v == nil {
			return nil
		}
		out.texts = append(out.texts, v.texts...)
		out.partial = out.partial || v.partial
	}
	return limited(out)
}

// formatted returns a format with its arguments.
func (g *goFile) formatted(f *flow, format *Text, args []*value) *value {
	var parts []*value
	var spans []sqlguard.Span
	literal := &Text{Emptied: format.Emptied}
	flush := func() {
		parts, spans = append(parts, textValue(literal)), append(spans, sqlguard.Span{})
		literal = &Text{}
	}
	sql, holes := format.SQL(), format.Holes
	argument := 0
	for i := 0; i < len(sql) || len(holes) > 0; {
		if len(holes) > 0 && holes[0].At <= i {
			literal.hole(holes[0].Span, holes[0].Number)
			holes = holes[1:]
			continue
		}
		if sql[i] != '%' {
			end := i + 1
			for end < len(sql) && sql[end] != '%' && (len(holes) == 0 || end < holes[0].At) {
				end++
			}
			literal.run(format, i, end)
			i = end
			continue
		}
		verb := i + 1
		for verb < len(sql) && strings.IndexByte("+-# 0123456789.[]*", sql[verb]) >= 0 {
			verb++
		}
		span := sqlguard.Span{Start: format.place(i, false), End: format.place(min(verb+1, len(sql)), true)}
		if verb < len(sql) && sql[verb] == '%' {
			literal.escaped("%", span)
			i = verb + 1
			continue
		}
		at := argument
		argument++
		plain := verb == i+1
		if index, ok := argumentIndex(sql[i+1 : min(verb, len(sql))]); ok { // %[2]s
			at, argument, plain = index, index+1, true
		}
		var arg *value
		if at < len(args) {
			arg = args[at]
		}
		switch {
		case verb < len(sql) && plain && arg != nil && len(arg.texts) > 0 && (sql[verb] == 's' || sql[verb] == 'v'):
			flush()
			parts, spans = append(parts, arg), append(spans, span)
		default:
			literal.hole(span, verb < len(sql) && strings.IndexByte("dbox", sql[verb]) >= 0 || arg != nil && arg.number)
		}
		i = verb + 1
	}
	flush()
	return f.concat(parts, spans)
}

// argumentIndex returns the index in [n].
func argumentIndex(flags string) (int, bool) {
	if len(flags) < 3 || flags[0] != '[' || flags[len(flags)-1] != ']' {
		return 0, false
	}
	n, err := strconv.Atoi(flags[1 : len(flags)-1])
	return n - 1, err == nil && n > 0
}

// run appends a part of another text.
func (t *Text) run(from *Text, start, end int) {
	first, found := slices.BinarySearchFunc(from.pieces, start, func(p piece, at int) int { return p.at - at })
	if !found {
		first = max(first-1, 0)
	}
	for i := first; i < len(from.pieces) && from.pieces[i].at < end; i++ {
		p, stop := from.pieces[i], len(from.sql)
		if i+1 < len(from.pieces) {
			stop = from.pieces[i+1].at
		}
		a, b := max(start, p.at), min(end, stop)
		if a >= b {
			continue
		}
		if p.verbatim {
			t.verbatim(string(from.sql[a:b]), p.file.Start+a-p.at)
		} else {
			t.escaped(string(from.sql[a:b]), p.file)
		}
	}
}
