package sqlite

import (
	"errors"

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
	t := tokenAt(sql, at)
	switch t.Kind { //nolint:exhaustive // the text of others may be shown
	case sqlguard.TokenUnterminated:
		message = "a literal or quoted name that starts here never ends"
	case sqlguard.TokenString, sqlguard.TokenQuotedText, sqlguard.TokenNumber:
		message = "near '…': syntax error"
	}
	return &sqlguard.SyntaxError{Message: message, Offset: at}
}

// tokenAt returns the token at or after an offset.
func tokenAt(sql string, at int) sqlguard.Token {
	l := lexer{text: sql}
	for {
		t, ok := nextToken(&l)
		switch {
		case !ok:
			return sqlguard.Token{Kind: sqlguard.TokenTerminator}
		case t.End > at:
			return t
		}
	}
}
