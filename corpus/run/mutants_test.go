package run_test

import (
	"testing"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/mutate"
	"github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/dialects"
)

// differences are the mutants whose answer differs from that of their case,
// each with the reason. None is a bypass.
var differences = map[string]string{}

// TestMutantsMeetTheirDemand puts every mutant of every case to the guard of
// ktx. The guard must give the same answer as for the case.
func TestMutantsMeetTheirDemand(t *testing.T) {
	t.Parallel()
	guard, err := run.NewBuiltin("test", dialects.All())
	if err != nil {
		t.Fatal(err)
	}
	mutants := mutate.All(readable(t))
	if len(mutants) < 10_000 {
		t.Fatalf("only %d mutants", len(mutants))
	}
	results, err := run.Run(t.Context(), guard, mutants, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		m, met := mutants[i], r.Met && (r.Decision != run.Reject || r.Agrees)
		listed := differences[r.ID] != "" && (demand(m) != corpus.Reject || r.Decision == run.Reject)
		switch {
		case met && listed:
			t.Errorf("%s meets its demand and is on the list of differences", r.ID)
		case !met && !listed:
			t.Errorf("%s (%s): expected %s, got %s %s; the case lists %v\n%.300s", r.ID, m.Title, demand(m), r.Decision, r.Code, m.Codes, m.SQL)
		}
	}
}
