package sqlserver

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// token is one token with the word that it spells, if that is one of the
// grammar's and not quoted.
type token struct {
	kind       sqlguard.TokenKind
	word       *word
	start, end int
}

// lexer splits text by the lexical rules of Transact-SQL. It reads forward
// only, and each byte a bounded number of times.
//
// Reference: Constants (Transact-SQL), Database Identifiers, Comment
// (Transact-SQL), Slash Star (Block Comment), Backslash (Line Continuation).
type lexer struct {
	text string
	at   int
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
	switch c := l.text[i]; c {
	case ' ', '\t', '\n', '\r', '\f', '\v':
		n := 1
		for i+n < len(l.text) && isSpace(l.text[i+n]) {
			n++
		}
		return skip, n
	case '(', '{':
		return sqlguard.TokenOpen, 1
	case ')', '}':
		return sqlguard.TokenClose, 1
	case ',':
		return sqlguard.TokenComma, 1
	case ';':
		return sqlguard.TokenTerminator, 1
	case '\'':
		return l.quoted(i, 0, '\'', sqlguard.TokenString)
	case '"':
		return l.quoted(i, 0, '"', sqlguard.TokenQuotedName)
	case '[':
		return l.quoted(i, 0, ']', sqlguard.TokenQuotedName)
	case '-':
		if l.byteAt(i+1) == '-' {
			// The first form of ODBC's escapes is --(*vendor(…) … *)--. Other
			// programs read it as a comment.
			if strings.HasPrefix(strings.TrimLeft(l.text[i+2:min(i+16, len(l.text))], " \t"), "(*") {
				return sqlguard.TokenExecutableComment, lineLength(l.text[i:])
			}
			return sqlguard.TokenComment, lineLength(l.text[i:])
		}
	case '/':
		if l.byteAt(i+1) == '*' {
			return l.block(i)
		}
	case '.':
		if !isDigit(l.byteAt(i + 1)) {
			return sqlguard.TokenDot, 1
		}
		return l.number(i)
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return l.number(i)
	case '$':
		return l.dollar(i)
	case '@':
		return l.variable(i)
	case ':':
		if l.byteAt(i+1) == ':' {
			return sqlguard.TokenOperator, 2
		}
		if n := l.wordLength(i); clientCommands[lexical.Lower(l.text[i+1:i+n])] && l.lineStart(i) {
			return sqlguard.TokenClientCommand, lineLength(l.text[i:])
		}
		return sqlguard.TokenOperator, 1
	case '!':
		if l.byteAt(i+1) == '!' && l.lineStart(i) {
			return sqlguard.TokenClientCommand, lineLength(l.text[i:])
		}
	case 'n', 'N':
		if l.byteAt(i+1) == '\'' {
			return l.quoted(i, 1, '\'', sqlguard.TokenString)
		}
	case 'g', 'G':
		if n := l.separator(i); n > 0 {
			return sqlguard.TokenClientCommand, n
		}
	}
	if n := l.operator(i); n > 0 {
		return sqlguard.TokenOperator, n
	}
	return l.word(i)
}

// clientCommands are the commands of sqlcmd that follow a colon at the start of
// a line. Reference: sqlcmd utility, "sqlcmd commands".
var clientCommands = lexical.Set("connect ed error exit help list listvar on out perftrace quit r reset serverlist setvar xml")

// operator returns the length of the operator at i. The parser also reads
// operators of several characters with white space between these, as the server
// does.
func (l *lexer) operator(i int) int {
	next := l.byteAt(i + 1)
	switch l.text[i] {
	case '<':
		if next == '=' || next == '>' || next == '<' {
			return 2
		}
		return 1
	case '>':
		if next == '=' || next == '>' {
			return 2
		}
		return 1
	case '!':
		if next == '=' || next == '<' || next == '>' {
			return 2
		}
		return 1
	case '|':
		if next == '|' {
			return 2
		}
		return 1
	case '=', '+', '-', '*', '/', '%', '&', '^', '~':
		return 1
	default:
		return 0
	}
}

// quoted scans a literal or name whose opening quote is prefix bytes after i. A
// doubled closing quote is part of the content.
func (l *lexer) quoted(i, prefix int, quote byte, kind sqlguard.TokenKind) (sqlguard.TokenKind, int) {
	for at := i + prefix + 1; ; {
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

// number scans an integer, decimal, float or binary literal at i. Letters directly after it
// are a separate word: 1a is 1 with the alias a. If the first letter could be part of the
// literal or of the word, as in 0xDELETE and 1exec, the token is invalid.
func (l *lexer) number(i int) (sqlguard.TokenKind, int) {
	if l.text[i] == '0' && l.byteAt(i+1)|0x20 == 'x' {
		n := l.binary(i)
		if l.touches(i + n) {
			return sqlguard.TokenInvalid, n
		}
		return sqlguard.TokenNumber, n
	}
	n := l.digits(i)
	if l.byteAt(i+n) == '.' {
		n++
		n += l.digits(i + n)
	}
	if l.byteAt(i+n)|0x20 == 'e' {
		n++ // the sign and the digits may be missing: 1e and 1e+ are 1
		if c := l.byteAt(i + n); c == '+' || c == '-' {
			n++
		}
		n += l.digits(i + n)
		if l.text[i+n-1]|0x20 == 'e' && l.touches(i+n) {
			return sqlguard.TokenInvalid, n
		}
	}
	return sqlguard.TokenNumber, n
}

// touches reports whether a character of a word is at i.
func (l *lexer) touches(i int) bool {
	return i < len(l.text) && (l.text[i] >= utf8.RuneSelf || nameBytes[l.text[i]])
}

// binary returns the length of the binary literal at i. A backslash at the end
// of a line continues it on the next.
func (l *lexer) binary(i int) int {
	n := 2
	for {
		switch c := l.byteAt(i + n); {
		case isHex(c):
			n++
		case c == '\\' && l.byteAt(i+n+1) == '\n':
			n += 2
		case c == '\\' && l.byteAt(i+n+1) == '\r' && l.byteAt(i+n+2) == '\n':
			n += 3
		default:
			return n
		}
	}
}

func (l *lexer) digits(i int) int {
	n := 0
	for isDigit(l.byteAt(i + n)) {
		n++
	}
	return n
}

// dollar scans a token that begins with a dollar sign: a pseudo-column such as $IDENTITY,
// or a money literal. $(name) is a variable of sqlcmd, not SQL.
func (l *lexer) dollar(i int) (sqlguard.TokenKind, int) {
	switch c := l.byteAt(i + 1); {
	case c == '(':
		return sqlguard.TokenInvalid, 2
	case isLetter(c) || c == '_':
		return sqlguard.TokenWord, 1 + l.wordLength(i+1)
	default:
		return l.money(i, 1)
	}
}

// money scans a money literal whose currency symbol has size bytes. Spaces may
// follow the symbol.
func (l *lexer) money(i, size int) (sqlguard.TokenKind, int) {
	n := size
	for l.byteAt(i+n) == ' ' || l.byteAt(i+n) == '\t' {
		n++
	}
	if c := l.byteAt(i + n); !isDigit(c) && (c != '.' || !isDigit(l.byteAt(i+n+1))) {
		return sqlguard.TokenNumber, size
	}
	n += l.digits(i + n)
	if l.byteAt(i+n) == '.' {
		n++
		n += l.digits(i + n)
	}
	return sqlguard.TokenNumber, n
}

// variable scans @name, a parameter or variable, and @@name, a function.
func (l *lexer) variable(i int) (sqlguard.TokenKind, int) {
	n := l.wordLength(i)
	if n > 2 && l.text[i+1] == '@' {
		return sqlguard.TokenWord, n
	}
	return sqlguard.TokenParameter, n
}

// word scans an unquoted identifier or keyword.
func (l *lexer) word(i int) (sqlguard.TokenKind, int) {
	r, size := utf8.DecodeRuneInString(l.text[i:])
	switch {
	case isCurrency(r):
		return l.money(i, size)
	case !startsWord(r):
		return sqlguard.TokenInvalid, size
	default:
		return sqlguard.TokenWord, l.wordLength(i)
	}
}

// wordLength returns the length of the run of identifier characters at i. It does not check
// the first one.
func (l *lexer) wordLength(i int) int {
	at := i + 1
	if l.text[i] >= utf8.RuneSelf {
		_, n := utf8.DecodeRuneInString(l.text[i:])
		at = i + n
	}
	for at < len(l.text) {
		c := l.text[at]
		if c < utf8.RuneSelf {
			if !nameBytes[c] {
				break
			}
			at++
			continue
		}
		r, n := utf8.DecodeRuneInString(l.text[at:])
		if !startsWord(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			break
		}
		at += n
	}
	return at - i
}

// lineStart reports whether there is only white space before i on its line, or
// between i and a terminator.
func (l *lexer) lineStart(i int) bool {
	for i--; i >= 0 && l.text[i] != '\n' && l.text[i] != ';'; i-- {
		if !isSpace(l.text[i]) {
			return false
		}
	}
	return true
}

// separator returns the length of GO [count] at i when it is alone on its line.
// Command line clients end a batch there; servers do not know the word.
func (l *lexer) separator(i int) int {
	if l.byteAt(i+1)|0x20 != 'o' || !l.lineStart(i) {
		return 0
	}
	blanks := func(at int) int {
		for c := l.byteAt(at); c == ' ' || c == '\t'; c = l.byteAt(at) {
			at++
		}
		return at
	}
	end := i + 2
	if at := blanks(end); at > end && isDigit(l.byteAt(at)) {
		end = at + l.digits(at)
	}
	switch at := blanks(end); {
	case at == len(l.text), l.text[at] == '\n', l.text[at] == '\r':
		return end - i
	case l.text[at] == ';':
		return at + 1 - i
	case l.text[at] == '-' && l.byteAt(at+1) == '-':
		return at + len(strings.TrimRight(l.text[at:at+lineLength(l.text[at:])], " \t\r")) - i
	default:
		return 0
	}
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

// nameBytes are the ASCII characters that an identifier may have after its
// first one.
var nameBytes = func() (t [256]bool) {
	for c := range 128 {
		b := byte(c)
		t[c] = isLetter(b) || isDigit(b) || strings.IndexByte("_@#$", b) >= 0
	}
	return t
}()

func startsWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || r == '#' || r == '@' || 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return r != utf8.RuneError && unicode.IsLetter(r)
}

// isCurrency reports whether r begins a money literal, as $ does. Reference:
// Use of currency symbols in money and smallmoney (Transact-SQL).
func isCurrency(r rune) bool {
	switch {
	case r >= 0xA2 && r <= 0xA5, r == 0x9F2, r == 0x9F3, r == 0xE3F, r == 0x17DB, r >= 0x20A0 && r <= 0x20B1,
		r == 0xFDFC, r == 0xFE69, r == 0xFF04, r == 0xFFE0, r == 0xFFE1, r == 0xFFE5, r == 0xFFE6:
		return true
	default:
		return false
	}
}
