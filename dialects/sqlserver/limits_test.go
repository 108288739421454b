package sqlserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// shapes are texts that grow with n in one way: before, n times the middle,
// inner, n times the end, after; the middle may number its copies with %d.
var shapes = []struct{ name, before, middle, inner, end, after string }{
	{"plus", "SELECT 1", "+1", "", "", ""},
	{"plus names", "SELECT a", "+a", "", "", " FROM t"},
	{"and", "SELECT 1 WHERE 1=1", " AND 1=1", "", "", ""},
	{"or", "SELECT 1 WHERE 1=1", " OR 1=1", "", "", ""},
	{"not", "SELECT 1 WHERE ", "NOT ", "1=1", "", ""},
	{"signs", "SELECT ", "- ", "1", "", ""},
	{"tilde", "SELECT ", "~", "1", "", ""},
	{"brackets", "SELECT ", "(", "1", ")", ""},
	{"open brackets", "SELECT ", "(", "", "", ""},
	{"conditions in brackets", "SELECT 1 WHERE ", "(", "1=1", ")", ""},
	{"left nest", "SELECT ", "(", "1", "+1)", ""},
	{"sub-queries", "SELECT ", "(SELECT ", "1", ")", ""},
	{"derived tables", "", "SELECT * FROM (", "SELECT 1 AS a", ") AS t", ""},
	{"bracketed unions", "", "(", "SELECT 1", ") UNION SELECT 1", ""},
	{"bracketed queries", "SELECT ", "(", "SELECT 1", ")", ""},
	{"joins in brackets", "SELECT * FROM ", "(", "t", " CROSS JOIN t)", ""},
	{"queries in brackets in FROM", "SELECT * FROM ", "(", "SELECT 1 AS a", ")", " AS t"},
	{"exists", "SELECT 1 WHERE ", "EXISTS (SELECT 1 WHERE ", "1=1", ")", ""},
	{"in", "SELECT 1 WHERE 1", " IN (SELECT 1 WHERE 1", "=1", ")", ""},
	{"in in brackets", "SELECT 1 WHERE 1 IN ", "(", "1", ")", ""},
	{"case", "SELECT ", "CASE WHEN 1=1 THEN ", "1", " END", ""},
	{"case arms", "SELECT CASE", " WHEN 1=1 THEN 1", "", "", " END"},
	{"calls", "SELECT ", "ABS(", "1", ")", ""},
	{"conditions in IIF", "SELECT ", "IIF(1=1, ", "1", ", 2)", ""},
	{"cases of values", "SELECT ", "CASE 1 WHEN ", "1", " THEN 1 END", ""},
	{"trims", "SELECT ", "TRIM('a' FROM ", "a", ")", " FROM t"},
	{"sized calls", "SELECT ", "REPLICATE(", "1", ", 2)", ""},
	{"windows in arguments", "SELECT ", "SUM(", "1", ") OVER ()", " FROM t"},
	{"objects", "SELECT ", "JSON_OBJECT('a':", "1", ")", ""},
	{"quantified", "SELECT 1 WHERE ", "1 > ALL (SELECT 1 WHERE ", "1=1", ")", ""},
	{"casts", "SELECT ", "CAST(", "1", " AS int)", ""},
	{"methods", "SELECT geography::Point(1,2,3)", ".ToString()", "", "", ""},
	{"method calls of a column", "SELECT a.b", ".c()", "", "", " FROM t"},
	{"xml methods", "SELECT a.query('/a')", ".query('/a')", "", "", " FROM t"},
	{"methods in arguments", "SELECT ", "a.STUnion(", "a", ")", " FROM t"},
	{"static methods", "SELECT ", "geography::Parse(", "a", ")", " FROM t"},
	{"properties", "SELECT (a)", ".Lat", "", "", " FROM t"},
	{"collate", "SELECT a", " COLLATE Latin1_General_CI_AS", "", "", " FROM t"},
	{"at time zone", "SELECT a", " AT TIME ZONE 'UTC'", "", "", " FROM t"},
	{"like", "SELECT 1 WHERE 1=1", " AND a LIKE 'x' ESCAPE '!'", "", "", ""},
	{"between", "SELECT 1 WHERE 1=1", " AND a BETWEEN 1 AND 2", "", "", ""},
	{"dots", "SELECT a", ".a", "", "", ""},
	{"empty parts", "SELECT a", ".", "", "", "b"},
	{"leading dots", "SELECT * FROM ", ".", "t", "", ""},
	{"joins", "SELECT * FROM t", " JOIN t ON a=a", "", "", ""},
	{"open joins", "SELECT * FROM t", " JOIN t", "", " ON a=a", ""},
	{"cross joins", "SELECT * FROM t", " CROSS JOIN t", "", "", ""},
	{"applies", "SELECT * FROM t", " CROSS APPLY (SELECT 1 AS a) AS u", "", "", ""},
	{"comma joins", "SELECT * FROM t", ", t", "", "", ""},
	{"relations", "SELECT * FROM t", ", t%d", "", "", ""},
	{"applies in applies", "", "SELECT * FROM t CROSS APPLY (", "SELECT 1 AS a", ") AS u", ""},
	{"json tables", "SELECT * FROM ", "OPENJSON((SELECT a FROM ", "t", ")) AS j", ""},
	{"unpivots", "SELECT * FROM t", " UNPIVOT (v FOR k IN (a)) AS p", "", "", ""},
	{"pivots", "SELECT * FROM t", " PIVOT (SUM(a) FOR b IN ([c])) AS p", "", "", ""},
	{"unions", "SELECT 1", " UNION ALL SELECT 1", "", "", ""},
	{"ctes", "WITH c AS (SELECT 1 AS a)", ", c%d AS (SELECT 1 AS a)", " SELECT 1", "", ""},
	{"references to ctes", "WITH c AS (SELECT 1 AS a)", ", c%d AS (SELECT * FROM c, c, c)", " SELECT 1", "", ""},
	{"columns", "SELECT 1", ", a%d", "", "", " FROM t"},
	{"aliases", "SELECT 1", ", b = 1", "", "", ""},
	{"references to the one before", "WITH c AS (SELECT 1 AS a)", ", d%d AS (SELECT * FROM c)", " SELECT * FROM c", "", ""},
	{"wide values", "SELECT * FROM (VALUES (1, N'a', 2.5)", ", (1, N'a', 2.5)", "", "", ") AS v (a, b, c)"},
	{"values", "SELECT * FROM (VALUES (1)", ", (1)", "", "", ") AS v (a)"},
	{"in list", "SELECT 1 WHERE 1 IN (1", ", 1", "", "", ")"},
	{"group by", "SELECT 1 FROM t GROUP BY a", ", a", "", "", ""},
	{"composite groups", "SELECT 1 FROM t GROUP BY ", "(", "a", ")", ""},
	{"composite lists", "SELECT 1 FROM t GROUP BY (a, b)", ", (a, b)", "", "", ""},
	{"grouping sets", "SELECT 1 FROM t GROUP BY ", "GROUPING SETS (", "a", ")", ""},
	{"order by", "SELECT 1 ORDER BY a", ", a DESC", "", "", ""},
	{"windows", "SELECT 1 FROM t WINDOW w AS ()", ", w%d AS (w)", "", "", ""},
	{"window calls", "SELECT 1", ", SUM(a) OVER (PARTITION BY a ORDER BY a)", "", "", " FROM t"},
	{"arguments", "SELECT CONCAT('a'", ", 'a'", "", "", ")"},
	{"unknown calls", "SELECT 1", ", f%d()", "", "", ""},
	{"method calls", "SELECT 1", ", a%d.STArea()", "", "", " FROM s.t"},
	{"hints", "SELECT * FROM t WITH (NOLOCK", ", NOLOCK", "", "", ")"},
	{"hints without WITH", "SELECT * FROM t (NOLOCK)", ", t (NOLOCK)", "", "", ""},
	{"hints without WITH and names", "SELECT nolock FROM t (NOLOCK)", ", t%d (NOLOCK)", "", "", ""},
	{"unknown hints", "SELECT * FROM t WITH (NOLOCK", ", x%d", "", "", ")"},
	{"query hints", "SELECT 1 OPTION (RECOMPILE", ", RECOMPILE", "", "", ")"},
	{"odbc", "SELECT ", "{fn ABS(", "1", ")}", ""},
	{"paths", "SELECT 1 FROM a, b WHERE MATCH(a", "-(b)->a", "", "", ")"},
	{"json", "SELECT JSON_OBJECT('a':1", ", 'a':1", "", "", ")"},
	{"series", "SELECT 1 FROM t", ", GENERATE_SERIES(1, 1+1)", "", "", ""},
	{"replicate", "SELECT REPLICATE('a', ", "-", "1", "", ")"},
	{"types", "SELECT 1", ", CAST(a AS t%d)", "", "", " FROM t"},
	{"statements", "SELECT 1", "; SELECT 1", "", "", ""},
	{"statements without terminators", "SELECT 1", " SELECT 1", "", "", ""},
	{"procedures", "x", "; x", "", "", ""},
	{"terminators", "SELECT 1", ";", "", "", ""},
	{"blocks", "", "BEGIN ", "SELECT 1", " END", ""},
	{"nested comments", "SELECT 1 ", "/*", "", "*/", ""},
	{"open comments", "SELECT 1 ", "/*", "", "", ""},
	{"line comments", "SELECT 1 ", "--\n", "", "", ""},
	{"quotes", "SELECT '", "''", "'", "", ""},
	{"closing brackets", "SELECT [", "]]", "]", "", ""},
	{"names in quotes", `SELECT "`, `""`, `"`, "", ""},
	{"literal", "SELECT '", "x", "'", "", ""},
	{"binary", "SELECT 0x", "0f", "", "", ""},
	{"continued binary", "SELECT 0x", "0f\\\n", "", "", ""},
	{"name", "SELECT ", "a", " FROM t", "", ""},
	{"digits", "SELECT ", "1", "", "", ""},
	{"lines of GO", "SELECT 1\n", "GO\n", "", "", ""},
	{"go behind terminators", "SELECT 1", ";go x", "", "", ""},
	{"lines of g", "SELECT 1\n", " g", "", "", ""},
	{"spaces before go", "SELECT 1\n", " ", "go", "", ""},
	{"go on one line", "SELECT ", " go,", "1", "", ""},
	{"wide letters", "SELECT * FROM ", "\uff53", "", "", ""},
	{"accents", "SELECT * FROM ", "é", "", "", ""},
	{"ideographs", "SELECT * FROM ", "\u4e00", "", "", ""},
	{"colons", "SELECT 1\n", "\n:", "", "", ""},
	{"colons of one word", "SELECT 1\n", ":a", "", "", ""},
	{"wide schemas", "SELECT * FROM t", ", \uff53%d.t", "", "", ""},
}

type shape struct{ name, before, middle, inner, end, after string }

func (s shape) text(n int) string {
	var b strings.Builder
	b.WriteString(s.before)
	for i := range n {
		if strings.Contains(s.middle, "%d") {
			fmt.Fprintf(&b, s.middle, i)
		} else {
			b.WriteString(s.middle)
		}
	}
	b.WriteString(s.inner)
	b.WriteString(strings.Repeat(s.end, n))
	b.WriteString(s.after)
	return b.String()
}

// hang is far above what any text takes, so that a slow machine does not fail
// the test.
const hang = 20 * time.Second

// TestLimits judges texts of every shape, at the size of the ceiling and at
// smaller ones that the screen lets through, and reads each without the screen
// as well: the parser bounds its own recursion.
func TestLimits(t *testing.T) {
	policy := sqlguard.DefaultPolicy()
	policy.MaxBytes = sqlguard.CeilingMaxBytes
	g, err := sqlguard.New(sqlserver.Dialect{}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shapes {
		shape := shape(s)
		most := (sqlguard.CeilingMaxBytes - len(s.before) - len(s.inner) - len(s.after)) / (len(s.middle) + len(s.end))
		sizes := []int{1, 60, 200, 990, 1900, 4000, 9000, 16_000, 24_000, most}
		if testing.Short() {
			sizes = []int{60, 1900, most}
		}
		for _, n := range sizes {
			if n > most {
				continue
			}
			text := shape.text(n)
			start := time.Now()
			v := g.Check(text)
			checked := time.Since(start)
			analyze(t, text)
			if d := time.Since(start); d > hang {
				t.Errorf("%s, %d times: %v, %s", s.name, n, d, v.Code)
			} else if testing.Verbose() && d > 50*time.Millisecond {
				t.Logf("%s, %d times: %v, %v, %q", s.name, n, checked, d, v.Code)
			}
			if v.Code == sqlguard.CodeInternalError {
				t.Errorf("%s, %d times: %s", s.name, n, v.Findings[0].Message)
			}
		}
	}
}
