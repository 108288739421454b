package postgres

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Lex splits text by the lexical rules of PostgreSQL (manual, 4.1), with
// standard_conforming_strings on. A string that continues after a line break gives one
// token for each piece. A backslash outside of literals begins a psql command, which ends
// with the line.
func (Dialect) Lex(text string) sqlguard.Tokens {
	l := lexer{sql: text}
	list := make([]sqlguard.Token, 0, len(text)/3+8)
	for {
		t, ok := l.next()
		if !ok {
			return sqlguard.Tokens{List: list}
		}
		list = append(list, t)
	}
}

// lexer reads one token after the other. It can start at the beginning of any
// token, but it recognises a terminator only when it has read the text from the
// start of a statement.
type lexer struct {
	sql string
	pos int

	// piece is the kind of the string that just ended and may continue after a line
	// break.
	piece stringKind

	signs   int // up to this offset there are only + and -, each an operator
	depth   int // open brackets
	words   int // words since the start of the statement
	routine routineState
	blocks  int // BEGIN ATOMIC and CASE, open inside of a routine's body
}

// stringKind says how to find the end of a string.
type stringKind uint8

const (
	stringNone   stringKind = iota
	stringPlain             // '…' with doubled quotes
	stringEscape            // E'…' with backslashes
	stringBits              // B'…' and X'…', without doubled quotes
)

// routineState follows CREATE [OR REPLACE] FUNCTION … BEGIN ATOMIC … END. Semicolons in
// its body do not end the statement.
type routineState uint8

const (
	routineNo routineState = iota
	routineCreate
	routineOr
	routineYes
	routineBegin // BEGIN was read, ATOMIC may follow
	routineBody
)

// Classes of bytes.
const (
	byteSpace   uint8 = 1 << iota // white space
	byteStart                     // starts an identifier
	byteDigit                     // decimal digit
	byteName                      // continues an identifier
	byteOp                        // part of operators of any length
	byteBracket                   // ( ) [ ]
)

var byteClass = func() (class [256]uint8) {
	for c := range 256 {
		switch {
		case strings.IndexByte(" \t\n\r\f\v", byte(c)) >= 0:
			class[c] = byteSpace
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c >= 0x80:
			class[c] = byteStart | byteName
		case c >= '0' && c <= '9':
			class[c] = byteDigit | byteName
		case strings.IndexByte("~!@#^&|`?+-*/%<>=", byte(c)) >= 0:
			class[c] = byteOp
		case c == '(' || c == ')' || c == '[' || c == ']':
			class[c] = byteBracket
		case c == '$':
			class[c] = byteName
		}
	}
	return class
}()

// next returns the next token, comments included, and false at the end.
func (l *lexer) next() (sqlguard.Token, bool) {
	sql := l.sql
	i := l.pos
	broken := false // a line break comes before the token
	for i < len(sql) && byteClass[sql[i]] == byteSpace {
		broken = broken || sql[i] == '\n' || sql[i] == '\r'
		i++
	}
	if i >= len(sql) {
		l.pos = i
		return sqlguard.Token{}, false
	}
	start, c := i, sql[i]
	if l.piece == stringNone && byteClass[c]&byteStart != 0 {
		return l.word(start)
	}

	// A string of the same kind continues after white space with a line break.
	if l.piece != stringNone {
		if c == '-' && strings.HasPrefix(sql[i:], "--") {
			// A comment may come between two pieces. It ends with the line.
			return l.token(start, sqlguard.TokenComment, lineEnd(sql, i))
		}
		kind := l.piece
		l.piece = stringNone
		if c == '\'' && broken {
			kind, end := l.quoted(i, kind)
			return l.token(start, kind, end)
		}
	}

	switch class := byteClass[c]; {
	case class&byteStart != 0:
		return l.word(start)
	case class&byteDigit != 0:
		return l.token(start, sqlguard.TokenNumber, numberEnd(sql, i))
	case class == byteOp:
		switch {
		case c == '-' && strings.HasPrefix(sql[i:], "--"):
			return l.token(start, sqlguard.TokenComment, lineEnd(sql, i))
		case c == '/' && strings.HasPrefix(sql[i:], "/*"):
			end, ok := commentEnd(sql, i)
			if !ok {
				return l.token(start, sqlguard.TokenUnterminated, len(sql))
			}
			return l.token(start, sqlguard.TokenComment, end)
		}
		if i < l.signs {
			return l.token(start, sqlguard.TokenOperator, i+1)
		}
		end, run := operatorEnd(sql, i)
		l.signs = run
		return l.token(start, sqlguard.TokenOperator, end)
	case class == byteBracket:
		if c == '(' || c == '[' {
			l.depth++
			return l.token(start, sqlguard.TokenOpen, i+1)
		}
		l.depth = max(l.depth-1, 0)
		return l.token(start, sqlguard.TokenClose, i+1)
	}

	switch c {
	case '\'':
		kind, end := l.quoted(i, stringPlain)
		return l.token(start, kind, end)
	case '"':
		end, ok := quoteEnd(sql, i+1, '"')
		if !ok {
			return l.token(start, sqlguard.TokenUnterminated, len(sql))
		}
		return l.token(start, sqlguard.TokenQuotedName, end)
	case ',':
		return l.token(start, sqlguard.TokenComma, i+1)
	case '.':
		switch {
		case i+1 < len(sql) && isDigit(sql[i+1]):
			return l.token(start, sqlguard.TokenNumber, numberEnd(sql, i))
		case i+1 < len(sql) && sql[i+1] == '.':
			return l.token(start, sqlguard.TokenOperator, i+2)
		}
		return l.token(start, sqlguard.TokenDot, i+1)
	case ';':
		if l.depth > 0 || l.routine == routineBody {
			return l.token(start, sqlguard.TokenOperator, i+1)
		}
		l.words, l.routine, l.blocks = 0, routineNo, 0
		return l.token(start, sqlguard.TokenTerminator, i+1)
	case ':':
		if i+1 < len(sql) && (sql[i+1] == ':' || sql[i+1] == '=') {
			return l.token(start, sqlguard.TokenOperator, i+2)
		}
		return l.token(start, sqlguard.TokenOperator, i+1)
	case '$':
		if i+1 < len(sql) && isDigit(sql[i+1]) {
			end := i + 1
			for end < len(sql) && isDigit(sql[end]) {
				end++
			}
			return l.token(start, sqlguard.TokenParameter, end)
		}
		tag := dollarTag(sql[i:])
		if tag == "" {
			return l.token(start, sqlguard.TokenInvalid, i+1)
		}
		end := strings.Index(sql[i+len(tag):], tag)
		if end < 0 {
			return l.token(start, sqlguard.TokenUnterminated, len(sql))
		}
		return l.token(start, sqlguard.TokenString, i+len(tag)+end+len(tag))
	case '\\':
		return l.token(start, sqlguard.TokenClientCommand, lineEnd(sql, i))
	default:
		return l.token(start, sqlguard.TokenInvalid, i+1)
	}
}

// token ends the token that began at start.
func (l *lexer) token(start int, kind sqlguard.TokenKind, end int) (sqlguard.Token, bool) {
	l.pos = end
	return sqlguard.Token{Kind: kind, Start: start, End: end}, true
}

// word reads an identifier, a keyword, or a literal with a prefix.
func (l *lexer) word(start int) (sqlguard.Token, bool) {
	sql := l.sql
	if start+1 < len(sql) && sql[start+1] == '\'' {
		kind := stringNone
		switch sql[start] {
		case 'e', 'E':
			kind = stringEscape
		case 'b', 'B', 'x', 'X':
			kind = stringBits
		case 'n', 'N':
			kind = stringPlain
		}
		if kind != stringNone {
			kind, end := l.quoted(start+1, kind)
			return l.token(start, kind, end)
		}
	}
	if start+2 < len(sql) && (sql[start] == 'u' || sql[start] == 'U') && sql[start+1] == '&' {
		switch sql[start+2] {
		case '\'':
			kind, end := l.quoted(start+2, stringPlain)
			return l.token(start, kind, end)
		case '"':
			end, ok := quoteEnd(sql, start+3, '"')
			if !ok {
				return l.token(start, sqlguard.TokenUnterminated, len(sql))
			}
			return l.token(start, sqlguard.TokenQuotedName, end)
		}
	}
	end := start + 1
	for end < len(sql) && byteClass[sql[end]]&byteName != 0 {
		end++
	}
	if l.words++; l.depth == 0 && (l.words == 1 || l.routine != routineNo) {
		l.follow(sql[start:end])
	}
	return l.token(start, sqlguard.TokenWord, end)
}

// follow keeps track of the body of a routine in SQL.
func (l *lexer) follow(word string) {
	is := func(keyword string) bool { return strings.EqualFold(word, keyword) }
	switch l.routine {
	case routineNo:
		if is("create") {
			l.routine = routineCreate
		}
	case routineCreate, routineOr:
		switch {
		case is("or") && l.routine == routineCreate:
			l.routine = routineOr
		case is("replace") && l.routine == routineOr:
		case is("function"), is("procedure"):
			l.routine = routineYes
		default:
			l.routine = routineNo
		}
	case routineYes, routineBegin:
		switch {
		case is("atomic") && l.routine == routineBegin:
			l.routine, l.blocks = routineBody, 1
		case is("begin"):
			l.routine = routineBegin
		default:
			l.routine = routineYes
		}
	case routineBody:
		switch {
		case is("case"):
			l.blocks++
		case is("end"):
			if l.blocks--; l.blocks == 0 {
				l.routine = routineYes
			}
		}
	}
}

// quoted reads a string whose opening quote is at open.
func (l *lexer) quoted(open int, kind stringKind) (sqlguard.TokenKind, int) {
	var (
		end int
		ok  bool
	)
	switch kind {
	case stringEscape:
		end, ok = escapedEnd(l.sql, open+1)
	case stringBits:
		if end = strings.IndexByte(l.sql[open+1:], '\''); end >= 0 {
			end, ok = open+1+end+1, true
		}
	case stringNone, stringPlain:
		end, ok = quoteEnd(l.sql, open+1, '\'')
	}
	if !ok {
		return sqlguard.TokenUnterminated, len(l.sql)
	}
	l.piece = kind
	return sqlguard.TokenString, end
}

// quoteEnd returns the offset after the closing quote. A doubled quote is part of the
// string.
func quoteEnd(sql string, from int, quote byte) (int, bool) {
	for from < len(sql) {
		i := strings.IndexByte(sql[from:], quote)
		if i < 0 {
			break
		}
		from += i + 1
		if from >= len(sql) || sql[from] != quote {
			return from, true
		}
		from++
	}
	return len(sql), false
}

// escapedEnd is quoteEnd for strings with backslashes.
func escapedEnd(sql string, from int) (int, bool) {
	for i := from; i < len(sql); i++ {
		switch sql[i] {
		case '\\':
			i++
		case '\'':
			if i+1 >= len(sql) || sql[i+1] != '\'' {
				return i + 1, true
			}
			i++
		}
	}
	return len(sql), false
}

// lineEnd returns the offset of the line break that ends the line, or the length of sql.
func lineEnd(sql string, from int) int {
	if i := strings.IndexAny(sql[from:], "\r\n"); i >= 0 {
		return from + i
	}
	return len(sql)
}

// commentEnd returns the offset after a block comment. Block comments nest.
func commentEnd(sql string, from int) (int, bool) {
	depth := 0
	for i := from; i+1 < len(sql); i++ {
		switch {
		case sql[i] == '/' && sql[i+1] == '*':
			depth++
			i++
		case sql[i] == '*' && sql[i+1] == '/':
			i++
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(sql), false
}

// operatorEnd returns the end of an operator: the longest run of operator characters up
// to the start of a comment. An operator of several characters may end in + or - only if
// it contains one of ~ ! @ # ^ & | ` ? %. Otherwise the run up to signs has only + and -,
// and each of them is an operator. So the lexer reads a long run only once.
func operatorEnd(sql string, from int) (end, signs int) {
	end, odd := from, false
	for end < len(sql) && byteClass[sql[end]] == byteOp {
		if end+1 < len(sql) && end > from && (sql[end] == '-' && sql[end+1] == '-' || sql[end] == '/' && sql[end+1] == '*') {
			break
		}
		switch sql[end] {
		case '~', '!', '@', '#', '^', '&', '|', '`', '?', '%':
			odd = true
		}
		end++
	}
	signs = end
	if !odd {
		for end-from > 1 && (sql[end-1] == '+' || sql[end-1] == '-') {
			end--
		}
	}
	return end, signs
}

// numberEnd returns the end of a numeric literal.
func numberEnd(sql string, from int) int {
	if sql[from] == '0' && from+1 < len(sql) {
		var digits string
		switch sql[from+1] {
		case 'x', 'X':
			digits = "0123456789abcdefABCDEF"
		case 'o', 'O':
			digits = "01234567"
		case 'b', 'B':
			digits = "01"
		}
		if digits != "" {
			if end := grouped(sql, from+2, digits, true); end > from+2 {
				return end
			}
		}
	}
	const decimal = "0123456789"
	end := grouped(sql, from, decimal, false)
	if end < len(sql) && sql[end] == '.' && (end+1 >= len(sql) || sql[end+1] != '.') {
		end = grouped(sql, end+1, decimal, false)
	}
	if end < len(sql) && (sql[end] == 'e' || sql[end] == 'E') {
		exponent := end + 1
		if exponent < len(sql) && (sql[exponent] == '+' || sql[exponent] == '-') {
			exponent++
		}
		if after := grouped(sql, exponent, decimal, false); after > exponent {
			end = after
		}
	}
	return end
}

// grouped returns the end of a run of digits. Single underscores may separate the
// digits, and one may come before them when leading is set.
func grouped(sql string, from int, digits string, leading bool) int {
	end := from
	for end < len(sql) {
		i := end
		if sql[i] == '_' && (end > from || leading) {
			i++
		}
		if i >= len(sql) || strings.IndexByte(digits, sql[i]) < 0 {
			break
		}
		end = i + 1
	}
	return end
}

// dollarTag returns the opening mark of a dollar-quoted string at the start of
// text, such as $$ or $body$; "" when there is none.
func dollarTag(text string) string {
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '$':
			return text[:i+1]
		case byteClass[c]&byteStart != 0, isDigit(c) && i > 1:
		default:
			return ""
		}
	}
	return ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
