package mysqldb

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/execution/internal/ending"
	"github.com/ktxhq/ktx/execution/pool"
)

// deafAfter is how long after the first KILL the backend closes the connection
// of a statement that has not ended. By then the server has marked the
// statement, and ends it when it next checks the mark. MariaDB answers some
// KILLs only after two seconds, for example when several sessions run SLEEP.
const deafAfter = 180 * time.Millisecond

// running is a statement that can be killed.
type running struct {
	c    *conn
	pool *pool.Pool[*conn]
	told atomic.Int64 // when the first KILL was sent, in Unix nanoseconds
}

var _ ending.Statement = (*running)(nil)

// Tell sends KILL QUERY until the statement is over. When no KILL can be sent,
// Tell cuts the connection, and the server ends the statement at its own time
// limit. It does not cut the connection when only the rest of the rows is
// unread (pool.ErrEnough).
func (r *running) Tell(ctx context.Context, reason error, over <-chan struct{}) error {
	err := r.kill(ctx, over)
	if err != nil && !errors.Is(reason, pool.ErrEnough) {
		r.Sever()
	}
	return err
}

// kill sends KILL QUERY on a new connection. When the server accepts no more
// connections, kill uses an idle one of the pool.
func (r *running) kill(ctx context.Context, over <-chan struct{}) error {
	done := r.pool.Aside(ctx, over)
	if done == nil {
		return ctx.Err() // nil when the statement is over
	}
	defer done()
	c, err := r.c.dialer.connect(ctx, r.c.at)
	if err == nil {
		defer c.Bye()
		return r.killOn(ctx, c, over)
	}
	for l := r.pool.Idle(); l != nil; l = r.pool.Idle() {
		if l.Conn.Ready(ctx) {
			if err = r.killOn(ctx, l.Conn, over); err == nil {
				r.pool.Release(l)
				return nil
			}
		}
		r.pool.Discard(l)
	}
	return err
}

// killOn sends KILL QUERY on c. The server answers after it has marked the
// statement, so a KILL that was answered cannot reach a later statement.
func (r *running) killOn(ctx context.Context, c *conn, over <-chan struct{}) error {
	stop := context.AfterFunc(ctx, c.wire.Sever)
	defer stop()
	return ending.Repeat(ctx, over, func() error {
		r.told.CompareAndSwap(0, time.Now().UnixNano())
		return c.kill(r.c.id)
	})
}

// Arrived returns how many bytes the server has sent.
func (r *running) Arrived() int64 { return r.c.wire.Arrived() }

// Deaf reports whether the statement is still running although a KILL was sent
// longer ago than deafAfter and patience.
func (r *running) Deaf(patience time.Duration) bool {
	told := r.told.Load()
	return told != 0 && time.Since(time.Unix(0, told)) > max(deafAfter, patience)
}

// Sever cuts the connection.
func (r *running) Sever() { r.c.wire.Sever() }
