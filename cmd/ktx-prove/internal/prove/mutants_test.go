package prove_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx-prove/internal/prove"
	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/mutate"
)

// TestBenignMutantsRun runs the mutants of every case that must pass, inside a
// read-only transaction, as their cases run: a mutant that an engine refuses
// would demand of a guard to allow what nobody can use.
func TestBenignMutantsRun(t *testing.T) {
	for _, dialect := range []string{"sqlite", "postgres", "mysql"} {
		t.Run(dialect, func(t *testing.T) {
			dir := corpusDir(t)
			t.Chdir(t.TempDir())
			var texts []corpus.Case
			for _, c := range corpus.Cases() {
				if c.Dialect == dialect && c.Expect == corpus.Allow && (c.Engine == nil || len(c.Engine.Needs) == 0) {
					texts = append(texts, mutate.Of(c)...)
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
