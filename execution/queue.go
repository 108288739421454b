package execution

import (
	"container/heap"
	"container/list"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ktxhq/ktx/sqlguard"
)

// queue admits a bounded number of statements of one connection at once and
// lets a bounded number wait.
//
// Principals take turns. A slot that becomes free goes to the principal with
// the fewest statements running. Among principals with the same number, it goes
// to the one that has had that number for longest. Within a principal, the
// first to come is the first to run. So a principal that has nothing running
// waits for at most one statement of each other principal that was already
// waiting with nothing running, no matter how many statements those have
// waiting.
//
// A principal that is alone may use every slot and every waiting place. Its
// share of the places shrinks when others come. When all places are taken, a
// newcomer whose principal has fewer statements waiting gets the place of the
// latest statement of the principal with the most. That statement fails as
// busy.
//
// Every operation takes at most logarithmic time in the number of principals.
type queue struct {
	slots, bound int

	mu      sync.Mutex
	free    int
	waiting int
	lines   map[string]*line // of principals with statements here
	turns   lineHeap         // lines with waiting statements, the next to get a slot first
	longest lineHeap         // lines with waiting statements, the longest first
	held    []*Held          // statements that keep their slots after their callers' answers
	clock   uint64           // counts what changes the order of turns

	// How long statements hold slots, to compute RetryAfter.
	epoch   time.Time
	begun   time.Duration // sum over the running statements: time from epoch to its begin
	typical time.Duration // moving average over the statements that ended
}

// line is one principal's statements.
type line struct {
	principal string
	running   int
	waiters   list.List // of *waiter, in order of arrival
	since     uint64    // the clock when the line began to wait, or when running changed
	turn      int       // index in turns
	length    int       // index in longest
}

// waiter is one statement that waits.
type waiter struct {
	line    *line
	place   *list.Element // nil when it no longer waits
	outcome chan outcome  // has room for the only outcome
}

// outcome ends a wait. began is when the waiter got its slot; when err is set,
// it got none and err says why.
type outcome struct {
	began time.Duration
	err   error
}

func newQueue(slots, bound int) *queue {
	return &queue{
		slots: slots, bound: bound, free: slots, lines: map[string]*line{}, epoch: time.Now(),
		turns: lineHeap{
			before: func(a, b *line) bool {
				return a.running < b.running || a.running == b.running && a.since < b.since
			},
			index: func(l *line) *int { return &l.turn },
		},
		longest: lineHeap{
			before: func(a, b *line) bool {
				return a.waiters.Len() > b.waiters.Len() || a.waiters.Len() == b.waiters.Len() && a.since > b.since
			},
			index: func(l *line) *int { return &l.length },
		},
	}
}

// enterNow returns the function that gives a slot back, or nil when none is free.
func (q *queue) enterNow(principal string) (leave func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.free == 0 {
		return nil
	}
	q.free--
	l := q.line(principal)
	return q.leaver(l, q.start(l))
}

// enter waits for a slot on behalf of a principal and returns the function that
// gives the slot back. It fails as busy when there is no place to wait, or when
// the place is lost to another principal. It also fails when ctx ends.
func (q *queue) enter(ctx context.Context, principal string) (leave func(), err error) {
	q.mu.Lock()
	l := q.line(principal)
	if q.free > 0 {
		q.free--
		began := q.start(l)
		q.mu.Unlock()
		return q.leaver(l, began), nil
	}
	if len(q.held) >= q.slots {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, HeldPatience)
		defer end()
	}
	if q.waiting >= q.bound && !q.makeRoom(l) {
		err = q.busy(l)
		q.forget(l)
		q.mu.Unlock()
		return nil, err
	}
	w := q.wait(l)
	q.mu.Unlock()

	var end outcome
	select {
	case end = <-w.outcome:
	case <-ctx.Done():
		q.mu.Lock()
		if w.place != nil {
			q.remove(w)
			if len(q.held) >= q.slots && errors.Is(ctx.Err(), context.DeadlineExceeded) {
				defer q.mu.Unlock()
				return nil, q.heldBusy()
			}
			q.mu.Unlock()
			e := contextError(ctx, "while waiting for its turn")
			e.Retryable, e.Hint = true, "the connection is in heavy use and the statement has not run: try again later"
			return nil, e
		}
		q.mu.Unlock()
		end = <-w.outcome // the outcome came at the same time
	}
	if end.err != nil {
		return nil, end.err
	}
	return q.leaver(l, end.began), nil
}

// leaver returns the function that gives a slot back.
func (q *queue) leaver(l *line, began time.Duration) func() {
	return sync.OnceFunc(func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.stop(l, began)
		if len(q.turns.lines) == 0 {
			q.free++
			return
		}
		next := q.turns.lines[0]
		w := first(next)
		began := q.start(next)
		q.remove(w)
		w.outcome <- outcome{began: began}
	})
}

// hold counts a statement that keeps its slot although its caller has left. The
// caller calls release before it gives the slot back.
func (q *queue) hold(h *Held) (release func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held = append(q.held, h)
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.held = slices.DeleteFunc(q.held, func(other *Held) bool { return other == h })
	}
}

// The caller of the methods below holds mu.

// heldBusy returns the error for a caller that finds every slot held.
func (q *queue) heldBusy() error { return HeldBusy("slots of this connection", q.held) }

// line returns the line of a principal.
func (q *queue) line(principal string) *line {
	l := q.lines[principal]
	if l == nil {
		l = &line{principal: principal}
		q.lines[principal] = l
	}
	return l
}

// forget drops a line without statements.
func (q *queue) forget(l *line) {
	if l.running == 0 && l.waiters.Len() == 0 {
		delete(q.lines, l.principal)
	}
}

// tick puts a line behind the lines with as many statements running.
func (q *queue) tick(l *line) {
	q.clock++
	l.since = q.clock
}

// start counts a statement that has a slot.
func (q *queue) start(l *line) (began time.Duration) {
	l.running++
	q.tick(l)
	began = time.Since(q.epoch)
	q.begun += began
	return began
}

// stop counts a statement that has given its slot back.
func (q *queue) stop(l *line, began time.Duration) {
	q.begun -= began
	held := time.Since(q.epoch) - began
	if q.typical == 0 {
		q.typical = held
	}
	q.typical += (held - q.typical) / 8
	l.running--
	q.tick(l)
	if l.waiters.Len() > 0 {
		heap.Fix(&q.turns, l.turn)
		heap.Fix(&q.longest, l.length)
	}
	q.forget(l)
}

// wait puts a statement at the end of its line.
func (q *queue) wait(l *line) *waiter {
	w := &waiter{line: l, outcome: make(chan outcome, 1)}
	w.place = l.waiters.PushBack(w)
	q.waiting++
	if l.waiters.Len() > 1 {
		heap.Fix(&q.longest, l.length)
		return w
	}
	q.tick(l)
	heap.Push(&q.turns, l)
	heap.Push(&q.longest, l)
	return w
}

// remove takes a statement out of its line.
func (q *queue) remove(w *waiter) {
	l := w.line
	l.waiters.Remove(w.place)
	w.place = nil
	q.waiting--
	if l.waiters.Len() > 0 {
		heap.Fix(&q.turns, l.turn)
		heap.Fix(&q.longest, l.length)
		return
	}
	heap.Remove(&q.turns, l.turn)
	heap.Remove(&q.longest, l.length)
	q.forget(l)
}

// makeRoom takes the place of the latest statement of the longest line for l,
// unless that would make that line shorter than l becomes.
func (q *queue) makeRoom(l *line) bool {
	if len(q.longest.lines) == 0 {
		return false
	}
	other := q.longest.lines[0]
	if other.waiters.Len() <= l.waiters.Len()+1 {
		return false
	}
	w := last(other)
	q.remove(w)
	w.outcome <- outcome{err: q.busy(other)}
	return true
}

// busy returns the error for a statement that has no place. RetryAfter
// estimates when the statements before it have run: those of its own principal
// and as many of each other waiting principal. The estimate of how long a slot
// is held is the average of the statements that ended, or the average time so
// far of those that run, whichever is longer.
func (q *queue) busy(l *line) error {
	held := q.typical
	if running := q.slots - q.free; running > 0 {
		held = max(held, time.Since(q.epoch)-q.begun/time.Duration(running))
	}
	ahead := min(q.waiting, l.waiters.Len()*len(q.turns.lines))
	after := held * time.Duration(1+ahead/q.slots)
	const step, most = 100 * time.Millisecond, 30 * time.Second
	e := NewError(sqlguard.CodeBusy, "too many statements are running and waiting on this connection", nil)
	e.RetryAfter = min((after + step).Truncate(step), most)
	e.Hint = "try again in " + e.RetryAfter.String()
	return e
}

// first and last return the statements at the ends of a line that is not empty.
func first(l *line) *waiter { return l.waiters.Front().Value.(*waiter) } //nolint:forcetypeassert // wait puts nothing else there
func last(l *line) *waiter  { return l.waiters.Back().Value.(*waiter) }  //nolint:forcetypeassert // wait puts nothing else there

// lineHeap is a heap.Interface. Each line knows its index in the heap.
type lineHeap struct {
	lines  []*line
	before func(a, b *line) bool
	index  func(*line) *int
}

func (h *lineHeap) Len() int           { return len(h.lines) }
func (h *lineHeap) Less(i, j int) bool { return h.before(h.lines[i], h.lines[j]) }

func (h *lineHeap) Swap(i, j int) {
	h.lines[i], h.lines[j] = h.lines[j], h.lines[i]
	*h.index(h.lines[i]), *h.index(h.lines[j]) = i, j
}

// Push appends a line, for the package heap.
func (h *lineHeap) Push(x any) {
	l := x.(*line) //nolint:forcetypeassert // the queue pushes nothing else
	*h.index(l) = len(h.lines)
	h.lines = append(h.lines, l)
}

// Pop removes the last line, for the package heap.
func (h *lineHeap) Pop() any {
	n := len(h.lines) - 1
	l := h.lines[n]
	h.lines[n] = nil
	h.lines = h.lines[:n]
	return l
}
