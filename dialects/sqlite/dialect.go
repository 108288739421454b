package sqlite

import (
	"errors"

	"github.com/sqlc-dev/meyer/ast"
	"github.com/sqlc-dev/meyer/parser"

	"github.com/ktxhq/ktx/sqlguard"
)

// Dialect reads SQLite's SQL. The zero value is ready.
type Dialect struct{}

var _ sqlguard.Dialect = Dialect{}

const version = "meyer v0.1.2 (SQLite 3.53.4)"

// Name returns "sqlite".
func (Dialect) Name() string { return "sqlite" }

// Version names the parser and the release of SQLite whose grammar it has.
func (Dialect) Version() string { return version }

// Lex splits text as SQLite's tokenizer does. White space is not a token. A
// semicolon inside the body of CREATE TRIGGER is an operator, as
// sqlite3_complete has it, not a terminator; a dot command where a statement
// could start is a client command that its line ends.
func (Dialect) Lex(text string) sqlguard.Tokens {
	l := lexer{text: text}
	list := make([]sqlguard.Token, 0, len(text)/3+8)
	for {
		t, ok := l.next()
		if !ok {
			return sqlguard.Tokens{List: list}
		}
		list = append(list, t)
	}
}

// Analyze parses sql and states what its statements are and touch.
func (Dialect) Analyze(sql string) ([]sqlguard.Statement, error) {
	nodes, err := parser.ParseString(sql)
	if err != nil {
		return nil, syntaxError(sql, err)
	}
	w := newWalker(sql)
	statements := make([]sqlguard.Statement, len(nodes))
	for i, n := range nodes {
		w.statement(n, &statements[i])
	}
	// A statement that is refused whole is not walked to its leaves.
	if !w.refused {
		if err := w.complete(); err != nil {
			return nil, err
		}
	}
	return statements, nil
}

// syntaxError turns the parser's error into the guard's. The parser repeats
// the text at the fault; a literal there is not repeated.
func syntaxError(sql string, err error) error {
	fault, ok := errors.AsType[*parser.Error](err)
	if !ok {
		return err
	}
	at := min(max(fault.Offset, 0), len(sql))
	message := fault.Message
	l := lexer{text: sql}
	for {
		t, ok := l.next()
		if !ok || t.Start > at {
			break
		}
		if t.End <= at {
			continue
		}
		switch t.Kind {
		case sqlguard.TokenString, sqlguard.TokenQuotedText, sqlguard.TokenNumber, sqlguard.TokenInvalid, sqlguard.TokenUnterminated:
			message = "syntax error near '…'"
			if t.Kind == sqlguard.TokenUnterminated {
				message = "a literal or quoted name that starts here never ends"
			}
		default:
		}
		break
	}
	return &sqlguard.SyntaxError{Message: message, Offset: at}
}

// statementSpan is the place of a statement without its terminator: the parser
// counts the semicolon in.
func statementSpan(sql string, n ast.Stmt) sqlguard.Span {
	end := n.End()
	if end > n.Pos() && sql[end-1] == ';' {
		end--
	}
	for end > n.Pos() && isSpace(sql[end-1]) {
		end--
	}
	return sqlguard.Span{Start: n.Pos(), End: end}
}
