package duckdb

import (
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// lexer splits a text by the rules of scan.l of DuckDB 1.5 and base_tokenizer.cpp of
// DuckDB 2.0. Where the two differ, it returns an invalid token: for a backtick, which
// quotes a name in 2.0, for U&'…', and for a word that follows a number directly. A
// string that continues after a line break in 1.5 is two tokens here, which no statement
// of 2.0 may have in a row.
type lexer struct {
	text string
	at   int
	// signs is where a run of + and - ends that was read before. Each of them is a token.
	signs int
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

// spaces are the characters outside of ASCII that DuckDB reads as white space, and the
// lexer as invalid.
var spaces = []string{
	"\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
	"\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
}

func wideSpace(text string) int { return lexical.Begins(text, spaces) }

// next returns the next token, and false at the end of the text.
func (l *lexer) next() (sqlguard.Token, bool) {
	for l.at < len(l.text) && isSpace(l.text[l.at]) {
		l.at++
	}
	if l.at == len(l.text) {
		return sqlguard.Token{}, false
	}
	start := l.at
	kind := l.scan()
	return sqlguard.Token{Kind: kind, Start: start, End: l.at}, true
}

// scan reads one token, of which at least one byte is left.
func (l *lexer) scan() sqlguard.TokenKind {
	rest := l.text[l.at:]
	c := rest[0]
	switch {
	case strings.HasPrefix(rest, "--"):
		if n := strings.IndexAny(rest, "\r\n"); n >= 0 {
			l.at += n
		} else {
			l.at = len(l.text)
		}
		return sqlguard.TokenComment
	case strings.HasPrefix(rest, "/*"):
		return l.comment()
	case c == '\'':
		return l.quoted('\'', false, sqlguard.TokenString)
	case c == '"':
		return l.quoted('"', false, sqlguard.TokenQuotedName)
	case len(rest) > 1 && rest[1] == '\'' && strings.IndexByte("eExXbBnN", c) >= 0:
		l.at++
		return l.quoted('\'', c == 'e' || c == 'E', sqlguard.TokenString)
	case len(rest) > 2 && (c == 'u' || c == 'U') && rest[1] == '&' && (rest[2] == '\'' || rest[2] == '"'):
		l.at++
		return sqlguard.TokenInvalid
	case c == '$':
		return l.dollar()
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return l.number()
	case wideSpace(rest) > 0:
		l.at += wideSpace(rest)
		return sqlguard.TokenInvalid
	case isWord(c):
		return l.word()
	}
	return l.sign(c)
}

func (l *lexer) word() sqlguard.TokenKind {
	for l.at < len(l.text) {
		c := l.text[l.at]
		if !isWord(c) && !isDigit(c) && c != '$' || c >= utf8.RuneSelf && wideSpace(l.text[l.at:]) > 0 {
			break
		}
		l.at++
	}
	return sqlguard.TokenWord
}

func (l *lexer) sign(c byte) sqlguard.TokenKind {
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
		for l.at < len(l.text) && isDigit(l.text[l.at]) {
			l.at++
		}
		return sqlguard.TokenParameter
	case '#':
		return sqlguard.TokenOperator
	case ':':
		if l.at < len(l.text) && (l.text[l.at] == ':' || l.text[l.at] == '=') {
			l.at++
		}
		return sqlguard.TokenOperator
	}
	if strings.IndexByte(operators, c) < 0 {
		return sqlguard.TokenInvalid
	}
	if l.at <= l.signs {
		return sqlguard.TokenOperator
	}
	l.at--
	start := l.at
	special := false
	for l.at < len(l.text) && strings.IndexByte(operators, l.text[l.at]) >= 0 {
		rest := l.text[l.at:]
		if l.at > start && (strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "/*")) {
			break
		}
		special = special || strings.IndexByte("~!@%^&|", rest[0]) >= 0
		l.at++
	}
	// An operator ends in + or - only if it has one of the special characters.
	for l.signs = l.at; !special && l.at > start+1 && (l.text[l.at-1] == '+' || l.text[l.at-1] == '-'); {
		l.at--
	}
	return sqlguard.TokenOperator
}

const operators = "+-*/%^<>=~!@&|"

// comment reads a comment; comments nest.
func (l *lexer) comment() sqlguard.TokenKind {
	depth := 0
	for l.at < len(l.text) {
		switch rest := l.text[l.at:]; {
		case strings.HasPrefix(rest, "/*"):
			depth++
			l.at += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			l.at += 2
			if depth == 0 {
				return sqlguard.TokenComment
			}
		default:
			l.at++
		}
	}
	return sqlguard.TokenUnterminated
}

// quoted reads a text between quotes, in which a doubled quote stands for one. The
// cursor is on the first quote.
func (l *lexer) quoted(quote byte, escapes bool, kind sqlguard.TokenKind) sqlguard.TokenKind {
	for l.at++; l.at < len(l.text); l.at++ {
		switch c := l.text[l.at]; {
		case c == 0:
			l.at++
			return sqlguard.TokenInvalid // DuckDB 1.5 ends the text here
		case c == '\\' && escapes:
			l.at++
		case c != quote:
		case l.at+1 < len(l.text) && l.text[l.at+1] == quote:
			l.at++
		default:
			l.at++
			return kind
		}
	}
	l.at = len(l.text)
	return sqlguard.TokenUnterminated
}

// dollar reads a parameter or a string between dollar signs.
func (l *lexer) dollar() sqlguard.TokenKind {
	rest := l.text[l.at:]
	n := 1
	for n < len(rest) && (isWord(rest[n]) || isDigit(rest[n])) {
		n++
	}
	tag := rest[1:n]
	if n < len(rest) && rest[n] == '$' && (tag == "" || !isDigit(tag[0])) {
		mark := rest[:n+1]
		if wideInside(mark) {
			l.at++
			return sqlguard.TokenInvalid
		}
		end := strings.Index(rest[n+1:], mark)
		if end < 0 {
			l.at = len(l.text)
			return sqlguard.TokenUnterminated
		}
		l.at += n + 1 + end + len(mark)
		return sqlguard.TokenString
	}
	if tag == "" {
		l.at++
		return sqlguard.TokenInvalid
	}
	l.at += n
	return sqlguard.TokenParameter
}

// wideInside reports whether a text has a character that is white space to DuckDB.
func wideInside(text string) bool {
	for i := range text {
		if wideSpace(text[i:]) > 0 {
			return true
		}
	}
	return false
}

// number reads a number: digits with underscores between them, a fraction, an exponent.
func (l *lexer) number() sqlguard.TokenKind {
	digits := func() {
		for l.at < len(l.text) && (isDigit(l.text[l.at]) || l.text[l.at] == '_' && l.at+1 < len(l.text) && isDigit(l.text[l.at+1]) && isDigit(l.text[l.at-1])) {
			l.at++
		}
	}
	digits()
	if l.at < len(l.text) && l.text[l.at] == '.' {
		l.at++
		digits()
	}
	if l.at < len(l.text) && (l.text[l.at] == 'e' || l.text[l.at] == 'E') {
		next := l.at + 1
		if next < len(l.text) && (l.text[next] == '+' || l.text[next] == '-') {
			next++
		}
		if next < len(l.text) && isDigit(l.text[next]) {
			l.at = next
			digits()
		}
	}
	if l.at < len(l.text) && (isWord(l.text[l.at]) || l.text[l.at] == '.' || l.text[l.at] == '$') && wideSpace(l.text[l.at:]) == 0 {
		l.word()
		return sqlguard.TokenInvalid
	}
	return sqlguard.TokenNumber
}
