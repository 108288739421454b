package clickhousedb

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/execution/internal/ending"
	"github.com/ktxhq/ktx/execution/pool"
)

// deafAfter is how long after the first KILL the backend closes the connection of a query
// that has not ended. The server checks for a KILL between blocks of rows.
const deafAfter = 180 * time.Millisecond

// running is a query that can be killed.
type running struct {
	db   *DB
	c    *conn
	id   string
	told atomic.Int64 // when the first KILL was sent, in Unix nanoseconds
	seen atomic.Bool  // the server knew the query when it was told
	gone atomic.Bool  // and later did not
}

var _ ending.Statement = (*running)(nil)

// Tell sends KILL QUERY until the statement is over. When none can be sent, it closes the
// connection, and the server ends the query because its client has left.
func (r *running) Tell(ctx context.Context, reason error, over <-chan struct{}) error {
	done := r.db.pool.Aside(ctx, over)
	if done == nil {
		return ctx.Err() // nil when the statement is over
	}
	defer done()
	c, err := r.db.target.dial(ctx)
	if err == nil {
		defer c.Bye()
		stop := context.AfterFunc(ctx, c.Destroy)
		err = ending.Repeat(ctx, over, func() error { return r.kill(c) })
		stop()
	}
	if err != nil && !errors.Is(reason, pool.ErrEnough) {
		r.Sever()
	}
	return err
}

// Arrived returns how many bytes the server has sent.
func (r *running) Arrived() int64 { return r.c.Arrived() }

// Deaf reports whether the query is still running although a KILL was sent longer ago than
// deafAfter and patience.
func (r *running) Deaf(patience time.Duration) bool {
	told := r.told.Load()
	return told != 0 && time.Since(time.Unix(0, told)) > max(deafAfter, patience)
}

// Sever closes the connection.
func (r *running) Sever() { r.c.Destroy() }
