package pgdb

import (
	"context"
	"errors"
	"time"

	"github.com/ktxhq/ktx/execution/internal/ending"
)

var _ ending.Statement = (*conn)(nil)

// Tell sends cancel requests until the statement is over. The server closes the
// connection of a request after it has sent the signal, so a request that has
// ended cannot reach a later statement. Tell also repeats a request that
// failed.
func (c *conn) Tell(ctx context.Context, _ error, over <-chan struct{}) error {
	var last error
	_ = ending.Repeat(ctx, over, func() error {
		done := c.dialer.aside(ctx, over)
		if done == nil { // the statement is over, or ctx ended, which Repeat sees
			return nil
		}
		last = errors.Join(c.request(ctx, done), ctx.Err())
		return nil
	})
	return last
}

// poolerPatience is how long the connection of a cancel request to a pooler stays open.
// PgBouncer closes it after ten seconds at the latest (cancel_wait_timeout).
const poolerPatience = 15 * time.Second

// request sends one cancel request. It returns when the server has closed the connection of
// the request, or when ctx ends, and calls done when that connection is closed. That of a
// pooler stays open after the end of ctx until the pooler closes it: where a client leaves
// first, PgBouncer frees it and later closes another client in its place, or ends itself
// (github.com/pgbouncer/pgbouncer, pull request 846).
func (c *conn) request(ctx context.Context, done func()) error {
	if !c.pooled {
		defer done()
		return c.pg.CancelRequest(ctx)
	}
	patient, stop := context.WithTimeout(context.WithoutCancel(ctx), poolerPatience)
	answered := make(chan error, 1)
	go func() {
		defer stop()
		defer done()
		answered <- c.pg.CancelRequest(patient)
	}()
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Arrived returns how many bytes came from the server.
func (c *conn) Arrived() int64 { return c.frames.arrived.Load() }

// Deaf returns false, because the server does not say whether it received a
// cancel request.
func (c *conn) Deaf(time.Duration) bool { return false }
