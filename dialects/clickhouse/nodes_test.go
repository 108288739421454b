package clickhouse_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestStatementTable checks that the table lists every statement of the reference except
// those that read, each with a code.
func TestStatementTable(t *testing.T) {
	want := strings.Fields(`alter attach backup begin check commit copy create delete detach drop exchange execute grant insert kill move
		optimize prepare rename replace restore revoke rollback set start system truncate undrop update use watch`)
	if got := clickhouse.Statements(); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	for _, word := range want {
		for _, tail := range []string{"", " x", " (x)", " x y z", "; SELECT 1", " TABLE a.b", " 'x'"} {
			sql := strings.ToUpper(word) + tail
			v := g.Check(sql)
			if v.Allowed || v.Code == sqlguard.CodeParseError || v.Code == "" || v.Verb == sqlguard.VerbSelect {
				t.Errorf("%s: %v %s, verb %q", sql, v.Allowed, v.Code, v.Verb)
			}
			for _, query := range []string{"SELECT 1; ", "SELECT a FROM t PARALLEL WITH ", "EXPLAIN AST ", "WITH 1 AS x "} {
				if v := g.Check(query + sql); v.Allowed {
					t.Errorf("%s is allowed", query+sql)
				}
			}
		}
	}
}

// TestReads checks that every statement of testdata/reads.txt parses, and that it is
// refused only for a function without a listed name.
func TestReads(t *testing.T) {
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	for _, sql := range reads(t) {
		v := g.Check(sql)
		if !v.Allowed && v.Code != sqlguard.CodeFunctionNotAllowed && v.Code != sqlguard.CodeParameterNotAllowed {
			t.Errorf("%s: %s %+v", sql, v.Code, v.Findings)
		}
	}
}

// unread are statements that are nearly those of testdata/reads.txt, and that the server
// does not read.
var unread = strings.Split(strings.TrimSpace(`
SELECT * LIKE 'b' escape FROM t
SELECT * LIKE 'b' escape 'd' FROM t
SELECT a = SOME ((SELECT 1),), some FROM t
SELECT substring(a.* AS b FROM 1 FOR 2)
SELECT INTERVAL '3' ns.:Int64
SELECT a::TUPLE(a UInt8)
SELECT a::nested(a UInt8)
SELECT a::Nested(UInt8)
SELECT a::DYNAMIC(max_types = 2)
SELECT a::Dynamic(1)
SELECT a::JSON(SKIP = 2)
SELECT INTERVAL interval + NOT 1 DAY
SELECT INTERVAL interval + 1 DAY
SELECT INTERVAL 1 us
SELECT CASE a WHEN 1 THEN 2 ELSE end END
SELECT CASE end WHEN 1 THEN 2 END
SELECT TRUE -> a
SELECT f(a, false, x -> 1)
SELECT f(1, x -> f(x))
SELECT (inf, a) -> 1
SELECT a + 2e.1
SELECT f(2e)
SELECT '{"a": \'\x4\'}'::String
SELECT 1 LIMIT 1 BY a LIMIT offset BY 4
SELECT a AT TIME FROM t
SELECT a FROM t AT LOCAL
SELECT a "AT" TIME ZONE 'UTC' FROM t
SELECT a AT TIME ZONE x -> x FROM t
SELECT a AT TIME ZONE 'UTC' ESCAPE 'x' FROM t
SELECT EXTRACT('epoch' FROM a)
SELECT EXTRACT(julian FROM a)
SELECT EXTRACT(epoch FROM a) OVER ()
SELECT EXTRACT(epoch FROM a) FILTER (WHERE 1)
SELECT INTERVAL 1 EPOCH
SELECT OVERLAY(a PLACING b)
SELECT OVERLAY(a PLACING b FOR 2)
SELECT OVERLAY(a PLACING b, 1, 2)
SELECT OVERLAY(a, b FROM 1 FOR 2)
SELECT OVERLAY(PLACING b FROM 1)
SELECT OVERLAY(a PLACING b FROM for FOR 3)
SELECT OVERLAY(a PLACING b FROM NOT for FOR 3)
SELECT substring(a FROM - for FOR 3)
SELECT CASE WHEN a THEN NOT end END
SELECT a::Dynamic('1')
SELECT a::Tuple('a')
SELECT infinity.:Int64
SELECT true.^a
SELECT a.1.b.:Int64 FROM t
SELECT extract(DISTINCT 1)
SELECT extract(a)(1)
SELECT "CAST"('Tuple()')
SELECT ltrim(ALL 1)
SELECT dateDiff(day.a, a, b)
SELECT dateDiff(day, a, b, 'UTC', 1)
SELECT 1, FROM mod
SELECT 1 FROM t uuid
SELECT 1 FROM numbers(1, x -> 1)
SELECT 1 FROM d.v(false, x -> 1)
SELECT OVERLAY()
SELECT overlay(a, b, 1) OVER ()
SELECT overlayUTF8(a, b, 1) FILTER (WHERE 1)
SELECT overlay(a, b, 1)(2)
SELECT overlay(a, b, 1) IGNORE NULLS
SELECT date_part(year, a)
SELECT date_part('x', a)
SELECT date_part('year', a, b)
SELECT date_part('year', a) OVER ()
SELECT substr(a FROM 1)
SELECT mid(a FROM 1 FOR 2)
SELECT substring(a, for)
SELECT position(a IN b AS c d)
SELECT a + SOME (SELECT 1)
SELECT a FROM t WITH TOTALS WITH TOTALS
SELECT a FROM t GROUP BY a WITH ROLLUP WITH ROLLUP
SELECT a, GROUP BY b
SELECT right JOIN u
SELECT dateDiff(day, a, b, 'UTC', )
SELECT TOP 1 a FROM t LIMIT 3
SELECT TOP 1 a LIMIT 3 OFFSET 4
SELECT TOP (1) a FROM t ORDER BY a LIMIT 3 WITH TIES
SELECT TOP 1 a FROM t LIMIT 1 BY a LIMIT 3
SELECT DISTINCT ON (a) a FROM t LIMIT 1 BY b
SELECT DISTINCT ON (a) a FROM t ORDER BY a LIMIT 1 WITH TIES
SELECT a ? b : c OR d
SELECT a = NOT ANY (SELECT 1)
SELECT t.*.b.:Int64
SELECT DATE '2020-01-01'.b.:Int64
SELECT * APPLY sum(DISTINCT a)
SELECT * APPLY ((a, b) -> a)
SELECT * LIKE 'a' EXCEPT SELECT 1
SELECT CASE a WHEN 1 THEN x -> x END
SELECT CASE WHEN a THEN 1 ELSE x -> x END
SELECT CAST(a, x -> x)
SELECT CAST(* AS x AS UInt8)
SELECT substring(a, 1, x -> x)
SELECT substring('a' FROM x -> x FOR 1)
SELECT date_add(day, 1, x -> x)
SELECT date_diff(day, 1, x -> x)
SELECT a::AggregateFunction(1.5, sum, UInt8)
SELECT a::AggregateFunction(sum, 1)
SELECT a::SimpleAggregateFunction(1, sum, UInt8)
SELECT interval FROM d.v(a = 1)
SELECT a NOT BETWEEN interval AND key AND second d
SELECT * FROM numbers(settings LIKE 'x')
SELECT * FROM numbers(1, settings AS x)
SELECT * FROM numbers((settings LIKE 'x'))
SELECT t.columns('a') APPLY sum
SELECT 0b112
SELECT (1, 0b12)
SELECT count() FROM t GROUP BY CUBE(a) WITH CUBE
SELECT count() FROM t GROUP BY ROLLUP(a) WITH CUBE WITH ROLLUP
`), "\n")

// TestUnread checks that what the server does not read is not read here.
func TestUnread(t *testing.T) {
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	for _, sql := range unread {
		if v := g.Check(sql); v.Allowed || v.Code != sqlguard.CodeParseError && v.Code != sqlguard.CodeInvalidCharacters {
			t.Errorf("%s: %v %s", sql, v.Allowed, v.Code)
		}
	}
}

// TestDistinctTables checks that DISTINCT, which calls another function, stands before no
// arguments of a table function or a view.
func TestDistinctTables(t *testing.T) {
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	for _, sql := range []string{"SELECT 1 FROM numbers(DISTINCT 1)", "SELECT 1 FROM numbers(ALL 1)", "SELECT 1 FROM d.v(DISTINCT a = 1)"} {
		if v := g.Check(sql); v.Allowed || v.Code != sqlguard.CodeParseError {
			t.Errorf("%s: %v %s", sql, v.Allowed, v.Code)
		}
	}
}

// TestRefusals checks the code of each refusal.
func TestRefusals(t *testing.T) {
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	for _, c := range []struct {
		code sqlguard.Code
		sql  []string
	}{
		{sqlguard.CodeWriteStatement, []string{"INSERT INTO t SELECT 1", "INSERT INTO FUNCTION file('a.csv', CSV) SELECT 1", "DELETE FROM t WHERE 1", "OPTIMIZE TABLE t FINAL"}},
		{sqlguard.CodeParseError, []string{"WITH 1 AS x INSERT INTO t SELECT x", "SELECT 1 XOR 2", "SELECT 'a", "/* /* */ SELECT 1", "; SELECT 1", "SELECT ‘a’", "SELECT @@version", "SELECT in(1, system.users)"}},
		{sqlguard.CodePrivilegeStatement, []string{"CREATE USER u", "ALTER SETTINGS PROFILE p", "GRANT ALL ON *.* TO u", "SET ROLE r", "CREATE NAMED COLLECTION c AS a = 1", "DROP ROW POLICY p ON t"}},
		{sqlguard.CodeSelectInto, []string{"SELECT 1 INTO OUTFILE 'a'", "SELECT 1 INTO OUTFILE 'a' TRUNCATE FORMAT CSV"}},
		{sqlguard.CodeSettingNotAllowed, []string{"SELECT 1 SETTINGS max_execution_time = 0", "DESCRIBE t SETTINGS a = 1", "EXPLAIN distributed = 1 SELECT 1"}},
		{sqlguard.CodeStatementNotAllowed, []string{"SELECT 1 FORMAT CSV", "EXPLAIN AST DROP TABLE t", "SHOW PROCESSLIST", "SHOW GRANTS", "SHOW CREATE USER u", "SYSTEM SHUTDOWN", "SHOW SETTINGS LIKE 'a'"}},
		{sqlguard.CodeParameterNotAllowed, []string{"SELECT {a:UInt8}", "SELECT * FROM {t:Identifier}", "SELECT { a : Map(String, UInt8) }"}},
		{sqlguard.CodeFunctionFileAccess, []string{"SELECT file('/etc/passwd')", "SELECT * FROM file('a.csv')", "SELECT 1 IN file('a')", "DESCRIBE file('a.csv')", "SELECT * APPLY file FROM t", "SELECT FILE('a')"}},
		{sqlguard.CodeFunctionNetworkAccess, []string{
			"SELECT * FROM url('http://a', CSV)", "SELECT * FROM remote('a', system.one)", "SELECT * FROM t JOIN s3('a') AS s ON 1", "SELECT aiGenerate('a')",
			"SELECT (SELECT count() FROM mysql('a', 'b', 'c', 'd', 'e'))", "SELECT * FROM `url`('http://a')", "SELECT x FROM t WHERE x IN (SELECT * FROM postgresql('a'))",
		}},
		{sqlguard.CodeFunctionSleep, []string{"SELECT sleep(3)", "SELECT sleepEachRow(1) FROM t"}},
		{sqlguard.CodeFunctionAdmin, []string{"SELECT getServerSetting('a')", "SELECT filesystemAvailable()", "SELECT getMacro('a')"}},
		{sqlguard.CodeFunctionNotAllowed, []string{
			"SELECT dictGet('d', 'a', 1)", "SELECT joinGet('t', 'a', 1)", "SELECT notIn(1, system.users)", "SELECT nullIn(1, system.users)", "SELECT my_udf(1)", "SELECT * FROM dictionary('d')", "SELECT * FROM input('a Int8')",
			"SELECT * FROM viewExplain('a')", "SELECT SUMIFX(1)", "SELECT Sum_(1)",
		}},
		{sqlguard.CodeRelationNotAllowed, []string{"SELECT * FROM merge('db', '.*')", "SELECT name FROM system.settings", "SELECT 1 FROM SYSTEM.tables", "SELECT 1 FROM system.no_such"}},
		{sqlguard.CodeCredentialRelation, []string{"SELECT name FROM system.users", "SELECT query FROM system.query_log", "SELECT 1 IN system.processes", "SELECT 1 FROM system.named_collections", "DESCRIBE system.users"}},
		{sqlguard.CodeExternalRelation, []string{"SELECT * FROM cluster('c', system.one)", "SELECT * FROM clusterAllReplicas('c', db.t)"}},
		{sqlguard.CodeMultipleStatements, []string{"SELECT 1; SELECT 2", "SELECT 1 PARALLEL WITH SELECT 2", "SELECT a FROM t PARALLEL WITH DROP TABLE t"}},
	} {
		for _, sql := range c.sql {
			if v := g.Check(sql); v.Allowed || v.Code != c.code {
				t.Errorf("%s: %s, want %s: %+v", sql, v.Code, c.code, v.Findings)
			}
		}
	}
}

// TestFacts checks relations and columns that are easy to miss.
func TestFacts(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT a FROM db.t AS x, u":                                                                                  "db.t u",
		"WITH c AS (SELECT 1 FROM c) SELECT * FROM c":                                                                 "c",
		"WITH RECURSIVE c AS (SELECT 1 FROM c) SELECT * FROM c":                                                       "c",
		"WITH RECURSIVE c AS (SELECT 1 FROM c UNION ALL SELECT 1 FROM d) SELECT * FROM c":                             "c d",
		"WITH RECURSIVE c AS (SELECT 1 FROM d UNION ALL SELECT 1 FROM c) SELECT * FROM c":                             "d",
		"WITH RECURSIVE c AS ((SELECT 1 FROM d UNION ALL SELECT 1 FROM c)) SELECT * FROM c":                           "d",
		"WITH RECURSIVE c AS (((SELECT 1 FROM d UNION ALL (SELECT 1 FROM c)))) SELECT * FROM c":                       "d",
		"WITH RECURSIVE c AS ((SELECT 1 FROM c UNION ALL SELECT 1 FROM d)) SELECT * FROM c":                           "c d",
		"WITH RECURSIVE c AS ((SELECT 1 FROM d UNION ALL SELECT 1 FROM c) UNION ALL SELECT 1 FROM c) SELECT * FROM c": "d c",
		"WITH c AS ((SELECT 1 FROM d UNION ALL SELECT 1 FROM c)) SELECT * FROM c":                                     "d c",
		"DESCRIBE SELECT 1 FROM a UNION ALL (SELECT 2 FROM b)":                                                        "a b",
		"WITH c AS (SELECT 1) SELECT * FROM view(SELECT * FROM c)":                                                    "c",
		"WITH c AS (SELECT 1) SELECT * FROM (EXPLAIN SELECT * FROM c), c":                                             "c",
		"WITH c AS (SELECT 1) SELECT * FROM (WITH c AS (SELECT * FROM c) SELECT * FROM c)":                            "c",
		"WITH c AS (SELECT 1) SELECT * FROM db.c":                                                                     "db.c",
		"SELECT 1 IN t, 2 GLOBAL NOT IN db.u, 3 IN (SELECT a FROM v)":                                                 "t db.u v",
		"SELECT * FROM (SELECT * FROM (WITH c AS (SELECT 1) SELECT 1) AS b), c":                                       "c",
		"EXPLAIN SELECT * FROM t":                                              "t",
		"SHOW CREATE TABLE db.t":                                               "db.t",
		"SELECT * FROM db.v(a = (SELECT max(a) FROM t))":                       "db.v t",
		"SELECT * FROM view(SELECT a FROM t)":                                  "t",
		"FROM t SELECT a UNION ALL SELECT a FROM u EXCEPT SELECT b FROM `v w`": "t u v w",
		"SELECT count() FILTER (WHERE a IN (SELECT b FROM t)) OVER (ORDER BY (SELECT 1 FROM u)) FROM v LIMIT (SELECT 1 FROM w)": "t u v w",
	} {
		list, err := clickhouse.Dialect{}.Analyze(sql)
		if err != nil || len(list) != 1 {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		var got []string
		for _, r := range list[0].Relations {
			name := r.Name
			if r.Schema != "" {
				name = r.Schema + "." + name
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", sql, got, want)
		}
	}
	p := sqlguard.DefaultPolicy()
	p.Columns = []sqlguard.ColumnRule{{Match: "db.users.email"}}
	p.Databases = []string{"db"}
	g, err := sqlguard.New(clickhouse.Dialect{}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range []string{
		"email", "u.email", "email.size0", "u.email.x", "*", "u.*", "COLUMNS('e')", "* EXCEPT (email)", "db.users.email", "arrayMap(x -> email, [1])", "`email`", "email[1]",
		"x IN (email)", "sum(email) OVER ()", "* APPLY sum", "(SELECT email)", "email.a FROM db.users AS email", "CAST(email AS String)", "count() FILTER (WHERE email = '')", "1 FROM db.users AS u JOIN db.users AS v USING (email)",
	} {
		sql := "SELECT " + item
		if !strings.Contains(item, " FROM ") {
			sql += " FROM db.users AS u"
		}
		if v := g.Check(sql); v.Allowed || v.Code == sqlguard.CodeParseError {
			t.Errorf("%s: %v %s", sql, v.Allowed, v.Code)
		}
	}
	if v := g.Check("SELECT u.name FROM db.users AS u"); !v.Allowed {
		t.Errorf("%+v", v.Findings)
	}
}

// TestUnbalancedApply: the meter does not fail on a bracket that an APPLY does not close.
func TestUnbalancedApply(t *testing.T) {
	t.Parallel()
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	for _, sql := range []string{"SELECT * format APPLY ( ( a , b `)` -> a )", "SELECT * APPLY (", "SELECT * APPLY", "SELECT * APPLY ()", "SELECT * APPLY (f(1)", "SELECT * APPLY ((a, b) -> a)"} {
		if v := g.Check(sql); v.Allowed || v.Code == sqlguard.CodeInternalError {
			t.Errorf("%s: %v %s", sql, v.Allowed, v.Code)
		}
	}
}
