package source

import (
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// jsKind is the kind of a token of JavaScript.
type jsKind uint8

const (
	jsEnd jsKind = iota
	jsName
	jsString
	jsTemplate // only its first quote
	jsNumber
	jsOther
)

type jsToken struct {
	kind       jsKind
	start, end int
	line       bool // a line ends before it
}

// jsParser reads JavaScript and TypeScript (ECMA-262, and the grammar of
// TypeScript, of which it skips the types) into nodes. It stops with a panic of
// a *SyntaxError where it cannot go on.
type jsParser struct {
	source   string
	jsx      bool
	token    jsToken
	last     int // the end of the token before
	comments []sqlguard.Span
	depth    int
	noArrow  map[int]bool // brackets that do not begin the parameters of an arrow function
	noIn     bool         // in the head of a for loop
	extends  bool         // directly in the condition of a conditional type, whose question mark ends it
	ternary  bool         // before the colon of a conditional expression
	fields   []map[string]bool
	exports  map[string]*node
	stars    []string // modules of which everything is exported
	loose    []*node  // expressions of the statement that stand where nodes have no place, such as computed names
}

// jsMaxDepth is the most expressions and statements in one another.
const jsMaxDepth = 1_000

func (p *jsParser) fail(message string) {
	panic(&SyntaxError{Offset: min(p.token.start, len(p.source)), Message: message})
}

func (p *jsParser) enter() {
	if p.depth++; p.depth > jsMaxDepth {
		p.fail("it is nested too deeply")
	}
}

func (p *jsParser) leave() { p.depth-- }

// jsState is a position to which a parser can go back.
type jsState struct {
	token    jsToken
	last     int
	comments int
	depth    int
	noIn     bool
	ternary  bool
	loose    int
}

// try calls f. If f fails, the parser goes back and try returns false.
func (p *jsParser) try(f func()) (ok bool) {
	s := jsState{p.token, p.last, len(p.comments), p.depth, p.noIn, p.ternary, len(p.loose)}
	defer func() {
		if r := recover(); r != nil {
			if _, syntax := r.(*SyntaxError); !syntax {
				panic(r)
			}
			p.token, p.last, p.comments, p.depth, p.noIn, p.ternary = s.token, s.last, p.comments[:s.comments], s.depth, s.noIn, s.ternary
			p.loose = p.loose[:min(s.loose, len(p.loose))]
			ok = false
		}
	}()
	f()
	return true
}

// peek returns the token behind this one.
func (p *jsParser) peek() jsToken {
	token, last, comments := p.token, p.last, len(p.comments)
	var next jsToken
	p.try(func() {
		p.next()
		next = p.token
	})
	p.token, p.last, p.comments = token, last, p.comments[:comments]
	return next
}

func (p *jsParser) textOf(t jsToken) string { return p.source[t.start:t.end] }

func (p *jsParser) text() string { return p.source[p.token.start:p.token.end] }

// name returns the text of a name, with its escapes decoded.
func (p *jsParser) name() string {
	text := p.text()
	if !strings.Contains(text, `\u`) {
		return text
	}
	decoded := &Text{}
	jsContent(text, 0, decoded)
	return decoded.SQL()
}

func (p *jsParser) is(text string) bool { return p.token.kind == jsOther && p.text() == text }

func (p *jsParser) word(text string) bool { return p.token.kind == jsName && p.text() == text }

func (p *jsParser) accept(text string) bool {
	if p.is(text) {
		p.next()
		return true
	}
	return false
}

func (p *jsParser) acceptWord(text string) bool {
	if p.word(text) {
		p.next()
		return true
	}
	return false
}

func (p *jsParser) expect(text string) {
	if !p.accept(text) {
		p.fail("expected " + text)
	}
}

func (p *jsParser) span(from int) sqlguard.Span {
	return sqlguard.Span{Start: from, End: max(from, p.last)}
}

// next reads the token behind this one.
func (p *jsParser) next() {
	p.last = p.token.end
	p.from(p.token.end)
}

// jsOperators are the operators of more than one character, the longest first.
// Those that begin with > are put together where they are one.
var jsOperators = []string{
	"...", "===", "!==", "**=", "<<=", "&&=", "||=", "??=",
	"=>", "==", "!=", "<=", "++", "--", "<<", "&&", "||", "??", "?.", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "**",
}

// from reads the token at an offset.
func (p *jsParser) from(i int) {
	line := i == 0
	s := p.source
	for i < len(s) {
		rest := s[i:]
		if n := jsLineEnd(rest); n > 0 {
			line = true
			i += n
			continue
		}
		if n := jsSpace(rest); n > 0 {
			i += n
			continue
		}
		switch {
		case strings.HasPrefix(rest, "//") || i == 0 && strings.HasPrefix(rest, "#!") || line && strings.HasPrefix(rest, "<!--"):
			end := i
			for end < len(s) && jsLineEnd(s[end:]) == 0 {
				end++
			}
			p.comment(i, end)
			i = end
			continue
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				p.token = jsToken{start: i, end: i}
				p.fail("the comment has no end")
			}
			line = line || strings.ContainsAny(rest[:n+4], "\r\n")
			p.comment(i, i+n+4)
			i += n + 4
			continue
		}
		break
	}
	p.token = jsToken{kind: jsOther, start: i, end: i, line: line}
	if i >= len(s) {
		p.token.kind = jsEnd
		return
	}
	switch c := s[i]; {
	case c == '\'' || c == '"':
		end, ok := jsStringEnd(s, i)
		if !ok {
			p.fail("the string has no end")
		}
		p.token.kind, p.token.end = jsString, end
	case c == '`':
		p.token.kind, p.token.end = jsTemplate, i+1
	case c >= '0' && c <= '9' || c == '.' && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9':
		p.token.kind, p.token.end = jsNumber, jsNumberEnd(s, i)
	case jsNameByte(c) || c == '\\' || c == '#' && i+1 < len(s) && jsNameByte(s[i+1]):
		end := i + 1
		for end < len(s) && (jsNameByte(s[end]) || s[end] == '\\' || s[end] == '{' && s[end-1] == 'u' && strings.Contains(s[i:end], `\u`)) && jsSpace(s[end:]) == 0 && jsLineEnd(s[end:]) == 0 {
			if s[end] == '{' { // \u{…}
				if n := strings.IndexByte(s[end:], '}'); n > 0 {
					end += n
				}
			}
			end++
		}
		p.token.kind, p.token.end = jsName, end
	default:
		p.token.end = i + 1
		for _, op := range jsOperators {
			if strings.HasPrefix(s[i:], op) {
				if op == "?." && i+2 < len(s) && s[i+2] >= '0' && s[i+2] <= '9' {
					continue
				}
				p.token.end = i + len(op)
				break
			}
		}
	}
}

func (p *jsParser) comment(start, end int) {
	if n := len(p.comments); n > 0 && p.comments[n-1].Start >= start {
		return
	}
	p.comments = append(p.comments, sqlguard.Span{Start: start, End: end})
}

// jsNumberEnd returns the offset after the number at i.
func jsNumberEnd(s string, i int) int {
	hex := strings.HasPrefix(s[i:], "0x") || strings.HasPrefix(s[i:], "0X")
	for i++; i < len(s); i++ {
		c := s[i]
		switch {
		case c < 0x80 && jsNameByte(c), c == '.':
		case (c == '+' || c == '-') && !hex && (s[i-1] == 'e' || s[i-1] == 'E'):
		default:
			return i
		}
	}
	return i
}

// skipBalanced skips from an opening bracket to behind the one that closes it.
// It is used for types, which have no regular expressions.
func (p *jsParser) skipBalanced() {
	depth := 0
	for {
		switch {
		case p.token.kind == jsEnd:
			p.fail("a bracket is not closed")
		case p.token.kind == jsTemplate:
			p.typeTemplate()
			continue
		case p.is("(") || p.is("[") || p.is("{"):
			depth++
		case p.is(")") || p.is("]") || p.is("}"):
			depth--
		}
		p.next()
		if depth == 0 {
			return
		}
	}
}

// typeParameters skips <T extends …>.
func (p *jsParser) typeParameters() {
	if !p.is("<") {
		return
	}
	depth := 0
	for {
		switch {
		case p.token.kind == jsEnd || p.is(";"):
			p.fail("type parameters are not closed")
		case p.token.kind == jsTemplate:
			p.typeTemplate()
			continue
		case p.is("(") || p.is("[") || p.is("{"):
			p.skipBalanced()
			continue
		case p.is("<"):
			depth++
		case p.is("<<"):
			depth += 2
		case p.is(">"):
			depth--
		}
		p.next()
		if depth == 0 {
			return
		}
	}
}

// typeArguments skips <T, U> where an expression can stand before it. It fails
// if these are no types.
func (p *jsParser) typeArguments() {
	if p.is("<<") { // f<<T>(x: T) => void>(…)
		p.token.end--
	}
	p.expect("<")
	for !p.is(">") {
		p.typ()
		if !p.accept(",") {
			break
		}
	}
	if !p.is(">") {
		p.fail("expected >")
	}
	p.next()
}

// annotation skips a type behind a colon.
func (p *jsParser) annotation() {
	if p.accept(":") {
		p.typ()
	}
}

// typ skips a type.
func (p *jsParser) typ() {
	p.enter()
	defer p.leave()
	if p.word("asserts") {
		if next := p.peek(); next.kind == jsName && !next.line {
			p.next()
		}
	}
	p.accept("|")
	p.accept("&")
	p.typeOperand()
	for p.is("|") || p.is("&") {
		p.next()
		p.typeOperand()
	}
	if p.word("extends") && !p.token.line {
		if !p.try(func() {
			p.next()
			p.within(true, p.typ)
			p.expect("?")
			p.typ()
			p.expect(":")
			p.typ()
		}) {
			return
		}
	}
}

// within runs read with extends set, and as it was afterwards.
func (p *jsParser) within(extends bool, read func()) {
	defer func(was bool) { p.extends = was }(p.extends)
	p.extends = extends
	read()
}

func (p *jsParser) typeOperand() {
	p.enter()
	defer p.leave()
	switch {
	case p.token.kind == jsString || p.token.kind == jsNumber:
		p.next()
	case p.token.kind == jsTemplate:
		p.within(false, p.typeTemplate)
	case p.is("-"):
		p.next()
		p.next()
	case p.is("<"):
		p.typeParameters()
		p.skipBalanced()
		p.expect("=>")
		p.typ()
		return
	case p.is("("):
		function := p.functionType()
		p.skipBalanced()
		if function {
			p.expect("=>")
			p.typ()
			return
		}
	case p.is("[") || p.is("{"):
		p.skipBalanced()
	case p.token.kind == jsName:
		p.typeName()
	default:
		p.fail("expected a type")
	}
	for !p.token.line && (p.is("[") || p.is("!") || p.is("?") && p.optional()) {
		if p.is("[") {
			p.skipBalanced()
		} else {
			p.next()
		}
	}
}

// functionType reports whether a parenthesis begins the parameters of the type
// of a function, and not a type in parentheses.
func (p *jsParser) functionType() (is bool) {
	p.try(func() {
		p.next()
		if is = p.is(")") || p.is("..."); !is {
			switch {
			case p.token.kind == jsName:
				p.next()
			case p.is("{") || p.is("["):
				p.skipBalanced()
			}
			is = p.is(":") || p.is(",") || p.is("?") || p.is("=")
			if p.accept(")") {
				is = p.is("=>")
			}
		}
		p.fail("only a look")
	})
	return is
}

// optional reports whether a question mark ends a type, as it does in a tuple.
func (p *jsParser) optional() bool {
	next := p.peek()
	return next.kind == jsOther && slices.Contains([]string{",", "]", ")"}, p.textOf(next))
}

func (p *jsParser) typeName() {
	word := p.text()
	next := p.peek()
	starts := next.kind == jsName || next.kind == jsString || next.kind == jsOther && slices.Contains([]string{"(", "[", "{", "<"}, p.textOf(next)) || next.kind == jsTemplate
	switch {
	case (word == "keyof" || word == "unique" || word == "readonly" || word == "infer") && starts && (word == "readonly" || !next.line):
		p.next()
		p.typeOperand()
		if word == "infer" && p.word("extends") {
			p.try(func() { // what is inferred is of this type, unless it is the condition
				p.next()
				p.typ()
				if p.is("?") && !p.extends {
					p.fail("a condition")
				}
			})
		}
		return
	case (word == "new" || word == "abstract") && starts:
		p.next()
		p.acceptWord("new")
		p.typeParameters()
		p.skipBalanced()
		p.expect("=>")
		p.typ()
		return
	case word == "typeof" && next.kind == jsName:
		p.next()
	}
	if p.word("import") {
		p.next()
		p.skipBalanced()
	} else {
		p.next()
	}
	for {
		switch {
		case p.is(".") || p.is("?."):
			p.next()
			p.next()
		case (p.is("<") || p.is("<<")) && !p.token.line:
			p.typeArguments()
		case p.word("is") && !p.token.line:
			p.next()
			p.typ()
			return
		default:
			return
		}
	}
}
