package bigquery

import (
	"errors"
	"slices"
	"strings"

	"github.com/sqlc-dev/zetajones/parser"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// Dialect reads GoogleSQL as BigQuery has it. The zero value is ready.
type Dialect struct{}

var _ sqlguard.Dialect = Dialect{}

const version = "zetajones v0.2.0 (GoogleSQL 2026.01.1; functions of BigQuery, November 2026)"

// Name returns "bigquery".
func (Dialect) Name() string { return "bigquery" }

// Version names the parser, the release of GoogleSQL whose grammar it has, and the state
// of BigQuery whose functions the tables list.
func (Dialect) Version() string { return version }

// NamesHaveDatabases returns true: names commonly begin with a project.
func (Dialect) NamesHaveDatabases() bool { return true }

// SystemSchema returns "INFORMATION_SCHEMA", which has all system views.
func (Dialect) SystemSchema() string { return informationSchema }

// Lex splits text by the lexical rules of GoogleSQL. White space is not a token.
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
	if !slices.ContainsFunc(tokens, lexical.Content) {
		return nil, nil
	}
	script, err := parse(sql, tokens)
	if err != nil {
		if refused, ok := leading(sql, tokens); ok {
			return refused, nil
		}
		return nil, syntaxError(sql, err)
	}
	w := &walker{sql: sql}
	statements := make([]sqlguard.Statement, len(script.Statements.Statements))
	for i, n := range script.Statements.Statements {
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
	switch c := text[0]; {
	case wideSpace(text) > 0:
		return "write an ordinary space instead of this one"
	case c == '`':
		return "write names between backquotes without backslashes, and not empty"
	case c == '$':
		return "macros of GoogleSQL are not read here; write their text"
	case strings.IndexByte(`'"rRbB`, c) >= 0:
		return "write a line break or a carriage return in a string as \\n or \\r"
	default:
		return "no token of GoogleSQL begins with this character"
	}
}

// syntaxError turns the parser's error into a *sqlguard.SyntaxError. The parser repeats
// the text at the error, which may be a literal.
func syntaxError(sql string, err error) error {
	fault, ok := errors.AsType[*parser.Error](err)
	if !ok {
		return &sqlguard.SyntaxError{Message: "the parser cannot read this statement"}
	}
	message := strings.TrimPrefix(fault.Message, "Syntax error: ")
	for _, cut := range []string{" but got ", ": "} {
		message, _, _ = strings.Cut(message, cut)
	}
	if strings.ContainsAny(strings.NewReplacer(`"("`, "", `")"`, "", `","`, "", `";"`, "", `"="`, "", `"."`, "").Replace(message), "'\"`") {
		message = "syntax error"
	}
	return &sqlguard.SyntaxError{Message: message, Offset: min(max(fault.Offset, 0), len(sql))}
}

// statementSpan is the span of a statement without comments and spaces around it.
func (w *walker) statementSpan(start, end int) sqlguard.Span {
	l := lexer{text: w.sql[:min(max(end, 0), len(w.sql))], at: max(start, 0)}
	return lexical.Span(l.next)
}
