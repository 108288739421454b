package duckdb_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

func newMutator(seed uint64) *dialecttest.Mutator {
	style := dialecttest.Style{
		Quotes: "\"'`", Requote: []string{`"@"`, "'@'", "`@`", "$$@$$", "$x$@$x$", "/*@*/", "e'@'", "x'@'", "--@\n", "@$", "#@"}, Separators: []string{"", "\n", "/**/"},
	}
	return dialecttest.NewMutator(duckdb.Dialect{}, style, statements(), seed)
}

// TestMutations checks what every dialect promises on mutations of reads and attacks.
func TestMutations(t *testing.T) {
	allowed := 0
	texts := newMutator(1).Each(t, 300_000, func(sql string) {
		dialecttest.CheckTokens(t, duckdb.Dialect{}, sql, "")
		dialecttest.CheckFacts(t, duckdb.Dialect{}, sql)
		if dialecttest.CheckVerdict(t, duckdb.Dialect{}, sql).Allowed {
			allowed++
		}
	})
	t.Logf("%d texts, %d allowed", texts, allowed)
	if allowed < texts/100 {
		t.Errorf("%d of %d statements are allowed, which is too few for this test", allowed, texts)
	}
}
