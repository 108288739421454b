package mysql_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestSyntaxOfMariaDB has syntax that MariaDB 10.11 runs and neither parser reads. MySQL
// does not have it.
func TestSyntaxOfMariaDB(t *testing.T) {
	maria, my := newGuard(t, mysql.MariaDB), newGuard(t, mysql.Dialect{})
	for _, sql := range []string{
		"VALUES (1), (2)",
		"VALUES (1, 'a'), ((SELECT max(a) FROM t), b) ORDER BY 1 LIMIT 1",
		"SELECT * FROM (VALUES (1), (2)) AS x",
		"SELECT 1 UNION VALUES (2) UNION ALL VALUES (3), (4)",
		"SELECT a IN (VALUES (1), (2)) FROM t",
		"WITH RECURSIVE v (a) AS (VALUES (1) UNION ALL SELECT a + 1 FROM v WHERE a < 3) SELECT a FROM v",
		"SELECT a FROM t LIMIT 5 ROWS EXAMINED 100",
		"SELECT a FROM t LIMIT 5 OFFSET 1 ROWS EXAMINED 100",
		"SELECT a FROM t LIMIT 1, 5 ROWS /* all */ EXAMINED 100",
		"SELECT a FROM t WHERE b IN (SELECT b FROM u LIMIT ROWS EXAMINED 100)",
		"SELECT a FROM t ORDER BY a OFFSET 1 ROWS FETCH NEXT 5 ROWS ONLY",
		"SELECT a FROM t ORDER BY a OFFSET 1 ROW",
		"SELECT a FROM t ORDER BY a FETCH FIRST 2 ROWS WITH TIES",
		"SELECT GROUP_CONCAT(a ORDER BY a SEPARATOR ',' LIMIT 2) FROM t",
		"SELECT GROUP_CONCAT(DISTINCT a ORDER BY a LIMIT 1, 2), GROUP_CONCAT(a LIMIT 1 OFFSET 1) FROM t",
		"SELECT CAST(a AS INT), CAST(concat('1', (2)) AS integer), CAST(a AS VARCHAR(10)) FROM t",
		"SELECT a FROM t FOR SYSTEM_TIME ALL",
		"SELECT x.a FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2020-01-01 00:00:00' AS x JOIN `u` FOR SYSTEM_TIME AS OF NOW() y ON x.a = y.a",
		"SELECT a FROM t FOR SYSTEM_TIME BETWEEN '2020-01-01' AND CURRENT_TIMESTAMP WHERE a > 1",
		"SELECT a FROM t FOR SYSTEM_TIME FROM TRANSACTION 1 TO TRANSACTION 2",
		"SELECT CAST('::1' AS INET6), CAST(concat(a, b) AS INET4), CAST(x AS UUID) FROM t",
		"SELECT COLUMN_GET(d, 'a' AS CHAR), COLUMN_GET(d, 'b' AS DECIMAL(10, 2)), COLUMN_GET(COLUMN_CREATE('a', 1 AS UNSIGNED INT), 'a' AS int) FROM t",
		"SELECT COLUMN_ADD(d, 'a', b AS DATE, 'c', 2) FROM t",
		"SELECT MEDIAN(a + 1) OVER (PARTITION BY b), avg(a) OVER (), avg(b) FROM t",
		"SELECT a, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) OVER (PARTITION BY b) AS p, PERCENTILE_DISC(1) WITHIN GROUP (ORDER BY (a - b) DESC) OVER () FROM t",
		"WITH RECURSIVE c AS (SELECT 1 AS n, 2 AS m UNION ALL SELECT n + 1, m FROM c WHERE n < 5) CYCLE n, m RESTRICT SELECT * FROM c",
		"SELECT GROUP_CONCAT(a LIMIT 2) FROM t WHERE MATCH (a) AGAINST ('x') > 0 LIMIT 5 ROWS EXAMINED 100",
	} {
		if v := maria.Check(sql); !v.Allowed {
			t.Errorf("%s: refused: %+v", sql, v.Findings)
		}
		if v := my.Check(sql); v.Allowed || v.Code != sqlguard.CodeParseError {
			t.Errorf("%s: MySQL: allowed %t, %s", sql, v.Allowed, v.Code)
		}
	}
}

// TestWhatSyntaxOfMariaDBHolds: this syntax hides no refused construct.
func TestWhatSyntaxOfMariaDBHolds(t *testing.T) {
	g := newGuard(t, mysql.MariaDB)
	for sql, code := range map[string]sqlguard.Code{
		"VALUES (1), (sleep(5))":                                                         sqlguard.CodeFunctionSleep,
		"VALUES (load_file('/etc/passwd'))":                                              sqlguard.CodeFunctionFileAccess,
		"SELECT * FROM (VALUES ((SELECT User FROM mysql.user)), (2)) AS x":               sqlguard.CodeCredentialRelation,
		"VALUES (@a := 1), (2)":                                                          sqlguard.CodeSessionChange,
		"VALUES (1) INTO OUTFILE '/tmp/x'":                                               sqlguard.CodeSelectInto,
		"VALUES (1), (2) FOR UPDATE":                                                     sqlguard.CodeLockingClause,
		"INSERT INTO t VALUES (1), (2)":                                                  sqlguard.CodeWriteStatement,
		"VALUES (1), (2); DROP TABLE t":                                                  sqlguard.CodeMultipleStatements,
		"VALUES (?), (2)":                                                                sqlguard.CodeParameterNotAllowed,
		"SELECT a FROM t LIMIT 5 ROWS EXAMINED 100 INTO @x":                              sqlguard.CodeSelectInto,
		"SELECT a FROM t LIMIT 5 ROWS EXAMINED 100 FOR UPDATE":                           sqlguard.CodeLockingClause,
		"SELECT a FROM t LIMIT 5 ROWS EXAMINED sleep(1)":                                 sqlguard.CodeParseError,
		"SELECT a FROM t LIMIT ROWS EXAMINED (SELECT 1)":                                 sqlguard.CodeParseError,
		"SELECT a FROM t OFFSET (SELECT 1) ROWS":                                         sqlguard.CodeParseError,
		"SELECT GROUP_CONCAT(sleep(1) LIMIT 2) FROM t":                                   sqlguard.CodeFunctionSleep,
		"SELECT GROUP_CONCAT(a LIMIT (SELECT 1)) FROM t":                                 sqlguard.CodeParseError,
		"SELECT COUNT(a LIMIT 2) FROM t":                                                 sqlguard.CodeParseError,
		"SELECT CAST(sleep(1) AS INT)":                                                   sqlguard.CodeFunctionSleep,
		"SELECT CAST(a AS mine) FROM t":                                                  sqlguard.CodeParseError,
		"SELECT int FROM t WHERE CAST(a AS INT) = 1":                                     sqlguard.CodeParseError,
		"SELECT a FROM t FOR SYSTEM_TIME AS OF sleep(1)":                                 sqlguard.CodeParseError,
		"SELECT a FROM t FOR SYSTEM_TIME AS OF (SELECT max(b) FROM u)":                   sqlguard.CodeParseError,
		"SELECT a FROM t FOR SYSTEM_TIME AS OF @x":                                       sqlguard.CodeParseError,
		"SELECT a FROM t FOR SYSTEM_TIME ALL FOR UPDATE":                                 sqlguard.CodeLockingClause,
		"SELECT a FROM mysql.user FOR SYSTEM_TIME ALL":                                   sqlguard.CodeCredentialRelation,
		"SELECT a FROM t LIMIT 5 ROWS EXAMINED 1 ROWS EXAMINED 2 PROCEDURE ANALYSE()":    sqlguard.CodeProcedureCall,
		"SELECT CAST((SELECT User FROM mysql.user) AS INET6)":                            sqlguard.CodeCredentialRelation,
		"SELECT CAST(sleep(1) AS INET6)":                                                 sqlguard.CodeFunctionSleep,
		"SELECT COLUMN_GET(d, sleep(1) AS CHAR)":                                         sqlguard.CodeFunctionSleep,
		"SELECT COLUMN_GET(d, 'a' AS mine)":                                              sqlguard.CodeParseError,
		"SELECT COLUMN_GET(d, 'a' AS CHAR(sleep(1)))":                                    sqlguard.CodeParseError,
		"SELECT COLUMN_GET(d, 'a' AS CHAR), load_file('/etc/passwd')":                    sqlguard.CodeFunctionFileAccess,
		"SELECT MEDIAN(sleep(1)) OVER ()":                                                sqlguard.CodeFunctionSleep,
		"SELECT MEDIAN(a) OVER (ORDER BY sleep(1)) FROM t":                               sqlguard.CodeFunctionSleep,
		"SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY sleep(1)) OVER () FROM t":    sqlguard.CodeFunctionSleep,
		"SELECT PERCENTILE_CONT(sleep(1)) WITHIN GROUP (ORDER BY a) OVER () FROM t":      sqlguard.CodeParseError,
		"SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) OVER () FROM mysql.user":  sqlguard.CodeCredentialRelation,
		"WITH RECURSIVE c AS (SELECT sleep(1) AS n) CYCLE n RESTRICT SELECT * FROM c":    sqlguard.CodeFunctionSleep,
		"WITH RECURSIVE c AS (SELECT 1 AS n) CYCLE n RESTRICT SELECT * FROM mysql.user":  sqlguard.CodeCredentialRelation,
		"WITH RECURSIVE c AS (SELECT 1 AS n) CYCLE (SELECT 1) RESTRICT SELECT * FROM c":  sqlguard.CodeParseError,
		"DELETE FROM t FOR SYSTEM_TIME ALL":                                              sqlguard.CodeWriteStatement,
		"DELETE HISTORY FROM t BEFORE SYSTEM_TIME '2020-01-01'":                          sqlguard.CodeWriteStatement,
		"SELECT NEXT VALUE FOR s FROM t FOR SYSTEM_TIME ALL":                             sqlguard.CodeFunctionSideEffect,
		"EXPLAIN SELECT a FROM t FOR SYSTEM_TIME ALL WHERE benchmark(9999999, md5('a'))": sqlguard.CodeFunctionSleep,
	} {
		v := g.Check(sql)
		if v.Allowed || !slices.ContainsFunc(v.Findings, func(f sqlguard.Finding) bool { return f.Code == code }) {
			t.Errorf("%s: allowed %t, %+v, want %s", sql, v.Allowed, v.Findings, code)
		}
	}
}

// TestFactsOfSyntaxOfMariaDB: relations and columns are those of the text.
func TestFactsOfSyntaxOfMariaDB(t *testing.T) {
	const sql = "SELECT t.a, GROUP_CONCAT(t.b LIMIT 2) FROM t FOR SYSTEM_TIME ALL AS t JOIN s.u ON u.c IN (VALUES (t.d), (2)) LIMIT 5 ROWS EXAMINED 100"
	statements, err := mysql.MariaDB.Analyze(sql)
	if err != nil || len(statements) != 1 {
		t.Fatal(err)
	}
	var got []string
	for _, r := range statements[0].Relations {
		got = append(got, sql[r.Span.Start:r.Span.End])
	}
	for _, c := range statements[0].ColumnRefs {
		got = append(got, sql[c.Span.Start:c.Span.End])
	}
	if diff := cmp.Diff(strings.Fields("t s.u t.a t.b u.c t.d"), got); diff != "" {
		t.Error(diff)
	}
}

// TestTimeZoneOfMySQL: CAST(… AT TIME ZONE …) is syntax of MySQL 8.0.22 that neither parser
// reads.
func TestTimeZoneOfMySQL(t *testing.T) {
	maria, my := newGuard(t, mysql.MariaDB), newGuard(t, mysql.Dialect{})
	for sql, code := range map[string]sqlguard.Code{
		"SELECT CAST(at AT TIME ZONE '+00:00' AS DATETIME), CAST(b AT TIME ZONE INTERVAL 'UTC' AS DATETIME(2)) FROM t": "",
		"SELECT CAST(sleep(1) AT TIME ZONE '+00:00' AS DATETIME)":                                                      sqlguard.CodeFunctionSleep,
		"SELECT CAST(a AT TIME ZONE sleep(1) AS DATETIME) FROM t":                                                      sqlguard.CodeParseError,
		"SELECT CAST(a AT TIME ZONE '+00:00' AS CHAR) FROM t":                                                          sqlguard.CodeParseError,
		"SELECT a AT TIME ZONE '+00:00' FROM t":                                                                        sqlguard.CodeParseError,
	} {
		if v := my.Check(sql); v.Allowed != (code == "") || v.Code != code {
			t.Errorf("%s: allowed %t, %+v, want %q", sql, v.Allowed, v.Findings, code)
		}
		if v := maria.Check(sql); v.Allowed {
			t.Errorf("%s: MariaDB allows it", sql)
		}
	}
}
