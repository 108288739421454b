package source

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// pyKind is the kind of a token of Python.
type pyKind uint8

const (
	pyOther pyKind = iota // an operator
	pyName
	pyString
	pyNumber
	pyLine   // the end of a logical line
	pyIndent // more indentation than before
	pyDedent // less
	pyEnd
)

type pyToken struct {
	kind       pyKind
	start, end int
}

// pyParser reads Python (the language reference, sections 2 and 6 to 8) into
// nodes. It stops with a panic of a *SyntaxError where it cannot go on.
type pyParser struct {
	source   string
	tokens   []pyToken
	at       int
	comments []sqlguard.Span
	depth    int
	locals   []map[string]bool // the names that the functions around assign
	classes  []*node           // the fields of the classes around
	dynamic  bool              // something may assign names of the file by a string
}

// pyMaxDepth is the most expressions and statements in one another.
const pyMaxDepth = 1_000

func (p *pyParser) fail(message string) {
	panic(&SyntaxError{Offset: p.token().start, Message: message})
}

func (p *pyParser) enter() {
	if p.depth++; p.depth > pyMaxDepth {
		p.fail("it is nested too deeply")
	}
}

func (p *pyParser) leave() { p.depth-- }

func (p *pyParser) token() pyToken { return p.tokens[p.at] }

func (p *pyParser) textAt(i int) string {
	if i >= len(p.tokens) {
		return ""
	}
	return p.source[p.tokens[i].start:p.tokens[i].end]
}

func (p *pyParser) is(text string) bool {
	return p.token().kind == pyOther && p.textAt(p.at) == text
}

func (p *pyParser) word(text string) bool {
	return p.token().kind == pyName && p.textAt(p.at) == text
}

func (p *pyParser) accept(text string) bool {
	if (p.token().kind == pyOther || p.token().kind == pyName) && p.textAt(p.at) == text {
		p.at++
		return true
	}
	return false
}

func (p *pyParser) expect(text string) {
	if !p.accept(text) {
		p.fail("expected " + text)
	}
}

func (p *pyParser) span(from int) sqlguard.Span {
	return sqlguard.Span{Start: from, End: max(from, p.tokens[max(p.at-1, 0)].end)}
}

// pyOperators are the operators of more than one character, the longest first.
var pyOperators = []string{"**=", "//=", ">>=", "<<=", "...", "!=", "->", ":=", "**", "//", ">>", "<<", "<=", ">=", "==", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", "<>"}

// lex splits the source from an offset on into tokens. depth is how many
// brackets are open there.
func (p *pyParser) lex(from int, depth int) {
	indents := []int{0}
	begin := depth == 0 // of a logical line
	add := func(kind pyKind, start, end int) { p.tokens = append(p.tokens, pyToken{kind, start, end}) }
	s := p.source
	i := from
	failed := func(message string) { panic(&SyntaxError{Offset: i, Message: message}) }
	for i < len(s) {
		if begin {
			column, at := 0, i
			for at < len(s) && (s[at] == ' ' || s[at] == '\t' || s[at] == '\f') {
				switch s[at] {
				case ' ':
					column++
				case '\t':
					column += 8 - column%8
				default:
					column = 0
				}
				at++
			}
			if i = at; i >= len(s) {
				break
			}
			if s[i] != '#' && s[i] != '\n' && s[i] != '\r' && (s[i] != '\\' || lineEnd(s[i+1:]) == 0) {
				begin = false
				if column > indents[len(indents)-1] {
					indents = append(indents, column)
					add(pyIndent, i, i)
				}
				for column < indents[len(indents)-1] {
					indents = indents[:len(indents)-1]
					add(pyDedent, i, i)
				}
			}
		}
		c := s[i]
		switch {
		case c == ' ' || c == '\t' || c == '\f':
			i++
		case strings.HasPrefix(s[i:], "\uFEFF"):
			i += 3
		case c == '\\' && lineEnd(s[i+1:]) > 0:
			i += 1 + lineEnd(s[i+1:])
		case c == '\n' || c == '\r':
			if depth == 0 && !begin {
				add(pyLine, i, i)
			}
			begin = depth == 0
			i++
		case c == '#':
			end := i + len(firstLine(s[i:]))
			p.comments = append(p.comments, sqlguard.Span{Start: i, End: end})
			i = end
		case c >= '0' && c <= '9' || c == '.' && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9':
			end := i + 1
			for end < len(s) && (s[end] < 0x80 && pyNameByte(s[end]) || s[end] == '.' || (s[end] == '+' || s[end] == '-') && (s[end-1] == 'e' || s[end-1] == 'E') && !strings.HasPrefix(s[i:], "0x")) {
				end++
			}
			add(pyNumber, i, end)
			i = end
		case pyNameByte(c):
			end := i
			for end < len(s) && pyNameByte(s[end]) {
				end++
			}
			if end < len(s) && (s[end] == '\'' || s[end] == '"') && pyPrefix(s[i:end]) {
				stop, ok := pyLiteralEnd(s, end)
				if !ok {
					failed("the string has no end")
				}
				add(pyString, i, stop)
				i = stop
				continue
			}
			add(pyName, i, end)
			i = end
		case c == '\'' || c == '"':
			stop, ok := pyStringEnd(s, i)
			if !ok {
				failed("the string has no end")
			}
			add(pyString, i, stop)
			i = stop
		default:
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth = max(depth-1, 0)
			}
			_, end := utf8.DecodeRuneInString(s[i:])
			for _, op := range pyOperators {
				if strings.HasPrefix(s[i:], op) {
					end = len(op)
					break
				}
			}
			add(pyOther, i, i+end)
			i += end
		}
	}
	add(pyLine, len(s), len(s))
	for range indents[1:] {
		add(pyDedent, len(s), len(s))
	}
	add(pyEnd, len(s), len(s))
}

// program reads a file.
func (p *pyParser) program() *function {
	p.lex(0, 0)
	top := &function{span: sqlguard.Span{End: len(p.source)}, body: &stmt{kind: stmtBlock}}
	p.locals = []map[string]bool{{}}
	for p.token().kind != pyEnd {
		switch p.token().kind { //nolint:exhaustive // all others begin a statement
		case pyLine, pyIndent, pyDedent: // of a line that is not part of the program
			p.at++
			continue
		}
		top.body.list = append(top.body.list, p.statement()...)
	}
	top.locals = sortedNames(p.locals[0])
	return top
}

func sortedNames(m map[string]bool) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// assigned notes the names that a target assigns in the function around.
func (p *pyParser) assigned(target *node) {
	eachName(target, func(n *node) { p.locals[len(p.locals)-1][n.name] = true })
}

// block reads what stands behind a colon.
func (p *pyParser) block() *stmt {
	p.enter()
	defer p.leave()
	p.expect(":")
	out := &stmt{kind: stmtBlock}
	if p.token().kind != pyLine {
		out.list = p.simple()
		return out
	}
	p.at++
	if p.token().kind != pyIndent { // its lines are not part of the program
		return out
	}
	p.at++
	for p.token().kind != pyDedent && p.token().kind != pyEnd {
		if p.token().kind == pyLine || p.token().kind == pyIndent {
			p.at++
			continue
		}
		out.list = append(out.list, p.statement()...)
	}
	if p.token().kind == pyDedent {
		p.at++
	}
	return out
}

func (p *pyParser) statement() []*stmt {
	p.enter()
	defer p.leave()
	one := func(s *stmt) []*stmt { return []*stmt{s} }
	if p.is("@") {
		p.at++
		n := p.expression()
		if p.token().kind == pyLine {
			p.at++
		}
		return append(one(&stmt{kind: stmtExpr, value: n}), p.statement()...)
	}
	if p.token().kind != pyName {
		return p.simple()
	}
	switch p.textAt(p.at) {
	case "async":
		p.at++
		return p.statement()
	case "if":
		return one(p.ifStatement())
	case "while":
		p.at++
		condition := p.named()
		loop := &stmt{kind: stmtLoop, list: []*stmt{{kind: stmtExpr, value: condition}, p.block()}}
		return append(one(loop), p.otherwise()...)
	case "for":
		p.at++
		target := p.targets()
		p.assigned(target)
		p.expect("in")
		value := p.tuple()
		loop := &stmt{kind: stmtLoop, target: target, value: value, list: []*stmt{p.block()}}
		return append(one(loop), p.otherwise()...)
	case "try":
		return p.trying()
	case "with":
		return p.with()
	case "def":
		return one(p.def())
	case "class":
		return p.class()
	case "match":
		if list, ok := p.match(); ok {
			return list
		}
	}
	return p.simple()
}

// otherwise reads the else of a loop.
func (p *pyParser) otherwise() []*stmt {
	if !p.word("else") {
		return nil
	}
	p.at++
	return []*stmt{{kind: stmtBranch, list: []*stmt{p.block()}}}
}

func (p *pyParser) ifStatement() *stmt {
	p.at++
	branch := &stmt{kind: stmtBranch, value: p.named()}
	branch.list = []*stmt{p.block()}
	switch {
	case p.word("elif"):
		branch.complete = true
		branch.list = append(branch.list, &stmt{kind: stmtBlock, list: []*stmt{p.ifStatement()}})
	case p.accept("else"):
		branch.complete = true
		branch.list = append(branch.list, p.block())
	}
	return branch
}

func (p *pyParser) trying() []*stmt {
	p.at++
	try := &stmt{kind: stmtTry, list: []*stmt{p.block()}}
	for p.accept("except") {
		p.accept("*")
		handler := &stmt{kind: stmtBlock}
		if !p.is(":") {
			handler.list = append(handler.list, &stmt{kind: stmtExpr, value: p.tuple()})
			if p.accept("as") {
				target := p.atom()
				p.assigned(target)
				handler.list = append(handler.list, &stmt{kind: stmtAssign, target: target})
			}
		}
		handler.list = append(handler.list, p.block())
		try.list = append(try.list, handler)
	}
	if p.accept("else") {
		try.list[0] = &stmt{kind: stmtBlock, list: []*stmt{try.list[0], p.block()}}
	}
	out := []*stmt{try}
	if p.accept("finally") {
		out = append(out, p.block())
	}
	return out
}

func (p *pyParser) with() (out []*stmt) {
	p.at++
	end := p.closing(p.at)
	if p.is("(") && end < len(p.tokens) && p.textAt(end+1) == ":" { // with (a as b, c as d):
		p.at++
	}
	for !p.is(":") {
		out = append(out, &stmt{kind: stmtExpr, value: p.expression()})
		if p.accept("as") {
			target := p.primary()
			p.assigned(target)
			out = append(out, &stmt{kind: stmtAssign, target: target})
		}
		p.accept(",")
		if p.is(")") {
			p.at++
		}
		if p.token().kind == pyLine || p.token().kind == pyEnd {
			p.fail("expected :")
		}
	}
	return append(out, p.block())
}

// closing returns the token that closes the bracket at token i.
func (p *pyParser) closing(i int) int {
	depth := 0
	for ; i < len(p.tokens); i++ {
		if p.tokens[i].kind != pyOther {
			continue
		}
		switch p.textAt(i) {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// typeParameters skips [T, *U] behind the name of a function or class.
func (p *pyParser) typeParameters() {
	if p.is("[") {
		p.at = min(p.closing(p.at)+1, len(p.tokens)-1)
	}
}

func (p *pyParser) def() *stmt {
	from := p.token().start
	p.at++
	name := p.atom()
	p.typeParameters()
	fn := &function{later: true}
	p.locals = append(p.locals, map[string]bool{})
	p.expect("(")
	p.parameters(fn, ")", true)
	p.expect(")")
	if p.accept("->") {
		p.expression()
	}
	if len(p.classes) > 0 && len(fn.params) > 0 { // self, which is the class around
		fn.params[0] = &node{}
	}
	classes := p.classes
	p.classes = nil
	fn.body = p.block()
	p.classes = classes
	fn.name, fn.method = name.name, len(p.classes) > 0
	fn.locals = sortedNames(p.locals[len(p.locals)-1])
	p.locals = p.locals[:len(p.locals)-1]
	fn.span = p.span(from)
	value := &node{kind: nodeFunction, fn: fn, span: fn.span}
	if len(p.classes) > 0 {
		return &stmt{kind: stmtExpr, value: value}
	}
	p.assigned(name)
	return &stmt{kind: stmtFunction, target: name, value: value}
}

// parameters reads the parameters of a function or lambda up to end.
func (p *pyParser) parameters(fn *function, end string, typed bool) {
	for !p.is(end) {
		if p.accept("*") || p.accept("**") || p.accept("/") {
			if p.accept(",") || p.is(end) {
				continue
			}
		}
		target := p.atom()
		if target.kind != nodeName {
			p.fail("expected a name")
		}
		if typed && p.accept(":") {
			p.accept("*")
			p.expression()
		}
		var value *node
		if p.accept("=") {
			value = p.expression()
		}
		fn.params, fn.values = append(fn.params, target), append(fn.values, value)
		if !p.accept(",") && !p.is(end) {
			p.fail("expected " + end)
		}
	}
}

// class reads a class. Its fields are those of an object that its methods know
// as self or cls.
func (p *pyParser) class() []*stmt {
	p.at++
	name := p.atom()
	p.typeParameters()
	inner := &stmt{kind: stmtBlock, scoped: true}
	if p.is("(") {
		call := p.arguments(&node{}, p.token().start)
		for _, base := range call.list {
			inner.list = append(inner.list, &stmt{kind: stmtExpr, value: base})
		}
	}
	fields := &node{kind: nodeObject, span: name.span}
	p.classes = append(p.classes, fields)
	p.locals = append(p.locals, map[string]bool{})
	for _, self := range []string{"self", "cls"} {
		inner.list = append(inner.list, &stmt{kind: stmtDeclare, target: &node{kind: nodeName, name: self}, value: fields})
	}
	body := p.block()
	names := map[string]int{}
	for _, s := range body.list {
		if s.kind == stmtAssign && s.target.kind == nodeName {
			names[s.target.name]++
			fields.keys, fields.list = append(fields.keys, s.target.name), append(fields.list, s.value)
			s.kind = stmtDeclare
		}
	}
	for i, key := range fields.keys {
		if names[key] > 1 || fields.list[i] == nil || p.reassigned(key) {
			fields.keys[i], fields.list[i] = "", &node{}
		}
	}
	p.locals = p.locals[:len(p.locals)-1]
	p.classes = p.classes[:len(p.classes)-1]
	inner.list = append(inner.list, body.list...)
	p.assigned(name)
	value := &node{kind: nodeAssign, span: name.span, do: inner, x: fields}
	if len(p.classes) > 0 {
		return []*stmt{{kind: stmtExpr, value: value}}
	}
	return []*stmt{{kind: stmtAssign, target: name, value: value}}
}

// reassigned reports whether self.NAME = … stands in a class.
func (p *pyParser) reassigned(name string) bool {
	start, end := p.tokens[0].start, p.token().start
	for i := p.at - 1; i >= 2; i-- {
		if p.tokens[i].start < start || p.tokens[i].start > end {
			break
		}
		if p.tokens[i].kind == pyName && p.textAt(i) == name && p.textAt(i-1) == "." && (p.textAt(i-2) == "self" || p.textAt(i-2) == "cls") &&
			(p.textAt(i+1) == "=" || strings.HasSuffix(p.textAt(i+1), "=") && p.textAt(i+1) != "==") {
			return true
		}
	}
	return false
}

// match reads a match statement. ok is false if match is a name here.
func (p *pyParser) match() (list []*stmt, ok bool) {
	start := p.at
	defer func() {
		if r := recover(); r != nil {
			if _, syntax := r.(*SyntaxError); !syntax {
				panic(r)
			}
			p.at, list, ok = start, nil, false
		}
	}()
	p.at++
	switch next := p.token(); {
	case next.kind == pyLine, next.kind == pyOther && !p.is("(") && !p.is("[") && !p.is("{") && !p.is("*") && !p.is("-") && !p.is("~"):
		p.at = start
		return nil, false
	}
	branch := &stmt{kind: stmtBranch, value: p.tuple()}
	if !p.is(":") || p.tokens[p.at+1].kind != pyLine {
		p.at = start
		return nil, false
	}
	p.at += 2
	if p.token().kind != pyIndent {
		p.fail("expected case")
	}
	p.at++
	for p.accept("case") {
		b := &stmt{kind: stmtBlock}
		branch.complete = branch.complete || p.word("_") && p.textAt(p.at+1) == ":"
		for depth := 0; depth > 0 || !p.is(":") && !p.word("if"); p.at++ { // a pattern, whose names are bound
			switch {
			case p.token().kind == pyLine || p.token().kind == pyEnd:
				p.fail("expected :")
			case p.is("(") || p.is("[") || p.is("{"):
				depth++
			case p.is(")") || p.is("]") || p.is("}"):
				depth--
			case p.token().kind == pyName && !pyKeywords[p.textAt(p.at)]:
				target := &node{kind: nodeName, name: p.textAt(p.at), span: sqlguard.Span{Start: p.token().start, End: p.token().end}}
				p.assigned(target)
				b.list = append(b.list, &stmt{kind: stmtAssign, target: target})
			}
		}
		if p.accept("if") {
			b.list = append(b.list, &stmt{kind: stmtExpr, value: p.named()})
		}
		b.list = append(b.list, p.block())
		branch.list = append(branch.list, b)
	}
	if p.token().kind == pyDedent {
		p.at++
	}
	return []*stmt{branch}, true
}

// simple reads the simple statements of a line.
func (p *pyParser) simple() (out []*stmt) {
	for {
		out = append(out, p.small()...)
		if p.accept(";") && p.token().kind != pyLine {
			continue
		}
		if p.token().kind != pyLine && p.token().kind != pyEnd {
			p.fail("unexpected " + strconv.Quote(p.textAt(p.at)))
		}
		if p.token().kind == pyLine {
			p.at++
		}
		return out
	}
}

func (p *pyParser) small() []*stmt {
	one := func(s *stmt) []*stmt { return []*stmt{s} }
	ends := func() bool { return p.token().kind == pyLine || p.token().kind == pyEnd || p.is(";") }
	if p.token().kind == pyName {
		switch p.textAt(p.at) {
		case "return":
			p.at++
			out := &stmt{kind: stmtReturn}
			if !ends() {
				out.value = p.tuple()
			}
			return one(out)
		case "raise":
			p.at++
			out := &stmt{kind: stmtReturn, names: []string{"raise"}}
			if !ends() {
				out.value = p.tuple()
				if p.accept("from") {
					cause := p.expression()
					out.value = &node{span: p.span(out.value.span.Start), list: []*node{out.value, cause}}
				}
			}
			return one(out)
		case "pass", "break", "continue":
			p.at++
			return nil
		case "global", "nonlocal":
			p.at++
			out := &stmt{kind: stmtNames}
			for !ends() {
				if p.token().kind == pyName {
					out.names = append(out.names, p.textAt(p.at))
				}
				p.at++
			}
			return one(out)
		case "import", "from":
			return p.imports()
		case "del":
			p.at++
			target := p.targets()
			p.assigned(target)
			return one(&stmt{kind: stmtAssign, target: target})
		case "assert":
			p.at++
			return one(&stmt{kind: stmtExpr, value: p.tuple()})
		case "type":
			if next := p.tokens[p.at+1]; next.kind == pyName && (p.textAt(p.at+2) == "=" || p.textAt(p.at+2) == "[") {
				for !ends() {
					p.at++
				}
				return nil
			}
		}
	}
	return p.assignment()
}

func (p *pyParser) imports() (out []*stmt) {
	module, from := "", p.word("from")
	p.at++
	for p.is(".") || p.is("...") || p.token().kind == pyName && !p.word("import") {
		if from {
			module += p.textAt(p.at)
			p.at++
			continue
		}
		name := p.atom()
		parts := []string{name.name}
		for p.accept(".") {
			parts = append(parts, p.atom().name)
		}
		full := strings.Join(parts, ".")
		as := len(parts) == 1
		if p.accept("as") {
			name, as = p.atom(), true
		}
		p.assigned(name)
		s := &stmt{kind: stmtAssign, target: name}
		if as {
			s.value = &node{kind: nodeImport, name: "*", keys: []string{full}, span: name.span}
		}
		out = append(out, s)
		p.accept(",")
	}
	if !from {
		return out
	}
	p.expect("import")
	p.accept("(")
	for p.token().kind == pyName {
		name := p.atom()
		of := name.name
		if p.accept("as") {
			name = p.atom()
		}
		p.assigned(name)
		out = append(out, &stmt{kind: stmtAssign, target: name, value: &node{kind: nodeImport, name: of, keys: []string{module}, span: name.span}})
		p.accept(",")
	}
	p.accept("*")
	p.accept(")")
	return out
}

// assignment reads an expression or an assignment.
func (p *pyParser) assignment() (out []*stmt) {
	first := p.tuple()
	if p.accept(":") {
		p.expression()
		if !p.accept("=") {
			if first.kind == nodeName {
				p.assigned(first)
			}
			return nil
		}
		value := p.value()
		p.assigned(first)
		return []*stmt{{kind: stmtAssign, target: first, value: value}}
	}
	if p.token().kind != pyOther {
		return []*stmt{{kind: stmtExpr, value: first}}
	}
	switch op := p.textAt(p.at); {
	case op == "=":
		targets := []*node{first}
		var value *node
		for p.accept("=") {
			value = p.value()
			targets = append(targets, value)
		}
		for _, target := range targets[:len(targets)-1] {
			p.assigned(target)
			out = append(out, &stmt{kind: stmtAssign, target: target, value: value})
		}
		return out
	case len(op) > 1 && strings.HasSuffix(op, "=") && op != "==" && op != "!=" && op != "<=" && op != ">=":
		p.at++
		value := p.value()
		if first.kind == nodeName {
			p.assigned(first)
		}
		if op == "+=" {
			return []*stmt{{kind: stmtAppend, target: first, value: value}}
		}
		return []*stmt{{kind: stmtAssign, target: first, value: &node{span: value.span, list: []*node{value}}}}
	}
	return []*stmt{{kind: stmtExpr, value: first}}
}

// value reads what is assigned. It may be missing in a notebook, where a magic
// stands.
func (p *pyParser) value() *node {
	if p.token().kind == pyLine {
		return &node{span: p.span(p.token().start)}
	}
	return p.tuple()
}
