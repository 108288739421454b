package clickhouse

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Dialect reads ClickHouse SQL. The zero value is ready.
type Dialect struct{}

var _ sqlguard.Dialect = Dialect{}

const version = "ktx ClickHouse 1 (ClickHouse " + engineVersion + ")"

// Name returns "clickhouse".
func (Dialect) Name() string { return "clickhouse" }

// Version names the parser and the release of ClickHouse whose grammar and functions it
// has.
func (Dialect) Version() string { return version }

// SchemasAreDatabases returns true: a name has at most two parts, of which the first is
// a database.
func (Dialect) SchemasAreDatabases() bool { return true }

// Lex splits text by the lexical rules of ClickHouse. White space is not a token.
func (Dialect) Lex(text string) sqlguard.Tokens {
	l := lexer{text: text}
	list := make([]sqlguard.Token, 0, len(text)/4+8)
	for {
		t, ok := l.next()
		if !ok {
			return sqlguard.Tokens{List: list, VerticalTab: true}
		}
		list = append(list, sqlguard.Token{Kind: t.kind, Start: t.start, End: t.end})
	}
}

// Analyze parses sql and states what its statements are and touch.
func (Dialect) Analyze(sql string) ([]sqlguard.Statement, error) {
	l := lexer{text: sql}
	toks := make([]token, 0, len(sql)/4+8)
	for {
		t, ok := l.next()
		if !ok {
			break
		}
		switch t.kind { //nolint:exhaustive // every other kind is for the grammar
		case sqlguard.TokenComment:
			continue
		case sqlguard.TokenUnterminated:
			return nil, &sqlguard.SyntaxError{Message: unterminated(sql[t.start]), Offset: t.start}
		case sqlguard.TokenInvalid:
			return nil, &sqlguard.SyntaxError{Message: invalid(sql[t.start:]), Offset: t.start}
		}
		toks = append(toks, t)
	}
	p := parser{sql: sql, toks: toks}
	p.load(0)
	return p.batch()
}

// unterminated names the construct that never ends, by its first character.
func unterminated(first byte) string {
	switch first {
	case '/':
		return "the comment has no end"
	case '`', '"':
		return "the quoted name has no end"
	default:
		return "the string literal has no end"
	}
}

// invalid says why no token begins with a text.
func invalid(text string) string {
	switch {
	case isDigit(text[0]) || text[0] == '.':
		return "a word follows this number without a space"
	case text[0] == '@':
		return "ClickHouse has no variables; write the value"
	case text[0] == '$':
		return "a string between dollar signs needs the same word at its begin and its end"
	case strings.HasPrefix(text, "\u2018"), strings.HasPrefix(text, "\u2019"), strings.HasPrefix(text, "\u201c"), strings.HasPrefix(text, "\u201d"):
		return "quote texts with ' and names with \" or `, not with typographic quotes"
	default:
		return "no token of ClickHouse begins with this character"
	}
}
