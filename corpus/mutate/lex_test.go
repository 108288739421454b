package mutate_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/mutate"
)

// of returns the text of one mutant, or "" if there is none.
func of(dialect, sql string, kind mutate.Kind) string {
	for _, m := range mutate.Of(corpus.Case{ID: "X", Dialect: dialect, Class: "side-effect-function", SQL: sql, Expect: corpus.Reject}, kind) {
		return m.SQL
	}
	return ""
}

// TestNothingWithinQuotesChanges checks that literals, quoted names and
// comments of the dialect stay unchanged.
func TestNothingWithinQuotesChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dialect, sql, want string }{
		{"postgres", `select 'it''s a' || E'b\' c' || $q$ d $ e $q$ || U&'f' -- g`, `SeLeCt 'it''s a' || E'b\' c' || $q$ d $ e $q$ || U&'f' -- g`},
		{"postgres", `select "a""b".c /* d /* e */ f */, 'g\', h`, `SeLeCt "a""b".C /* d /* e */ f */, 'g\', H`},
		{"postgres", `select a#>'{b}', c ? 'd', $1`, `SeLeCt A#>'{b}', C ? 'd', $1`},
		{"postgres", `select x'1f', b'01', 1e5, 0xff`, `SeLeCt x'1f', b'01', 1e5, 0xff`},
		{"mysql", "select 'a\\' b', \"c\" from `d` -- e\nwhere f = _utf8mb4'g' # h", "SeLeCt 'a\\' b', \"c\" FrOm `d` -- e\nWhErE f = _utf8mb4'g' # h"},
		{"mysql", "select 1--2, now() from t", "SeLeCt 1--2, NoW() FrOm t"},
		{"sqlserver", "select [a]]b], N'c', \"d\", @e, #f.g from h", "SeLeCt [a]]b], N'c', \"d\", @e, #F.G FrOm H"},
		{"sqlserver", "select a.value('b', 'c') /* d /* e */ f */ from g", "SeLeCt A.value('b', 'c') /* d /* e */ f */ FrOm G"},
		{"sqlite", "select [a], `b`, \"c\", :d, ?1, x'00' from e", "SeLeCt [a], `b`, \"c\", :d, ?1, x'00' FrOm E"},
	} {
		if got := of(c.dialect, c.sql, mutate.Case); got != c.want {
			t.Errorf("%s: %s\nis %s\nnot %s", c.dialect, c.sql, got, c.want)
		}
	}
}

// TestUncertainTextsHaveNoMutants checks that a text has no mutants if servers,
// versions or settings may read it differently.
func TestUncertainTextsHaveNoMutants(t *testing.T) {
	t.Parallel()
	for dialect, texts := range map[string][]string{
		"postgres": {
			"select 'a", `select "a`, "select $a$ b", "select /* a", "select E'a\\'", "select 'a'\n'b'", "select E'a'\n'b\\''", "\\copy a", "select \x00", "select \xff", "select a\u200bb", "\ufeffselect 1", "select a\rb",
			"", " ", "-- a",
		},
		"mysql":     {"select /*! a */ 1", "select /*M! a */ 1", "select 'a\\'", "select `a", "select /* a /* b */ c", "select a@'b'", "select 'a' 'b'"},
		"sqlserver": {"select [a", "select /* a /* b */", "select 'a"},
		"sqlite":    {"select [a", "select /* a", "select /* a /* b */"},
		"duckdb":    {},
	} {
		for _, sql := range texts {
			if got := mutate.Of(corpus.Case{ID: "X", Dialect: dialect, SQL: sql, Expect: corpus.Allow}); len(got) > 0 && strings.TrimSpace(sql) != "-- a" {
				t.Errorf("%s: %q has mutants: %q", dialect, sql, got[0].SQL)
			}
		}
	}
}
