package bigquery_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

var mutations = dialecttest.Style{
	Quotes: "\"'`", Requote: []string{`"@"`, "'@'", "`@`", "'''@'''", `r"@"`, "b'@'", "/*@*/", "--@\n", "#@\n", "@`.`x", "@.*"}, Separators: []string{"", "\n", "/**/"},
}

func newMutator(seed uint64, more ...string) *dialecttest.Mutator {
	return dialecttest.NewMutator(bigquery.Dialect{}, mutations, append(statements(), more...), seed)
}

// TestMutations checks what every dialect promises on mutations of reads and attacks, and
// that the parser and our lexer split them alike.
func TestMutations(t *testing.T) {
	allowed, compared := 0, 0
	texts := newMutator(1).Each(t, 300_000, func(sql string) {
		dialecttest.CheckTokens(t, bigquery.Dialect{}, sql, "")
		if checkLexers(t, sql) {
			compared++
		}
		dialecttest.CheckFacts(t, bigquery.Dialect{}, sql)
		if dialecttest.CheckVerdict(t, bigquery.Dialect{}, sql).Allowed {
			allowed++
		}
	})
	t.Logf("%d texts, %d allowed, %d split by both lexers", texts, allowed, compared)
	if allowed < texts/100 || compared < texts/2 {
		t.Errorf("%d of %d statements are allowed, and %d split by both lexers, which is too few for this test", allowed, texts, compared)
	}
}
