package sqlguard_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestRecursionThatGrows: the first rows of a recursive query are no step, and a query under
// WITH RECURSIVE that reads neither itself nor a later one is not recursive. What a step makes
// longer by a factor is refused, also where two queries read each other.
func TestRecursionThatGrows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dialect, sql string
		allowed      bool
	}{
		{"postgres", "WITH RECURSIVE t AS (SELECT x.a, array_agg(x.b) AS names, 1 AS i FROM x GROUP BY x.a UNION ALL SELECT t.a, names, i + 1 FROM t WHERE i < 30) SELECT * FROM t", true},
		{"postgres", "WITH RECURSIVE t AS (SELECT x.a AS b, array_agg(x.b) AS names, 1 AS i FROM x GROUP BY x.a UNION ALL SELECT b, names, i + 1 FROM t WHERE i < 30) SELECT * FROM t", true},
		{"postgres", "WITH RECURSIVE t AS (SELECT 1 AS pid, array_agg(x.a) OVER () AS p, 0 AS i FROM x UNION ALL SELECT w.id, p || array_agg(w.id) OVER (), i + 1 FROM t JOIN waits w ON t.pid = w.of) SELECT * FROM t", true},
		{"postgres", "WITH RECURSIVE waits AS (SELECT 20000 AS id), t AS (SELECT 1 AS pid, 'x' AS path UNION ALL SELECT w.id, path || '/' || w.id FROM t JOIN waits w ON t.pid = w.id) SELECT * FROM t", true},
		{"postgres", "WITH RECURSIVE big AS (SELECT 200000 AS n FROM x), t AS (SELECT array_agg(big.n) FROM big) SELECT * FROM t", true},

		{"postgres", "WITH RECURSIVE t(id, path) AS (SELECT id, name FROM c UNION ALL SELECT c.id, t.path || '/' || c.name AS path FROM c JOIN t ON c.parent = t.id) SELECT * FROM t", true},
		{"postgres", "WITH RECURSIVE t AS (SELECT id, name AS path FROM c UNION ALL SELECT c.id, t.path || '/' || c.name AS path FROM c JOIN t ON c.parent = t.id) SELECT * FROM t", true},
		{"postgres", "WITH RECURSIVE t(id, path) AS (SELECT id, name FROM c UNION ALL SELECT c.id, t.path || '/' || c.name path FROM c JOIN t ON c.parent = t.id) SELECT * FROM t", true},
		{"postgres", "WITH RECURSIVE t(id, path) AS (SELECT id, ARRAY[id] FROM c UNION ALL SELECT c.id, array_append(path, c.id) AS path FROM c JOIN t ON c.parent = t.id) SELECT * FROM t", true},
		{"duckdb", "WITH RECURSIVE t(id, path) AS (SELECT id, [id] FROM c UNION ALL SELECT c.id, array_append(path, c.id) AS path FROM c JOIN t ON c.parent = t.id) SELECT * FROM t", true},
		{"mysql", "WITH RECURSIVE t AS (SELECT id, name AS path FROM c UNION ALL SELECT c.id, CONCAT(t.path, '/', c.name) AS path FROM c JOIN t ON c.parent = t.id) SELECT * FROM t", true},
		{"sqlserver", "WITH t AS (SELECT id, name AS path FROM c UNION ALL SELECT c.id, t.path + '/' + c.name AS path FROM c JOIN t ON c.parent = t.id) SELECT * FROM t", true},

		{"postgres", "WITH RECURSIVE t(v, i) AS (SELECT 'x', 1 UNION ALL SELECT v || v AS v, i + 1 FROM t WHERE i < 40) SELECT length(v) FROM t", false},
		{"postgres", "WITH RECURSIVE t(v, i) AS (SELECT 'x', 1 UNION ALL SELECT concat(v, 'y', v) v, i + 1 FROM t WHERE i < 40) SELECT length(v) FROM t", false},
		{"postgres", "WITH RECURSIVE t(v, w, i) AS (SELECT 'x', 'y', 1 UNION ALL SELECT v || w AS v, v AS w, i + 1 FROM t WHERE i < 40) SELECT length(v) FROM t", false},
		{"postgres", "WITH RECURSIVE t(v, i) AS (SELECT 'x', 1 UNION ALL SELECT v OPERATOR(pg_catalog.||) v, i + 1 FROM t WHERE i < 40) SELECT length(v) FROM t", false},
		{"postgres", "WITH RECURSIVE t(id, path) AS (SELECT id, name FROM c UNION ALL SELECT c.id, concat(t.path, c.name) path FROM c JOIN t ON c.parent = t.id) SELECT * FROM t", true},
		{"duckdb", "WITH RECURSIVE t(v, i) AS (SELECT 'x', 1 UNION ALL SELECT v || v AS v, i + 1 FROM t WHERE i < 40) SELECT length(v) FROM t", false},
		{"duckdb", "WITH RECURSIVE t(v, i) AS (SELECT 'x', 1 UNION ALL SELECT v || 'y' AS w, w || w AS v, i + 1 FROM t WHERE i < 40) SELECT length(v) FROM t", false},
		{"mysql", "WITH RECURSIVE t AS (SELECT 'x' AS v, 1 AS i UNION ALL SELECT CONCAT(v, v) AS v, i + 1 FROM t WHERE i < 40) SELECT LENGTH(v) FROM t", false},
		{"sqlserver", "WITH t AS (SELECT CAST('x' AS varchar(max)) AS v, 1 AS i UNION ALL SELECT v + v AS v, i + 1 FROM t WHERE i < 40) SELECT LEN(v) FROM t", false},
		{"postgres", "WITH RECURSIVE t(v, i) AS (SELECT 'x', 1 UNION ALL SELECT v || v, i + 1 FROM t WHERE i < 40) SELECT length(v) FROM t", false},
		{"postgres", "WITH RECURSIVE t(v, i) AS (SELECT 'x', 1 UNION ALL SELECT string_agg(t.v, '') OVER (), i + 1 FROM t, (VALUES (1), (2)) AS two WHERE i < 40) SELECT length(v) FROM t", false},
		{"postgres", "WITH RECURSIVE t(v, i) AS (SELECT 'x', 1 UNION ALL SELECT v || string_agg(w.q, '') OVER (), i + 1 FROM t, LATERAL (VALUES (v), (v)) AS w(q) WHERE i < 40) SELECT length(v) FROM t", false},
		{"postgres", "WITH RECURSIVE t(v, i) AS (SELECT 'x', 1 UNION ALL (WITH c AS (SELECT v AS q, i FROM t) SELECT c.q || c.q, i + 1 FROM c WHERE i < 40)) SELECT length(v) FROM t", false},
		{"postgres", "WITH RECURSIVE t(v, i) AS (SELECT 'x', 1 UNION ALL (WITH c AS (SELECT v, i FROM t) SELECT v || string_agg(c.v, '') OVER (), i + 1 FROM c WHERE i < 40)) SELECT length(v) FROM t", false},
		{"postgres", "WITH RECURSIVE t(v, i) AS (SELECT 'x', 1 UNION ALL SELECT v || v, i + 1 FROM U&\"!0074\" UESCAPE '!' WHERE i < 40) SELECT length(v) FROM t", false},
		{"postgres", "WITH RECURSIVE t(v, i) AS ((SELECT 'x', 1 UNION ALL SELECT v || v, i + 1 FROM t WHERE i < 40)) SELECT length(v) FROM t", false},
		{"mysql", "WITH RECURSIVE a AS (SELECT 'x' AS v, 1 AS i UNION ALL SELECT v, i + 1 FROM b WHERE i < 40), b AS (SELECT CONCAT(v, v) AS v, i FROM a) SELECT LENGTH(v) FROM a", false},
		{"mysql", "WITH RECURSIVE b AS (SELECT CONCAT(v, v) AS v, i FROM a), a AS (SELECT 'x' AS v, 1 AS i UNION ALL SELECT v, i + 1 FROM b WHERE i < 40) SELECT LENGTH(v) FROM a", false},
	} {
		if v := checkOnce(t, c.dialect, c.sql); v.Allowed != c.allowed {
			t.Errorf("%s\nallowed %v: %+v", c.sql, v.Allowed, v.Findings)
		}
	}
}

// checkOnce judges a statement under the default policy.
func checkOnce(t *testing.T, dialect, sql string) sqlguard.Verdict {
	t.Helper()
	d, ok := dialects.Lookup(dialect)
	if !ok {
		t.Fatal(dialect)
	}
	g, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return g.CheckOnce(sql)
}

// TestTrustWithoutCatalog: without a catalogue the types of arguments are not known. A call with
// another number of arguments is of another function.
func TestTrustWithoutCatalog(t *testing.T) {
	t.Parallel()
	d, _ := dialects.Lookup("postgres")
	p := sqlguard.DefaultPolicy()
	p.Trusted = []string{"public.plus(integer, text)", "public.nothing()"}
	g, err := sqlguard.New(d, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for sql, allowed := range map[string]bool{
		"SELECT plus(1, 'a')":                  true,
		"SELECT public.plus(1, 'a')":           true,
		"SELECT nothing()":                     true,
		"SELECT plus(1)":                       false,
		"SELECT plus(1, 'a', 2)":               false,
		"SELECT nothing(1)":                    false,
		"SELECT plus(VARIADIC ARRAY[1, 2])":    false,
		"SELECT other.plus(1, 'a')":            false,
		"SELECT * FROM public.plus(1) AS p":    false,
		"SELECT plus(*) FROM orders":           false,
		"SELECT plus(1, VARIADIC ARRAY[2])":    false,
		"SELECT plus(DISTINCT id) FROM orders": false,
	} {
		if v := g.CheckOnce(sql); v.Allowed != allowed {
			t.Errorf("%s: allowed %v: %+v", sql, v.Allowed, v.Findings)
		}
	}
}

// TestStepsOfOthers: a call whose arguments are columns of other relations, each with the name
// of its relation, makes nothing of the text of the step before.
func TestStepsOfOthers(t *testing.T) {
	t.Parallel()
	const begin = "WITH RECURSIVE r (id, path) AS (SELECT id, name FROM t WHERE parent IS NULL UNION ALL SELECT t.id, "
	for _, c := range []struct {
		dialect, step string
		allowed       bool
	}{
		{"postgres", "r.path || '/' || regexp_replace(t.name, '[^a-z]', '', 'g') FROM t JOIN r ON t.parent = r.id", true},
		{"postgres", "r.path || repeat(t.name, 2) FROM t JOIN r ON t.parent = r.id", true},
		{"mysql", "CONCAT(r.path, '/', REPLACE(t.name, ' ', '-')) FROM t JOIN r ON t.parent = r.id", true},
		{"sqlite", "r.path || '/' || replace(t.name, ' ', '-') FROM t JOIN r ON t.parent = r.id", true},
		{"postgres", "regexp_replace(t.name, '.', r.path, 'g') FROM t JOIN r ON t.parent = r.id", false},
		{"postgres", "regexp_replace(path, '.', path, 'g') FROM t JOIN r ON t.parent = r.id", false},
		{"postgres", "r.path || regexp_replace(t.name, '.', t.path, 'g') FROM (SELECT id, path, name FROM r) AS t", false},
		{"postgres", "r.path || regexp_replace(t.p, '.', t.p, 'g') FROM r, LATERAL (SELECT r.id, r.path AS p) AS t", false},
		{"postgres", "regexp_replace(t.path, '.', t.path, 'g') FROM r CROSS JOIN LATERAL (VALUES (r.id, r.path)) AS t (id, path)", false},
		{"sqlite", "replace(t.path, 'a', t.path) FROM r AS t", false},
		{"duckdb", "path.repeat(10) FROM t JOIN r ON t.parent = r.id", false},
		{"duckdb", "r.path.replace(t.a, t.b) FROM t JOIN r ON t.parent = r.id", false},
		{"duckdb", "(r.path).replace('x', 'xx') FROM t JOIN r ON t.parent = r.id", false},
		{"duckdb", "r.path || replace(t.name, 'x', 'xx') FROM t JOIN r ON t.parent = r.id", true},
		{"bigquery", "(path).REPLACE('x', 'xx') FROM t JOIN r ON t.parent = r.id", false},
	} {
		sql := begin + c.step + ") SELECT length(path) FROM r"
		if v := checkOnce(t, c.dialect, sql); v.Allowed != c.allowed {
			t.Errorf("%s: %s\nallowed %v: %+v", c.dialect, sql, v.Allowed, v.Findings)
		}
	}
}
