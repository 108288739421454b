package pgdb

import (
	"context"
	"errors"
	"time"

	"github.com/ktxhq/ktx/execution/internal/ending"
)

var _ ending.Statement = (*conn)(nil)

// Tell sends cancel requests until the statement is over. The server closes a
// request's connection when it has sent the signal, so that a request that has
// ended cannot reach a later statement. One that fails is repeated too.
func (c *conn) Tell(ctx context.Context, _ error, over <-chan struct{}) error {
	var last error
	_ = ending.Repeat(ctx, over, func() error {
		last = errors.Join(c.pg.CancelRequest(ctx), ctx.Err())
		return nil
	})
	return last
}

// Arrived is how many bytes came from the server.
func (c *conn) Arrived() int64 { return c.frames.arrived.Load() }

// Deaf is never known: the server does not say that it was told.
func (c *conn) Deaf(time.Duration) bool { return false }
