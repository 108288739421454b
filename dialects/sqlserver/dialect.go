package sqlserver

import "github.com/ktxhq/ktx/sqlguard"

// Dialect reads Transact-SQL. The zero value is ready.
type Dialect struct{ sqlguard.NoOwnTypes }

var _ sqlguard.Dialect = Dialect{}

const version = "ktx T-SQL 1 (SQL Server 2025)"

// Name returns "sqlserver".
func (Dialect) Name() string { return "sqlserver" }

// Version names the parser and the release of SQL Server whose grammar it has.
func (Dialect) Version() string { return version }

// SystemSchema returns the schema of system relations whose name has no schema.
func (Dialect) SystemSchema() string { return "sys" }

// Lex splits text by the lexical rules of Transact-SQL. White space is not a
// token. GO alone on its line and lines of sqlcmd that begin with ":" or "!!" are
// client commands. A semicolon in the body of a module or between BEGIN and END
// is an operator, not a terminator.
func (Dialect) Lex(text string) sqlguard.Tokens {
	l := lexer{text: text}
	var b blocks
	list := make([]sqlguard.Token, 0, len(text)/4+8)
	for {
		t, ok := l.next()
		if !ok {
			return sqlguard.Tokens{List: list}
		}
		list = append(list, sqlguard.Token{Kind: b.kind(t), Start: t.start, End: t.end})
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
			if isDigit(sql[t.start]) || sql[t.start] == '.' {
				return nil, &sqlguard.SyntaxError{Message: "a word follows this number without a space", Offset: t.start}
			}
			if sql[t.start] == '`' {
				return nil, &sqlguard.SyntaxError{Message: "quote names with [ and ], or with double quotes", Offset: t.start}
			}
			return nil, &sqlguard.SyntaxError{Message: "no token of Transact-SQL begins with this character", Offset: t.start}
		case sqlguard.TokenWord:
			if t.word == nil && disguised(sql[t.start:t.end]) {
				return nil, &sqlguard.SyntaxError{Message: "this word looks like a keyword, with letters beyond ASCII", Offset: t.start}
			}
		case sqlguard.TokenExecutableComment:
			return nil, &sqlguard.SyntaxError{Message: "the comment could be an escape of ODBC", Offset: t.start}
		case sqlguard.TokenClientCommand:
			return nil, &sqlguard.SyntaxError{Message: "a command of a command line client is not SQL", Offset: t.start}
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
	case '[', '"':
		return "the quoted name has no end"
	default:
		return "the string literal has no end"
	}
}
