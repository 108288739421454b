package audit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/audit"
)

// TestHeldStatements: a statement counts as held from its unconfirmed end until a later
// event says that it is over, or until its process has ended.
func TestHeldStatements(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := openLog(t, dir, audit.Config{})
	now := time.Now().UTC().Truncate(time.Millisecond)
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	decision := func(id, connection string, minute int) audit.Event {
		return audit.Event{Type: audit.QueryDecision, Time: at(minute), QueryID: id, Connection: audit.Connection{ID: connection}, Decision: audit.Decision{Verdict: audit.VerdictAllow}}
	}
	end := func(id, ended string, minute int) audit.Event {
		return audit.Event{Type: audit.QueryCancelled, Time: at(minute), QueryID: id, Result: audit.Result{Status: audit.StatusCancelled, Code: "timeout", Ended: ended}}
	}
	appendAll(
		t, log,
		decision("long ago", "shop", -3000), end("long ago", audit.EndedUnconfirmed, -2999),
		decision("held", "shop", -2000), end("held", audit.EndedUnconfirmed, -9), // asked on the day
		decision("confirmed", "shop", -8), end("confirmed", audit.EndedConfirmed, -8),
		decision("over", "shop", -7), end("over", audit.EndedUnconfirmed, -6),
		audit.Event{Type: audit.QueryEnded, Time: at(-5), QueryID: "over", Result: audit.Result{Ended: audit.EndedConfirmed}},
		decision("held too", "other", -4), end("held too", audit.EndedUnconfirmed, -3),
	)
	held := func() (list []audit.HeldStatement) {
		t.Helper()
		list, err := audit.HeldStatements(t.Context(), dir, at(-1440))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	want := []audit.HeldStatement{{QueryID: "held", Connection: "shop", Asked: at(-9)}, {QueryID: "held too", Connection: "other", Asked: at(-3)}}
	if diff := cmp.Diff(want, held()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	appendAll(t, log, audit.Event{Type: audit.GatewayStop, Time: at(-2)})
	if list := held(); len(list) != 0 {
		t.Errorf("after the end of the process: %v", list)
	}
	closeLog(t, log)
	if _, err := audit.HeldStatements(t.Context(), dir+"/none", now); err == nil {
		t.Error("a log that is not there has no held statements")
	}
}
