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
		// names of WITH(…)
		"SELECT WITH(n AS 5000000, REPEAT('x', n))", "SELECT WITH(a AS REPEAT('x', 1000), b AS REPEAT(a, 1000), b)", "SELECT WITH(a AS 'x', b AS a || a || a || a || a, c AS b || b || b || b || b, c)",
		"SELECT WITH(a AS [1,2,3,4,5,6,7,8,9], b AS ARRAY_CONCAT(a,a,a,a,a,a,a,a,a), c AS ARRAY_CONCAT(b,b,b,b,b,b,b,b,b), d AS ARRAY_CONCAT(c,c,c,c,c,c,c,c,c), d)",
		// functions of elements
		"SELECT ARRAY_TRANSFORM(GENERATE_ARRAY(1, 10000), n -> REPEAT('x', 10000))", "SELECT ARRAY_ZIP(GENERATE_ARRAY(1, 10000), [1], (a, b) -> REPEAT('x', 100000), mode => 'PAD')", "SELECT ARRAY_TO_STRING(['a', 'b', 'c'], REPEAT('x', 1000000))",
		"SELECT ARRAY_TO_STRING(ARRAY(SELECT 'a' FROM UNNEST(GENERATE_ARRAY(1, 100000))), REPEAT('x', 100000))", "SELECT TO_CODE_POINTS(REPEAT('x', 1000000))", "SELECT TEXT_ANALYZE(REPEAT('x ', 500000))",
		// steps
		"SELECT GENERATE_ARRAY(1, 10, 0.000001)", "SELECT GENERATE_ARRAY(0, 1000, n) FROM (SELECT 0.000001 AS n)", "SELECT (0).GENERATE_ARRAY(1, 1e-9)", "SELECT GENERATE_TIMESTAMP_ARRAY(TIMESTAMP_SECONDS(0), CURRENT_TIMESTAMP(), INTERVAL 1 SECOND)",
		`SELECT GENERATE_TIMESTAMP_ARRAY('2000\x2d01-01', '2024-01-01', INTERVAL 1 SECOND)`, "SELECT APPROX_QUANTILES(x, 100000000) FROM t", "SELECT KLL_QUANTILES.MERGE_INT64(s, 100000000) FROM t", "SELECT ST_BUFFER(g, 1000, num_seg_quarter_circle => 100000000) FROM t",
		"SELECT ML.NGRAMS(words, [1, 100000]) FROM t", "SELECT JSON_SET(JSON '[]', '$[999999]', 1)", `SELECT JSON_SET(JSON '[]', '$[99\x39999]', 1)`, "SELECT JSON_ARRAY_INSERT(j, CONCAT('$[999', '999]'), 1) FROM t", "SELECT REPEAT(repetitions => 5000000, original_value => 'x')",
		// formats
		"SELECT FORMAT_TIMESTAMP(REPEAT('%c', 90000), CURRENT_TIMESTAMP())", `SELECT FORMAT('%1000\u0030\u0030\u0030\u0030d', 1)`, "SELECT TO_JSON_STRING(PARSE_JSON(REPEAT('[', 400) || REPEAT(']', 400)), TRUE)", "SELECT TO_JSON_STRING(JSON '[[[]]]', TRUE)",
		// numbers
		"SELECT REPEAT('x', UNICODE('𐍈') * 100)", "SELECT REPEAT('x', SUM(5000)) FROM UNNEST(GENERATE_ARRAY(1, 1000))", "SELECT REPEAT('x', CAST(COSH(20) AS INT64))", "SELECT REPEAT('x', CAST(ST_DISTANCE(ST_GEOGPOINT(0, 0), ST_GEOGPOINT(90, 0)) AS INT64))",
		"SELECT REPEAT('x', APPROX_QUANTILES(n, 2)[OFFSET(1)]) FROM UNNEST([5000000]) AS n",
		// chains and recursion
		"SELECT 'xxxxxxxxxx' AS s" + strings.Repeat(" |> SET s = CONCAT(s, s, s, s, s, s, s, s, s, s)", 6), "SELECT x FROM " + strings.Repeat("(SELECT [STRUCT(x), STRUCT(x), STRUCT(x), STRUCT(x), STRUCT(x), STRUCT(x), STRUCT(x), STRUCT(x)] AS x FROM ", 8) + "(SELECT 1 AS x)" + strings.Repeat(")", 8),
		"WITH RECURSIVE c AS (SELECT JSON '1' AS s UNION ALL SELECT JSON_ARRAY(s, s) FROM c) SELECT s FROM c", "WITH RECURSIVE c AS (SELECT JSON '{}' AS s UNION ALL SELECT JSON_SET(s, '$.a', s) FROM c) SELECT s FROM c",
		"WITH RECURSIVE c AS (SELECT 'x' AS s UNION ALL SELECT WITH(a AS s, a || a) FROM c) SELECT s FROM c", "WITH RECURSIVE c AS (SELECT 'x' AS s UNION ALL SELECT LPAD(s, 2 * LENGTH(s)) FROM c) SELECT s FROM c",
	} {
		if v := g.Check(sql); v.Allowed || v.Code != sqlguard.CodeInputTooLarge {
			t.Errorf("%s: %v %s %+v", sql, v.Allowed, v.Code, v.Findings)
		}
	}
	for _, sql := range []string{
		"SELECT REPEAT('x', 100)", "SELECT LPAD(name, 10, ' ') FROM t", "SELECT GENERATE_ARRAY(1, 100000)", "SELECT GENERATE_DATE_ARRAY('2020-01-01', '2024-12-31')", "SELECT STRING_AGG(name, ',') FROM t", "SELECT TO_HEX(SHA256(name)) FROM t",
		"SELECT REPEAT(name, 3) FROM t", "SELECT day, REPLACE(name, 'a', 'b') FROM t, UNNEST(GENERATE_DATE_ARRAY('2020-01-01', CURRENT_DATE())) AS day",
		"SELECT GENERATE_ARRAY(0, 1, 0.1), GENERATE_ARRAY(10, 0, -1), GENERATE_ARRAY(1, n) FROM t", "SELECT d FROM UNNEST(GENERATE_TIMESTAMP_ARRAY(TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 24 HOUR), CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)) AS d",
		"SELECT d FROM UNNEST(GENERATE_TIMESTAMP_ARRAY('2024-01-01', '2024-01-02', INTERVAL 1 HOUR)) AS d", "SELECT d FROM t, UNNEST(GENERATE_TIMESTAMP_ARRAY(first_at, last_at, INTERVAL 1 HOUR)) AS d",
		`SELECT FORMAT_DATE('%Y-%m', d), FORMAT_TIMESTAMP('%c', ts), FORMAT('%t\n%s', a, b), FORMAT('%5.2f%%', x), CONCAT(a, ' ', b), ARRAY_TO_STRING(list, ', ') FROM t`,
		"SELECT ARRAY_TRANSFORM(list, x -> x + 1), JSON_SET(j, '$.a[0].b', 1), TO_JSON_STRING(t, TRUE), APPROX_QUANTILES(x, 100)[OFFSET(50)], APPROX_QUANTILES(x, 4 RESPECT NULLS), ST_BUFFER(g, 1000), ML.NGRAMS(words, [1, 3], '-') FROM t",
		"SELECT WITH(a AS x + 1, b AS a * 2, a + b) FROM t", "SELECT WITH(s AS SUM(input), c AS COUNT(input), s / c) FROM UNNEST([1.0, 2.0, 3.0]) AS input", "SELECT REPEAT('*', CAST(n / 10 AS INT64)), LPAD(CAST(EXTRACT(MONTH FROM d) AS STRING), 2, '0') FROM t",
		"SELECT LPAD(CAST(ROW_NUMBER() OVER (ORDER BY x) AS STRING), 5, '0'), LPAD(CAST(COUNT(*) AS STRING), 8) FROM t GROUP BY x",
	} {
		if v := g.Check(sql); !v.Allowed {
			t.Errorf("%s: %+v", sql, v.Findings)
		}
	}
}
