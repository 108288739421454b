package mysqldb

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/execution/internal/ending"
	"github.com/ktxhq/ktx/execution/pool"
)

// deafAfter is when the connection of a statement is closed where the server was
// told to end it: it has marked the statement, and ends it when it looks.
// MariaDB answers some a KILL after two seconds only, such as one of several
// sessions in SLEEP.
const deafAfter = 180 * time.Millisecond

// running is a statement that can be killed.
type running struct {
	c    *conn
	pool *pool.Pool[*conn]
	told atomic.Int64 // when the first KILL was sent, in Unix nanoseconds
}

var _ ending.Statement = (*running)(nil)

// Tell sends KILL QUERY until the statement is over. Where nobody tells the
// server, which has its own time limit, the connection is cut, unless only the
// rest of the rows is at stake.
func (r *running) Tell(ctx context.Context, reason error, over <-chan struct{}) error {
	err := r.kill(ctx, over)
	if err != nil && !errors.Is(reason, pool.ErrEnough) {
		r.Sever()
	}
	return err
}

// kill sends KILL QUERY on a connection of its own. Where the server takes no
// further one, an idle one of the pool serves.
func (r *running) kill(ctx context.Context, over <-chan struct{}) error {
	c, err := r.c.dialer.connect(ctx)
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

// killOn sends KILL QUERY on c. The server answers when the statement was told,
// so that a KILL that was answered cannot reach a later statement.
func (r *running) killOn(ctx context.Context, c *conn, over <-chan struct{}) error {
	stop := context.AfterFunc(ctx, c.wire.Sever)
	defer stop()
	return ending.Repeat(ctx, over, func() error {
		r.told.CompareAndSwap(0, time.Now().UnixNano())
		return c.kill(r.c.id)
	})
}

// Arrived is how many bytes came from the server.
func (r *running) Arrived() int64 { return r.c.wire.Arrived() }

// Deaf reports whether a KILL was sent long ago.
func (r *running) Deaf(patience time.Duration) bool {
	told := r.told.Load()
	return told != 0 && time.Since(time.Unix(0, told)) > max(deafAfter, patience)
}

// Sever cuts the connection.
func (r *running) Sever() { r.c.wire.Sever() }
