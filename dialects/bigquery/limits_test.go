package bigquery_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

// shapes are texts that grow.
var shapes = dialecttest.Shapes([][6]string{
	{"brackets", "SELECT ", "(", "1", ")", ""},
	{"open brackets", "SELECT ", "(", "", "", ""},
	{"sub-queries", "SELECT ", "(SELECT ", "1", ")", ""},
	{"queries in FROM", "SELECT * FROM ", "(SELECT * FROM ", "t", ")", ""},
	{"brackets in FROM", "SELECT * FROM ", "(", "t JOIN u ON TRUE", ")", ""},
	{"open joins", "SELECT * FROM ", "(t JOIN ", "", "", ""},
	{"pipes in brackets", "", "FROM (", "FROM t", ") |> LIMIT 1", ""},
	{"pipes", "FROM t", " |> WHERE a > 1", "", "", ""},
	{"pipe unions", "SELECT 1", " |> UNION ALL (SELECT 1)", "", "", ""},
	{"arrays of arrays", "SELECT ", "[", "1", "]", ""},
	{"typed arrays", "SELECT ", "ARRAY<INT64>[", "1", "]", ""},
	{"array types", "SELECT CAST(a AS ", "ARRAY<", "INT64", ">", ")"},
	{"structure types", "SELECT CAST(a AS ", "STRUCT<a ", "INT64", ">", ")"},
	{"open types", "SELECT ", "STRUCT<a ", "", "", ""},
	{"structures", "SELECT ", "STRUCT(", "1", " AS a)", ""},
	{"lambdas", "SELECT ", "f(x -> ", "1", ")", ""},
	{"lambda lists", "SELECT ", "f((x, y) -> ", "1", ")", ""},
	{"tables of functions", "SELECT * FROM ", "f((SELECT * FROM ", "t", "))", ""},
	{"subscripts", "SELECT a", "[0]", "", "", ""},
	{"chained calls", "SELECT (a)", ".upper()", "", "", ""},
	{"names", "SELECT a", ".b", "", "", ""},
	{"names in FROM", "SELECT * FROM a", ".b", "", "", ""},
	{"dashes", "SELECT * FROM a", "-b", "", "", ""},
	{"dots in backquotes", "SELECT * FROM `a", ".b", "`", "", ""},
	{"strings in a row", "SELECT 'a'", " 'b'", "", "", ""},
	{"signs", "SELECT ", "- ", "1", "", ""},
	{"NOT", "SELECT ", "NOT ", "TRUE", "", ""},
	{"sums", "SELECT 1", " + 1", "", "", ""},
	{"joins of texts", "SELECT 'a'", " || 'a'", "", "", ""},
	{"AND", "SELECT a", " AND a", "", "", ""},
	{"LIKE ANY", "SELECT a LIKE ANY ('a'", ", 'b'", ")", "", ""},
	{"BETWEEN", "SELECT a", " BETWEEN 1 AND 2", "", "", ""},
	{"CASE", "SELECT ", "CASE WHEN a THEN ", "1", " END", ""},
	{"IF", "SELECT ", "IF(a, ", "1", ", 2)", ""},
	{"WITH in WITH", "", "WITH a AS (", "SELECT 1", ") SELECT 1", ""},
	{"WITH expressions", "SELECT ", "WITH(a AS 1, ", "1", ")", ""},
	{"common tables", "WITH a AS (SELECT 1)", ", a%d AS (SELECT 1)", " SELECT 1", "", ""},
	{"unions", "SELECT 1", " UNION ALL SELECT 1", "", "", ""},
	{"commas in FROM", "SELECT * FROM t", ", u%d", "", "", ""},
	{"arrays in FROM", "SELECT * FROM t AS x", ", x.a%d", "", "", ""},
	{"joins", "SELECT * FROM t", " JOIN u USING (a)", "", "", ""},
	{"ON at the end", "SELECT * FROM t", " JOIN u", "", " ON TRUE", ""},
	{"QUALIFY", "SELECT a FROM t", " QUALIFY a", "", "", ""},
	{"QUALIFY in brackets", "SELECT a FROM ", "(SELECT a FROM t QUALIFY a) QUALIFY ", "1", "", ""},
	{"patterns", "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY a MEASURES 1 AS b PATTERN (", "(", "a", ")", ") DEFINE a AS TRUE)"},
	{"quantifiers", "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY a MEASURES 1 AS b PATTERN (a", "?", "", "", ") DEFINE a AS TRUE)"},
	{"pivots", "SELECT * FROM t", " PIVOT (SUM(a) FOR b IN (1))", "", "", ""},
	{"blocks", "", "BEGIN ", "SELECT 1;", " END;", ""},
	{"IF statements", "", "IF a THEN ", "SELECT 1;", " END IF;", ""},
	{"hints", "SELECT ", "@{a=1} ", "1", "", ""},
	{"three quotes", "SELECT ", "'''", "", "", ""},
	{"backslashes", "SELECT '", `\\`, "'", "", ""},
	{"comments", "SELECT 1 ", "#\n", "", "", ""},
	{"columns", "SELECT a", ", b%d", " FROM t", "", ""},
	{"group", "SELECT 1 FROM t GROUP BY ", "ROLLUP(a, ", "b", ")", ""},
})

// TestLimits judges statements that grow: nests and chains of what GoogleSQL has and other
// dialects have not. The parser and the walk recurse; the guard's screen must bound them.
func TestLimits(t *testing.T) {
	(&dialecttest.Growth{Shapes: shapes, Copies: []int{10, 250, 1990}, More: []int{30, 100, 1000}}).Check(t, bigquery.Dialect{})
}

// TestGrowth checks that a statement which makes a long value from constants is refused.
func TestGrowth(t *testing.T) {
	g := dialecttest.NewGuard(t, bigquery.Dialect{})
	for _, sql := range []string{
		"SELECT REPEAT('x', 5000000)", "SELECT LPAD('', 10000000)", "SELECT RPAD('x', 99999999, 'y')", "SELECT `repeat`('x', 5000000)", "SELECT SAFE.REPEAT('x', 5000000)", "SELECT LENGTH(REPEAT(REPEAT('x', 2000), 2000))", "SELECT FORMAT('%5000000s', 'x')",
		"SELECT TO_HEX(CAST(REPEAT('x', 500000) AS BYTES))", "SELECT REPLACE(REPEAT('a', 2000), 'a', REPEAT('b', 2000))", "SELECT REPEAT('x', n) FROM (SELECT 5000000 AS n)",
		"SELECT ('x').REPEAT(5000000)", "SELECT ('x').REPEAT(3000).REPEAT(3000)", "FROM (SELECT 5000000 AS n) |> SELECT REPEAT('x', n)",
		"FROM t |> SELECT REPEAT('x', 5000000)", "SELECT " + strings.Repeat("REPLACE(", 21) + "c" + strings.Repeat(", 'a', 'aa')", 21) + " FROM t",
		"WITH a AS (SELECT 'xxxxxxxxxx' AS s), b AS (SELECT s || s || s || s || s || s || s || s || s || s AS s FROM a), c AS (SELECT s || s || s || s || s || s || s || s || s || s AS s FROM b), d AS (SELECT s || s || s || s || s || s || s || s || s || s AS s FROM c)," +
			" e AS (SELECT s || s || s || s || s || s || s || s || s || s AS s FROM d), f AS (SELECT s || s || s || s || s || s || s || s || s || s AS s FROM e), g AS (SELECT s || s || s || s || s || s || s || s || s || s AS s FROM f) SELECT s FROM g",
	} {
		if v := g.Check(sql); v.Allowed || v.Code != sqlguard.CodeInputTooLarge {
			t.Errorf("%s: %v %s %+v", sql, v.Allowed, v.Code, v.Findings)
		}
	}
	for _, sql := range []string{
		"SELECT REPEAT('x', 100)", "SELECT LPAD(name, 10, ' ') FROM t", "SELECT GENERATE_ARRAY(1, 100000)", "SELECT GENERATE_DATE_ARRAY('2020-01-01', '2024-12-31')", "SELECT STRING_AGG(name, ',') FROM t", "SELECT TO_HEX(SHA256(name)) FROM t",
		"SELECT REPEAT(name, 3) FROM t", "SELECT day, REPLACE(name, 'a', 'b') FROM t, UNNEST(GENERATE_DATE_ARRAY('2020-01-01', CURRENT_DATE())) AS day",
	} {
		if v := g.Check(sql); !v.Allowed {
			t.Errorf("%s: %+v", sql, v.Findings)
		}
	}
}
