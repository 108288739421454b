package sqlserver

import (
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// parser reads statements from tokens by recursive descent. It keeps the first error and
// then sees no more tokens, so that every production returns.
type parser struct {
	sql   string
	toks  []token // without comments
	at    int
	tok   token // toks[at], or the end
	depth int
	given kind // an operand in brackets that was read before its expression
	// lateral says that the table which is being read follows APPLY, so that the
	// arguments of a function can be columns.
	lateral bool
	err     *sqlguard.SyntaxError
	facts
}

// maxNesting bounds the recursion. The guard's screen bounds it further.
const maxNesting = 1200

// endOfText is the kind of the token after the last one.
const endOfText sqlguard.TokenKind = 254

func (p *parser) load(at int) {
	p.at = at
	if at < len(p.toks) {
		p.tok = p.toks[at]
		return
	}
	p.tok = token{kind: endOfText, start: len(p.sql), end: len(p.sql)}
}

func (p *parser) next() { p.load(p.at + 1) }

// peek returns the token n positions after the current one, or before it if n is negative.
func (p *parser) peek(n int) token {
	if p.at+n < len(p.toks) {
		return p.toks[p.at+n]
	}
	return token{kind: endOfText, start: len(p.sql), end: len(p.sql)}
}

// spells reports whether a token is that word of the grammar.
func (t token) spells(text string) bool { return t.word != nil && t.word.text == text }

// is reports whether the current token is that word of the grammar.
func (p *parser) is(text string) bool { return p.tok.word != nil && p.tok.word.text == text }

// isAny reports whether the current token is one of those words.
func (p *parser) isAny(texts ...string) bool {
	return p.tok.word != nil && slices.Contains(texts, p.tok.word.text)
}

// followed reports whether the tokens from the current one on are those words.
func (p *parser) followed(texts ...string) bool {
	for i, text := range texts {
		if !p.peek(i).spells(text) {
			return false
		}
	}
	return true
}

// accept reads the word if it is the next token.
func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.next()
	return true
}

// acceptAll reads the words if they are the next tokens.
func (p *parser) acceptAll(texts ...string) bool {
	if !p.followed(texts...) {
		return false
	}
	p.load(p.at + len(texts))
	return true
}

// expect reads that word, or fails.
func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail(strings.ToUpper(text))
	}
}

// mark returns the one character that the current token is, or 0.
func (p *parser) mark() byte {
	if p.tok.end-p.tok.start != 1 {
		return 0
	}
	switch p.tok.kind { //nolint:exhaustive // no other kind is a mark
	case sqlguard.TokenOperator, sqlguard.TokenOpen, sqlguard.TokenClose, sqlguard.TokenComma, sqlguard.TokenDot, sqlguard.TokenTerminator:
		return p.sql[p.tok.start]
	default:
		return 0
	}
}

// markOf is the mark of the token n places on.
func (p *parser) markOf(n int) byte {
	t := p.peek(n)
	if t.end-t.start != 1 || t.kind == sqlguard.TokenWord || t.kind == sqlguard.TokenNumber || t.kind == sqlguard.TokenParameter {
		return 0
	}
	return p.sql[t.start]
}

func (p *parser) acceptMark(c byte) bool {
	if p.mark() != c {
		return false
	}
	p.next()
	return true
}

func (p *parser) expectMark(c byte) {
	if !p.acceptMark(c) {
		p.fail(string([]byte{'"', c, '"'}))
	}
}

// operator returns the operator that the current token is, or "".
func (p *parser) operator() string {
	if p.tok.kind != sqlguard.TokenOperator {
		return ""
	}
	return p.sql[p.tok.start:p.tok.end]
}

// text returns the current token as written.
func (p *parser) text() string { return p.sql[p.tok.start:p.tok.end] }

// fail records the first error: what the parser expected and what it found.
func (p *parser) fail(expected string) {
	p.failAt(p.tok, "expected "+expected+", found "+p.found())
}

func (p *parser) failAt(t token, message string) {
	if p.err == nil {
		p.err = &sqlguard.SyntaxError{Message: message, Offset: t.start}
	}
	p.toks = p.toks[:min(p.at, len(p.toks))]
	p.load(len(p.toks))
}

// found names the current token without the value of a literal.
func (p *parser) found() string {
	switch p.tok.kind { //nolint:exhaustive // the other kinds are shown as written
	case endOfText:
		return "the end of the text"
	case sqlguard.TokenString:
		return "a string literal"
	case sqlguard.TokenNumber:
		return "a number"
	default:
		text := p.text()
		if len(text) > 40 {
			text = strings.ToValidUTF8(text[:40], "") + "…"
		}
		if p.tok.word != nil && p.tok.word.reserved {
			return "the keyword " + strings.ToUpper(text)
		}
		return `"` + text + `"`
	}
}

// enter begins one level of nesting, and leave ends it.
func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.failAt(p.tok, "the statement is nested too deeply here")
	}
}

func (p *parser) leave() { p.depth-- }

// list reads items that commas separate.
func (p *parser) list(item func()) {
	item()
	for p.acceptMark(',') {
		item()
	}
}

// brackets reads ( items that commas separate ).
func (p *parser) brackets(item func()) {
	p.expectMark('(')
	p.list(item)
	p.expectMark(')')
}

// skipBrackets skips ( … ) with its content. It is for constructs that are always
// refused.
func (p *parser) skipBrackets() {
	p.expectMark('(')
	p.skipToClose()
	p.expectMark(')')
}

// skipToClose reads up to the bracket that closes the current level.
func (p *parser) skipToClose() {
	for depth := 0; p.tok.kind != endOfText; p.next() {
		switch p.tok.kind { //nolint:exhaustive // only brackets matter
		case sqlguard.TokenOpen:
			depth++
		case sqlguard.TokenClose:
			if depth == 0 {
				return
			}
			depth--
		}
	}
}

// integer reads a number, or fails.
func (p *parser) integer(what string) string {
	if p.tok.kind != sqlguard.TokenNumber {
		p.fail(what)
		return ""
	}
	text := p.text()
	p.next()
	return text
}

// stringLiteral reads a string literal and returns its value.
func (p *parser) stringLiteral(what string) string {
	if p.tok.kind != sqlguard.TokenString {
		p.fail(what)
		return ""
	}
	text := decodeString(p.text())
	p.next()
	return text
}
