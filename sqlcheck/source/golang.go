package source

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// goSinks are methods and functions of database/sql, pgx, sqlx, bun and gorm
// that take SQL, with the index of that argument. In pgx a context comes before
// it.
var goSinks = map[string]goSink{
	"QueryContext": {1, certain}, "QueryRowContext": {1, certain}, "ExecContext": {1, certain}, "PrepareContext": {1, certain},
	"Query": {0, likely}, "QueryRow": {0, likely}, "Exec": {0, likely}, "Prepare": {0, likely}, "Queue": {0, likely},
	"Queryx": {0, certain}, "QueryRowx": {0, certain}, "QueryxContext": {1, certain}, "QueryRowxContext": {1, certain}, "Preparex": {0, certain}, "PreparexContext": {1, certain},
	"MustExec": {0, certain}, "MustExecContext": {1, certain}, "NamedExec": {0, certain}, "NamedExecContext": {1, certain}, "NamedQuery": {0, certain}, "NamedQueryContext": {1, certain},
	"PrepareNamed": {0, certain}, "PrepareNamedContext": {1, certain}, "Get": {1, possible}, "GetContext": {2, certain}, "Select": {1, possible}, "SelectContext": {2, certain},
	"NewRaw": {0, certain}, "Raw": {0, likely}, "SimpleQuery": {0, likely},
}

type goSink struct {
	argument int
	certain  certainty
}

// goFile is a Go file that is read.
type goFile struct {
	source    string
	file      *token.File
	constants map[string]*ast.ValueSpec
	values    map[string]int // which value of its specification a constant has
	folding   map[string]bool
	options   *Options
	texts     []*Text
}

// findGo finds the SQL in a Go file. It folds the constants of the file.
// Constants of other files and packages are holes.
func findGo(source string, o *Options) (*Source, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, "", source, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 { //nolint:errorlint // the parser's own type
			return nil, &SyntaxError{Offset: list[0].Pos.Offset, Message: list[0].Msg}
		}
		return nil, &SyntaxError{Message: "it is no Go source"}
	}
	g := &goFile{source: source, file: set.File(tree.Pos()), constants: map[string]*ast.ValueSpec{}, values: map[string]int{}, folding: map[string]bool{}, options: o}
	for _, d := range tree.Decls {
		g.declare(d)
	}
	g.shadowed(tree)
	ast.Inspect(tree, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			g.call(call)
		}
		return true
	})
	out := &Source{Texts: g.texts}
	for _, group := range tree.Comments {
		for _, c := range group.List {
			out.Comments = append(out.Comments, g.span(c))
		}
	}
	return out, nil
}

// declare collects constants, and variables that the file assigns one text.
// Only variables of the package count, because others may be assigned
// elsewhere.
func (g *goFile) declare(d ast.Decl) {
	gen, ok := d.(*ast.GenDecl)
	if !ok || gen.Tok != token.CONST {
		return
	}
	for _, s := range gen.Specs {
		if spec, ok := s.(*ast.ValueSpec); ok && len(spec.Values) == len(spec.Names) {
			for i, name := range spec.Names {
				g.constants[name.Name], g.values[name.Name] = spec, i
			}
		}
	}
}

// shadowed forgets the constants whose names are declared again anywhere in the
// file.
func (g *goFile) shadowed(tree *ast.File) {
	bind := func(e ast.Expr) {
		if name, ok := e.(*ast.Ident); ok {
			delete(g.constants, name.Name)
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				bind(e)
			}
		case *ast.RangeStmt:
			bind(n.Key)
			bind(n.Value)
		case *ast.Field: // of parameters and results, and of structures
			for _, name := range n.Names {
				bind(name)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				if g.constants[name.Name] != n {
					bind(name)
				}
			}
		case *ast.TypeSpec:
			bind(n.Name)
		case *ast.ImportSpec:
			if n.Name != nil {
				bind(n.Name)
			}
		}
		return true
	})
}

func (g *goFile) offset(p token.Pos) int { return g.file.Offset(p) }

func (g *goFile) span(n ast.Node) sqlguard.Span {
	return sqlguard.Span{Start: g.offset(n.Pos()), End: g.offset(n.End())}
}

// call adds the text that a call passes to a sink.
func (g *goFile) call(call *ast.CallExpr) {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	sink, ok := goSinks[name]
	if g.options.sink(name) {
		sink, ok = goSink{0, certain}, true
	}
	if !ok || sink.argument >= len(call.Args) {
		return
	}
	first, last := sink.argument, sink.argument+2
	if sink.certain >= likely {
		if last = first + 1; isContext(call.Args[first]) {
			first++
		}
	}
	for i := first; i < min(len(call.Args), last+1); i++ {
		t := &Text{Call: g.offset(call.Pos()), Span: g.span(call.Args[i]), Sink: name, Certain: sink.certain == certain}
		if !g.text(call.Args[i], t) {
			continue
		}
		if i > first && !looksLikeSQL(t.SQL()) {
			break // a value
		}
		if sink.certain.judges(t) {
			g.texts = append(g.texts, t)
		}
		return
	}
	if sink.certain >= likely && first < len(call.Args) {
		g.texts = append(g.texts, unknown(&Text{Call: g.offset(call.Pos()), Span: g.span(call.Args[first]), Sink: name, Certain: sink.certain == certain}))
	}
}

// isContext reports whether an expression is a context by its name.
func isContext(e ast.Expr) bool {
	name := ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok {
			if x, ok := f.X.(*ast.Ident); ok && x.Name == "context" {
				return true
			}
			name = f.Sel.Name
		}
	}
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "ctx") || strings.HasSuffix(name, "context")
}

// text appends the value of an expression. It reports whether the expression is
// a text of which at least a part is known.
func (g *goFile) text(e ast.Expr, t *Text) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return false
		}
		g.literal(e, t)
		return true
	case *ast.ParenExpr:
		return g.text(e.X, t)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return false
		}
		var left, right Text
		known := g.text(e.X, &left)
		if !known {
			left = Text{}
			left.hole(g.span(e.X), false)
		}
		if g.text(e.Y, &right) {
			known = true
		} else {
			right = Text{}
			right.hole(g.span(e.Y), false)
		}
		t.add(&left)
		t.add(&right)
		return known
	case *ast.Ident:
		return g.constant(e.Name, t)
	case *ast.CallExpr:
		return g.sprintf(e, t)
	default:
		return false
	}
}

// constant appends the value of a constant of the file.
func (g *goFile) constant(name string, t *Text) bool {
	spec := g.constants[name]
	if spec == nil || g.folding[name] {
		return false
	}
	g.folding[name] = true
	defer delete(g.folding, name)
	return g.text(spec.Values[g.values[name]], t)
}

// literal appends a string literal.
func (g *goFile) literal(lit *ast.BasicLit, t *Text) {
	at := g.offset(lit.Pos())
	// The source of a raw literal may have CR, which is not part of its value.
	raw := g.source[at:g.offset(lit.End())]
	if raw[0] == '`' {
		body := raw[1 : len(raw)-1]
		start := 0
		for i := range len(body) {
			if body[i] == '\r' {
				t.verbatim(body[start:i], at+1+start)
				start = i + 1
			}
		}
		t.verbatim(body[start:], at+1+start)
		return
	}
	goEscapes(raw[1:len(raw)-1], at+1, t)
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

// sprintf appends the result of fmt.Sprintf with a known format. Each verb is a
// hole. The hole of a %d holds a number.
func (g *goFile) sprintf(call *ast.CallExpr, t *Text) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "Sprintf" || len(call.Args) == 0 {
		return false
	}
	if x, ok := f.X.(*ast.Ident); !ok || x.Name != "fmt" {
		return false
	}
	var format Text
	if !g.text(call.Args[0], &format) {
		return false
	}
	argument := 1
	next := func() (ast.Expr, bool) {
		if argument >= len(call.Args) {
			return nil, false
		}
		argument++
		return call.Args[argument-1], true
	}
	sql := format.SQL()
	for i := 0; i < len(sql); {
		if len(format.Holes) > 0 && format.Holes[0].At <= i {
			t.Holes = append(t.Holes, Hole{At: len(t.sql), Span: format.Holes[0].Span})
			format.Holes = format.Holes[1:]
			continue
		}
		end := i + 1
		if sql[i] == '%' {
			verb := i + 1
			for verb < len(sql) && strings.IndexByte("+-# 0123456789.[]*", sql[verb]) >= 0 {
				verb++
			}
			if verb < len(sql) && sql[verb] == '%' {
				t.escaped("%", sqlguard.Span{Start: format.place(i, false), End: format.place(verb+1, true)})
				i = verb + 1
				continue
			}
			span := sqlguard.Span{Start: format.place(i, false), End: format.place(min(verb+1, len(sql)), true)}
			plain := verb == i+1 // an index or a star moves the arguments
			arg, found := next()
			var inner Text
			switch {
			case verb < len(sql) && plain && found && (sql[verb] == 's' || sql[verb] == 'v') && g.text(arg, &inner) && len(inner.Holes) == 0:
				t.add(&inner)
			default:
				t.hole(span, verb < len(sql) && strings.IndexByte("dbox", sql[verb]) >= 0 || found && isNumber(arg))
			}
			i = verb + 1
			continue
		}
		for end < len(sql) && sql[end] != '%' && (len(format.Holes) == 0 || end < format.Holes[0].At) {
			end++
		}
		t.run(&format, i, end)
		i = end
	}
	for _, h := range format.Holes {
		t.Holes = append(t.Holes, Hole{At: len(t.sql), Span: h.Span})
	}
	return true
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

// isNumber reports whether an expression is certainly a number.
func isNumber(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0).Kind() != constant.String
	case *ast.CallExpr:
		f, ok := e.Fun.(*ast.Ident)
		return ok && (f.Name == "len" || f.Name == "cap" || strings.HasPrefix(f.Name, "int") || strings.HasPrefix(f.Name, "uint"))
	case *ast.ParenExpr:
		return isNumber(e.X)
	default:
		return false
	}
}
