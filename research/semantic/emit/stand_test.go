package emit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// source describes a source in a few words.
type source struct {
	name    string
	table   string   // parts with dots; the name if empty
	sql     string   // instead of a table
	columns []string // "name type" or "name type = expression"
	joins   []string // "column, column = target.column, column", or with " as alias" at the end
}

// newModel makes a model by hand.
func newModel(tb testing.TB, sources ...source) *model.Model {
	tb.Helper()
	m := &model.Model{}
	slices.SortFunc(sources, func(a, b source) int { return strings.Compare(a.name, b.name) })
	for i, s := range sources {
		src := &model.Source{Name: s.name, SQL: s.sql, DefaultTime: -1}
		if s.sql == "" {
			table := s.table
			if table == "" {
				table = s.name
			}
			for part := range strings.SplitSeq(table, ".") {
				src.Table = append(src.Table, model.Ident{Name: part})
			}
		}
		for _, c := range s.columns {
			declaration, text, _ := strings.Cut(c, " = ")
			name, kind, _ := strings.Cut(declaration, ":")
			src.Columns = append(src.Columns, &model.Column{Name: name, Type: types[kind], Text: text})
		}
		m.Sources = append(m.Sources, src)
		m.Nodes = append(m.Nodes, model.Node{Name: s.name, Source: i})
	}
	for _, s := range sources {
		for _, j := range s.joins {
			j, alias, aliased := strings.Cut(j, " as ")
			left, right, _ := strings.Cut(j, " = ")
			target, right, _ := strings.Cut(right, ".")
			if aliased {
				m.Nodes = append(m.Nodes, model.Node{Name: alias, Source: node(tb, m, target), Alias: true})
				target = alias
			}
			e := model.Edge{From: node(tb, m, s.name), To: node(tb, m, target), Kind: model.ManyToOne}
			to := strings.Split(right, ", ")
			for i, c := range strings.Split(left, ", ") {
				e.Pairs = append(e.Pairs, model.Pair{From: column(tb, m, e.From, c), To: column(tb, m, e.To, to[i])})
			}
			m.Edges = append(m.Edges, e)
		}
	}
	for i, s := range m.Sources {
		for _, c := range s.Columns {
			if c.Text != "" {
				c.Expr = bound(tb, m, i, expr.Self, c.Text)
			}
		}
	}
	return m
}

var types = map[string]expr.Type{"string": expr.String, "number": expr.Number, "time": expr.Time, "boolean": expr.Boolean}

func node(tb testing.TB, m *model.Model, name string) int {
	tb.Helper()
	i := slices.IndexFunc(m.Nodes, func(n model.Node) bool { return n.Name == name })
	if i < 0 {
		tb.Fatalf("no node %q", name)
	}
	return i
}

func column(tb testing.TB, m *model.Model, node int, name string) int {
	tb.Helper()
	i := slices.IndexFunc(m.Sources[m.Nodes[node].Source].Columns, func(c *model.Column) bool { return c.Name == name })
	if i < 0 {
		tb.Fatalf("%s has no column %q", m.Nodes[node].Name, name)
	}
	return i
}

// bound parses a text and binds its names. A bare name is a column of base, which is
// written as self.
func bound(tb testing.TB, m *model.Model, base, self int, text string) *expr.Expr {
	tb.Helper()
	e, err := expr.Parse(text)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	e, err = expr.Map(e, func(e *expr.Expr) (*expr.Expr, *expr.Error) {
		if e.Op != expr.OpName {
			return e, nil
		}
		n, as := base, self
		if e.Name.Qualifier != "" {
			n = node(tb, m, e.Name.Qualifier)
			as = n
		}
		return &expr.Expr{Op: expr.OpField, Field: expr.Field{Node: as, Column: column(tb, m, n, e.Name.Leaf)}}, nil
	})
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return e
}

// ask is a plan in a few words. There is no planner here: it says the legs itself.
type ask struct {
	name     string
	dims     []string // "node.column", "node.column:month", or an expression; " as name" at the end
	measures []string // "expression" with " as name" at the end; "[1] " before it: computed by leg 1
	legs     []leg
	having   []string // over the measures' aggregates
	order    []string // "name" or "-name"
	limit    int      // 0: none; -1: a limit of 0
}

type leg struct {
	base  string
	joins []string // nodes in order
	where []string
	semi  string // "last over" or "first over", then " per a, b"
}

// plan makes the plan.
func (a ask) plan(tb testing.TB, m *model.Model) *plan.Plan {
	tb.Helper()
	p := &plan.Plan{Model: m, Limit: a.limit}
	switch a.limit {
	case 0:
		p.Limit = -1
	case -1:
		p.Limit = 0
	}
	for _, l := range a.legs {
		p.Legs = append(p.Legs, l.plan(tb, m))
	}
	for _, text := range a.dims {
		p.Dimensions = append(p.Dimensions, dimension(tb, p, text))
	}
	for _, text := range a.measures {
		text, name := named(text)
		chosen := -1
		if rest, ok := strings.CutPrefix(text, "["); ok {
			chosen = int(rest[0] - '0')
			text = rest[3:]
		}
		p.Measures = append(p.Measures, plan.Output{Name: name, Expr: overAtoms(tb, p, chosen, text)})
	}
	for _, text := range a.having {
		p.Having = append(p.Having, overAtoms(tb, p, -1, text))
	}
	for i := range p.Legs {
		p.Legs[i].Spine = len(p.Legs[i].Atoms) == 0
	}
	p.Order = orderOf(tb, p, a.order)
	return p
}

func (l leg) plan(tb testing.TB, m *model.Model) plan.Leg {
	tb.Helper()
	out := plan.Leg{Base: node(tb, m, l.base)}
	there := []int{out.Base}
	for _, j := range l.joins {
		to := node(tb, m, j)
		i := slices.IndexFunc(m.Edges, func(e model.Edge) bool {
			return e.To == to && (slices.Contains(there, e.From) || slices.ContainsFunc(there, func(n int) bool { return m.Nodes[n].Alias && m.Nodes[n].Source == e.From }))
		})
		if i < 0 {
			tb.Fatalf("no join to %s", j)
		}
		out.Joins = append(out.Joins, plan.Join{Edge: i})
		there = append(there, to)
	}
	for _, f := range l.where {
		out.Where = append(out.Where, bound(tb, m, out.Base, out.Base, f))
	}
	if l.semi != "" {
		text, per, _ := strings.Cut(l.semi, " per ")
		take, over, _ := strings.Cut(text, " ")
		out.Semi = &plan.Semi{Over: bound(tb, m, out.Base, out.Base, over), First: take == "first"}
		if per != "" {
			for p := range strings.SplitSeq(per, ", ") {
				out.Semi.Per = append(out.Semi.Per, bound(tb, m, out.Base, out.Base, p))
			}
		}
	}
	return out
}

func named(text string) (string, string) {
	if i := strings.LastIndex(text, " as "); i >= 0 {
		return text[:i], text[i+4:]
	}
	return text, text
}

func dimension(tb testing.TB, p *plan.Plan, text string) plan.Dimension {
	tb.Helper()
	text, name := named(text)
	d := plan.Dimension{Name: name}
	for i, grain := range []string{"", ":hour", ":day", ":week", ":month", ":quarter", ":year"} {
		if rest, ok := strings.CutSuffix(text, grain); ok && i > 0 {
			text, d.Grain = rest, plan.Grain(i)
		}
	}
	d.Expr = bound(tb, p.Model, p.Legs[0].Base, p.Legs[0].Base, text)
	return d
}

// overAtoms parses a measure and takes its aggregates out. With more legs, an absent
// count is 0, as the planner writes it.
func overAtoms(tb testing.TB, p *plan.Plan, chosen int, text string) *expr.Expr {
	tb.Helper()
	e := bound(tb, p.Model, p.Legs[0].Base, p.Legs[0].Base, text)
	e, err := expr.Map(e, func(e *expr.Expr) (*expr.Expr, *expr.Error) {
		if e.Op != expr.OpAggregate {
			return e, nil
		}
		i := atomOf(tb, p, chosen, e)
		atom := &expr.Expr{Op: expr.OpAtom, Index: i}
		if e.Func == "count" && len(p.Legs) > 1 {
			return &expr.Expr{Op: expr.OpCall, Func: "coalesce", Args: []*expr.Expr{atom, {Op: expr.OpNumber, Text: "0"}}}, nil
		}
		return atom, nil
	})
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return e
}

func atomOf(tb testing.TB, p *plan.Plan, chosen int, e *expr.Expr) int {
	tb.Helper()
	base := p.Legs[0].Base
	expr.Walk(e, func(e *expr.Expr) bool {
		if e.Op == expr.OpField && slices.ContainsFunc(p.Legs, func(l plan.Leg) bool { return l.Base == e.Field.Node }) {
			base = e.Field.Node
		}
		return true
	})
	if chosen < 0 {
		chosen = slices.IndexFunc(p.Legs, func(l plan.Leg) bool { return l.Base == base && l.Semi == nil })
	}
	for i, a := range p.Atoms {
		if a.Leg == chosen && fmt.Sprint(a.Func, a.Distinct, a.Args, a.Filter) == fmt.Sprint(e.Func, e.Distinct, e.Args, e.Filter) {
			return i
		}
	}
	a := plan.Atom{Func: e.Func, Distinct: e.Distinct, Args: e.Args, Filter: e.Filter, Base: p.Legs[chosen].Base, Leg: chosen, Semi: p.Legs[chosen].Semi}
	p.Atoms = append(p.Atoms, a)
	p.Legs[chosen].Atoms = append(p.Legs[chosen].Atoms, len(p.Atoms)-1)
	return len(p.Atoms) - 1
}

// orderOf returns the explicit keys and the remaining dimensions.
func orderOf(tb testing.TB, p *plan.Plan, keys []string) []plan.OrderKey {
	tb.Helper()
	var out []plan.OrderKey
	for _, k := range keys {
		name, desc := strings.CutPrefix(k, "-")
		key := plan.OrderKey{
			Dimension: slices.IndexFunc(p.Dimensions, func(d plan.Dimension) bool { return d.Name == name }),
			Measure:   slices.IndexFunc(p.Measures, func(o plan.Output) bool { return o.Name == name }),
			Desc:      desc,
		}
		if key.Dimension < 0 && key.Measure < 0 {
			tb.Fatalf("no output %q", name)
		}
		out = append(out, key)
	}
	for i := range p.Dimensions {
		if !slices.ContainsFunc(out, func(k plan.OrderKey) bool { return k.Dimension == i }) {
			out = append(out, plan.OrderKey{Dimension: i, Measure: -1})
		}
	}
	return out
}
