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
		x := &exchange{c: c, k: newCall(c), lim: lim, answer: &answer{rows: newRowSet(lim)}}
		res, err := x.run(ctx, s, d.pool.OnClose)
		switch {
		case x.left:
			holding(d.pool.Hold(lease), res, err)
		case x.lost:
			c.held.broke()
			holding(d.pool.HoldLost(lease), res, err)
		case x.keep && c.reset() == nil:
			d.pool.Release(lease)
		default:
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

	answer  *answer
	elapsed time.Duration

	unsent bool // the connection broke before the statement was sent
	keep   bool // the connection can be used again
	left   bool // nobody waits for the statement, whose answer is still read
	lost   bool // the connection broke, and the statement may still run
}

// run pins the session, sends the statement, reads its answer and rolls it
// back.
func (x *exchange) run(ctx context.Context, s statement, closing func(func()) func() bool) (*execution.Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, x.lim.Timeout, pool.ErrTimeLimit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { x.k.interrupt(context.Cause(ctx)) })
	stay := closing(func() { x.k.interrupt(pool.ErrClosing) })

	x.c.begun = time.Now()
	opened := x.c.open(x.lim, s.home, x.k)
	x.c.session = x.c.wire.Session()
	var err error
	if opened == nil && x.k.told() == nil {
		err = x.send(s.text)
	}
	stop()
	stay()
	reason := x.k.finish()
	if x.left {
		return nil, pool.Unconfirmed(reason, nil, x.lim.Timeout)
	}
	x.k.work.Wait()

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

// send sends the statement and reads its answer. When the caller must not wait any
// longer, the answer is read on, because its end says when the statement is over.
func (x *exchange) send(text string) error {
	start := time.Now()
	defer func() { x.elapsed = time.Since(start) }()
	x.k.begin()
	x.c.held.begin()
	r, err := x.c.wire.SendBatch(text, false)
	if err != nil {
		return err
	}
	x.k.sent()
	x.answer.r, x.answer.enough = r, x.k.enough
	read := make(chan error, 1)
	go func() {
		err := x.answer.read()
		x.c.held.ended(err)
		read <- err
	}()
	select {
	case err = <-read:
		return err
	case <-x.k.left:
		x.left = true
		return nil
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
	x.lost = x.answer.r != nil && x.answer.strange == nil && len(x.answer.errors) == 0 && !errors.Is(err, tds.ErrMalformed)
	if x.answer.rows.Full() && x.answer.strange == nil && len(x.answer.errors) == 0 {
		// The part that could not be read comes after the rows that the caller
		// gets.
		return x.result(), nil
	}
	switch {
	case x.answer.strange != nil:
		return nil, network.Untrusted(x.answer.strange.Error(), err)
	case reason != nil && !errors.Is(reason, pool.ErrEnough):
		return nil, pool.Unconfirmed(reason, err, x.lim.Timeout)
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
	a := x.answer
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

// holding says in the answer to a statement that it may still run.
func holding(h *execution.Held, res *execution.Result, err error) {
	if res != nil {
		res.Held = h
	}
	if e, ok := errors.AsType[*execution.Error](err); ok {
		e.Held = h
	}
}

func (x *exchange) result() *execution.Result {
	res := x.answer.rows.result(x.answer)
	res.Elapsed = x.elapsed
	return res
}
