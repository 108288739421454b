package clickhouse_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

// tails returns statements with each order of up to three clauses of LIMIT, OFFSET and FETCH,
// and what DESCRIBE can describe.
func tails() []string {
	clauses := []string{
		"LIMIT 1", "LIMIT 1, 2", "LIMIT 1 OFFSET 2", "LIMIT 1 WITH TIES", "LIMIT 1 BY id", "LIMIT 1 OFFSET 2 BY id", "LIMIT 1, 2 BY id", "LIMIT 1 BY ALL", "OFFSET 2", "OFFSET 2 ROW",
		"OFFSET 2 ROWS", "FETCH FIRST 3 ROWS ONLY", "FETCH NEXT 1 ROW WITH TIES", "FETCH FIRST ROW ONLY",
	}
	ends := []string{""}
	for from, depth := 0, 0; depth < 3; depth++ {
		to := len(ends)
		for _, end := range ends[from:to] {
			for _, clause := range clauses {
				ends = append(ends, end+" "+clause)
			}
		}
		from = to
	}
	var out []string
	for _, begin := range []string{"SELECT id FROM t", "SELECT DISTINCT ON (id) id FROM t", "SELECT TOP 3 id FROM t"} {
		for _, order := range []string{"", " ORDER BY id"} {
			for _, end := range ends {
				out = append(out, begin+order+end)
			}
		}
	}
	for _, word := range []string{"DESC ", "DESCRIBE TABLE "} {
		for _, what := range []string{
			"SELECT 1", "(SELECT 1)", "((SELECT 1))", "(SELECT 1) UNION ALL SELECT 2", "((SELECT 1) UNION ALL SELECT 2)", "((SELECT 1) UNION ALL SELECT 2) EXCEPT SELECT 2",
			"WITH 1 AS x SELECT x", "(WITH 1 AS x SELECT x)", "FROM t SELECT id", "(FROM t SELECT id)", "FROM t", "(FROM t)", "FROM", "from AS a", "select", "with", "with AS a", "(t)", "(select)",
			"(SELECT 1;)", "(SELECT 1), 2", "SELECT 1 LIMIT 1", "SELECT 1, (SELECT 1)", "(SELECT 1) (SELECT 1)", "(SELECT 1) 2", "SELECT", "(SELECT)", "()", "((SELECT 1)", "(SELECT 1))",
			"EXPLAIN SELECT 1", "(SHOW TABLES)", "DESC t", "SELECT 1 FORMAT Null", "(SELECT 1) INTO OUTFILE 'x'", "SELECT 1 SETTINGS max_threads = 1", "t", "db.t", "numbers(3)", "table", "table SELECT 1",
			"SELECT 1 PARALLEL WITH SELECT 2", "INSERT INTO t SELECT 1", "WITH 1 AS x INSERT INTO t SELECT x",
		} {
			out = append(out, word+what)
		}
	}
	return out
}

// TestTailsOfTheEngine: what is allowed of tails is one read to the engine.
func TestTailsOfTheEngine(t *testing.T) {
	e := startEngine(t)
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	allowed, both := 0, 0
	for _, sql := range tails() {
		read := g.CheckOnce(sql).Allowed
		fault := judge(t, e, sql)
		if fault == "" {
			both++
		}
		if !read {
			continue
		}
		if allowed++; fault != "" {
			t.Errorf("allowed: %s\nto the engine: %s", sql, fault)
		}
	}
	if allowed < 150 {
		t.Errorf("only %d statements are allowed", allowed)
	}
	t.Logf("%d statements, %d of them reads to the engine, %d allowed", len(tails()), both, allowed)
}

// TestTails: forms that the engine reads are read.
func TestTails(t *testing.T) {
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	for _, sql := range []string{
		"SELECT id FROM t ORDER BY id LIMIT 1 BY id FETCH FIRST 3 ROWS ONLY", "SELECT id FROM t ORDER BY id LIMIT 1 BY ALL FETCH NEXT 1 ROW WITH TIES",
		"DESC SELECT id FROM t", "DESCRIBE TABLE SELECT id FROM t UNION ALL (SELECT 2)", "DESC (SELECT 1) UNION ALL (SELECT 2)", "DESC FROM t SELECT id", "DESC WITH 1 AS x SELECT x",
	} {
		if v := g.Check(sql); !v.Allowed {
			t.Errorf("%s: %+v", sql, v.Findings)
		}
	}
}
