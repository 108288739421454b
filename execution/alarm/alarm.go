// Package alarm ends many calls at their times with one timer.
package alarm

import (
	"sync"
	"time"
)

// Clock ends what takes too long, with one timer for many calls. A timer of its own for
// each statement costs more than a small statement itself: the runtime wakes a thread
// whenever the next timer is another one. The zero Clock is ready for use, by any number
// of goroutines.
type Clock struct {
	mu    sync.Mutex
	set   map[*watched]struct{}
	timer *time.Timer
	next  time.Time // when the timer fires; zero when it does not
}

// watched is one function and its time.
type watched struct {
	at  time.Time
	run func()
}

// After runs f in a goroutine of its own after d, unless stop is called before.
func (c *Clock) After(d time.Duration, f func()) (stop func()) {
	w := &watched{at: time.Now().Add(d), run: f}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set == nil {
		c.set = map[*watched]struct{}{}
	}
	c.set[w] = struct{}{}
	if c.next.IsZero() || w.at.Before(c.next) {
		c.fireAt(w.at)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.set, w)
	}
}

// fireAt sets the timer. The caller holds mu.
func (c *Clock) fireAt(at time.Time) {
	c.next = at
	if c.timer == nil {
		c.timer = time.AfterFunc(time.Until(at), c.fire)
		return
	}
	c.timer.Reset(time.Until(at))
}

// fire runs what is due, and sets the timer for what is due next.
func (c *Clock) fire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, next := time.Now(), time.Time{}
	for w := range c.set {
		switch {
		case !w.at.After(now):
			delete(c.set, w)
			go w.run()
		case next.IsZero() || w.at.Before(next):
			next = w.at
		}
	}
	c.next = time.Time{}
	if !next.IsZero() {
		c.fireAt(next)
	}
}
