package mssqldb

import (
	"errors"
	"fmt"
	"time"

	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
)

// answer reads the server's answer to one batch.
type answer struct {
	r      *tds.Response
	own    bool // the batch is one of the package's own
	rows   rowSet
	enough func(after time.Duration)

	sets         int // how many sets of columns there were
	errors       []tds.Message
	counted      bool // the server said how many rows there were
	count        uint64
	failed       bool
	fatal        bool
	acknowledged bool
	strange      error // a token that no query answers
}

// maxErrors is how many errors of one answer are kept.
const maxErrors = 8

// read reads to the end of the answer.
func (a *answer) read() error {
	a.r.Named = a.rows.Limits.Columns
	for {
		token, err := a.r.Next()
		if err != nil {
			return err
		}
		switch token {
		case tds.TokenEnd:
			if a.failed && len(a.errors) == 0 && !a.acknowledged {
				a.odd("the statement failed without an error")
			}
			return nil
		case tds.TokenColumns:
			if a.sets++; a.sets > 1 {
				a.odd("the statement returned more than one result")
				break
			}
			a.rows.describe(a.r.Columns)
		case tds.TokenRow:
			if a.strange != nil || a.rows.Full() || len(a.errors) > 0 {
				break // the row is skipped
			}
			err := a.rows.add(a.r, a.enough)
			if a.rows.Full() && a.enough != nil {
				a.enough(drainFor)
			}
			if err != nil {
				return err
			}
		case tds.TokenDone:
			a.done()
		case tds.TokenError:
			if len(a.errors) < maxErrors {
				a.errors = append(a.errors, a.r.Message)
			}
		case tds.TokenChange:
			a.change()
		case tds.TokenInfo:
		case tds.TokenProcedure:
			a.odd("the statement ran a procedure")
		default:
			return fmt.Errorf("%w: a token of no kind", tds.ErrMalformed)
		}
	}
}

func (a *answer) done() {
	d := a.r.Done
	a.fatal = a.fatal || d.Fatal
	a.acknowledged = a.acknowledged || d.Acknowledged
	if a.own {
		return
	}
	a.failed = a.failed || d.Failed
	if d.Counted {
		a.counted, a.count = true, d.Rows
	}
	if d.More {
		a.odd("the statement was more than one")
	}
}

// change checks a change of the session that the server reports. Under
// XACT_ABORT, an error or an attention ends the transaction, so that end is
// allowed. A transaction that ended in another way is found when the statement
// is undone.
func (a *answer) change() {
	if !a.own && a.r.Change != tds.ChangeRollback && a.r.Change != tds.ChangeEnded {
		a.odd("the statement changed its session or its transaction")
	}
}

// odd records a token that no query answers, and ends the statement.
func (a *answer) odd(what string) {
	if a.own {
		return
	}
	if a.strange == nil {
		a.strange = errors.New(what)
	}
	a.enough(0)
}
