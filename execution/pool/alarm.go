package pool

import (
	"sync"
	"time"
)

// Alarm ends what takes too long, with one timer for many calls. A timer of its own for
// each statement costs more than a small statement itself: the runtime wakes a thread
// whenever the next timer is another one. The zero Alarm is ready for use, by any number
// of goroutines.
type Alarm struct {
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
func (a *Alarm) After(d time.Duration, f func()) (stop func()) {
	w := &watched{at: time.Now().Add(d), run: f}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.set == nil {
		a.set = map[*watched]struct{}{}
	}
	a.set[w] = struct{}{}
	if a.next.IsZero() || w.at.Before(a.next) {
		a.fireAt(w.at)
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.set, w)
	}
}

// fireAt sets the timer. The caller holds mu.
func (a *Alarm) fireAt(at time.Time) {
	a.next = at
	if a.timer == nil {
		a.timer = time.AfterFunc(time.Until(at), a.fire)
		return
	}
	a.timer.Reset(time.Until(at))
}

// fire runs what is due, and sets the timer for what is due next.
func (a *Alarm) fire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, next := time.Now(), time.Time{}
	for w := range a.set {
		switch {
		case !w.at.After(now):
			delete(a.set, w)
			go w.run()
		case next.IsZero() || w.at.Before(next):
			next = w.at
		}
	}
	a.next = time.Time{}
	if !next.IsZero() {
		a.fireAt(next)
	}
}
