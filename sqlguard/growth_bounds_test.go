package sqlguard_test

import (
	"testing"

	"github.com/ktxhq/ktx/sqlguard"
)

// TestBounds: what a statement makes from constants is bounded by how the values pass through
// joins, *, whole rows, lists and recursive queries. Those that are refused can make more than
// the limit, as some of them were seen to do on PostgreSQL 15.18; those that pass are the
// harmless forms of the same.
func TestBounds(t *testing.T) {
	t.Parallel()
	const long = "(SELECT repeat('x', 500000) AS v)"
	for _, c := range []struct {
		dialect, sql string
		allowed      bool
	}{
		// The first place of an array can be any number.
		{"postgres", "SELECT length(repeat('x', array_upper('[300000000:300000000]={1}'::int[], 1)))", false},
		{"postgres", "SELECT length(repeat('x', array_upper(array_fill(1, ARRAY[1], ARRAY[300000000]), 1)))", false},
		{"postgres", "SELECT length(repeat('x', array_position('[300000000:300000000]={1}'::int[], 1)))", false},
		{"postgres", "SELECT length(repeat('x', array_upper('{1,2}'::int[], 1)))", true},
		{"postgres", "SELECT length(repeat('x', array_position(ARRAY['a', 'b'], name))) FROM orders", true},
		// A condition of a join is no relation.
		{"postgres", "SELECT repeat(' .', depth) FROM (SELECT 1 AS depth FROM a JOIN b ON a.x = any (b.xs) AND right(b.y, 3) = md5(a.y)) q", true},
		{"postgres", "SELECT 1 FROM a JOIN b ON length(lpad('x', 3000000)) > 0", false},
		{"postgres", "SELECT 1 FROM a JOIN b ON left(a.x, 3) = b.x LEFT JOIN generate_series(1, 3000000) AS g(n) ON true WHERE length(lpad('x', n)) > 0", false},
		// * stands for the columns of FROM, also behind UNION, and t.* can be one value.
		{"postgres", "SELECT repeat('x', z.n) FROM (SELECT *, 5 AS n FROM a) z, (SELECT 3000000 AS k) y", true},
		{"postgres", "SELECT length(z.v || z.v || z.v) FROM (SELECT * FROM " + long + " q) z", false},
		{"postgres", "SELECT length(z.v || z.v || z.v) FROM (SELECT * FROM (a CROSS JOIN " + long + " u)) z", false},
		{"postgres", "WITH c AS " + long + " SELECT length(z.v || z.v || z.v) FROM (SELECT k.* FROM a CROSS JOIN c AS k) z", false},
		{"postgres", "SELECT length(v || v || v) FROM (SELECT 1 AS i, 'a' AS v UNION ALL SELECT * FROM (SELECT 1 AS a, repeat('x', 1000000) AS b) q) z", false},
		{"postgres", "SELECT length(w || w || w) FROM (SELECT *, 'a' AS z FROM (SELECT 1 AS a, 'b' AS w, 1 AS u) q UNION ALL SELECT 1, repeat('x', 500000), 1, 'b') s", false},
		{"postgres", "SELECT length((q.*)::text || (q.*)::text || (q.*)::text) FROM " + long + " q", false},
		{"postgres", "SELECT length(row_to_json(z)::text) FROM (SELECT * FROM " + long + " q, (SELECT repeat('x', 500000) AS w) r, (SELECT repeat('x', 500000) AS u) s) z", false},
		// A column of a table of the database is data, unless the name stands for something else too.
		{"postgres", "SELECT repeat('*', o.n) FROM orders o, (SELECT 3000000 AS n) q", true},
		{"postgres", "SELECT (SELECT length(x.v || x.v || x.v) FROM " + long + " x) FROM orders x", false},
		{"postgres", "SELECT repeat('x', y.n) FROM orders y, (SELECT 1 FROM unnest(ARRAY[3000000]) WITH ORDINALITY AS y(n, o) WHERE length(repeat('x', y.n)) > 0) q", false},
		{"mysql", "SELECT LENGTH(LPAD('x', s.seq)) FROM seq_1_to_3000000 AS s", false},
		{"sqlite", "SELECT (SELECT length(x.v || x.v || x.v) FROM (SELECT printf('%500000d', 1) AS v) AS 'x') FROM orders x", false},
		// A text of elements has others than the list.
		{"postgres", "SELECT length(string_agg(repeat('x', 2000), '')) FROM unnest(string_to_array(array_to_string(ARRAY[repeat('a,', 1000)], ''), ',')) u", false},
		{"postgres", "SELECT length(string_agg(repeat('x', 2000), '')) FROM unnest(('{' || (ARRAY[repeat('a,', 1000)])[1] || 'a}')::text[]) u", false},
		{"postgres", "SELECT length(string_agg(repeat('x', 2000), '')) FROM unnest((SELECT array_agg('{1,2,3,4,5,6,7,8,9,10}'::int[]) FROM generate_series(1, 100))) u", false},
		{"postgres", "SELECT array_to_string(array_agg(e::text), ', ') FROM unnest((SELECT array_agg(o.name::text ORDER BY length(lpad(o.name, 2000))) FROM orders o)) AS u(e)", true},
		{"mysql", "SELECT LENGTH(GROUP_CONCAT('x' ORDER BY 1 SEPARATOR '" + "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy" + "')) FROM seq_1_to_20000", false},
		// What says which rows there are is no part of a value.
		{"sqlserver", "SELECT REPLICATE('|', CONVERT(decimal(30, 2), SUM(size) * 100)) FROM files", true},
		{"sqlserver", "SELECT LEN(REPLICATE('|', CONVERT(decimal(30, 2), '3000000')))", false},
		// A number to which each step adds something, and the rows of a value.
		{"postgres", "WITH RECURSIVE t(v, n) AS (SELECT 'x', 1 UNION ALL SELECT lpad('y', n), n + 1 FROM t WHERE n < 100) SELECT max(length(v)) FROM t", true},
		{"postgres", "WITH RECURSIVE t(v, n) AS (SELECT 'x', 1 UNION ALL SELECT lpad('y', n), n + 1000000 FROM t WHERE n < 100000000) SELECT max(length(v)) FROM t", false},
		{"postgres", "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1000000 FROM t WHERE n < 10000 * 10000) SELECT max(length(lpad('x', n))) FROM t", false},
		{"postgres", "WITH RECURSIVE t(v, i) AS (SELECT 'x', 1 UNION ALL SELECT lpad('y', (SELECT count(*)::int * 2 FROM regexp_split_to_table(v, ''))), i + 1 FROM t WHERE i < 24) SELECT max(length(v)) FROM t", false},
		{"postgres", "WITH RECURSIVE t(v, i) AS (SELECT 'x', 1 UNION ALL SELECT (SELECT string_agg('yy', '') FROM (SELECT regexp_split_to_table(v, '')) q), i + 1 FROM t WHERE i < 24) SELECT max(length(v)) FROM t", false},
		{"postgres", "WITH RECURSIVE t(v, i) AS (SELECT 'x', 1 UNION ALL SELECT DISTINCT string_agg('yy', '') OVER (), i + 1 FROM t, regexp_split_to_table(v, '') w WHERE i < 24) SELECT max(length(v)) FROM t", false},
	} {
		v := checkOnce(t, c.dialect, c.sql)
		large := false
		for _, f := range v.Findings {
			large = large || f.Code == sqlguard.CodeInputTooLarge
		}
		if v.Allowed != c.allowed || !c.allowed && !large {
			t.Errorf("%s\nallowed %v: %+v", c.sql, v.Allowed, v.Findings)
		}
	}
}
