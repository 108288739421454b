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
		defer done()
		last = errors.Join(c.pg.CancelRequest(ctx), ctx.Err())
		return nil
	})
	return last
}

// Arrived returns how many bytes came from the server.
func (c *conn) Arrived() int64 { return c.frames.arrived.Load() }

// Deaf returns false, because the server does not say whether it received a
// cancel request.
func (c *conn) Deaf(time.Duration) bool { return false }
