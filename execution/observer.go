package execution

import (
	"time"

	"github.com/ktxhq/ktx/sqlguard"
)

// Observer follows statements to produce metrics. Many goroutines call its
// methods, which must not block.
type Observer interface {
	// Decided: the guard judged a statement. The code is empty when it may run.
	Decided(connection string, code sqlguard.Code)
	// Took: a statement has left a step, one of the Step constants.
	Took(connection, step string, d time.Duration)
	// Finished: a statement that was allowed to run has ended. The code is
	// empty when it ended well, and then rows and bytes count the result that
	// its caller gets.
	Finished(connection string, code sqlguard.Code, rows, bytes int64)
}

// The steps of a statement that the gateway passes to [Observer.Took].
const (
	StepJudge  = "judge"  // the guard judges it
	StepRecord = "record" // the gateway writes the decision to the audit log
	StepWait   = "wait"   // it waits for a slot of the connection
	StepRun    = "run"    // it runs at the database, until its last row is read
)

// Observe makes o follow the statements from now on. Call it before the first
// statement.
func (g *Gateway) Observe(o Observer) { g.observer = o }

// unobserved is the observer of a gateway that has none.
type unobserved struct{}

func (unobserved) Decided(string, sqlguard.Code)                {}
func (unobserved) Took(string, string, time.Duration)           {}
func (unobserved) Finished(string, sqlguard.Code, int64, int64) {}

// Load is how busy one connection is.
type Load struct {
	ConnectionID     string
	Running, Waiting int
	// Held counts the statements among Running that were asked to end and have
	// not ended. Longest is for how long the first of them has been held.
	Held    int
	Longest time.Duration
}

// Loads returns how busy every connection is now, ordered by id.
func (g *Gateway) Loads() []Load {
	all := g.doors.Load()
	out := make([]Load, 0, len(all.ids))
	for _, id := range all.ids {
		q := all.byID[id].queue
		q.mu.Lock()
		load := Load{ConnectionID: id, Running: q.slots - q.free, Waiting: q.waiting, Held: len(q.held)}
		for _, h := range q.held {
			load.Longest = max(load.Longest, time.Since(h.Since()))
		}
		out = append(out, load)
		q.mu.Unlock()
	}
	return out
}
