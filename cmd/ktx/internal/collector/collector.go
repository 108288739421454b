// Package collector puts off the first collection of garbage. Most commands need little
// memory and end before, and the tables that a program builds while it starts would
// be collected again and again otherwise.
package collector

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
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

// End lets garbage be collected as usual from now on. What is set afterwards stays.
func End() { late.end() }

// Within keeps the program within size bytes, and collects no garbage before it has them
// if there was none yet. Where what is in use takes more than that, it lets the program grow by
// two thirds of it; with one third, checks of code took half as much processor time again.
// restore ends that. What the user sets in GOGC and GOMEMLIMIT holds.
func Within(size int64) (restore func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	late.mu.Lock()
	defer late.mu.Unlock()
	w := &within{size: size, before: debug.SetMemoryLimit(size)}
	if !late.done {
		w.before = late.limit
	}
	w.watch()
	return w.end
}

// within sets the limit of memory after each collection.
type within struct {
	mu     sync.Mutex
	size   int64
	before int64
	ended  bool
}

// watch has collected called after the next collection.
func (w *within) watch() {
	runtime.AddCleanup(new([64]byte), (*within).collected, w)
}

func (w *within) collected() {
	End()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	live := int64(sample[0].Value.Uint64()) //nolint:gosec // no heap has 8 EiB
	debug.SetMemoryLimit(max(w.size, live+2*live/3+besides))
	w.watch()
}

// besides is what the limit counts besides the heap, in bytes.
const besides = 16 << 20

func (w *within) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.ended = true
		debug.SetMemoryLimit(w.before)
	}
}

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
