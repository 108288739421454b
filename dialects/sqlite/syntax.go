package sqlite

import (
	"errors"

	"github.com/sqlc-dev/meyer/parser"

	"github.com/ktxhq/ktx/sqlguard"
)

// syntaxError turns the parser's error into the guard's. The parser repeats
// the text at the fault; a literal there is not repeated.
func syntaxError(sql string, err error) error {
	fault, ok := errors.AsType[*parser.Error](err)
	if !ok {
		return err
	}
	at := min(max(fault.Offset, 0), len(sql))
	message := fault.Message
	t, before := tokenAt(sql, at)
	switch t.Kind {
	case sqlguard.TokenUnterminated:
		message = "a literal or quoted name that starts here never ends"
	case sqlguard.TokenString, sqlguard.TokenQuotedText, sqlguard.TokenNumber:
		message = "near '…': syntax error"
	case sqlguard.TokenInvalid:
		if t.Text(sql) == ":" && t.End < len(sql) && sql[t.End] == ':' {
			message = `"::" is no operator of SQLite: write CAST(x AS type)`
		}
	case sqlguard.TokenWord:
		message += advice(t.Text(sql))
		// The word before may have been taken for an alias.
		if before.Kind == sqlguard.TokenWord && message == fault.Message {
			message += advice(before.Text(sql))
		}
	default:
		if before.Kind == sqlguard.TokenWord {
			message += advice(before.Text(sql))
		}
	}
	return &sqlguard.SyntaxError{Message: message, Offset: at}
}

// tokenAt returns the token that stands at or after an offset, and the one
// before it.
func tokenAt(sql string, at int) (t, before sqlguard.Token) {
	l := lexer{text: sql}
	t, before = sqlguard.Token{Kind: sqlguard.TokenTerminator}, sqlguard.Token{Kind: sqlguard.TokenTerminator}
	for {
		next, ok := nextToken(&l)
		if !ok {
			return sqlguard.Token{Kind: sqlguard.TokenTerminator}, t
		}
		before, t = t, next
		if t.End > at {
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
