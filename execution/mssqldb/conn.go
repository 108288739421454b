package mssqldb

import "github.com/ktxhq/ktx/execution/mssqldb/internal/tds"

// conn is one connection. One goroutine at a time uses it; only an attention
// and the end of the connection come from others.
type conn struct {
	wire    *tds.Conn
	who     string        // whose session it is, as stateSQL says
	pending *tds.Response // of a reset that was not verified
}

// Destroy closes a connection at once. The server rolls back what runs on it.
func (c *conn) Destroy() { c.wire.Sever() }

// Bye closes an idle connection; the protocol has no word for it.
func (c *conn) Bye() { c.wire.Sever() }
