package clickhousedb

import (
	"context"

	"github.com/ktxhq/ktx/execution/clickhousedb/wire"
	"github.com/ktxhq/ktx/execution/internal/network"
)

// conn is one connection. One goroutine at a time uses it. Other goroutines may only close
// it.
type conn struct {
	*wire.Conn
	query string // the identifier of the last query
}

// dial connects.
func (t *target) dial(ctx context.Context) (*conn, error) {
	c, err := wire.Dial(ctx, &t.options)
	if err != nil {
		return nil, faults.Unconnected(ctx, err)
	}
	return &conn{Conn: c}, nil
}

// Ready reports whether a connection that was idle can be used.
func (c *conn) Ready(context.Context) bool {
	if c.Spent() {
		return false
	}
	alive, waiting := network.Peek(c.Net())
	return alive && !waiting
}

// Destroy closes the connection at once.
func (c *conn) Destroy() { c.Close() }

// Bye closes an idle connection.
func (c *conn) Bye() { c.Close() }
