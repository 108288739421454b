package semantictest

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Case is a model with its tables, a request, and what the rules answer.
type Case struct {
	Seed    uint64
	Files   map[string]string // name in the connection's folder, and text
	Request Request
	Want    Want

	world *world
}

// Request is what is asked, in the texts of a caller.
type Request struct {
	Measures   []Measure
	Dimensions []Dimension
	Filters    []string
	Segments   []string
	OrderBy    []Order
	Limit      int // -1: none
	NoEmpty    bool
}

// Measure is a measure's name or an expression. Name is that of the output, or empty.
type Measure struct{ Expr, Name string }

// Dimension is a column's name with a granularity, or none.
type Dimension struct{ Field, Granularity string }

// Order is a key of the order.
type Order struct {
	Field string
	Desc  bool
}

// Want is the answer: rows in their order, or a refusal with one of some classes. If
// MayRefuse is not empty, a refusal with one of its classes is right too: the rules
// define the rows, and allow a compiler to know fewer ways to reach them.
type Want struct {
	Headers   []string
	Rows      [][]Value
	Classes   []string
	MayRefuse []string
}

// New makes the case of a seed.
func New(seed uint64) Case {
	//nolint:gosec // cases are repeated from their seed, so the numbers must be predictable
	g := &gen{world: &world{}, rng: rand.New(rand.NewPCG(seed, 0x6b7478))}
	g.model(seed)
	var a answer
	var q asked
	var fault *fault
	for try := range 50 {
		q, fault = g.request()
		a = g.answer(q)
		dull := len(a.classes) == 0 && len(a.rows) == 0 && q.limit != 0 && try < 3
		if !a.unsure && !dull {
			break
		}
	}
	if a.unsure {
		q = asked{measures: []askedMeasure{{expr: agg("count", col(0, 0)), name: "rows of it"}}, limit: -1}
		fault, a = nil, g.answer(q)
	}
	return g.finish(seed, q, fault, a)
}

// finish writes a case down.
func (g *gen) finish(seed uint64, q asked, f *fault, a answer) Case {
	c := Case{Seed: seed, Files: g.files(), world: g.world}
	c.Request = g.written(q, a.names)
	if f != nil {
		f.put(&c.Request)
	}
	c.Want = Want{Headers: a.headers, Classes: a.classes, MayRefuse: a.may}
	c.Want.Rows = canonical(a.rows)
	return c
}

func canonical(rows [][]value) [][]Value {
	list := [][]Value{}
	for _, r := range rows {
		row := []Value{}
		for _, v := range r {
			row = append(row, v.canonical())
		}
		list = append(list, row)
	}
	return list
}

// fault puts a part into a request that makes it wrong.
type fault struct {
	classes []string
	put     func(*Request)
}

// request draws what is asked. Most requests are such that all bases reach all
// dimensions and filters.
func (g *gen) request() (asked, *fault) {
	q := asked{limit: -1, noEmpty: g.chance(35)}
	main := g.rng.IntN(len(g.nodes))
	count := 1 + g.rng.IntN(3)
	if g.chance(12) {
		count = 0
	}
	for k := range count {
		n := main
		if k > 0 && g.chance(45) {
			n = g.rng.IntN(len(g.nodes))
		}
		m := g.askedMeasure(n, k)
		if m.name == "" && m.expr.op == opMeasure && g.chance(95) && slices.ContainsFunc(q.measures, func(o askedMeasure) bool {
			return o.expr.op == opMeasure && o.expr.node == m.expr.node && o.expr.col == m.expr.col
		}) {
			m.name = "again " + itoa(k)
		}
		q.measures = append(q.measures, m)
	}
	common := g.common(q, main)
	for range g.rng.IntN(4) {
		g.addDimension(&q, common)
	}
	if len(q.measures) == 0 && len(q.dimensions) == 0 {
		g.addDimension(&q, nil)
	}
	g.addFilters(&q, common)
	if len(q.measures) > 0 && g.chance(15) {
		s := g.nodes[main].source
		if g.chance(15) {
			s = g.rng.IntN(len(g.sources))
		}
		if n := len(g.sources[s].segments); n > 0 {
			q.segments = append(q.segments, askedSegment{s, g.rng.IntN(n)})
		}
	}
	if outputs := len(q.dimensions) + len(q.measures); outputs > 0 && g.chance(40) {
		for _, o := range g.rng.Perm(outputs)[:1+g.rng.IntN(min(2, outputs))] {
			q.order = append(q.order, askedOrder{o, g.chance(50)})
		}
	}
	if g.chance(20) {
		q.limit = g.rng.IntN(6)
	}
	if g.chance(7) {
		f := g.fault()
		q.faults = f.classes
		return q, f
	}
	return q, nil
}

// common are the nodes that all bases of the measures so far reach by one way.
func (g *gen) common(q asked, main int) []int {
	a := &asking{world: g.world, q: q, classes: map[string]bool{}, may: map[string]bool{}}
	for _, m := range q.measures {
		a.expand(m.expr, nil)
	}
	bases := a.bases()
	if len(bases) == 0 {
		bases = []int{main}
	}
	var list []int
	for n := range g.nodes {
		if !slices.ContainsFunc(bases, func(b int) bool { return g.ways[b][n].count != 1 }) {
			list = append(list, n)
		}
	}
	return list
}

func (g *gen) reached(n int) []int {
	var list []int
	for m := range g.nodes {
		if g.ways[n][m].count == 1 {
			list = append(list, m)
		}
	}
	return list
}

// adHoc is the scope of an aggregate whose base is a node: its own columns, and
// sometimes those of the nodes that it reaches.
func (g *gen) adHoc(n int) scope {
	nodes := []int{n}
	if g.chance(25) {
		nodes = g.reached(n)
	}
	if g.chance(3) {
		nodes = append(nodes, g.rng.IntN(len(g.nodes)))
	}
	return scope{gen: g, source: -1, nodes: nodes}
}

// based draws an aggregate that names a column, so that it has a base.
func (g *gen) based(n int, numeric bool) *tree {
	for range 100 {
		if t := g.adHoc(n).aggregate(numeric); len(t.nodes()) > 0 {
			return t
		}
	}
	return agg("count", col(n, 0))
}

func (g *gen) askedMeasure(n, k int) askedMeasure {
	list := g.of(n).measures
	named := func() *tree { return meas(n, g.rng.IntN(len(list))) }
	if g.chance(55) {
		m := askedMeasure{expr: named()}
		if g.chance(10) {
			m.name = "m" + itoa(k)
		}
		return m
	}
	m := askedMeasure{name: "x" + itoa(k)}
	if g.chance(60) {
		m.expr = g.based(n, false)
	} else {
		m.expr = g.arithmetic(func() *tree {
			if t := named(); g.chance(50) && g.numeric(t, self) {
				return t
			}
			return g.based(n, true)
		})
	}
	if m.expr.op == opAggregate && m.expr.filter == nil && len(m.expr.args) == 1 && m.expr.args[0].op == opColumn && !m.expr.distinct && g.chance(60) {
		source, leaf := g.nodes[m.expr.args[0].node].name, g.of(m.expr.args[0].node).columns[m.expr.args[0].col].name
		if ascii(source) && ascii(leaf) {
			m.plain, m.name = m.expr.name+"_"+source+"_"+leaf, ""
		}
	}
	return m
}

func ascii(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

func (g *gen) addDimension(q *asked, common []int) {
	nodes := common
	if len(nodes) == 0 || g.chance(8) {
		nodes = []int{g.rng.IntN(len(g.nodes))}
	}
	list := scope{gen: g, source: -1, nodes: nodes}.places(null)
	if len(list) == 0 {
		return
	}
	p := pick(g, list)
	d := askedDimension{node: p.node, col: p.col}
	if p.column.kind == moment && g.chance(75) || g.chance(1) {
		d.grain = pick(g, grains)
		if p.column.date && d.grain == "hour" {
			d.grain = "week"
		}
	}
	if !slices.Contains(q.dimensions, d) {
		q.dimensions = append(q.dimensions, d)
	}
}

func (g *gen) addFilters(q *asked, common []int) {
	var list []*tree
	if g.chance(45) {
		nodes := common
		if len(nodes) == 0 || g.chance(10) {
			nodes = []int{g.rng.IntN(len(g.nodes))}
		}
		sc := scope{gen: g, source: -1, nodes: nodes}
		for range 1 + g.rng.IntN(2) {
			if t := sc.condition(2); len(t.nodes()) > 0 {
				list = append(list, conjuncts(t)...)
			}
		}
	}
	if len(q.measures) > 0 && g.chance(20) {
		list = append(list, g.having(*q))
	}
	g.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, t := range list {
		if n := len(q.filters); n > 0 && g.chance(40) {
			q.filters[n-1] = append(q.filters[n-1], t)
		} else {
			q.filters = append(q.filters, []*tree{t})
		}
	}
}

func conjuncts(t *tree) []*tree {
	if t.op != opAnd {
		return []*tree{t}
	}
	var list []*tree
	for _, a := range t.args {
		list = append(list, conjuncts(a)...)
	}
	return list
}

// having draws a measure filter. A measure that is named like a column of its source is
// the column in a filter, so that none of those is drawn.
func (g *gen) having(q asked) *tree {
	var measures []*tree
	for _, m := range q.measures {
		if m.expr.op == opMeasure {
			measures = append(measures, m.expr)
		}
	}
	n := g.rng.IntN(len(g.nodes))
	for k := range g.of(n).measures {
		measures = append(measures, meas(n, k))
	}
	measures = slices.DeleteFunc(measures, func(t *tree) bool {
		s := g.of(t.node)
		return !g.numeric(t, self) || slices.ContainsFunc(s.columns, func(c column) bool { return c.name == s.measures[t.col].name })
	})
	var t *tree
	if len(measures) > 0 && g.chance(70) {
		t = pick(g, measures)
	} else {
		t = g.based(g.rng.IntN(len(g.nodes)), true)
	}
	if g.chance(15) {
		t = mk(opDiv, t, g.based(g.rng.IntN(len(g.nodes)), true))
	}
	threshold := func() *tree { return lit(num(g.threshold())) }
	switch g.rng.IntN(6) {
	case 0:
		return mk(opIsNull, t)
	case 1:
		return mk(opOr, mk(opGt, t, threshold()), mk(opLt, t, threshold()))
	case 2:
		return mk(opBetween, t, lit(whole(0)), threshold())
	}
	return mk(pick(g, []op{opGt, opGe, opLt}), t, threshold())
}

// written puts a request into texts.
func (g *gen) written(q asked, names []string) Request {
	p := &printer{world: g.world, rng: g.rng, source: -1}
	r := Request{Limit: q.limit, NoEmpty: q.noEmpty}
	for _, m := range q.measures {
		r.Measures = append(r.Measures, Measure{Expr: p.text(m.expr), Name: m.name})
		if m.plain != "" {
			r.Measures[len(r.Measures)-1].Expr = m.expr.name + "(" + g.nodes[m.expr.args[0].node].name + "." + g.of(m.expr.args[0].node).columns[m.expr.args[0].col].name + ")"
		}
	}
	for _, d := range q.dimensions {
		grain := d.grain
		if g.chance(20) {
			grain = strings.ToUpper(grain)
		}
		r.Dimensions = append(r.Dimensions, Dimension{p.columnName(d.node, d.col), grain})
	}
	for _, list := range q.filters {
		var texts []string
		for _, t := range list {
			if len(list) > 1 {
				texts = append(texts, p.operand(t, false))
			} else {
				texts = append(texts, p.text(t))
			}
		}
		r.Filters = append(r.Filters, strings.Join(texts, p.word(" AND ")))
	}
	for _, s := range q.segments {
		r.Segments = append(r.Segments, p.ident(g.sources[s.source].name)+"."+p.ident(g.sources[s.source].segments[s.segment].name))
	}
	for _, o := range q.order {
		r.OrderBy = append(r.OrderBy, Order{p.orderField(q, r, o.output, names), o.desc})
	}
	if n := len(r.Dimensions); n > 0 && g.chance(8) {
		r.Dimensions = append(r.Dimensions, r.Dimensions[g.rng.IntN(n)]) // the same dimension twice is one
	}
	return r
}

// orderField names an output: by its name, or by the field or measure that it is made
// of, if no other output is made of the same.
func (p *printer) orderField(q asked, r Request, output int, names []string) string {
	if names != nil && p.chance(60) {
		return names[output]
	}
	if output < len(q.dimensions) {
		d := q.dimensions[output]
		same := 0
		for _, o := range q.dimensions {
			if o.node == d.node && o.col == d.col {
				same++
			}
		}
		name := p.of(d.node).columns[d.col].name
		for _, m := range q.measures {
			if m.expr.op == opMeasure && m.expr.node == d.node && p.of(d.node).measures[m.expr.col].name == name {
				same++
			}
		}
		if same == 1 || names == nil {
			return p.ident(p.nodes[d.node].name) + "." + p.ident(name)
		}
		return names[output]
	}
	m := r.Measures[output-len(q.dimensions)]
	if e := q.measures[output-len(q.dimensions)].expr; e.op == opMeasure && m.Name == "" {
		column := slices.ContainsFunc(q.dimensions, func(d askedDimension) bool {
			return d.node == e.node && p.of(d.node).columns[d.col].name == p.of(e.node).measures[e.col].name
		})
		again := 0
		for _, o := range q.measures {
			if o.expr.op == opMeasure && o.expr.node == e.node && o.expr.col == e.col {
				again++
			}
		}
		if !column && again == 1 {
			return p.ident(p.nodes[e.node].name) + "." + p.ident(p.of(e.node).measures[e.col].name)
		}
	}
	if names != nil {
		return names[output]
	}
	return m.Name
}
