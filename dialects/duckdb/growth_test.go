package duckdb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestWhatConstantsMake: a statement that makes a long value from constants is refused in
// every form that the language has for it. Each was run on DuckDB 1.5.6, except those
// under "the parser": 1.5 does not read them, and the grammar of 2.0 does.
func TestWhatConstantsMake(t *testing.T) {
	t.Parallel()
	thirty := "[" + strings.TrimSuffix(strings.Repeat("'x', ", 30), ", ") + "]"
	lists := strings.ReplaceAll(thirty, "'x'", "[1]")
	refused := map[string][]string{
		"methods": {
			"SELECT ('x').repeat(5000000)", "SELECT ('x' || 'y').repeat(5000000)", "SELECT s.repeat(5000000) FROM t", "SELECT t.s.repeat(5000000) FROM t",
			"SELECT s.upper().repeat(5000000) FROM t", `SELECT "s"."repeat"(5000000) FROM t`, "SELECT s . /* c */ repeat(5000000) FROM t", "SELECT CAST('x' AS VARCHAR).repeat(5000000)",
			"SELECT CASE WHEN true THEN 'x' END.repeat(5000000)", "SELECT s.repeat(2000).repeat(2000) FROM t", "SELECT ('x').repeat(1000).repeat(1000).upper().repeat(10)",
			"SELECT s.lpad(5000000, 'y') FROM t", "SELECT s.rpad(5000000, 'y') FROM t", "SELECT [1].list_resize(100000000)", "SELECT len([1].array_resize(100000000))",
			"SELECT l[1].repeat(5000000) FROM t", "SELECT lower('x').repeat(n) FROM (SELECT 5000000 AS n)", "SELECT main.repeat('x', 5000000)", "SELECT ('{:>999999999}').format(1)", "SELECT ('%999999999d').printf(1)",
			"SELECT ('1').bitstring(50000000)", "SELECT x.range() FROM (SELECT 5000000 AS x)", "SELECT range(5000000).list_aggr('string_agg', ',').length()", "SELECT ('aaaa' || s).replace('a', repeat('b', 900000)) FROM t",
		},
		"the parser": {
			"SELECT 'x'.repeat(5000000)", "SELECT 'x'.repeat(1000).repeat(1000).repeat(100)", "SELECT 'x'.lpad(5000000, 'y')", "SELECT (SELECT 'x').repeat(5000000)",
			"SELECT " + "'" + strings.Repeat("x", 2000) + "'::VARCHAR.repeat(1000)", "SELECT {'a': 'x'.repeat(5000000)}", "SELECT 'abc'[1].repeat(5000000)", "SELECT 'x'.repeat('5000000'::INT)",
		},
		"names": {
			"SELECT repeat('x', n) FROM (FROM (VALUES (5000000)) v(n))", "SELECT repeat('x', COLUMNS(*)) FROM (SELECT 5000000 AS n)", "SELECT repeat('x', #1) FROM (SELECT 5000000 AS n)",
			"SELECT repeat('x', sub.n) FROM (SELECT {'n': 5000000} AS sub)", "SELECT repeat('x', m['a']) FROM (SELECT MAP {'a': 5000000} AS m)", "SELECT n: 5000000, repeat('x', n)",
			"SELECT repeat('x', col0) FROM (VALUES (5000000))", "SELECT repeat('x', col0) FROM (VALUES (5000000)) v", "SELECT repeat('x', n) FROM (SELECT 1 AS n UNION ALL SELECT 5000000)",
			"SELECT repeat('x', n) FROM (SELECT 1 AS n UNION ALL SELECT 5000000 AS m)", `SELECT repeat('x', "5000000") FROM (SELECT 5000000)`, "SELECT repeat('x', l[1]) FROM (SELECT [5000000] AS l)",
			"WITH v AS (VALUES (5000000)) SELECT repeat('x', col0) FROM v", "FROM (SELECT 5000000 AS n) SELECT repeat('x', n)", "SELECT repeat('x', n) FROM (SELECT 5000000 AS n) LIMIT 1",
			"SELECT repeat('x', sum(i)::INT) FROM range(5000) r(i)", "SELECT repeat('x', count(*)) FROM range(5000000)", "SELECT repeat('x', product(i)::INT) FROM range(1, 12) r(i)",
			"SELECT repeat('x', list_product([50, 1000, 1000])::INT)", "SELECT repeat('x', list_sum(range(5000))::INT)", "SELECT repeat('x', len(range(5000000)))",
			"SELECT repeat('x', unnest([5000000]))", "SELECT repeat('x', getvalue) FROM (SELECT unnest([5000000]) AS getvalue)", "SELECT repeat('x', u) FROM unnest([5000000]) AS g(u)",
			"SELECT repeat('x', value::INT) FROM json_each('[5000000]')", "SELECT repeat('x', json_extract('{\"a\": 5000000}', '$.a')::INT)",
			"SELECT repeat('x', i) FROM range(5000000, 5000001) r(i)", "SELECT repeat('x', range) FROM range(5000000, 5000001)", "SELECT repeat('x', NULLIF(5000000, 1))",
		},
		"lists": {
			"SELECT len([ [z for z in range(9999)] for y in range(9999)])", "SELECT list_transform(range(10000), x -> range(10000))", "SELECT len(list_transform(range(9999999), x -> repeat('x', 100)))",
			"SELECT list_transform(['x'], lambda y: y.repeat(5000000))", "SELECT [y.repeat(5000000) FOR y IN ['x']]", "SELECT list_transform([5000000], y -> repeat('x', y))", "SELECT [repeat('x', y) FOR y IN [5000000]]",
			"SELECT [repeat('x', 2000) FOR y IN range(2000)]", "SELECT list_transform(range(2000), lambda y: repeat('x', 2000))", "SELECT range(2000).list_transform(lambda y: repeat('x', 2000))",
			"SELECT len(list_concat(range(9999999), range(9999999)))", "SELECT array_to_string(range(5000000), ',')", "SELECT range(5000000)::VARCHAR", "SELECT to_json(range(5000000))", "SELECT range(5000000)",
			"SELECT list_resize(['a'], 10000, repeat('x', 10000))", "SELECT list_string_agg(range(5000000)).length()", "SELECT flatten([range(100000), range(100000)])",
			"SELECT length(list_reduce(" + thirty + ", (a, b) -> a || a))", "SELECT length(list_reduce(" + thirty + ", lambda a, b: concat(a, a)))", "SELECT " + thirty + ".list_reduce((a, b) -> a || a)",
			"SELECT len(list_reduce(" + lists + ", (a, b) -> a + a))", "SELECT len(list_reduce(" + lists + ", (a, b) -> add(a, a)))", "SELECT len(list_reduce(" + lists + ", (a, b) -> date_add(a, a)))",
			"SELECT len(list_reduce(" + lists + ", (a, b) -> (a) + b + a))", "SELECT len(list_reduce(" + lists + ", (a, b) -> flatten(list_value(a, a))))", "SELECT len(list_reduce(" + lists + ", (a, b) -> flatten(array_value(a, a))))",
			"SELECT len(list_reduce(" + lists + ", (a, b) -> coalesce(a, b) + list_sort(a)))", "SELECT len(list_reduce(" + lists + ", (a, b) -> a::INT[] + a))", "SELECT len(list_reduce(" + lists + ", (a, b) -> a[1:] + a[1:]))",
			"SELECT len(list_reduce(" + thirty + ", (a, b) -> json_array(a, a)))", "SELECT len(list_reduce(" + thirty + ", (a, b) -> json_object('k', a, 'l', a)))",
			"SELECT list_reduce(" + thirty + ", (a, b) -> repeat(a, 2))", "SELECT array_reduce(" + thirty + ", (a, b) -> a.replace('x', 'xx'))", "SELECT repeat('x', list_reduce([100, 100, 1000], (a, b) -> a * b))",
			"SELECT string_agg(i, ',') FROM range(9999999) r(i)", "SELECT list(i) FROM range(9999999) r(i)", "SELECT len(array_agg(i)) FROM range(9999) r(i), range(1000) s",
			"PIVOT (SELECT 1 AS k, i FROM range(9999999) r(i)) ON k IN (1) USING string_agg(i, ',')",
		},
		"separators": {
			"SELECT concat_ws(repeat('x', 1000000), 1, 2, 3)", "SELECT array_to_string([1, 2, 3], repeat('x', 1000000))", "SELECT list_aggregate(['a', 'b', 'c'], 'string_agg', repeat('x', 1000000))",
			"SELECT [1, 2, 3].array_to_string(repeat('x', 1000000))", "SELECT equi_width_bins(0, 10000000, 1000000, false)", "SELECT bitstring_agg(x, 0, 80000000) FROM t",
			"SELECT json_pretty(('[' || repeat('[', 600) || repeat(']', 600) || ']')::JSON)", "SELECT string_agg('x', repeat('x', 1000)) FROM range(5000)",
			"SELECT range(DATE '2000-01-01', DATE '2020-01-01', INTERVAL 1 MINUTE)", "SELECT generate_series(TIMESTAMP '2020-01-01', TIMESTAMP '2024-01-01', INTERVAL '1 second')",
			"SELECT repeat('x', list_aggregate([1000, 5000], 'product')::INT)",
		},
		"formats": {
			"SELECT printf('%999999999d', 1)", "SELECT format('{:>999999999}', 1)", "SELECT format('{:>{}}', 1, 999999999)", "SELECT format('{:{}}', 1, 999999999)", "SELECT format('{0:{1}}', 1, 999999999)",
			"SELECT printf('%*d', 999999999, 1)", "SELECT printf('%.*f', 999999999, 1.0)", "SELECT printf(('%999999999d'), 1)", "SELECT printf('%99999' || '9999d', 1)", "SELECT printf(concat('%99999', '9999d'), 1)",
			"SELECT printf(f, 1) FROM (SELECT '%999999999d' AS f)", "SELECT printf(CASE WHEN true THEN '%999999999d' END, 1)", "SELECT lpad('x', 1000000000, 'y')", "SELECT bitstring('1', 50000000)",
			"SELECT struct_pack(a := repeat('x', 5000000))", "SELECT {'a': repeat('x', 5000000)}", "SELECT s: repeat('x', 5000000)", "SELECT repeat('x', n := 5000000)", "SELECT repeat('x', (10 ** 7)::BIGINT)",
		},
		"recursion": {
			"WITH RECURSIVE c(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM c WHERE length(s) < 200000000) SELECT max(length(s)) FROM c",
			"WITH RECURSIVE c(s) AS (SELECT 'x' UNION ALL SELECT concat(s, s) FROM c WHERE length(s) < 200000000) SELECT max(length(s)) FROM c",
			"WITH RECURSIVE c AS (SELECT [1] AS s UNION ALL SELECT list_concat(s, s) FROM c WHERE len(s) < 20000000) SELECT max(len(s)) FROM c",
			"WITH RECURSIVE c AS (SELECT [1] AS s UNION ALL SELECT s + s FROM c WHERE len(s) < 20000000) SELECT max(len(s)) FROM c",
			"WITH RECURSIVE c AS (SELECT l AS s FROM t UNION ALL SELECT c.s + c.s FROM c WHERE len(s) < 20000000) SELECT max(len(s)) FROM c",
			"WITH RECURSIVE c AS (SELECT NULL::INT[] AS s, '[1]'::INT[3] AS r UNION ALL SELECT r + r, r + r FROM c WHERE len(s) < 20000000) SELECT max(len(s)) FROM c",
			"WITH RECURSIVE c(a, b, i) AS (SELECT [1], [2], 1 UNION ALL SELECT b, a + b, i + 1 FROM c WHERE i < 40) SELECT max(len(a)) FROM c",
			"WITH RECURSIVE c(s) AS (SELECT 'x' UNION ALL SELECT s.concat(s) FROM c WHERE length(s) < 200000000) SELECT s FROM c",
			"WITH RECURSIVE c(s) AS (SELECT 'x' UNION ALL SELECT s.repeat(10) FROM c WHERE length(s) < 200000000) SELECT max(length(s)) FROM c",
			"WITH RECURSIVE c(s) AS (SELECT 'x' UNION ALL SELECT repeat(s, 10) FROM c WHERE length(s) < 200000000) SELECT max(length(s)) FROM c",
			"WITH RECURSIVE c(s) AS (SELECT 'x' UNION ALL SELECT s.replace('x', 'xx') FROM c WHERE length(s) < 200000000) SELECT s FROM c",
			"WITH RECURSIVE c(s) AS (SELECT 'x' UNION ALL SELECT replace(s, 'x', 'xx') FROM c WHERE length(s) < 200000000) SELECT s FROM c",
		},
	}
	chain := func(n int, hint string) string {
		parts := []string{"c0 AS " + hint + "(SELECT id FROM t)"}
		for i := range n {
			parts = append(parts, fmt.Sprintf("c%d AS %s(SELECT a.id FROM c%d a JOIN c%d b ON a.id = b.id)", i+1, hint, i, i))
		}
		return fmt.Sprintf("WITH %s SELECT * FROM c%d", strings.Join(parts, ", "), n)
	}
	refused["rereads"] = []string{
		chain(13, "NOT MATERIALIZED "), chain(13, "") + " LIMIT 10", chain(13, "") + " OFFSET 1", chain(13, "not /* c */ materialized ") + " ORDER BY 1",
		strings.Replace(chain(13, ""), "(SELECT id FROM t)", "(SELECT id FROM t LIMIT 1)", 1),
	}
	refused["keys"] = []string{"WITH RECURSIVE c(k, s) USING KEY (k) AS (SELECT 1, 'x' UNION SELECT k, s || s FROM c WHERE length(s) < 200000000) SELECT max(length(s)) FROM c"}
	passes := []string{
		chain(6, ""), chain(6, "NOT MATERIALIZED "), chain(6, "") + " LIMIT 10", chain(40, ""), chain(40, "MATERIALIZED "), chain(40, "MATERIALIZED ") + " LIMIT 10", "SELECT unnest(generate_series(DATE '2020-01-01', DATE '2024-12-31', INTERVAL 1 DAY))", "SELECT unnest(generate_series(TIMESTAMP '2024-01-01', TIMESTAMP '2024-12-31', INTERVAL '15 minutes'))",
		"SELECT array_to_string(range(1000), ', '), concat_ws(', ', first_name, last_name), list_aggregate(l, 'sum'), json_pretty(j), strftime(d, '%Y-%m-%d'), equi_width_bins(0, 10000000, 10, true) FROM t",
		"SELECT s.repeat(3), s.lpad(8, '0'), s.upper().trim().replace('a', 'b').replace('c', 'd').left(5) FROM t", "SELECT name.replace('a', 'b')" + strings.Repeat(".replace('abc', 'xyz')", 30) + " FROM t",
		"SELECT list_transform(l, x -> x + 1), l.list_sort().list_reverse(), [x * 2 FOR x IN l IF x > 1] FROM t", "SELECT list_transform(range(200), x -> x || 'a')", "SELECT range(1000), unnest(range(10000))",
		"SELECT list_reduce(l, (a, b) -> a + b), list_reduce(l, lambda a, b: CASE WHEN a > b THEN a ELSE b END), list_reduce(names, (a, b) -> a || ', ' || b) FROM t",
		"SELECT repeat('*', rating) FROM reviews JOIN (VALUES (5000000), (5000001)) v(id) USING (id)", "SELECT lpad(code, 8, '0') FROM (SELECT code, 5000000 AS limit_of FROM t)",
		"SELECT format('{:>10}', name), format('{:,}', 1000000000), printf('%08.2f', x), printf(CASE WHEN x > 1 THEN '%.2f' ELSE '%.0f' END, x) FROM t WHERE id > 500000000",
		"SELECT d FROM generate_series(DATE '2020-01-01', DATE '2024-12-31', INTERVAL 1 DAY) g(d)", "SELECT i FROM range(9000000) r(i) WHERE i % 7 = 0", "SELECT sum(i), count(*) FROM range(9000000) r(i)",
		"WITH RECURSIVE tree AS (SELECT id, name AS path, 1 AS depth FROM t WHERE parent IS NULL UNION ALL SELECT t.id, tree.path || '/' || t.name, tree.depth + 1 FROM t JOIN tree ON t.parent = tree.id AND tree.depth < 5) SELECT repeat('  ', depth) || path, depth FROM tree",
		"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100) SELECT string_agg(n, ',') FROM c",
		"WITH RECURSIVE f(a, b, n) AS (SELECT 0, 1, 1 UNION ALL SELECT b, a + b, n + 1 FROM f WHERE n < 50) SELECT a FROM f", "WITH RECURSIVE f AS (SELECT 0 AS a, 1::BIGINT AS b UNION ALL SELECT b, a + b FROM f WHERE b < 50) SELECT a FROM f",
		"WITH RECURSIVE f(a, b) AS (VALUES (0, 1) UNION ALL SELECT b, a + b FROM f WHERE b < 50) SELECT a FROM f", "WITH RECURSIVE d AS (SELECT 1 n UNION ALL SELECT n + n FROM d WHERE n < 50) SELECT n FROM d",
		"WITH RECURSIVE f AS (SELECT 0::DECIMAL(38, 0) AS a, 1::HUGEINT AS b UNION ALL SELECT b, a + b FROM f WHERE b < 50) SELECT a FROM f",
		"WITH RECURSIVE m AS (SELECT x AS cx, y AS cy, 0.0 AS x, 0.0 AS y, 0 AS i FROM g UNION ALL SELECT cx, cy, x * x - y * y + cx, 2 * x * y + cy, i + 1 FROM m WHERE x * x + y * y < 4 AND i < 20) SELECT cx, cy, max(i) FROM m GROUP BY ALL",
		"WITH RECURSIVE b AS (SELECT id, total FROM t UNION ALL SELECT b.id, b.total + b.total * t.rate FROM b JOIN t USING (id)) SELECT id, max(total) FROM b GROUP BY id", "SELECT list_reduce(l, (a, b) -> a + b + 1), list_reduce(l, (a, b) -> a * b + a) FROM t", "SELECT s.a.b, m['k'], l[1], l[1:3] FROM t WHERE id = 900000000",
		"SELECT bar(x, 0, 1000000, 20), hex(s), s[1:3].upper() FROM t", "SELECT * EXCLUDE (a) REPLACE (lpad(b, 5, '0') AS b), COLUMNS('x.*') FROM t", "SELECT string_agg(s, ', '), list(s)[:10], max(s).lpad(10) FROM t",
		"FROM t SELECT s.lpad(10, ' '), #1", "SELECT repeat('#', (count(*) * 50 / max(count(*)) OVER ())::INT) FROM orders GROUP BY status",
	}
	g := dialecttest.NewGuard(t, duckdb.Dialect{})
	for form, list := range refused {
		for _, sql := range list {
			v := g.CheckOnce(sql)
			large := slices.ContainsFunc(v.Findings, func(f sqlguard.Finding) bool { return f.Code == sqlguard.CodeInputTooLarge })
			if v.Allowed || v.Code == sqlguard.CodeParseError || !large && v.Code != sqlguard.CodeFunctionNotAllowed {
				t.Errorf("%s: %s: %s %+v", form, sql, v.Code, v.Findings)
			}
		}
	}
	for _, sql := range passes {
		if v := g.CheckOnce(sql); !v.Allowed {
			t.Errorf("refused: %s: %+v", sql, v.Findings)
		}
	}
}
