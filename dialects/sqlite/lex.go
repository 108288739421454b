package sqlite

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// lexer is a port of the rules of SQLite's tokenizer (src/tokenize.c) and of
// sqlite3_complete (src/complete.c). It reads forward only, and each byte a
// bounded number of times.
type lexer struct {
	text    string
	at      int
	state   lexState
	command bool // the token before was a client command, which its line ends
}

// lexState is the state of sqlite3_complete, which distinguishes the semicolons
// in the body of a trigger from those that end statements.
type lexState uint8

const (
	lexStart   lexState = iota // nothing of a statement yet
	lexNormal                  // in a statement other than the ones below
	lexExplain                 // after EXPLAIN
	lexCreate                  // after CREATE [TEMP]
	lexTrigger                 // in CREATE TRIGGER
	lexSemi                    // after a semicolon in a trigger
	lexEnd                     // after "; END" in a trigger
)

// next returns the next token, and false at the end of the text.
func (l *lexer) next() (sqlguard.Token, bool) {
	for l.at < len(l.text) {
		start := l.at
		if l.command {
			l.command = false
			l.at++ // the line feed
			return sqlguard.Token{Kind: sqlguard.TokenTerminator, Start: start, End: l.at}, true
		}
		kind, n := l.scan(start)
		l.at = start + n
		if kind == skip {
			continue
		}
		if kind != sqlguard.TokenComment {
			kind = l.advance(kind, start)
		}
		return sqlguard.Token{Kind: kind, Start: start, End: l.at}, true
	}
	return sqlguard.Token{}, false
}

// skip is the kind of white space. It never leaves the lexer.
const skip sqlguard.TokenKind = 255

// advance moves the state of sqlite3_complete over one token, and returns the
// token's kind in that state.
func (l *lexer) advance(kind sqlguard.TokenKind, start int) sqlguard.TokenKind {
	if kind == sqlguard.TokenTerminator {
		if l.state == lexTrigger || l.state == lexSemi {
			l.state = lexSemi
			return sqlguard.TokenOperator
		}
		l.state = lexStart
		return kind
	}
	switch l.state {
	case lexNormal:
	case lexStart, lexExplain:
		if kind == sqlguard.TokenClientCommand {
			l.command = true
			return kind
		}
		word := ""
		if kind == sqlguard.TokenWord {
			word = l.text[start:l.at]
		}
		switch {
		case strings.EqualFold(word, "create"):
			l.state = lexCreate
		case l.state == lexExplain && !strings.EqualFold(word, "explain"):
			// EXPLAIN [QUERY PLAN] and everything up to CREATE.
			if isCompleteKeyword(word) {
				l.state = lexNormal
			}
		case strings.EqualFold(word, "explain") && l.state == lexStart:
			l.state = lexExplain
		default:
			l.state = lexNormal
		}
	case lexCreate:
		word := ""
		if kind == sqlguard.TokenWord {
			word = l.text[start:l.at]
		}
		switch {
		case strings.EqualFold(word, "temp") || strings.EqualFold(word, "temporary"):
		case strings.EqualFold(word, "trigger"):
			l.state = lexTrigger
		default:
			l.state = lexNormal
		}
	case lexTrigger, lexEnd:
		l.state = lexTrigger
	case lexSemi:
		l.state = lexTrigger
		if kind == sqlguard.TokenWord && strings.EqualFold(l.text[start:l.at], "end") {
			l.state = lexEnd
		}
	}
	return kind
}

// isCompleteKeyword reports whether a word, other than CREATE and EXPLAIN, has
// a column of its own in the table of sqlite3_complete.
func isCompleteKeyword(word string) bool {
	switch strings.ToLower(word) {
	case "temp", "temporary", "trigger", "end":
		return true
	default:
		return false
	}
}

// byteAt returns the byte at i, or 0 after the end, as in a C string.
func (l *lexer) byteAt(i int) byte {
	if i < len(l.text) {
		return l.text[i]
	}
	return 0
}

// scan returns the kind and length of the token at i. A terminator is any
// semicolon here.
func (l *lexer) scan(i int) (sqlguard.TokenKind, int) {
	text := l.text
	switch c := text[i]; c {
	case ' ', '\t', '\n', '\f', '\r':
		n := 1
		for i+n < len(text) && isSpace(text[i+n]) {
			n++
		}
		return skip, n
	case '(':
		return sqlguard.TokenOpen, 1
	case ')':
		return sqlguard.TokenClose, 1
	case ',':
		return sqlguard.TokenComma, 1
	case ';':
		return sqlguard.TokenTerminator, 1
	case '+', '*', '%', '&', '~':
		return sqlguard.TokenOperator, 1
	case '-':
		switch l.byteAt(i + 1) {
		case '-':
			return sqlguard.TokenComment, lineLength(text[i:])
		case '>':
			if l.byteAt(i+2) == '>' {
				return sqlguard.TokenOperator, 3
			}
			return sqlguard.TokenOperator, 2
		}
		return sqlguard.TokenOperator, 1
	case '/':
		// A comment needs a byte after its start; without an end it runs to
		// the end of the text.
		if l.byteAt(i+1) != '*' || i+2 >= len(text) {
			return sqlguard.TokenOperator, 1
		}
		if end := strings.Index(text[i+2:], "*/"); end >= 0 {
			return sqlguard.TokenComment, end + 4
		}
		return sqlguard.TokenComment, len(text) - i
	case '=':
		return sqlguard.TokenOperator, 1 + l.follows(i+1, "=")
	case '<':
		return sqlguard.TokenOperator, 1 + l.follows(i+1, "=><")
	case '>':
		return sqlguard.TokenOperator, 1 + l.follows(i+1, "=>")
	case '|':
		return sqlguard.TokenOperator, 1 + l.follows(i+1, "|")
	case '!':
		if l.byteAt(i+1) == '=' {
			return sqlguard.TokenOperator, 2
		}
		return sqlguard.TokenInvalid, 1
	case '\'':
		return l.quoted(i, sqlguard.TokenString)
	case '"':
		return l.quoted(i, sqlguard.TokenQuotedText)
	case '`':
		return l.quoted(i, sqlguard.TokenQuotedName)
	case '[':
		if end := strings.IndexByte(text[i:], ']'); end >= 0 {
			return sqlguard.TokenQuotedName, end + 1
		}
		return sqlguard.TokenUnterminated, len(text) - i
	case '.':
		next := l.byteAt(i + 1)
		if isDigit(next) {
			return sqlguard.TokenNumber, l.number(i)
		}
		if l.state == lexStart && isLetter(next) {
			return sqlguard.TokenClientCommand, lineLength(text[i:])
		}
		return sqlguard.TokenDot, 1
	case '?':
		n := 1
		for isDigit(l.byteAt(i + n)) {
			n++
		}
		return sqlguard.TokenParameter, n
	case '$', '@', '#', ':':
		return l.parameter(i)
	case 'x', 'X':
		if l.byteAt(i+1) == '\'' {
			if end := strings.IndexByte(text[i+2:], '\''); end >= 0 {
				return sqlguard.TokenString, end + 3
			}
			return sqlguard.TokenUnterminated, len(text) - i
		}
		return sqlguard.TokenWord, l.word(i)
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return sqlguard.TokenNumber, l.number(i)
	case 0xEF:
		if strings.HasPrefix(text[i:], "\uFEFF") {
			return skip, 3
		}
		return sqlguard.TokenWord, l.word(i)
	default:
		if isNameByte(c) {
			return sqlguard.TokenWord, l.word(i)
		}
		return sqlguard.TokenInvalid, 1
	}
}

// follows returns 1 when the byte at i is one of set.
func (l *lexer) follows(i int, set string) int {
	if i < len(l.text) && strings.IndexByte(set, l.text[i]) >= 0 {
		return 1
	}
	return 0
}

// word returns the length of the run of name bytes at i.
func (l *lexer) word(i int) int {
	n := 1
	for i+n < len(l.text) && isNameByte(l.text[i+n]) {
		n++
	}
	return n
}

// quoted scans from the quote at i to its end; a doubled quote is a quote.
func (l *lexer) quoted(i int, kind sqlguard.TokenKind) (sqlguard.TokenKind, int) {
	quote := l.text[i]
	for at := i + 1; ; {
		end := strings.IndexByte(l.text[at:], quote)
		if end < 0 {
			return sqlguard.TokenUnterminated, len(l.text) - i
		}
		at += end + 1
		if l.byteAt(at) != quote {
			return kind, at - i
		}
		at++
	}
}

// number returns the length of the number at i. Name bytes directly after it belong to it,
// and SQLite then refuses the token.
func (l *lexer) number(i int) int {
	n := 0
	digits := func(is func(byte) bool) {
		for c := l.byteAt(i + n); is(c) || c == '_'; c = l.byteAt(i + n) {
			n++
		}
	}
	if l.text[i] == '0' && l.byteAt(i+1)|0x20 == 'x' && isHex(l.byteAt(i+2)) {
		n = 2
		digits(isHex)
	} else {
		digits(isDigit)
		if l.byteAt(i+n) == '.' {
			n++
			digits(isDigit)
		}
		if l.byteAt(i+n)|0x20 == 'e' {
			sign := 0
			if c := l.byteAt(i + n + 1); c == '+' || c == '-' {
				sign = 1
			}
			if isDigit(l.byteAt(i + n + 1 + sign)) {
				n += 1 + sign
				digits(isDigit)
			}
		}
	}
	for i+n < len(l.text) && isNameByte(l.text[i+n]) {
		n++
	}
	return n
}

// parameter scans :name, @name, $name and #1, with the suffixes "::" and
// "(…)" that SQLite takes after a name.
func (l *lexer) parameter(i int) (sqlguard.TokenKind, int) {
	named := false
	n := 1
scan:
	for i+n < len(l.text) {
		switch c := l.text[i+n]; {
		case isNameByte(c):
			named = true
			n++
		case c == '(' && named:
			for n++; i+n < len(l.text) && !isSpace(l.text[i+n]); n++ {
				if l.text[i+n] == ')' {
					return sqlguard.TokenParameter, n + 1
				}
			}
			return sqlguard.TokenUnterminated, n
		case c == ':' && l.byteAt(i+n+1) == ':':
			n += 2
		default:
			break scan
		}
	}
	if !named {
		return sqlguard.TokenInvalid, n
	}
	return sqlguard.TokenParameter, n
}

// lineLength returns the length of the first line, without its end.
func lineLength(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

func isSpace(c byte) bool  { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isHex(c byte) bool    { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isNameByte(c byte) bool { return nameBytes[c] }

// nameBytes are the bytes of SQLite's IdChar: letters, digits, _, $ and
// everything beyond ASCII.
var nameBytes = func() (t [256]bool) {
	for c := range t {
		b := byte(c)
		t[c] = isLetter(b) || isDigit(b) || b == '_' || b == '$' || b >= 0x80
	}
	return t
}()
