package stdio

import (
	"sync"
	"time"
)

// counter counts requests that are not answered yet.
type counter struct {
	mu      sync.Mutex
	n       int
	changed chan struct{} // receives when n becomes zero
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

func (c *counter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// wait returns when the count is zero, or after limit.
func (c *counter) wait(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for c.count() > 0 {
		select {
		case <-c.changed:
		case <-timer.C:
			return
		}
	}
}
