package tdsserver

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind int

const (
	kindEnd      kind = iota
	kindName          // a name or a keyword; text is upper case unless quoted
	kindVariable      // @x or @@x
	kindInteger
	kindDecimal
	kindFloat
	kindString  // '…'
	kindNString // N'…'
	kindBinary  // 0x…
	kindSign
)

// word is one token.
type word struct {
	kind   kind
	text   string // as written, without quotes
	upper  string // of a name that is not quoted, or of a variable
	line   int32
	at     int // the offset of its first byte
	end    int
	quoted bool
}

// lex splits a text into tokens. A name in double quotes is a name, as under
// QUOTED_IDENTIFIER ON.
func lex(text string) ([]word, *ServerError) {
	l := &lexer{text: text, line: 1}
	var words []word
	for {
		if err := l.space(); err != nil {
			return nil, err
		}
		w := word{at: l.i, line: l.line}
		if l.i == len(text) {
			w.end = l.i
			return append(words, w), nil
		}
		if err := l.word(&w); err != nil {
			return nil, err
		}
		w.end = l.i
		words = append(words, w)
	}
}

type lexer struct {
	text string
	i    int
	line int32
}

func (l *lexer) peek(n int) byte {
	if l.i+n < len(l.text) {
		return l.text[l.i+n]
	}
	return 0
}

// unclosed is the server's error 105 or 113.
func (l *lexer) unclosed(number int32, what string) *ServerError {
	return &ServerError{Number: number, State: 1, Class: 15, Line: l.line, Message: what}
}

// space skips white space and comments. Comments between /* and */ can be
// nested.
func (l *lexer) space() *ServerError {
	for l.i < len(l.text) {
		switch c := l.text[l.i]; {
		case c == '\n':
			l.line++
			l.i++
		case c == ' ' || c == '\t' || c == '\r':
			l.i++
		case c == '-' && l.peek(1) == '-':
			for l.i < len(l.text) && l.text[l.i] != '\n' {
				l.i++
			}
		case c == '/' && l.peek(1) == '*':
			depth := 0
			for {
				switch {
				case l.i >= len(l.text):
					return l.unclosed(113, "Missing end comment mark '*/'.")
				case l.text[l.i] == '/' && l.peek(1) == '*':
					depth++
					l.i += 2
				case l.text[l.i] == '*' && l.peek(1) == '/':
					depth--
					l.i += 2
				default:
					if l.text[l.i] == '\n' {
						l.line++
					}
					l.i++
				}
				if depth == 0 {
					break
				}
			}
		default:
			return nil
		}
	}
	return nil
}

func isNamePart(r rune) bool {
	return r == '_' || r == '@' || r == '#' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func (l *lexer) word(w *word) *ServerError {
	c := l.text[l.i]
	switch {
	case c == '\'':
		return l.quoted(w, kindString, '\'', 1)
	case (c == 'N' || c == 'n') && l.peek(1) == '\'':
		return l.quoted(w, kindNString, '\'', 2)
	case c == '[':
		w.quoted = true
		return l.quoted(w, kindName, ']', 1)
	case c == '"':
		w.quoted = true
		return l.quoted(w, kindName, '"', 1)
	case c == '0' && (l.peek(1) == 'x' || l.peek(1) == 'X'):
		start := l.i + 2
		for l.i = start; l.i < len(l.text) && strings.IndexByte("0123456789abcdefABCDEF", l.text[l.i]) >= 0; l.i++ {
		}
		w.kind, w.text = kindBinary, l.text[start:l.i]
		return nil
	case c >= '0' && c <= '9' || c == '.' && l.peek(1) >= '0' && l.peek(1) <= '9':
		l.number(w)
		return nil
	}
	if r, _ := utf8.DecodeRuneInString(l.text[l.i:]); isNamePart(r) && r != '$' {
		start := l.i
		for l.i < len(l.text) {
			r, n := utf8.DecodeRuneInString(l.text[l.i:])
			if !isNamePart(r) {
				break
			}
			l.i += n
		}
		w.kind, w.text = kindName, l.text[start:l.i]
		if c == '@' {
			w.kind = kindVariable
		}
		w.upper = strings.ToUpper(w.text)
		return nil
	}
	_, n := utf8.DecodeRuneInString(l.text[l.i:])
	w.kind, w.text = kindSign, l.text[l.i:l.i+n]
	for _, sign := range []string{"<=", ">=", "<>", "!="} {
		if strings.HasPrefix(l.text[l.i:], sign) {
			w.text = sign
		}
	}
	l.i += len(w.text)
	return nil
}

// quoted reads up to the closing quote. A doubled quote stands for one quote.
func (l *lexer) quoted(w *word, k kind, quote byte, skip int) *ServerError {
	var b strings.Builder
	for l.i += skip; l.i < len(l.text); l.i++ {
		c := l.text[l.i]
		if c == '\n' {
			l.line++
		}
		if c == quote {
			if l.peek(1) != quote {
				l.i++
				w.kind, w.text = k, b.String()
				return nil
			}
			l.i++
		}
		b.WriteByte(c)
	}
	return l.unclosed(105, "Unclosed quotation mark after the character string '"+b.String()+"'.")
}

func (l *lexer) number(w *word) {
	start := l.i
	digits := func() {
		for l.i < len(l.text) && l.text[l.i] >= '0' && l.text[l.i] <= '9' {
			l.i++
		}
	}
	w.kind = kindInteger
	digits()
	if l.peek(0) == '.' {
		w.kind = kindDecimal
		l.i++
		digits()
	}
	if c := l.peek(0); c == 'e' || c == 'E' {
		w.kind = kindFloat
		l.i++
		if c := l.peek(0); c == '+' || c == '-' {
			l.i++
		}
		digits()
	}
	w.text = l.text[start:l.i]
}
