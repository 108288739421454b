package duckdbdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb/wire"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// Query runs stmt read-only and returns its rows within lim. A statement that does not end
// in time ends with its process.
func (d *DB) Query(ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
	text, err := stmt.SQLFor(*d.guard.Load())
	if err != nil {
		return nil, execution.NewError(sqlguard.CodeInternalError, "the statement is not one that this connection's guard approved", err)
	}
	return d.run(ctx, statement{text: text}, lim.WithDefaults())
}

// statement is one SQL text. Only one of the package's own may be of any kind.
type statement struct {
	text string
	any  bool
}

// run runs a statement in a process of the pool.
func (d *DB) run(ctx context.Context, s statement, lim execution.Limits) (*execution.Result, error) {
	if ctx.Err() != nil {
		return nil, pool.Ended(context.Cause(ctx), nil, lim.Timeout)
	}
	lease, err := d.pool.Acquire(ctx, lim.Timeout)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer d.pool.OnClose(func() { cancel(pool.ErrClosing) })()
	res, keep, err := lease.Conn.run(ctx, s, lim)
	if keep {
		d.pool.Release(lease)
	} else {
		d.pool.Discard(lease)
	}
	return res, err
}

// run runs a statement. keep says that the process can be used again.
func (c *conn) run(ctx context.Context, s statement, lim execution.Limits) (_ *execution.Result, keep bool, _ error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lim.Timeout, pool.ErrTimeLimit)
	defer cancel()
	stop := context.AfterFunc(ctx, c.Destroy)
	start := time.Now()
	a := answer{rows: rowset.Set{Limits: lim, Syntax: &syntax}}
	err := c.SendStatement(wire.Statement{SQL: s.text, Any: s.any, Limits: lim})
	if err == nil {
		err = a.read(c.Conn)
	}
	keep = stop() && err == nil
	c.used = time.Now()
	elapsed := c.used.Sub(start)
	switch {
	case err != nil && ctx.Err() != nil:
		e := pool.Ended(context.Cause(ctx), err, lim.Timeout)
		e.Elapsed = elapsed
		return nil, false, e
	case err != nil:
		c.Destroy()
		e := c.lost(err)
		e.Elapsed = elapsed
		return nil, false, e
	case a.failed != nil:
		e := c.queryError(a.failed)
		e.Elapsed = elapsed
		return nil, keep, e
	}
	res := a.rows.Result()
	res.Elapsed = elapsed
	return res, keep, nil
}

// answer is what the process says about one statement. Nothing of it is trusted before it
// was read.
type answer struct {
	rows   rowset.Set
	cells  [][]byte
	failed *wire.Failure
}

// read reads the answer to its end. An error means that the process is unfit.
func (a *answer) read(c *wire.Conn) error {
	// A frame has whole rows, and one row alone may have all bytes of the limit.
	longest := a.rows.Limits.Bytes + int64(a.rows.Limits.Columns)*10 + wire.MaxControl
	for {
		kind, payload, err := c.Read(longest)
		if err != nil {
			return err
		}
		if kind != wire.Rows && len(payload) > wire.MaxControl {
			return wire.ErrTooLong
		}
		switch kind { //nolint:exhaustive // every other kind is malformed
		case wire.Columns:
			err = a.describe(payload)
		case wire.Rows:
			err = a.add(payload)
		case wire.Cut:
			err = a.cut(payload)
		case wire.Failed:
			a.failed, err = readFailure(payload)
			return err
		case wire.Done:
			if a.cells == nil {
				return fmt.Errorf("%w: an answer without columns", wire.ErrMalformed)
			}
			return nil
		default:
			err = fmt.Errorf("%w: a frame of kind %q", wire.ErrMalformed, kind)
		}
		if err != nil {
			return err
		}
	}
}

func (a *answer) describe(payload []byte) error {
	var h wire.Header
	if err := json.Unmarshal(payload, &h); err != nil {
		return fmt.Errorf("%w: %w", wire.ErrMalformed, err)
	}
	n := len(h.Columns)
	if a.cells != nil || n == 0 || n > h.Wide || n != min(h.Wide, a.rows.Limits.Columns) {
		return fmt.Errorf("%w: %d columns of %d", wire.ErrMalformed, n, h.Wide)
	}
	a.cells = make([][]byte, n)
	a.rows.Describe(h.Wide)
	for i, c := range h.Columns {
		a.rows.Column(i, execution.Column{Name: execution.NameText(c.Name), Type: execution.NameText(c.Type)}, kindOf(c.Type))
	}
	return nil
}

func (a *answer) add(payload []byte) error {
	if a.cells == nil || a.rows.Full() {
		return fmt.Errorf("%w: rows out of place", wire.ErrMalformed)
	}
	for len(payload) > 0 {
		var err error
		if payload, err = wire.NextRow(payload, a.cells); err != nil {
			return err
		}
		if a.rows.Room() {
			a.rows.Add(a.cells)
		}
		if a.rows.Full() {
			return errMoreThanAsked
		}
	}
	return nil
}

// errMoreThanAsked says that the process sent rows beyond the limits.
var errMoreThanAsked = errors.New("the process sent more than it was asked for")

func (a *answer) cut(payload []byte) error {
	var x wire.Excess
	if err := json.Unmarshal(payload, &x); err != nil {
		return fmt.Errorf("%w: %w", wire.ErrMalformed, err)
	}
	switch {
	case a.cells == nil || a.rows.Full() || x.Column < 0 || x.Column >= len(a.cells):
		return fmt.Errorf("%w: a limit out of place", wire.ErrMalformed)
	case x.By == execution.TruncatedByRows:
		a.rows.CutRows()
	case x.By == execution.TruncatedByBytes:
		a.rows.Cut(-1, 0)
	case x.By == execution.TruncatedByCell:
		a.rows.Cut(x.Column, x.Size)
	default:
		return fmt.Errorf("%w: the limit %q", wire.ErrMalformed, x.By)
	}
	return nil
}

func readFailure(payload []byte) (*wire.Failure, error) {
	f := &wire.Failure{}
	if err := json.Unmarshal(payload, f); err != nil {
		return nil, fmt.Errorf("%w: %w", wire.ErrMalformed, err)
	}
	return f, nil
}
