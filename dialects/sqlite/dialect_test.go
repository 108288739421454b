package sqlite_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/sqlguard"
)

func newGuard(t testing.TB) *sqlguard.Guard {
	t.Helper()
	g, err := sqlguard.New(sqlite.Dialect{}, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestVerdicts(t *testing.T) {
	g := newGuard(t)
	for sql, want := range map[string]sqlguard.Code{
		"SELECT 1": "",
		"SELECT count(*), \"x\", [y z], `q` FROM 'users' AS u WHERE u.a LIKE 'x%' AND b IN (1,2) ORDER BY 1 LIMIT 3, 4": "",
		"VALUES (1,2),(3,4)": "",
		"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n < 10) SELECT n FROM c":  "",
		"SELECT * FROM (WITH sqlite_dbpage AS (SELECT 1) SELECT * FROM sqlite_dbpage), sqlite_dbpage": sqlguard.CodeRelationNotAllowed,
		"SELECT load_extension('x')":           sqlguard.CodeFunctionFileAccess,
		"EXPLAIN QUERY PLAN SELECT 1":          "",
		"EXPLAIN DELETE FROM t":                sqlguard.CodeWriteStatement,
		"PRAGMA user_version":                  "",
		"PRAGMA user_version = 5":              sqlguard.CodePragmaNotAllowed,
		"PRAGMA main.table_info(t)":            "",
		"SELECT * FROM pragma_table_info('t')": "",
		"SELECT * FROM main.pragma_query_only": sqlguard.CodePragmaNotAllowed,
		"SELECT sum(x) FILTER (WHERE y > 1) OVER (PARTITION BY z ORDER BY w ROWS (1) PRECEDING) FROM t": "",
		"SELECT CAST(a AS VARCHAR(10)) COLLATE NOCASE FROM t NATURAL LEFT OUTER JOIN u USING (a)":       "",
		"SELECT ?1": sqlguard.CodeParameterNotAllowed,
	} {
		v := g.Check(sql)
		if v.Code != want {
			t.Errorf("%s\n got %q %+v\nwant %q", sql, v.Code, v.Findings, want)
		}
	}
}
