package mysql

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// lexer follows the lexical rules of MySQL (Reference Manual, chapter 9, and
// sql/sql_lex.cc) for the pinned sql_mode: "x" is a string, a backslash
// escapes. It reads forward only, and each byte a bounded number of times.
type lexer struct {
	text      string
	at        int
	delimiter string // the client's delimiter of statements, "" for a semicolon
	begun     bool   // a token of the statement was seen
	command   bool   // the token before was a client command, which its line ends
	qualified bool   // the token before is the dot of a qualified name
}

// skip is the kind of white space. It never leaves the lexer.
const skip sqlguard.TokenKind = 255

// Lex splits text as the server's scanner does. A semicolon is a terminator
// until the client command DELIMITER names another one.
func (d Dialect) Lex(text string) sqlguard.Tokens {
	return d.LexInto(make([]sqlguard.Token, 0, len(text)/3+8), text)
}

// LexInto is Lex that appends to a list.
func (Dialect) LexInto(list []sqlguard.Token, text string) sqlguard.Tokens {
	return sqlguard.Tokens{List: appendTokens(list, text), VerticalTab: true}
}

// appendTokens appends the tokens of a text to a list.
func appendTokens(list []sqlguard.Token, text string) []sqlguard.Token {
	l := lexer{text: text}
	for {
		t, ok := l.next()
		if !ok {
			return list
		}
		list = append(list, t)
	}
}

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
		switch kind { //nolint:exhaustive // every other kind is part of a statement
		case skip:
			// A space after a dot does not end a qualified name.
			continue
		case sqlguard.TokenComment, sqlguard.TokenExecutableComment:
		case sqlguard.TokenTerminator:
			l.begun = false
		case sqlguard.TokenClientCommand:
			l.begun = false
			l.command = l.at < len(l.text)
		default:
			l.begun = true
		}
		l.qualified = kind == sqlguard.TokenDot
		return sqlguard.Token{Kind: kind, Start: start, End: l.at}, true
	}
	return sqlguard.Token{}, false
}

// scan returns the kind and length of the token at i. The client ends a statement
// at its delimiter also where that touches a word, such as END$$.
func (l *lexer) scan(i int) (sqlguard.TokenKind, int) {
	kind, n := l.token(i)
	if l.delimiter != "" && (kind == sqlguard.TokenWord || kind == sqlguard.TokenNumber || kind == sqlguard.TokenOperator) {
		if at := strings.Index(l.text[i:i+n], l.delimiter); at > 0 {
			n = at
		}
	}
	return kind, n
}

func (l *lexer) token(i int) (sqlguard.TokenKind, int) {
	rest := l.text[i:]
	c := rest[0]
	switch {
	case l.delimiter != "" && strings.HasPrefix(rest, l.delimiter):
		return sqlguard.TokenTerminator, len(l.delimiter)
	case isDigit(c):
		if !l.qualified {
			return number(rest)
		}
		return l.word(rest)
	case nameBytes[c]:
		return l.word(rest)
	case isSpace(c):
		n := 1
		for n < len(rest) && isSpace(rest[n]) {
			n++
		}
		return skip, n
	}
	switch c {
	case ';':
		if l.delimiter == "" {
			return sqlguard.TokenTerminator, 1
		}
	case '#':
		return comment(rest, lineLength(rest))
	case '-':
		if isLineComment(rest) {
			return comment(rest, lineLength(rest))
		}
	case '/':
		if len(rest) > 1 && rest[1] == '*' {
			return blockComment(rest)
		}
	case '\'', '"':
		return quoted(rest, 0, sqlguard.TokenString, true)
	case '`':
		return quoted(rest, 0, sqlguard.TokenQuotedName, false)
	case '\\':
		return sqlguard.TokenClientCommand, lineLength(rest)
	case '.':
		if len(rest) > 1 && isDigit(rest[1]) && !l.named(i) {
			return number(rest)
		}
		return sqlguard.TokenDot, 1
	}
	return operator(rest)
}

// named reports whether a name or a closing quote ends at i, so that a dot
// there belongs to a qualified name.
func (l *lexer) named(i int) bool {
	return i > 0 && (isName(l.text[i-1]) || l.text[i-1] == '`')
}

// word scans a name, a literal with a prefix, or DELIMITER.
func (l *lexer) word(rest string) (sqlguard.TokenKind, int) {
	if len(rest) > 1 && rest[1] == '\'' && !l.qualified {
		switch rest[0] {
		case 'n', 'N':
			return quoted(rest, 1, sqlguard.TokenString, true)
		case 'x', 'X', 'b', 'B':
			return quoted(rest, 1, sqlguard.TokenString, false)
		}
	}
	n := 1
	for n < len(rest) && isName(rest[n]) {
		n++
	}
	if !l.begun && strings.EqualFold(rest[:n], "delimiter") && (n == len(rest) || isSpace(rest[n])) {
		return l.redefine(rest, n)
	}
	return sqlguard.TokenWord, n
}

// redefine reads the client command DELIMITER, whose first argument ends
// statements from the next line on.
func (l *lexer) redefine(rest string, n int) (sqlguard.TokenKind, int) {
	length := lineLength(rest)
	if argument := strings.Fields(rest[n:length]); len(argument) > 0 {
		l.delimiter = argument[0]
		if l.delimiter == ";" {
			l.delimiter = ""
		}
	}
	return sqlguard.TokenClientCommand, length
}

// number scans a token that begins with a digit, or with a dot and a digit. A name may
// begin with digits too.
func number(rest string) (sqlguard.TokenKind, int) {
	if n := prefixed(rest); n > 0 {
		return sqlguard.TokenNumber, n
	}
	n := digits(rest, 0)
	if n < len(rest) && n > 0 && isName(rest[n]) {
		if e := exponent(rest, n); e > n {
			return sqlguard.TokenNumber, e
		}
		for n < len(rest) && isName(rest[n]) {
			n++
		}
		return sqlguard.TokenWord, n
	}
	if n < len(rest) && rest[n] == '.' {
		n = digits(rest, n+1)
	}
	return sqlguard.TokenNumber, exponent(rest, n)
}

// prefixed returns the length of 0x12 or 0b01. They are names if another letter follows.
func prefixed(rest string) int {
	if len(rest) < 3 || rest[0] != '0' {
		return 0
	}
	holds := isHex
	switch rest[1] {
	case 'x':
	case 'b':
		holds = func(c byte) bool { return c == '0' || c == '1' }
	default:
		return 0
	}
	n := 2
	for n < len(rest) && holds(rest[n]) {
		n++
	}
	if n == 2 || n < len(rest) && isName(rest[n]) {
		return 0
	}
	return n
}

// exponent returns the end of the exponent at n, or n when there is none.
func exponent(rest string, n int) int {
	if n >= len(rest) || rest[n] != 'e' && rest[n] != 'E' {
		return n
	}
	d := n + 1
	if d < len(rest) && (rest[d] == '+' || rest[d] == '-') {
		d++
	}
	if end := digits(rest, d); end > d {
		return end
	}
	return n
}

func digits(rest string, n int) int {
	for n < len(rest) && isDigit(rest[n]) {
		n++
	}
	return n
}

// quoted scans a literal or name whose opening quote is at prefix. A doubled or
// escaped quote is part of the content.
func quoted(rest string, prefix int, kind sqlguard.TokenKind, escapes bool) (sqlguard.TokenKind, int) {
	quote := rest[prefix]
	for i := prefix + 1; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && escapes:
			i++
		case rest[i] != quote:
		case i+1 < len(rest) && rest[i+1] == quote:
			i++
		default:
			return kind, i + 1
		}
	}
	return sqlguard.TokenUnterminated, len(rest)
}

// isLineComment reports whether two dashes begin a comment: only before white
// space, a control character or the end.
func isLineComment(rest string) bool {
	return strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' ' || rest[2] == 0x7f)
}

// lineLength returns the length of a line without its line feed.
func lineLength(rest string) int {
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		return n
	}
	return len(rest)
}

// blockComment scans from /* on. Comments do not nest.
func blockComment(rest string) (sqlguard.TokenKind, int) {
	end := strings.Index(rest[2:], "*/")
	if end < 0 {
		if kind, _ := comment(rest, len(rest)); kind == sqlguard.TokenExecutableComment {
			return kind, len(rest)
		}
		return sqlguard.TokenUnterminated, len(rest)
	}
	return comment(rest, end+4)
}

// executable are the starts of comments that some server or parser executes.
var executable = []string{"/*!", "/*M!", "/*T!"}

// comment returns the kind of a comment of n bytes. Servers and parsers disagree
// about where an executable comment inside another begins, so its mark counts
// anywhere in the comment.
func comment(rest string, n int) (sqlguard.TokenKind, int) {
	for _, start := range executable {
		if strings.Contains(rest[:n], start) {
			return sqlguard.TokenExecutableComment, n
		}
	}
	if strings.HasPrefix(rest, "/*+") && openQuote(rest[3:n]) {
		return sqlguard.TokenUnterminated, n
	}
	return sqlguard.TokenComment, n
}

// openQuote reports whether a quoted name or literal of a hint does not end inside the
// hint. The server's scanner of hints reads quotes, so for the server such a hint
// continues after the end of the comment.
func openQuote(hint string) bool {
	for i := 0; i < len(hint); i++ {
		if c := hint[i]; c == '`' || c == '\'' || c == '"' {
			end := strings.IndexByte(hint[i+1:], c)
			if end < 0 {
				return true
			}
			i += 1 + end
		}
	}
	return false
}

// operators of more than one character, the longest first.
var operators = []string{"<=>", "->>", ":=", "<<", ">>", "<=", ">=", "<>", "!=", "||", "&&", "->", "@@"}

func operator(rest string) (sqlguard.TokenKind, int) {
	switch rest[0] {
	case '(', '{':
		return sqlguard.TokenOpen, 1
	case ')', '}':
		return sqlguard.TokenClose, 1
	case ',':
		return sqlguard.TokenComma, 1
	case '?':
		return sqlguard.TokenParameter, 1
	case '+', '*', '/', '%', '^', '~', ';':
		return sqlguard.TokenOperator, 1
	case '-', '&', '|', '!', '<', '>', '=', ':', '@':
		if len(rest) > 1 && rest[1] != ' ' {
			for _, o := range operators {
				if strings.HasPrefix(rest, o) {
					return sqlguard.TokenOperator, len(o)
				}
			}
		}
		return sqlguard.TokenOperator, 1
	default:
		return sqlguard.TokenInvalid, 1
	}
}

// isSpace reports whether the server's scanner skips a byte between tokens.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// isName reports whether a byte can be part of an unquoted name (section 9.2). All bytes
// beyond ASCII can.
func isName(c byte) bool { return nameBytes[c] }

var nameBytes = func() (set [256]bool) {
	for c := range set {
		set[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
	}
	return set
}()
