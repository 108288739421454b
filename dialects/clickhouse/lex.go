package clickhouse

import (
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// token is one token, with the word of the grammar that it spells, in lower case, if it
// is one and not quoted.
type token struct {
	kind       sqlguard.TokenKind
	word       string
	start, end int
}

// lexer splits text by the lexical rules of ClickHouse (src/Parsers/Lexer.cpp). It reads
// forward only.
type lexer struct {
	text string
	at   int
	// last is the token before, without comments.
	last token
	// dollars are the tags of $tag$ for which no end was found: none that comes later
	// in the text has one either.
	dollars map[string]bool
}

// skip is the kind of white space. It never leaves the lexer.
const skip sqlguard.TokenKind = 255

// next returns the next token, and false at the end of the text.
func (l *lexer) next() (token, bool) {
	for l.at < len(l.text) {
		start := l.at
		kind, n := l.scan(start)
		l.at = start + n
		if kind == skip {
			continue
		}
		t := token{kind: kind, start: start, end: l.at}
		if kind == sqlguard.TokenWord {
			t.word = lookupWord(l.text[start:l.at])
		}
		if kind != sqlguard.TokenComment {
			l.last = t
		}
		return t, true
	}
	return token{}, false
}

// byteAt returns the byte at i, or 0 after the end.
func (l *lexer) byteAt(i int) byte {
	if i < len(l.text) {
		return l.text[i]
	}
	return 0
}

// scan returns the kind and length of the token at i.
func (l *lexer) scan(i int) (sqlguard.TokenKind, int) {
	next := l.byteAt(i + 1)
	switch c := l.text[i]; c {
	case ' ', '\t', '\n', '\r', '\f', '\v':
		n := 1
		for i+n < len(l.text) && isSpace(l.text[i+n]) {
			n++
		}
		return skip, n
	case '(', '[':
		return sqlguard.TokenOpen, 1
	case '{':
		if n := l.substitution(i); n > 0 {
			return sqlguard.TokenParameter, n
		}
		return sqlguard.TokenOpen, 1
	case ')', ']', '}':
		return sqlguard.TokenClose, 1
	case ',':
		return sqlguard.TokenComma, 1
	case ';':
		return sqlguard.TokenTerminator, 1
	case '\'':
		return l.quoted(i, '\'', sqlguard.TokenString)
	case '"', '`':
		return l.quoted(i, c, sqlguard.TokenQuotedName)
	case '-':
		switch next {
		case '-':
			return sqlguard.TokenComment, lineLength(l.text[i:])
		case '>':
			return sqlguard.TokenOperator, 2
		}
		return sqlguard.TokenOperator, 1
	case '/':
		switch next {
		case '/':
			return sqlguard.TokenComment, lineLength(l.text[i:])
		case '*':
			return l.block(i)
		}
		return sqlguard.TokenOperator, 1
	case '#':
		if next == ' ' || next == '!' {
			return sqlguard.TokenComment, lineLength(l.text[i:])
		}
		return sqlguard.TokenInvalid, 1
	case '.':
		if isDigit(next) && !l.afterOperand() {
			return l.number(i)
		}
		return sqlguard.TokenDot, 1
	case '$':
		return l.dollar(i)
	case 'x', 'X', 'b', 'B':
		if next == '\'' {
			return l.bits(i)
		}
	case '?', '+', '*', '%', '^':
		return sqlguard.TokenOperator, 1
	case '=', ':', '|', '!', '<', '>':
		return l.operator(i)
	}
	switch c := l.text[i]; {
	case isDigit(c):
		return l.number(i)
	case wordByte(c):
		return sqlguard.TokenWord, l.wordLength(i)
	case c >= utf8.RuneSelf:
		_, n := utf8.DecodeRuneInString(l.text[i:])
		return sqlguard.TokenInvalid, n
	default:
		return sqlguard.TokenInvalid, 1
	}
}

// operator returns the token of one or more operator characters at i.
func (l *lexer) operator(i int) (sqlguard.TokenKind, int) {
	for _, text := range operators {
		if strings.HasPrefix(l.text[i:], text) {
			return sqlguard.TokenOperator, len(text)
		}
	}
	return sqlguard.TokenInvalid, 1 // a single | or !
}

// operators that begin with a character of more than one operator, longest first.
var operators = []string{"<=>", "<=", "<>", "<", ">=", ">", "==", "=", "!=", "||", "::", ":"}

// substitution returns the length of {name:Type}, a parameter of the query, at i, or 0.
func (l *lexer) substitution(i int) int {
	at := l.spaces(i + 1)
	from := at
	for at < len(l.text) && (wordByte(l.text[at]) || isDigit(l.text[at])) {
		at++
	}
	if at == from {
		return 0
	}
	if at = l.spaces(at); l.byteAt(at) != ':' || l.byteAt(at+1) == ':' {
		return 0
	}
	return at + 1 - i
}

func (l *lexer) spaces(at int) int {
	for at < len(l.text) && isSpace(l.text[at]) {
		at++
	}
	return at
}

// quoted scans a literal or name that begins at i. A backslash escapes the next
// character, and a doubled quote is part of the content. \x needs two digits: the server
// takes any two characters for them, also a backslash before a quote.
func (l *lexer) quoted(i int, quote byte, kind sqlguard.TokenKind) (sqlguard.TokenKind, int) {
	for at := i + 1; at < len(l.text); {
		switch l.text[at] {
		case '\\':
			if l.byteAt(at+1) == 'x' && (!isHex(l.byteAt(at+2)) || !isHex(l.byteAt(at+3))) {
				kind = sqlguard.TokenInvalid
			}
			at += 2
		case quote:
			if l.byteAt(at+1) != quote {
				return kind, at + 1 - i
			}
			at += 2
		default:
			at++
		}
	}
	return sqlguard.TokenUnterminated, len(l.text) - i
}

// bits scans x'…' or b'…' at i.
func (l *lexer) bits(i int) (sqlguard.TokenKind, int) {
	n := 2
	for c := l.byteAt(i + n); isHex(c) && (l.text[i]|0x20 == 'x' || c == '0' || c == '1'); c = l.byteAt(i + n) {
		n++
	}
	if l.byteAt(i+n) != '\'' {
		return sqlguard.TokenInvalid, 2
	}
	return sqlguard.TokenString, n + 1
}

// block scans a comment at i; such comments nest.
func (l *lexer) block(i int) (sqlguard.TokenKind, int) {
	depth := 1
	for at := i + 2; at+1 < len(l.text); {
		switch {
		case l.text[at] == '/' && l.text[at+1] == '*':
			depth++
			at += 2
		case l.text[at] == '*' && l.text[at+1] == '/':
			at += 2
			if depth--; depth == 0 {
				return sqlguard.TokenComment, at - i
			}
		default:
			at++
		}
	}
	return sqlguard.TokenUnterminated, len(l.text) - i
}

// dollar scans $tag$…$tag$ at i. The server also takes tags that are not words; they are
// invalid here.
func (l *lexer) dollar(i int) (sqlguard.TokenKind, int) {
	n := 1
	for i+n < len(l.text) && (wordByte(l.text[i+n]) || isDigit(l.text[i+n])) && l.text[i+n] != '$' {
		n++
	}
	if l.byteAt(i+n) != '$' {
		return sqlguard.TokenInvalid, 1
	}
	tag := l.text[i : i+n+1]
	if l.dollars[tag] {
		return sqlguard.TokenUnterminated, len(l.text) - i
	}
	end := strings.Index(l.text[i+len(tag):], tag)
	if end < 0 {
		if l.dollars == nil {
			l.dollars = map[string]bool{}
		}
		l.dollars[tag] = true
		return sqlguard.TokenUnterminated, len(l.text) - i
	}
	return sqlguard.TokenString, end + 2*len(tag)
}

// afterOperand reports whether a dot that comes next selects an element: t.1 and t .1.
func (l *lexer) afterOperand() bool {
	switch l.last.kind { //nolint:exhaustive // behind the others a number begins
	case sqlguard.TokenWord, sqlguard.TokenQuotedName, sqlguard.TokenNumber:
		return true
	case sqlguard.TokenClose:
		return l.text[l.last.start] != '}'
	default:
		return false
	}
}

// number scans a number at i. If a word follows without a space, both are one word when
// all characters are those of a word, as in 2024_sales, and invalid otherwise.
func (l *lexer) number(i int) (sqlguard.TokenKind, int) {
	var n int
	switch c := l.byteAt(i + 1); {
	case l.text[i] != '.' && l.last.end > 0 && l.last.kind == sqlguard.TokenDot: // the index of an element: t.1.2 has two
		n = l.digits(i)
	case l.text[i] == '0' && (c == 'X' || c == 'B'):
		return sqlguard.TokenInvalid, 2
	case l.text[i] == '0' && (c == 'x' || c == 'b'):
		n = l.blocks(i, 2, func(b byte) bool { return b == '0' || b == '1' || c == 'x' && isHex(b) })
		if n == 2 || c == 'b' && isDigit(l.byteAt(i+n)) || l.byteAt(i+n) == '.' || l.byteAt(i+n) == '_' || l.byteAt(i+n)|0x20 == 'p' {
			return sqlguard.TokenInvalid, n
		}
	default:
		n = l.digits(i)
		if l.byteAt(i+n) == '.' {
			n++
			n += l.digits(i + n)
		}
		if l.byteAt(i+n)|0x20 == 'e' {
			at := n + 1
			sign := l.byteAt(i+at) == '+' || l.byteAt(i+at) == '-'
			if sign {
				at++
			}
			switch d := l.digits(i + at); {
			case d > 0:
				n = at + d
			case sign || !wordByte(l.byteAt(i+at)): // 2e alone is a name to the server in few places
				return sqlguard.TokenInvalid, at
			}
		}
	}
	if !wordByte(l.byteAt(i+n)) && !isDigit(l.byteAt(i+n)) {
		return sqlguard.TokenNumber, n
	}
	for wordByte(l.byteAt(i+n)) || isDigit(l.byteAt(i+n)) {
		n++
	}
	if strings.ContainsAny(l.text[i:i+n], ".+-$") {
		return sqlguard.TokenInvalid, n
	}
	return sqlguard.TokenWord, n
}

// digits returns the length of a run of digits at i, in which single underscores may
// stand between digits.
func (l *lexer) digits(i int) int { return l.blocks(i, 0, isDigit) }

// blocks returns the length of a number at i whose digits begin behind from characters.
func (l *lexer) blocks(i, from int, digit func(byte) bool) int {
	n := from
	for digit(l.byteAt(i+n)) || n > from && l.byteAt(i+n) == '_' && digit(l.text[i+n-1]) && digit(l.byteAt(i+n+1)) {
		n++
	}
	return n
}

// wordLength returns the length of the run of characters of a word at i.
func (l *lexer) wordLength(i int) int {
	n := 1
	for wordByte(l.byteAt(i+n)) || isDigit(l.byteAt(i+n)) {
		n++
	}
	return n
}

// lineLength returns the length of the first line, without its end.
func lineLength(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isHex(c byte) bool   { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// wordByte reports whether a word may have c, apart from digits. A word does not begin
// with a dollar sign.
func wordByte(c byte) bool { return c == '_' || c == '$' || c|0x20 >= 'a' && c|0x20 <= 'z' }
