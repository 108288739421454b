package sqlite_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlite"
)

// places are statements with %, the position of a scalar sub-query, in every part of a
// query.
var places = []string{
	"SELECT %",
	"SELECT 1 AS a, max(%)",
	"SELECT * FROM (SELECT %)",
	"SELECT * FROM (SELECT 1) JOIN (SELECT %) ON 1",
	"SELECT * FROM (SELECT 1) AS a JOIN (SELECT 1) AS b ON %",
	"SELECT * FROM t, ((SELECT %) AS p JOIN u)",
	"SELECT * FROM json_each(%)",
	"SELECT * FROM t, json_each(%)",
	"SELECT 1 WHERE %",
	"SELECT 1 WHERE EXISTS %",
	"SELECT 1 WHERE 1 IN %",
	"SELECT 1 WHERE 1 IN (1, %)",
	"SELECT 1 WHERE 1 IN generate_series(1, %)",
	"SELECT 1 WHERE (1, 2) = (1, %)",
	"SELECT a FROM t GROUP BY %",
	"SELECT a FROM t GROUP BY a HAVING %",
	"SELECT a FROM t ORDER BY %",
	"SELECT a FROM t LIMIT %",
	"SELECT a FROM t LIMIT 1 OFFSET %",
	"SELECT a FROM t UNION SELECT %",
	"SELECT % UNION ALL SELECT a FROM t",
	"SELECT 1 UNION SELECT 2 EXCEPT SELECT %",
	"SELECT 1 UNION SELECT 2 ORDER BY 1 LIMIT %",
	"VALUES (%)",
	"VALUES (1), (%)",
	"VALUES (%), (1), (2)",
	"SELECT * FROM (VALUES (1), (2), (%))",
	"SELECT 1 UNION VALUES (1), (%)",
	"SELECT sum(a) OVER (PARTITION BY %) FROM t",
	"SELECT sum(a) OVER (ORDER BY %) FROM t",
	"SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY a ORDER BY %)",
	"SELECT sum(a) FILTER (WHERE %) FROM t",
	"SELECT sum(a) FILTER (WHERE %) OVER () FROM t",
	"SELECT group_concat(a ORDER BY %) FROM t",
	"SELECT CASE % WHEN 1 THEN 2 END",
	"SELECT CASE WHEN 1 THEN 1 ELSE % END",
	"SELECT CAST(% AS TEXT) COLLATE nocase",
	"SELECT a LIKE 'x' ESCAPE % FROM t",
	"SELECT a BETWEEN % AND 2 FROM t",
	"SELECT (SELECT (SELECT %))",
	"WITH other AS (SELECT %) SELECT * FROM other",
	"SELECT * FROM (WITH other AS (SELECT %) SELECT * FROM other)",
	"SELECT * FROM (WITH other AS (VALUES (1), (%)) SELECT * FROM other)",
	"WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + % FROM r LIMIT 3) SELECT * FROM r",
	"WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT %) SELECT * FROM r",
}

// TestScope compares the scope of WITH with the engine's, for a name that is
// a table too. The table and the common table expression differ in their
// columns, so that the engine says which of them it sees.
func TestScope(t *testing.T) {
	const (
		define = "WITH users AS (SELECT 1 AS one) "
		asCTE  = "(SELECT one FROM users LIMIT 1)"
		asReal = "(SELECT email FROM users LIMIT 1)"
	)
	e := newEngine(t)
	check := func(text string, wantReal bool) {
		t.Helper()
		for _, c := range []struct {
			part string
			real bool
		}{{asCTE, false}, {asReal, true}} {
			sql := strings.Replace(text, "%", c.part, 1)
			if _, _, err := e.prepare(sql); (err == nil) != (c.real == wantReal) {
				t.Errorf("%s\nthe engine says %v", sql, err)
				continue
			}
			statements, err := sqlite.Dialect{}.Analyze(sql)
			if err != nil || len(statements) != 1 {
				t.Errorf("%s: %d statements, %v", sql, len(statements), err)
				continue
			}
			if got := reads(&statements[0], "", "users"); got != wantReal {
				t.Errorf("%s\nreads the table users: %v, in the engine %v", sql, got, wantReal)
			}
		}
	}
	for _, place := range places {
		check(place, true)
		inner := place
		if rest, ok := strings.CutPrefix(place, "WITH RECURSIVE "); ok {
			check("WITH RECURSIVE users AS (SELECT 1 AS one), "+rest, false)
			check("WITH RECURSIVE "+strings.Replace(rest, ") SELECT", "), users AS (SELECT 1 AS one) SELECT", 1), false)
		} else if rest, ok := strings.CutPrefix(place, "WITH "); ok {
			check(define[:len(define)-1]+", "+rest, false)
			check("WITH "+strings.Replace(rest, ") SELECT", "), users AS (SELECT 1 AS one) SELECT", 1), false)
		} else {
			check(define+place, false)
		}
		// A WITH beside the position or inside it is not in scope there.
		check("SELECT * FROM ("+define+"SELECT one FROM users), ("+inner+")", true)
		check("SELECT * FROM ("+inner+"), ("+define+"SELECT one FROM users)", true)
		check("SELECT ("+define+"SELECT one FROM users) UNION SELECT 1 FROM ("+inner+")", true)
		check("WITH a AS ("+define+"SELECT one FROM users) SELECT * FROM ("+inner+")", true)
		check(define+"SELECT * FROM ("+inner+")", false)
		check(define+"SELECT * FROM (WITH b AS (SELECT 2) SELECT * FROM ("+inner+"))", false)
		check("WITH a AS (SELECT * FROM ("+inner+")), users AS (SELECT 1 AS one) SELECT * FROM a", false)
	}
	// A common table expression that names itself outside of a recursive part
	// is an error of the engine, and never the table.
	for _, sql := range []string{
		"WITH users AS (SELECT * FROM users) SELECT * FROM users",
		"WITH users AS (SELECT email FROM users) SELECT * FROM users",
		"WITH users AS (SELECT * FROM (SELECT email FROM users)) SELECT * FROM users",
		"WITH users AS (SELECT (SELECT email FROM users)) SELECT * FROM users",
		"WITH users AS (SELECT 1 WHERE 1 IN users) SELECT * FROM users",
		"WITH users AS (SELECT 1 UNION SELECT email FROM users, users) SELECT * FROM users",
		"WITH users AS (WITH x AS (SELECT email FROM users) SELECT * FROM x) SELECT * FROM users",
		"WITH a AS (SELECT * FROM users), users AS (SELECT * FROM a) SELECT * FROM a",
		"WITH users AS (SELECT 1) SELECT * FROM (WITH users AS (SELECT * FROM users) SELECT * FROM users)",
	} {
		if _, _, err := e.prepare(sql); err == nil {
			if fault := falseAccept(e, sql); fault != "" {
				t.Errorf("%s\nthe engine %s", sql, fault)
			}
		}
	}
}
