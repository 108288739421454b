package execution

import (
	"context"
	"sync"
	"time"

	"github.com/ktxhq/ktx/sqlguard"
)

// queue admits a bounded number of statements at once and lets a bounded
// number wait, first come first served.
type queue struct {
	mu      sync.Mutex
	free    int
	bound   int
	waiters []chan struct{}
	// typical is a moving average of how long a slot is held.
	typical time.Duration
	slots   int
}

func newQueue(slots, bound int) *queue {
	return &queue{free: slots, slots: slots, bound: bound, typical: 100 * time.Millisecond}
}

// enter waits for a slot and returns the function that gives it back. It
// fails at once with busy when the queue is full, and when ctx ends.
func (q *queue) enter(ctx context.Context) (leave func(), err error) {
	q.mu.Lock()
	if q.free > 0 {
		q.free--
		q.mu.Unlock()
		return q.leaver(), nil
	}
	if len(q.waiters) >= q.bound {
		after := q.typical * time.Duration(1+len(q.waiters)/q.slots)
		q.mu.Unlock()
		e := NewError(sqlguard.CodeBusy, "too many statements are running and waiting on this connection", nil)
		e.RetryAfter = min(max(after.Round(100*time.Millisecond), 100*time.Millisecond), 30*time.Second)
		e.Hint = "try again in " + e.RetryAfter.String()
		return nil, e
	}
	turn := make(chan struct{})
	q.waiters = append(q.waiters, turn)
	q.mu.Unlock()
	select {
	case <-turn:
		return q.leaver(), nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	for i, w := range q.waiters {
		if w == turn {
			q.waiters = append(q.waiters[:i], q.waiters[i+1:]...)
			q.mu.Unlock()
			return nil, contextError(ctx, "while waiting for its turn")
		}
	}
	q.mu.Unlock()
	// The turn came at the same moment: pass it on.
	q.release()
	return nil, contextError(ctx, "while waiting for its turn")
}

func (q *queue) leaver() func() {
	start := time.Now()
	return sync.OnceFunc(func() {
		held := time.Since(start)
		q.mu.Lock()
		q.typical += (held - q.typical) / 8
		q.mu.Unlock()
		q.release()
	})
}

func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiters) > 0 {
		close(q.waiters[0])
		q.waiters = q.waiters[1:]
		return
	}
	q.free++
}
