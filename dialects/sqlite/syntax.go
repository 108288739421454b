package sqlite

import (
	"errors"
	"strings"

	"github.com/sqlc-dev/meyer/parser"

	"github.com/ktxhq/ktx/sqlguard"
)

// syntaxError turns the parser's error into a *sqlguard.SyntaxError. The parser repeats
// the token at the error; syntaxError removes it if it is a literal.
func syntaxError(sql string, err error) error {
	fault, ok := errors.AsType[*parser.Error](err)
	if !ok {
		return err
	}
	at := min(max(fault.Offset, 0), len(sql))
	message := fault.Message
	t, before := tokenAt(sql, at)
	switch kind := t.Kind; {
	case kind == sqlguard.TokenUnterminated:
		message = "a literal or quoted name that starts here never ends"
	case kind == sqlguard.TokenString, kind == sqlguard.TokenQuotedText, kind == sqlguard.TokenNumber:
		message = "near '…': syntax error"
	case kind == sqlguard.TokenInvalid && strings.HasPrefix(sql[t.Start:], "::"):
		message = `"::" is no operator of SQLite: write CAST(x AS type)`
	}
	// The parser may have read the word before the error as a name.
	for _, word := range []sqlguard.Token{t, before} {
		if hint := advice(word.Text(sql)); word.Kind == sqlguard.TokenWord && hint != "" {
			message += hint
			break
		}
	}
	return &sqlguard.SyntaxError{Message: message, Offset: at}
}

// tokenAt returns the token at or after an offset, and the token before it.
func tokenAt(sql string, at int) (t, before sqlguard.Token) {
	l := lexer{text: sql}
	none := sqlguard.Token{Kind: sqlguard.TokenTerminator}
	for t = none; ; {
		before = t
		next, ok := nextToken(&l)
		if !ok {
			return none, before
		}
		if t = next; t.End > at {
			return t, before
		}
	}
}

// advice says how SQLite writes what other dialects begin with a word.
func advice(word string) string {
	switch lower(word) {
	case "show":
		return "; list tables with SELECT name FROM sqlite_schema WHERE type = 'table'"
	case "describe", "desc":
		return "; list columns with PRAGMA table_info(name)"
	case "ilike":
		return "; SQLite's LIKE ignores the case of ASCII letters"
	case "interval":
		return "; SQLite computes dates with modifiers, as in date(x, '+1 day')"
	case "extract":
		return "; SQLite takes dates apart with strftime('%Y', x)"
	case "fetch", "top":
		return "; SQLite limits rows with LIMIT at the end"
	case "lateral":
		return "; SQLite's table functions see the tables to their left without LATERAL"
	case "analyze":
		return "; SQLite has EXPLAIN QUERY PLAN"
	case "into":
		return "; SELECT returns its rows and stores none"
	case "update", "share":
		return "; SQLite has no locking clause"
	default:
		return ""
	}
}
