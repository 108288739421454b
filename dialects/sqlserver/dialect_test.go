package sqlserver_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

func newGuard(tb testing.TB) *sqlguard.Guard {
	tb.Helper()
	return dialecttest.NewGuard(tb, sqlserver.Dialect{})
}

var itoa = strconv.Itoa

// TestIdentity checks the names and traits by which other packages know the dialect.
func TestIdentity(t *testing.T) {
	d := sqlserver.Dialect{}
	if d.Name() != "sqlserver" || d.Version() == "" || len(d.Session()) == 0 {
		t.Errorf("%q, %q, %v", d.Name(), d.Version(), d.Session())
	}
	// A collation may distinguish letters by case, so a rule that allows a name
	// matches only the exact spelling.
	if _, folds := any(d).(interface{ FoldsNames() bool }); folds {
		t.Error("the dialect treats names of different case as the same name")
	}
}

// TestOutputColumns compares the names of a result's columns.
func TestOutputColumns(t *testing.T) {
	g := newGuard(t)
	for sql, want := range map[string][]string{
		"SELECT a, b.c, d AS e, f g, h = 1, 'i' = 2, j AS 'k', l 'm', [n o]": {"a", "c", "e", "g", "h", "i", "k", "m", "n o"},
		"SELECT 1, a + 1, COUNT(*), COUNT(*) AS n FROM t":                    {"n"},
		"SELECT *, t.* FROM t":                                  {},
		"SELECT a, t.* FROM t":                                  {},
		"SELECT a, (SELECT TOP 1 * FROM u) AS b FROM t":         {"a", "b"},
		"SELECT (SELECT a FROM u) AS x FROM t":                  {"x"},
		"WITH c AS (SELECT 1 AS a) SELECT a AS b FROM c":        {"b"},
		"SELECT a FROM t UNION SELECT b FROM u":                 {"a"},
		"(SELECT a FROM t)":                                     {"a"},
		"SELECT a COLLATE Latin1_General_CI_AS, -a, (a) FROM t": {},
	} {
		v := g.Check(sql)
		if diff := cmp.Diff(want, v.Columns); diff != "" || !v.Allowed {
			t.Errorf("%s %v, - want, + got:\n%s", sql, v.Findings, diff)
		}
	}
}

// TestInsertions puts statements and clauses that write between the tokens of every
// allowed case. The guard must refuse the result at every position.
func TestInsertions(t *testing.T) {
	snippets := []string{
		"DROP TABLE t", "; DROP TABLE t;", "EXEC sp_who", "EXEC ('x')", "INTO x", "INSERT INTO t VALUES (1)", "DELETE t", "UPDATE t SET a = 1",
		"SET ROWCOUNT 0", "USE master", "WAITFOR DELAY '0:1'", "DECLARE @x int", "@x", "OPENROWSET(BULK 'x', SINGLE_CLOB)",
		"OPENQUERY(s, 'x')", "BEGIN TRAN", "COMMIT", "SHUTDOWN", "\nGO\n", "\n:r x\n", "; SELECT 1", "'", "/*", "[",
	}
	g := newGuard(t)
	tried, every := 0, 32
	if dialecttest.Full() {
		every = 4
	}
	for i, c := range cases(t) {
		if c.Expect != corpus.Allow || i/2%every != 0 {
			continue
		}
		places := []int{}
		for _, token := range (sqlserver.Dialect{}).Lex(c.SQL).List {
			if token.Kind != sqlguard.TokenComment {
				places = append(places, token.Start, token.End)
			}
		}
		for _, at := range places {
			for _, s := range snippets {
				before, after := c.SQL[:at]+" ", " "+c.SQL[at:]
				if strings.HasPrefix(s, ";") && strings.Trim(c.SQL[:at], "; \n") == "" && strings.HasSuffix(s, "1") {
					continue // empty statements before two queries
				}
				tried++
				if v := g.Check(before + s + after); v.Allowed && !quoting(s) {
					t.Errorf("%s is allowed", before+s+after)
				}
			}
		}
	}
	t.Logf("%d texts", tried)
}

// quoting reports whether a snippet can pair with a quote that the text has.
func quoting(s string) bool { return s == "'" || s == "[" || s == "/*" }
