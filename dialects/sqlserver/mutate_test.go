package sqlserver_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlserver"
)

func newMutator(tb testing.TB, seed uint64) *dialecttest.Mutator {
	tb.Helper()
	statements := append(lines(tb, "reads.txt"), ends...)
	for _, c := range cases(tb) {
		statements = append(statements, c.SQL)
	}
	style := dialecttest.Style{
		Quotes:     "\"'[]",
		Requote:    []string{`"@"`, "'@'", "N'@'", "[@]"},
		Separators: []string{""},
	}
	return dialecttest.NewMutator(sqlserver.Dialect{}, style, statements, seed)
}

// TestMutations checks mutations of the corpus's cases as the fuzz targets do.
func TestMutations(t *testing.T) {
	allowed := 0
	texts := newMutator(t, 1).Each(t, 300_000, func(sql string) {
		dialecttest.CheckFacts(t, sqlserver.Dialect{}, sql)
		if check(t, sql) {
			allowed++
		}
	})
	t.Logf("%d texts, %d allowed", texts, allowed)
	if allowed < texts/100 {
		t.Errorf("%d of %d statements are allowed, which is too few for this test", allowed, texts)
	}
}
