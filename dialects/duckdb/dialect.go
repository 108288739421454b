package duckdb

import (
	"context"
	"errors"
	"strings"

	"github.com/sqlc-dev/darkwing/ast"
	"github.com/sqlc-dev/darkwing/parser"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// Dialect reads the SQL of DuckDB. The zero value is ready.
type Dialect struct {
	// Files knows the files that a statement may name. Nil knows none.
	Files Files
}

var _ sqlguard.Dialect = Dialect{}

const version = "darkwing v0.2.0 (DuckDB 2.0; functions of DuckDB 1.5.6)"

// Name returns "duckdb".
func (Dialect) Name() string { return "duckdb" }

// Version names the parser, the release of DuckDB whose grammar it has, and the release
// whose functions the tables list.
func (Dialect) Version() string { return version }

// FoldsNames returns true: DuckDB treats names that differ only in the case of ASCII
// letters as the same name, quoted or not.
func (Dialect) FoldsNames() bool { return true }

// SystemSchema returns "main", which has the system views whose names have no schema.
func (Dialect) SystemSchema() string { return "main" }

// Lex splits text by the lexical rules that DuckDB 1.5 and 2.0 share. White space is not
// a token.
func (Dialect) Lex(text string) sqlguard.Tokens {
	l := lexer{text: text}
	list := make([]sqlguard.Token, 0, len(text)/3+8)
	for {
		t, ok := l.next()
		if !ok {
			return sqlguard.Tokens{List: list, VerticalTab: true}
		}
		list = append(list, t)
	}
}

// Analyze parses sql and states what its statements are and touch.
func (d Dialect) Analyze(sql string) ([]sqlguard.Statement, error) {
	tokens := d.Lex(sql).List
	if err := lexical.Broken(sql, tokens, invalid); err != nil {
		return nil, err
	}
	nodes, err := parser.Parse(context.Background(), strings.NewReader(sql))
	if err != nil {
		return nil, syntaxError(sql, err)
	}
	w := &walker{sql: sql, files: d.Files}
	statements := make([]sqlguard.Statement, len(nodes))
	for i, n := range nodes {
		w.statement(n, &statements[i])
	}
	// A statement that is refused whole is not walked to its leaves.
	if !w.refused {
		if err := w.complete(tokens); err != nil {
			return nil, err
		}
	}
	return statements, nil
}

// invalid says why no token begins with a text.
func invalid(text string) string {
	switch {
	case wideSpace(text) > 0:
		return "write an ordinary space instead of this one"
	case text[0] == '`':
		return "write quoted names with double quotes"
	case isDigit(text[0]) || text[0] == '.':
		return "a word follows this number without a space"
	case text[0] == '$':
		return "a string between dollar signs needs the same word at its begin and its end"
	case text[0] == 'u' || text[0] == 'U':
		return "write the characters themselves instead of U&"
	default:
		return "no token of DuckDB begins with this character"
	}
}

// syntaxError turns the parser's error into a *sqlguard.SyntaxError. The parser repeats
// the text at the error, which may be a literal.
func syntaxError(sql string, err error) error {
	fault, ok := errors.AsType[*parser.Error](err)
	if !ok {
		// The parser reports a tree that it cannot make as an error of its own.
		return &sqlguard.SyntaxError{Message: "the parser cannot read this statement"}
	}
	message := fault.Msg
	if before, _, found := strings.Cut(message, " at or near "); found {
		message = before
	}
	if strings.ContainsAny(message, "'\"") {
		message = "syntax error"
	}
	return &sqlguard.SyntaxError{Message: message, Offset: min(max(fault.Offset, 0), len(sql))}
}

// statementSpan is the span of a statement without its terminator and the comments and
// spaces around it. The spans of the parser cover the whole text.
func (w *walker) statementSpan(n ast.Stmt) sqlguard.Span {
	l := lexer{text: w.sql[:min(max(n.End(), 0), len(w.sql))], at: max(n.Pos(), 0)}
	return lexical.Span(l.next)
}
