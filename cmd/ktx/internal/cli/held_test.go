package cli_test

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/audit"
)

// ktx status and ktx doctor name statements whose end is not confirmed, until the log
// says that they are over.
func TestHeldStatementsAreShown(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	log, err := audit.Open(filepath.Join(dir, audit.DefaultPath), audit.Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	add := func(events ...audit.Event) {
		t.Helper()
		for _, e := range events {
			if err := log.Append(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
	}
	shows := func(want bool) {
		t.Helper()
		for _, command := range []string{"status", "doctor"} {
			p := run(t, dir, command)
			text, err := io.ReadAll(p.out)
			if err != nil {
				t.Fatal(err)
			}
			_ = p.wait(t)
			if strings.Contains(string(text), "1 statement whose end is not confirmed may still run at the server") != want {
				t.Errorf("ktx %s, want %v: %s", command, want, text)
			}
		}
	}
	connection := audit.Connection{ID: "demo", Dialect: "sqlite"}
	add(
		audit.Event{Type: audit.QueryDecision, QueryID: "q1", Connection: connection, Decision: audit.Decision{Verdict: audit.VerdictAllow}},
		audit.Event{Type: audit.QueryCancelled, QueryID: "q1", Connection: connection, Result: audit.Result{Status: audit.StatusCancelled, Code: "timeout", Ended: audit.EndedUnconfirmed}},
	)
	shows(true)
	add(audit.Event{Type: audit.QueryEnded, QueryID: "q1", Connection: connection, Result: audit.Result{Ended: audit.EndedConfirmed}})
	shows(false)
}
