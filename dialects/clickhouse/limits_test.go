package clickhouse_test

import (
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/execution/executiontest/chengine"
)

// shapes are texts that grow.
var shapes = dialecttest.Shapes([][6]string{
	{"plus", "SELECT 1", "+1", "", "", ""},
	{"plus names", "SELECT a", "+a", "", "", " FROM t"},
	{"concatenations", "SELECT 'a'", "||'a'", "", "", ""},
	{"and", "SELECT 1 WHERE 1=1", " AND 1=1", "", "", ""},
	{"or", "SELECT 1 WHERE 1=1", " OR 1=1", "", "", ""},
	{"comparisons", "SELECT 1", " = 1", "", "", ""},
	{"not", "SELECT 1 WHERE ", "NOT ", "1=1", "", ""},
	{"signs", "SELECT ", "- ", "1", "", ""},
	{"plus signs", "SELECT ", "+ ", "1", "", ""},
	{"brackets", "SELECT ", "(", "1", ")", ""},
	{"open brackets", "SELECT ", "(", "", "", ""},
	{"arrays", "SELECT ", "[", "1", "]", ""},
	{"open arrays", "SELECT ", "[", "", "", ""},
	{"tuples", "SELECT ", "(1,", "1", ")", ""},
	{"left nest", "SELECT ", "(", "1", "+1)", ""},
	{"conditions", "SELECT ", "1 ? ", "1", " : 1", ""},
	{"chained conditions", "SELECT 1", " ? 1 : 1", "", "", ""},
	{"conditions in brackets", "SELECT ", "(1 ? 1 : ", "1", ")", ""},
	{"lambdas", "SELECT ", "x -> ", "x", "", ""},
	{"lambdas in calls", "SELECT ", "arrayMap(x -> ", "x", ", [1])", ""},
	{"lambdas over parts", "SELECT ", "arrayMap(x -> ", "x", ", splitByChar(',', 'a'))", ""},
	{"the same alias", "SELECT repeat('a', 2)", ", a + a AS a", "", "", ""},
	{"chained aliases", "SELECT repeat('a', 2), 1 AS a", ", a + %d AS a%[1]d", "", "", ""},
	{"lambdas in brackets", "SELECT ", "((x) -> ", "x", ")", ""},
	{"sub-queries", "SELECT ", "(SELECT ", "1", ")", ""},
	{"derived tables", "", "SELECT * FROM (", "SELECT 1 AS a", ") AS t", ""},
	{"FROM first", "", "FROM (", "SELECT 1 AS a", ") SELECT *", ""},
	{"bracketed unions", "", "(", "SELECT 1", ") UNION ALL SELECT 1", ""},
	{"bracketed queries", "SELECT ", "(", "SELECT 1", ")", ""},
	{"queries in brackets in FROM", "SELECT * FROM ", "(", "SELECT 1 AS a", ")", " AS t"},
	{"bracketed queries with operators", "SELECT ", "((SELECT 1) + ", "1", ")", ""},
	{"exists", "SELECT 1 WHERE ", "EXISTS (SELECT 1 WHERE ", "1=1", ")", ""},
	{"in", "SELECT 1 WHERE 1", " IN (SELECT 1 WHERE 1", "=1", ")", ""},
	{"in chains", "SELECT 1", " IN (1)", "", "", ""},
	{"in names", "SELECT 1", " IN t%d", "", "", ""},
	{"case", "SELECT ", "CASE WHEN 1=1 THEN ", "1", " END", ""},
	{"case arms", "SELECT CASE", " WHEN 1=1 THEN 1", "", "", " END"},
	{"cases of values", "SELECT ", "CASE ", "1", " WHEN 1 THEN 1 END", ""},
	{"open cases", "SELECT ", "CASE ", "", "", ""},
	{"calls", "SELECT ", "abs(", "1", ")", ""},
	{"parameters of calls", "SELECT f", "(1)", "", "", ""},
	{"trims", "SELECT ", "TRIM(BOTH 'a' FROM ", "a", ")", " FROM t"},
	{"substrings", "SELECT ", "SUBSTRING(", "a", " FROM 1)", " FROM t"},
	{"positions", "SELECT ", "POSITION('a' IN ", "a", ")", " FROM t"},
	{"overlays", "SELECT ", "OVERLAY(", "a", " PLACING 'b' FROM 1)", " FROM t"},
	{"extracts", "SELECT ", "EXTRACT(year FROM ", "a", ")", " FROM t"},
	{"open extracts", "SELECT ", "EXTRACT(year FROM ", "", "", ""},
	{"intervals", "SELECT ", "INTERVAL ", "1", " DAY", ""},
	{"intervals in brackets", "SELECT ", "INTERVAL (", "1", ") DAY", ""},
	{"open intervals", "SELECT ", "INTERVAL ", "", "", ""},
	{"open intervals in brackets", "SELECT ", "INTERVAL (", "", "", ""},
	{"zones", "SELECT a", " AT TIME ZONE 'UTC'", "", "", " FROM t"},
	{"local zones", "SELECT a", " AT LOCAL", "", "", " FROM t"},
	{"zones in zones", "SELECT a ", "AT TIME ZONE a ", "", "", " FROM t"},
	{"casts", "SELECT ", "CAST(", "1", " AS Int8)", ""},
	{"cast chains", "SELECT 1", "::Int8", "", "", ""},
	{"types", "SELECT 1::", "Array(", "Int8", ")", ""},
	{"open types", "SELECT 1::", "Array(", "", "", ""},
	{"tuples of types", "SELECT 1::Tuple(a Int8", ", b%d Int8", "", "", ")"},
	{"json types", "SELECT 1::", "JSON(a ", "Int8", ")", ""},
	{"subscripts", "SELECT a", "[1]", "", "", " FROM t"},
	{"nested subscripts", "SELECT ", "a[", "1", "]", " FROM t"},
	{"elements", "SELECT a", ".1", "", "", " FROM t"},
	{"dots", "SELECT a", ".a", "", "", " FROM t"},
	{"paths", "SELECT a", ".^a", "", "", " FROM t"},
	{"arrays of paths", "SELECT a.b", "[]", "", "", " FROM t"},
	{"stars", "SELECT *", ", *", "", "", " FROM t"},
	{"replacements", "SELECT *", " REPLACE (1 AS a)", "", "", " FROM t"},
	{"exceptions", "SELECT *", " EXCEPT (a)", "", "", " FROM t"},
	{"applies", "SELECT *", " APPLY f", "", "", " FROM t"},
	{"nested applies", "SELECT ", "* APPLY (x -> ", "x", ")", " FROM t"},
	{"is null", "SELECT 1", " IS NULL", "", "", ""},
	{"like", "SELECT 1 WHERE 1=1", " AND a LIKE 'x' ESCAPE '!'", "", "", ""},
	{"like chains", "SELECT a", " LIKE 'x'", "", "", " FROM t"},
	{"between", "SELECT 1 WHERE 1=1", " AND a BETWEEN 1 AND 2", "", "", ""},
	{"between chains", "SELECT 1", " BETWEEN 1 AND 1", "", "", ""},
	{"open betweens", "SELECT 1", " BETWEEN 1", "", " AND 1", ""},
	{"joins", "SELECT * FROM t", " JOIN t ON a=a", "", "", ""},
	{"using", "SELECT * FROM t", " ANY LEFT JOIN t USING (a)", "", "", ""},
	{"cross joins", "SELECT * FROM t", " CROSS JOIN t", "", "", ""},
	{"array joins", "SELECT * FROM t", " ARRAY JOIN a", "", "", ""},
	{"comma joins", "SELECT * FROM t", ", t", "", "", ""},
	{"relations", "SELECT * FROM t", ", t%d", "", "", ""},
	{"table functions", "SELECT * FROM ", "view(SELECT * FROM ", "t", ")", ""},
	{"unknown table functions", "SELECT * FROM ", "f(", "1", ")", ""},
	{"explained queries", "", "SELECT * FROM (EXPLAIN ", "SELECT 1", ")", ""},
	{"explains", "", "EXPLAIN ", "SELECT 1", "", ""},
	{"describes", "", "DESCRIBE (", "SELECT 1", ")", ""},
	{"unions", "SELECT 1", " UNION ALL SELECT 1", "", "", ""},
	{"excepts", "SELECT 1", " EXCEPT SELECT 1", "", "", ""},
	{"ctes", "WITH c AS (SELECT 1 AS a)", ", c%d AS (SELECT 1 AS a)", " SELECT 1", "", ""},
	{"expressions with names", "WITH 1 AS c", ", 1 AS c%d", " SELECT 1", "", ""},
	{"references to ctes", "WITH c AS (SELECT 1 AS a)", ", c%d AS (SELECT * FROM c, c, c)", " SELECT 1", "", ""},
	{"nested ctes", "", "WITH c AS (", "SELECT 1", ") SELECT 1", ""},
	{"with", "", "WITH 1 AS a ", "SELECT 1", "", ""},
	{"columns", "SELECT 1", ", a%d", "", "", " FROM t"},
	{"aliases", "SELECT 1", ", 1 AS b", "", "", ""},
	{"values", "SELECT * FROM (VALUES (1)", ", (1)", "", "", ") AS v (a)"},
	{"in list", "SELECT 1 WHERE 1 IN (1", ", 1", "", "", ")"},
	{"group by", "SELECT 1 FROM t GROUP BY a", ", a", "", "", ""},
	{"rollups", "SELECT 1 FROM t GROUP BY a", " WITH ROLLUP", "", "", ""},
	{"grouping sets", "SELECT 1 FROM t GROUP BY GROUPING SETS ((a)", ", (a)", "", "", ")"},
	{"order by", "SELECT 1 ORDER BY a", ", a DESC", "", "", ""},
	{"limits", "SELECT 1", " LIMIT 1 BY a", "", "", ""},
	{"windows", "SELECT 1 FROM t WINDOW w AS ()", ", w%d AS (w)", "", "", ""},
	{"window calls", "SELECT 1", ", sum(a) OVER (PARTITION BY a ORDER BY a)", "", "", " FROM t"},
	{"windows in arguments", "SELECT ", "sum(", "1", ") OVER ()", " FROM t"},
	{"filters", "SELECT ", "sum(a) FILTER (WHERE ", "1", ")", " FROM t"},
	{"arguments", "SELECT concat('a'", ", 'a'", "", "", ")"},
	{"unknown calls", "SELECT 1", ", f%d()", "", "", ""},
	{"combinators", "SELECT sum", "If", "", "", "(1, 1)"},
	{"statements", "SELECT 1", "; SELECT 1", "", "", ""},
	{"terminators", "SELECT 1", ";", "", "", ""},
	{"parallel statements", "SELECT 1", " PARALLEL WITH SELECT 1", "", "", ""},
	{"settings", "SELECT 1 SETTINGS a = 1", ", a = 1", "", "", ""},
	{"many settings", "SELECT 1", " SETTINGS a = 1", "", "", ""},
	{"parameters", "SELECT 1", ", {a: UInt8}", "", "", ""},
	{"open parameters", "SELECT ", "{a: ", "", "", ""},
	{"braces", "SELECT ", "{", "1", "}", ""},
	{"nested comments", "SELECT 1 ", "/*", "", "*/", ""},
	{"open comments", "SELECT 1 ", "/*", "", "", ""},
	{"line comments", "SELECT 1 ", "--\n", "", "", ""},
	{"comments with marks", "SELECT 1 ", "# \n", "", "", ""},
	{"quotes", "SELECT '", "''", "'", "", ""},
	{"backslashes", "SELECT '", "\\\\", "'", "", ""},
	{"names in quotes", "SELECT `", "``", "`", "", ""},
	{"open tags", "SELECT ", "$a%d$ ", "", "", ""},
	{"tags", "SELECT ", "$a$ ", "", "", ""},
	{"literal", "SELECT '", "x", "'", "", ""},
	{"hexadecimal literals", "SELECT x'", "0f", "'", "", ""},
	{"name", "SELECT ", "a", " FROM t", "", ""},
	{"digits", "SELECT ", "1", "", "", ""},
	{"digits with marks", "SELECT 1", "_1", "", "", ""},
	{"numbers with dots", "SELECT ", "1.", "", "", ""},
	{"numbers with exponents", "SELECT 1", "e1", "", "", ""},
})

// TestLimits judges statements of every shape. It also reads each without the screen,
// because the parser bounds its own recursion.
func TestLimits(t *testing.T) {
	growth := dialecttest.Growth{
		Shapes: shapes,
		Copies: []int{60, 1900},
		More:   []int{1, 200, 990, 4000, 9000, 16_000, 24_000},
		Also:   func(sql string) { dialecttest.CheckFacts(t, clickhouse.Dialect{}, sql) },
	}
	growth.Check(t, clickhouse.Dialect{})
}

// TestNestedBetween bounds what the server doubles.
func TestNestedBetween(t *testing.T) {
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	for _, s := range dialecttest.Shapes([][6]string{
		{"a chain", "SELECT 1", " BETWEEN 0 AND 1", "", "", ""},
		{"in brackets", "SELECT ", "(", "1", " BETWEEN 0 AND 1)", ""},
		{"in calls", "SELECT ", "abs(", "1", " BETWEEN 0 AND 1)", ""},
		{"in lists", "SELECT ", "[", "1", " NOT BETWEEN 0 AND 1]", ""},
	}) {
		for n, allowed := range map[int]bool{1: true, 8: true, 9: false, 30: false} {
			if v := g.Check(s.Text(n)); v.Allowed != allowed {
				t.Errorf("%s, %d times: allowed is %v, %s", s.Name, n, v.Allowed, v.Code)
			}
		}
	}
	if v := g.Check(dialecttest.Shape{Before: "SELECT 1 WHERE a", Middle: " BETWEEN 0 AND 1 AND a", After: " = 1"}.Text(100)); !v.Allowed {
		t.Errorf("a list of conditions: %s", v.Code)
	}
}

// TestLimitsOfTheEngine asks the engine, with the limits of a server, about statements of
// every shape that are allowed. What it reads must be one read, and it must answer. What
// is too deep for it fails there, and is no concern of the guard.
func TestLimitsOfTheEngine(t *testing.T) {
	e := startEngine(t)
	for _, setting := range []string{"max_query_size = 262144", "max_parser_depth = 1000", "max_parser_backtracks = 1000000"} {
		if _, err := e.Query("SET "+setting, "TSV"); err != nil {
			t.Fatal(err)
		}
	}
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	asked, unread := 0, 0
	for _, s := range shapes {
		for _, n := range []int{1, 2, 3, 10, 60, 120, 250, 900, 1900} {
			sql := s.Text(n)
			if !g.CheckOnce(sql).Allowed {
				continue
			}
			asked++
			start := time.Now()
			fault := judge(t, e, sql)
			if took := time.Since(start); took > dialecttest.Hang {
				t.Errorf("%s, %d times: the engine took %v", s.Name, n, took)
			} else if took > time.Second {
				t.Logf("%s, %d times: the engine took %v", s.Name, n, took)
			}
			switch class, _, err := e.Class(sql); {
			case err != nil:
				t.Fatal(err)
			case fault != "" && class != chengine.Unread:
				t.Errorf("%s, %d times: to the engine: %.300s", s.Name, n, fault)
			case fault != "":
				unread++
				if n <= 60 {
					t.Errorf("%s, %d times: the engine does not read it", s.Name, n)
				}
			}
		}
	}
	t.Logf("%d statements are allowed; %d of them are too deep or too large for the engine", asked, unread)
}
