package bigquery

import (
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// lexer splits a text by the rules of GoogleSQL. Reference: Lexical structure and syntax.
// It returns an invalid token for what a reader could take for something else: a name
// between backquotes with an escape, a carriage return in a string of one line, a wide
// space, and a macro.
type lexer struct {
	text string
	at   int
	// before are the last two tokens that are no comments. They decide whether digits
	// after a dot are a name, as in t.1.
	before [2]sqlguard.Token
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}
func isHex(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// spaces are the characters outside of ASCII that GoogleSQL reads as white space, and the
// lexer as invalid.
var spaces = []string{
	"\u00a0", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u202f", "\u205f", "\u3000",
}

func wideSpace(text string) int { return lexical.Begins(text, spaces) }

// next returns the next token, and false at the end of the text.
func (l *lexer) next() (sqlguard.Token, bool) {
	for l.at < len(l.text) && isSpace(l.text[l.at]) {
		l.at++
	}
	if l.at >= len(l.text) {
		return sqlguard.Token{}, false
	}
	start := l.at
	kind := l.scan()
	t := sqlguard.Token{Kind: kind, Start: start, End: l.at}
	if kind != sqlguard.TokenComment && kind != sqlguard.TokenExecutableComment {
		l.before[0], l.before[1] = l.before[1], t
	}
	return t, true
}

// scan reads one token, of which at least one byte is left.
func (l *lexer) scan() sqlguard.TokenKind {
	rest := l.text[l.at:]
	c := rest[0]
	switch {
	case c == '#':
		return l.line(1)
	case strings.HasPrefix(rest, "--"):
		return l.line(2)
	case strings.HasPrefix(rest, "/*"):
		if n := strings.Index(rest[2:], "*/"); n >= 0 {
			l.at += n + 4
			return sqlguard.TokenComment
		}
		l.at = len(l.text)
		return sqlguard.TokenUnterminated
	case c == '\'' || c == '"':
		return l.quoted()
	case c == '`':
		return l.name()
	case isWord(c):
		return l.word()
	case isDigit(c) && l.afterPathDot():
		l.skipWord()
		return sqlguard.TokenWord
	case isDigit(c) || c == '.' && l.decimal(l.at+1) && !endsPath(l.text, l.before[1]):
		return l.number()
	case c == '@':
		return l.variable()
	case c == '$':
		l.at++
		if l.at < len(l.text) && (isWord(l.text[l.at]) || isDigit(l.text[l.at]) || l.text[l.at] == '$') {
			l.at++
			l.skipWord()
			return sqlguard.TokenInvalid
		}
		return sqlguard.TokenOperator
	case wideSpace(rest) > 0:
		l.at += wideSpace(rest)
		return sqlguard.TokenInvalid
	case c >= utf8.RuneSelf:
		_, n := utf8.DecodeRuneInString(rest)
		l.at += n
		return sqlguard.TokenInvalid
	}
	return l.sign(c)
}

// line reads a comment to the end of its line. The mark #legacySQL makes BigQuery read the
// text in another language.
func (l *lexer) line(mark int) sqlguard.TokenKind {
	rest := l.text[l.at:]
	if n := strings.IndexAny(rest, "\r\n"); n >= 0 {
		rest = rest[:n]
	}
	l.at += len(rest)
	const legacy = "legacysql"
	if text := strings.TrimLeft(rest[mark:], " \t"); rest[0] == '#' && len(text) >= len(legacy) && strings.EqualFold(text[:len(legacy)], legacy) {
		return sqlguard.TokenExecutableComment
	}
	return sqlguard.TokenComment
}

func (l *lexer) skipWord() {
	for l.at < len(l.text) && (isWord(l.text[l.at]) || isDigit(l.text[l.at])) {
		l.at++
	}
}

// word reads a name, or the prefix of a string and the string.
func (l *lexer) word() sqlguard.TokenKind {
	start := l.at
	l.skipWord()
	if l.at < len(l.text) && (l.text[l.at] == '\'' || l.text[l.at] == '"') {
		switch lexical.Lower(l.text[start:l.at]) {
		case "r", "b", "rb", "br":
			return l.quoted()
		}
	}
	return sqlguard.TokenWord
}

// quoted reads a string between quotes, single or three of a kind. A backslash protects the
// character behind it, in raw strings too.
func (l *lexer) quoted() sqlguard.TokenKind {
	mark := l.text[l.at : l.at+1]
	if three := strings.Repeat(mark, 3); strings.HasPrefix(l.text[l.at:], three) {
		mark = three
	}
	kind := sqlguard.TokenString
	for l.at += len(mark); l.at < len(l.text); {
		switch c := l.text[l.at]; {
		case c == '\\':
			l.at = min(l.at+2, len(l.text))
		case strings.HasPrefix(l.text[l.at:], mark):
			l.at += len(mark)
			return kind
		case c == '\n' && len(mark) == 1:
			return sqlguard.TokenUnterminated
		case c == '\r' && len(mark) == 1:
			kind = sqlguard.TokenInvalid
			l.at++
		default:
			l.at++
		}
	}
	return sqlguard.TokenUnterminated
}

// name reads a name between backquotes.
func (l *lexer) name() sqlguard.TokenKind {
	start := l.at
	kind := sqlguard.TokenQuotedName
	for l.at++; l.at < len(l.text); l.at++ {
		switch l.text[l.at] {
		case '\\':
			kind = sqlguard.TokenInvalid
			l.at = min(l.at+1, len(l.text)-1)
		case '\n', '\r':
			return sqlguard.TokenUnterminated
		case '`':
			l.at++
			if l.at == start+2 {
				return sqlguard.TokenInvalid
			}
			return kind
		}
	}
	return sqlguard.TokenUnterminated
}

// variable reads a parameter, a system variable or the sign of a hint.
func (l *lexer) variable() sqlguard.TokenKind {
	l.at++
	kind := sqlguard.TokenOperator
	if l.at < len(l.text) && l.text[l.at] == '@' {
		l.at++
	} else if l.at < len(l.text) && isWord(l.text[l.at]) {
		kind = sqlguard.TokenParameter
	}
	if l.at < len(l.text) && isWord(l.text[l.at]) {
		l.skipWord()
	}
	return kind
}

func (l *lexer) sign(c byte) sqlguard.TokenKind {
	rest := l.text[l.at:]
	for _, s := range []string{"!=", "<>", "<=", ">=", "<<", ">>", "||", "->", "=>", "|>"} {
		if strings.HasPrefix(rest, s) {
			l.at += 2
			return sqlguard.TokenOperator
		}
	}
	l.at++
	switch c {
	case '(', '[', '{':
		return sqlguard.TokenOpen
	case ')', ']', '}':
		return sqlguard.TokenClose
	case ',':
		return sqlguard.TokenComma
	case ';':
		return sqlguard.TokenTerminator
	case '.':
		return sqlguard.TokenDot
	case '?':
		return sqlguard.TokenParameter
	}
	if strings.IndexByte("+-*/%=<>&|^~:", c) >= 0 {
		return sqlguard.TokenOperator
	}
	return sqlguard.TokenInvalid
}

// afterPathDot reports whether the last token is a dot that continues a path.
func (l *lexer) afterPathDot() bool {
	return l.before[1].Kind == sqlguard.TokenDot && endsPath(l.text, l.before[0])
}

// endsPath reports whether a dot after a token continues a path.
func endsPath(text string, t sqlguard.Token) bool {
	switch t.Kind { //nolint:exhaustive // the others end none
	case sqlguard.TokenWord:
		return !reserved[lexical.Lower(t.Text(text))]
	case sqlguard.TokenQuotedName, sqlguard.TokenParameter:
		return true
	case sqlguard.TokenClose:
		return t.Text(text) != "}"
	case sqlguard.TokenOperator:
		return t.End-t.Start > 2 && text[t.Start] == '@'
	default:
		return false
	}
}

// hexadecimal returns the length of a hexadecimal number at i, or 0.
func (l *lexer) hexadecimal(i int) int {
	if i+2 >= len(l.text) || l.text[i] != '0' || l.text[i+1]|0x20 != 'x' || !isHex(l.text[i+2]) {
		return 0
	}
	n := 3
	for i+n < len(l.text) && isHex(l.text[i+n]) {
		n++
	}
	return n
}

// decimal reports whether a decimal number begins at i.
func (l *lexer) decimal(i int) bool {
	return i < len(l.text) && isDigit(l.text[i]) && l.hexadecimal(i) == 0
}

func (l *lexer) digits() {
	for l.at < len(l.text) && isDigit(l.text[l.at]) {
		l.at++
	}
}

// number reads a number. What follows it directly is another token, as in 1a.
func (l *lexer) number() sqlguard.TokenKind {
	if n := l.hexadecimal(l.at); n > 0 {
		l.at += n
		return sqlguard.TokenNumber
	}
	l.digits()
	if l.at < len(l.text) && l.text[l.at] == '.' {
		l.at++
		if l.hexadecimal(l.at) == 0 {
			l.digits()
		}
	}
	if l.at < len(l.text) && l.text[l.at]|0x20 == 'e' {
		switch next := l.at + 1; {
		case next < len(l.text) && isDigit(l.text[next]):
			for next < len(l.text) && isDigit(l.text[next]) {
				next++
			}
			if next == len(l.text) || !isWord(l.text[next]) {
				l.at = next
			}
		case next < len(l.text) && (l.text[next] == '+' || l.text[next] == '-') && l.decimal(next+1):
			l.at = next + 1
			l.digits()
		}
	}
	return sqlguard.TokenNumber
}
