package mssqldb

import (
	"context"
	"errors"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	// drainFor is how long the backend reads rows beyond the limit before it
	// ends the statement. SET ROWCOUNT makes most statements end by themselves
	// in that time.
	drainFor = 5 * time.Millisecond
	// drainCellFor is how long the backend reads the rest of a value beyond the
	// limit, to learn its size.
	drainCellFor = 250 * time.Millisecond
)

// Query runs stmt and returns its rows within lim. It rolls back everything
// that the statement did before it returns.
func (d *DB) Query(ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
	in := d.accepts.Load()
	text, err := stmt.SQLFor(in.guard)
	if err != nil {
		return nil, execution.NewError(sqlguard.CodeInternalError, "the statement is not one that this connection's guard approved", err)
	}
	return d.run(ctx, statement{text, in.home}, lim.WithDefaults())
}

// statement is one SQL text, and where the guard assumes that names in it are
// looked up. That is nil when it does not matter, as for the package's own
// queries.
type statement struct {
	text string
	home *home
}

// run runs a statement on a connection of the pool.
func (d *DB) run(ctx context.Context, s statement, lim execution.Limits) (*execution.Result, error) {
	if ctx.Err() != nil {
		return nil, pool.Ended(context.Cause(ctx), nil, lim.Timeout)
	}
	for retried := false; ; retried = true {
		lease, err := d.pool.Acquire(ctx, lim.Timeout)
		if err != nil {
			return nil, err
		}
		c := lease.Conn
		x := exchange{c: c, k: &call{c: c}, lim: lim}
		res, err := x.run(ctx, s, d.pool.OnClose)
		if x.keep && c.reset() == nil {
			d.pool.Release(lease)
		} else {
			d.pool.Discard(lease)
		}
		if err != nil && x.unsent && lease.Reused && !retried && ctx.Err() == nil {
			d.pool.Forget()
			continue
		}
		if e, ok := errors.AsType[*execution.Error](err); ok {
			e.Elapsed = x.elapsed // 0 when the statement was not sent
		}
		return res, err
	}
}

// exchange is one statement on one connection.
type exchange struct {
	c   *conn
	k   *call
	lim execution.Limits

	answer  answer
	drain   *time.Timer
	elapsed time.Duration

	unsent bool // the connection broke before the statement was sent
	keep   bool // the connection can be used again
}

// run pins the session, sends the statement, reads its answer and rolls it
// back.
func (x *exchange) run(ctx context.Context, s statement, closing func(func()) func() bool) (*execution.Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, x.lim.Timeout, pool.ErrTimeLimit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { x.k.interrupt(context.Cause(ctx)) })
	stay := closing(func() { x.k.interrupt(pool.ErrClosing) })

	opened := x.c.open(x.lim, s.home, x.k)
	var err error
	if opened == nil && x.k.told() == nil {
		err = x.send(s.text)
	}
	stop()
	stay()
	if x.drain != nil {
		x.drain.Stop()
	}
	reason := x.k.finish()

	if opened != nil {
		return nil, x.notOpened(opened, reason)
	}
	if err != nil {
		return x.broken(err, reason)
	}
	before, err := x.c.close(x.lim.LockTimeout)
	x.keep = err == nil && !x.answer.fatal
	return x.answered(before, err, reason)
}

// send sends the statement and reads its answer.
func (x *exchange) send(text string) error {
	start := time.Now()
	r, err := x.c.wire.SendBatch(text, false)
	if err != nil {
		return err
	}
	x.k.sent()
	x.answer = answer{r: r, rows: newRowSet(x.lim), enough: x.enough}
	err = x.answer.read()
	x.elapsed = time.Since(start)
	return err
}

// enough ends the statement when no further row is needed.
func (x *exchange) enough(after time.Duration) {
	if x.drain == nil {
		x.drain = time.AfterFunc(after, func() { x.k.interrupt(pool.ErrEnough) })
	} else if after == 0 {
		x.drain.Reset(0)
	}
}

// notOpened returns the error for a session that could not be pinned. The
// statement was not sent.
func (x *exchange) notOpened(err, reason error) error {
	if e, ok := errors.AsType[*serverError](err); ok && !e.fatal && reason == nil {
		return queryError(e)
	}
	switch {
	case reason != nil:
		return pool.Ended(reason, err, x.lim.Timeout)
	case errors.Is(err, errState):
		return mismatch(err)
	case errors.Is(err, tds.ErrMalformed):
		return network.Untrusted("the server's answer is not that of a session", err)
	default:
		x.unsent = true
		return lost(err)
	}
}

// broken ends a statement whose connection can no longer be read.
func (x *exchange) broken(err, reason error) (*execution.Result, error) {
	if x.answer.rows.Full() && x.answer.strange == nil && len(x.answer.errors) == 0 {
		// The part that could not be read comes after the rows that the caller
		// gets.
		return x.result(), nil
	}
	switch {
	case x.answer.strange != nil:
		return nil, network.Untrusted(x.answer.strange.Error(), err)
	case reason != nil && !errors.Is(reason, pool.ErrEnough):
		e := pool.Unconfirmed(reason, err, x.lim.Timeout)
		e.Unconfirmed = true
		return nil, e
	case len(x.answer.errors) > 0:
		return nil, queryError(&serverError{x.answer.errors, true})
	case errors.Is(err, tds.ErrMalformed):
		return nil, network.Untrusted("the server's answer is not that of a query", err)
	default:
		return nil, lost(err)
	}
}

// answered ends a statement that the server finished. Before is how many
// transactions were open after the statement. Closed is the error of the
// rollback, or nil.
func (x *exchange) answered(before string, closed, reason error) (*execution.Result, error) {
	a := &x.answer
	ran := a.r != nil && len(a.errors) == 0 && !a.acknowledged
	switch {
	case a.strange != nil:
		x.keep = false
		return nil, network.Untrusted(a.strange.Error(), nil)
	case errors.Is(closed, errState):
		return nil, network.Untrusted("the statement changed its session", closed)
	case ran && closed == nil && before != "1", !ran && closed == nil && before != "0" && before != "1":
		x.keep = false
		return nil, network.Untrusted("the statement left its transaction", nil)
	}
	switch {
	case a.rows.Full():
		return x.result(), nil
	case reason != nil && !ran:
		return nil, pool.Ended(reason, serverCause(a.errors), x.lim.Timeout)
	case len(a.errors) > 0:
		return nil, queryError(&serverError{a.errors, a.fatal})
	case a.acknowledged:
		return nil, execution.NewError(sqlguard.CodeCancelled, "the statement was cancelled at the server", nil)
	case a.sets == 0:
		x.keep = false
		return nil, network.Untrusted("the statement returned no rows and no columns, so it was no query", nil)
	default:
		return x.result(), nil
	}
}

func (x *exchange) result() *execution.Result {
	res := x.answer.rows.result(&x.answer)
	res.Elapsed = x.elapsed
	return res
}
