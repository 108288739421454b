package sqlite_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/sqlguard"
)

// shapes are texts that grow with n in one way: before, n times the middle,
// after; the middle may number its copies with %d.
var shapes = []struct{ name, before, middle, after string }{
	{"plus", "SELECT 1", "+1", ""},
	{"concat", "SELECT 'a'", "||'a'", ""},
	{"arrow", "SELECT a", "->1", " FROM t"},
	{"compare", "SELECT 1", "<1", ""},
	{"equal", "SELECT 1", "=1", ""},
	{"bits", "SELECT 1", "|1&1<<1", ""},
	{"and", "SELECT 1", " AND 1", ""},
	{"or", "SELECT 1", " OR 1", ""},
	{"and or", "SELECT 1", " AND 1 OR 1", ""},
	{"is", "SELECT 1", " IS 1", ""},
	{"is distinct from", "SELECT 1", " IS DISTINCT FROM 1", ""},
	{"isnull", "SELECT 1", " ISNULL", ""},
	{"not null", "SELECT 1", " NOT NULL", ""},
	{"like", "SELECT 1", " LIKE 1", ""},
	{"escape", "SELECT 1", " LIKE 1 ESCAPE 1", ""},
	{"between", "SELECT 1", " BETWEEN 1 AND 1", ""},
	{"in", "SELECT 1", " IN (1)", ""},
	{"in table", "SELECT 1", " IN t", ""},
	{"collate", "SELECT a", " COLLATE nocase", " FROM t"},
	{"not", "SELECT ", "NOT ", "1"},
	{"minus", "SELECT ", "- ", "1"},
	{"tilde", "SELECT ", "~", "1"},
	{"mixed prefix", "SELECT ", "- NOT ~ + ", "1"},
	{"brackets", "SELECT ", "(", "1"},
	{"closed brackets", "SELECT ", "(1)+", "1"},
	{"case", "SELECT ", "CASE WHEN 1 THEN ", "1"},
	{"case else", "SELECT ", "CASE WHEN 1 THEN 1 ELSE ", "1"},
	{"when", "SELECT CASE", " WHEN 1 THEN 1", " END"},
	{"calls", "SELECT ", "abs(", "1"},
	{"casts", "SELECT ", "CAST(", "1"},
	{"cast list", "SELECT 1", ", CAST(1 AS t%d)", ""},
	{"scalar sub-queries", "SELECT ", "(SELECT ", "1"},
	{"from sub-queries", "", "SELECT * FROM (", "SELECT 1"},
	{"exists", "SELECT 1 WHERE ", "EXISTS (SELECT 1 WHERE ", "1"},
	{"in sub-queries", "SELECT 1", " WHERE 1 IN (SELECT 1", ""},
	{"nested joins", "SELECT * FROM ", "(t JOIN ", "t"},
	{"joins", "SELECT * FROM t", " JOIN t", ""},
	{"joins on", "SELECT * FROM t", " JOIN t ON 1", ""},
	{"joins using", "SELECT * FROM t", " JOIN t USING (a)", ""},
	{"natural joins", "SELECT * FROM t", " NATURAL LEFT OUTER JOIN t", ""},
	{"comma joins", "SELECT * FROM t", ", t", ""},
	{"relations", "SELECT * FROM t", ", t%d", ""},
	{"unions", "SELECT 1", " UNION SELECT 1", ""},
	{"union all values", "VALUES (1)", " UNION ALL VALUES (1)", ""},
	{"rows", "VALUES (1)", ", (1)", ""},
	{"ctes", "WITH c AS (SELECT 1)", ", c%d AS (SELECT 1)", " SELECT 1"},
	{"references to ctes", "WITH c AS (SELECT 1)", ", c%d AS (SELECT * FROM c, c, c, c, c, c, c)", " SELECT 1"},
	{"nested ctes", "", "WITH c AS (", "SELECT 1"},
	{"in list", "SELECT 1 IN (1", ", 1", ")"},
	{"columns", "SELECT 1", ", a%d", " FROM t"},
	{"aliases", "SELECT 1", ", 1 AS a", ""},
	{"arguments", "SELECT max(1", ", 1", ")"},
	{"unknown calls", "SELECT 1", ", f%d()", ""},
	{"dots", "SELECT a", ".a", ""},
	{"order", "SELECT 1 ORDER BY 1", ", 1 DESC", ""},
	{"windows", "SELECT 1 FROM t WINDOW w AS ()", ", w%d AS (w)", ""},
	{"over", "SELECT 1", ", sum(1) OVER (PARTITION BY 1)", ""},
	{"parameters", "SELECT 1", ", ?", ""},
	{"statements", "SELECT 1", "; SELECT 1", ""},
	{"terminators", "SELECT 1", ";", ""},
	{"explain", "", "EXPLAIN ", "SELECT 1"},
	{"quotes", "SELECT '", "''", "'"},
	{"double quotes", `SELECT "`, `""`, `"`},
	{"literal", "SELECT '", "x", "'"},
	{"blob", "SELECT x'", "00", "'"},
	{"name", "SELECT ", "a", " FROM t"},
	{"digits", "SELECT ", "1", ""},
	{"separators", "SELECT 1", "_1", ""},
	{"comment", "SELECT 1 /*", " x", "*/"},
	{"comments", "SELECT 1", "/**/", ""},
	{"line comments", "SELECT 1", "--\n", ""},
	{"open comments", "SELECT 1", "/*", ""},
	{"type", "SELECT CAST(1 AS a", " a", ")"},
	{"parameter suffix", "SELECT $a", "::a", ""},
	{"parameter brackets", "SELECT $a(", "(", ""},
	{"json", "SELECT 1 FROM t", ", json_each(a)", ""},
	{"series", "SELECT 1 FROM t", ", generate_series(1, 1+1)", ""},
	{"format", "SELECT printf('", "%1$*d", "', 1)"},
	{"zeroblob", "SELECT zeroblob(1", "+1", ")"},
	{"pragma", "PRAGMA table_info(", "a", ")"},
	{"trigger", "CREATE TRIGGER n AFTER INSERT ON t BEGIN ", "SELECT 1; ", "END"},
	{"insert rows", "INSERT INTO t VALUES (1)", ", (1)", ""},
	{"columns of a table", "CREATE TABLE n (a", ", a%d", ")"},
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
	b.WriteString(s.after)
	return b.String()
}

type shape struct{ name, before, middle, after string }

// TestLimits judges texts of every shape, at the size of the ceiling and at
// smaller ones that the screen lets through. None takes a second.
func TestLimits(t *testing.T) {
	policy := sqlguard.DefaultPolicy()
	policy.MaxBytes = sqlguard.CeilingMaxBytes
	g, err := sqlguard.New(sqlite.Dialect{}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shapes {
		shape := shape(s)
		most := (sqlguard.CeilingMaxBytes - len(s.before) - len(s.after)) / len(s.middle)
		closers := map[string]string{"(": ")", "CASE": " END"}
		sizes := []int{200, 990, 1900, 4000, 9000, 16_000, 24_000, most}
		if testing.Short() {
			sizes = []int{1900, most}
		}
		for _, n := range sizes {
			if n > most || s.name == "relations" && n > 4000 {
				// The guard compares every relation with every other one.
				continue
			}
			text := shape.text(n)
			// Close what the middle opens, so that the text is whole.
			for opener, closer := range closers {
				if open := strings.Count(s.middle, opener) - strings.Count(s.middle, strings.TrimSpace(closer)); open > 0 {
					text += strings.Repeat(closerFor(s.middle, closer), n*open)
				}
			}
			if len(text) > sqlguard.CeilingMaxBytes {
				text = text[:sqlguard.CeilingMaxBytes]
			}
			start := time.Now()
			v := g.Check(text)
			if d := time.Since(start); d > time.Second {
				t.Errorf("%s, %d times: %v, %s", s.name, n, d, v.Code)
			} else if testing.Verbose() && d > 50*time.Millisecond {
				t.Logf("%s, %d times: %v, %q", s.name, n, d, v.Code)
			}
			if v.Code == sqlguard.CodeInternalError {
				t.Errorf("%s, %d times: %s", s.name, n, v.Findings[0].Message)
			}
		}
	}
}

// closerFor is what ends one copy of the middle.
func closerFor(middle, closer string) string {
	switch {
	case strings.HasPrefix(middle, "CAST("):
		return " AS INT)"
	case middle == "WITH c AS (":
		return ") SELECT 1"
	default:
		return closer
	}
}
