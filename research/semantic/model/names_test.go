package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

const shop = orders + `  - {name: place, type: string, expr: "concat(customers.home, ' / ', status)"}
  - {name: big, type: boolean, expr: amount > 100}
  - {name: since, type: boolean, expr: created_at >= '2024-01-31'}
joins:
  - {to: customers, on: customer_id = customers.id, relationship: many_to_one}
  - {to: ports, on: amount = from_port.id, relationship: many_to_one, alias: from_port}
  - {to: ports, on: customer_id = to_port.id, relationship: many_to_one, alias: to_port}
  - {to: orders, on: amount = parent.id, relationship: many_to_one, alias: parent}
measures:
  - {name: revenue, expr: sum(amount), filter: big}
  - {name: count, expr: count(*)}
  - {name: amount, expr: avg(amount)}
  - {name: share, expr: revenue / customers.people}
  - {name: total, expr: sum(parent.amount)}
  - {name: alike, expr: people * 2}
segments:
  - {name: paid, expr: status = 'paid'}
  - {name: far, expr: customers.home <> 'HOME'}
  - {name: child, expr: parent.id IS NOT NULL}
`

const people = `name: customers
table: public.customers
grain: [id]
columns:
  - {name: id, type: number}
  - {name: Status, type: string}
  - {name: email, type: string, visibility: hidden}
  - {name: region_id, type: number}
  - {name: home, type: string, expr: upper(region)}
  - {name: code, type: string, visibility: internal}
joins:
  - {to: regions, on: region_id = regions.id, relationship: many_to_one}
measures:
  - {name: people, expr: count(*)}
  - {name: count, expr: count(*)}
`

const ports = `name: ports
table: ports
grain: [id]
columns:
  - {name: id, type: number}
  - {name: city, type: string}
  - {name: email, type: string}
  - {name: region_id, type: number}
  - {name: label, type: string, expr: city || regions.region}
joins:
  - {to: regions, on: region_id = regions.id, relationship: many_to_one}
measures:
  - {name: ports, expr: count(*)}
`

func shopModel(t *testing.T) *model.Model {
	t.Helper()
	return valid(t, files{"orders.yaml": shop, "customers.yaml": people, "ports.yaml": ports, "regions.yaml": regions})
}

func field(m *model.Model, f expr.Field) string {
	return m.Nodes[f.Node].Name + "." + m.Sources[m.Nodes[f.Node].Source].Columns[f.Column].Name
}

func TestColumnsOfRequests(t *testing.T) {
	t.Parallel()
	m := shopModel(t)
	tests := []struct {
		name, want string
		class      expr.Class
		near       string
	}{
		{name: "orders.amount", want: "orders.amount"},
		{name: "ORDERS.Amount", want: "orders.amount"},
		{name: `"orders"."amount"`, want: "orders.amount"},
		{name: "from_port.city", want: "from_port.city"},
		{name: "parent.amount", want: "parent.amount"},
		{name: "amount", want: "orders.amount"},
		{name: "city", want: "ports.city"},
		{name: "status", want: "orders.status"},    // the one in this case
		{name: "Status", want: "customers.Status"}, // and the other
		{name: "STATUS", class: expr.AmbiguousField, near: "customers.Status orders.status"},
		{name: "email", want: "ports.email"}, // the other one is hidden
		{name: "customers.email", class: expr.HiddenField},
		{name: "secret", class: expr.HiddenField},
		{name: "parent.secret", class: expr.HiddenField},
		{name: "customers.code", want: "customers.code"},
		{name: "code", want: "customers.code"},
		{name: "id", class: expr.AmbiguousField, near: "customers.id orders.id ports.id"},
		{name: "amout", class: expr.UnknownField, near: "orders.amount"},
		{name: "orders.amout", class: expr.UnknownField, near: "orders.amount"},
		{name: "parent.amout", class: expr.UnknownField, near: "parent.amount"},
		{name: "customers.cod", class: expr.UnknownField}, // an internal column is not offered
		{name: "order.amount", class: expr.UnknownSource, near: "orders"},
		{name: "revenue", class: expr.UnknownField},
		{name: "orders.revenue", class: expr.UnknownField},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := m.Column(name(t, tt.name))
			if classOf(err) != tt.class {
				t.Fatalf("class %q, want %q: %v", classOf(err), tt.class, err)
			}
			if err == nil {
				if got := field(m, f); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				return
			}
			if got := strings.Join(err.Near, " "); got != tt.near {
				t.Errorf("near %q, want %q", got, tt.near)
			}
			if strings.HasSuffix(tt.name, "revenue") && !strings.Contains(err.Hint, "measure") {
				t.Errorf("hint %q", err.Hint)
			}
			if tt.name == "amout" && !strings.HasPrefix(err.Hint, "a text is written in quotes, as 'amout'; or did you mean ") {
				t.Errorf("hint %q", err.Hint)
			}
		})
	}
}

func TestMeasuresOfRequests(t *testing.T) {
	t.Parallel()
	m := shopModel(t)
	tests := []struct {
		name, want string
		class      expr.Class
		hint       string
	}{
		{name: "orders.revenue", want: "orders.revenue"},
		{name: "revenue", want: "orders.revenue"},
		{name: "parent.revenue", want: "parent.revenue"},
		{name: "to_port.ports", want: "to_port.ports"},
		{name: "orders.count", want: "orders.count"},
		{name: "amount", want: "orders.amount"},
		{name: "count", class: expr.AmbiguousField, hint: "customers.count, orders.count"},
		{name: "revenu", class: expr.UnknownMeasure, hint: "orders.revenue"},
		{name: "status", class: expr.UnknownMeasure, hint: "count(orders.status)"},
		{name: "ports.region_id", class: expr.UnknownMeasure, hint: "sum(ports.region_id)"},
		{name: "customers.email", class: expr.UnknownMeasure},
		{name: "nothing.revenue", class: expr.UnknownSource},
		{name: "parent.total", class: expr.Disconnected, hint: "orders.total"}, // it goes over parent itself
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x, err := m.Measure(name(t, tt.name))
			if classOf(err) != tt.class {
				t.Fatalf("class %q, want %q: %v", classOf(err), tt.class, err)
			}
			if err != nil {
				if !strings.Contains(err.Hint, tt.hint) || tt.hint == "" && err.Hint != "" {
					t.Errorf("hint %q, want %q", err.Hint, tt.hint)
				}
				return
			}
			if got := m.Nodes[x.Node].Name + "." + m.Sources[m.Nodes[x.Node].Source].Measures[x.Index].Name; got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestSegmentsOfRequests(t *testing.T) {
	t.Parallel()
	m := shopModel(t)
	for text, want := range map[string]string{
		"orders.paid":  "orders 0",
		"Parent.PAID":  "parent 0",
		"paid":         "unknown_segment write orders.paid",
		"orders.payd":  "unknown_segment did you mean orders.paid?",
		"order.paid":   "unknown_source did you mean orders?",
		"parent.child": "disconnected use orders.child",
	} {
		n, i, err := m.Segment(name(t, text))
		var got string
		if err != nil {
			got = fmt.Sprint(err.Class, " ", err.Hint)
		} else {
			got = fmt.Sprint(m.Nodes[n].Name, " ", i)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// show writes a bound tree with names.
func show(m *model.Model, e *expr.Expr) string {
	named, _ := expr.Map(e, func(x *expr.Expr) (*expr.Expr, *expr.Error) {
		name := func(node, index int, leaf func(*model.Source) string) (*expr.Expr, *expr.Error) {
			c := *x
			c.Op = expr.OpName
			c.Name = expr.Name{Leaf: fmt.Sprint("self", index)}
			if node != expr.Self {
				c.Name = expr.Name{Qualifier: m.Nodes[node].Name, Leaf: leaf(m.Sources[m.Nodes[node].Source])}
			}
			return &c, nil
		}
		if x.Op == expr.OpField {
			return name(x.Field.Node, x.Field.Column, func(s *model.Source) string { return s.Columns[x.Field.Column].Name })
		}
		if x.Op == expr.OpMeasure {
			return name(x.Measure.Node, x.Measure.Index, func(s *model.Source) string { return s.Measures[x.Measure.Index].Name })
		}
		return x, nil
	})
	return named.String()
}

func TestExpand(t *testing.T) {
	t.Parallel()
	m := shopModel(t)
	for text, want := range map[string]string{
		"orders.amount":   "orders.amount; ",
		"orders.place":    "{present 1 concat({present 0 upper(regions.region)}, ' / ', orders.status)}; customers→regions orders→customers ",
		"parent.place":    "{present 5 concat({present 0 upper(regions.region)}, ' / ', parent.status)}; customers→regions parent→customers ",
		"customers.home":  "{present 0 upper(regions.region)}; customers→regions ",
		"from_port.label": "{present 4 (from_port.city || regions.region)}; from_port→regions ",
	} {
		f, err := m.Column(name(t, text))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		got.WriteString(show(m, m.Expand(f)) + "; ")
		for _, s := range m.Dependencies(f) {
			got.WriteString(m.Nodes[s.From].Name + "→" + m.Nodes[s.To].Name + " ")
		}
		if got.String() != want {
			t.Errorf("%s: got %s, want %s", text, got.String(), want)
		}
	}
}

func TestBoundExpressions(t *testing.T) {
	t.Parallel()
	m := shopModel(t)
	s := m.Sources[node(t, m, "orders")]
	var got []string
	for _, x := range s.Measures {
		line := x.Name + ": " + show(m, x.Expr)
		if x.Filter != nil {
			line += " where " + show(m, x.Filter)
		}
		got = append(got, line)
	}
	for _, x := range s.Segments {
		got = append(got, x.Name+": "+show(m, x.Expr))
	}
	got = append(got, show(m, s.Columns[8].Expr))
	if diff := cmp.Diff([]string{
		"revenue: sum(self2) where self7", "count: count(*)", "amount: avg(self2)", "share: (self0 / customers.people)", "total: sum(parent.amount)", "alike: (customers.people * 2)",
		"paid: (self4 = 'paid')", "far: (customers.home <> 'HOME')", "child: (parent.id IS NOT NULL)",
		"(self3 >= DATE '2024-01-31')",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBind(t *testing.T) {
	t.Parallel()
	m := shopModel(t)
	for _, tt := range []struct {
		base, text, want string
		class            expr.Class
	}{
		{base: "orders", text: "amount + region_id", class: expr.AmbiguousField}, // of customers and both ports
		{base: "customers", text: "region", want: "regions.region"},
		{base: "customers", text: "email", want: "self2"}, // hidden, and the author's own
		{base: "parent", text: "amount + orders.amount", want: "(self2 + self2)"},
		{base: "regions", text: "amount", class: expr.FanOut},
		{base: "regions", text: "orders.amount", class: expr.FanOut},
		{base: "orders", text: "ports.city", class: expr.FanOut},
		{base: "orders", text: "nothing", class: expr.UnknownField},
		{base: "orders", text: "count(*) FILTER (WHERE customers.home = 'x')", want: "count(*) FILTER (WHERE (customers.home = 'x'))"},
	} {
		tree, err := expr.Parse(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := m.Bind(node(t, m, tt.base), tree)
		if classOf(err) != tt.class {
			t.Errorf("%s in %s: %v, want class %q", tt.text, tt.base, err, tt.class)
			continue
		}
		if err == nil && show(m, bound) != tt.want {
			t.Errorf("%s in %s: got %s, want %s", tt.text, tt.base, show(m, bound), tt.want)
		}
	}
}
