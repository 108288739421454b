package mssqldb

import (
	"time"

	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
)

// conn is one connection. One goroutine at a time uses it. Other goroutines may
// only send an attention or close the connection.
type conn struct {
	wire    *tds.Conn
	who     string        // whose session it is, as stateSQL reports
	pending *tds.Response // the answer to a reset that was not verified yet
	begun   time.Time     // when the session was pinned for the last statement
	session uint16        // its number at the server, as it was then
	heard   int64         // how many packets had arrived when the caller left
	held    fate          // of a statement that nobody waits for
}

// Destroy closes a connection at once. The server rolls back what runs on it.
func (c *conn) Destroy() { c.wire.Sever() }

// Bye closes an idle connection. The protocol has no message for that.
func (c *conn) Bye() { c.wire.Sever() }
