package mysql_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/sqlguard"
)

func newGuard(tb testing.TB, d sqlguard.Dialect) *sqlguard.Guard {
	tb.Helper()
	return dialecttest.NewGuard(tb, d)
}

// verdict is one line of verdicts.txt.
type verdict struct {
	line             int
	unknown, mariadb string // "ok" or a code, without a server and for MariaDB
	prepared         bool   // if it is allowed, the server of the tests must prepare it
	sql              string
}

func readVerdicts(tb testing.TB) []verdict {
	tb.Helper()
	var out []verdict
	for _, line := range dialecttest.ReadVerdicts(tb, filepath.Join("testdata", "verdicts.txt")) {
		v := verdict{line: line.Number, sql: line.SQL, prepared: !strings.HasSuffix(line.Verdict, "-")}
		var two bool
		v.unknown, v.mariadb, two = strings.Cut(strings.TrimSuffix(line.Verdict, "-"), "|")
		if !two {
			v.mariadb = v.unknown
		}
		out = append(out, v)
	}
	return out
}

func TestVerdicts(t *testing.T) {
	unknown, mariadb := newGuard(t, mysql.Dialect{}), newGuard(t, mysql.MariaDB)
	for _, c := range readVerdicts(t) {
		for _, side := range []struct {
			name string
			g    *sqlguard.Guard
			want string
		}{{"no server", unknown, c.unknown}, {"MariaDB", mariadb, c.mariadb}} {
			v := side.g.Check(c.sql)
			got := string(v.Code)
			if v.Allowed {
				got = "ok"
			}
			if got != side.want {
				t.Errorf("verdicts.txt:%d: %s: %s: %s, want %s: %+v", c.line, side.name, c.sql, got, side.want, v.Findings)
			}
		}
	}
}

// analyze returns the facts of a text's only statement.
func analyze(t *testing.T, d mysql.Dialect, sql string) sqlguard.Statement {
	t.Helper()
	statements, err := d.Analyze(sql)
	if err != nil || len(statements) != 1 {
		t.Fatalf("%s: %d statements, %v", sql, len(statements), err)
	}
	return statements[0]
}

func TestFacts(t *testing.T) {
	const sql = "WITH x AS (SELECT a FROM `s`.t AS q) SELECT x.a AS n, COUNT(*), MAX(u.b), @@sql_mode, CAST(u.c AS DATE) FROM x JOIN u ON u.a = x.a"
	st := analyze(t, mysql.Dialect{}, sql)
	at := func(span sqlguard.Span) string { return sql[span.Start:span.End] }
	var relations, calls, columns, types, settings []string
	for _, r := range st.Relations {
		relations = append(relations, r.Schema+"."+r.Name+" "+r.Alias+" "+at(r.Span))
	}
	for _, c := range st.Calls {
		calls = append(calls, c.Name+" "+at(c.Span))
	}
	for _, c := range st.ColumnRefs {
		columns = append(columns, strings.Join(append(slices.Clone(c.Qualifier), c.Name), ".")+" "+at(c.Span))
	}
	for _, ty := range st.Types {
		types = append(types, ty.Name+" "+at(ty.Span))
	}
	for _, s := range st.Settings {
		settings = append(settings, s.Name+" "+at(s.Span))
	}
	for _, c := range []struct {
		name      string
		want, got []string
	}{
		{"relations", []string{"s.t q `s`.t", ".u  u"}, relations},
		{"calls", []string{"count COUNT", "max MAX"}, calls},
		{"columns", []string{"a a", "x.a x.a", "u.b u.b", "u.c u.c", "u.a u.a", "x.a x.a"}, columns},
		{"types", []string{"date DATE"}, types},
		{"settings", []string{"sql_mode @@sql_mode"}, settings},
		{"output", []string{"n"}, st.Columns},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if at(st.Span) != sql || st.Verb != sqlguard.VerbSelect || len(st.Effects) > 0 {
		t.Errorf("%+v", st)
	}
}

// TestPlaces checks that a finding points at the right construct, even if others have the
// same spelling.
func TestPlaces(t *testing.T) {
	for _, c := range []struct{ sql, at string }{
		{"SELECT sleep, «SLEEP»(1) FROM t AS sleep", ""},
		{"SELECT 1 FROM a WHERE x IN (SELECT a FROM «mysql.user»)", ""},
		{"SELECT user FROM `user` JOIN «`mysql` . `user`»", ""},
		{"SELECT a FROM t WHERE b = '«' AND «@x» = 1", ""},
		{"SELECT a «INTO» OUTFILE 'x' FROM t", ""},
		{"SELECT 'for update' FROM t «FOR /* */ UPDATE»", ""},
		{"WITH x AS (SELECT 1 FROM t «FOR UPDATE») SELECT * FROM x", ""},
		{"SELECT «@@datadir», @@version", ""},
		{"SELECT (1 + 2) * «?»", ""},
		{"SELECT 'naïve', «LOAD_FILE»('x')", ""},
		{"«UPDATE t SET a = 1»;", ""},
		{"SELECT /*+ «SET_VAR»(a=1) */ 1", ""},
		{"SHOW COLUMNS FROM «mysql.user»", ""},
	} {
		start := strings.LastIndex(c.sql, "«")
		plain := c.sql[:start] + strings.NewReplacer("«", "", "»", "").Replace(c.sql[start:])
		end := start + strings.Index(c.sql[start:], "»") - len("«")
		v := newGuard(t, mysql.Dialect{}).Check(plain)
		if len(v.Findings) == 0 {
			t.Errorf("%s: allowed", plain)
			continue
		}
		if got := v.Findings[0].Span; got != (sqlguard.Span{Start: start, End: end}) {
			t.Errorf("%s: the finding is at %q, want %q", plain, plain[got.Start:got.End], plain[start:end])
		}
	}
}

func TestSyntaxErrorsTellNoLiteral(t *testing.T) {
	for _, sql := range []string{"SELECT 'secret' 'x' = = 'secret'", "SELECT a FROM t WHERE 'secret' 5", "SELECT 'secret", "SELECT 12345 12345", "SELEC 'secret'"} {
		for _, f := range newGuard(t, mysql.Dialect{}).Check(sql).Findings {
			if strings.Contains(f.Message+f.Hint, "secret") || strings.Contains(f.Message+f.Hint, "12345") {
				t.Errorf("%s: %s", sql, f.Message)
			}
		}
	}
}

func TestForServer(t *testing.T) {
	for _, c := range []struct{ product, version, want string }{
		{"mysql", "8.4.5", "MySQL 8.4.5"},
		{"mysql", "5.7.44-log", "MySQL 5.7.44"},
		{"mysql", "9.1.0-commercial", "MySQL 9.1.0"},
		{"mariadb", "10.11.19-MariaDB-0+deb12u1", "MariaDB 10.11.19"},
		{"mariadb", "5.5.5-10.6.1-MariaDB", "MariaDB 10.6.1"},
		{"mysql", "", "MySQL 0.0.1"},
		{"mysql", "x.y", "MySQL 0.0.1"},
		{"percona", "8.0.30", "MySQL, MariaDB 8.4.0"},
		{"", "", "MySQL, MariaDB 8.4.0"},
	} {
		if got := (mysql.Dialect{}).ForServer(c.product, c.version).Version(); !strings.HasSuffix(got, "; "+c.want) {
			t.Errorf("%s %s: %s, want %s", c.product, c.version, got, c.want)
		}
	}
	if got := mysql.MariaDB.Version(); !strings.HasSuffix(got, "MariaDB 11.8.0") {
		t.Errorf("MariaDB is %s", got)
	}
	if (mysql.Dialect{}).ForServer("mysql", "8.4.0") == sqlguard.Dialect(mysql.Dialect{}) {
		t.Error("the dialect for a known MySQL equals the dialect for an unknown server")
	}
}

// TestCommonTables checks which names of WITH hide a relation.
func TestCommonTables(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{"WITH x AS (SELECT * FROM x) SELECT * FROM x", []string{"x"}},
		{"WITH RECURSIVE x AS (SELECT 1 UNION SELECT * FROM x) SELECT * FROM x", nil},
		{"WITH x AS (SELECT * FROM y), y AS (SELECT 1) SELECT * FROM x, y", []string{"y"}},
		{"WITH x AS (SELECT 1) SELECT * FROM s.x, X", []string{"x", "X"}},
		{"SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) AS d, x", []string{"x"}},
		{"WITH x AS (SELECT 1) SELECT (SELECT 1 FROM x), (WITH y AS (SELECT 2) SELECT 1 FROM x, y) FROM y", []string{"x", "y"}},
		{"WITH x AS (SELECT 1) SELECT * FROM (WITH y AS (SELECT * FROM x) SELECT * FROM y) AS d", []string{"x"}},
		{"WITH x AS (WITH y AS (SELECT 1) SELECT * FROM y) SELECT * FROM x", nil},
		{"SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x UNION (WITH y AS (SELECT 1) SELECT * FROM x)) AS d", []string{"x", "x"}},
		{"WITH x AS (SELECT 1) (WITH y AS (SELECT 1) SELECT * FROM y) UNION SELECT * FROM x", []string{"y", "x"}},
		{"WITH x AS (SELECT 1) SELECT 1 UNION SELECT * FROM x", nil},
		{"(WITH x AS (SELECT 1) SELECT * FROM x) UNION SELECT * FROM x", []string{"x"}},
	} {
		var got []string
		for _, r := range analyze(t, mysql.Dialect{}, c.sql).Relations {
			got = append(got, r.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.sql, diff)
		}
	}
}

// TestOutputColumns: the names of a result's columns are all that the list shows, or none
// if a star stands for some of them.
func TestOutputColumns(t *testing.T) {
	g := newGuard(t, mysql.Dialect{})
	for sql, want := range map[string][]string{
		"SELECT a, b.c, d AS e, f + 1 FROM b":              {"a", "c", "e"},
		"SELECT a, t.* FROM t":                             {},
		"SELECT * FROM t":                                  {},
		"SELECT a, (SELECT 1 FROM u) AS b FROM t":          {"a", "b"},
		"SELECT a FROM (SELECT * FROM u) AS v":             {"a"},
		"WITH x AS (SELECT * FROM u) SELECT a AS b FROM x": {"b"},
	} {
		v := g.Check(sql)
		if diff := cmp.Diff(want, v.Columns); diff != "" || !v.Allowed {
			t.Errorf("%s %v, - want, + got:\n%s", sql, v.Findings, diff)
		}
	}
}
