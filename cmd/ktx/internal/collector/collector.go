// Package collector puts off the first collection of garbage. Most commands need little
// memory and end before, and the tables that a program builds while it starts would
// be collected again and again otherwise.
package collector

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// first is the size of the program in bytes at which garbage is collected for the first
// time. From then on it is collected as usual.
const first = 32 << 20

// The variable is set before the packages whose paths come later are initialised. If
// that ever changes, the program only starts a little slower.
var late = start()

type state struct {
	mu      sync.Mutex
	done    bool
	percent int
	limit   int64
}

// start turns the collector off below first. What the user sets in GOGC and GOMEMLIMIT
// holds.
func start() *state {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return &state{done: true}
	}
	s := &state{percent: debug.SetGCPercent(-1), limit: debug.SetMemoryLimit(first)}
	runtime.AddCleanup(new([64]byte), (*state).end, s) // runs after the first collection
	return s
}

func (s *state) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done {
		s.done = true
		debug.SetGCPercent(s.percent)
		debug.SetMemoryLimit(s.limit)
	}
}

// Until puts off the first collection until the program has size bytes, if there was none.
func Until(size int64) {
	late.mu.Lock()
	defer late.mu.Unlock()
	if !late.done {
		debug.SetMemoryLimit(size)
	}
}

// End lets garbage be collected as usual from now on. What is set afterwards stays.
func End() { late.end() }

// Often collects garbage when there is half as much of it as of what is in use, and not
// as much, until restore is called. It saves memory at the cost of processor time. What
// the user sets in GOGC holds.
func Often() (restore func()) {
	End() // otherwise it would undo this after the first collection
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(50)
	return func() { debug.SetGCPercent(before) }
}
