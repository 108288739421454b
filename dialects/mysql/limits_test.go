package mysql_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/sqlguard"
)

// shape is a text that grows with n in one way: before, n times the middle, the
// core, n times what closes the middle, after. The middle may number its copies.
type shape struct{ name, before, middle, core, closing, after string }

var shapes = []shape{
	{"plus", "SELECT 1", "+1", "", "", ""},
	{"or", "SELECT 1", " OR 1", "", "", ""},
	{"pipes", "SELECT 'a'", "||'a'", "", "", ""},
	{"arrow", "SELECT a", "->'$.a'", "", "", " FROM t"},
	{"is", "SELECT 1", " IS NULL", "", "", ""},
	{"like", "SELECT 1", " LIKE 1", "", "", ""},
	{"between", "SELECT 1", " BETWEEN 1 AND 1", "", "", ""},
	{"in", "SELECT 1", " IN (1)", "", "", ""},
	{"collate", "SELECT a", " COLLATE utf8mb4_bin", "", "", " FROM t"},
	{"not", "SELECT ", "NOT ", "1", "", ""},
	{"bang", "SELECT ", "!", "1", "", ""},
	{"minus", "SELECT ", "- ", "1", "", ""},
	{"binary", "SELECT ", "BINARY ", "1", "", ""},
	{"brackets", "SELECT ", "(", "1", ")", ""},
	{"open brackets", "SELECT ", "(", "1", "", ""},
	{"case", "SELECT ", "CASE WHEN 1 THEN ", "1", " END", ""},
	{"when", "SELECT CASE", " WHEN 1 THEN 1", " END", "", ""},
	{"calls", "SELECT ", "abs(", "1", ")", ""},
	{"casts", "SELECT ", "CAST(", "1", " AS CHAR)", ""},
	{"cast list", "SELECT 1", ", CAST(NULL AS CHAR)", "", "", ""},
	{"scalar sub-queries", "SELECT ", "(SELECT ", "1", ")", ""},
	{"derived tables", "", "SELECT * FROM (", "SELECT 1", ") AS d", ""},
	{"exists", "SELECT 1 WHERE ", "EXISTS (SELECT 1 FROM t WHERE ", "1", ")", ""},
	{"nested joins", "SELECT * FROM ", "(t JOIN ", "t", ")", ""},
	{"joins", "SELECT * FROM t", " JOIN t ON 1", "", "", ""},
	{"natural joins", "SELECT * FROM t", " NATURAL LEFT JOIN t", "", "", ""},
	{"comma joins", "SELECT * FROM t", ", t", "", "", ""},
	{"relations", "SELECT * FROM t", ", t%d", "", "", ""},
	{"unions", "SELECT 1", " UNION SELECT 1", "", "", ""},
	{"nested unions", "", "(", "SELECT 1", " UNION SELECT 1)", ""},
	{"rows", "VALUES ROW(1)", ", ROW(1)", "", "", ""},
	{"common tables", "WITH c AS (SELECT 1)", ", c%d AS (SELECT 1)", " SELECT 1", "", ""},
	{"references to common tables", "WITH c AS (SELECT 1)", ", c%d AS (SELECT * FROM c, c, c)", " SELECT 1", "", ""},
	{"nested with", "", "WITH c AS (", "SELECT 1", ") SELECT 1", ""},
	{"in list", "SELECT 1 IN (1", ", 1", ")", "", ""},
	{"columns", "SELECT 1", ", a%d", " FROM t", "", ""},
	{"the same column", "SELECT 1", ", a", " FROM t", "", ""},
	{"columns and aliases", "SELECT 1", ", a AS b, b AS a", " FROM t", "", ""},
	{"aliases against the order", "SELECT 1 AS z", ", b AS a", " FROM t ORDER BY a", ", b", ""},
	{"qualified", "SELECT a.b", ", a.b", " FROM a", "", ""},
	{"limits", "SELECT 1", " UNION ALL (SELECT 1 LIMIT 1 OFFSET 2)", "", "", ""},
	{"trims", "SELECT 1", ", TRIM('x' FROM 'y')", "", "", ""},
	{"types", "SELECT 1", ", CONVERT(1, DECIMAL(10,2))", "", "", ""},
	{"unknown calls", "SELECT 1", ", f%d()", "", "", ""},
	{"order", "SELECT 1 ORDER BY 1", ", 1 DESC", "", "", ""},
	{"windows", "SELECT 1 FROM t WINDOW w AS ()", ", w%d AS (ORDER BY a)", "", "", ""},
	{"over", "SELECT 1", ", SUM(1) OVER (PARTITION BY 1)", "", "", ""},
	{"parameters", "SELECT 1", ", ?", "", "", ""},
	{"variables", "SELECT 1", ", @a", "", "", ""},
	{"settings", "SELECT 1", ", @@version", "", "", ""},
	{"statements", "SELECT 1", "; SELECT 1", "", "", ""},
	{"terminators", "SELECT 1", ";", "", "", ""},
	{"explain", "", "EXPLAIN ", "SELECT 1", "", ""},
	{"quotes", "SELECT '", "''", "'", "", ""},
	{"back quotes", "SELECT `", "``", "`", "", ""},
	{"backslashes", "SELECT '", `\\`, "'", "", ""},
	{"literal", "SELECT '", "x", "'", "", ""},
	{"literals side by side", "SELECT 'a'", "'a'", "", "", ""},
	{"literals in a row", "SELECT 'a'", " 'a'", "", "", ""},
	{"hexadecimal", "SELECT x'", "00", "'", "", ""},
	{"digits", "SELECT ", "1", "", "", ""},
	{"name", "SELECT ", "a", " FROM t", "", ""},
	{"comment", "SELECT 1 /*", " x", "*/", "", ""},
	{"comments", "SELECT 1", "/**/", "", "", ""},
	{"hints", "SELECT 1", " /*+ BKA(t) */", "", "", ""},
	{"hints of SELECT", "SELECT", " /*+ BKA(t) */", " 1", "", ""},
	{"hint", "SELECT /*+", " BKA(t)", " */ 1", "", ""},
	{"line comments", "SELECT 1", "-- \n", "", "", ""},
	{"open comments", "SELECT 1", "/*", "", "", ""},
	{"intervals", "SELECT NOW()", " + INTERVAL 1 DAY", "", "", ""},
	{"nested intervals", "SELECT ", "INTERVAL(", "1", ", 2)", ""},
	{"nested intervals that end", "SELECT 1 + ", "INTERVAL(", "1", ", 2)", " = ="},
	{"nested JSON_VALUE", "SELECT ", "JSON_VALUE(", "1", ", '$')", ""},
	{"nested JSON_VALUE that ends", "SELECT ", "JSON_VALUE(", "1", ", '$')", " = ="},
	{"nested IN", "SELECT ", "1 IN ((SELECT ", "1", ") UNION (SELECT 1))", " = ="},
	{"nested brackets that end", "SELECT ", "((", "1", "))", " = ="},
	{"nested tables that end", "SELECT * FROM ", "((", "SELECT 1", ") t JOIN u)", " = ="},
	{"bracketed selects that end", "SELECT * FROM ", "(", "(SELECT 1) t", " JOIN u)", " = ="},
	{"JSON_TABLE", "SELECT 1 FROM t", ", JSON_TABLE(a, '$' COLUMNS (b INT PATH '$')) AS j", "", "", ""},
	{"nested JSON_TABLE", "SELECT * FROM JSON_TABLE(a, '$' COLUMNS (", "NESTED PATH '$' COLUMNS (", "b INT PATH '$'", ")", ")) AS j"},
	{"column lists", "SELECT 1 FROM t", ", (SELECT 1) AS d (a)", "", "", ""},
	{"ODBC", "SELECT ", "{fn ", "1", "}", ""},
	{"insert rows", "INSERT INTO t VALUES (1)", ", (1)", "", "", ""},
	{"nothing known", "", "FOO ", "", "", ""},
}

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
	b.WriteString(s.core)
	for range n {
		b.WriteString(s.closing)
	}
	b.WriteString(s.after)
	return b.String()
}

// hang is far above what a text takes, so that a slow machine does not fail the
// test.
const hang = 20 * time.Second

// TestLimits judges texts of every shape, up to the ceiling of a text and at
// sizes that the screen lets through.
func TestLimits(t *testing.T) {
	policy := sqlguard.DefaultPolicy()
	policy.MaxBytes = sqlguard.CeilingMaxBytes
	g, err := sqlguard.New(mysql.Dialect{}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shapes {
		most := (sqlguard.CeilingMaxBytes - len(s.before) - len(s.core) - len(s.after)) / (len(s.middle) + len(s.closing))
		sizes := []int{20, 120, 250, 1900, 4000, 9000, 16_000, 24_000, 48_000, most}
		if testing.Short() {
			sizes = []int{250, 1900, most}
		}
		for _, n := range sizes {
			if n > most {
				continue
			}
			text := s.text(n)
			if len(text) > sqlguard.CeilingMaxBytes {
				text = text[:sqlguard.CeilingMaxBytes]
			}
			start := time.Now()
			v := g.Check(text)
			if d := time.Since(start); d > hang {
				t.Errorf("%s, %d times: %v, %s", s.name, n, d, v.Code)
			} else if testing.Verbose() && d > 100*time.Millisecond {
				t.Logf("%s, %d times: %v, %q", s.name, n, d, v.Code)
			}
			if v.Code == sqlguard.CodeInternalError {
				t.Errorf("%s, %d times: %s", s.name, n, v.Findings[0].Message)
			}
		}
	}
}
