package clickhousedb

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/execution/internal/ending"
	"github.com/ktxhq/ktx/execution/pool"
)

// deafAfter is how long after Tell began the backend closes the connection of a query that
// has not ended, whether a KILL could be sent by then or not. The server checks for a KILL
// between blocks of rows. A caller waits at most 250 ms, of which a busy machine needs its
// part.
const deafAfter = 90 * time.Millisecond

// running is a query that can be killed.
type running struct {
	db   *DB
	c    *conn
	id   string
	told atomic.Int64 // when Tell began, in Unix nanoseconds
	seen atomic.Bool  // the server knew the query when it was told
	gone atomic.Bool  // and later did not
}

var _ ending.Statement = (*running)(nil)

// Tell sends KILL QUERY until the statement is over. When none can be sent, it closes the
// connection, and the server ends the query because its client has left. A KILL names its
// query, so that one on its way when the statement is over is not waited for.
func (r *running) Tell(ctx context.Context, reason error, over <-chan struct{}) error {
	r.told.Store(time.Now().UnixNano())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-over:
			cancel()
		case <-ctx.Done():
		}
	}()
	done := r.db.pool.Aside(ctx, over)
	if done == nil {
		return unless(over, ctx.Err())
	}
	defer done()
	c, err := r.db.target.dial(ctx)
	if err == nil {
		defer c.Bye()
		stop := context.AfterFunc(ctx, c.Destroy)
		err = ending.Repeat(ctx, over, func() error { return r.kill(c) })
		stop()
	}
	if err = unless(over, err); err != nil && !errors.Is(reason, pool.ErrEnough) {
		r.Sever()
	}
	return err
}

// unless returns err unless over is closed.
func unless(over <-chan struct{}, err error) error {
	select {
	case <-over:
		return nil
	default:
		return err
	}
}

// Arrived returns how many bytes the server has sent.
func (r *running) Arrived() int64 { return r.c.Arrived() }

// Deaf reports whether the query is still running although it was to end longer ago than
// deafAfter and patience.
func (r *running) Deaf(patience time.Duration) bool {
	told := r.told.Load()
	return told != 0 && time.Since(time.Unix(0, told)) > max(deafAfter, patience)
}

// Sever closes the connection.
func (r *running) Sever() { r.c.Destroy() }

// fates reports which of the queries of cs are over. It sends a KILL for each, to which the
// server answers with a row as long as it knows the query.
func (d *DB) fates(ctx context.Context, cs []*conn) ([]pool.Fate, error) {
	done := d.pool.Aside(ctx, nil)
	if done == nil {
		return nil, ctx.Err()
	}
	defer done()
	k, err := d.target.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer k.Bye()
	defer context.AfterFunc(ctx, k.Destroy)()
	out := make([]pool.Fate, len(cs))
	for i, c := range cs {
		known, err := d.kill(k, c.query)
		if err != nil {
			return nil, err
		}
		if !known {
			out[i] = pool.Over
		}
	}
	return out, nil
}
