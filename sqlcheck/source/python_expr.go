package source

import (
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// pyKeywords are the words that are no names.
var pyKeywords = map[string]bool{
	"and": true, "as": true, "assert": true, "break": true, "class": true, "continue": true, "def": true, "del": true, "elif": true, "else": true,
	"except": true, "finally": true, "for": true, "from": true, "global": true, "if": true, "import": true, "in": true, "is": true, "lambda": true,
	"nonlocal": true, "not": true, "or": true, "pass": true, "raise": true, "return": true, "try": true, "while": true, "with": true,
	"True": true, "False": true, "None": true,
}

// tuple reads expressions with commas between them.
func (p *pyParser) tuple() *node {
	from := p.token().start
	first := p.starred()
	if !p.is(",") {
		return first
	}
	out := &node{kind: nodeList, list: []*node{first}}
	for p.accept(",") {
		if p.ends() {
			break
		}
		out.list = append(out.list, p.starred())
	}
	out.span = p.span(from)
	return out
}

// ends reports whether no expression begins at this token.
func (p *pyParser) ends() bool {
	if t := p.token(); t.kind != pyOther {
		return t.kind == pyLine || t.kind == pyEnd || t.kind == pyName && (p.word("in") || p.word("for") || p.word("if") || p.word("else") || p.word("async"))
	}
	switch p.textAt(p.at) {
	case "=", ")", "]", "}", ":", ";":
		return true
	}
	return strings.HasSuffix(p.textAt(p.at), "=")
}

func (p *pyParser) starred() *node {
	from := p.token().start
	if p.accept("*") || p.accept("**") {
		inner := p.expression()
		return &node{name: "...", span: p.span(from), list: []*node{inner}}
	}
	return p.named()
}

// targets reads the targets of for and del.
func (p *pyParser) targets() *node {
	from := p.token().start
	one := func() *node {
		p.accept("*")
		return p.primary()
	}
	first := one()
	if !p.is(",") {
		return first
	}
	out := &node{kind: nodeList, list: []*node{first}}
	for p.accept(",") {
		if p.word("in") || p.token().kind == pyLine {
			break
		}
		out.list = append(out.list, one())
	}
	out.span = p.span(from)
	return out
}

// named reads an expression that may assign a name.
func (p *pyParser) named() *node {
	from := p.token().start
	n := p.expression()
	if n.kind == nodeName && p.accept(":=") {
		value := p.expression()
		p.assigned(n)
		return &node{kind: nodeAssign, span: p.span(from), do: &stmt{kind: stmtAssign, target: n, value: value}}
	}
	return n
}

func (p *pyParser) expression() *node {
	p.enter()
	defer p.leave()
	from := p.token().start
	if p.word("lambda") {
		p.at++
		fn := &function{}
		p.locals = append(p.locals, map[string]bool{})
		p.parameters(fn, ":", false)
		p.expect(":")
		fn.body = &stmt{kind: stmtBlock, list: []*stmt{{kind: stmtReturn, value: p.expression()}}}
		p.locals = p.locals[:len(p.locals)-1]
		fn.span = p.span(from)
		return &node{kind: nodeFunction, fn: fn, span: fn.span}
	}
	if p.word("yield") {
		p.at++
		p.accept("from")
		out := &node{}
		if !p.ends() {
			out.list = []*node{p.tuple()}
		}
		out.span = p.span(from)
		return out
	}
	yes := p.or()
	if !p.word("if") {
		return yes
	}
	start := p.at
	p.at++
	condition := p.or()
	if !p.accept("else") {
		p.at = start // of a comprehension
		return yes
	}
	no := p.expression()
	return &node{kind: nodeChoice, span: p.span(from), list: []*node{yes, no}, x: condition}
}

func (p *pyParser) or() *node {
	from := p.token().start
	left := p.not()
	for p.word("or") || p.word("and") {
		p.at++
		right := p.not()
		left = &node{kind: nodeChoice, span: p.span(from), list: []*node{left, right}}
	}
	return left
}

func (p *pyParser) not() *node {
	p.enter()
	defer p.leave()
	from := p.token().start
	if p.accept("not") {
		inner := p.not()
		return &node{span: p.span(from), list: []*node{inner}}
	}
	left := p.binary(1)
	for {
		switch {
		case p.is("<") || p.is(">") || p.is("==") || p.is(">=") || p.is("<=") || p.is("!=") || p.is("<>"):
			p.at++
		case p.word("in"):
			p.at++
		case p.word("is"):
			p.at++
			p.accept("not")
		case p.word("not") && p.textAt(p.at+1) == "in":
			p.at += 2
		default:
			return left
		}
		right := p.binary(1)
		left = &node{span: p.span(from), list: []*node{left, right}}
	}
}

var pyPrecedence = map[string]int{"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "//": 6, "%": 6, "@": 6}

func (p *pyParser) binary(least int) *node {
	p.enter()
	defer p.leave()
	from := p.token().start
	left := p.unary()
	for p.token().kind == pyOther {
		op := p.textAt(p.at)
		precedence := pyPrecedence[op]
		if precedence == 0 || precedence < least {
			break
		}
		p.at++
		right := p.binary(precedence + 1)
		span := p.span(from)
		switch op {
		case "+":
			if left.kind == nodeConcat && !left.constant {
				left.list, left.span = append(left.list, right), span
				continue
			}
			left = &node{kind: nodeConcat, span: span, list: []*node{left, right}}
		case "%":
			left = &node{kind: nodeCall, name: "%", span: span, x: &node{kind: nodeMember, name: "%", x: left, span: left.span}, list: []*node{right}, keys: []string{""}}
		default:
			left = &node{span: span, list: []*node{left, right}}
		}
	}
	return left
}

func (p *pyParser) unary() *node {
	p.enter()
	defer p.leave()
	from := p.token().start
	switch {
	case p.is("-") || p.is("+") || p.is("~"):
		p.at++
		inner := p.unary()
		return &node{kind: nodeNumber, span: p.span(from), list: []*node{inner}}
	case p.word("await"):
		p.at++
		return p.unary()
	}
	n := p.primary()
	if p.accept("**") {
		right := p.unary()
		return &node{span: p.span(from), list: []*node{n, right}}
	}
	return n
}

func (p *pyParser) primary() *node {
	from := p.token().start
	n := p.atom()
	for {
		switch {
		case p.is("."):
			p.at++
			if p.token().kind != pyName {
				p.fail("expected a name")
			}
			n = &node{kind: nodeMember, x: n, name: p.textAt(p.at)}
			p.at++
			n.span = p.span(from)
		case p.is("("):
			n = p.arguments(n, from)
		case p.is("["):
			p.at++
			out := &node{kind: nodeIndex, x: n}
			for !p.is("]") {
				if !p.is(":") && !p.is(",") {
					out.list = append(out.list, p.starred())
				}
				if p.is(":") || p.is(",") {
					p.at++
					out.list = append(out.list, &node{}) // a slice
				} else if !p.is("]") {
					p.fail("expected ]")
				}
			}
			p.at++
			out.span = p.span(from)
			n = out
		default:
			return n
		}
	}
}

func (p *pyParser) arguments(callee *node, from int) *node {
	p.expect("(")
	call := &node{kind: nodeCall, x: callee}
	for !p.is(")") {
		key := ""
		if p.token().kind == pyName && p.textAt(p.at+1) == "=" && p.tokens[p.at+1].kind == pyOther {
			key = p.textAt(p.at)
			p.at += 2
		}
		arg := p.starred()
		arg = p.comprehension(arg)
		call.list, call.keys = append(call.list, arg), append(call.keys, key)
		if !p.accept(",") && !p.is(")") {
			p.fail("expected )")
		}
	}
	p.at++
	call.span = p.span(from)
	if callee.kind == nodeName && callee.name == "getattr" && len(call.list) > 1 && call.keys[1] == "" && call.list[1].kind == nodeLiteral && len(call.list[1].text.Holes) == 0 {
		return &node{kind: nodeMember, x: call.list[0], name: call.list[1].text.SQL(), span: call.span}
	}
	if callee.kind == nodeName && len(p.locals) > 0 {
		switch callee.name {
		case "globals", "locals", "vars", "exec", "setattr": // they bind names that are given as strings
			p.dynamic = true
		}
	}
	return call
}

// comprehension reads the for behind an element. It is a list of any number of
// it.
func (p *pyParser) comprehension(element *node) *node {
	if !p.word("for") && (!p.word("async") || p.textAt(p.at+1) != "for") {
		return element
	}
	from := element.span.Start
	fn := &function{}
	body := &stmt{kind: stmtBlock, list: []*stmt{{kind: stmtReturn, value: element}}}
	p.locals = append(p.locals, map[string]bool{})
	outer := &node{}
	for {
		p.accept("async")
		switch {
		case p.accept("for"):
			target := p.targets()
			eachName(target, func(n *node) {
				fn.params, fn.values = append(fn.params, n), append(fn.values, nil)
			})
			p.expect("in")
			outer.list = append(outer.list, p.or())
		case p.accept("if"):
			body.list = append([]*stmt{{kind: stmtExpr, value: p.or()}}, body.list...)
		default:
			p.locals = p.locals[:len(p.locals)-1]
			fn.body = body
			fn.span = p.span(from)
			outer.list = append(outer.list, &node{kind: nodeFunction, fn: fn, span: fn.span})
			outer.span = fn.span
			outer.name = "for"
			return outer
		}
	}
}

func (p *pyParser) atom() *node {
	p.enter()
	defer p.leave()
	t := p.token()
	span := sqlguard.Span{Start: t.start, End: t.end}
	switch t.kind { //nolint:exhaustive // no other begins an expression
	case pyString:
		return p.strings()
	case pyNumber:
		p.at++
		return &node{kind: nodeNumber, span: span}
	case pyName:
		name := p.textAt(p.at)
		if pyKeywords[name] && name != "True" && name != "False" && name != "None" {
			p.fail("unexpected " + name)
		}
		p.at++
		if pyKeywords[name] {
			return &node{span: span}
		}
		return &node{kind: nodeName, name: name, span: span}
	case pyOther:
		switch p.textAt(p.at) {
		case "(":
			return p.bracket(")")
		case "[":
			return p.bracket("]")
		case "{":
			return p.braces()
		case "...":
			p.at++
			return &node{span: span}
		}
	}
	p.fail("unexpected " + strconv.Quote(p.textAt(p.at)))
	return nil
}

// bracket reads what stands in parentheses or brackets.
func (p *pyParser) bracket(end string) *node {
	from := p.token().start
	p.at++
	out := &node{kind: nodeList}
	comma := false
	for !p.is(end) {
		element := p.starred()
		if e := p.comprehension(element); e != element {
			if p.expect(end); end == "]" {
				return &node{kind: nodeList, list: []*node{{name: "...", list: []*node{e}, span: e.span}}, span: p.span(from)}
			}
			return e
		}
		out.list = append(out.list, element)
		if !p.accept(",") {
			break
		}
		comma = true
	}
	p.expect(end)
	if end == ")" && len(out.list) == 1 && !comma {
		if inner := out.list[0]; inner.kind == nodeConcat {
			return &node{kind: nodeConcat, list: inner.list, span: inner.span, constant: true}
		}
		return out.list[0]
	}
	out.span = p.span(from)
	return out
}

// braces reads a dictionary or a set.
func (p *pyParser) braces() *node {
	from := p.token().start
	p.at++
	out := &node{kind: nodeObject}
	for !p.is("}") {
		key := p.starred()
		if p.accept(":") {
			value := p.expression()
			if e := p.comprehension(value); e != value {
				out.kind = nodeUnknown
				value = e
			}
			name := "\x00" + strconv.Itoa(len(out.list))
			if key.kind == nodeLiteral && len(key.text.Holes) == 0 {
				name = key.text.SQL()
			} else { // a key can call something
				out.keys, out.list = append(out.keys, ""), append(out.list, key)
			}
			out.keys, out.list = append(out.keys, name), append(out.list, value)
		} else {
			out.kind = nodeUnknown
			out.keys, out.list = append(out.keys, ""), append(out.list, p.comprehension(key))
		}
		if !p.accept(",") && !p.is("}") {
			p.fail("expected }")
		}
	}
	p.at++
	out.span = p.span(from)
	return out
}

// strings reads adjacent strings. Bytes are no text.
func (p *pyParser) strings() *node {
	from := p.token().start
	out := &node{kind: nodeConcat, constant: true}
	isText := true
	for p.token().kind == pyString {
		t := p.token()
		raw := p.source[t.start:t.end]
		quote := strings.IndexAny(raw, `'"`)
		prefix := strings.ToLower(raw[:quote])
		isText = isText && !strings.Contains(prefix, "b")
		n := len(pyQuote(raw, quote))
		body := raw[quote+n : len(raw)-n]
		text := &Text{}
		pyContent(body, raw[quote:quote+n], t.start+quote+n, strings.Contains(prefix, "r"), strings.ContainsAny(prefix, "ft"), text)
		p.at++
		out.list = append(out.list, p.fields(text, sqlguard.Span{Start: t.start, End: t.end})...)
	}
	out.span = p.span(from)
	if !isText {
		return &node{span: out.span}
	}
	if len(out.list) == 1 {
		out.list[0].span = out.span
		return out.list[0]
	}
	return out
}

// fields splits a formatted string at its replacement fields.
func (p *pyParser) fields(text *Text, span sqlguard.Span) (out []*node) {
	from := 0
	for _, h := range text.Holes {
		part := &Text{}
		part.run(text, from, h.At)
		out = append(out, &node{kind: nodeLiteral, text: part, span: span}, p.field(h))
		from = h.At
	}
	part := &Text{}
	part.run(text, from, len(text.sql))
	return append(out, &node{kind: nodeLiteral, text: part, span: span})
}

// field returns the expression of a replacement field. What is formatted in
// another way than as a text is not known.
func (p *pyParser) field(h Hole) (out *node) {
	out = &node{span: h.Span}
	if h.Number {
		out.kind = nodeNumber
	}
	if p.depth > pyMaxDepth/4 {
		return out
	}
	inner := &pyParser{source: p.source[:max(h.Span.End-1, 0)], depth: p.depth + 1, locals: p.locals, dynamic: p.dynamic}
	defer func() {
		if r := recover(); r != nil {
			if _, syntax := r.(*SyntaxError); !syntax {
				panic(r)
			}
		}
	}()
	inner.lex(h.Span.Start+1, 1)
	n := inner.tuple()
	switch {
	case inner.token().kind == pyLine && out.kind == nodeUnknown:
		out.name, out.x = "${}", n
	default:
		out.list = []*node{n}
	}
	p.dynamic = p.dynamic || inner.dynamic
	return out
}
