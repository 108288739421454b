package plan_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// shop is the model of the tests. All of its sources but broken are valid.
var shop = sync.OnceValue(func() *model.Model {
	return model.Load(os.DirFS("testdata/shop"), "shop", nil)
})

func TestTheModelOfTheTestsIsValid(t *testing.T) {
	m := shop()
	if len(m.Sources) != 15 {
		t.Errorf("%d sources, want 15", len(m.Sources))
	}
	for _, s := range m.Sources {
		if s.Invalid != (s.Name == "broken") {
			t.Errorf("%s: invalid is %t", s.Name, s.Invalid)
		}
	}
	for _, p := range m.Problems {
		if p.Source != "broken" {
			t.Errorf("%s: %s: %s", p.File, p.Class, p.Message)
		}
	}
}

// ask writes a request in short: measures, then dimensions. A dimension may end in
// @grain, and either in =name or not.
func ask(measures, dimensions string) plan.Request {
	r := plan.Request{Limit: -1}
	for _, m := range words(measures) {
		r.Measures = append(r.Measures, plan.MeasureRequest{Expr: m})
	}
	for _, d := range words(dimensions) {
		field, grain, _ := strings.Cut(d, "@")
		r.Dimensions = append(r.Dimensions, plan.DimensionRequest{Field: field, Granularity: grain})
	}
	return r
}

// words splits at semicolons.
func words(s string) []string {
	var list []string
	for w := range strings.SplitSeq(s, ";") {
		if w = strings.TrimSpace(w); w != "" {
			list = append(list, w)
		}
	}
	return list
}

func filtered(r plan.Request, filters ...string) plan.Request {
	r.Filters = filters
	return r
}

func segmented(r plan.Request, segments ...string) plan.Request {
	r.Segments = segments
	return r
}

func ordered(r plan.Request, keys ...string) plan.Request {
	for _, k := range keys {
		field, desc := strings.CutSuffix(k, " desc")
		r.OrderBy = append(r.OrderBy, plan.OrderRequest{Field: field, Desc: desc})
	}
	return r
}

func named(r plan.Request, names ...string) plan.Request {
	for i, n := range names {
		r.Measures[i].Name = n
	}
	return r
}

func noEmpty(r plan.Request) plan.Request {
	r.NoEmpty = true
	return r
}

func build(t *testing.T, r plan.Request) *plan.Plan {
	t.Helper()
	p, err := plan.Build(shop(), r)
	if err != nil {
		t.Fatalf("%v (%s)", err, err.Hint)
	}
	return p
}

// dump writes what a plan holds, with names instead of numbers.
func dump(p *plan.Plan) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	for _, d := range p.Dimensions {
		grain := ""
		if d.Grain != plan.NoGrain {
			grain = " by " + d.Grain.String()
		}
		line("dimension %s = %s%s", d.Name, show(p, d.Expr), grain)
	}
	for _, m := range p.Measures {
		line("measure %s = %s", m.Name, show(p, m.Expr))
	}
	for _, h := range p.Having {
		line("having %s", show(p, h))
	}
	for i, l := range p.Legs {
		kind := "leg"
		if l.Spine {
			kind = "spine"
		}
		text := fmt.Sprintf("%s %d %s", kind, i, p.Model.Nodes[l.Base].Name)
		for _, j := range l.Joins {
			e := p.Model.Edges[j.Edge]
			text += fmt.Sprintf(", %s to %s", p.Model.Nodes[e.From].Name, p.Model.Nodes[e.To].Name)
		}
		for _, w := range l.Where {
			text += " where " + show(p, w)
		}
		if l.Semi != nil {
			text += " at " + show(p, l.Semi.Over)
			if l.Semi.First {
				text += " first"
			}
			for _, x := range l.Semi.Per {
				text += " per " + show(p, x)
			}
		}
		line("%s", text)
		for _, a := range l.Atoms {
			atom := p.Atoms[a]
			e := &expr.Expr{Op: expr.OpAggregate, Func: atom.Func, Distinct: atom.Distinct, Args: atom.Args, Filter: atom.Filter}
			line("  %d %s", a, show(p, e))
		}
	}
	for _, k := range p.Order {
		var name string
		if k.Dimension >= 0 {
			name = p.Dimensions[k.Dimension].Name
		} else {
			name = p.Measures[k.Measure].Name
		}
		if k.Desc {
			name += " desc"
		}
		line("order %s", name)
	}
	return out.String()
}

func show(p *plan.Plan, e *expr.Expr) string {
	e, err := expr.Map(e, func(x *expr.Expr) (*expr.Expr, *expr.Error) {
		if x.Op == expr.OpField {
			n := p.Model.Nodes[x.Field.Node]
			return &expr.Expr{Op: expr.OpName, Name: expr.Name{Qualifier: n.Name, Leaf: p.Model.Sources[n.Source].Columns[x.Field.Column].Name}}, nil
		}
		if x.Op == expr.OpAtom {
			return &expr.Expr{Op: expr.OpName, Name: expr.Name{Leaf: fmt.Sprintf("#%d", x.Index)}}, nil
		}
		return x, nil
	})
	if err != nil {
		return err.Error()
	}
	return e.String()
}

func TestRules(t *testing.T) {
	tests := []struct {
		name    string
		request plan.Request
	}{
		{"R1 a measure is aggregated over the rows of its own source", ask("orders.revenue", "customers.region")},
		{"R1 a measure under an alias is aggregated over the alias", ask("manager.headcount", "manager.title")},
		{"R1 equal aggregates are one atom", ask("orders.revenue; orders.net; sum(orders.amount)", "")},
		{"R2 a reversed one_to_one is safe", ask("products.products", "details.colour")},
		{"R3 several bases are several legs", ask("orders.revenue; sessions.sessions", "customers.region")},
		{"R3 a measure over two sources", ask("sessions.revenue_per_session", "customers.region")},
		{"R4 all joins keep the rows of the base", ask("items.revenue", "customers.region")},
		{"R5 a count is never NULL and the finest source adds its members", ask("orders.orders", "customers.region; campaigns.channel")},
		{"R5 members are added whatever the order", ask("orders.orders", "campaigns.channel; customers.region")},
		{"R5 no members without include_empty", noEmpty(ask("orders.orders", "customers.region"))},
		{"R5 no members where no source reaches all dimensions", ask("items.quantity", "products.category; customers.region")},
		{"R5 no members where a filter is not of theirs", filtered(ask("orders.orders", "customers.region"), "orders.status = 'open'")},
		{"R5 filters apply to added members", filtered(ask("orders.orders", "customers.name"), "campaigns.channel = 'mail'")},
		{"R5 the base itself has all of its members", ask("orders.revenue", "orders.status; customers.region")},
		{"R5 another base has not", ask("items.revenue", "orders.status; customers.region")},
		{"R5 two sources that reach each other add both", ask("items.revenue", "products.category; details.colour")},
		{"R5 one row without dimensions", ask("orders.orders", "")},
		{"R6 and R10 division and absent sums", ask("orders.average_order; orders.net", "")},
		{"R6 in a request", ask("sum(orders.amount) / sum(orders.refund); safe_divide(orders.revenue, orders.largest)", "")},
		{"R6 not inside an aggregate", ask("sum(orders.amount / orders.refund)", "")},
		{"R6 remainder by zero", ask("orders.revenue % orders.refunds", "")},
		{"R7 measure filters", filtered(ask("orders.revenue", "customers.region"), "orders.orders > 5 AND sum(sessions.seconds) - orders.revenue < 100")},
		{"R7 both kinds joined by AND", filtered(ask("orders.revenue", "customers.region"), "customers.status = 'new' AND orders.revenue > 5")},
		{"R8 explicit keys come first", ordered(ask("orders.revenue", "customers.region; customers.status"), "revenue desc", "status")},
		{"R8 keys as the request names them", ordered(ask("orders.revenue; sum(orders.amount) * 2", "customers.region; orders.ordered_on@month"), "ordered_on", "orders.revenue desc", "sum( orders.amount )*2", "CUSTOMERS.Region")},
		{"R8 quoted names of outputs", ordered(named(ask("orders.revenue", "customers.region"), "The Revenue"), "\"The Revenue\" desc")},
		{"R9 granularities", ask("orders.revenue", "orders.ordered_on@MONTH; ship_day.day@week; orders.ordered_on")},
		{"R10 not for avg, min, max, and other functions", named(ask("avg(orders.amount) + max(orders.amount) + coalesce(orders.revenue, 1) - orders.revenue; -orders.revenue", ""), "mixed")},
		{"R11 names collide", ask("orders.revenue; items.revenue; sum(orders.amount)", "orders.status; customers.status; orders.ordered_on@day; ship_day.day")},
		{"R11 names of expressions", ask("sum(orders.amount) FILTER (WHERE orders.status = 'Open')", "")},
		{"R12 segments of a measure", ask("orders.paid_net", "")},
		{"R12 segments of the request", segmented(ask("sessions.revenue_per_session; count(orders.order_id)", ""), "orders.recent")},
		{"R12 segments of an alias", segmented(ask("manager.payroll; employees.payroll", ""), "employees.well_paid")},
		{"R12 a segment over the join of an alias", segmented(ask("employees.payroll", ""), "employees.overtakes")},
		{"R12 segments named by an alias", segmented(ask("manager.payroll; employees.payroll", ""), "manager.well_paid")},
		{"R12 the filter of a measure holds for all aggregates below it", ask("sessions.northern_value", "")},
		{"R13 a filter holds for every base", filtered(ask("orders.revenue; sessions.sessions", "customers.region"), "customers.status = 'new'")},
		{"R14 the shortest path", ask("sessions.sessions", "campaigns.channel")},
		{"R14 aliases", ask("orders.revenue", "order_day.weekday; ship_day.weekday")},
		{"R14 a source joined to itself", ask("employees.headcount", "manager.title")},
		{"R15 dimensions alone", ask("", "customers.region; orders.status")},
		{"R15 of sources that reach each other", ask("", "products.name; details.colour")},
		{"R15 with a filter", filtered(ask("", "customers.region"), "campaigns.channel = 'mail'")},
		{"R7 a name that is a column and a measure", filtered(ask("orders.revenue", ""), "orders.amount > 5")},
		{"R7 a name that is a column and a filtered measure", filtered(ask("balances.rows", ""), "balances.active AND balances.balance > 1")},
		{"R15 with a measure filter", filtered(ask("", "customers.region"), "orders.revenue > 5")},
		{"R16 the base of an expression", ask("sum(items.quantity * products.product_id); count(distinct customers.region) FILTER (WHERE orders.paid)", "")},
		{"R16 each aggregate has its own base", ask("sum(orders.amount) / count(sessions.session_id)", "customers.region")},
		{"R17 bare names", filtered(ask("net; tagged", "region"), "channel = 'mail' AND net > 5")},
		{"R17 a computed column reaches further", ask("items.revenue", "orders.home_region")},
		{"R17 a computed column keeps the path from its own source", ask("sessions.sessions", "customers.won_by")},
		{"R17 a measure that has the name of a hidden column", filtered(ask("customers.email", "region"), "customers.email > 1")},
		{"R18 duplicates of a dimension collapse", ask("", "customers.region; region; customers.region")},
		{"R19 texts that stand against a time are times", filtered(ask("count(orders.order_id) FILTER (WHERE orders.shipped_on < '2024-02-01')", ""), "orders.ordered_on >= '2024-01-01' AND max(orders.shipped_on) > '2024-01-31 10:00'")},
		{"R20 last and first values", ask("balances.closing; balances.rows; balances.closing_active", "customers.region; balances.day@month")},
		{"R20 below another measure", ask("balances.growth", "")},
	}
	var got strings.Builder
	for _, test := range tests {
		fmt.Fprintf(&got, "== %s\n", test.name)
		p, err := plan.Build(shop(), test.request)
		if err != nil {
			t.Errorf("%s: %v (%s)", test.name, err, err.Hint)
			continue
		}
		got.WriteString(dump(p))
		for _, n := range p.Notes {
			fmt.Fprintf(&got, "note %s\n", n)
		}
	}
	golden(t, "rules.txt", got.String())
}

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}
