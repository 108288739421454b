package mysqldb

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/ktxhq/ktx/execution/mysqldb/wire"
)

// settleTimeout bounds the rollback and reset that follow an answer.
const settleTimeout = 2 * time.Second

// conn is one connection. One goroutine at a time uses it. Only sever may be
// called by another goroutine meanwhile. A kill uses a connection of its own.
type conn struct {
	wire   *wire.Conn
	dialer *dialer

	flavour flavour
	id      uint32 // as in the server's greeting
	at      net.Addr
	begun   time.Time // of the last statement
	tls     string    // version; "" without TLS
	self    identity

	// pending is set while the answers to the last statement's ROLLBACK and
	// reset are unread.
	pending bool
}

// Ready reports whether a connection that was idle can run a statement. It can
// when the rollback and reset of the last statement are verified.
func (c *conn) Ready(ctx context.Context) bool {
	stop := context.AfterFunc(ctx, c.wire.Sever)
	ok := c.settle() == nil
	return stop() && ok
}

// Destroy closes a connection at once. The server rolls back the open
// transaction.
func (c *conn) Destroy() { c.wire.Sever() }

// Bye closes an idle connection with the protocol's COM_QUIT.
func (c *conn) Bye() { c.wire.Bye() }

// settle reads the answers to the ROLLBACK and the reset of the last statement.
// After an error the connection must not be used again.
func (c *conn) settle() error {
	if !c.pending {
		return nil
	}
	if err := c.wire.SetDeadline(time.Now().Add(settleTimeout)); err != nil {
		return err
	}
	for range 2 {
		if err := c.done(); err != nil {
			return err
		}
	}
	c.pending = false
	return c.wire.SetDeadline(time.Time{})
}

// done reads an answer without rows, outside of a transaction.
func (c *conn) done() error {
	a, err := c.wire.Answer()
	switch {
	case err != nil:
		return err
	case a.Err != nil:
		return a.Err
	case a.Columns != nil || a.Status&(wire.InTransaction|wire.MoreResults) != 0:
		return fmt.Errorf("%w: a transaction is open after its rollback", wire.ErrFormat)
	default:
		return nil
	}
}

// one reads an answer of one row and returns its values, NULL as "".
func (c *conn) one() ([]string, wire.Status, error) {
	a, err := c.wire.Answer()
	switch {
	case err != nil:
		return nil, 0, err
	case a.Err != nil:
		return nil, 0, a.Err
	}
	row := wire.Row{Columns: len(a.Columns), Keep: len(a.Columns), CellBytes: 64 << 10, RowBytes: 64 << 10}
	var values []string
	for {
		more, err := c.wire.Row(&row)
		switch {
		case err != nil:
			return nil, 0, err
		case more && values == nil && row.Cut == nil:
			values = make([]string, 0, len(row.Values))
			for _, v := range row.Values {
				values = append(values, string(v))
			}
		case more:
			return nil, 0, fmt.Errorf("%w: more than one row, or a long one", wire.ErrFormat)
		case row.Err != nil:
			return nil, 0, row.Err
		case len(a.Columns) == 0 || values == nil:
			return nil, 0, fmt.Errorf("%w: no row", wire.ErrFormat)
		default:
			return values, row.Status, nil
		}
	}
}
