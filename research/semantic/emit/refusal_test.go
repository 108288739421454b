package emit_test

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// TestRefusals has plans that an engine, or every engine, cannot answer.
func TestRefusals(t *testing.T) {
	table := func(parts ...string) *plan.Plan {
		m := newModel(t, source{name: "x", table: strings.Join(parts, "."), columns: []string{"a:number", "t:time"}})
		return ask{measures: []string{"sum(x.a) as s"}, legs: []leg{{base: "x"}}}.plan(t, m)
	}
	where := func(text string) *plan.Plan {
		m := newModel(t, source{name: "x", columns: []string{"a:number", "t:time"}})
		return ask{measures: []string{"sum(x.a) as s"}, legs: []leg{{base: "x", where: []string{text}}}}.plan(t, m)
	}
	sql := func(text string) *plan.Plan {
		m := newModel(t, source{name: "x", sql: text, columns: []string{"a:number"}})
		return ask{measures: []string{"sum(x.a) as s"}, legs: []leg{{base: "x"}}}.plan(t, m)
	}
	broken := func(change func(p *plan.Plan)) *plan.Plan {
		p := table("x")
		change(p)
		return p
	}
	circular := newModel(t, source{name: "x", columns: []string{"a:number", "b:number = a"}})
	circular.Sources[0].Columns[1].Expr = &expr.Expr{Op: expr.OpNeg, Args: []*expr.Expr{{Op: expr.OpField, Field: expr.Field{Node: expr.Self, Column: 1}}}}

	for _, c := range []struct {
		name  string
		plan  *plan.Plan
		on    []emit.Dialect
		class expr.Class
	}{
		{"three parts of a table", table("a", "b", "c"), []emit.Dialect{emit.MySQL, emit.SQLite, emit.ClickHouse}, expr.UnsupportedInDialect},
		{"four parts of a table", table("a", "b", "c", "d"), all, expr.UnsupportedInDialect},
		{"a long name", table(strings.Repeat("x", 64)), []emit.Dialect{emit.Postgres}, expr.UnsupportedInDialect},
		{"NUL in a name", table("a\x00b"), all, expr.UnsafeExpression},
		{"a text that is no time", where("t > 'yesterday'"), all, expr.UnsafeExpression},
		{"a day that does not exist", where("t > '2023-02-29'"), all, expr.UnsafeExpression},
		{"a long interval", where("t > now() - interval '9999999 days'"), all, expr.UnsafeExpression},
		{"a day before all others", where("t > '1899-12-31'"), []emit.Dialect{emit.ClickHouse}, expr.UnsupportedInDialect},
		{"a day without end", where("t < date '9999-12-31'"), []emit.Dialect{emit.ClickHouse}, expr.UnsupportedInDialect},
		{"a name that is a file", table("a/b"), []emit.Dialect{emit.DuckDB}, expr.UnsupportedInDialect},
		{"WITH", sql("WITH y AS (SELECT 1 AS a) SELECT a FROM y"), []emit.Dialect{emit.SQLServer}, expr.UnsupportedInDialect},
		{"WITH after a comment", sql(" -- one\n/* two */ with y AS (SELECT 1 AS a) SELECT a FROM y;"), []emit.Dialect{emit.SQLServer}, expr.UnsupportedInDialect},
		{"a dialect without SQL", table("x"), []emit.Dialect{"mongodb", ""}, expr.UnsupportedInDialect},
		{"no columns", broken(func(p *plan.Plan) { p.Measures = nil }), all, expr.InvalidRequest},
		{"no legs", broken(func(p *plan.Plan) { p.Legs = nil }), all, expr.InvalidRequest},
		{"an unbound name", broken(func(p *plan.Plan) { p.Atoms[0].Args = []*expr.Expr{{Op: expr.OpName}} }), all, expr.InvalidRequest},
		{"a column of another leg", broken(func(p *plan.Plan) { p.Measures[0].Expr = bound(t, p.Model, 0, 0, "a") }), all, ""},
		{"an aggregate that is not there", broken(func(p *plan.Plan) { p.Legs[0].Atoms = []int{3} }), all, expr.InvalidRequest},
		{"a circular column", broken(func(p *plan.Plan) {
			p.Model = circular
			p.Atoms[0].Args = []*expr.Expr{{Op: expr.OpField, Field: expr.Field{Column: 1}}}
		}), all, expr.InvalidRequest},
		{"a number that is none", broken(func(p *plan.Plan) { p.Atoms[0].Args = []*expr.Expr{{Op: expr.OpNumber, Text: "1); DROP TABLE x"}} }), all, expr.InvalidRequest},
		{"a date that is none", broken(func(p *plan.Plan) { p.Atoms[0].Args = []*expr.Expr{{Op: expr.OpDate, Text: "' OR 1=1"}} }), all, expr.InvalidRequest},
		{"a function that is none", broken(func(p *plan.Plan) { p.Atoms[0].Args = []*expr.Expr{{Op: expr.OpCall, Func: "pg_sleep"}} }), all, expr.UnsupportedInDialect},
		{"an aggregate that is none", broken(func(p *plan.Plan) { p.Atoms[0].Func = "pg_sleep" }), all, expr.InvalidRequest},
		{"a text without end", broken(func(p *plan.Plan) {
			e := p.Atoms[0].Args[0]
			for range 40 { // each twice as long
				e = &expr.Expr{Op: expr.OpAdd, Args: []*expr.Expr{e, e}}
			}
			p.Atoms[0].Args[0] = e
		}), all, expr.InvalidRequest},
	} {
		for _, d := range c.on {
			t.Run(c.name+"/"+string(d), func(t *testing.T) {
				out, err := emit.Emit(c.plan, d)
				if err == nil || c.class != "" && err.Class != c.class || err.Message == "" || out.Text != "" {
					t.Errorf("got %q, %v, want %s", out.Text, err, c.class)
				}
			})
		}
	}
}

// TestWithStays has a body that only looks like one with WITH.
func TestWithStays(t *testing.T) {
	for _, text := range []string{"SELECT a FROM b WITH (NOLOCK)", "/* WITH */ SELECT a FROM b", "SELECT a AS without FROM b"} {
		m := newModel(t, source{name: "x", sql: text, columns: []string{"a:number"}})
		if _, err := emit.Emit(ask{measures: []string{"sum(x.a) as s"}, legs: []leg{{base: "x"}}}.plan(t, m), emit.SQLServer); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestSupports(t *testing.T) {
	for _, c := range []struct {
		text string
		on   []emit.Dialect
	}{
		{"sum(a) / count(b)", all},
		{"count(distinct a) filter (where b > 1)", all},
		{"round(avg(a), 2)", all},
		{"median(a)", []emit.Dialect{emit.Postgres, emit.ClickHouse, emit.DuckDB, emit.BigQuery}},
		{"1 + coalesce(percentile(a, 0.9), 0)", []emit.Dialect{emit.Postgres, emit.ClickHouse, emit.DuckDB, emit.BigQuery}},
	} {
		e, err := expr.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			want := false
			for _, on := range c.on {
				want = want || on == d
			}
			err := emit.Supports(e, d)
			if (err == nil) != want || err != nil && (err.Class != expr.UnsupportedInDialect || err.Hint == "") {
				t.Errorf("%s on %s: %v", c.text, d, err)
			}
		}
	}
	if err := emit.Supports(nil, emit.SQLite); err != nil {
		t.Error(err)
	}
}

// TestColumns has the columns in the order of the request.
func TestColumns(t *testing.T) {
	a := ask{dims: []string{"orders.status as b", "orders.id as a"}, measures: []string{"count(*) as d", "sum(orders.amount) as c"}, legs: []leg{{base: "orders"}}}
	sql, err := emit.Emit(a.plan(t, shop(t)), emit.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	want := []emit.Column{{Name: "b", Kind: "dimension"}, {Name: "a", Kind: "dimension"}, {Name: "d", Kind: "measure"}, {Name: "c", Kind: "measure"}}
	if diff := gocmp.Diff(want, sql.Columns); diff != "" {
		t.Error(diff)
	}
}

// TestEqualTexts writes a plan many times.
func TestEqualTexts(t *testing.T) {
	m := shop(t)
	for _, a := range plans {
		for _, d := range all {
			first, refused := emit.Emit(a.plan(t, m), d)
			for range 3 {
				if again, err := emit.Emit(a.plan(t, m), d); again.Text != first.Text || (err == nil) != (refused == nil) {
					t.Fatalf("%s on %s differs", a.name, d)
				}
			}
		}
	}
}
