package bigquery_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

// statements are all statements of the tests.
func statements() []string {
	out := append([]string(nil), reads...)
	for _, c := range refusals {
		out = append(out, c.sql...)
	}
	return out
}

func seedFuzz(f *testing.F) {
	f.Helper()
	for _, sql := range statements() {
		f.Add(sql)
	}
}

func FuzzLex(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) {
		dialecttest.CheckTokens(t, bigquery.Dialect{}, sql, "")
		checkLexers(t, sql)
	})
}

func FuzzAnalyze(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) { dialecttest.CheckFacts(t, bigquery.Dialect{}, sql) })
}

func FuzzCheck(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) { dialecttest.CheckVerdict(t, bigquery.Dialect{}, sql) })
}
