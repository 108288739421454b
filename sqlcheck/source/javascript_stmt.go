package source

import (
	"maps"
	"slices"

	"github.com/ktxhq/ktx/sqlguard"
)

// program reads a file.
func (p *jsParser) program() (top *function) {
	p.from(0)
	top = &function{body: &stmt{kind: stmtBlock}}
	for p.token.kind != jsEnd {
		top.body.list = append(top.body.list, p.statement()...)
	}
	top.span = sqlguard.Span{End: len(p.source)}
	return top
}

func (p *jsParser) semicolon() {
	if p.accept(";") || p.is("}") || p.token.kind == jsEnd || p.token.line {
		return
	}
	p.fail("unexpected " + p.text())
}

func (p *jsParser) block() *stmt {
	p.expect("{")
	out := &stmt{kind: stmtBlock, scoped: true}
	for !p.is("}") {
		if p.token.kind == jsEnd {
			p.fail("a block has no end")
		}
		out.list = append(out.list, p.statement()...)
	}
	p.next()
	return out
}

// body reads a statement that is a block of its own.
func (p *jsParser) body() *stmt {
	return &stmt{kind: stmtBlock, scoped: true, list: p.statement()}
}

func (p *jsParser) parenthesized() *node {
	p.expect("(")
	out := p.expression()
	p.expect(")")
	return out
}

func (p *jsParser) statement() []*stmt {
	outer := p.loose
	p.loose = nil
	list := p.oneStatement()
	for _, n := range p.loose {
		list = append(list, &stmt{kind: stmtExpr, value: n})
	}
	p.loose = outer
	return list
}

func (p *jsParser) oneStatement() []*stmt {
	p.enter()
	defer p.leave()
	one := func(s *stmt) []*stmt { return []*stmt{s} }
	switch {
	case p.is("{"):
		return one(p.block())
	case p.accept(";"):
		return nil
	case p.is("@"):
		p.decorators()
		return p.statement()
	case p.token.kind != jsName:
		return one(p.expressionStatement())
	}
	next := p.peek()
	follows := func(texts ...string) bool {
		return next.kind == jsOther && slices.Contains(texts, p.textOf(next))
	}
	switch p.text() {
	case "var", "const", "let", "using":
		if next.kind == jsName && (p.text() != "using" || !next.line) || p.text() != "using" && follows("{", "[") {
			if p.word("const") && p.textOf(next) == "enum" {
				p.next()
				return p.enum()
			}
			out := p.declarations()
			p.semicolon()
			return out
		}
	case "await":
		var out []*stmt
		if next.kind == jsName && p.textOf(next) == "using" && p.try(func() {
			p.next()
			if name := p.peek(); name.kind != jsName || name.line {
				p.fail("using is a name here")
			}
			out = p.declarations()
			p.semicolon()
		}) {
			return out
		}
	case "function":
		return one(p.functionStatement())
	case "async":
		if next.kind == jsName && !next.line && p.textOf(next) == "function" {
			p.next()
			return one(p.functionStatement())
		}
	case "class":
		return p.classStatement()
	case "abstract":
		if next.kind == jsName && p.textOf(next) == "class" {
			p.next()
			return p.classStatement()
		}
	case "if":
		p.next()
		branch := &stmt{kind: stmtBranch, value: p.parenthesized(), list: []*stmt{p.body()}}
		if p.acceptWord("else") {
			branch.complete = true
			branch.list = append(branch.list, p.body())
		}
		return one(branch)
	case "for":
		return one(p.loop())
	case "while":
		p.next()
		condition := p.parenthesized()
		return one(&stmt{kind: stmtLoop, list: []*stmt{{kind: stmtExpr, value: condition}, p.body()}})
	case "do":
		p.next()
		body := p.body()
		if !p.acceptWord("while") {
			p.fail("expected while")
		}
		condition := p.parenthesized()
		p.accept(";")
		return one(&stmt{kind: stmtLoop, list: []*stmt{body, {kind: stmtExpr, value: condition}}})
	case "return", "throw":
		out := &stmt{kind: stmtReturn}
		if p.word("throw") {
			out.names = []string{"throw"}
		}
		p.next()
		if !p.is(";") && !p.is("}") && p.token.kind != jsEnd && !p.token.line {
			out.value = p.expression()
		}
		p.semicolon()
		return one(out)
	case "break", "continue", "debugger":
		p.next()
		if p.token.kind == jsName && !p.token.line {
			p.next()
		}
		p.semicolon()
		return nil
	case "switch":
		return one(p.switching())
	case "try":
		return p.trying()
	case "with":
		p.next()
		value := p.parenthesized()
		return one(&stmt{kind: stmtBlock, list: []*stmt{{kind: stmtExpr, value: value}, p.body()}})
	case "import":
		if !follows("(", ".") {
			return p.imports()
		}
	case "export":
		return p.exported()
	case "type", "interface", "namespace", "module", "declare", "global", "enum":
		if out, ok := p.typeScript(next); ok {
			return out
		}
	}
	if follows(":") { // a label
		p.next()
		p.next()
		return p.statement()
	}
	return one(p.expressionStatement())
}

func (p *jsParser) expressionStatement() *stmt {
	n := p.expression()
	p.semicolon()
	return &stmt{kind: stmtExpr, value: n}
}

// typeScript reads a declaration that only TypeScript has.
func (p *jsParser) typeScript(next jsToken) ([]*stmt, bool) {
	if next.line || next.kind != jsName && next.kind != jsString && (next.kind != jsOther || p.textOf(next) != "{" || !p.word("global")) {
		return nil, false
	}
	switch p.text() {
	case "type":
		p.next()
		p.next()
		p.typeParameters()
		p.expect("=")
		p.typ()
		p.semicolon()
		return nil, true
	case "interface":
		for !p.is("{") {
			if p.token.kind == jsEnd {
				p.fail("expected {")
			}
			if p.is("<") {
				p.typeParameters()
				continue
			}
			p.next()
		}
		p.skipBalanced()
		return nil, true
	case "enum":
		return p.enum(), true
	case "declare":
		p.next()
		if p.word("function") || p.word("async") {
			return []*stmt{p.functionStatement()}, true
		}
		return p.statement(), true
	default: // namespace, module, global
		for p.next(); !p.is("{"); p.next() {
			if p.token.kind == jsEnd || p.is(";") || p.token.line {
				return nil, true // declare module "x"
			}
		}
		return []*stmt{p.block()}, true
	}
}

// enum reads an enumeration, whose members are constants.
func (p *jsParser) enum() []*stmt {
	p.next()
	name := p.binding()
	p.expect("{")
	value := &node{kind: nodeObject}
	for !p.is("}") {
		from := p.token.start
		key := p.key()
		member := &node{kind: nodeNumber, span: p.span(from)}
		if p.accept("=") {
			member = p.assignment()
		}
		value.keys, value.list = append(value.keys, key), append(value.list, member)
		if !p.is("}") {
			p.expect(",")
		}
	}
	p.next()
	value.span = name.span
	return []*stmt{{kind: stmtDeclare, target: name, value: value}}
}

// declarations reads var, let and const up to the end.
func (p *jsParser) declarations() (out []*stmt) {
	p.next()
	for {
		target := p.binding()
		p.accept("!")
		p.annotation()
		s := &stmt{kind: stmtDeclare, target: target}
		if p.accept("=") {
			s.value = p.assignment()
		} else {
			s.names = []string{"undefined"}
		}
		out = append(out, s)
		if !p.accept(",") {
			return out
		}
	}
}

func (p *jsParser) loop() *stmt {
	p.next()
	p.acceptWord("await")
	p.expect("(")
	outer := &stmt{kind: stmtBlock, scoped: true}
	loop := &stmt{kind: stmtLoop, scoped: true}
	p.noIn = true
	var head []*stmt
	if next := p.peek(); p.word("await") && next.kind == jsName && p.textOf(next) == "using" {
		p.next()
	}
	declared := p.word("var") || p.word("let") || p.word("const") || p.word("using")
	switch {
	case p.is(";"):
	case declared:
		head = p.declarations()
	default:
		head = []*stmt{{kind: stmtExpr, value: p.expression()}}
	}
	p.noIn = false
	if p.word("of") || p.word("in") {
		of := p.word("of")
		p.next()
		value := p.expression()
		p.expect(")")
		loop.value = &node{span: value.span, list: []*node{value}}
		if of {
			loop.value = value
		}
		if declared {
			loop.target = head[0].target
		} else {
			loop.target, loop.scoped = head[0].value, false
		}
		loop.list = []*stmt{p.body()}
		outer.list = []*stmt{loop}
		return outer
	}
	outer.list = head
	p.expect(";")
	if !p.is(";") {
		loop.list = append(loop.list, &stmt{kind: stmtExpr, value: p.expression()})
	}
	p.expect(";")
	var update *stmt
	if !p.is(")") {
		update = &stmt{kind: stmtExpr, value: p.expression()}
	}
	p.expect(")")
	loop.list = append(loop.list, p.body())
	if update != nil {
		loop.list = append(loop.list, update)
	}
	outer.list = append(outer.list, loop)
	return outer
}

// switching reads a switch. A clause that does not end goes on with the next.
func (p *jsParser) switching() *stmt {
	p.next()
	branch := &stmt{kind: stmtBranch, value: p.parenthesized()}
	p.expect("{")
	var clauses [][]*stmt
	var ends []bool
	for !p.is("}") {
		var list []*stmt
		if p.acceptWord("default") {
			branch.complete = true
		} else {
			if !p.acceptWord("case") {
				p.fail("expected case")
			}
			list = append(list, &stmt{kind: stmtExpr, value: p.expression()})
		}
		p.expect(":")
		ended := false
		for !p.is("}") && !p.word("case") && !p.word("default") {
			if p.token.kind == jsEnd {
				p.fail("a switch has no end")
			}
			ended = p.word("break") || p.word("return") || p.word("throw") || p.word("continue") || p.is("{")
			list = append(list, p.statement()...)
		}
		clauses, ends = append(clauses, list), append(ends, ended)
	}
	p.next()
	for i, list := range clauses {
		branch.list = append(branch.list, &stmt{kind: stmtBlock, list: list, falls: !ends[i] && i+1 < len(clauses)})
	}
	return &stmt{kind: stmtBlock, scoped: true, list: []*stmt{branch}}
}

func (p *jsParser) trying() []*stmt {
	p.next()
	try := &stmt{kind: stmtTry, list: []*stmt{p.block()}}
	out := []*stmt{try}
	if p.acceptWord("catch") {
		handler := &stmt{kind: stmtBlock, scoped: true}
		if p.accept("(") {
			handler.list = append(handler.list, &stmt{kind: stmtDeclare, target: p.binding()})
			p.annotation()
			p.expect(")")
		}
		handler.list = append(handler.list, p.block())
		try.list = append(try.list, handler)
	}
	if p.acceptWord("finally") {
		out = append(out, p.block())
	}
	return out
}

// function reads a function from its parameters on.
func (p *jsParser) function(from int) *function {
	fn := &function{}
	p.typeParameters()
	p.parameters(fn)
	p.annotation()
	if p.is("{") {
		p.functionBody(fn)
	} else {
		p.semicolon() // only declared
	}
	fn.span = p.span(from)
	return fn
}

func (p *jsParser) functionBody(fn *function) {
	noIn, ternary := p.noIn, p.ternary
	p.noIn, p.ternary = false, false
	fn.body = p.block()
	fn.body.scoped = false
	p.noIn, p.ternary = noIn, ternary
}

func (p *jsParser) functionExpression() *node {
	from := p.token.start
	p.next()
	p.accept("*")
	if p.token.kind == jsName {
		p.next()
	}
	fn := p.function(from)
	return &node{kind: nodeFunction, fn: fn, span: fn.span}
}

func (p *jsParser) functionStatement() *stmt {
	from := p.token.start
	p.next()
	p.accept("*")
	var name *node
	if p.token.kind == jsName {
		name = p.binding()
	}
	fn := p.function(from)
	fn.later = true
	value := &node{kind: nodeFunction, fn: fn, span: fn.span}
	if name == nil || fn.body == nil {
		return &stmt{kind: stmtExpr, value: value}
	}
	return &stmt{kind: stmtFunction, target: name, value: value}
}

func (p *jsParser) decorators() {
	for p.is("@") {
		p.next()
		from := p.token.start
		p.loose = append(p.loose, p.suffixes(p.primary(), from, true))
	}
}

func (p *jsParser) classStatement() []*stmt {
	var name *node
	value := p.class(&name)
	if name == nil {
		return []*stmt{{kind: stmtExpr, value: value}}
	}
	return []*stmt{{kind: stmtDeclare, target: name, value: value}}
}

// class reads a class. Its value is an object of its fields that are assigned
// once, and in its methods that object is this.
func (p *jsParser) class(name **node) *node {
	from := p.token.start
	p.next()
	if p.token.kind == jsName && !p.word("extends") && !p.word("implements") {
		n := p.binding()
		if name != nil {
			*name = n
		}
	}
	p.typeParameters()
	inner := &stmt{kind: stmtBlock, scoped: true}
	if p.acceptWord("extends") {
		at := p.token.start
		inner.list = append(inner.list, &stmt{kind: stmtExpr, value: p.suffixes(p.primary(), at, true)})
		if p.is("<") {
			p.typeArguments()
		}
	}
	if p.acceptWord("implements") {
		for {
			p.typ()
			if !p.accept(",") {
				break
			}
		}
	}
	p.expect("{")
	fields := &node{kind: nodeObject, span: p.span(from)}
	p.fields = append(p.fields, map[string]bool{})
	inner.list = append(inner.list, &stmt{kind: stmtDeclare, target: &node{kind: nodeName, name: "this"}, value: fields})
	for !p.is("}") {
		if p.token.kind == jsEnd {
			p.fail("a class has no end")
		}
		p.classMember(inner, fields)
	}
	assigned := p.fields[len(p.fields)-1]
	p.fields = p.fields[:len(p.fields)-1]
	for i, key := range fields.keys {
		if assigned[key] {
			fields.keys[i] = ""
		}
	}
	p.next()
	return &node{kind: nodeAssign, span: p.span(from), do: inner, x: fields}
}

var jsModifiers = []string{"public", "private", "protected", "readonly", "static", "abstract", "override", "declare", "async", "get", "set", "accessor"}

func (p *jsParser) classMember(inner *stmt, fields *node) {
	p.decorators()
	if p.accept(";") {
		return
	}
	from := p.token.start
	for p.token.kind == jsName && slices.Contains(jsModifiers, p.text()) {
		next := p.peek()
		if next.kind == jsOther && slices.Contains([]string{"(", "=", ":", ";", "?", "!", "}", "<", ","}, p.textOf(next)) {
			break
		}
		if p.word("static") && next.kind == jsOther && p.textOf(next) == "{" {
			p.next()
			fn := &function{later: true}
			p.functionBody(fn)
			fn.span = p.span(from)
			inner.list = append(inner.list, &stmt{kind: stmtExpr, value: &node{kind: nodeFunction, fn: fn, span: fn.span}})
			return
		}
		p.next()
	}
	p.accept("*")
	if p.is("[") { // an index signature, or a computed name
		signature := false
		p.try(func() {
			p.next()
			p.next()
			signature = p.is(":")
			p.fail("only a look")
		})
		if signature {
			p.skipBalanced()
			p.annotation()
			p.semicolon()
			return
		}
	}
	key := p.key()
	if !p.accept("?") {
		p.accept("!")
	}
	if p.is("(") || p.is("<") {
		fn := p.function(from)
		fn.later, fn.name = true, key
		inner.list = append(inner.list, &stmt{kind: stmtExpr, value: &node{kind: nodeFunction, fn: fn, span: fn.span}})
		return
	}
	p.annotation()
	value := &node{}
	if p.accept("=") {
		value = p.assignment()
		inner.list = append(inner.list, &stmt{kind: stmtExpr, value: value})
	}
	fields.keys, fields.list = append(fields.keys, key), append(fields.list, value)
	p.semicolon()
}

// imports reads an import. Each name is that of another file.
func (p *jsParser) imports() (out []*stmt) {
	p.next()
	if p.word("type") {
		if next := p.peek(); next.kind == jsName && p.textOf(next) != "from" || next.kind == jsOther && p.textOf(next) != "=" && p.textOf(next) != "," {
			p.next()
		}
	}
	var names []*node // the name in this file
	var of []string   // the name in the other
	if p.token.kind == jsName {
		names, of = append(names, p.binding()), append(of, "default")
		if p.accept("=") { // import x = require("…")
			p.assignment()
			p.semicolon()
			return []*stmt{{kind: stmtDeclare, target: names[0]}}
		}
		p.accept(",")
	}
	if p.accept("*") {
		p.next()
		names, of = append(names, p.binding()), append(of, "*")
	}
	if p.accept("{") {
		p.specifiers(func(outer string, inner *node) { names, of = append(names, inner), append(of, outer) })
	}
	module := ""
	if p.acceptWord("from") || p.token.kind == jsString {
		module = p.module()
	}
	for i, name := range names {
		out = append(out, &stmt{kind: stmtDeclare, target: name, value: &node{kind: nodeImport, name: of[i], keys: []string{module}, span: name.span}})
	}
	return out
}

// specifiers reads {a as b, …} behind its first bracket.
func (p *jsParser) specifiers(add func(outer string, inner *node)) {
	for !p.is("}") {
		if p.word("type") {
			if next := p.peek(); next.kind == jsName && p.textOf(next) != "as" {
				p.next()
			}
		}
		at := p.token
		outer := p.key()
		inner := &node{kind: nodeName, name: outer, span: sqlguard.Span{Start: at.start, End: at.end}}
		if p.acceptWord("as") {
			at := p.token
			inner = &node{kind: nodeName, name: p.key(), span: sqlguard.Span{Start: at.start, End: at.end}}
		}
		add(outer, inner)
		if !p.is("}") {
			p.expect(",")
		}
	}
	p.next()
}

// module reads the name of a module up to the end of the statement.
func (p *jsParser) module() string {
	if p.token.kind != jsString {
		p.fail("expected the name of a module")
	}
	text := &Text{}
	jsContent(p.source[p.token.start+1:p.token.end-1], 0, text)
	p.next()
	if (p.word("with") || p.word("assert")) && !p.token.line {
		p.next()
		p.skipBalanced()
	}
	p.semicolon()
	return text.SQL()
}

// exported reads an export.
func (p *jsParser) exported() []*stmt {
	p.next()
	switch {
	case p.acceptWord("default"):
		switch {
		case p.word("function"), p.word("async") && p.textOf(p.peek()) == "function":
			p.acceptWord("async")
			return []*stmt{p.functionStatement()}
		case p.word("class"), p.word("abstract"), p.word("interface"):
			return p.statement()
		}
		value := p.assignment()
		p.semicolon()
		p.exports["default"] = value
		return []*stmt{{kind: stmtExpr, value: value}}
	case p.accept("="): // export = x
		value := p.assignment()
		p.semicolon()
		return []*stmt{{kind: stmtExpr, value: value}}
	case p.accept("*"):
		if p.acceptWord("as") {
			p.key()
			p.next()
			p.module()
			return nil
		}
		if !p.acceptWord("from") {
			p.fail("expected from")
		}
		p.stars = append(p.stars, p.module())
		return nil
	case p.is("{"), p.word("type") && p.textOf(p.peek()) == "{", p.word("type") && p.textOf(p.peek()) == "*":
		p.acceptWord("type")
		if p.accept("*") {
			for !p.word("from") {
				p.next()
			}
			p.next()
			p.module()
			return nil
		}
		p.next()
		exported := map[string]*node{}
		p.specifiers(func(local string, outer *node) {
			exported[outer.name] = &node{kind: nodeName, name: local, span: outer.span}
		})
		if p.acceptWord("from") {
			module := p.module()
			for name, n := range exported {
				p.exports[name] = &node{kind: nodeImport, name: n.name, keys: []string{module}, span: n.span}
			}
			return nil
		}
		p.semicolon()
		maps.Copy(p.exports, exported)
		return nil
	case p.word("import"): // export import a = b
		return p.imports()
	case p.word("as"): // export as namespace x
		p.next()
		p.next()
		p.next()
		p.semicolon()
		return nil
	}
	list := p.statement()
	for _, s := range list {
		if s.kind == stmtDeclare || s.kind == stmtFunction {
			eachName(s.target, func(n *node) { p.exports[n.name] = &node{kind: nodeName, name: n.name, span: n.span} })
		}
	}
	return list
}
