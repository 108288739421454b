package pgdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// How long connections are kept.
const (
	maxIdle     = 5 * time.Minute
	maxLifetime = time.Hour
	// maxWait is how long a statement waits for a connection, and for one to be
	// made, unless its own time limit is shorter.
	maxWait = 30 * time.Second
)

// pool keeps at most size connections. Who waits is served in order of
// arrival; the connection used last is used first, so that those that a busy
// hour needed end after it.
type pool struct {
	size int
	dial func(context.Context) (*conn, error)

	mu      sync.Mutex
	open    int // connections that exist or are being made
	idle    []*conn
	waiting []chan grant
	closed  bool
	sweep   *time.Timer
	empty   chan struct{} // closed when the pool is closed and open is 0

	// closing runs a function when the pool is closed, see context.AfterFunc.
	closing func(func()) (stop func() bool)
	end     context.CancelCauseFunc
}

// grant is a connection, or the right to make one.
type grant struct{ c *conn }

func newPool(size int, dial func(context.Context) (*conn, error)) *pool {
	lifetime, end := context.WithCancelCause(context.Background())
	return &pool{
		size: size, dial: dial, end: end, empty: make(chan struct{}),
		closing: func(f func()) func() bool { return context.AfterFunc(lifetime, f) },
	}
}

// acquire returns a connection that is ready, and whether it was used before.
// It waits until ctx ends, at most for limit and for maxWait.
func (p *pool) acquire(ctx context.Context, limit time.Duration) (c *conn, reused bool, err error) {
	ctx, end := context.WithTimeoutCause(ctx, min(limit, maxWait), errNoConnection)
	defer end()
	g, err := p.grant(ctx)
	if err != nil {
		return nil, false, err
	}
	for c = g.c; c != nil; {
		if time.Since(c.created) < maxLifetime && c.ready(ctx) {
			return c, true, nil
		}
		c.destroy()
		if ctx.Err() != nil {
			p.discard(nil)
			return nil, false, interrupted(context.Cause(ctx), nil, 0)
		}
		// The right to a connection stays with this caller; another idle one
		// is as good as a new one.
		c = p.swap()
	}
	c, err = p.connect(ctx)
	return c, false, err
}

// fresh returns a new connection, in the place of an idle one when there may be
// no more of them.
func (p *pool) fresh(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	room := !p.closed && p.open < p.size
	if room {
		p.open++
	}
	p.mu.Unlock()
	if !room {
		g, err := p.grant(ctx)
		if err != nil {
			return nil, err
		}
		if g.c != nil {
			g.c.bye()
		}
	}
	return p.connect(ctx)
}

// connect uses the right to a connection.
func (p *pool) connect(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer p.closing(func() { cancel(errClosing) })()
	c, err := p.dial(ctx)
	if err != nil {
		p.discard(nil)
		return nil, err
	}
	return c, nil
}

// grant takes an idle connection or the right to make one.
func (p *pool) grant(ctx context.Context) (grant, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return grant{}, interrupted(errClosing, nil, 0)
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle[n-1] = nil
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return grant{c}, nil
	}
	if p.open < p.size {
		p.open++
		p.mu.Unlock()
		return grant{}, nil
	}
	turn := make(chan grant, 1)
	p.waiting = append(p.waiting, turn)
	p.mu.Unlock()

	select {
	case g, ok := <-turn:
		if !ok {
			return grant{}, interrupted(errClosing, nil, 0)
		}
		return g, nil
	case <-ctx.Done():
	}
	p.leave(turn)
	err := context.Cause(ctx)
	if errors.Is(err, errNoConnection) || errors.Is(err, context.DeadlineExceeded) {
		e := execution.NewError(sqlguard.CodeBusy, fmt.Sprintf("all %d connections to the server were in use", p.size), err)
		e.RetryAfter = busyRetry
		return grant{}, e
	}
	return grant{}, execution.NewError(sqlguard.CodeCancelled, "the caller cancelled while waiting for a connection", err)
}

// leave takes a caller out of the queue, and passes on what it was granted at
// the last moment.
func (p *pool) leave(turn chan grant) {
	p.mu.Lock()
	if i := slices.Index(p.waiting, turn); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	g, ok := <-turn
	switch {
	case !ok:
	case g.c != nil:
		p.release(g.c)
	default:
		p.discard(nil)
	}
}

// swap returns another idle connection for one that was closed, and closes what
// it cannot use; nil means that the caller may make one.
func (p *pool) swap() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	c := p.idle[n-1]
	p.idle[n-1] = nil
	p.idle = p.idle[:n-1]
	p.open--
	return c
}

// forget closes every idle connection: one of them was found dead, and what
// ended it may have ended all.
func (p *pool) forget() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.open -= len(idle)
	p.drained()
	p.mu.Unlock()
	for _, c := range idle {
		c.destroy()
	}
}

// release gives a connection back.
func (p *pool) release(c *conn) {
	c.used = time.Now()
	p.mu.Lock()
	switch {
	case p.closed:
		p.mu.Unlock()
		p.discard(c)
		return
	case len(p.waiting) > 0:
		p.next() <- grant{c}
	default:
		p.idle = append(p.idle, c)
		if p.sweep == nil {
			p.sweep = time.AfterFunc(maxIdle, p.expire)
		}
	}
	p.mu.Unlock()
}

// discard closes a connection, or gives back the right to make one.
func (p *pool) discard(c *conn) {
	if c != nil {
		c.destroy()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 && !p.closed {
		p.next() <- grant{}
		return
	}
	p.open--
	p.drained()
}

// next returns who has waited longest. The caller holds mu.
func (p *pool) next() chan grant {
	turn := p.waiting[0]
	p.waiting[0] = nil
	p.waiting = p.waiting[1:]
	return turn
}

// expire closes what was not used for long.
func (p *pool) expire() {
	p.mu.Lock()
	var old []*conn
	for len(p.idle) > 0 && time.Since(p.idle[0].used) >= maxIdle {
		old = append(old, p.idle[0])
		p.idle = slices.Delete(p.idle, 0, 1)
		p.open--
	}
	p.sweep = nil
	if len(p.idle) > 0 {
		p.sweep = time.AfterFunc(maxIdle-time.Since(p.idle[0].used), p.expire)
	}
	p.drained()
	p.mu.Unlock()
	for _, c := range old {
		c.bye()
	}
}

// drained tells close that nothing is left. The caller holds mu.
func (p *pool) drained() {
	if p.closed && p.open == 0 {
		select {
		case <-p.empty:
		default:
			close(p.empty)
		}
	}
}

// close ends what runs, waits for it and closes every connection.
func (p *pool) close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		<-p.empty
		return
	}
	p.closed = true
	if p.sweep != nil {
		p.sweep.Stop()
	}
	for _, turn := range p.waiting {
		close(turn)
	}
	idle := p.idle
	p.waiting, p.idle = nil, nil
	p.open -= len(idle)
	p.drained()
	p.mu.Unlock()
	p.end(errClosing)
	for _, c := range idle {
		c.bye()
	}
	<-p.empty
}
