package sqlite_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/sqlguard"
)

func newMutator(tb testing.TB, seed uint64) *dialecttest.Mutator {
	tb.Helper()
	var statements []string
	for _, c := range readVerdicts(tb) {
		statements = append(statements, c.sql)
	}
	style := dialecttest.Style{
		Quotes:     "\"'`[]",
		Requote:    []string{`"@"`, "'@'", "`@`", "[@]"},
		Separators: []string{""},
	}
	return dialecttest.NewMutator(sqlite.Dialect{}, style, statements, seed)
}

// TestMutations compares the guard with the engine on mutations of the texts of
// verdicts.txt. The engine must read an allowed text as one statement that uses
// only what the guard saw. The engine must also refuse what the parser refuses.
func TestMutations(t *testing.T) {
	g, e := newGuard(t), newEngine(t)
	allowed, run := 0, 0
	texts := newMutator(t, 1).Each(t, 400_000, func(sql string) {
		v := g.Check(sql)
		switch {
		case v.Allowed:
			allowed++
			if fault := falseAccept(e, sql); fault != "" {
				t.Errorf("%s\nis allowed, but the engine %s", sql, fault)
			}
			if _, _, err := e.prepare(sql); err == nil {
				run++
			}
		case v.Code == sqlguard.CodeParseError:
			if actions, tail, err := e.prepare(sql); err == nil && tail == "" && len(actions) > 0 {
				t.Errorf("%s\nis refused, %+v, but the engine prepares it", sql, v.Findings)
			}
		}
	})
	t.Logf("%d texts, %d allowed, of which the engine prepares %d", texts, allowed, run)
	if run < texts/100 {
		t.Errorf("the engine prepares only %d of %d statements, which is too few for this test", run, texts)
	}
}
