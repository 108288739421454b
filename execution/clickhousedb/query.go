package clickhousedb

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/clickhousedb/wire"
	"github.com/ktxhq/ktx/execution/internal/ending"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// drainFor is how long the backend reads rows beyond the limit before it ends the query.
// Reading a short rest costs less than a connection for KILL QUERY.
const drainFor = 2 * time.Millisecond

// drainCellFor is how long the backend reads the rest of a value beyond the limit, to
// learn its size.
const drainCellFor = 250 * time.Millisecond

// Query runs stmt read-only and returns its rows within lim.
func (d *DB) Query(ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
	text, err := stmt.SQLFor(*d.guard.Load())
	if err != nil {
		return nil, execution.NewError(sqlguard.CodeInternalError, "the statement is not one that this connection's guard approved", err)
	}
	return d.run(ctx, statement{text: text}, lim.WithDefaults())
}

// statement is one SQL text.
type statement struct {
	text string
	own  bool // of the package's own, which runs before the settings are known
	bare bool // without readonly=1, to read the profile
}

// run runs a statement on a connection of the pool.
func (d *DB) run(ctx context.Context, s statement, lim execution.Limits) (*execution.Result, error) {
	if ctx.Err() != nil {
		return nil, pool.Ended(context.Cause(ctx), nil, lim.Timeout)
	}
	id := newID()
	params := d.target.base(id)
	if !s.own {
		about, err := d.about(ctx)
		if err != nil {
			return nil, err
		}
		if params, err = about.parameters(d.target, id, lim); err != nil {
			return nil, mismatch(err)
		}
	}
	if s.bare {
		params.Del("readonly")
	}
	lease, err := d.pool.Acquire(ctx, lim.Timeout)
	if err != nil {
		return nil, err
	}
	c := lease.Conn
	x := exchange{c: c, id: id, told: &running{db: d, c: c, id: id}, lim: lim}
	x.k = ending.New(x.told)
	c.query = id
	res, err := x.run(ctx, params, s.text, d.pool.OnClose)
	var held *execution.Held
	switch {
	case x.keep:
		d.pool.Release(lease)
	case x.unconfirmed:
		c.Destroy()
		held = d.pool.Hold(lease)
	case x.lost:
		c.Destroy()
		held = d.pool.HoldLost(lease)
	default:
		d.pool.Discard(lease)
	}
	if res != nil {
		res.Held = held
	}
	if e, ok := errors.AsType[*execution.Error](err); ok {
		e.Elapsed, e.Held = x.elapsed, held
		if d.access.Restricts() {
			e.Message = suggestion.ReplaceAllString(e.Message, "$1")
		}
		if !s.own && (e.SQLState == codeReadOnly || e.SQLState == codeConstraint) {
			d.forget() // the profile may have changed
		}
	}
	return res, err
}

// exchange is one statement on one connection.
type exchange struct {
	c    *conn
	k    *ending.Call
	told *running
	id   string
	lim  execution.Limits

	answer  answer
	refused *serverError // the error that the server answered with
	drain   *time.Timer
	elapsed time.Duration
	reason  error // why the backend ended the statement
	keep    bool  // the connection can be used again
	// unconfirmed says that the statement was to be ended, and may still run.
	unconfirmed bool
	lost        bool // the connection broke by itself, and the statement may still run
}

// run sends the statement, reads its answer and returns the result or the error.
func (x *exchange) run(ctx context.Context, params url.Values, sql string, closing func(func()) func() bool) (*execution.Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, x.lim.Timeout, pool.ErrTimeLimit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { x.k.Interrupt(context.Cause(ctx)) })
	stay := closing(func() { x.k.Interrupt(pool.ErrClosing) })

	var err error
	sent := x.k.Begin()
	if sent {
		start := time.Now()
		err = x.exchange(params, sql)
		x.elapsed = time.Since(start)
	}
	stop()
	stay()
	if x.drain != nil {
		x.drain.Stop()
	}
	x.reason, _ = x.k.Finish() // a late KILL cannot hit another query
	if !sent {
		return nil, pool.Ended(x.reason, nil, x.lim.Timeout)
	}
	if err != nil {
		return x.broken(err)
	}
	x.keep = !x.c.Spent()
	return x.answered()
}

// exchange sends the statement and reads the answer to its end.
func (x *exchange) exchange(params url.Values, sql string) error {
	resp, err := x.c.Send(params, sql) //nolint:bodyclose // it is read to its end, or the connection is closed
	if err != nil {
		return err
	}
	x.answer = newAnswer(resp.Body, x.lim, x.enough)
	if resp.StatusCode == http.StatusOK {
		err = x.answer.read()
	} else {
		x.answer.failed, err = readFailure(resp)
	}
	x.refused = x.answer.failed
	return err
}

// enough ends the statement when no further row is needed.
func (x *exchange) enough(after time.Duration) {
	if x.drain == nil {
		x.drain = time.AfterFunc(after, func() { x.k.Interrupt(pool.ErrEnough) })
	} else if after == 0 {
		x.drain.Reset(0)
	}
}

// broken ends a statement whose answer can no longer be read.
func (x *exchange) broken(err error) (*execution.Result, error) {
	confirmed := x.reason != nil && x.told.gone.Load()
	x.unconfirmed = x.reason != nil && !confirmed
	switch {
	case x.answer.rows.Full():
		// The part that could not be read comes after the rows that the caller gets.
		return x.result(), nil
	case x.reason != nil && confirmed:
		return nil, pool.Ended(x.reason, err, x.lim.Timeout)
	case x.reason != nil && !errors.Is(x.reason, pool.ErrEnough):
		return nil, pool.Unconfirmed(x.reason, err, x.lim.Timeout)
	case x.refused != nil:
		return nil, queryError(x.refused)
	case errors.Is(err, errMalformed), errors.Is(err, wire.ErrNotHTTP), errors.Is(err, wire.ErrNoEnd):
		return nil, network.Untrusted("the server's answer is not that of a query", err)
	default:
		x.lost = x.reason == nil
		return nil, network.Lost(&faults, err, queryError)
	}
}

// answered ends a statement that the server finished.
func (x *exchange) answered() (*execution.Result, error) {
	switch {
	case x.answer.rows.Full():
		return x.result(), nil
	case x.reason != nil && !errors.Is(x.reason, pool.ErrEnough):
		return nil, pool.Ended(x.reason, causeOf(x.refused), x.lim.Timeout)
	case x.refused == nil && x.answer.rows.Columns == nil:
		x.keep = false
		return nil, network.Untrusted("the statement returned no rows and no columns, so it was no query", nil)
	case x.refused == nil:
		return x.result(), nil
	case x.refused.code == codeTimeout:
		return nil, pool.Ended(pool.ErrTimeLimit, x.refused, x.lim.Timeout)
	case x.refused.code == codeCancelled:
		return nil, execution.NewError(sqlguard.CodeCancelled, "the statement was cancelled at the server", x.refused)
	default:
		return nil, queryError(x.refused)
	}
}

func (x *exchange) result() *execution.Result {
	res := x.answer.rows.Result()
	res.Elapsed = x.elapsed
	return res
}

// mismatch returns the error for a session whose settings differ from the pins.
func mismatch(err error) *execution.Error {
	out := execution.NewError(sqlguard.CodeSessionModeMismatch, fmt.Sprintf("the statement was not run: %v", err), err)
	out.Hint = "the profile of the user has settings that a request cannot change; tell the operator"
	return out
}
