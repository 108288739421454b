//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package audit_test

import (
	"context"
	"testing"

	"github.com/ktxhq/ktx/execution/audit"
)

// TestCrashedRun: the next process to open the log ends what a killed one left open, once,
// and leaves alone what a living one has open.
func TestCrashedRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	living := openLog(t, dir, audit.Config{})
	appendAll(t, living, audit.Event{Type: audit.GatewayStart}, decision("lives"))
	killed := openLog(t, dir, audit.Config{})
	appendAll(t, killed, audit.Event{Type: audit.GatewayStart}, decision("ended"), decision("left"),
		audit.Event{Type: audit.QueryFinished, QueryID: "ended", Result: audit.Result{Status: audit.StatusOK}})
	if err := audit.Abandon(killed); err != nil {
		t.Fatal(err)
	}
	closeLog(t, killed)
	for range 2 {
		closeLog(t, openLog(t, dir, audit.Config{}))
	}

	crashes := 0
	var start, crash audit.Event
	for _, rec := range records(t, dir) {
		switch rec.Event.Type { //nolint:exhaustive // the others do not matter
		case audit.GatewayStart:
			start = rec.Event // the last one is that of the killed process
		case audit.GatewayCrashed:
			crash = rec.Event
			crashes++
		}
	}
	if crashes != 1 || crash.Process.Run == "" || crash.Process.Run != start.Process.Run || crash.Process.PID == 0 {
		t.Errorf("%d crashes, the last is %+v; the killed process is %+v", crashes, crash.Process, start.Process)
	}

	r, err := audit.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"lives": audit.StatusUnfinished, "ended": audit.StatusOK, "left": audit.StatusCrashed}
	for name, list := range map[string]func(context.Context) map[string]string{
		"oldest first": func(ctx context.Context) map[string]string {
			got := map[string]string{}
			for s, err := range audit.Statements(r.All(ctx)) {
				if err != nil {
					t.Fatal(err)
				}
				got[s.Decision.QueryID] = s.Status()
			}
			return got
		},
		"newest first": func(ctx context.Context) map[string]string {
			got := map[string]string{}
			for s, err := range audit.NewestStatements(r.Newest(ctx)) {
				if err != nil {
					t.Fatal(err)
				}
				got[s.Decision.QueryID] = s.Status()
			}
			return got
		},
	} {
		got := list(t.Context())
		for id, status := range want {
			if got[id] != status {
				t.Errorf("%s: %s is %q, want %q", name, id, got[id], status)
			}
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	sum, err := audit.Summarize(t.Context(), dir, audit.Filter{})
	if err != nil || sum.Crashed != 1 || sum.Unfinished != 1 {
		t.Errorf("%d crashed, %d unfinished, want 1 and 1: %v", sum.Crashed, sum.Unfinished, err)
	}
	closeLog(t, living)
	sound(t, dir)
}
