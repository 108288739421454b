package sqlguard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/sqlguard"
)

func TestScreen(t *testing.T) {
	repeat := strings.Repeat
	for _, test := range []struct {
		name, sql, want string
	}{
		{"plain", "SELECT 1\n\tFROM t\f", ""},
		{"CR LF", "SELECT 1\r\nFROM t", ""},
		{"lone CR", "SELECT 1 -\rDROP", "invalid_characters"},
		{"CR at the end", "SELECT 1\r", "invalid_characters"},
		{"VT", "SELECT\v1", "invalid_characters"},
		{"NUL", "SELECT 1\x00", "invalid_characters"},
		{"NUL in a literal", "SELECT '\x00'", "invalid_characters"},
		{"not UTF-8", "SELECT '\xff'", "invalid_characters"},
		{"surrogate", "SELECT '\xed\xa0\x80'", "invalid_characters"},
		{"byte order mark", "\uFEFFSELECT 1", "invalid_characters"},
		{"control in a literal", "SELECT '\x01\v\u202e'", ""},
		{"control in a quoted name", "SELECT \"a\u200bb\"", ""},
		{"control outside", "SELECT \x01", "invalid_characters"},
		{"DEL", "SELECT \x7f1", "invalid_characters"},
		{"bidi in a comment", "SELECT 1 /* \u202e */", "invalid_characters"},
		{"zero width in a word", "SEL\u200bECT 1", "invalid_characters"},
		{"no-break space", "SELECT\u00a01", "invalid_characters"},
		{"letters", "SELECT größe, 値 FROM t", ""},
		{"executable comment", "SELECT 1 /*! DROP */", "executable_comment"},
		{"client command", `SELECT 1 \g`, "client_command"},
		{"too large", "SELECT '" + repeat("x", 64<<10) + "'", "input_too_large"},
		{"largest", "SELECT '" + repeat("x", 64<<10-9) + "'", ""},
		{"tokens at the limit", "SELECT " + repeat("1,", 24_999) + "1", ""},
		{"tokens beyond", "SELECT " + repeat("1,", 25_000) + "1", "input_too_large"},
		{"operator characters at the limit", "SELECT 1 /*" + repeat("*", 4092) + "*/", ""},
		{"operator characters beyond", "SELECT 1 /*" + repeat("*", 4093) + "*/", "input_too_large"},
		{"comments in a row", "SELECT 1 " + repeat("/**/", 1025), "input_too_large"},
		{"depth at the limit", "SELECT " + repeat("(", 256) + "1" + repeat(")", 256), ""},
		{"depth beyond", "SELECT " + repeat("(", 257) + "1" + repeat(")", 257), "nesting_too_deep"},
		{"depth of CASE", "SELECT " + repeat("CASE WHEN 1 THEN ", 257) + "1" + repeat(" END", 257), "nesting_too_deep"},
		{"CASE in a row", "SELECT " + repeat("CASE WHEN 1 THEN 2 END, ", 300) + "1", ""},
		{"CASE as a name", "SELECT " + repeat("1 AS case, t.case, ", 300) + "1", ""},
		{"chain at the limit", "SELECT 1" + repeat("+1", 2000), ""},
		{"chain beyond", "SELECT 1" + repeat("+1", 2001), "nesting_too_deep"},
		{"chain of names", "SELECT a" + repeat("+a", 2000), ""},
		{"chain of brackets", "SELECT (1)" + repeat("+(1)", 2001), "nesting_too_deep"},
		{"chain of calls", "SELECT f(1)" + repeat("*f(1)", 2001), "nesting_too_deep"},
		{"chain of subscripts", "SELECT a" + repeat("[1]", 2001), "nesting_too_deep"},
		{"chain of CASE", "SELECT 1" + repeat("+CASE WHEN 1 THEN 2 END", 2001), "nesting_too_deep"},
		{"chain of COLLATE", `SELECT a` + repeat(` COLLATE "C"`, 2001), "nesting_too_deep"},
		{"chain of AT TIME ZONE", "SELECT a" + repeat(" AT TIME ZONE 'x'", 700), "nesting_too_deep"},
		{"chain of ISNULL", "SELECT a" + repeat(" ISNULL", 2001), "nesting_too_deep"},
		{"chain of IS DISTINCT FROM", "SELECT a" + repeat(" IS DISTINCT FROM a", 1000), "nesting_too_deep"},
		{"chain of BETWEEN", "SELECT a" + repeat(" BETWEEN 1 AND 2", 1001), "nesting_too_deep"},
		{"BETWEEN joined by AND", "SELECT a" + repeat(" BETWEEN 1 AND 2 AND a", 2500), ""},
		{"chains in brackets, each below the limit", "SELECT ((1" + repeat("+1", 1000) + ")" + repeat("+1", 1000) + ")", "nesting_too_deep"},
		{"chains in brackets, together at the limit", "SELECT ((1" + repeat("+1", 998) + ")" + repeat("+1", 1000) + ")", ""},
		{"chains side by side", "SELECT f(1" + repeat("+1", 1900) + ", 1" + repeat("+1", 1900) + "), (1" + repeat("+1", 1900) + ")", ""},
		{"chain below joins below set operations", "SELECT (1" + repeat("+1", 700) + ") FROM t" + repeat(" JOIN t ON a", 700) + repeat(" UNION SELECT 1", 700), "nesting_too_deep"},
		{"keyword as a column", "SELECT values" + repeat("+values", 2001), "nesting_too_deep"},
		{"keyword after a dot", "SELECT t.select" + repeat("+t.select", 2001), "nesting_too_deep"},
		{"AND", "SELECT a = 1" + repeat(" AND a = 1", 4000), ""},
		{"OR", "SELECT a = 1" + repeat(" OR a = 1", 4000), ""},
		{"IN list", "SELECT a IN (1" + repeat(",1", 20_000) + ")", ""},
		{"joins", "SELECT 1 FROM a" + repeat(" JOIN a ON b", 101), "nesting_too_deep"},
		{"joins at the limit", "SELECT 1 FROM a" + repeat(" JOIN a ON b", 100), ""},
		{"joins by commas", "SELECT a, b FROM a" + repeat(", a", 101) + " WHERE b IN (1, 2)", "nesting_too_deep"},
		{"joins in sub-queries", "SELECT 1 FROM a" + repeat(" JOIN (SELECT 1 FROM a, b, c) d ON e", 40), "nesting_too_deep"},
		{"joins in common table expressions", "WITH a AS (SELECT 1 FROM b JOIN c ON d)" + repeat(", a AS (SELECT 1 FROM a JOIN b USING (c))", 100) + " SELECT 1 FROM a", "nesting_too_deep"},
		{"joins of other SELECTs", "SELECT 1 FROM a JOIN b ON c, d" + repeat(" UNION SELECT 1 FROM a JOIN b ON c, d", 90), ""},
		{"commas of other clauses", "SELECT 1" + repeat(", 1", 500) + " FROM a WHERE b ORDER BY c" + repeat(", c", 500), ""},
		{"set operations", "SELECT 1" + repeat(" UNION SELECT 1", 2001), "nesting_too_deep"},
		{"common table expressions", "WITH a AS (SELECT 1)" + repeat(",a AS (SELECT 1)", 150) + " SELECT 1", "nesting_too_deep"},
		{"common table expressions at the limit", "WITH a AS (SELECT 1)" + repeat(",a AS (SELECT 1)", 149) + " SELECT 1", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := newGuard(t, selecting(nil), sqlguard.Policy{}, nil).Check(test.sql)
			if got := codes(v); got != test.want {
				t.Errorf("codes = %q, want %q: %v", got, test.want, v.Findings)
			}
		})
	}
}

func TestVerticalTabIsTheDialectsChoice(t *testing.T) {
	d := selecting(nil)
	d.vt = true
	if v := newGuard(t, d, sqlguard.Policy{}, nil).Check("SELECT\v1"); !v.Allowed {
		t.Errorf("refused: %v", v.Findings)
	}
}

func TestScreenFollowsTheStack(t *testing.T) {
	for stack, want := range map[uint64]int{
		8 << 20: 2000, 2 << 20: 2000, 1 << 20: 1600, 256 << 10: 400, 128 << 10: 200, 64 << 10: 0, 0: 1600,
	} {
		if got := sqlguard.ChainFor(stack); got != want {
			t.Errorf("stack %d: %d links, want %d", stack, got, want)
		}
	}
}

func TestNormalize(t *testing.T) {
	g := newGuard(t, selecting(nil), sqlguard.Policy{}, nil)
	same := []string{
		"SELECT a , 'x' FROM T WHERE b=1",
		"select  a,'it is data' /* note */ from t\nwhere B = 42 ;",
	}
	first := g.Check(same[0])
	if want := `select a, ? from t where b = ?`; first.Normalized != want {
		t.Errorf("Normalized = %q, want %q", first.Normalized, want)
	}
	if second := g.Check(same[1]); second.Fingerprint != first.Fingerprint {
		t.Errorf("%q and %q differ", first.Normalized, second.Normalized)
	}
	if other := g.Check("SELECT a, 'x' FROM u WHERE b=1"); other.Fingerprint == first.Fingerprint {
		t.Error("another table has the same fingerprint")
	}
	if v := g.Check("SELECT 'secret"); strings.Contains(v.Normalized, "secret") {
		t.Errorf("an unterminated literal is in %q", v.Normalized)
	}
}

func TestSplit(t *testing.T) {
	const text = "; SELECT 1 ; /* only this */ ;\n SELECT ';' -- x\n"
	var got []string
	for _, s := range sqlguard.Split(reader{}, text) {
		got = append(got, text[s.Start:s.End])
	}
	if want := []string{"SELECT 1", "SELECT ';' - - x"}; fmt.Sprint(got[0]) != want[0] || len(got) != 2 {
		t.Errorf("Split = %q", got)
	}
}

func TestPosition(t *testing.T) {
	const text = "a\r\nb\rc\nä𝄞x"
	for offset, want := range map[int][2]int{
		0: {1, 1}, 1: {1, 2}, 3: {2, 1}, 5: {3, 1}, 7: {4, 1}, 9: {4, 2}, 13: {4, 3}, 14: {4, 4}, 99: {4, 4}, -1: {1, 1},
	} {
		if line, column := sqlguard.Position(text, offset); line != want[0] || column != want[1] {
			t.Errorf("Position(%d) = %d:%d, want %d:%d", offset, line, column, want[0], want[1])
		}
	}
}

func TestCacheIsByText(t *testing.T) {
	g := newGuard(t, selecting(nil), sqlguard.Policy{}, nil)
	for i := range 5000 { // more statements than the cache holds
		sql := fmt.Sprintf("SELECT %d FROM t%d", i, i)
		for range 2 {
			if v := g.Check(sql); !v.Allowed || !strings.Contains(v.Normalized, fmt.Sprintf("t%d", i)) {
				t.Fatalf("Check(%q) = %+v", sql, v)
			}
		}
	}
	if n := g.Cached(); n != 4096 {
		t.Errorf("the cache has %d verdicts, want 4096", n)
	}
}

func BenchmarkCachedVerdict(b *testing.B) {
	g, err := sqlguard.New(selecting(nil), sqlguard.Policy{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{240, 8 << 10} {
		sql := "SELECT '" + strings.Repeat("x", size-9) + "'"
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			g.Check(sql)
			for b.Loop() {
				g.Check(sql)
			}
		})
	}
}

// TestNormalFormKeepsStatementsApart: the normal form has a ; between statements, and none
// around them.
func TestNormalFormKeepsStatementsApart(t *testing.T) {
	g := newGuard(t, selecting(nil), sqlguard.Policy{}, nil)
	for sql, want := range map[string]string{
		"SELECT a;":                       "select a",
		";; SELECT a ;; ; DELETE FROM t;": "select a; delete from t",
		"SELECT ';' ; SELECT 2":           "select ?; select ?",
	} {
		if got := g.Check(sql).Normalized; got != want {
			t.Errorf("%q: %q, want %q", sql, got, want)
		}
	}
}
