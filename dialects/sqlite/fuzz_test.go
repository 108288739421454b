package sqlite_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlite"
)

func seedFuzz(f *testing.F) {
	f.Helper()
	for _, c := range readVerdicts(f) {
		f.Add(c.sql)
	}
	for _, s := range shapes {
		f.Add(s.Text(3))
	}
	for _, sql := range []string{"\x00", "SELECT 1\x00; DROP TABLE t", "\xff", "'\xff'", "\uFEFFSELECT 1", "SELECT\u00a01", "\v", "SELECT '\v'"} {
		f.Add(sql)
	}
}

// FuzzLex checks the contract of every lexer, and compares the tokens with the parser's.
func FuzzLex(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) {
		dialecttest.CheckTokens(t, sqlite.Dialect{}, sql, "\uFEFF")
		if !strings.Contains(sql, "\x00") { // the engine's text ends there
			compareTokens(t, sql)
		}
	})
}

func FuzzAnalyze(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) { dialecttest.CheckFacts(t, sqlite.Dialect{}, sql) })
}

// FuzzCheck checks the contract of every guard, and that an allowed statement does in the
// engine only what the guard saw.
func FuzzCheck(f *testing.F) {
	seedFuzz(f)
	e := newEngine(f)
	f.Fuzz(func(t *testing.T, sql string) {
		if !dialecttest.CheckVerdict(t, sqlite.Dialect{}, sql).Allowed {
			return
		}
		if fault := falseAccept(e, sql); fault != "" {
			t.Fatalf("%q is allowed, but the engine %s", sql, fault)
		}
	})
}
