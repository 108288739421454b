package clickhouse

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
	err   *sqlguard.SyntaxError
	// starEnd and lambdaEnd are the positions behind the star, or the lambda, read last.
	starEnd, lambdaEnd int
	// pathEnd is the position behind the name of a column, with its path, that was read last.
	pathEnd int
	// bareLambda says that the lambda read last has one parameter without brackets.
	bareLambda bool
	// nested is how deep BETWEEN is nested in the left side of what was read last.
	nested int
	// barred are words that are no names here: to the server they belong to the construct
	// around, wherever a name may stand in it.
	barred []string
	// fromFirst says that FROM stands before SELECT, where an alias needs AS.
	fromFirst bool
	// filled says that the ORDER BY that is read has WITH FILL.
	filled bool
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

// peek returns the token n positions after the current one.
func (p *parser) peek(n int) token {
	if p.at+n < len(p.toks) {
		return p.toks[p.at+n]
	}
	return token{kind: endOfText, start: len(p.sql), end: len(p.sql)}
}

// is reports whether the current token is one of those words of the grammar.
func (p *parser) is(texts ...string) bool {
	return p.tok.word != "" && slices.Contains(texts, p.tok.word)
}

// followed reports whether the tokens from the current one on are those words.
func (p *parser) followed(texts ...string) bool {
	for i, text := range texts {
		if p.peek(i).word != text {
			return false
		}
	}
	return true
}

// accept reads the words if they are the next tokens.
func (p *parser) accept(texts ...string) bool {
	if !p.followed(texts...) {
		return false
	}
	p.load(p.at + len(texts))
	return true
}

// acceptAny reads one of the words if it is the next token.
func (p *parser) acceptAny(texts ...string) bool {
	if !p.is(texts...) {
		return false
	}
	p.next()
	return true
}

// expect reads that word, or fails.
func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail(strings.ToUpper(text))
	}
}

// mark returns the token n places on if it is made of marks, or "".
func (p *parser) markAt(n int) string {
	switch t := p.peek(n); t.kind { //nolint:exhaustive // no other kind is a mark
	case sqlguard.TokenOperator, sqlguard.TokenOpen, sqlguard.TokenClose, sqlguard.TokenComma, sqlguard.TokenDot, sqlguard.TokenTerminator:
		return p.sql[t.start:t.end]
	default:
		return ""
	}
}

func (p *parser) mark() string { return p.markAt(0) }

func (p *parser) acceptMark(text string) bool {
	if p.mark() != text {
		return false
	}
	p.next()
	return true
}

func (p *parser) expectMark(text string) {
	if !p.acceptMark(text) {
		p.fail(`"` + text + `"`)
	}
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
		if reserved[p.tok.word] {
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

// bar adds words to those that are no names, up to the call of undo.
func (p *parser) bar(words ...string) (undo func()) {
	outer := p.barred
	p.barred = append(slices.Clip(outer), words...)
	return func() { p.barred = outer }
}

// list reads items that commas separate.
func (p *parser) list(item func()) {
	item()
	for p.acceptMark(",") {
		item()
	}
}

// skipStatement skips to the terminator of the statement.
func (p *parser) skipStatement() {
	for p.tok.kind != endOfText && p.tok.kind != sqlguard.TokenTerminator {
		p.next()
	}
}

// number reads a number without a sign, or fails.
func (p *parser) number() {
	if p.tok.kind != sqlguard.TokenNumber {
		p.fail("a number")
		return
	}
	p.next()
}

// stringLiteral reads a string literal, or fails.
func (p *parser) stringLiteral(what string) {
	if !p.atString(0) {
		p.fail(what)
		return
	}
	p.next()
}

// atString reports whether the token n places on is a string literal in plain quotes.
// Where the grammar itself takes a text, the server takes no other form.
func (p *parser) atString(n int) bool {
	t := p.peek(n)
	return t.kind == sqlguard.TokenString && p.sql[t.start] == '\''
}
