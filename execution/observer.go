package execution

import (
	"time"

	"github.com/ktxhq/ktx/sqlguard"
)

// Observer follows statements, for figures. Its methods are called by many
// goroutines and must not wait.
type Observer interface {
	// Decided: a statement was judged. The code is empty when it may run.
	Decided(connection string, code sqlguard.Code)
	// Took: a statement has left a step, one of the Step constants.
	Took(connection, step string, d time.Duration)
	// Finished: a statement that was let run has ended. The code is empty when
	// it ended well, and then rows and bytes are what its caller gets.
	Finished(connection string, code sqlguard.Code, rows, bytes int64)
}

// The steps of a statement that [Observer.Took] tells of.
const (
	StepJudge  = "judge"  // the guard reads it
	StepRecord = "record" // its decision goes into the audit log
	StepWait   = "wait"   // for its turn
	StepRun    = "run"    // at the database, until its last row is read
)

// Observe makes o follow the statements from now on. It is called before the
// first of them.
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
}

// Loads returns how busy every connection is at this moment, ordered by id.
func (g *Gateway) Loads() []Load {
	all := g.doors.Load()
	out := make([]Load, 0, len(all.ids))
	for _, id := range all.ids {
		q := all.byID[id].queue
		q.mu.Lock()
		out = append(out, Load{ConnectionID: id, Running: q.slots - q.free, Waiting: q.waiting})
		q.mu.Unlock()
	}
	return out
}
