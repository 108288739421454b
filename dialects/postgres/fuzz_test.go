package postgres_test

import (
	"testing"
	"unicode/utf8"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/postgres"
)

func FuzzLex(f *testing.F) {
	for _, sql := range statements() {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) { dialecttest.CheckTokens(t, postgres.Dialect{}, sql, "") })
}

// Check never panics, says the same of the same text, and points into it. It
// is fuzzed rather than Analyze: the screen keeps from the parser what could
// end the process.
func FuzzCheck(f *testing.F) {
	for _, sql := range statements() {
		f.Add(sql)
	}
	for _, sql := range mutations(statements(), 500, 3) {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		v := dialecttest.CheckVerdict(t, postgres.Dialect{}, sql)
		if v.Statements == 0 || !utf8.ValidString(sql) {
			return
		}
		statements, err := postgres.Dialect{}.Analyze(sql)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range statements {
			for _, s := range dialecttest.Spans(&st) {
				if s.Start < st.Span.Start || s.Start >= s.End || s.End > st.Span.End {
					t.Fatalf("span %+v of %q outside of its statement %+v", s, sql, st.Span)
				}
			}
		}
	})
}
