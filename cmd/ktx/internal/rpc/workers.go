package rpc

import "sync/atomic"

// Workers run calls, each on a goroutine of its own. Some goroutines stay for a further
// call: the stack of such a goroutine has grown to what a call needs, and growing it
// takes about a twentieth of the time of a small call.
type Workers struct {
	next    chan func()
	waiting atomic.Int32 // goroutines for which next is open
}

// maxWaiting bounds the goroutines that wait for a call.
const maxWaiting = 16

// NewWorkers returns workers without a goroutine.
func NewWorkers() *Workers { return &Workers{next: make(chan func())} }

// Go runs call, and does not wait for its end.
func (w *Workers) Go(call func()) {
	select {
	case w.next <- call:
	default:
		go w.run(call)
	}
}

// Close ends the goroutines that wait. Go must not be called any more.
func (w *Workers) Close() { close(w.next) }

func (w *Workers) run(call func()) {
	for more := true; more; {
		call()
		call = nil // what it holds may go
		more = w.waiting.Add(1) <= maxWaiting
		if more {
			call, more = <-w.next
		}
		w.waiting.Add(-1)
	}
}
