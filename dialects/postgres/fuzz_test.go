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

// FuzzCheck: Check never panics, gives the same verdict for the same statement, and all
// spans lie in it. The test fuzzes Check and not Analyze, because without the screen a
// statement could crash the process in the parser.
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
