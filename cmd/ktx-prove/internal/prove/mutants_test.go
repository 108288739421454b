package prove_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx-prove/internal/prove"
	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/mutate"
)

// TestBenignMutantsRun runs mutants of the cases that a guard must allow, in
// read-only transactions. It takes every fifth case of PostgreSQL and MySQL,
// and all of them with KTX_TEST_FULL=1. A mutant that the engine refuses would
// ask a guard to allow a statement that nobody can use. All mutants share one
// database, so those of cases with tables or views of their own are left out.
func TestBenignMutantsRun(t *testing.T) {
	for dialect, every := range map[string]int{"sqlite": 1, "postgres": 5, "mysql": 5} {
		if os.Getenv("KTX_TEST_FULL") == "1" {
			every = 1
		}
		t.Run(dialect, func(t *testing.T) {
			dir := corpusDir(t)
			t.Chdir(t.TempDir())
			var texts []corpus.Case
			benign := 0
			for _, c := range corpus.Cases() {
				if c.Dialect == dialect && c.Expect == corpus.Allow && (c.Engine == nil || len(c.Engine.Needs) == 0) && (c.Setup == nil || len(c.Setup.Database) == 0) {
					if benign%every == 0 {
						texts = append(texts, mutate.Of(c)...)
					}
					benign++
				}
			}
			outcomes, err := prove.ReadOnly(t.Context(), dir, dialect, texts)
			if err != nil {
				t.Fatal(err)
			}
			ran := map[string]int{}
			for _, m := range texts {
				failure, tried := outcomes[m.ID]
				if !tried {
					continue // of another version, or of the other server of the family
				}
				_, kind, _ := strings.Cut(m.ID, "~")
				ran[kind]++
				if failure != nil {
					t.Errorf("%s: %v\n%.300s", m.ID, failure, m.SQL)
				}
			}
			for _, kind := range mutate.Kinds() {
				if ran[string(kind)] == 0 && (dialect != "mysql" || kind != mutate.Qualify) {
					t.Errorf("no mutant of kind %s ran", kind)
				}
			}
		})
	}
}
