//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package duckdbdb_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/duckfile"
	"github.com/ktxhq/ktx/sqlguard"
)

// shapes read the common table expression before them twice.
var shapes = map[string]string{
	"join": "SELECT a.id FROM c%d a JOIN c%d b ON a.id = b.id", "from": "FROM c%d a JOIN c%d b USING (id) SELECT a.id", "left": "SELECT a.id FROM c%d a LEFT JOIN c%d b ON false",
	"positional": "SELECT a.id FROM c%d a POSITIONAL JOIN c%d b", "lateral": "SELECT y.id FROM c%d x, LATERAL (SELECT id FROM c%d WHERE id = x.id) y",
	"union": "SELECT id FROM c%d UNION SELECT id FROM c%d", "except": "SELECT id FROM c%d EXCEPT SELECT id + 5000 FROM c%d", "distinct": "SELECT DISTINCT a.id FROM c%d a JOIN c%d b USING (id)",
	"total": "SELECT count(*) AS id FROM (SELECT id FROM c%d UNION ALL SELECT id FROM c%d)", "group": "SELECT a.id, count(*) AS n FROM c%d a JOIN c%d b USING (id) GROUP BY a.id",
	"window": "SELECT row_number() OVER (ORDER BY a.id) AS id FROM c%d a JOIN c%d b USING (id)", "in": "SELECT id FROM c%d WHERE id IN (SELECT id FROM c%d)",
	"exists": "SELECT id FROM c%d x WHERE EXISTS (SELECT 1 FROM c%d y WHERE y.id = x.id)", "scalar": "SELECT id FROM c%d WHERE id >= (SELECT min(id) FROM c%d)",
	"scalars": "SELECT (SELECT max(id) FROM c%d) + (SELECT min(id) FROM c%d) AS id", "one row": "SELECT a.id + b.id AS id FROM (SELECT max(id) AS id FROM c%d) a, (SELECT max(id) AS id FROM c%d) b",
	"nested":    "WITH d AS (SELECT id FROM c%d), e AS (SELECT id FROM c%d) SELECT d.id FROM d JOIN e USING (id)",
	"recursive": "SELECT id FROM (WITH RECURSIVE r AS (SELECT id FROM c%d UNION SELECT r.id FROM r JOIN c%d x USING (id)) SELECT id FROM r)",
}

func chainOf(shape, hint string, n int, end string) string {
	parts := []string{"c0 AS " + hint + "(SELECT id FROM t)"}
	for i := range n {
		parts = append(parts, fmt.Sprintf("c%d AS %s("+shape+")", i+1, hint, i, i))
	}
	return fmt.Sprintf("WITH %s SELECT count(*) FROM c%d%s", strings.Join(parts, ", "), n, end)
}

// TestChains: the chains of common table expressions that the guard permits end, and in those
// that it refuses each step doubles the work. So 30 steps are either nothing or without end.
func TestChains(t *testing.T) {
	t.Parallel()
	g, err := sqlguard.New(duckdb.Dialect{}, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	db, err := duckdbdb.Open(t.Context(), duckdbdb.Config{Path: duckfile.New(t, "CREATE TABLE t AS SELECT i AS id FROM range(100) r(i)"), MaxConnections: 1}, g.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it returns nil
	for name, shape := range shapes {
		for _, hint := range []string{"", "MATERIALIZED "} {
			sql := chainOf(shape, hint, 30, "")
			approved, err := g.Approve(sql)
			if err != nil {
				t.Errorf("%s %s: %v", name, hint, err)
				continue
			}
			if _, err := db.Query(t.Context(), approved, execution.Limits{Timeout: executiontest.Patience}); err != nil {
				t.Errorf("%s %s: %v", name, hint, err)
			}
		}
		for _, sql := range []string{chainOf(shape, "NOT MATERIALIZED ", 12, ""), chainOf(shape, "", 12, " LIMIT 1")} {
			if _, err := g.Approve(sql); err == nil {
				t.Errorf("%s is permitted: %s", name, sql)
			}
		}
	}
}
