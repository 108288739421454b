package sqlite

import (
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

// statementSpan is the span of a statement without its terminator. The parser includes the
// semicolon.
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

// FoldsNames returns true: SQLite treats names that differ only in the case of ASCII
// letters as the same name, quoted or not.
func (Dialect) FoldsNames() bool { return true }
