package mysql

import (
	"errors"

	"github.com/ktxhq/ktx/sqlguard"
)

// errNoParser says that a parser could not be created, which is a bug in this package.
var errNoParser = errors.New("mysql: no parser")

// Analyze parses sql and states what its statements are and touch. Each
// statement is read alone: a text of more than one never runs.
func (d Dialect) Analyze(sql string) ([]sqlguard.Statement, error) {
	return d.AnalyzeTokens(sql, d.Lex(sql).List)
}

// AnalyzeTokens is like Analyze, for a statement that Lex has split.
func (d Dialect) AnalyzeTokens(sql string, tokens []sqlguard.Token) ([]sqlguard.Statement, error) {
	pieces := divide(tokens)
	if len(pieces) == 0 {
		return nil, nil
	}
	out := make([]sqlguard.Statement, len(pieces))
	for i, tokens := range pieces {
		err := d.analyze(sql, tokens, &out[i])
		syntax, unread := errors.AsType[*sqlguard.SyntaxError](err)
		switch {
		case err == nil:
		case i == 0 || !unread:
			return nil, err
		default:
			out[i] = sqlguard.Statement{Span: spanOf(tokens)}
			out[i].Effects = []sqlguard.Finding{{
				Code: sqlguard.CodeParseError, Message: syntax.Message,
				Span: sqlguard.Span{Start: syntax.Offset, End: min(syntax.Offset+1, len(sql))},
			}}
		}
	}
	return out, nil
}

// divide returns the tokens of each statement, without terminators and without
// comments around it.
func divide(tokens []sqlguard.Token) [][]sqlguard.Token {
	var pieces [][]sqlguard.Token
	start, end := -1, 0
	flush := func() {
		if start >= 0 {
			pieces = append(pieces, tokens[start:end])
		}
		start = -1
	}
	for i, t := range tokens {
		switch t.Kind { //nolint:exhaustive // every other kind is part of a statement
		case sqlguard.TokenTerminator:
			flush()
		case sqlguard.TokenComment:
		default:
			if start < 0 {
				start = i
			}
			end = i + 1
		}
	}
	flush()
	return pieces
}

func spanOf(tokens []sqlguard.Token) sqlguard.Span {
	return sqlguard.Span{Start: tokens[0].Start, End: tokens[len(tokens)-1].End}
}

// reader parses a text and walks over its only statement. It returns an
// *unreadError when it cannot read it.
type reader func(w *walker, text string) error

// analyze reads one statement. It uses TiDB's parser, then marino when TiDB's
// parser cannot read the statement or skips a part of it. When neither can, it
// refuses the statement by its words.
func (d Dialect) analyze(sql string, tokens []sqlguard.Token, st *sqlguard.Statement) error {
	l := newLedger(sql, tokens)
	defer l.release()
	var fault *sqlguard.SyntaxError
	if err := l.excess(); err != nil {
		return err
	}
	if w := (walker{ledger: l, dialect: d, st: st}); w.showExactly() {
		return nil
	}
	for _, read := range [...]reader{readTiDB, readOldTiDB, readMarino} {
		err := d.attempt(l, tokens, st, read, change{})
		syntax, unread := errors.AsType[*sqlguard.SyntaxError](err)
		if !unread {
			return err
		}
		if fault == nil || syntax.Offset > fault.Offset {
			fault = syntax
		}
		l.reset()
	}
	for _, c := range d.changes(l, tokens) {
		err := d.attempt(l, tokens, st, readTiDB, c)
		if _, unread := errors.AsType[*sqlguard.SyntaxError](err); !unread {
			return err
		}
		l.reset()
	}
	*st = sqlguard.Statement{Span: spanOf(tokens)}
	w := walker{ledger: l, dialect: d, st: st}
	if w.refuseByName() || w.refuseByWords() {
		return nil
	}
	return fault
}

// changes returns the changes that may make a statement readable for the parser.
func (d Dialect) changes(l *ledger, tokens []sqlguard.Token) []change {
	var all []change
	brackets := matches(l.sql, tokens)
	if brackets != nil {
		all = append(all, change{edits: brackets})
	}
	c := l.mysqlSyntax()
	if d.product == productMariaDB {
		c = l.mariadbSyntax()
	}
	if c.edits != nil {
		c.edits = joined(c.edits, brackets)
		all = append(all, c)
	}
	return all
}

// attempt reads one statement with one parser, with a change to the text that
// the parser reads.
func (d Dialect) attempt(l *ledger, tokens []sqlguard.Token, st *sqlguard.Statement, read reader, c change) error {
	*st = sqlguard.Statement{Span: spanOf(tokens)}
	w := walker{ledger: l, dialect: d, st: st}
	w.judgeHints(tokens)
	from := w.prefix()
	for _, i := range c.met {
		l.items[i].met = true
	}
	if err := read(&w, edited(w.sql, from, st.Span.End, c.edits)); err != nil {
		if unread, ok := errors.AsType[*unreadError](err); ok {
			return w.syntaxError(from, unread)
		}
		return err
	}
	if len(st.Effects) > 0 {
		// A statement that is refused whole is not walked to its leaves.
		return nil
	}
	// The words show parts of the statement that the tree leaves out.
	if w.refuseByWords() {
		return nil
	}
	return l.complete()
}

// prefix reads the words before a query that the servers explain and the parsers
// do not know there: EXPLAIN EXTENDED, EXPLAIN PARTITIONS, and MariaDB's ANALYZE,
// which runs the query. It returns the index at which the parsers start.
func (w *walker) prefix() int {
	at := 0
	switch {
	case w.word(0, "analyze") && w.dialect.product != productMySQL:
		at = 1
		if len(w.items) > 4 && w.word(1, "format") && w.items[2].Text(w.sql) == "=" && w.items[3].class&(classAny|classString) != 0 {
			at = 4
		}
	case (w.word(0, "explain") || w.word(0, "describe") || w.word(0, "desc")) && (w.word(1, "extended") || w.word(1, "partitions")):
		at = 2
	}
	if at == 0 || at >= len(w.items) || !w.word(at, "select") && !w.word(at, "with") && w.kind(at) != sqlguard.TokenOpen {
		return w.st.Span.Start
	}
	w.st.Executes = w.word(0, "analyze")
	for i := range at {
		w.items[i].met = true
	}
	w.cursor = at
	w.explained = true
	return w.items[at].Start
}
