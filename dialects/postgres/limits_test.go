package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// repeated joins the results of part for 0 to n-1.
func repeated(n int, part func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(part(i))
	}
	return b.String()
}

// TestNoShapeIsSlow has statements that the screen accepts and that are expensive for the
// walk: names that match many items, nested scopes, searches for positions. The time may
// grow little faster than the length of the statement.
func TestNoShapeIsSlow(t *testing.T) {
	each := func(n int, text string) string { return repeated(n, func(int) string { return text }) }
	shapes := map[string]string{
		"locks":             "SELECT 1 FROM t " + each(600, "FOR UPDATE OF t "),
		"locks inside":      "SELECT 1" + each(3_500, ",(SELECT 1 FROM t FOR SHARE)"),
		"attributes":        "SELECT 1" + each(7_000, ",(1).foo"),
		"denied attributes": "SELECT 1" + each(7_000, ",(x).pg_sleep"),
		"long attributes":   "SELECT 1" + each(2_000, ",(1).a"+strings.Repeat("b", 100)),
		"types":             "SELECT 1" + repeated(12_000, func(i int) string { return fmt.Sprintf(",a::t%d", i) }),
		"with": "WITH a AS (SELECT 1)" + repeated(90, func(i int) string {
			return fmt.Sprintf(",c%d AS (SELECT 1 FROM c%d, c%d x)", i, i/2, i/3)
		}) + " SELECT 1",
		"writes":      "WITH a AS (SELECT 1)" + repeated(140, func(i int) string { return fmt.Sprintf(",c%d AS (DELETE FROM t)", i) }) + " SELECT 1",
		"deep writes": strings.Repeat("WITH a AS (", 120) + "DELETE FROM t" + strings.Repeat(") DELETE FROM t", 120),
		"natural joins": "SELECT * FROM a0" + repeated(90, func(i int) string {
			return fmt.Sprintf(" NATURAL JOIN a%d", i)
		}),
		"joins using":       "SELECT * FROM a0" + repeated(90, func(i int) string { return fmt.Sprintf(" JOIN a%d USING (a,b,c,d,e)", i) }),
		"from":              "SELECT * FROM a0" + repeated(90, func(i int) string { return fmt.Sprintf(",a%d", i) }),
		"columns and from":  "SELECT 1" + repeated(6_000, func(i int) string { return fmt.Sprintf(",a%d.x", i) }) + " FROM t" + repeated(90, func(i int) string { return fmt.Sprintf(",a%d", i) }),
		"refused columns":   "SELECT 1" + each(7_000, ",query") + " FROM t" + each(90, ",pg_stat_activity"),
		"refused stars":     "SELECT *" + each(7_000, ",*") + " FROM t" + each(90, ",pg_stat_activity"),
		"refused rows":      "SELECT a.*" + each(5_000, ",a.*") + " FROM t" + each(90, ",pg_stat_activity a"),
		"refused subs":      strings.Repeat("SELECT (", 100) + "SELECT query" + each(2_000, ",query") + strings.Repeat(") FROM pg_stat_activity", 100),
		"aliased joins":     "SELECT j" + each(3_000, ",j") + " FROM t" + each(45, ",(a CROSS JOIN b) j"),
		"joins in joins":    "SELECT j FROM " + strings.Repeat("(", 90) + "pg_stat_activity" + each(90, " CROSS JOIN pg_stat_activity) j"),
		"repeat":            "SELECT " + strings.Repeat("repeat(", 250) + "'x'" + strings.Repeat(",2)", 250),
		"sums":              "SELECT 1" + each(24, ",repeat('x',1"+strings.Repeat("+1", 900)+")"),
		"operators":         "SELECT 1" + each(5_000, ",1 OPERATOR(s.+) 1"),
		"comments in names": "SELECT 1" + each(6_000, ",a/**/./**/b"),
		"settings":          "SELECT 1" + each(9_000, ",current_setting('a')"),
		"statements":        each(12_000, "SELECT 1 --x\n;"),
		"scopes":            strings.Repeat("SELECT (", 10) + "SELECT x" + each(8_000, ",x.y") + strings.Repeat(") FROM a,b,c,d,e,f,g,h,i,j", 10),
		"deep stars":        strings.Repeat("SELECT * FROM (", 90) + "SELECT * FROM t" + strings.Repeat(") x, t", 90),
	}
	policy := sqlguard.DefaultPolicy()
	policy.MaxBytes = sqlguard.CeilingMaxBytes
	g, err := sqlguard.New(postgres.Dialect{}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, sql := range shapes {
		start := time.Now()
		v := g.Check(sql)
		took := time.Since(start)
		if v.Code == sqlguard.CodeParseError || v.Code == sqlguard.CodeInputTooLarge || v.Code == sqlguard.CodeNestingTooDeep || v.Code == sqlguard.CodeInternalError {
			t.Errorf("%s: %s (%s): it does not reach the walk", name, v.Code, v.Findings[0].Message)
		}
		// It takes a tenth of a second when the machine is idle.
		if took > dialecttest.Hang {
			t.Errorf("%s: %d bytes took %v", name, len(sql), took)
		}
		t.Logf("%-18s %6d bytes %8s", name, len(sql), took.Round(time.Millisecond))
	}
}
