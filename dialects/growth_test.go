package dialects_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestReplacedText: what takes the place of a text of several bytes makes the result
// longer by fewer bytes than that, and never by fewer than the servers make of it.
func TestReplacedText(t *testing.T) {
	t.Parallel()
	// nested replaces the same text again and again, in data or in a value.
	nested := func(of, from, to string, depth int) string {
		return "SELECT " + strings.Repeat("replace(", depth) + of + strings.Repeat(fmt.Sprintf(", %s, %s)", from, to), depth)
	}
	const exact, collated = "mysql sqlite clickhouse duckdb", "postgres"
	for _, c := range []struct {
		dialects string
		sql      string
		allowed  bool
	}{
		// An honest model: days of a week are put into quotes.
		{exact + " " + collated, "SELECT " + strings.Repeat("replace(", 7) + "c, ':mon:', '\"mon\":'), ':tue:', '\"tue\":'), ':wed:', '\"wed\":'), ':thu:', '\"thu\":'), ':fri:', '\"fri\":'), ':sat:', '\"sat\":'), ':sun:', '\"sun\":') FROM t", true},
		{exact + " " + collated, nested("c", "'abcdef'", "'abc'", 200) + " FROM t", true},
		{exact, nested("c", "'-- -- --'", "'xxxxxxxx'", 200) + " FROM t", true},
		{exact, nested("c", "'äö'", "'äö'", 10) + " FROM t", true},
		// Each byte of a text of one byte is replaced, and an empty text counts as one byte.
		{exact + " " + collated, nested("c", "'a'", "'aa'", 21) + " FROM t", false},
		{exact + " " + collated, nested("c", "''", "'aa'", 21) + " FROM t", false},
		{exact + " " + collated, nested("c", "'a'", "'aa'", 16) + " FROM t", true},
		// aa is in aaaa twice, and not three times.
		{exact, nested("c", "'aa'", "'aaaa'", 16) + " FROM t", true},
		{exact, nested("c", "'aa'", "'aaaa'", 21) + " FROM t", false},
		// Two characters of two bytes each are two bytes in a server's character set of one byte.
		{exact, nested("c", "'äö'", "'äöäö'", 14) + " FROM t", false},
		// A quote is one byte, and a text behind a backslash is not counted.
		{exact, nested("c", "''''''", "'xxxx'", 16) + " FROM t", true},
		{exact, nested("c", "''''''", "'xxxx'", 21) + " FROM t", false},
		{exact + " " + collated, nested("c", "'a'", "'"+strings.Repeat("'", 20)+"'", 8) + " FROM t", false},
		{"mysql clickhouse", nested("c", `'\\\\'`, "'abcd'", 11) + " FROM t", false},
		{"clickhouse", nested("c", `'\x61\x62'`, "'abcd'", 11) + " FROM t", false},
		// What is no literal may be one byte long.
		{exact + " " + collated, nested("c", "d", "'aa'", 21) + " FROM t", false},
		{"sqlite duckdb postgres", nested("c", "substr('abcdefghijk', 1, 1)", "'aa'", 21) + " FROM t", false},
		{"postgres", nested("c", "E'\\x61\\x62\\x63\\x64'", "'abcd'", 11) + " FROM t", false},
		{"postgres", nested("c", "'a' || 'bcdefgh'", "'abcdefgh'", 20) + " FROM t", false},
		// Under a collation of PostgreSQL a text of signs can equal none of them, and
		// letters can be one character.
		{collated, nested("c", "'--------'", "'xxxxxxxx'", 7) + " FROM t", false},
		{collated, nested("c", "'00000001'", "'00000001'", 7) + " FROM t", false},
		{collated, nested("c", "'äöüäöüäö'", "'aaaaaaaa'", 7) + " FROM t", false},
		{collated, nested("c", "'abcdefgh'", "'abcdefgh'", 16) + " FROM t", true},
		{collated, nested("c", "'abcdefgh'", "'abcdefgh'", 21) + " FROM t", false},
		// A pattern can match less than it is long.
		{"postgres", "SELECT " + strings.Repeat("regexp_replace(", 7) + "c" + strings.Repeat(", '[abcdef]', 'abcdefgh')", 7) + " FROM t", false},
		{"clickhouse", "SELECT " + strings.Repeat("replaceRegexpAll(", 7) + "c" + strings.Repeat(", '[abcdef]', 'abcdefgh')", 7) + " FROM t", false},
		// SQL Server compares by its collations, and is not measured.
		{"sqlserver", nested("c", "'abcdefgh'", "'abcdefgh'", 7) + " FROM t", false},
		{exact + " " + collated, "SELECT replace(" + strings.Repeat("concat(c, '", 1) + strings.Repeat("a", 3000) + "'), 'a', '" + strings.Repeat("b", 3000) + "') FROM t", false},
	} {
		for name := range strings.FieldsSeq(c.dialects) {
			d, ok := dialects.Lookup(name)
			if !ok {
				continue // it is not offered
			}
			guard, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
			if err != nil {
				t.Fatal(err)
			}
			v := guard.Check(c.sql)
			if v.Allowed != c.allowed || !v.Allowed && v.Code != sqlguard.CodeInputTooLarge {
				t.Errorf("%s: %.200s: allowed %t, %s: %v", name, c.sql, v.Allowed, v.Code, v.Findings)
			}
		}
	}
}

// TestWhatConstantsMake: a statement that makes a long value from constants is
// refused, and one like it with small numbers, or with data, passes.
func TestWhatConstantsMake(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dialect         string
		refused, passes []string
	}{
		{"postgres", []string{
			`WITH RECURSIVE t(n, i) AS (SELECT 1, 1 UNION ALL SELECT n * 2, i + 1 FROM t WHERE i < 28) SELECT lpad('a', n) FROM t`, `WITH RECURSIVE t(n, s, i) AS (SELECT 1, '', 1 UNION ALL SELECT n * 2, repeat('a', n), i + 1 FROM t WHERE i < 28) SELECT length(s) FROM t`, `WITH RECURSIVE t(a, b, i) AS (SELECT 1, 1, 1 UNION ALL SELECT b, a + b, i + 1 FROM t WHERE i < 40) SELECT repeat('a', a) FROM t`, `WITH RECURSIVE t(a, b, i) AS (SELECT 'x', 'y', 1 UNION ALL SELECT b, a || b, i + 1 FROM t WHERE i < 40) SELECT length(a) FROM t`, `WITH RECURSIVE t AS (SELECT 1 AS n, 1 AS i UNION ALL SELECT m, i + 1 FROM (SELECT n + n AS m, i FROM t) u WHERE i < 30) SELECT repeat('a', n) FROM t`, `WITH RECURSIVE t(n, i) AS (VALUES (1, 1) UNION ALL SELECT n << 1, i + 1 FROM t WHERE i < 29) SELECT repeat('a', n) FROM t`, `WITH RECURSIVE t(n, i) AS (SELECT 1, 1 UNION ALL SELECT n * 2, i + 1 FROM t WHERE i < 28) SELECT string_agg('x', '') FROM t, generate_series(1, n)`,
			`SELECT concat_ws(repeat('x', 90000), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)`, `SELECT array_to_string(ARRAY[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], repeat('x', 90000))`, `SELECT format('%1$s%1$s%1$s', repeat('x', 900000))`, `SELECT format(repeat('%1$s', 1000), repeat('x', 9000))`, `SELECT repeat('x', ascii('z') * 1000000)`, `SELECT 'x'::char(5000000)`, `SELECT CAST('1' AS bit(50000000))::text`, `SELECT string_agg(repeat('x', 900000), '') FROM unnest(ARRAY[1, 2, 3])`, `SELECT string_agg(repeat('x', 900000), '') FROM (VALUES (1), (2)) v(a), (VALUES (1), (2)) w(a)`,
			"SELECT repeat('x', '5'\n'000000'::int)",
			"SELECT 1 IS DISTINCT FROM 2, string_agg('x', '') FROM generate_series(1, 10000000)", "SELECT 1 IS NOT DISTINCT FROM 2, string_agg(repeat('x', 900000), '') FROM unnest(ARRAY[1, 2, 3])",
			"SELECT length(translate(repeat('b',400000), repeat('a',400000), ''))",
			"SELECT translate(repeat('b',70000), 'a', 'b')",
			"SELECT repeat('x', (select 500000000))::int",
			"SELECT repeat('x', a[1]) FROM (SELECT ARRAY[5000000] AS a) t", "SELECT repeat('x', column1) FROM (VALUES (5000000)) v", "SELECT repeat('x', int4) FROM (SELECT 5000000::int4) t",
			"SELECT repeat('x', n) FROM (SELECT 1 AS n UNION ALL SELECT 5000000) t", "SELECT repeat('x', n) FROM (SELECT 1 AS n UNION ALL SELECT 5000000 AS m) t",
			"SELECT repeat('x', q) FROM (SELECT * FROM (SELECT 5000000 AS n) s) v(q)", "SELECT repeat('x', sum(i)::int) FROM generate_series(1, 5000) i", "SELECT repeat('x', count(*)::int) FROM generate_series(1, 5000000)",
			"SELECT repeat('x', ('{\"a\": 5000000}'::json->>'a')::int)", "SELECT repeat('x', ('5' || '000000')::int)", "SELECT repeat('x', repeat('9', 7)::int)", "SELECT format(('%5000000s'), 'x')",
			"SELECT format('%' || '5000000s', 'x')", "SELECT format(f, 'x') FROM (SELECT '%5000000s' AS f) t", "SELECT repeat('x', value::int) FROM json_array_elements_text('[5000000]')",
			"WITH RECURSIVE t(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM t WHERE length(s) < 500000000) SELECT max(length(s)) FROM t",
			"SELECT repeat('x', n) FROM (SELECT 5000000 AS n) t",
			"WITH s(n) AS (SELECT 500000*10) SELECT repeat('x', n) FROM s",
			"SELECT repeat(repeat('x', 2000), 2000)", "SELECT repeat /* c */ ('x', 5000000)", "SELECT repeat -- c\n('x', 5000000)", `SELECT U&"repe!0061t" UESCAPE '!' ('x', 5000000)`, `SELECT U&"repe\0061t"('x', 5000000)`,
			"SELECT lpad('', 10000000)", "SELECT rpad('x', greatest(1, 99999999), 'y')",
			"SELECT repeat('x', '50000000'::int)", "SELECT repeat('x', 1 << 25)", "SELECT repeat('x', (10 ^ 8)::int)", "SELECT repeat('x', 3000 * 3000)",
			"SELECT repeat('x', power(10, 8)::int)", "SELECT repeat('x', length(repeat('y', 1000000)) * 2)",
			"SELECT repeat('x', '2024-01-01'::date - '0001-01-01'::date) || repeat('x', 900000)",
			"SELECT array_fill(1, ARRAY[1000,1000])", "SELECT replace(repeat('a', 2000), 'a', repeat('b', 2000))",
			"SELECT string_agg('x', '') FROM generate_series(1, 10000000)",
			"SELECT array_agg(i) FROM generate_series(1, 1000) i, generate_series(1, 1000) j",
			"SELECT array_fill(1, ARRAY[20000]) && array_fill(2, ARRAY[20000])",
			"SELECT repeat('x', 600000) || repeat('y', 600000)",
			"SELECT pg_catalog.repeat('x', 5000000)", `SELECT "repeat"('x', 5000000)`, `SELECT U&"\0072epeat"('x', 5000000)`,
			"SELECT format('%5000000s', 'x')", "SELECT repeat('x', extract(epoch from now())::int)",
			"WITH RECURSIVE t(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM t WHERE length(s) < 500000000) SELECT translate(s, 'x', 'y') FROM t",
			"SELECT CASE WHEN repeat('x', 5000000) = name THEN 1 END FROM customers",
			"EXPLAIN SELECT length(rtrim(repeat('b',400000), repeat('a',400000)))",
			"SELECT CASE WHEN id = 1 THEN repeat('x', 5000000) END FROM t", "SELECT CASE repeat('x', 5000000) WHEN 'a' THEN 1 END",
			"SELECT CASE WHEN translate(repeat('b', 70000), 'a', 'c') = 'x' THEN 1 END", "SELECT (repeat('1', 5000000)::numeric)::int",
			"SELECT path '[(1,1)]' + path '[(2,2)]' || " + strings.Repeat("'"+strings.Repeat("x", 2000)+"' || ", 500) + "'" + strings.Repeat("x", 60000) + "'",
			"WITH " + doubled("s || s", "1::text || '23456789'") + " SELECT length(s) FROM a20",
			"WITH " + doubled("concat(s, s)", "concat(1, 2)") + " SELECT length(s) FROM a22",
			"WITH " + doubled("s + s", "'[(1,1),(2,2)]'::path") + " SELECT s FROM a20",
			"WITH " + doubled("ROW(s, s)", "1") + " SELECT s FROM a22", "WITH " + doubled("(s, s)", "1") + " SELECT s FROM a22",
			"WITH " + doubled("ARRAY[s, s]", "1") + " SELECT s FROM a22", "WITH " + doubled("CASE WHEN true THEN s || s END", "'x'::text") + " SELECT s FROM a22",
			"WITH " + doubled("coalesce(s || s, s)", "'x'::text") + " SELECT s FROM a22",
		}, []string{
			`WITH RECURSIVE bom AS (SELECT part, sub, qty, 1 AS level FROM parts WHERE part = 'x' UNION ALL SELECT p.part, p.sub, b.qty * p.qty, b.level + 1 FROM parts p JOIN bom b ON b.sub = p.part) SELECT repeat('  ', level) || sub, qty FROM bom`, `WITH RECURSIVE d AS (SELECT 1 AS depth, id, name, lpad(id::text, 6, '0') AS path FROM cat UNION ALL SELECT d.depth + 1, c.id, c.name, d.path || '.' || lpad(c.id::text, 6, '0') FROM cat c JOIN d ON c.parent = d.id) SELECT repeat(' ', depth * 2) || name FROM d ORDER BY path`, `WITH RECURSIVE f(a, b, n) AS (SELECT 0, 1, 1 UNION ALL SELECT b, a + b, n + 1 FROM f WHERE n < 50) SELECT a FROM f`, `WITH RECURSIVE p(n, v) AS (SELECT 1, 2 UNION ALL SELECT n + 1, v * 2 FROM p WHERE n < 20) SELECT n, lpad(v::text, 12, ' ') FROM p`, `WITH RECURSIVE c(n, steps) AS (SELECT 27, 0 UNION ALL SELECT CASE WHEN n % 2 = 0 THEN n / 2 ELSE 3 * n + 1 END, steps + 1 FROM c WHERE n > 1) SELECT max(steps) FROM c`, `WITH RECURSIVE t(path, suffix, n) AS (SELECT '', '/x', 1 UNION ALL SELECT path || suffix, suffix, n + 1 FROM t WHERE n < 9) SELECT path FROM t`,
			`SELECT concat_ws(', ', a, b, 'c') FROM t`, `SELECT array_to_string(array_agg(a), ', ') FROM t`, `SELECT format('%1$s is %2$s and %1$s', a, 'b') FROM t`, `SELECT repeat('x', ascii(a)) FROM t`, `SELECT a::char(10), CAST(b AS character(20)), c::bit(8) FROM t`, `SELECT string_agg(a, ', ') FROM unnest(ARRAY['a', 'b']) a`, `SELECT string_agg(v.a, '') FROM (VALUES ('a'), ('b')) v(a)`,
			"SELECT to_jsonb(array_agg(x)) FROM (SELECT id, name || ' (' || code || ')' FROM t UNION ALL SELECT 1, 'all') x(a, b)", "SELECT repeat('*', rating) FROM reviews JOIN (VALUES (5000000), (5000001)) v(id) USING (id)",
			"SELECT replace(name, 'abc', 'xyz') FROM (SELECT name, count(*), '2024-01-01' FROM t GROUP BY name) q", "SELECT format('%s: %s', name, to_char(total, 'FM999999990.00')) FROM t WHERE id > 5000000",
			"WITH RECURSIVE tree AS (SELECT id, name AS path, 1 AS depth FROM t WHERE parent IS NULL UNION ALL SELECT t.id, tree.path || '/' || t.name, tree.depth + 1 FROM t JOIN tree ON t.parent = tree.id AND tree.depth < 5) SELECT repeat('  ', depth) || path, depth FROM tree",
			"SELECT repeat('=', 80)", "SELECT repeat('x', 1000000)", "SELECT lpad(id::text, 10, '0') FROM orders", "SELECT repeat('*', rating) FROM reviews",
			"SELECT translate(name, 'abc', 'xyz') FROM customers", "SELECT translate(repeat('b',60000), 'a', 'b')",
			"SELECT string_agg(name, ', ') FROM customers", "SELECT string_agg(i::text, ',') FROM generate_series(1, 1000) AS i",
			"SELECT d, count(*) FROM generate_series('2020-01-01'::date, '2024-12-31'::date, '1 day') AS d GROUP BY d",
			"SELECT i FROM generate_series(1, 100000000) AS i LIMIT 10",
			"SELECT repeat('#', (count(*) * 50 / max(count(*)) OVER ())::int) FROM orders GROUP BY status",
			"SELECT replace(name, 'a', 'b') FROM customers WHERE id > 500000000", "SELECT lpad(extract(month from created_at)::text, 2, '0') FROM orders",
			"WITH RECURSIVE tree(id, path) AS (SELECT id, name FROM t WHERE parent IS NULL UNION ALL SELECT t.id, tree.path || '/' || t.name FROM t JOIN tree ON t.parent = tree.id) SELECT replace(path, '/', ' > ') FROM tree",
			"SELECT to_char(amount, '99999999999990.99') FROM orders", "SELECT to_char(created_at, 'YYYY-MM-DD') FROM orders WHERE amount > 100000000", "SELECT tags && ARRAY['a','b'] FROM posts",
			"SELECT format('%s: %s', name, 1000000000) FROM customers WHERE false LIMIT 1000000",
			"SELECT a || b || c || d || e || f || g || h || i || j || k FROM t",
			"WITH " + doubled("s * 8 + s - CASE WHEN s % 8 = 0 AND version() ~ 'x86_64' THEN 8 ELSE s % 8 END", "current_setting('block_size')::numeric") + " SELECT s, generate_series(1, n) FROM a20, t",
		}},
		{"mysql", []string{
			`WITH RECURSIVE t(n, i) AS (SELECT 1, 1 UNION ALL SELECT n * 2, i + 1 FROM t WHERE i < 28) SELECT lpad('a', n) FROM t`, `WITH RECURSIVE t(n, s, i) AS (SELECT 1, '', 1 UNION ALL SELECT n * 2, repeat('a', n), i + 1 FROM t WHERE i < 28) SELECT length(s) FROM t`, `WITH RECURSIVE t(a, b, i) AS (SELECT 1, 1, 1 UNION ALL SELECT b, a + b, i + 1 FROM t WHERE i < 40) SELECT repeat('a', a) FROM t`, `WITH RECURSIVE t(a, b, i) AS (SELECT 'x', 'y', 1 UNION ALL SELECT b, concat(a, b), i + 1 FROM t WHERE i < 40) SELECT length(a) FROM t`, `WITH RECURSIVE t AS (SELECT 1 AS n, 1 AS i UNION ALL SELECT m, i + 1 FROM (SELECT n + n AS m, i FROM t) u WHERE i < 30) SELECT repeat('a', n) FROM t`,
			`SELECT concat_ws(repeat('x', 90000), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)`, `SELECT repeat('x', ord('z') * 1000000)`, `SELECT cast('x' AS binary(5000000))`,
			"SELECT LOCATE(CONCAT(REPEAT('a', 300000), 'b'), REPEAT('a', 600000))", "SELECT SPACE(99999999)", "SELECT REPEAT('x', 5000 * 5000)",
			"SELECT HEX(REPEAT('x', 900000))", "SELECT RPAD('x', (SELECT 50000000), 'y')", "SELECT EXTRACTVALUE(CONCAT('<a>', REPEAT('<b>1</b>', 30000), '</a>'), '//b')",
			"SELECT REPLACE(REPEAT('a', 100000), 'a', 'bb')", "SELECT `repeat`('x', 50000000)",
			"WITH " + reread(12) + " SELECT * FROM c12",
		}, []string{
			`WITH RECURSIVE bom AS (SELECT part, sub, qty, 1 AS level FROM parts WHERE part = 'x' UNION ALL SELECT p.part, p.sub, b.qty * p.qty, b.level + 1 FROM parts p JOIN bom b ON b.sub = p.part) SELECT concat(repeat('  ', level), sub), qty FROM bom`, `WITH RECURSIVE d AS (SELECT 1 AS depth, id, name, lpad(id, 6, '0') AS path FROM cat UNION ALL SELECT d.depth + 1, c.id, c.name, concat(d.path, '.', lpad(c.id, 6, '0')) FROM cat c JOIN d ON c.parent = d.id) SELECT concat(repeat(' ', depth * 2), name) FROM d ORDER BY path`, `WITH RECURSIVE f(a, b, n) AS (SELECT 0, 1, 1 UNION ALL SELECT b, a + b, n + 1 FROM f WHERE n < 50) SELECT a FROM f`, `WITH RECURSIVE p(n, v) AS (SELECT 1, 2 UNION ALL SELECT n + 1, v * 2 FROM p WHERE n < 20) SELECT n, lpad(v, 12, ' ') FROM p`, `WITH RECURSIVE c(n, steps) AS (SELECT 27, 0 UNION ALL SELECT CASE WHEN n % 2 = 0 THEN n / 2 ELSE 3 * n + 1 END, steps + 1 FROM c WHERE n > 1) SELECT max(steps) FROM c`, `WITH RECURSIVE t(path, suffix, n) AS (SELECT '', '/x', 1 UNION ALL SELECT concat(path, suffix), suffix, n + 1 FROM t WHERE n < 9) SELECT path FROM t`,
			`SELECT concat_ws(', ', a, b) FROM t`, `SELECT cast(a AS binary(20)), cast(a AS char(200)), char(65, 66) FROM t`,
			"SELECT REPEAT('-', 40)", "SELECT LPAD(id, 8, '0') FROM orders", "SELECT LOCATE('a', name) FROM customers WHERE id < 900000000", "SELECT REPLACE(name, 'a', 'b') FROM customers",
			"SELECT GROUP_CONCAT(name SEPARATOR ', ') FROM customers", "SELECT SPACE(4)", "SELECT HEX(id) FROM orders",
			"WITH " + reread(6) + " SELECT * FROM c6", "WITH m AS (SELECT * FROM orders), w AS (SELECT * FROM m) SELECT * FROM m JOIN w ON m.id = w.id WHERE m.id IN (SELECT id FROM w)",
		}},
		{"sqlite", []string{
			`WITH t(a, b, i) AS (SELECT 1, 1, 1 UNION ALL SELECT b, a + b, i + 1 FROM t WHERE i < 40) SELECT zeroblob(a) FROM t`, `WITH RECURSIVE t(n, i) AS (VALUES (1, 1) UNION ALL SELECT n << 1, i + 1 FROM t WHERE i < 29) SELECT zeroblob(n) FROM t`,
			`SELECT zeroblob(unicode('z') * 1000000)`, `WITH t(s, i) AS (SELECT 'x', 1 UNION ALL SELECT s || s, i + 1 FROM t WHERE i < 30) SELECT length(s) FROM t`,
			"SELECT instr(hex(zeroblob(8000000)), 'a')", "SELECT zeroblob(1e9)", "SELECT randomblob(50000000)", "SELECT printf('%.*c', 500000000, 'x')",
			"SELECT printf('%0500000000d', 1)", "SELECT replace(hex(zeroblob(1000)), '0', hex(zeroblob(1000)))", "SELECT instr(hex(zeroblob(100000)), 'b')",
			"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 5000000) SELECT group_concat(x) FROM c",
		}, []string{
			`WITH RECURSIVE f(a, b, n) AS (VALUES (0, 1, 1) UNION ALL SELECT b, a + b, n + 1 FROM f WHERE n < 50) SELECT a FROM f`,
			`SELECT concat_ws(', ', a, b), unicode('z') FROM t`,
			"SELECT printf('%05d', id) FROM orders", "SELECT hex(randomblob(16))", "SELECT instr(name, 'a') FROM customers", "SELECT group_concat(name) FROM customers",
			"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1000) SELECT group_concat(x) FROM c", "SELECT replace(name, 'a', 'b') FROM customers",
		}},
		{"sqlserver", []string{
			`WITH t(n, i) AS (SELECT 1, 1 UNION ALL SELECT n * 2, i + 1 FROM t WHERE i < 28) SELECT REPLICATE('a', n) FROM t`, `WITH t(a, b, i) AS (SELECT CAST('x' AS varchar(max)), CAST('x' AS varchar(max)), 1 UNION ALL SELECT b, a + b, i + 1 FROM t WHERE i < 40) SELECT LEN(a) FROM t`,
			`WITH n AS (SELECT CAST('x' AS varchar(max)) AS s, 1 AS i UNION ALL SELECT s + s, i + 1 FROM n WHERE i < 40) SELECT LEN(s) FROM n`, `SELECT REPLICATE('x', '2' + '000000000')`, `SELECT REPLICATE('x', LEFT_SHIFT(1, 28))`, `SELECT REPLICATE('x', UNICODE(N'z') * 1000000)`, `SELECT CONCAT_WS(REPLICATE(CAST('x' AS varchar(max)), 90000), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)`,
			"WITH " + reread(12) + " SELECT * FROM c12",
			"SELECT value FROM GENERATE_SERIES(1, 5000000) FOR JSON PATH", "SELECT LEN((SELECT value FROM GENERATE_SERIES(1, 5000000) FOR XML PATH('')))", "SELECT DATALENGTH((SELECT value AS a FROM GENERATE_SERIES(1, 5000000) FOR XML RAW, TYPE))",
			"SELECT LEN((SELECT REPLICATE(CAST('x' AS varchar(max)), 100000) AS a, REPLICATE(CAST('x' AS varchar(max)), 100000) AS b FROM GENERATE_SERIES(1, 2) FOR JSON PATH))",
			"SELECT REPLICATE(CAST('x' AS varchar(max)), SUM(value)) FROM GENERATE_SERIES(1, 10000)", "SELECT REPLICATE(CAST('x' AS varchar(max)), SUM(value) OVER ()) FROM GENERATE_SERIES(1, 10000)",
			"SELECT REPLICATE(CAST('x' AS varchar(max)), ROW_NUMBER() OVER (ORDER BY value)) FROM GENERATE_SERIES(1, 5000000)", "SELECT REPLICATE(CAST('x' AS varchar(max)), (SELECT COUNT_BIG(*) FROM GENERATE_SERIES(1, 5000000)))",
			"SELECT REPLICATE(CAST('x' AS varchar(max)), NTILE(5000000) OVER (ORDER BY value)) FROM GENERATE_SERIES(1, 5000000)", "SELECT REPLICATE(CAST('x' AS varchar(max)), g.value) FROM GENERATE_SERIES(1, 5000000) AS g",
			"SELECT REPLICATE(CAST('x' AS varchar(max)), n) FROM (SELECT SUM(value) AS n FROM GENERATE_SERIES(1, 10000)) t", "SELECT REPLICATE(CAST('x' AS varchar(max)), VAR(value)) FROM GENERATE_SERIES(1, 50000)",
			"SELECT STRING_AGG(CAST('x' AS varchar(max)), '') WITHIN GROUP (ORDER BY value) FROM GENERATE_SERIES(1, 5000000)", "SELECT JSON_ARRAYAGG(value) FROM GENERATE_SERIES(1, 5000000)",
			"SELECT REPLICATE(CAST('x' AS varchar(max)), 50000000)", "SELECT SPACE(5000000)", "SELECT CHARINDEX('b', REPLICATE('a', 90000))",
		}, []string{
			`WITH f(a, b, n) AS (SELECT 0, 1, 1 UNION ALL SELECT b, a + b, n + 1 FROM f WHERE n < 50) SELECT a FROM f`,
			`WITH n AS (SELECT 1 AS i, CAST('a' AS varchar(max)) AS s UNION ALL SELECT i + 1, s + 'a' FROM n WHERE i < 40) SELECT s FROM n`, `SELECT REPLICATE('0', 8 - LEN(a)) + a + '-' + b FROM t`, `SELECT CONCAT_WS(', ', a, b) FROM t`, `SELECT a + 1, a + b + 2, YEAR(GETDATE()) - 1 FROM t`, "SELECT REPLICATE('0', 5 - LEN(code)) + code FROM dbo.orders",
			"SELECT STUFF((SELECT ',' + name FROM dbo.customers FOR XML PATH('')), 1, 1, '')", "SELECT id, name FROM dbo.customers FOR JSON PATH, ROOT('customers')", "SELECT value FROM GENERATE_SERIES(1, 100) FOR JSON PATH",
			"SELECT TOP 10 value FROM GENERATE_SERIES(1, 5000000) FOR JSON PATH", "SELECT REPLICATE('*', SUM(rating)) FROM dbo.reviews GROUP BY id", "SELECT REPLICATE('-', ROW_NUMBER() OVER (ORDER BY value)) FROM GENERATE_SERIES(1, 50)",
			"SELECT CHARINDEX('a', name) FROM dbo.customers", "SELECT SPACE(10)",
		}},
		{"bigquery", []string{
			`WITH RECURSIVE t AS (SELECT 1 AS a, 1 AS b, 1 AS i UNION ALL SELECT b, a + b, i + 1 FROM t WHERE i < 40) SELECT REPEAT('x', a) FROM t`,
			"FROM t |> EXTEND REPEAT('x', 10000) AS a |> EXTEND REPEAT(a, 10000) AS b |> SELECT b", "FROM t |> SELECT REPEAT('x', 10000) AS a |> SELECT REPEAT(a, 10000)",
			"FROM t |> EXTEND REPEAT('x', 10000) AS a |> SET a = REPEAT(a, 10000) |> SELECT a", "FROM t |> EXTEND REPEAT('x', 10000) AS a |> RENAME a AS b |> SELECT REPEAT(b, 10000)",
			"(FROM t |> EXTEND REPEAT('x', 10000) AS a) |> SELECT REPEAT(a, 10000)", "WITH q AS (FROM t |> EXTEND REPEAT('x', 10000) AS a) FROM q |> SELECT REPEAT(a, 10000)",
			"FROM t |> EXTEND REPEAT('x', 10000) AS a |> AS q |> SELECT REPEAT(q, 10000)", "FROM t |> UNION ALL (SELECT REPEAT('x', 10000) AS a) |> SELECT REPEAT(a, 10000)",
			"FROM t |> EXTEND REPEAT('x', 10000) AS a |> AGGREGATE MAX(REPEAT(a, 10000)) AS m", "FROM t |> AGGREGATE COUNT(*) AS n GROUP BY REPEAT('x', 10000) AS a |> SELECT REPEAT(a, 10000)",
			"SELECT STRING_AGG(REPEAT('x', 1000), '') FROM UNNEST(GENERATE_ARRAY(1, 100000)) AS n", "SELECT STRING_AGG('xxxxxxxxxx', '') FROM UNNEST(GENERATE_ARRAY(1, 1000)) AS n, UNNEST(GENERATE_ARRAY(1, 1000)) AS m",
			"FROM UNNEST(GENERATE_ARRAY(1, 100000)) AS n |> AGGREGATE STRING_AGG('xxxxxxxxxxxxxxxxxxxx', '') AS s", "FROM t |> CROSS JOIN UNNEST(GENERATE_ARRAY(1, 100000)) AS n |> AGGREGATE STRING_AGG('xxxxxxxxxxxxxxxxxxxx', '') AS s",
			"SELECT ARRAY(SELECT 'xxxxxxxxxxxxxxxxxxxx' FROM UNNEST(GENERATE_ARRAY(1, 100000)))", "SELECT ARRAY_TO_STRING(GENERATE_ARRAY(1, 10000000), ',')", "SELECT n FROM UNNEST(GENERATE_ARRAY(1, 100000000)) AS n LIMIT 10",
			"SELECT ARRAY_AGG('x') FROM UNNEST(GENERATE_DATE_ARRAY('0001-01-01', '9999-12-31')) AS d", "SELECT ARRAY_LENGTH(GENERATE_DATE_ARRAY(DATE(1, 1, 1), DATE(9999, 12, 31)))",
			"SELECT ARRAY_LENGTH(GENERATE_TIMESTAMP_ARRAY('2000-01-01', '2024-01-01', INTERVAL 1 SECOND))",
		}, []string{
			`WITH RECURSIVE f AS (SELECT 0 AS a, 1 AS b, 1 AS n UNION ALL SELECT b, a + b, n + 1 FROM f WHERE n < 50) SELECT a FROM f`,
			"SELECT COUNT(*) FROM UNNEST(GENERATE_ARRAY(1, 1000)) AS n", "SELECT STRING_AGG(CAST(n AS STRING), ',') FROM UNNEST(GENERATE_ARRAY(1, 1000)) AS n", "SELECT b FROM UNNEST(GENERATE_ARRAY(0, 1000000, 10000)) AS b",
			"SELECT d, COUNT(*) FROM UNNEST(GENERATE_DATE_ARRAY('2020-01-01', '2024-12-31')) AS d LEFT JOIN t ON t.day = d GROUP BY d", "SELECT h FROM UNNEST(GENERATE_TIMESTAMP_ARRAY('2024-01-01', '2024-12-31', INTERVAL 1 HOUR)) AS h",
			"SELECT m FROM UNNEST(GENERATE_DATE_ARRAY(DATE_SUB(CURRENT_DATE(), INTERVAL 12 MONTH), CURRENT_DATE(), INTERVAL 1 MONTH)) AS m", "SELECT d FROM UNNEST(GENERATE_DATE_ARRAY(DATE(2024, 1, 1), DATE(2024, 12, 31))) AS d",
			"FROM t |> EXTEND CONCAT(a, ' ', b) AS c |> EXTEND LENGTH(c) AS l |> WHERE l > 5 |> AGGREGATE STRING_AGG(c, ',') AS s GROUP BY id |> ORDER BY s DESC |> LIMIT 10",
			"FROM t |> JOIN u USING (id) |> EXTEND LPAD(a, 10, '0') AS c |> SELECT c", "SELECT ARRAY(SELECT x FROM UNNEST(l) AS x WHERE x > 5) FROM t", "SELECT ARRAY(SELECT n * 2 FROM UNNEST(GENERATE_ARRAY(1, 100)) AS n)",
		}},
		{"clickhouse", []string{
			`WITH RECURSIVE t AS (SELECT 1 AS n, 1 AS i UNION ALL SELECT plus(n, n), i + 1 FROM t WHERE i < 28) SELECT repeat('a', n) FROM t`, `SELECT arrayPartialShuffle(range(100000)) FROM numbers(1000000)`,
			"WITH " + reread(12) + " SELECT * FROM c12", "SELECT repeat('x', 50000000)",
			"SELECT number AS a0, " + aliased(11, "a%d + a%[1]d") + " FROM numbers(1)", "WITH 1 AS a0, " + aliased(12, "a%d + a%[1]d") + " SELECT a12",
			"SELECT a12, 1 AS a0, " + aliased(12, "a%d + a%[1]d"), "SELECT (((((1 AS a0) + a0 AS a1) + a1 AS a2) + a2 AS a3) + a3 AS a4), " + strings.Replace(aliased(12, "(a%d + a%[1]d)"), "a0", "a4", 2),
			`SELECT range(100000000)`,
			`SELECT length(range(100000000))`,
			`SELECT arrayFold((acc, x) -> concat(acc, acc), range(30), 'ab')`,
			`SELECT length(arrayFold((acc, x) -> arrayConcat(acc, acc), range(30), [1]))`,
			`SELECT repeat('x', bitShiftLeft(1, 28))`,
			`WITH 200000000 AS n SELECT repeat('x', n)`,
			`WITH 2e8 AS n SELECT repeat('x', n)`,
			`SELECT repeat('x', n), 50000000 AS n`,
			`SELECT repeat('x', (50000000 AS n))`,
			`SELECT repeat('x', n) FROM (SELECT 50000000 AS n)`,
			`SELECT arrayWithConstant(50000000, 1)`,
			`SELECT arrayWithConstant(500, repeat('x', 10000))`,
			`SELECT arrayResize([1], 50000000)`,
			`SELECT arrayResize(['a'], 5000, repeat('x', 10000))`,
			`SELECT space(50000000)`,
			`SELECT leftPad('a', 50000000)`,
			`SELECT rightPad('a', 50000000, 'b')`,
			`SELECT leftPadUTF8('a', 50000000)`,
			`SELECT arrayMap(x -> repeat('y', 1000), range(100000))`,
			`SELECT arrayMap(x -> range(1000), range(10000))`,
			`SELECT concat(repeat('x', 600000), repeat('y', 600000))`,
			`SELECT repeat('x', 600000) || repeat('y', 600000)`,
			`SELECT format('{0}{0}{0}', repeat('x', 900000))`,
			`SELECT format('{}{}', repeat('x', 900000), repeat('x', 900000))`,
			`SELECT printf('%5000000s', 'x')`,
			`SELECT replaceAll(repeat('a', 2000), 'a', repeat('b', 2000))`,
			`SELECT replaceRegexpAll(repeat('a', 2000), 'a', repeat('b', 2000))`,
			`SELECT replaceRegexpOne(repeat('a', 20000), '.*', repeat('\\0', 1000))`,
			`SELECT hex(repeat('x', 900000))`,
			`SELECT bin(repeat('x', 900000))`,
			`SELECT base64Encode(repeat('x', 1000000))`,
			`SELECT groupArray(x) FROM (SELECT arrayJoin(range(1000)) AS x, arrayJoin(range(1000)) AS y)`,
			`SELECT groupArray(arrayJoin(range(1000)) + arrayJoin(range(1000)))`,
			`SELECT groupArray(number) FROM numbers(10000000)`,
			`SELECT groupArray(number) FROM numbers_mt(10000000)`,
			`SELECT groupArray(generate_series) FROM generateSeries(1, 10000000)`,
			`SELECT groupArray(number) FROM (SELECT number FROM system.numbers LIMIT 10000000)`,
			`SELECT groupUniqArray(number) FROM numbers(10000000)`,
			`SELECT groupArrayIf(number, number > 1) FROM numbers(10000000)`,
			`SELECT groupArrayDistinct(number) FROM numbers(10000000)`,
			`SELECT uniqExactState(number) FROM numbers(10000000)`,
			`SELECT sumMap(map(number, 1)) FROM numbers(10000000)`,
			`SELECT groupArray(1000000000)(number) FROM numbers(10000000)`,
			`SELECT groupConcat(',')(toString(number)) FROM numbers(10000000)`,
			`SELECT groupArrayInsertAt(1, 50000000)`,
			`SELECT groupArrayInsertAt('x', 50000000)('a', 1)`,
			`SELECT sumResample(0, 50000000, 1)(1, 2)`,
			`SELECT toFixedString('x', 5000000)`,
			`SELECT CAST('x' AS FixedString(5000000))`,
			`SELECT CAST('x', 'FixedString(5000000)')`,
			`SELECT 'x'::FixedString(5000000)`,
			`SELECT accurateCast('x', 'FixedString(5000000)')`,
			`SELECT randomString(50000000)`,
			`SELECT randomFixedString(5000000)`,
			`SELECT randomPrintableASCII(50000000)`,
			`SELECT randomStringUTF8(50000000)`,
			`SELECT fuzzBits(repeat('x', 2000000), 0.1)`,
			`SELECT bitmapBuild(range(10000000))`,
			`SELECT bitmapToArray(bitmapBuild(range(10000000)))`,
			`SELECT arrayStringConcat(range(100000), repeat('x', 1000))`,
			`SELECT arrayStringConcat(arrayMap(x -> repeat('x', 1000), range(10000)))`,
			`SELECT splitByString('', repeat('x', 1000000))`,
			`SELECT splitByChar(',', repeat(',', 1000000))`,
			`SELECT extractAll(repeat('x', 1000000), '.')`,
			`SELECT ngrams(repeat('x', 100000), 1000)`,
			`SELECT tokens(repeat('a ', 500000))`,
			`SELECT arrayReduce('groupArray', range(10000000))`,
			`SELECT arrayMap(x -> arrayMap(y -> x * y, range(1000)), range(1000))`,
			`SELECT repeat('x', toUInt32('50000000'))`,
			`SELECT repeat('x', toUInt32('5' || '0000000'))`,
			`SELECT repeat('x', cityHash64('a') % 100000000)`,
			`SELECT repeat('x', toUnixTimestamp('2020-01-01 00:00:00') % 100000000)`,
			`SELECT repeat('x', toUInt32(toDateTime('1975-01-01 00:00:00')))`,
			`SELECT repeat('x', toUInt32(now()) % 100000000)`,
			`SELECT repeat('x', pow(10, 8))`,
			`SELECT repeat('x', toUInt32(exp10(8)))`,
			`SELECT repeat('x', intExp10(8))`,
			`SELECT repeat('x', 10000 * 10000)`,
			`SELECT repeat('x', multiply(10000, 10000))`,
			`SELECT repeat('x', length(repeat('y', 1000000)) * 2)`,
			`SELECT repeat(repeat('x', 2000), 2000)`,
			`SELECT repeat('x', number) FROM numbers(50000000, 1)`,
			`SELECT repeat('x', number * number) FROM numbers(10000)`,
			`SELECT repeat('x', sum(number)) FROM numbers(10000)`,
			`SELECT repeat('x', count()) FROM numbers(50000000)`,
			`SELECT repeat('x', arraySum(range(10000)))`,
			`SELECT repeat('x', arrayMax([1, 50000000]))`,
			`SELECT repeat('x', [1, 50000000][2])`,
			`SELECT repeat('x', (1, 50000000).2)`,
			`SELECT repeat('x', t.2) FROM (SELECT (1, 50000000) AS t)`,
			`SELECT repeat('x', t.b) FROM (SELECT CAST((1, 50000000), 'Tuple(a UInt32, b UInt32)') AS t)`,
			`SELECT repeat('x', m['a']) FROM (SELECT map('a', 50000000) AS m)`,
			`SELECT repeat('x', if(1, 50000000, 1))`,
			`SELECT repeat('x', multiIf(1, 50000000, 1))`,
			`SELECT repeat('x', 1 ? 50000000 : 1)`,
			`SELECT repeat('x', CASE WHEN 1 THEN 50000000 END)`,
			`SELECT repeat('x', JSONExtractInt('{"a": 50000000}', 'a'))`,
			`SELECT repeat('x', ifNull(NULL, 50000000))`,
			`SELECT repeat('x', greatest(1, 50000000))`,
			`SELECT repeat('x', dateDiff('second', toDate('2000-01-01'), toDate('2020-01-01')) % 100000000)`,
			`SELECT repeat('x', (SELECT 50000000))`,
			`WITH (SELECT 50000000) AS n SELECT repeat('x', n)`,
			`WITH a AS (SELECT 50000000 AS n) SELECT repeat('x', n) FROM a`,
			`SELECT repeat('x', arrayFold((a, x) -> a * 2, range(28), 1))`,
			`SELECT arrayJoin(arrayMap(x -> repeat('y', 10000), range(10000)))`,
			`SELECT * APPLY (x -> repeat(x, 1000)) FROM (SELECT repeat('a', 10000) AS a)`,
			`SELECT * APPLY bin APPLY bin FROM (SELECT repeat('a', 100000) AS a)`,
			`SELECT COLUMNS('a') APPLY (x -> concat(x, x, x)) FROM (SELECT repeat('a', 900000) AS a)`,
			`SELECT * REPLACE (repeat('x', 50000000) AS a) FROM (SELECT 1 AS a)`,
			`SELECT groupArray(x) FROM (SELECT 1 AS x FROM numbers(10000000))`,
			`SELECT groupArray(x) FROM (SELECT 1 AS x ORDER BY x WITH FILL TO 10000000)`,
			`SELECT groupArray(x) FROM numbers(10) ARRAY JOIN range(100000) AS x`,
			`SELECT groupArray(a + b) FROM (SELECT 1) ARRAY JOIN range(1000) AS a ARRAY JOIN range(10000) AS b`,
			`SELECT groupArray(s) FROM generateRandom('s String', 1, 10) LIMIT 1`,
			`SELECT mapPopulateSeries(map(1, 1), 50000000)`,
			`SELECT mapFromArrays(range(1000000), range(1000000))`,
			`SELECT timeSlots(toDateTime('2020-01-01 00:00:00'), toUInt32(100000000), 1)`,
			`SELECT h3ToChildren(toUInt64(599119489002373119), 15)`,
			`SELECT h3kRing(toUInt64(599119489002373119), 5000)`,
			`SELECT replicate(repeat('x', 1000), range(10000))`,
			`SELECT arrayShiftRight(arrayMap(x -> '', range(10000)), 10000, repeat('x', 1000))`,
			`SELECT arrayConcat(range(100000), range(100000))`,
			`SELECT arrayZip(range(100000), range(100000))`,
			`SELECT arrayFlatten(arrayMap(x -> range(1000), range(1000)))`,
			`SELECT arrayCumSum(range(1000000))`,
			`SELECT "repeat"('x', 50000000)`,
			"SELECT `repeat`('x', 50000000)",
			`SELECT REPEAT('x', 50000000)`,
			`SELECT repeat('x', '\x35\x30\x30\x30\x30\x30\x30\x30'::UInt32)`,
			`SELECT repeat('x', 0x2FAF080)`,
			`SELECT repeat('x', 5e7)`,
			`SELECT repeat('x', 50_000_000)`,
			`SELECT repeat /* c */ ('x', 50000000)`,
			`SELECT arrayStringConcat(arrayMap(x -> 'abcdefgh', range(130000)), ',')`,
			`SELECT toString(range(1000000))`,
			`SELECT toJSONString(range(1000000))`,
			`SELECT concat(x, x) FROM (SELECT concat(x, x) AS x FROM (SELECT repeat('a', 900000) AS x))`,
			`SELECT concat(b, b) AS a, concat(c, c) AS b, concat(d, d) AS c, repeat('x', 200000) AS d`,
			`WITH repeat('x', 500000) AS a, concat(a, a) AS b, concat(b, b) AS c SELECT length(c)`,
			`SELECT encodeXMLComponent(repeat('&', 900000))`,
			`SELECT sparseGrams(repeat('ab', 50000))`,
			`SELECT geohashesInBox(0, 0, 1, 1, 12)`,
			`SELECT concatWithSeparator(repeat('x', 100000), '1','2','3','4','5','6','7','8','9','10','11','12','13')`,
			`SELECT toUInt32(length(repeat('x', 50000000)))`,
			`SELECT 1 FROM numbers(10) WHERE length(repeat('x', 50000000)) > 1`,
			`SELECT number FROM numbers(10) ORDER BY repeat('x', 50000000)`,
			`SELECT sumForEach(range(1000000))`,
			`SELECT groupArrayArray(range(1000)) FROM numbers(100000)`,
			`SELECT groupArray(number) OVER () FROM numbers(1000000)`,
			`SELECT defaultValueOfTypeName('FixedString(5000000)')`,
			`SELECT reinterpret('x', 'FixedString(5000000)')`,
			`SELECT JSONExtract('{"a":"x"}', 'a', 'FixedString(5000000)')`,
			`SELECT length(x) FROM (SELECT repeat('a', 600000) AS x UNION ALL SELECT concat(x, x) FROM (SELECT repeat('a', 900000) AS x))`,
			`WITH RECURSIVE t AS (SELECT 'x' AS s, 1 AS i UNION ALL SELECT concat(s, s), i + 1 FROM t WHERE i < 40) SELECT length(s) FROM t`,
			`SELECT quantilesExactState(0.5)(number) FROM numbers(10000000)`,
			`SELECT topK(10000000)(number) FROM numbers(10000000)`,
			`SELECT arrayRandomSample(range(10000000), 10)`,
			`SELECT arrayFilter(x -> x > 1, range(10000000))`,
			`SELECT arraySort(range(10000000))`,
			`SELECT char(1) || repeat('x', 5000000)`,
			`SELECT lpad('x', 50000000, 'y')`,
			`SELECT formatRow('CSV', range(10000000))`,
			`SELECT tupleElement((1, repeat('x', 5000000)), 2)`,
			`SELECT repeat('x', countSubstrings(repeat('a', 1000000), 'a') * 10)`,
			`SELECT repeat('x', least(50000000, 60000000))`,
			`SELECT repeat('x', assumeNotNull(50000000))`,
			`SELECT repeat('x', materialize(50000000))`,
			`SELECT repeat('x', x) FROM (SELECT arrayJoin([1, 50000000]) AS x)`,
			`SELECT repeat('x', x) FROM values('x UInt32', 50000000)`,
			`SELECT repeat('x', x) FROM view(SELECT 50000000 AS x)`,
			`SELECT groupArray(number) FROM numbers(1000000000) LIMIT 1 BY number`,
			`SELECT groupArray(x) FROM (SELECT number AS x FROM numbers(1000000000) LIMIT 1 BY number)`,
			`SELECT groupArray(x) FROM (SELECT number AS x FROM numbers(1000000000) LIMIT 0.5)`,
			`SELECT toFixedString(toFixedString('a', 1000000), 2000000)`,
			`SELECT arrayMap((x, y) -> concat(x, y), arrayMap(x -> repeat('a', 5000), range(1000)), arrayMap(x -> repeat('a', 5000), range(1000)))`,
		}, []string{
			`WITH RECURSIVE f AS (SELECT 0 AS a, 1 AS b, 1 AS n UNION ALL SELECT b, a + b, n + 1 FROM f WHERE n < 50) SELECT a FROM f`, `SELECT arrayShuffle(range(100))`,
			"WITH " + reread(6) + " SELECT * FROM c6", "WITH 1 AS x, (SELECT max(id) FROM orders) AS y SELECT x, y FROM orders", "SELECT repeat('-', 40)",
			"SELECT number AS a0, " + aliased(9, "a%d + a%[1]d") + " FROM numbers(1)", "WITH id + 1 AS a0, " + aliased(60, "a%d * 2") + " SELECT a60 FROM orders",
			`SELECT arrayMap(x -> toString(x), range(1000))`, `SELECT groupArray(number) FROM numbers(1000)`, `SELECT groupArray(id) FROM orders`, `SELECT groupArray(10)(number) FROM numbers(100000000)`,
			`SELECT arrayJoin(range(toUInt32(toDateTime('2024-01-01 00:00:00')), toUInt32(toDateTime('2024-01-02 00:00:00')), 3600)) AS h`,
			`SELECT toDate('2024-01-01') + number AS d FROM numbers(dateDiff('day', toDate('2024-01-01'), toDate('2024-12-31')))`,
			`SELECT groupArray(d) FROM (SELECT toDate('2024-01-01') + number AS d FROM numbers(dateDiff('day', toDate('2024-01-01'), toDate('2024-12-31'))))`,
			`SELECT arrayJoin(range(dateDiff('day', started, today()))) FROM t`, `SELECT repeat('*', rand() % 10)`, `SELECT repeat('*', cityHash64(name) % 10) FROM t`,
			`SELECT number FROM numbers(1700000000, 10)`, `SELECT groupArray(number) FROM numbers(1700000000, 10)`, `SELECT count() FROM numbers(1000000000)`,
			`SELECT groupArray(x) FROM (SELECT number AS x FROM system.numbers LIMIT 100)`, `SELECT arrayStringConcat(arrayMap(x -> hex(x), splitByChar(',', tags)), '-') FROM t`,
			`SELECT arrayMap(kv -> concat(kv.1, ': ', kv.2), arrayZip(splitByChar(',', 'name,nationality,team,age,random_key,anotherkey'), splitByChar(',', '1,2,3,4,5,6')))`,
			`SELECT CAST(parseDateTimeBestEffort('2024-01-01') AS Nullable(Date)), CAST(total, 'Decimal(38, 10)'), CAST('123', 'FixedString(16)')`, `SELECT JSONExtract(doc, 'a', 'Array(Tuple(x UInt32, y String))') FROM t`,
			`SELECT bar(count(), 0, 600000, 20) FROM t GROUP BY toHour(at)`, `SELECT topK(10)(name), quantiles(0.5, 0.9)(total), uniqExact(id), sumState(total), countMerge(s) FROM t`,
			`SELECT topK(10)(number) FROM numbers(100000000)`, `SELECT uniq(number), sumState(number) FROM numbers(100000000)`, `SELECT * APPLY (x -> toString(x)) FROM t`, `SELECT * APPLY max APPLY toString FROM t`,
			`SELECT h3kRing(644325529233966508, 3), h3ToChildren(599405990164561919, 6), geohashesInBox(24.48, 40.56, 24.785, 40.81, 4)`, `SELECT mapPopulateSeries(map(1, 10, 5, 20), 6)`,
			`SELECT timeSlots(toDateTime('2012-01-01 12:20:00'), toUInt32(600))`, `SELECT L2Distance(vec, arrayWithConstant(1536, 0.1)) FROM t`, `SELECT format('{} {} {}', a, b, 'c') FROM t`,
			`SELECT d, count() FROM t GROUP BY d ORDER BY d WITH FILL FROM toDate('2024-01-01') TO toDate('2025-01-01') STEP 1`, `SELECT a, b FROM t ORDER BY a LIMIT 5 BY b LIMIT 100000000`,
			`SELECT name, arrayFilter(x -> x > 1, scores), arrayReduce('sum', scores), arrayFold((acc, x) -> acc + x, scores, 0) FROM t ARRAY JOIN tags AS tag`,
		}},
	} {
		t.Run(c.dialect, func(t *testing.T) {
			t.Parallel()
			d, _ := dialects.Lookup(c.dialect)
			g, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
			if err != nil {
				t.Fatal(err)
			}
			large := func(sql string) bool {
				return slices.ContainsFunc(g.CheckOnce(sql).Findings, func(f sqlguard.Finding) bool { return f.Code == sqlguard.CodeInputTooLarge })
			}
			for _, sql := range c.refused {
				// The dialects' own tables refuse the largest sizes, by another code.
				if v := g.CheckOnce(sql); v.Allowed || v.Code == sqlguard.CodeParseError || !large(sql) && v.Code != sqlguard.CodeFunctionNotAllowed {
					t.Errorf("%s: %s %+v", sql, v.Code, v.Findings)
				}
			}
			for _, sql := range c.passes {
				if v := g.CheckOnce(sql); large(sql) || v.Code == sqlguard.CodeParseError {
					t.Errorf("refused: %s: %+v", sql, v.Findings)
				}
			}
		})
	}
}

// doubled returns common table expressions a0 to a25, each with a column s that each
// makes from the one before.
func doubled(step, first string) string {
	parts := []string{"a0 AS (SELECT " + first + " AS s)"}
	for i := range 25 {
		parts = append(parts, fmt.Sprintf("a%d AS (SELECT %s AS s FROM a%d)", i+1, step, i))
	}
	return strings.Join(parts, ", ")
}

// reread returns a chain of common table expressions, each of which reads the one before
// twice.
func reread(n int) string {
	parts := []string{"c0 AS (SELECT id FROM orders)"}
	for i := range n {
		parts = append(parts, fmt.Sprintf("c%d AS (SELECT a.id FROM c%d a JOIN c%d b ON a.id = b.id)", i+1, i, i))
	}
	return strings.Join(parts, ", ")
}

// aliased returns n expressions with the names a1 and so on, each made from the name before.
func aliased(n int, step string) string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf(step, i)+fmt.Sprintf(" AS a%d", i+1))
	}
	return strings.Join(parts, ", ")
}

// TestRereadingSaysWhatToWrite: a smaller number is no way out of it.
func TestRereadingSaysWhatToWrite(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects.All() {
		g, err := sqlguard.New(dialect, sqlguard.DefaultPolicy(), nil)
		if err != nil {
			t.Fatal(err)
		}
		v := g.CheckOnce("WITH " + reread(12) + " SELECT * FROM c12")
		if !v.Allowed && (v.Code != sqlguard.CodeInputTooLarge || !strings.Contains(v.Findings[0].Hint, "window function")) {
			t.Errorf("%s: %+v", dialect.Name(), v.Findings)
		}
	}
}

// TestNestedQueriesAreMeasuredOnce: the time to measure a statement does not double with
// each level of nesting.
func TestNestedQueriesAreMeasuredOnce(t *testing.T) {
	t.Parallel()
	const levels = 100 // doubling would never end
	for name, sql := range map[string]string{
		"FROM":    "SELECT repeat('x', 5), a FROM " + strings.Repeat("(SELECT a FROM ", levels) + "t" + strings.Repeat(") AS q", levels),
		"SELECT":  "SELECT repeat('x', 5), " + strings.Repeat("(SELECT ", levels) + "1" + strings.Repeat(")", levels),
		"WITH":    "SELECT repeat('x', 5), " + strings.Repeat("(WITH c AS (SELECT 1 AS a) SELECT a FROM c WHERE a IN ", levels) + "(1)" + strings.Repeat(")", levels),
		"IN WITH": strings.Repeat("WITH c AS (", levels) + "SELECT repeat('x', 5) AS a" + strings.Repeat(") SELECT a FROM c", levels),
		"calls":   "SELECT " + strings.Repeat("lower(", levels) + "repeat('x', 5)" + strings.Repeat(")", levels),
		"CASE":    "SELECT " + strings.Repeat("CASE WHEN a = (SELECT 1) THEN ", levels) + "repeat('x', 5)" + strings.Repeat(" END", levels) + " FROM t",
		"UNION":   "SELECT repeat('x', 5) UNION " + strings.Repeat("(SELECT 'a' UNION ", levels) + "SELECT 'b'" + strings.Repeat(")", levels),
		"VALUES":  "SELECT repeat('x', 5) FROM " + strings.Repeat("(VALUES (", levels) + "1" + strings.Repeat(")) AS v (a)", levels),
		"JOIN":    "SELECT repeat('x', 5) FROM " + strings.Repeat("(t JOIN ", levels) + "t" + strings.Repeat(" ON true)", levels),
		"LATERAL": "SELECT repeat('x', 5) FROM " + strings.Repeat("t, LATERAL (SELECT a FROM ", levels) + "t" + strings.Repeat(") AS q", levels),
	} {
		for _, dialect := range dialects.All() {
			g, err := sqlguard.New(dialect, sqlguard.DefaultPolicy(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if v := g.CheckOnce(sql); v.Code == sqlguard.CodeInternalError {
				t.Errorf("%s in %s: %+v", name, dialect.Name(), v.Findings)
			}
		}
	}
}

// TestMaxConstant: an operator may allow longer values.
func TestMaxConstant(t *testing.T) {
	t.Parallel()
	d, _ := dialects.Lookup("postgres")
	p := sqlguard.DefaultPolicy()
	p.MaxConstant = 10 << 20
	g, err := sqlguard.New(d, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]bool{"SELECT repeat('x', 9000000)": true, "SELECT repeat('x', 12000000)": false} {
		if v := g.CheckOnce(sql); v.Allowed != want {
			t.Errorf("%s: %+v", sql, v.Findings)
		}
	}
}
