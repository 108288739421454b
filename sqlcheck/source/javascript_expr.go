package source

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// expression reads an expression with commas.
func (p *jsParser) expression() *node {
	from := p.token.start
	first := p.assignment()
	if !p.is(",") {
		return first
	}
	out := &node{list: []*node{first}}
	for p.accept(",") {
		out.list = append(out.list, p.assignment())
	}
	out.span = p.span(from)
	return out
}

// jsAssignments are the operators that assign, besides those that begin with >.
var jsAssignments = []string{"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "**=", "<<=", "&&=", "||=", "??="}

func (p *jsParser) assignment() *node {
	p.enter()
	defer p.leave()
	from := p.token.start
	if arrow := p.arrow(); arrow != nil {
		return arrow
	}
	if p.word("yield") {
		next := p.peek()
		if next.line || next.kind == jsOther && slices.Contains([]string{")", "]", "}", ",", ";", ":", "?", "=", "=>", ".", "?."}, p.textOf(next)) || next.kind == jsEnd {
			if next.kind != jsOther || !slices.Contains([]string{"=", "=>", ".", "?."}, p.textOf(next)) {
				p.next()
				return &node{span: p.span(from)}
			}
		} else {
			p.next()
			p.accept("*")
			return p.assignment()
		}
	}
	left := p.conditional()
	op := p.operator()
	if !slices.Contains(jsAssignments, op) && (!strings.HasPrefix(op, ">>") || !strings.HasSuffix(op, "=")) {
		return left
	}
	p.nextOperator(op)
	right := p.assignment()
	p.assigns(left)
	do := &stmt{kind: stmtAssign, target: left, value: right}
	switch op {
	case "=":
	case "+=":
		do.kind = stmtAppend
	case "||=", "??=", "&&=":
		do.value = &node{kind: nodeChoice, span: right.span, list: []*node{left, right}}
	default:
		do.value = &node{kind: nodeNumber, span: right.span, list: []*node{right}}
	}
	return &node{kind: nodeAssign, span: p.span(from), do: do}
}

// assigns remembers a field of the class that a method assigns.
func (p *jsParser) assigns(target *node) {
	if target.kind == nodeMember && target.x.kind == nodeName && target.x.name == "this" && len(p.fields) > 0 {
		p.fields[len(p.fields)-1][target.name] = true
	}
}

// operator returns the operator at this token, "" if there is none. It puts
// those together that begin with >.
func (p *jsParser) operator() string {
	switch p.token.kind { //nolint:exhaustive // no other is an operator
	case jsName:
		switch text := p.text(); text {
		case "in", "instanceof", "as", "satisfies":
			return text
		}
		return ""
	case jsOther:
		if !p.is(">") {
			return p.text()
		}
		for _, op := range []string{">>>=", ">>=", ">>>", ">>", ">="} {
			if strings.HasPrefix(p.source[p.token.start:], op) {
				return op
			}
		}
		return ">"
	default:
		return ""
	}
}

func (p *jsParser) nextOperator(op string) {
	p.token.end = p.token.start + len(op)
	p.next()
}

func (p *jsParser) conditional() *node {
	from := p.token.start
	condition := p.binary(1)
	if !p.is("?") {
		return condition
	}
	p.next()
	noIn, ternary := p.noIn, p.ternary
	p.noIn, p.ternary = false, true
	yes := p.assignment()
	p.noIn, p.ternary = noIn, ternary
	p.expect(":")
	no := p.assignment()
	return &node{kind: nodeChoice, span: p.span(from), list: []*node{yes, no}, x: condition}
}

// jsPrecedence is how strong a binary operator binds.
func jsPrecedence(op string) int {
	switch op {
	case "??", "||":
		return 1
	case "&&":
		return 2
	case "|":
		return 3
	case "^":
		return 4
	case "&":
		return 5
	case "==", "!=", "===", "!==":
		return 6
	case "<", ">", "<=", ">=", "in", "instanceof", "as", "satisfies":
		return 7
	case "<<", ">>", ">>>":
		return 8
	case "+", "-":
		return 9
	case "*", "/", "%":
		return 10
	case "**":
		return 11
	default:
		return 0
	}
}

func (p *jsParser) binary(least int) *node {
	p.enter()
	defer p.leave()
	from := p.token.start
	left := p.unary()
	for {
		op := p.operator()
		precedence := jsPrecedence(op)
		if precedence < least || precedence == 0 || op == "in" && p.noIn {
			return left
		}
		if op == "as" || op == "satisfies" {
			if p.token.line {
				return left
			}
			p.next()
			p.typ()
			left.span.End = max(left.span.End, left.span.Start)
			continue
		}
		p.nextOperator(op)
		right := p.binary(precedence + 1)
		span := p.span(from)
		switch op {
		case "+":
			if left.kind == nodeConcat && !left.constant {
				left.list, left.span = append(left.list, right), span
				continue
			}
			left = &node{kind: nodeConcat, span: span, list: []*node{left, right}}
		case "||", "??", "&&":
			left = &node{kind: nodeChoice, span: span, list: []*node{left, right}}
		case "-", "*", "/", "%", "**", "<<", ">>", ">>>", "|", "&", "^":
			left = &node{kind: nodeNumber, span: span, list: []*node{left, right}}
		default:
			left = &node{span: span, list: []*node{left, right}}
		}
	}
}

func (p *jsParser) unary() *node {
	p.enter()
	defer p.leave()
	from := p.token.start
	switch {
	case p.is("!") || p.is("~"):
		p.next()
		inner := p.unary()
		return &node{span: p.span(from), list: []*node{inner}}
	case p.is("+") || p.is("-"):
		p.next()
		inner := p.unary()
		return &node{kind: nodeNumber, span: p.span(from), list: []*node{inner}}
	case p.is("++") || p.is("--"):
		p.next()
		return p.counted(p.unary(), from)
	case p.token.kind == jsName:
		switch p.text() {
		case "typeof", "void", "delete":
			p.next()
			inner := p.unary()
			return &node{span: p.span(from), list: []*node{inner}}
		case "await":
			next := p.peek()
			if next.kind == jsOther && !slices.Contains([]string{"(", "[", "{", "+", "-", "!", "/", "<", "~", "++", "--"}, p.textOf(next)) || next.kind == jsEnd {
				break
			}
			p.next()
			return p.unary()
		}
	case p.is("<") && !p.jsx: // a type assertion
		p.typeArguments()
		return p.unary()
	}
	return p.postfix()
}

// counted returns an expression that changes a number.
func (p *jsParser) counted(target *node, from int) *node {
	p.assigns(target)
	number := &node{kind: nodeNumber, span: p.span(from)}
	return &node{kind: nodeAssign, span: number.span, do: &stmt{kind: stmtAssign, target: target, value: number}}
}

func (p *jsParser) postfix() *node {
	from := p.token.start
	n := p.suffixes(p.primary(), from, true)
	if (p.is("++") || p.is("--")) && !p.token.line {
		p.next()
		return p.counted(n, from)
	}
	return n
}

// suffixes reads members, calls and templates behind an expression.
func (p *jsParser) suffixes(n *node, from int, calls bool) *node {
	for {
		switch {
		case p.is(".") || p.is("?."):
			optional := p.is("?.")
			p.next()
			switch {
			case optional && p.is("("), optional && p.is("["), optional && p.token.kind == jsTemplate, optional && p.is("<"):
				continue
			case p.token.kind != jsName:
				p.fail("expected a name")
			}
			name := p.name()
			p.next()
			n = &node{kind: nodeMember, x: n, name: name, span: p.span(from)}
		case p.is("["):
			p.next()
			noIn := p.noIn
			p.noIn = false
			key := p.expression()
			p.noIn = noIn
			p.expect("]")
			if name, ok := key.word(); ok { // db["query"]
				n = &node{kind: nodeMember, x: n, name: name, span: p.span(from)}
				continue
			}
			n = &node{kind: nodeIndex, x: n, list: []*node{key}, span: p.span(from)}
		case p.is("(") && calls:
			n = p.arguments(n, from)
		case p.token.kind == jsTemplate:
			template := p.template()
			n = &node{kind: nodeTagged, x: n, list: []*node{template}, span: p.span(from)}
		case p.is("!") && !p.token.line:
			p.next()
		case p.is("<") || p.is("<<"):
			if !p.try(func() {
				p.typeArguments()
				if p.token.kind != jsTemplate && p.token.kind != jsEnd && (p.token.kind != jsOther || !slices.Contains([]string{"(", ")", "]", "}", ",", ";", ":"}, p.text())) {
					p.fail("no type arguments")
				}
			}) {
				return n
			}
		default:
			return n
		}
	}
}

func (p *jsParser) arguments(n *node, from int) *node {
	p.expect("(")
	noIn, ternary := p.noIn, p.ternary
	p.noIn, p.ternary = false, false
	call := &node{kind: nodeCall, x: n}
	for !p.is(")") {
		call.list = append(call.list, p.spread())
		if !p.accept(",") {
			break
		}
	}
	p.noIn, p.ternary = noIn, ternary
	p.expect(")")
	call.keys = make([]string, len(call.list))
	call.span = p.span(from)
	return call
}

func (p *jsParser) spread() *node {
	from := p.token.start
	if !p.accept("...") {
		return p.assignment()
	}
	inner := p.assignment()
	return &node{name: "...", span: p.span(from), list: []*node{inner}}
}

func (p *jsParser) primary() *node {
	from := p.token.start
	switch p.token.kind {
	case jsEnd:
		p.fail("the file ends in an expression")
	case jsString:
		text := &Text{}
		jsContent(p.source[from+1:p.token.end-1], from+1, text)
		p.next()
		return &node{kind: nodeLiteral, text: text, span: p.span(from)}
	case jsTemplate:
		return p.template()
	case jsNumber:
		p.next()
		return &node{kind: nodeNumber, span: p.span(from)}
	case jsName:
		return p.namePrimary()
	case jsOther:
		switch p.text() {
		case "(":
			p.next()
			noIn, ternary := p.noIn, p.ternary
			p.noIn, p.ternary = false, false
			inner := p.expression()
			p.noIn, p.ternary = noIn, ternary
			p.expect(")")
			if inner.kind == nodeConcat {
				return &node{kind: nodeConcat, list: inner.list, span: inner.span, constant: true}
			}
			return inner
		case "[":
			return p.array()
		case "{":
			return p.object()
		case "/", "/=":
			end := jsRegularEnd(p.source, from)
			if end == 0 {
				p.fail("the regular expression has no end")
			}
			p.token.end = end
			p.next()
			return &node{span: p.span(from)}
		case "<":
			if p.jsx {
				return p.element(false)
			}
		case "@":
			p.decorators()
			return p.primary()
		}
	}
	p.fail("unexpected " + strconv.Quote(p.text()))
	return nil
}

func (p *jsParser) namePrimary() *node {
	from := p.token.start
	switch p.text() {
	case "function":
		return p.functionExpression()
	case "async":
		if next := p.peek(); next.kind == jsName && !next.line && p.textOf(next) == "function" {
			p.next()
			return p.functionExpression()
		}
	case "class":
		return p.class(nil)
	case "new":
		p.next()
		if p.accept(".") { // new.target
			p.next()
			return &node{span: p.span(from)}
		}
		at := p.token.start
		var callee *node
		if p.word("new") {
			callee = p.namePrimary()
		} else {
			callee = p.primary()
		}
		callee = p.suffixes(callee, at, false)
		if p.is("<") {
			p.try(func() {
				p.typeArguments()
				if p.token.kind == jsName || p.token.kind == jsNumber || p.token.kind == jsString {
					p.fail("no type arguments")
				}
			})
		}
		if p.is("(") {
			return p.arguments(callee, from)
		}
		return &node{span: p.span(from), list: []*node{callee}}
	case "import":
		p.next()
		return &node{kind: nodeName, name: "import", span: p.span(from)}
	}
	name := p.name()
	p.next()
	return &node{kind: nodeName, name: name, span: p.span(from)}
}

// word returns the text of a literal that can be a name.
func (n *node) word() (string, bool) {
	if n.kind == nodeConcat && len(n.list) == 1 { // a template
		n = n.list[0]
	}
	if n.kind != nodeLiteral || len(n.text.Holes) > 0 {
		return "", false
	}
	text := n.text.SQL()
	for i := range len(text) {
		if !jsNameByte(text[i]) {
			return "", false
		}
	}
	return text, text != "" && (text[0] < '0' || text[0] > '9')
}

func (p *jsParser) array() *node {
	from := p.token.start
	p.expect("[")
	noIn, ternary := p.noIn, p.ternary
	p.noIn, p.ternary = false, false
	out := &node{kind: nodeList}
	for !p.is("]") {
		if p.accept(",") {
			out.list = append(out.list, &node{span: p.span(from)})
			continue
		}
		out.list = append(out.list, p.spread())
		if !p.is("]") {
			p.expect(",")
		}
	}
	p.noIn, p.ternary = noIn, ternary
	p.expect("]")
	out.span = p.span(from)
	return out
}

func (p *jsParser) object() *node {
	from := p.token.start
	p.expect("{")
	noIn, ternary := p.noIn, p.ternary
	p.noIn, p.ternary = false, false
	out := &node{kind: nodeObject}
	for !p.is("}") {
		key, value := p.property()
		out.keys, out.list = append(out.keys, key), append(out.list, value)
		if !p.is("}") {
			p.expect(",")
		}
	}
	p.noIn, p.ternary = noIn, ternary
	p.expect("}")
	out.span = p.span(from)
	return out
}

// property reads a member of an object.
func (p *jsParser) property() (key string, value *node) {
	from := p.token.start
	if p.is("...") {
		return "", p.spread()
	}
	accessor := false
	for p.word("async") || p.word("get") || p.word("set") {
		next := p.peek()
		if next.kind == jsOther && !slices.Contains([]string{"[", "*"}, p.textOf(next)) {
			break
		}
		accessor = !p.word("async")
		p.next()
	}
	p.accept("*")
	isName := p.token.kind == jsName
	at := p.token
	if key = p.key(); key == "" {
		key = anyKey
	}
	switch {
	case p.is("(") || p.is("<"):
		fn := p.function(from)
		fn.later = true
		value := &node{kind: nodeFunction, fn: fn, span: fn.span}
		if accessor { // its value is the result
			value = &node{span: fn.span, list: []*node{value}}
		}
		return key, value
	case p.accept(":"):
		return key, p.assignment()
	case !isName:
		p.fail("expected :")
	}
	name := &node{kind: nodeName, name: key, span: sqlguard.Span{Start: at.start, End: at.end}}
	if p.accept("=") { // a default in a pattern
		return key, &node{kind: nodeAssign, span: name.span, do: &stmt{kind: stmtAssign, target: name, value: p.assignment()}}
	}
	return key, name
}

// key reads the name of a property, "" if it is computed.
func (p *jsParser) key() string {
	switch {
	case p.is("["):
		p.next()
		computed := p.expression()
		p.loose = append(p.loose, computed)
		p.expect("]")
		name, _ := computed.word()
		return name
	case p.token.kind == jsString:
		text := &Text{}
		jsContent(p.source[p.token.start+1:p.token.end-1], 0, text)
		p.next()
		return text.SQL()
	case p.token.kind == jsName || p.token.kind == jsNumber:
		key := p.text()
		p.next()
		return key
	default:
		p.fail("expected the name of a property")
		return ""
	}
}

// template reads a template. Its expressions are holes unless their text is
// known.
func (p *jsParser) template() *node { return p.templateOf(p.expression) }

// typeTemplate skips a template that is a type.
func (p *jsParser) typeTemplate() {
	p.templateOf(func() *node {
		p.typ()
		return &node{}
	})
}

// templateOf reads a template with what inside reads in its holes.
func (p *jsParser) templateOf(inside func() *node) *node {
	p.enter()
	defer p.leave()
	start := p.token.start
	out := &node{kind: nodeConcat, constant: true}
	literal := func(from, to int) {
		text := &Text{}
		jsContent(p.source[from:to], from, text)
		out.list = append(out.list, &node{kind: nodeLiteral, text: text, span: sqlguard.Span{Start: from, End: to}})
	}
	noIn, ternary := p.noIn, p.ternary
	p.noIn, p.ternary = false, false
	from := start + 1
	for i := from; ; {
		if i >= len(p.source) {
			p.token = jsToken{start: start, end: start}
			p.fail("the template has no end")
		}
		switch {
		case p.source[i] == '\\':
			i += 2
		case p.source[i] == '`':
			literal(from, i)
			p.noIn, p.ternary = noIn, ternary
			p.token.start, p.token.end = start, i+1
			p.next()
			out.span = sqlguard.Span{Start: start, End: i + 1}
			return out
		case strings.HasPrefix(p.source[i:], "${"):
			literal(from, i)
			p.from(i + 2)
			inner := inside()
			if !p.is("}") {
				p.fail("expected }")
			}
			hole := &node{kind: nodeUnknown, name: "${}", x: inner, span: sqlguard.Span{Start: i, End: p.token.end}}
			out.list = append(out.list, hole)
			i = p.token.end
			from = i
		default:
			i++
		}
	}
}

// arrow reads an arrow function, and returns nil if none begins here.
func (p *jsParser) arrow() *node {
	from := p.token.start
	switch {
	case p.token.kind == jsName:
		next := p.peek()
		if next.kind == jsOther && p.textOf(next) == "=>" && !next.line {
			param := &node{kind: nodeName, name: p.text(), span: sqlguard.Span{Start: p.token.start, End: p.token.end}}
			p.next()
			return p.arrowBody(&function{params: []*node{param}, values: []*node{nil}}, from)
		}
		if !p.word("async") || next.line {
			return nil
		}
		if next.kind == jsName && p.textOf(next) != "function" {
			var out *node
			if p.try(func() {
				p.next()
				param := &node{kind: nodeName, name: p.text(), span: sqlguard.Span{Start: p.token.start, End: p.token.end}}
				p.next()
				if !p.is("=>") {
					p.fail("no arrow")
				}
				out = p.arrowBody(&function{params: []*node{param}, values: []*node{nil}}, from)
			}) {
				return out
			}
			return nil
		}
		if next.kind != jsOther || p.textOf(next) != "(" && p.textOf(next) != "<" {
			return nil
		}
	case p.is("("):
	case p.is("<"):
		if p.jsx { // <T,>(x) => …, <T = U,>(x) => … or <T extends U>(x) => …
			genericArrow := false
			p.try(func() {
				p.next()
				p.acceptWord("const")
				if p.token.kind == jsName {
					p.next()
					genericArrow = p.is(",") || p.word("extends")
					if !genericArrow && p.accept("=") {
						p.typ() // an attribute of an element is a string or stands in braces
						genericArrow = p.is(",")
					}
				}
				p.fail("only a look")
			})
			if !genericArrow {
				return nil
			}
		}
	default:
		return nil
	}
	if p.noArrow[from] {
		return nil
	}
	var fn *function
	var out *node
	if p.try(func() {
		p.acceptWord("async")
		p.typeParameters()
		fn = &function{}
		p.parameters(fn)
		typed := p.is(":")
		if typed {
			p.next()
			ternary := p.ternary
			p.ternary = false
			p.typ()
			p.ternary = ternary
		}
		if !p.is("=>") || p.token.line {
			p.fail("no arrow")
		}
		if typed && p.ternary { // a ? (b) : c => d
			out = p.arrowBody(fn, from)
			if !p.is(":") {
				p.fail("no arrow")
			}
		}
	}) {
		if out != nil {
			return out
		}
		return p.arrowBody(fn, from)
	}
	p.noArrow[from] = true
	return nil
}

func (p *jsParser) arrowBody(fn *function, from int) *node {
	p.expect("=>")
	if p.is("{") {
		p.functionBody(fn)
	} else {
		value := p.assignment()
		fn.body = &stmt{kind: stmtBlock, list: []*stmt{{kind: stmtReturn, value: value}}}
	}
	fn.span = p.span(from)
	return &node{kind: nodeFunction, fn: fn, span: fn.span}
}

// parameters reads the parameters of a function.
func (p *jsParser) parameters(fn *function) {
	p.expect("(")
	noIn, ternary := p.noIn, p.ternary
	p.noIn, p.ternary = false, false
	for !p.is(")") {
		p.decorators()
		for p.token.kind == jsName && slices.Contains([]string{"public", "private", "protected", "readonly", "override"}, p.text()) {
			if next := p.peek(); next.kind != jsName && (next.kind != jsOther || p.textOf(next) != "{" && p.textOf(next) != "[") {
				break
			}
			p.next()
		}
		p.accept("...")
		target := p.binding()
		p.accept("?")
		p.annotation()
		var value *node
		if p.accept("=") {
			value = p.assignment()
		}
		fn.params, fn.values = append(fn.params, target), append(fn.values, value)
		if !p.is(")") {
			p.expect(",")
		}
	}
	p.noIn, p.ternary = noIn, ternary
	p.expect(")")
}

// binding reads a name or a pattern that a declaration gives a value.
func (p *jsParser) binding() *node {
	p.enter()
	defer p.leave()
	from := p.token.start
	switch {
	case p.token.kind == jsName:
		n := &node{kind: nodeName, name: p.text()}
		p.next()
		n.span = p.span(from)
		return n
	case p.accept("["):
		out := &node{kind: nodeList}
		for !p.is("]") {
			if p.accept(",") {
				out.list = append(out.list, &node{})
				continue
			}
			if p.accept("...") {
				out.list = append(out.list, p.rest())
			} else {
				out.list = append(out.list, p.defaulted(p.binding()))
			}
			if !p.is("]") {
				p.expect(",")
			}
		}
		p.next()
		out.span = p.span(from)
		return out
	case p.accept("{"):
		out := &node{kind: nodeObject}
		for !p.is("}") {
			if p.accept("...") {
				out.keys, out.list = append(out.keys, ""), append(out.list, p.rest())
			} else {
				at := p.token
				key := p.key()
				target := &node{kind: nodeName, name: key, span: sqlguard.Span{Start: at.start, End: at.end}}
				if p.accept(":") {
					target = p.binding()
				}
				out.keys, out.list = append(out.keys, key), append(out.list, p.defaulted(target))
			}
			if !p.is("}") {
				p.expect(",")
			}
		}
		p.next()
		out.span = p.span(from)
		return out
	default:
		p.fail("expected a name")
		return nil
	}
}

// rest returns the target that gets all others.
func (p *jsParser) rest() *node {
	target := p.binding()
	return &node{kind: nodeAssign, span: target.span, do: &stmt{kind: stmtAssign, target: target, value: &node{span: target.span}}}
}

func (p *jsParser) defaulted(target *node) *node {
	if !p.accept("=") {
		return target
	}
	return &node{kind: nodeAssign, span: target.span, do: &stmt{kind: stmtAssign, target: target, value: p.assignment()}}
}

// element reads JSX. What stands behind a child is text and is not read.
func (p *jsParser) element(child bool) *node {
	p.enter()
	defer p.leave()
	from := p.token.start
	out := &node{}
	p.expect("<")
	for p.token.kind == jsName || p.is(".") || p.is(":") || p.is("-") || p.is("--") { // its name
		p.next()
		if p.token.kind == jsName && !strings.ContainsAny(p.source[p.last-1:p.last], ".:-") {
			break
		}
	}
	if p.is("<") {
		p.typeArguments()
	}
	for !p.is(">") && !p.is("/") {
		switch {
		case p.is("{"):
			p.next()
			p.accept("...")
			out.list = append(out.list, p.expression())
			p.expect("}")
		case p.token.kind == jsName || p.token.kind == jsNumber || p.is("-") || p.is("--") || p.is(":"):
			p.next()
		case p.is("="):
			p.attribute(out)
		default:
			p.fail("unexpected " + strconv.Quote(p.text()) + " in an element")
		}
	}
	if p.is("/") {
		p.next()
		if !p.is(">") {
			p.fail("expected >")
		}
	} else {
		p.children(out)
	}
	if p.last = p.token.end; !child {
		p.next()
	}
	out.span = p.span(from)
	return out
}

// attribute reads the value of an attribute. Its strings have no escapes.
func (p *jsParser) attribute(out *node) {
	at := p.token.end
	for at < len(p.source) && (jsSpace(p.source[at:]) > 0 || jsLineEnd(p.source[at:]) > 0) {
		at++
	}
	if at < len(p.source) && (p.source[at] == '"' || p.source[at] == '\'') {
		n := strings.IndexByte(p.source[at+1:], p.source[at])
		if n < 0 {
			p.fail("the string has no end")
		}
		p.token.end = at + n + 2
		p.next()
		return
	}
	p.next()
	if p.is("<") {
		out.list = append(out.list, p.element(false))
		return
	}
	p.expect("{")
	out.list = append(out.list, p.expression())
	p.expect("}")
}

// children reads what is between the tags of an element. This token is the > of
// the first tag, and then that of the last.
func (p *jsParser) children(out *node) {
	at := p.token.end
	for {
		n := strings.IndexAny(p.source[at:], "<{")
		if n < 0 {
			p.fail("the element has no end")
		}
		at += n
		p.from(at)
		if p.is("{") {
			p.next()
			p.accept("...")
			if !p.is("}") {
				out.list = append(out.list, p.expression())
			}
			if !p.is("}") {
				p.fail("expected }")
			}
			at = p.token.end
			continue
		}
		p.token.end = at + 1
		if next := p.peek(); next.kind == jsOther && p.source[next.start] == '/' {
			for !p.is(">") {
				if p.token.kind == jsEnd {
					p.fail("the element has no end")
				}
				p.next()
			}
			return
		}
		out.list = append(out.list, p.element(true))
		at = p.last
	}
}
