package prove_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx-prove/internal/prove"
	"github.com/ktxhq/ktx/corpus"
)

// TestSummaryNotes checks which effects a summary calls unseen: not that of a statement
// which the engine refused after it had left a trace.
func TestSummaryNotes(t *testing.T) {
	t.Parallel()
	failed := func(changed ...string) prove.Report {
		r := prove.Report{Case: corpus.Case{ID: "x", Expect: corpus.Reject, Effect: &corpus.Effect{Kind: "network"}}}
		for range 4 {
			r.Observations = append(r.Observations, prove.Observation{Outcome: prove.Outcome{Result: prove.Failed, Code: "1001", Changed: changed}})
		}
		return r
	}
	for _, tt := range []struct {
		report prove.Report
		unseen bool
	}{{failed(), true}, {failed("connection to 127.0.0.1:9"), false}} {
		var s prove.Summary
		s.Add(tt.report)
		if got := slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "network was not seen") }); got != tt.unseen {
			t.Errorf("changed %q: notes %q", tt.report.Observations[0].Outcome.Changed, s.Notes)
		}
	}
}
