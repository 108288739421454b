package execution

import (
	"context"
	"fmt"
)

// Queue is the queue of a connection.
type Queue struct{ q *queue }

// NewQueue returns a queue with this many slots, in which at most bound
// statements may wait.
func NewQueue(slots, bound int) *Queue { return &Queue{newQueue(slots, bound)} }

// Enter waits for a slot.
func (q *Queue) Enter(ctx context.Context, principal string) (leave func(), err error) {
	return q.q.enter(ctx, principal)
}

// Counts returns how many statements run and how many wait, and how many
// principals the queue keeps data about.
func (q *Queue) Counts() (running, waiting, principals int) {
	q.q.mu.Lock()
	defer q.q.mu.Unlock()
	return q.q.slots - q.q.free, q.q.waiting, len(q.q.lines)
}

// Check compares the parts of the queue with each other.
func (q *Queue) Check() error {
	q.q.mu.Lock()
	defer q.q.mu.Unlock()
	running, waiting, lines := 0, 0, 0
	for name, l := range q.q.lines {
		running += l.running
		waiting += l.waiters.Len()
		if l.principal != name || l.running == 0 && l.waiters.Len() == 0 {
			return fmt.Errorf("the line of %q is that of %q, %d running, %d waiting", name, l.principal, l.running, l.waiters.Len())
		}
		if l.waiters.Len() == 0 {
			continue
		}
		lines++
		if q.q.turns.lines[l.turn] != l || q.q.longest.lines[l.length] != l {
			return fmt.Errorf("the heap index of the line of %q is wrong", name)
		}
	}
	switch {
	case running != q.q.slots-q.q.free || running > q.q.slots:
		return fmt.Errorf("%d running, %d of %d slots free", running, q.q.free, q.q.slots)
	case waiting != q.q.waiting || waiting > q.q.bound:
		return fmt.Errorf("%d waiting, %d counted, %d may", waiting, q.q.waiting, q.q.bound)
	case lines != len(q.q.turns.lines) || lines != len(q.q.longest.lines):
		return fmt.Errorf("%d principals wait, %d and %d in the heaps", lines, len(q.q.turns.lines), len(q.q.longest.lines))
	case waiting > 0 && q.q.free > 0:
		return fmt.Errorf("%d wait although %d slots are free", waiting, q.q.free)
	case running == 0 && q.q.begun != 0:
		return fmt.Errorf("nothing runs, begun is %v", q.q.begun)
	}
	return nil
}
