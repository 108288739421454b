package pool

import (
	"context"
	"time"

	"github.com/ktxhq/ktx/execution"
)

// How often the server is asked whether held statements are over: soon after a
// statement was held, then at intervals that double up to askMost.
const (
	askFirst = 20 * time.Millisecond
	askMost  = 5 * time.Second
	// askAgain is the longest interval while the server cannot be asked.
	askAgain = time.Second
	// askTime bounds one question, and closeTime the last one, when the pool is
	// being closed.
	askTime   = 2 * time.Second
	closeTime = time.Second
	// unaskedFor is for how long a place is kept while the server cannot be asked
	// at all. Such a server gets no new connections either. lostUnaskedFor is the
	// same for a connection that broke by itself: most often the server has
	// stopped, or another machine has taken its place.
	unaskedFor     = 5 * time.Minute
	lostUnaskedFor = 15 * time.Second
)

// Fate is what is known about a statement that is held.
type Fate uint8

// The fates of a statement.
const (
	Runs       Fate = iota // it may still run
	Over                   // it is over
	Unknowable             // nobody will find out whether it is over
)

// heldConn is a connection whose statement may still run.
type heldConn[C Connection] struct {
	conn    C
	held    *execution.Held
	patient time.Duration // for how long the place is kept while the server cannot be asked
	unasked time.Time     // since when it cannot be asked; zero when it can
}

// Ask sets the function that finds out what became of the statement of each of the
// connections that are held. The function may also try again to end them. Call Ask
// before the pool is used.
func (p *Pool[C]) Ask(fates func(ctx context.Context, held []C) ([]Fate, error)) { p.ask = fates }

// Hold takes a connection whose statement was to be ended and may still run at the
// server, and which nobody will use again. The connection keeps its place in the pool
// until the server says that the statement is over, until the server could not be asked
// for some minutes, or until the pool is closed.
func (p *Pool[C]) Hold(l *Lease[C]) *execution.Held { return p.hold(l, unaskedFor) }

// HoldLost is Hold for a connection that broke by itself while its statement ran.
func (p *Pool[C]) HoldLost(l *Lease[C]) *execution.Held { return p.hold(l, lostUnaskedFor) }

func (p *Pool[C]) hold(l *Lease[C], patient time.Duration) *execution.Held {
	h := execution.NewHeld()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = append(p.held, heldConn[C]{conn: l.Conn, held: h, patient: patient})
	if !p.asking {
		p.asking = true
		go p.watch()
	}
	select {
	case p.wake <- struct{}{}:
	default: // watch is about to see it
	}
	return h
}

// Held returns the statements that are held.
func (p *Pool[C]) Held() []*execution.Held {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.holds()
}

// holds is Held. The caller holds mu.
func (p *Pool[C]) holds() []*execution.Held {
	out := make([]*execution.Held, 0, len(p.held))
	for _, h := range p.held {
		out = append(out, h.held)
	}
	return out
}

// heldBusy returns the error for a pool that is full of held statements. The
// caller holds mu.
func (p *Pool[C]) heldBusy() error {
	return execution.HeldBusy("connections to the server", p.holds())
}

// watch asks about the held statements until none is left.
func (p *Pool[C]) watch() {
	closing := make(chan struct{})
	defer p.OnClose(func() { close(closing) })()
	wait := askFirst
	for {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
			wait = min(wait*2, askMost)
		case <-p.wake:
			timer.Stop()
			wait = askFirst
			continue
		case <-closing:
			timer.Stop()
		}
		none, err := p.askOnce()
		if none {
			return
		}
		if err != nil {
			wait = min(wait, askAgain)
		}
	}
}

// askOnce asks about the held statements and frees the places of those that are
// over. When the pool is closed, it frees every place. It reports whether none is
// left, and why the server could not be asked.
func (p *Pool[C]) askOnce() (none bool, err error) {
	p.mu.Lock()
	asked := append([]heldConn[C](nil), p.held...)
	patience := askTime
	if p.closed {
		patience = closeTime
	}
	p.mu.Unlock()
	conns := make([]C, 0, len(asked))
	for _, h := range asked {
		conns = append(conns, h.conn)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	fates, err := p.ask(ctx, conns)
	cancel()

	p.mu.Lock()
	defer p.mu.Unlock()
	left := append([]heldConn[C](nil), p.held[len(asked):]...) // held while the server was asked
	for i, h := range asked {
		known := err == nil && i < len(fates)
		switch {
		case known:
			h.unasked = time.Time{}
		case h.unasked.IsZero():
			h.unasked = time.Now()
		}
		switch {
		case known && fates[i] != Runs, p.closed, !known && time.Since(h.unasked) >= h.patient:
			h.conn.Destroy()
			h.held.End(known && fates[i] == Over)
			p.free()
			continue
		case known:
			h.held.Runs()
		default:
			h.held.NotAsked(err)
		}
		left = append(left, h)
	}
	if p.held = left; len(left) > 0 {
		return false, err
	}
	p.asking = false
	return true, nil
}

// free gives back the right to make a connection. The caller holds mu.
func (p *Pool[C]) free() {
	if len(p.waiting) > 0 && !p.closed {
		p.next() <- nil
		return
	}
	p.open--
	p.drained()
}

// Aside waits for the right to make a connection that ends statements or asks
// about them. It is a right of the pool when nobody else needs that, otherwise
// the right to the one connection beyond the pool's size. Aside returns nil when
// over is closed or ctx ends before.
func (p *Pool[C]) Aside(ctx context.Context, over <-chan struct{}) (done func()) {
	one := func() { <-p.aside }
	select {
	case p.aside <- struct{}{}:
		return one
	default:
	}
	p.mu.Lock()
	room := !p.closed && p.open < p.size
	if room {
		p.open++
	}
	p.mu.Unlock()
	if room {
		return func() { p.Discard(nil) }
	}
	select {
	case p.aside <- struct{}{}:
		return one
	case <-over:
	case <-ctx.Done():
	}
	return nil
}
