package source

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// jinjaExpr evaluates the tokens of one expression. It calls no macro of the
// project, and evaluates both sides of every operator, so that each call that
// runs SQL is seen.
type jinjaExpr struct {
	r      *renderer
	tokens []jinjaToken
	at     int
	span   sqlguard.Span // of the Jinja around the expression
	depth  int
	failed bool // it is no expression that is understood here
}

// argument is an argument of a call.
type argument struct {
	name  string
	value jinjaValue
}

func (e *jinjaExpr) peek() string {
	if e.at < len(e.tokens) {
		return e.tokens[e.at].text
	}
	return ""
}

// op reads an operator of one or two characters.
func (e *jinjaExpr) op(text string) bool {
	if e.at >= len(e.tokens) || e.tokens[e.at].kind == 's' {
		return false
	}
	if len(text) == 2 && e.tokens[e.at].kind == 'o' {
		if e.at+1 < len(e.tokens) && e.tokens[e.at].text == text[:1] && e.tokens[e.at+1].text == text[1:] && e.tokens[e.at].span.End == e.tokens[e.at+1].span.Start {
			e.at += 2
			return true
		}
		return false
	}
	if e.tokens[e.at].text != text {
		return false
	}
	e.at++
	return true
}

// key is the same for the same condition.
func (e *jinjaExpr) key(from int) string {
	var b strings.Builder
	for _, t := range e.tokens[from:e.at] {
		b.WriteString(t.text)
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// condition reads an expression and decides whether it is true.
func (e *jinjaExpr) condition() bool {
	from := e.at
	v := e.ternary(true)
	return e.decide(v, from)
}

func (e *jinjaExpr) decide(v jinjaValue, from int) bool {
	if truth, certain := v.is(); certain {
		return truth
	}
	return e.r.decide(e.key(from))
}

// ternary reads A if B else C. In a condition, every part of it that is not
// known is decided.
func (e *jinjaExpr) ternary(condition bool) jinjaValue {
	if e.depth++; e.depth > maxJinjaDepth {
		e.failed = true
	}
	defer func() { e.depth-- }()
	if e.failed {
		return jinjaValue{}
	}
	v := e.or(condition)
	if !e.op("if") {
		return v
	}
	chosen := e.decide(e.or(true), e.at)
	other := jinjaValue{kind: jinjaString, text: &Text{Span: e.span}}
	if e.op("else") {
		other = e.ternary(condition)
	}
	if chosen {
		return v
	}
	return other
}

func (e *jinjaExpr) or(condition bool) jinjaValue {
	return e.logic(condition, "or", func(condition bool) jinjaValue {
		return e.logic(condition, "and", e.not)
	})
}

func (e *jinjaExpr) logic(condition bool, word string, next func(bool) jinjaValue) jinjaValue {
	from := e.at
	left := next(condition)
	for e.peek() == word {
		if condition {
			left = boolean(e.decide(left, from))
		}
		e.at++
		from = e.at
		right := next(condition)
		if condition {
			right = boolean(e.decide(right, from))
		}
		truth, certain := left.is()
		switch {
		case !certain:
			left = jinjaValue{own: left.ours() && right.ours()}
		case truth == (word == "and"):
			left = right
		}
	}
	return left
}

func (e *jinjaExpr) not(condition bool) jinjaValue {
	if e.op("not") {
		from := e.at
		v := e.not(condition)
		if condition {
			return boolean(!e.decide(v, from))
		}
		if truth, certain := v.is(); certain {
			return boolean(!truth)
		}
		return jinjaValue{own: v.ours()}
	}
	return e.comparison(condition)
}

func (e *jinjaExpr) comparison(condition bool) jinjaValue {
	left := e.concatenation(condition)
	for !e.failed {
		var negated bool
		switch {
		case e.op("=="), e.op("!="):
			negated = e.tokens[e.at-2].text == "!"
			right := e.concatenation(false)
			same, certain := e.r.equal(left, right, e.span)
			left = jinjaValue{own: left.ours() && right.ours()}
			if certain {
				left = boolean(same != negated)
			}
		case e.peek() == "not" && e.at+1 < len(e.tokens) && e.tokens[e.at+1].text == "in", e.peek() == "in" && e.tokens[e.at].kind == 'n':
			negated = e.op("not")
			e.at++
			right := e.concatenation(false)
			same, certain := e.among(left, right)
			left = jinjaValue{own: left.ours() && right.ours()}
			if certain {
				left = boolean(same != negated)
			}
		case e.op("<="), e.op(">="), e.op("<"), e.op(">"):
			right := e.concatenation(false)
			left = jinjaValue{own: left.ours() && right.ours()}
		case e.op("is"):
			negated = e.op("not")
			left = e.test(left, negated)
		default:
			return left
		}
	}
	return left
}

// among reports whether a list, a dictionary or a string holds a value.
func (e *jinjaExpr) among(v, in jinjaValue) (found, certain bool) {
	switch in.kind {
	case jinjaList:
		certain = true
		for _, item := range *in.items {
			same, sure := e.r.equal(v, item, e.span)
			if same && sure {
				return true, true
			}
			certain = certain && sure
		}
		return false, certain
	case jinjaDict:
		key, ok := v.whole()
		return slices.Contains(in.keys, key), ok
	case jinjaString:
		part, ok := v.whole()
		text, whole := in.whole()
		return strings.Contains(text, part), ok && whole
	case jinjaUnknown, jinjaNumber, jinjaBool, jinjaNone, jinjaGlobal, jinjaAdapter, jinjaRelation, jinjaMethod:
	}
	return false, false
}

// test reads the name of a test behind is.
func (e *jinjaExpr) test(v jinjaValue, negated bool) jinjaValue {
	if e.at >= len(e.tokens) || e.tokens[e.at].kind != 'n' {
		e.failed = true
		return jinjaValue{}
	}
	name := e.tokens[e.at].text
	e.at++
	if e.peek() == "(" {
		e.arguments()
	} else if e.at < len(e.tokens) && (e.tokens[e.at].kind == 's' || e.tokens[e.at].kind == '0') {
		e.at++
	}
	truth, certain := false, v.kind != jinjaUnknown && v.kind != jinjaGlobal && v.kind != jinjaAdapter && v.kind != jinjaRelation
	switch name {
	case "none":
		truth = v.kind == jinjaNone
	case "defined":
		truth = true
	case "string":
		truth = v.kind == jinjaString
	case "mapping":
		truth = v.kind == jinjaDict
	case "number":
		truth = v.kind == jinjaNumber
	default:
		certain = false
	}
	if !certain {
		return jinjaValue{own: v.ours()}
	}
	return boolean(truth != negated)
}

// concatenation reads operators that make one value of two.
func (e *jinjaExpr) concatenation(condition bool) jinjaValue {
	left := e.unary(condition)
	for !e.failed {
		switch {
		case e.op("~"):
			left = e.joined(left, e.unary(false))
		case e.op("+"):
			right := e.unary(false)
			switch {
			case left.kind == jinjaString || right.kind == jinjaString:
				left = e.joined(left, right)
			case left.kind == jinjaList && right.kind == jinjaList && len(*left.items)+len(*right.items) < maxJinjaItems:
				left = list(slices.Concat(*left.items, *right.items))
			default:
				left = arithmetic(left, right, e.span, func(a, b int) int { return a + b })
			}
		case e.op("-"):
			left = arithmetic(left, e.unary(false), e.span, func(a, b int) int { return a - b })
		case e.op("**"), e.op("//"), e.op("*"), e.op("/"), e.op("%"):
			right := e.unary(false)
			left = jinjaValue{own: left.ours() && right.ours()}
		default:
			return left
		}
	}
	return left
}

func (e *jinjaExpr) joined(a, b jinjaValue) jinjaValue {
	text := &Text{Span: e.span}
	e.r.emit(text, a, e.span)
	e.r.emit(text, b, e.span)
	return known(text)
}

func arithmetic(a, b jinjaValue, span sqlguard.Span, f func(a, b int) int) jinjaValue {
	if a.kind == jinjaNumber && b.kind == jinjaNumber {
		x, err1 := strconv.ParseInt(a.text.SQL(), 10, 32)
		y, err2 := strconv.ParseInt(b.text.SQL(), 10, 32)
		if err1 == nil && err2 == nil {
			return number(strconv.Itoa(f(int(x), int(y))), span)
		}
	}
	return jinjaValue{own: a.ours() && b.ours()}
}

func (e *jinjaExpr) unary(condition bool) jinjaValue {
	if e.op("-") || e.op("+") {
		v := e.postfix(false)
		if v.kind == jinjaNumber {
			return number("-"+v.text.SQL(), e.span)
		}
		return jinjaValue{own: v.ours()}
	}
	return e.postfix(condition)
}

// postfix reads a value and what stands behind it: attributes, indexes, calls
// and filters.
func (e *jinjaExpr) postfix(condition bool) jinjaValue {
	v := e.primary(condition)
	for !e.failed {
		switch {
		case e.op("."):
			if e.at >= len(e.tokens) || e.tokens[e.at].kind == 's' || e.tokens[e.at].kind == 'o' {
				e.failed = true
				return jinjaValue{}
			}
			name := e.tokens[e.at].text
			e.at++
			v = e.attribute(v, name)
		case e.op("["):
			v = e.index(v)
		case e.peek() == "(" && e.tokens[e.at].kind == 'o':
			v = e.call(v, e.arguments())
		case e.op("|"):
			if e.at >= len(e.tokens) || e.tokens[e.at].kind != 'n' {
				e.failed = true
				return jinjaValue{}
			}
			name := e.tokens[e.at].text
			e.at++
			var args []argument
			if e.peek() == "(" {
				args = e.arguments()
			}
			v = e.r.method(e.r.resolved(v, e.span), name, values(args), e.span)
		default:
			return e.r.resolved(v, e.span)
		}
	}
	return jinjaValue{}
}

func values(args []argument) []jinjaValue {
	all := make([]jinjaValue, len(args))
	for i, a := range args {
		all[i] = a.value
	}
	return all
}

// primary reads a literal, a name, or an expression in brackets.
func (e *jinjaExpr) primary(condition bool) jinjaValue {
	if e.at >= len(e.tokens) {
		e.failed = true
		return jinjaValue{}
	}
	t := e.tokens[e.at]
	e.at++
	switch {
	case t.kind == 's':
		text := decoded(t)
		for e.at < len(e.tokens) && e.tokens[e.at].kind == 's' {
			text.add(decoded(e.tokens[e.at]))
			e.at++
		}
		return known(text)
	case t.kind == '0':
		digits := t.text
		if e.at+1 < len(e.tokens) && e.peek() == "." && e.tokens[e.at+1].kind == '0' && e.tokens[e.at].span.End == e.tokens[e.at+1].span.Start {
			digits += "." + e.tokens[e.at+1].text
			e.at += 2
		}
		return number(digits, e.span)
	case t.kind == 'n':
		return e.r.name(t.text, e.span)
	case t.text == "(":
		v := e.ternary(condition)
		if e.op(")") {
			return v
		}
		items := []jinjaValue{v}
		for e.op(",") && e.peek() != ")" {
			items = append(items, e.ternary(false))
		}
		e.expect(")")
		return list(items)
	case t.text == "[":
		items := []jinjaValue{}
		for !e.failed && e.peek() != "]" {
			items = append(items, e.ternary(false))
			if !e.op(",") {
				break
			}
		}
		e.expect("]")
		return list(items)
	case t.text == "{":
		return e.dictionary()
	default:
		e.failed = true
		return jinjaValue{}
	}
}

func (e *jinjaExpr) dictionary() jinjaValue {
	v := list(nil)
	v.kind = jinjaDict
	certain := true
	for !e.failed && e.peek() != "}" {
		key, ok := e.ternary(false).whole()
		certain = certain && ok
		e.expect(":")
		v.keys = append(v.keys, key)
		*v.items = append(*v.items, e.ternary(false))
		if !e.op(",") {
			break
		}
	}
	e.expect("}")
	if !certain {
		return jinjaValue{own: v.ours()}
	}
	return v
}

func (e *jinjaExpr) expect(text string) {
	if !e.op(text) {
		e.failed = true
	}
}

// arguments reads the arguments of a call, with both brackets.
func (e *jinjaExpr) arguments() []argument {
	e.expect("(")
	var args []argument
	for !e.failed && e.peek() != ")" {
		var a argument
		if e.at+1 < len(e.tokens) && e.tokens[e.at].kind == 'n' && e.tokens[e.at+1].text == "=" && (e.at+2 >= len(e.tokens) || e.tokens[e.at+2].text != "=") {
			a.name = e.tokens[e.at].text
			e.at += 2
		} else if e.op("**") || e.op("*") {
			a.name = "*"
		}
		a.value = e.ternary(false)
		args = append(args, a)
		if !e.op(",") {
			break
		}
	}
	e.expect(")")
	return args
}

func (e *jinjaExpr) attribute(v jinjaValue, name string) jinjaValue {
	switch v.kind {
	case jinjaGlobal:
		if v.path == "target" && (name == "type" || name == "adapter_type") {
			return jinjaValue{kind: jinjaAdapter}
		}
		v.path += "." + name
		return v
	case jinjaDict:
		if i := slices.Index(v.keys, name); i >= 0 {
			return (*v.items)[i]
		}
	case jinjaRelation:
		if e.peek() != "(" {
			return jinjaValue{own: v.ours()}
		}
	case jinjaUnknown, jinjaString, jinjaNumber, jinjaBool, jinjaNone, jinjaList, jinjaAdapter, jinjaMethod:
	}
	if e.peek() != "(" {
		return jinjaValue{own: v.ours()}
	}
	object := v
	return jinjaValue{kind: jinjaMethod, path: name, items: &[]jinjaValue{object}}
}

// index reads the rest of an index or a slice.
func (e *jinjaExpr) index(v jinjaValue) jinjaValue {
	if v.kind == jinjaGlobal && (v.path == "context" || v.path == "builtins") {
		e.r.runUnknown(e.span)
	}
	v = e.r.resolved(v, e.span)
	var at jinjaValue
	parts := 0
	for !e.failed && e.peek() != "]" {
		if e.op(":") {
			parts++
			continue
		}
		at = e.ternary(false)
	}
	e.expect("]")
	if parts == 0 {
		switch v.kind {
		case jinjaDict:
			if key, ok := at.whole(); ok {
				if i := slices.Index(v.keys, key); i >= 0 {
					return (*v.items)[i]
				}
			}
		case jinjaList:
			if at.kind == jinjaNumber {
				if i, err := strconv.Atoi(at.text.SQL()); err == nil {
					if i < 0 {
						i += len(*v.items)
					}
					if i >= 0 && i < len(*v.items) {
						return (*v.items)[i]
					}
				}
			}
		case jinjaUnknown, jinjaString, jinjaNumber, jinjaBool, jinjaNone, jinjaGlobal, jinjaAdapter, jinjaRelation, jinjaMethod:
		}
	}
	return jinjaValue{own: v.ours() && (at.kind == jinjaUnknown || at.ours())}
}
