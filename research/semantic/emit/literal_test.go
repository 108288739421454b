package emit_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// texts are literals that some engine or mode could read in another way.
var texts = []string{
	"", "x", "'", "''", `\`, `\\`, `\'`, `a\nb`, "a\nb", "\\\n", "\\\r\n", `"`, "`", "%", "_", `\%`, "a;b", "--", "/*", "$1", "$$", "?", ":a", "@a", "é", "𝄞", "\u202e", "\t", " x ", "[a]", "|", "||", "NULL", "0x41", "E'a'", "N'a'", "_utf8mb4",
}

// ofConstants is a plan with an expression for each dimension, over one row.
func ofConstants(m *model.Model, list []*expr.Expr) *plan.Plan {
	p := &plan.Plan{Model: m, Limit: -1, Legs: []plan.Leg{{Base: 0}}}
	for i, e := range list {
		p.Dimensions = append(p.Dimensions, plan.Dimension{Name: fmt.Sprintf("c%d", i), Expr: e})
	}
	return p
}

// one returns the values of the only row.
func one(tb fataler, res *execution.Result) []string {
	tb.Helper()
	if len(res.Rows) != 1 {
		tb.Fatalf("%d rows", len(res.Rows))
	}
	out := make([]string, 0, len(res.Rows[0]))
	for _, v := range res.Rows[0] {
		out = append(out, v.Text)
	}
	return out
}

func single(tb testing.TB) *model.Model {
	tb.Helper()
	return newModel(tb, source{name: "single", columns: []string{"a:number"}})
}

func singleOn(tb testing.TB) map[emit.Dialect]*executiontest.Client {
	tb.Helper()
	statements := []string{"CREATE TABLE single (a integer)", "INSERT INTO single VALUES (1)"}
	return map[emit.Dialect]*executiontest.Client{
		emit.SQLite: onSQLite(tb, statements), emit.Postgres: onPostgres(tb, statements), emit.MySQL: onMariaDB(tb, statements),
	}
}

func ofTexts() []*expr.Expr {
	list := make([]*expr.Expr, 0, len(texts))
	for _, s := range texts {
		list = append(list, &expr.Expr{Op: expr.OpString, Text: s})
	}
	return list
}

func checkLiterals(t *testing.T, d emit.Dialect, c *executiontest.Client) {
	t.Helper()
	sql, err := emit.Emit(ofConstants(single(t), ofTexts()), d)
	if err != nil {
		t.Fatal(err)
	}
	compareTexts(t, one(t, c.Get(t, sql.Text, execution.Limits{})))
}

func compareTexts(t *testing.T, got []string) {
	t.Helper()
	for i, s := range texts {
		if got[i] != s {
			t.Errorf("got %q, want %q", got[i], s)
		}
	}
}

// TestLiterals reads literals back from the servers, from MariaDB in both modes of the
// backslash, and from PostgreSQL in both modes too.
func TestLiterals(t *testing.T) {
	p := ofConstants(single(t), ofTexts())
	for d, c := range singleOn(t) {
		t.Run(string(d), func(t *testing.T) { checkLiterals(t, d, c) })
	}
	t.Run("modes of MariaDB", func(t *testing.T) {
		server := testdb.MariaDB(t)
		db := server.DB(t, server.NewDatabase(t, "CREATE TABLE single (a integer)", "INSERT INTO single VALUES (1)"))
		sql, refused := emit.Emit(p, emit.MySQL)
		if refused != nil {
			t.Fatal(refused)
		}
		for _, mode := range []string{"", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES"} {
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.ExecContext(t.Context(), "SET SESSION sql_mode = '"+mode+"'"); err != nil {
				t.Fatal(err)
			}
			got := make([]string, len(texts))
			into := make([]any, len(texts))
			for i := range got {
				into[i] = &got[i]
			}
			if err := conn.QueryRowContext(t.Context(), sql.Text).Scan(into...); err != nil {
				t.Fatal(err)
			}
			compareTexts(t, got)
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestLike compares LIKE on the servers with a matcher of three lines.
func TestLike(t *testing.T) { checkLike(t, singleOn(t)) }

func checkLike(t *testing.T, servers map[emit.Dialect]*executiontest.Client) {
	t.Helper()
	outer, m := t, single(t)
	pieces := rapid.SampledFrom([]string{"a", "b", "A", "%", "_", `\`, "|", "[", "]", "*", "?", "'", "^", "-", "é", "!"})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(pieces, 0, 5).Draw(t, "pieces"), "") })
	rapid.Check(outer, func(t *rapid.T) {
		var list []*expr.Expr
		var want []string
		for range 40 {
			value, pattern := text.Draw(t, "value"), text.Draw(t, "pattern")
			p := &expr.Expr{Op: expr.OpString, Text: pattern}
			if rapid.Bool().Draw(t, "computed") {
				p = &expr.Expr{Op: expr.OpCall, Func: "coalesce", Args: []*expr.Expr{p, {Op: expr.OpNull}}}
			}
			like := &expr.Expr{Op: expr.OpLike, Args: []*expr.Expr{{Op: expr.OpString, Text: value}, p}}
			list = append(list, &expr.Expr{Op: expr.OpCase, Args: []*expr.Expr{like, {Op: expr.OpNumber, Text: "1"}, {Op: expr.OpNumber, Text: "0"}}})
			want = append(want, map[bool]string{true: "1", false: "0"}[matches([]rune(value), []rune(pattern))])
		}
		for d, c := range servers {
			sql, err := emit.Emit(ofConstants(m, list), d)
			if err != nil {
				t.Fatal(err)
			}
			res, failed := c.Try(outer.Context(), outer, sql.Text, execution.Limits{})
			if failed != nil {
				t.Fatal(failed)
			}
			got := one(t, res)
			for i := range want {
				caseless := d == emit.MySQL && strings.ContainsAny(fmt.Sprint(list[i].Args[0].Args[0].Text), "aA") // by its collation
				if got[i] != want[i] && !caseless {
					t.Fatalf("%s: %q LIKE %q gives %s", d, list[i].Args[0].Args[0].Text, list[i].Args[0].Args[1], got[i])
				}
			}
		}
	})
}

func matches(s, pattern []rune) bool {
	switch {
	case len(pattern) == 0:
		return len(s) == 0
	case pattern[0] == '%':
		return matches(s, pattern[1:]) || len(s) > 0 && matches(s[1:], pattern)
	default:
		return len(s) > 0 && (pattern[0] == '_' || pattern[0] == s[0]) && matches(s[1:], pattern[1:])
	}
}
