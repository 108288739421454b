// Package dialecttest has the tests that all dialects share. The tests of a dialect add
// only its own data: statements, quotes, node types.
//
// [Mutator] makes new statements from given ones. [CheckTokens], [CheckFacts] and
// [CheckVerdict] check what every dialect promises for any input; fuzz targets and
// mutation tests call them. [CheckGrowth] judges statements that grow, and
// [Bench] has the benchmarks.
//
// The package is test support: the shipped binary never contains it.
package dialecttest

import (
	"os"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/sqlguard"
)

// Full reports whether the tests run at full size: the environment variable
// KTX_TEST_FULL is 1. Without it a test that samples takes a smaller sample of
// the same kinds.
func Full() bool { return os.Getenv("KTX_TEST_FULL") == "1" }

// NewGuard returns a guard with the default policy and no catalogue.
func NewGuard(tb testing.TB, d sqlguard.Dialect) *sqlguard.Guard {
	tb.Helper()
	g, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// Cases returns the cases of the corpus for the dialect of that name.
func Cases(tb testing.TB, dialect string) []corpus.Case {
	tb.Helper()
	var out []corpus.Case
	for _, c := range corpus.Cases() {
		if c.Dialect == dialect {
			out = append(out, c)
		}
	}
	if len(out) < 500 {
		tb.Fatalf("the corpus has only %d cases for %s, want at least 500", len(out), dialect)
	}
	return out
}

// Line is one line of a file of expected verdicts.
type Line struct {
	Number  int // from 1
	Verdict string
	SQL     string
}

// ReadVerdicts reads a file that has a verdict, a TAB and a statement on each
// line. It leaves out empty lines and those that begin with #.
func ReadVerdicts(tb testing.TB, path string) []Line {
	tb.Helper()
	data, err := os.ReadFile(path) //nolint:gosec // a file of the test
	if err != nil {
		tb.Fatal(err)
	}
	var out []Line
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verdict, sql, ok := strings.Cut(line, "\t")
		if !ok {
			tb.Fatalf("%s:%d: no TAB", path, i+1)
		}
		out = append(out, Line{Number: i + 1, Verdict: verdict, SQL: sql})
	}
	return out
}
