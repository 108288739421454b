package stdio

import (
	"sync"
	"time"
)

// counter counts what is under way.
type counter struct {
	mu      sync.Mutex
	n       int
	changed chan struct{} // signalled when n falls to zero
}

func newCounter() *counter { return &counter{changed: make(chan struct{}, 1)} }

func (c *counter) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n += n; c.n > 0 {
		return
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

func (c *counter) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n <= 0
}

// wait returns when nothing is under way, and after limit in any case.
func (c *counter) wait(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for !c.idle() {
		select {
		case <-c.changed:
		case <-timer.C:
			return
		}
	}
}
