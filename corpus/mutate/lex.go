package mutate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a token is.
type kind int

const (
	space   kind = iota
	comment      // with its marks; hints are comments too
	word         // a keyword, or a name without quotes
	name         // a name in quotes, with them
	literal      // a string or number, with its prefix
	marker       // a parameter or variable
	symbol       // one byte of punctuation
)

// token is a piece of a text. The tokens in their order are the whole text.
type token struct {
	kind kind
	text string
}

// is reports whether the token is this symbol, or this keyword in any letter
// case.
func (t token) is(text string) bool {
	return t.kind == symbol && t.text == text || t.kind == word && strings.EqualFold(t.text, text)
}

// in reports whether the token is a word of the set. The set has lower case
// words.
func (t token) in(set map[string]bool) bool {
	return t.kind == word && set[strings.ToLower(t.text)]
}

// lexer reads the text of one dialect.
type lexer struct {
	dialect string
	text    string
	at      int
	tokens  []token
}

// lex splits a text into tokens. It returns nil if the servers of the dialect
// may read the text differently: a quote or comment without an end, an
// invisible character, or a comment that some servers run.
func lex(dialect, text string) []token {
	l := &lexer{dialect: dialect, text: text}
	if !utf8.ValidString(text) {
		return nil
	}
	for l.at < len(text) {
		start := l.at
		k, ok := l.next()
		if !ok || l.at <= start {
			return nil
		}
		l.tokens = append(l.tokens, token{k, text[start:l.at]})
	}
	for i := range l.tokens {
		if l.continued(i) {
			return nil
		}
	}
	return l.tokens
}

// continued reports whether token i is white space between two literals, which
// some dialects join to one.
func (l *lexer) continued(i int) bool {
	return l.tokens[i].kind == space && i > 0 && i < len(l.tokens)-1 && l.tokens[i-1].kind == literal && l.tokens[i+1].kind == literal
}

func (l *lexer) rest() string { return l.text[l.at:] }

// next reads one token and moves behind it.
func (l *lexer) next() (kind, bool) {
	rest := l.rest()
	switch c := rest[0]; {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		l.at += len(rest) - len(strings.TrimLeft(rest, " \t\n\r"))
		return space, !strings.Contains(strings.ReplaceAll(l.text[:l.at], "\r\n", ""), "\r")
	case l.lineComment(rest):
		end := strings.IndexAny(rest, "\r\n")
		if end < 0 {
			end = len(rest)
		}
		l.at += end
		return comment, true
	case strings.HasPrefix(rest, "/*"):
		return comment, l.blockComment()
	case l.dialect == "bigquery" && (strings.HasPrefix(rest, "'''") || strings.HasPrefix(rest, `"""`)):
		return 0, false // a string of several lines
	case c == '\'':
		return literal, l.quoted('\'', l.escapes())
	case c == '"' && l.escapes():
		return literal, l.quoted('"', true)
	case c == '"':
		return name, l.quoted('"', false)
	case c == '`' && (l.escapes() || l.dialect == "sqlite"):
		return name, l.quoted('`', false)
	case c == '[' && (l.dialect == "sqlserver" || l.dialect == "sqlite"):
		return name, l.quoted(']', false)
	case c == '$' && l.dialect == "postgres":
		return l.dollar()
	case l.marks(rest):
		for l.at++; l.at < len(l.text) && (l.text[l.at] == '@' || l.text[l.at] == '.' || wordByte(l.text[l.at])); l.at++ {
		}
		return marker, l.at == len(l.text) || !strings.ContainsRune("'\"`", rune(l.text[l.at]))
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]) && !l.behindName():
		return l.number()
	case wordByte(c) || c == '#' && l.dialect == "sqlserver":
		return l.word()
	case c < ' ' || c == 0x7f || c == '\\':
		return 0, false
	default:
		l.at++
		return symbol, true
	}
}

// escapes reports whether a backslash protects the next character in a string, which may
// then stand between double quotes too.
func (l *lexer) escapes() bool { return l.dialect == "mysql" || l.dialect == "bigquery" }

// lineComment reports whether a comment to the end of the line begins here.
func (l *lexer) lineComment(rest string) bool {
	if l.dialect == "mysql" {
		return rest[0] == '#' || strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' ')
	}
	return strings.HasPrefix(rest, "--") || rest[0] == '#' && l.dialect == "bigquery"
}

// blockComment reads a comment to its end. Comments nest in PostgreSQL and SQL
// Server only. It fails for a nested comment of another dialect, and for a
// comment that a server of the MySQL family may run.
func (l *lexer) blockComment() bool {
	nests := l.dialect == "postgres" || l.dialect == "sqlserver"
	if rest := l.rest(); l.dialect == "mysql" && len(rest) > 3 && (rest[2] == '!' || rest[3] == '!') {
		return false
	}
	depth := 1
	for l.at += 2; l.at < len(l.text); {
		switch rest := l.rest(); {
		case strings.HasPrefix(rest, "*/"):
			l.at += 2
			if depth--; depth == 0 {
				return true
			}
		case strings.HasPrefix(rest, "/*"):
			if !nests {
				return false
			}
			depth++
			l.at += 2
		default:
			l.at++
		}
	}
	return false
}

// quoted reads to the closing quote. A doubled quote stands for the quote
// itself.
func (l *lexer) quoted(quote byte, escapes bool) bool {
	for l.at++; l.at < len(l.text); l.at++ {
		switch c := l.text[l.at]; {
		case c == 0:
			return false
		case c == '\\' && escapes:
			l.at++
		case c != quote:
		case l.at+1 < len(l.text) && l.text[l.at+1] == quote:
			l.at++
		default:
			l.at++
			return true
		}
	}
	return false
}

// dollar reads a parameter or a string between two dollar signs with a tag.
func (l *lexer) dollar() (kind, bool) {
	rest := l.rest()
	if len(rest) > 1 && isDigit(rest[1]) {
		for l.at++; l.at < len(l.text) && isDigit(l.text[l.at]); l.at++ {
		}
		return marker, l.at == len(l.text) || !wordByte(l.text[l.at])
	}
	end := strings.IndexByte(rest[1:], '$')
	if end < 0 {
		return 0, false
	}
	tag := rest[:end+2]
	for i := 1; i < len(tag)-1; i++ {
		if !wordByte(tag[i]) || i == 1 && isDigit(tag[i]) {
			return 0, false
		}
	}
	end = strings.Index(rest[len(tag):], tag)
	if end < 0 {
		return 0, false
	}
	l.at += 2*len(tag) + end
	return literal, true
}

// marks reports whether a parameter or variable begins here.
func (l *lexer) marks(rest string) bool {
	following := byte(' ')
	if len(rest) > 1 {
		following = rest[1]
	}
	switch l.dialect {
	case "bigquery":
		return rest[0] == '@' || rest[0] == '?'
	case "mysql", "sqlserver":
		return rest[0] == '@' || rest[0] == '?' && l.dialect == "mysql"
	case "sqlite":
		return rest[0] == '?' || strings.IndexByte("@:$#", rest[0]) >= 0 && wordByte(following)
	}
	return false
}

// number reads a number and the letters that follow it directly.
func (l *lexer) number() (kind, bool) {
	for l.at++; l.at < len(l.text); l.at++ {
		c, before := l.text[l.at], l.text[l.at-1]
		if !wordByte(c) && c != '.' && ((c != '+' && c != '-') || before|0x20 != 'e' || strings.HasPrefix(l.text[l.at:], "--")) {
			break
		}
	}
	// In MySQL a name may begin with a digit, so the token is left as it is.
	return literal, true
}

// word reads a word, or a literal or quoted name that begins with one: E”,
// X”, U&"", _utf8mb4”.
func (l *lexer) word() (kind, bool) {
	rest := l.rest()
	end := 0
	for i, r := range rest {
		within := unicode.IsLetter(r) || unicode.IsDigit(r)
		if r < utf8.RuneSelf {
			within = wordByte(rest[i]) || r == '#' && l.dialect == "sqlserver"
		}
		if !within {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	if end == 0 {
		return 0, false
	}
	l.at += end
	text, behind := strings.ToLower(rest[:end]), rest[end:]
	if text == "u" && l.dialect == "postgres" && (strings.HasPrefix(behind, "&'") || strings.HasPrefix(behind, `&"`)) {
		l.at++
		behind = behind[1:]
		if behind[0] == '"' {
			return name, l.quoted('"', false)
		}
		return literal, l.quoted('\'', false)
	}
	if !strings.HasPrefix(behind, "'") && (!l.escapes() || !strings.HasPrefix(behind, `"`)) {
		return word, true
	}
	if l.dialect == "bigquery" && strings.HasPrefix(behind[1:], behind[:1]+behind[:1]) {
		return 0, false // a string of several lines
	}
	switch prefix := len(text) == 1 && strings.IndexByte("ebxn", text[0]) >= 0; {
	case l.escapes():
		return literal, l.quoted(behind[0], true)
	case prefix:
		return literal, l.quoted('\'', text == "e" && l.dialect == "postgres")
	}
	return word, true
}

// behindName reports whether the last token may be a name, so that a dot
// belongs to it.
func (l *lexer) behindName() bool {
	if len(l.tokens) == 0 {
		return false
	}
	last := l.tokens[len(l.tokens)-1]
	return last.kind == word || last.kind == name || last.kind == marker || last.is(")") || last.is("]")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// wordByte reports whether a byte may be part of a word. The bytes of
// characters outside of ASCII may.
func wordByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || isDigit(c) || c == '_' || c == '$' || c >= utf8.RuneSelf
}
