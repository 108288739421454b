package pool

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
	// MaxWait bounds how long a statement waits for a free or new connection,
	// unless its own time limit is shorter.
	MaxWait = 30 * time.Second
)

// Connection is a connection that a pool keeps.
type Connection interface {
	// Ready reports whether a connection that was idle can be used. When ctx
	// ends, it returns at once.
	Ready(ctx context.Context) bool
	// Destroy closes the connection at once, even while it is in use.
	Destroy()
	// Bye closes the connection while it is idle.
	Bye()
}

// Pool keeps up to a maximum number of connections. Callers that wait are
// served in order of arrival. The connection used last is used first, so that
// connections opened in a busy hour become idle and expire. It is safe for
// concurrent use.
type Pool[C Connection] struct {
	size int
	dial func(context.Context) (C, error)

	mu      sync.Mutex
	open    int // connections that exist or are being made
	idle    []*Lease[C]
	waiting []chan *Lease[C] // a nil lease is the right to make a connection
	closed  bool
	held    []heldConn[C]
	asking  bool // watch runs
	sweep   *time.Timer
	empty   chan struct{} // closed when the pool is closed and open is 0

	ask   func(context.Context, []C) ([]Fate, error)
	wake  chan struct{} // tells watch that a statement was held
	aside chan struct{} // has room for the one connection beyond size

	onClose func(func()) (stop func() bool) // see context.AfterFunc
	end     context.CancelCauseFunc
}

// Lease is a connection in use. It ends with [Pool.Release] or [Pool.Discard].
type Lease[C Connection] struct {
	Conn C
	// Reused says that the connection was used before. Idle says for how long
	// it was idle since then.
	Reused bool
	Idle   time.Duration

	created, used time.Time
}

// again is l for another statement.
func (l *Lease[C]) again() *Lease[C] {
	l.Reused, l.Idle = true, time.Since(l.used)
	return l
}

// New returns a pool of at most size connections, which it opens with dial.
func New[C Connection](size int, dial func(context.Context) (C, error)) *Pool[C] {
	lifetime, end := context.WithCancelCause(context.Background())
	return &Pool[C]{
		size: size, dial: dial, end: end, empty: make(chan struct{}),
		wake: make(chan struct{}, 1), aside: make(chan struct{}, 1),
		onClose: func(f func()) func() bool { return context.AfterFunc(lifetime, f) },
	}
}

// OnClose runs f in its own goroutine when the pool is closed, unless stop is
// called before.
func (p *Pool[C]) OnClose(f func()) (stop func() bool) { return p.onClose(f) }

// Prompt is a connection that may know without waiting that it is ready, so that a
// statement on an idle connection sets no timer.
type Prompt interface {
	// ReadyNow is Ready without waiting. When it returns false, Ready has to be asked.
	ReadyNow() bool
}

// Acquire returns a connection that is ready. It waits until ctx ends, but at
// most for limit and for [MaxWait]. Errors are of type *[execution.Error].
func (p *Pool[C]) Acquire(ctx context.Context, limit time.Duration) (*Lease[C], error) {
	l := p.Idle()
	if l != nil {
		if c, ok := any(l.Conn).(Prompt); ok && time.Since(l.created) < maxLifetime && c.ReadyNow() {
			return l.again(), nil
		}
	}
	ctx, end := context.WithTimeoutCause(ctx, min(limit, MaxWait), ErrNoConnection)
	defer end()
	var err error
	if l == nil {
		l, err = p.grant(ctx)
	}
	for {
		if err != nil {
			return nil, err
		}
		if l, err = p.use(ctx, l); execution.CodeOf(err) != sqlguard.CodeBusy {
			return l, err
		}
		// The server accepts no further connection of this role, so the caller
		// waits for one of the pool's.
		full := err
		if l, err = p.await(ctx); errors.Is(err, errNone) {
			return nil, full
		}
	}
}

// errNone says that the pool has no connection to wait for.
var errNone = errors.New("the pool has no connection")

// await waits for a connection of the pool, or for the right to make one, although
// there is room for one more.
func (p *Pool[C]) await(ctx context.Context) (*Lease[C], error) {
	p.mu.Lock()
	switch {
	case p.closed:
		p.mu.Unlock()
		return nil, Ended(ErrClosing, nil, 0)
	case p.open <= len(p.held):
		p.mu.Unlock()
		return nil, errNone
	}
	if l := p.last(); l != nil {
		p.mu.Unlock()
		return l, nil
	}
	return p.wait(ctx)
}

// use returns the connection of l when it is ready. Otherwise, and when l is nil, it
// returns another one or makes one.
func (p *Pool[C]) use(ctx context.Context, l *Lease[C]) (*Lease[C], error) {
	for l != nil {
		if time.Since(l.created) < maxLifetime && l.Conn.Ready(ctx) {
			return l.again(), nil
		}
		l.Conn.Destroy()
		if ctx.Err() != nil {
			p.Discard(nil)
			return nil, Ended(context.Cause(ctx), nil, 0)
		}
		// This caller keeps the right to a connection; another idle one is as
		// good as a new one.
		l = p.swap()
	}
	return p.connect(ctx)
}

// Fresh returns a new connection. When the pool is full, it closes an idle
// connection to make room.
func (p *Pool[C]) Fresh(ctx context.Context) (*Lease[C], error) {
	p.mu.Lock()
	room := !p.closed && p.open < p.size
	if room {
		p.open++
	}
	p.mu.Unlock()
	if !room {
		l, err := p.grant(ctx)
		if err != nil {
			return nil, err
		}
		if l != nil {
			l.Conn.Bye()
		}
	}
	return p.connect(ctx)
}

// connect opens a connection with the right that the caller holds.
func (p *Pool[C]) connect(ctx context.Context) (*Lease[C], error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer p.OnClose(func() { cancel(ErrClosing) })()
	c, err := p.dial(ctx)
	if err != nil {
		p.Discard(nil)
		return nil, err
	}
	return &Lease[C]{Conn: c, created: time.Now()}, nil
}

// grant returns an idle connection, or nil, which is the right to open one.
func (p *Pool[C]) grant(ctx context.Context) (*Lease[C], error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, Ended(ErrClosing, nil, 0)
	}
	if l := p.last(); l != nil {
		p.mu.Unlock()
		return l, nil
	}
	if p.open < p.size {
		p.open++
		p.mu.Unlock()
		return nil, nil
	}
	return p.wait(ctx)
}

// wait joins the queue. The caller holds mu, which wait releases.
func (p *Pool[C]) wait(ctx context.Context) (*Lease[C], error) {
	if len(p.held) >= p.size {
		var end context.CancelFunc
		ctx, end = context.WithTimeoutCause(ctx, execution.HeldPatience, ErrNoConnection)
		defer end()
	}
	turn := make(chan *Lease[C], 1)
	p.waiting = append(p.waiting, turn)
	p.mu.Unlock()

	select {
	case l, ok := <-turn:
		if !ok {
			return nil, Ended(ErrClosing, nil, 0)
		}
		return l, nil
	case <-ctx.Done():
	}
	p.leave(turn)
	err := context.Cause(ctx)
	if errors.Is(err, ErrNoConnection) || errors.Is(err, context.DeadlineExceeded) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.held) >= p.size {
			return nil, p.heldBusy()
		}
		e := execution.NewError(sqlguard.CodeBusy, fmt.Sprintf("all %d connections to the server were in use", p.size), err)
		e.RetryAfter = BusyRetry
		return nil, e
	}
	return nil, execution.NewError(sqlguard.CodeCancelled, "the caller cancelled while waiting for a connection", err)
}

// last returns the idle connection that was used last. The caller holds mu.
func (p *Pool[C]) last() *Lease[C] {
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	l := p.idle[n-1]
	p.idle[n-1] = nil
	p.idle = p.idle[:n-1]
	return l
}

// leave removes a caller from the queue. When the caller was granted a
// connection at the last moment, leave passes it on.
func (p *Pool[C]) leave(turn chan *Lease[C]) {
	p.mu.Lock()
	if i := slices.Index(p.waiting, turn); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	l, ok := <-turn
	switch {
	case !ok:
	case l != nil:
		p.Release(l)
	default:
		p.Discard(nil)
	}
}

// Count returns how many connections there are, including those being opened,
// and how many of them are idle.
func (p *Pool[C]) Count() (open, idle int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open, len(p.idle)
}

// Idle returns an idle connection without waiting, or nil when there is none.
// The connection may no longer be ready.
func (p *Pool[C]) Idle() *Lease[C] {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last()
}

// swap returns another idle connection in exchange for one that was closed. nil
// means that the caller may open one.
func (p *Pool[C]) swap() *Lease[C] {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.last()
	if l != nil {
		p.open--
	}
	return l
}

// Forget closes every idle connection. A caller found one of them dead, and the
// same fault may have ended all of them.
func (p *Pool[C]) Forget() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.open -= len(idle)
	p.drained()
	p.mu.Unlock()
	for _, l := range idle {
		l.Conn.Destroy()
	}
}

// Release gives a connection back.
func (p *Pool[C]) Release(l *Lease[C]) {
	l.used = time.Now()
	p.mu.Lock()
	switch {
	case p.closed:
		p.mu.Unlock()
		p.Discard(l)
		return
	case len(p.waiting) > 0:
		p.next() <- l
	default:
		p.idle = append(p.idle, l)
		if p.sweep == nil {
			p.sweep = time.AfterFunc(maxIdle, p.expire)
		}
	}
	p.mu.Unlock()
}

// Discard closes a connection; nil gives back the right to make one.
func (p *Pool[C]) Discard(l *Lease[C]) {
	if l != nil {
		l.Conn.Destroy()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free()
}

// next returns the caller that has waited longest. The caller of next holds mu.
func (p *Pool[C]) next() chan *Lease[C] {
	turn := p.waiting[0]
	p.waiting[0] = nil
	p.waiting = p.waiting[1:]
	return turn
}

// expire closes connections that have been idle for too long.
func (p *Pool[C]) expire() {
	p.mu.Lock()
	var old []*Lease[C]
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
	for _, l := range old {
		l.Conn.Bye()
	}
}

// drained tells Close that no connection is left. The caller holds mu.
func (p *Pool[C]) drained() {
	if p.closed && p.open == 0 {
		select {
		case <-p.empty:
		default:
			close(p.empty)
		}
	}
}

// Close ends waiting calls, closes idle connections, runs the functions given
// to [Pool.OnClose], and returns when every connection is closed.
func (p *Pool[C]) Close() {
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
	p.end(ErrClosing)
	for _, l := range idle {
		l.Conn.Bye()
	}
	<-p.empty
}
