package execution

import (
	"context"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// A Refusal is a call that was refused before the guard judged a statement.
type Refusal struct {
	// Code is why, such as unknown_connection. It is unknown_tool for a tool that does
	// not exist.
	Code sqlguard.Code
	// Tool and ConnectionID are the names that the call gave. Long ones are cut.
	Tool, ConnectionID string
}

// ReasonUnknownTool is the code of a [Refusal] for a tool that does not exist. The
// protocol has an error of its own for it, so no tool answers with this code.
const ReasonUnknownTool sqlguard.Code = "unknown_tool"

// A RefusalObserver is an [Observer] that counts calls refused before the guard.
type RefusalObserver interface {
	// Refused: a call was refused with that code.
	Refused(code sqlguard.Code)
}

// The log records at most refusalBurst refusals at once and refusalRate a second after
// that, so that nobody fills it by calls that ktx refuses. Each event has the number of
// those that were not recorded before it, so none is lost from the count.
const (
	refusalBurst   = 100
	refusalRate    = 10
	maxRefusalName = 128 // bytes of a name that the caller chose
)

// refusals bounds the rate of the events of refused calls.
type refusals struct {
	// recording is held for reading while an event is written, and for writing when the
	// stop of the gateway is, after which stopped is set and no event follows.
	recording sync.RWMutex
	stopped   bool

	mu         sync.Mutex
	tokens     float64
	last       time.Time
	unrecorded int64
}

// take reports whether a refusal at that time is recorded, and how many were not since
// the last one that was.
func (r *refusals) take(now time.Time) (unrecorded int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last.IsZero() {
		r.tokens = refusalBurst
	} else {
		r.tokens = min(refusalBurst, r.tokens+now.Sub(r.last).Seconds()*refusalRate)
	}
	r.last = now
	if r.tokens < 1 {
		r.unrecorded++
		return 0, false
	}
	r.tokens--
	unrecorded, r.unrecorded = r.unrecorded, 0
	return unrecorded, true
}

// giveBack counts refusals whose event could not be written.
func (r *refusals) giveBack(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unrecorded += n
}

// rest returns the number of refusals without an event, and forgets them.
func (r *refusals) rest() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.unrecorded
	r.unrecorded = 0
	return n
}

// Refused records a call that was refused before the guard judged a statement. Nothing
// runs because of it, so a log that cannot be written changes nothing for the caller;
// the refusal is counted, and the next event that is written has the count. After the
// gateway was closed, only the observer counts it: the stop is the last event.
func (g *Gateway) Refused(ctx context.Context, r Refusal) {
	if o, ok := g.observer.(RefusalObserver); ok {
		o.Refused(r.Code)
	}
	g.refusals.recording.RLock()
	defer g.refusals.recording.RUnlock()
	if g.refusals.stopped {
		return
	}
	unrecorded, ok := g.refusals.take(time.Now())
	if !ok {
		return
	}
	err := g.log.Append(ctx, audit.Event{
		Type: audit.CallRefused, Reason: string(r.Code), Unrecorded: unrecorded,
		Tool: audit.Tool{Name: clipName(r.Tool)}, Connection: audit.Connection{ID: clipName(r.ConnectionID)},
	})
	if err != nil {
		g.refusals.giveBack(unrecorded + 1)
	}
}

// clipName cuts a name that the caller chose.
func clipName(s string) string { return s[:min(len(s), maxRefusalName)] }
