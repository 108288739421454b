package pgdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/alarm"
	"github.com/ktxhq/ktx/execution/internal/ending"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	// clientGrace is how long the client waits beyond a statement's time limit
	// before it ends the statement. The server keeps the limit itself, but it
	// does not check the clock while it waits for its client to read.
	clientGrace = 75 * time.Millisecond
	// drainFor is how long rows beyond the limit are read before the statement
	// is cancelled. Reading a short rest costs less than a cancel request.
	drainFor = 2 * time.Millisecond
	// staleAfter is the idle time from which a connection that breaks before
	// any answer counts as lost while idle.
	staleAfter = time.Second
)

// Query runs stmt read-only and returns its rows within lim.
func (d *DB) Query(ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
	in := d.accepts.Load()
	sql, err := stmt.SQLFor(in.guard)
	if err != nil {
		return nil, execution.NewError(sqlguard.CodeInternalError, "the statement is not one that this connection's guard approved", err)
	}
	res, oids, err := d.run(ctx, statement{sql: sql, pins: in.pins}, lim.WithDefaults())
	if err != nil {
		if e, ok := errors.AsType[*execution.Error](err); ok && d.access.Restricts() && e.SQLState != stateNoFunction {
			e.ServerHint = "" // it may name a column that a rule denies
		}
		return nil, err
	}
	d.nameTypes(ctx, res, oids)
	return res, nil
}

// statement is one SQL statement and its parameters. Only constants of this
// package have parameters.
type statement struct {
	sql    string
	values [][]byte
	pins   *pinned // nil means the pins of the configuration
}

// run runs s on a connection of the pool. It returns the result and the types
// of its columns. In the result, only built-in types have their names.
func (d *DB) run(ctx context.Context, s statement, lim execution.Limits) (*execution.Result, []uint32, error) {
	if ctx.Err() != nil {
		return nil, nil, pool.Ended(context.Cause(ctx), nil, lim.Timeout)
	}
	for retried := false; ; retried = true {
		l, err := d.pool.Acquire(ctx, lim.Timeout)
		if err != nil {
			return nil, nil, err
		}
		x := exchange{c: l.Conn, k: ending.New(l.Conn), s: s, lim: lim, alarm: &d.alarm, stale: l.Reused && l.Idle >= staleAfter}
		res, err := x.run(ctx, d.pool.OnClose)
		if x.broke && x.keep && ctx.Err() == nil { // the statement did not run; the pins say what differs, or set it
			x = exchange{c: l.Conn, k: ending.New(l.Conn), s: s, lim: lim, alarm: &d.alarm}
			res, err = x.run(ctx, d.pool.OnClose)
		}
		switch {
		case x.keep:
			d.pool.Release(l)
		case x.unconfirmed:
			l.Conn.Destroy()
			err = hold(d.pool.Hold(l), res, err)
		case x.lost:
			l.Conn.Destroy()
			err = hold(d.pool.HoldLost(l), res, err)
		default:
			d.pool.Discard(l)
		}
		if e, ok := errors.AsType[*execution.Error](err); ok {
			e.Elapsed = x.elapsed
		}
		if err != nil && x.again && !retried && ctx.Err() == nil {
			d.pool.Forget()
			continue
		}
		return res, x.rows.oids, err
	}
}

// stage says which statement the server is executing.
type stage uint8

const (
	atBegin stage = iota
	atPins        // or the comparison of a sealed session
	atText
	atEnd      // in a sealed session the second comparison
	atRollback // of a sealed session
)

// exchange is one statement on one connection.
type exchange struct {
	c     *conn
	k     *ending.Call
	s     statement
	lim   execution.Limits
	alarm *alarm.Clock
	stale bool // the connection was idle for a long time

	at, last  stage // last is where the answer ends
	sealed    bool
	parsed    bool // the server has parsed the statement
	bound     bool
	described bool
	received  bool // the server has sent anything
	farewell  bool // the server said that it is shutting down
	rows      rowSet
	tag       string
	failed    *pgconn.PgError
	drain     *time.Timer
	elapsed   time.Duration

	keep  bool // the connection can be used again
	again bool // the statement did not run and may be tried once more
	broke bool // the session's seal did not hold, so the statement did not run
	// unconfirmed says that the statement was to be ended, and may still run.
	unconfirmed bool
	lost        bool // the connection broke by itself, and the statement may still run
}

// run sends the statement, reads the answer and returns the result or the
// error.
func (x *exchange) run(ctx context.Context, onClose func(func()) func() bool) (*execution.Result, error) {
	c := x.c
	if c.prepared && c.dialer.found.Load() {
		c.unprepare()
	}
	settings := x.s.pins
	if settings == nil {
		settings = c.dialer.texts.pins
	}
	open, err := c.opening(x.lim.Timeout, x.lim.LockTimeout, settings)
	if err != nil {
		return nil, err
	}
	end, err := c.closing()
	if err != nil {
		return nil, err
	}
	x.rows = newRowSet(x.lim)
	c.said = said{text: head(x.s.sql), at: time.Now()}
	c.frames.limit(x.lim.CellBytes, x.lim.Bytes, x.lim.Columns)
	f := c.pg.Frontend()
	f.SetMaxBodyLen(max(maxMessageBody, int(min(x.lim.Bytes, 1<<30))+4*maxColumns+2))

	x.k.Begin()
	late := x.alarm.After(x.lim.Timeout+clientGrace, func() { x.k.Interrupt(pool.ErrTimeLimit) })
	stop := context.AfterFunc(ctx, func() { x.k.Interrupt(context.Cause(ctx)) })
	stay := onClose(func() { x.k.Interrupt(pool.ErrClosing) })

	start := time.Now()
	f.Send(open)
	f.SendParse(&pgproto3.Parse{Query: x.s.sql})
	f.SendBind(&pgproto3.Bind{Parameters: x.s.values}) // no format codes: every column as text
	f.SendDescribe(&pgproto3.Describe{ObjectType: 'P'})
	f.SendExecute(&pgproto3.Execute{})
	x.last = atEnd
	switch x.sealed = c.openSealed; {
	case x.sealed:
		x.last = atRollback + 1
		f.Send(c.leave)
	case c.pooled:
		f.SendSync(&pgproto3.Sync{})
	default:
		f.SendSync(&pgproto3.Sync{})
		f.Send(end)
	}
	var status byte
	if err = f.Flush(); err == nil {
		c.pending = !c.pooled
		status, err = x.read()
	}
	x.elapsed = time.Since(start)
	ended := true
	if x.sealed && err == nil {
		if c.pending = x.failed != nil; c.pending { // the server has skipped the rollback
			f.Send(end)
			ended = f.Flush() == nil
		}
	}
	if c.pooled && err == nil && status != 'I' {
		// A pooler may assign the server connection to another client after a
		// ReadyForQuery outside of a transaction. If the statement had ended
		// its own transaction, the second part would reach another client's
		// server connection. A statement other than a read may also have
		// effects that outlive a rollback, as PREPARE has. In that case the
		// client disconnects inside the transaction, and the pooler closes the
		// server connection.
		if ended = status != 'T' || reads(x.tag); ended {
			f.Send(end)
			c.pending = true
			ended = f.Flush() == nil
		}
	}

	late()
	stop()
	stay()
	if x.drain != nil {
		x.drain.Stop()
	}
	reason, delivered := x.k.Finish()
	if err != nil {
		return x.broken(err, reason)
	}
	res, err := x.answered(status, reason, delivered)
	x.keep = x.keep && ended
	return res, err
}

// read reads up to the first ReadyForQuery and returns its status.
func (x *exchange) read() (byte, error) {
	for {
		msg, err := x.c.pg.ReceiveMessage(context.Background())
		if err != nil {
			return 0, err
		}
		x.received = true
		switch msg := msg.(type) {
		case *pgproto3.DataRow:
			err = x.dataRow(msg)
		case *pgproto3.ReadyForQuery:
			return msg.TxStatus, nil
		case *pgproto3.ErrorResponse:
			if x.failed != nil {
				return 0, fmt.Errorf("%w: a second error", errFrame)
			}
			x.failed = serverError(msg)
		case *pgproto3.NoticeResponse:
			x.farewell = x.farewell || msg.Code == stateAdminShutdown || msg.Code == stateCrashShutdown
		case *pgproto3.NotificationResponse, *pgproto3.ParameterStatus:
		default:
			err = x.control(msg)
		}
		if err != nil {
			return 0, err
		}
	}
}

// control checks the order of the answers. The package's own statements have a
// completed bind and command, and a completed parse when they are unnamed. The
// statement has every step. Any other message, such as COPY, is an error.
func (x *exchange) control(msg pgproto3.BackendMessage) error {
	ok := x.failed == nil && x.at < x.last
	switch msg := msg.(type) {
	case *pgproto3.ParseComplete:
		ok = ok && (x.at != atText || !x.parsed)
		x.parsed = x.at == atText
	case *pgproto3.BindComplete:
		ok = ok && (x.at != atText || x.parsed && !x.bound)
		x.bound = x.at == atText
	case *pgproto3.RowDescription:
		ok = ok && x.at == atText && x.bound && !x.described
		x.described = true
		x.rows.describe(msg)
	case *pgproto3.NoData:
		ok = ok && x.at == atText && x.bound && !x.described
		x.described = true
	case *pgproto3.EmptyQueryResponse:
		ok = ok && x.at == atText && x.described
		x.at = atEnd
	case *pgproto3.CommandComplete:
		ok = ok && (x.at != atText || x.described)
		if x.at == atText {
			x.tag = string(msg.CommandTag)
		}
		x.at++
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("%w: unexpected %T", errFrame, msg)
	}
	return nil
}

func (x *exchange) dataRow(msg *pgproto3.DataRow) error {
	switch {
	case x.failed != nil || x.at == atBegin || x.at == x.last || x.at == atText && !x.described:
		return fmt.Errorf("%w: a row out of place", errFrame)
	case x.at != atText || x.rows.Full():
		return nil
	}
	if err := x.rows.add(msg.Values, x.c.frames.takeCut()); err != nil {
		return err
	}
	if x.rows.Full() {
		x.c.frames.dropRemaining()
		x.drain = time.AfterFunc(drainFor, func() { x.k.Interrupt(pool.ErrEnough) })
	}
	return nil
}

// broken ends a statement whose connection can no longer be read.
func (x *exchange) broken(err, reason error) (*execution.Result, error) {
	if _, ok := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err); ok || errors.Is(err, errFrame) {
		return nil, network.Untrusted("the server's answer is not that of a query", err)
	}
	x.unconfirmed = reason != nil
	if x.rows.Full() {
		return x.result(), nil
	}
	if reason != nil {
		return nil, pool.Unconfirmed(reason, err, x.lim.Timeout)
	}
	x.again = !x.received && (x.stale || pgconn.SafeToRetry(err) && !x.c.pending)
	x.lost = !x.again && x.failed == nil && !x.farewell
	e := lost(err)
	if x.farewell {
		e.Code = sqlguard.CodeServerRestarted
	}
	return nil, e
}

// answered ends a statement that the server has finished.
func (x *exchange) answered(status byte, reason error, delivered bool) (*execution.Result, error) {
	canceled := x.failed != nil && x.failed.Code == stateQueryCanceled
	switch {
	case status == 'I' && x.at == atBegin && x.failed != nil: // BEGIN itself failed
	case status == 'E' && x.failed != nil && (x.at < atEnd || canceled):
	case x.failed != nil && x.at == atEnd:
		return nil, network.Untrusted("the statement changed its session", x.failed)
	case status == x.finished() && x.failed == nil && x.at == x.last && !endsTransaction(x.tag):
		if err := x.c.unchanged(); err != nil {
			return nil, network.Untrusted("the statement changed its session", err)
		}
	default:
		return nil, network.Untrusted("the statement left its read-only transaction", nil)
	}
	switch {
	case reason != nil:
		// A cancel that has not taken effect yet would hit the next statement.
		// Behind a pooler, that may be a statement of another client.
		x.keep = canceled && delivered && !x.c.pooled && x.c.settle() == nil
	case x.failed != nil && x.at < atText:
		x.keep = x.c.settle() == nil
	default:
		x.keep = x.failed != nil || reads(x.tag)
	}
	switch {
	case x.failed == nil || x.rows.Full() || x.at == atRollback:
		return x.result(), nil
	case canceled && x.at < atText && (errors.Is(reason, pool.ErrTimeLimit) || reason == nil && x.elapsed >= x.lim.Timeout):
		return nil, pool.NotBegun(x.failed, x.lim.Timeout)
	case canceled && reason != nil:
		return nil, pool.Ended(reason, x.failed, x.lim.Timeout)
	case canceled && x.elapsed >= x.lim.Timeout:
		return nil, pool.Ended(pool.ErrTimeLimit, x.failed, x.lim.Timeout)
	case canceled:
		return nil, execution.NewError(sqlguard.CodeCancelled, "the statement was cancelled at the server", x.failed)
	case x.at == atText:
		return nil, queryError(x.failed, x.s.sql)
	case x.failed.Code == stateNoStatement && x.c.prepared:
		// This server connection belonged to another client, so a pooler is in
		// front of the server.
		x.c.dialer.found.Store(true)
		x.again, x.keep = true, false
		return nil, queryError(x.failed, "")
	case x.at == atPins:
		x.broke = x.c.breakSeal()
		return nil, mismatch(x.failed)
	default:
		return nil, pool.Unopened(queryError(x.failed, ""))
	}
}

// finished is the state of a session that has answered everything.
func (x *exchange) finished() byte {
	if x.sealed {
		return 'I'
	}
	return 'T'
}

func (x *exchange) result() *execution.Result {
	res := x.rows.Result()
	res.Elapsed = x.elapsed
	return res
}

// reads reports whether a command tag belongs to a statement that reads.
func reads(tag string) bool {
	return tag == "" || tag == "SHOW" || tag == "EXPLAIN" || strings.HasPrefix(tag, "SELECT ")
}

// endsTransaction reports whether a command tag belongs to a statement that
// ends a transaction or starts another, with or without AND CHAIN.
func endsTransaction(tag string) bool {
	switch tag {
	case "COMMIT", "ROLLBACK", "BEGIN", "START TRANSACTION", "PREPARE TRANSACTION":
		return true
	default:
		return false
	}
}
