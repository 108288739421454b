package mysqldb

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/ending"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/execution/mysqldb/wire"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	// clientGrace is how long the client waits after a statement's time limit
	// before it ends the statement. The server keeps the same limit itself. But
	// it does not check the clock while it waits for its client to read, and
	// MySQL checks the clock only in SELECT.
	clientGrace = 75 * time.Millisecond
	// drainFor is how long the backend reads rows beyond the limit before it
	// kills the statement. Reading a short rest costs less than a connection
	// for the KILL.
	drainFor = 2 * time.Millisecond
)

// Query runs stmt read-only and returns its rows within lim.
func (d *DB) Query(ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
	sql, err := stmt.SQLFor(*d.guard.Load())
	if err != nil {
		return nil, execution.NewError(sqlguard.CodeInternalError, "the statement is not one that this connection's guard approved", err)
	}
	return d.run(ctx, sql, lim.WithDefaults())
}

// run runs one statement on a connection of the pool.
func (d *DB) run(ctx context.Context, sql string, lim execution.Limits) (*execution.Result, error) {
	if ctx.Err() != nil {
		return nil, pool.Ended(context.Cause(ctx), nil, lim.Timeout)
	}
	for retried := false; ; retried = true {
		l, err := d.pool.Acquire(ctx, lim.Timeout)
		if err != nil {
			return nil, err
		}
		x := exchange{c: l.Conn, k: ending.New(&running{c: l.Conn, pool: d.pool}), sql: sql, lim: lim}
		res, err := x.run(ctx, d.pool.OnClose)
		switch {
		case x.keep:
			d.pool.Release(l)
		case x.unconfirmed, x.lost:
			l.Conn.Destroy()
			keep := d.pool.Hold
			if x.lost {
				keep = d.pool.HoldLost
			}
			h := keep(l)
			if res != nil {
				res.Held = h
			}
			if e, ok := errors.AsType[*execution.Error](err); ok {
				e.Held = h
			}
		default:
			d.pool.Discard(l)
		}
		if e, ok := errors.AsType[*execution.Error](err); ok && x.sent {
			e.Elapsed = x.elapsed
		}
		if err != nil && !x.sent && l.Reused && !retried && x.reason == nil {
			// The connection ended, or its session changed, while it was idle.
			// The same may have happened to every idle connection.
			d.pool.Forget()
			continue
		}
		return res, err
	}
}

// exchange is one statement on one connection.
type exchange struct {
	c   *conn
	k   *ending.Call
	sql string
	lim execution.Limits

	sent    bool // the statement may have reached the server
	rows    rowset.Set
	refused *wire.Error // the server's error for the statement
	status  wire.Status // of the end of the rows
	drain   *time.Timer
	elapsed time.Duration

	reason error // why the backend ended it early
	keep   bool  // the connection can be used again
	// unconfirmed says that the statement was to be ended, and may still run.
	unconfirmed bool
	lost        bool // the connection broke by itself, and the statement may still run
}

// run sends the statement, reads its answer and returns the result or the
// error.
func (x *exchange) run(ctx context.Context, onClose func(func()) func() bool) (*execution.Result, error) {
	x.rows = rowset.Set{Limits: x.lim, Syntax: &syntax}
	ctx, cancel := context.WithTimeoutCause(ctx, x.lim.Timeout+clientGrace, pool.ErrTimeLimit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { x.k.Interrupt(context.Cause(ctx)) })
	stay := onClose(func() { x.k.Interrupt(pool.ErrClosing) })

	start := time.Now()
	x.c.begun = start
	err := x.c.begin(x.lim)
	begun := err == nil
	if begun && x.k.Begin() {
		x.sent = true
		if err = x.c.wire.SendQueries(x.sql); err == nil {
			err = x.read()
		}
	}
	x.elapsed = time.Since(start)

	stop()
	stay()
	if x.drain != nil {
		x.drain.Stop()
	}
	var delivered bool
	x.reason, delivered = x.k.Finish()
	switch {
	case !x.sent && x.reason != nil:
		return nil, pool.Ended(x.reason, err, x.lim.Timeout)
	case !begun:
		return nil, x.notBegun(err)
	case err != nil:
		return x.broken(err)
	}
	res, err := x.answered(delivered)
	// Before the connection is used again, the statement is rolled back and the
	// session is reset.
	x.keep = x.keep && x.c.close() == nil
	return res, err
}

// notBegun returns the error for a statement that was not sent.
func (x *exchange) notBegun(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		out := queryError(e, "")
		switch {
		case timeLimit(e.Number): // the limit applies to the opening too
			return pool.NotBegun(e, x.lim.Timeout)
		case e.Number == errInterrupted, out.Code != sqlguard.CodeDatabaseError:
			return out
		}
		return mismatch(&mismatchError{e.Message})
	}
	if e, ok := errors.AsType[*mismatchError](err); ok {
		return mismatch(e)
	}
	if errors.Is(err, wire.ErrFormat) {
		return network.Untrusted("the server's answer is not that of a session", err)
	}
	return lost(err)
}

// read reads the answer to the statement.
func (x *exchange) read() error {
	a, err := x.c.wire.Answer()
	if err != nil {
		return err
	}
	if x.refused, x.status = a.Err, a.Status; a.Columns == nil {
		return nil
	}
	describe(&x.rows, a.Columns)
	row := wire.Row{
		Columns: len(a.Columns), Keep: len(x.rows.Columns),
		CellBytes: min(x.lim.CellBytes, 1<<30), RowBytes: min(x.lim.Bytes, 1<<30),
	}
	for {
		more, err := x.c.wire.Row(&row)
		switch {
		case err != nil:
			return err
		case !more:
			x.refused, x.status = row.Err, row.Status
			return nil
		case x.rows.Full():
			continue
		}
		add(&x.rows, row.Values, row.Cut)
		if x.rows.Full() {
			row.Drop = true
			x.drain = time.AfterFunc(drainFor, func() { x.k.Interrupt(pool.ErrEnough) })
		}
	}
}

// broken ends a statement whose connection can no longer be read.
func (x *exchange) broken(err error) (*execution.Result, error) {
	if errors.Is(err, wire.ErrFormat) {
		return nil, network.Untrusted("the server's answer is not that of a query", err)
	}
	x.unconfirmed = x.reason != nil
	switch {
	case x.rows.Full():
		return x.result()
	case x.reason != nil:
		return nil, pool.Unconfirmed(x.reason, err, x.lim.Timeout)
	}
	x.lost = x.refused == nil
	return nil, lost(err)
}

// answered ends a statement that the server finished.
func (x *exchange) answered(delivered bool) (*execution.Result, error) {
	killed := x.refused != nil && interruption(x.refused.Number)
	// A KILL that has not taken effect yet would hit the next statement.
	x.keep = x.reason == nil || killed && delivered
	if x.refused == nil {
		switch {
		case x.rows.Columns == nil:
			x.keep = false
			return nil, network.Untrusted("the statement returned no rows, as one does that is no read", nil)
		case !x.c.readOnly(x.status) || x.status.Has(wire.MoreResults):
			x.keep = false
			return nil, network.Untrusted("the statement left its read-only transaction", nil)
		}
	}
	switch enough := errors.Is(x.reason, pool.ErrEnough); {
	case x.rows.Full():
		return x.result()
	case x.reason != nil && !enough:
		// Some functions end early and return a value when they are killed.
		return nil, pool.Ended(x.reason, causeOf(x.refused), x.lim.Timeout)
	case x.refused == nil && x.c.flavour != mariadb && x.elapsed >= x.lim.Timeout:
		// Such functions return a value at MySQL's time limit too.
		return nil, pool.Ended(pool.ErrTimeLimit, nil, x.lim.Timeout)
	case x.refused == nil:
		return x.result()
	case timeLimit(x.refused.Number), killed && x.elapsed >= x.lim.Timeout:
		return nil, pool.Ended(pool.ErrTimeLimit, x.refused, x.lim.Timeout)
	case killed:
		return nil, execution.NewError(sqlguard.CodeCancelled, "the statement was cancelled at the server", x.refused)
	default:
		return nil, queryError(x.refused, x.sql)
	}
}

// causeOf returns e as an error, and nil when e is nil.
func causeOf(e *wire.Error) error {
	if e == nil {
		return nil
	}
	return e
}

func (x *exchange) result() (*execution.Result, error) {
	if passwordsOfReplicas(x.rows.Columns) {
		return nil, execution.NewError(sqlguard.CodeCredentialRelation, "the server was started with the option to show the passwords of its replicas, so this answer is not given: it has the columns of SHOW REPLICAS with User and Password", nil)
	}
	res := x.rows.Result()
	res.Elapsed = x.elapsed
	return res, nil
}

// passwordsOfReplicas reports whether columns are those of SHOW REPLICAS on a server with
// --show-replica-auth-info. No variable tells that a server has it.
func passwordsOfReplicas(columns []execution.Column) bool {
	for i, name := range []string{"server_id", "host", "user", "password", "port"} {
		if i >= len(columns) || !strings.EqualFold(columns[i].Name, name) {
			return false
		}
	}
	return true
}
