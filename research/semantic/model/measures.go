package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// resolveMeasures reads and binds the measures of all sources.
func (l *loader) resolveMeasures() {
	m := l.m
	for s, source := range m.Sources {
		for i, x := range source.Measures {
			at := l.origins[s].measures[i]
			if x.Text != "" {
				x.Expr = l.measure(s, at.at("expr"), x)
			}
			if x.FilterText != "" {
				x.Filter = l.condition(s, at.at("filter"), expr.InvalidMeasure, "the filter of a measure")
			}
			for n, name := range at.v.words("segments") {
				l.segment(s, x, at.item("segments", n), name)
			}
			if at.v.at("semi_additive") != nil {
				l.semiAdditive(s, x, at.at("semi_additive"))
			}
		}
	}
	g := &measures{loader: l, state: make([][]visit, len(m.Sources)), valid: make([][]bool, len(m.Sources)), types: make([][]expr.Type, len(m.Sources)), bases: make([][][]int, len(m.Sources))}
	for s, source := range m.Sources {
		g.state[s] = make([]visit, len(source.Measures))
		g.valid[s] = make([]bool, len(source.Measures))
		g.types[s] = make([]expr.Type, len(source.Measures))
		g.bases[s] = make([][]int, len(source.Measures))
	}
	for s, source := range m.Sources {
		for i := range source.Measures {
			g.check(s, i)
		}
	}
}

// measure reads and binds the expression of a measure; nil if something is wrong with it.
func (l *loader) measure(s int, at origin, x *Measure) *expr.Expr {
	source := l.m.Sources[s]
	tree := l.parse(source, at)
	if tree == nil {
		return nil
	}
	tree, err := l.m.bindMeasure(s, tree)
	if err != nil {
		l.refuse(source, at, err.Class, err)
		return nil
	}
	aggregates := false
	expr.Walk(tree, func(y *expr.Expr) bool {
		aggregates = aggregates || y.Op == expr.OpAggregate || y.Op == expr.OpMeasure
		return !aggregates
	})
	if !aggregates {
		l.report(source, at, expr.NotAnAggregate, "write an aggregate, as sum(amount) or count(*)", "the measure %s has no aggregate", shorten(x.Name))
		return nil
	}
	if err := l.overItself(tree); err != nil {
		l.refuse(source, at, err.Class, err)
		return nil
	}
	l.need(s, at, tree)
	return tree
}

// bindMeasure binds an expression of a source in measure scope: names outside
// aggregates are measures, those inside are columns.
func (m *Model) bindMeasure(source int, e *expr.Expr) (*expr.Expr, *expr.Error) {
	if e.Op == expr.OpAggregate {
		for _, part := range append(slices.Clone(e.Args), e.Filter) {
			if inner := aggregateIn(part); inner != nil {
				return nil, &expr.Error{Class: expr.NestedAggregate, Pos: inner.Pos, Message: fmt.Sprintf("%s stands inside of %s", inner.Func, e.Func), Hint: "aggregate once; put what is needed for each row into a computed column"}
			}
		}
		bound, err := m.Bind(source, e)
		if err != nil {
			return nil, m.nested(source, e, err)
		}
		if err := m.orderless(source, bound); err != nil {
			return nil, err
		}
		return bound, nil
	}
	if e.Op == expr.OpName {
		x, err := m.bindMeasureName(source, e.Name)
		if err != nil {
			err.Pos = e.Pos
			return nil, err
		}
		return &expr.Expr{Op: expr.OpMeasure, Measure: x, Name: e.Name, Pos: e.Pos}, nil
	}
	c := *e
	c.Args = make([]*expr.Expr, len(e.Args))
	for i, a := range e.Args {
		bound, err := m.bindMeasure(source, a)
		if err != nil {
			return nil, err
		}
		c.Args[i] = bound
	}
	return &c, nil
}

// nested says it if a name inside of an aggregate, which is no column, is a measure.
func (m *Model) nested(source int, e *expr.Expr, err *expr.Error) *expr.Error {
	if err.Class != expr.UnknownField {
		return err
	}
	expr.Walk(e, func(x *expr.Expr) bool {
		if x.Op != expr.OpName || x.Pos != err.Pos {
			return true
		}
		node := source
		if x.Name.Qualifier != "" {
			n, bad := m.Node(x.Name.Qualifier)
			if bad != nil {
				return true
			}
			node = m.Nodes[n].Source
		}
		if len(m.names.local[node].measures.find(x.Name.Leaf)) > 0 {
			err = &expr.Error{Class: expr.NestedAggregate, Pos: x.Pos, Message: fmt.Sprintf("%s is a measure and stands inside of %s", x.Name.Leaf, e.Func), Hint: "a measure is aggregated already; use it outside of aggregates"}
		}
		return true
	})
	return err
}

// orderless refuses aggregates that compare values which have no order.
func (m *Model) orderless(source int, e *expr.Expr) *expr.Error {
	if e.Func == "count" && !e.Distinct || len(e.Args) == 0 {
		return nil
	}
	a := e.Args[0]
	if a.Op != expr.OpField {
		return nil
	}
	c := m.columnOf(source, a.Field)
	if !c.Opaque() {
		return nil
	}
	return &expr.Error{Class: expr.UnsafeExpression, Pos: a.Pos, Message: fmt.Sprintf("%s is a %s, whose values have no order, so %s cannot compare them", c.Name, shorten(c.NativeType), e.Func), Hint: "count(" + c.Name + ") counts the values that are not NULL"}
}

// Opaque reports whether the values of the column have no order, as those of json or of
// an array: they can be counted, and not be grouped, compared, or given to min and max.
func (c *Column) Opaque() bool { return c.Expr == nil && opaque(c.NativeType) }

func (m *Model) bindMeasureName(source int, n expr.Name) (expr.Measure, *expr.Error) {
	if n.Qualifier != "" {
		node, err := m.Node(n.Qualifier)
		if err != nil {
			return expr.Measure{}, err
		}
		x, err := m.ownMeasure(node, n.Leaf)
		if err != nil {
			return x, m.notAggregated(node, n.Leaf, err)
		}
		if node == source {
			x.Node = expr.Self
		}
		return x, nil
	}
	if own, ok := m.names.local[source].measures.one(n.Leaf); ok {
		return expr.Measure{Node: expr.Self, Index: own}, nil
	}
	_, isColumn := m.names.local[source].columns.one(n.Leaf)
	var reached []expr.Measure
	if !isColumn {
		for _, p := range m.names.measures.find(n.Leaf) {
			for _, node := range m.nodesOf(p.source) {
				if node != source && m.Reaches(source, node) {
					reached = append(reached, expr.Measure{Node: node, Index: p.index})
				}
			}
		}
	}
	switch {
	case len(reached) == 1:
		return reached[0], nil
	case len(reached) > 1:
		e := &expr.Error{Class: expr.AmbiguousField, Message: fmt.Sprintf("%s has no measure %s, and %d sources that it reaches have one", m.Nodes[source].Name, shorten(n.Leaf), len(reached)), Hint: "write one of them with its source"}
		for _, x := range reached[:min(maxNear, len(reached))] {
			e.Near = append(e.Near, m.qualified(x.Node, m.Sources[m.Nodes[x.Node].Source].Measures[x.Index].Name))
		}
		return expr.Measure{}, e
	}
	_, err := m.ownMeasure(source, n.Leaf)
	if err == nil { // there are several, which differ in case
		return expr.Measure{}, &expr.Error{Class: expr.AmbiguousField, Message: fmt.Sprintf("several measures are called %s", shorten(n.Leaf))}
	}
	if !isColumn {
		for _, p := range m.names.measures.find(n.Leaf) {
			if len(err.Near) < maxNear {
				err.Near = append(err.Near, m.qualified(p.source, m.Sources[p.source].Measures[p.index].Name))
			}
		}
		if len(err.Near) > 0 {
			err.Hint = didYouMean(err.Near)
		}
	}
	return expr.Measure{}, m.notAggregated(source, n.Leaf, err)
}

// notAggregated says it if a name that is no measure is a column.
func (m *Model) notAggregated(node int, leaf string, err *expr.Error) *expr.Error {
	if err.Class != expr.UnknownMeasure {
		return err
	}
	source := m.Nodes[node].Source
	f := expr.Field{Node: node, Column: -1}
	if own, ok := m.names.local[source].columns.one(leaf); ok {
		f.Column = own
	} else {
		bound, bad := m.bindName(node, expr.Name{Leaf: leaf})
		if bad != nil {
			return err
		}
		f = bound
	}
	return &expr.Error{
		Class: expr.NotAnAggregate, Message: fmt.Sprintf("the column %s stands outside of an aggregate", shorten(leaf)),
		Hint: strings.TrimPrefix(aggregateHint(leaf, m.column(f)), leaf+" is a column; "),
	}
}

// segment adds a segment to a measure.
func (l *loader) segment(s int, x *Measure, at origin, name string) {
	source := l.m.Sources[s]
	n, err := expr.ParseName(name)
	if err != nil {
		l.refuse(source, at, expr.InvalidMeasure, err)
		return
	}
	if n.Qualifier != "" && !strings.EqualFold(n.Qualifier, source.Name) {
		l.report(source, at, expr.InvalidMeasure, "write its condition into filter", "%s is a segment of another source; a measure takes those of its own", shorten(name))
		return
	}
	i, ok := l.m.names.local[s].segments.one(n.Leaf)
	if !ok {
		l.report(source, at, expr.UnknownSegment, didYouMean(l.m.near(n.Leaf, func() []string { return segmentNames(source) })), "%s has no segment %s", source.Name, shorten(name))
		return
	}
	if !slices.Contains(x.Segments, i) {
		x.Segments = append(x.Segments, i)
	}
}

// semiAdditive reads R20 of a measure.
func (l *loader) semiAdditive(s int, x *Measure, at origin) {
	source := l.m.Sources[s]
	over, hint := l.own(source, at.v.word("over"))
	if at.v.at("over") == nil || at.v.at("take") == nil || at.v.at("per") == nil {
		return // their problem is known
	}
	semi := &SemiAdditive{Over: over, First: at.v.word("take") == "first"}
	if over < 0 {
		l.report(source, at.at("over"), expr.InvalidMeasure, hint, "%s has no column %s", source.Name, shorten(at.v.word("over")))
		return
	}
	for i, name := range at.v.words("per") {
		c, hint := l.own(source, name)
		if c < 0 {
			l.report(source, at.item("per", i), expr.InvalidMeasure, hint, "%s has no column %s", source.Name, shorten(name))
			return
		}
		if !slices.Contains(semi.Per, c) {
			semi.Per = append(semi.Per, c)
		}
	}
	for _, c := range append([]int{over}, semi.Per...) {
		if source.Columns[c].Opaque() {
			l.report(source, at, expr.InvalidMeasure, "", "the values of %s have no order", shorten(source.Columns[c].Name))
			return
		}
	}
	refers := false
	expr.Walk(x.Expr, func(y *expr.Expr) bool {
		refers = refers || y.Op == expr.OpMeasure
		return true
	})
	if refers {
		l.report(source, at, expr.InvalidMeasure, "put semi_additive on the measures that it is made of", "semi_additive needs a measure that is made of aggregates alone")
		return
	}
	x.SemiAdditive = semi
}

// measures checks measures after those that they are made of.
type measures struct {
	*loader
	state [][]visit
	valid [][]bool
	types [][]expr.Type
	bases [][][]int // by source and measure: the nodes whose rows are aggregated; Self is one of them
}

// check checks a measure and reports whether it is valid.
func (g *measures) check(s, i int) bool {
	m := g.m
	source, x := m.Sources[s], m.Sources[s].Measures[i]
	at := g.origins[s].measures[i]
	switch g.state[s][i] {
	case done:
		return g.valid[s][i]
	case underWay:
		g.report(source, at.at("expr"), expr.CircularMeasure, "write it over aggregates", "the measure %s is made of itself", shorten(x.Name))
		return false
	case notSeen:
	}
	g.state[s][i] = underWay
	g.valid[s][i] = g.inspect(s, i, at)
	g.state[s][i] = done
	return g.valid[s][i]
}

func (g *measures) inspect(s, i int, at origin) bool {
	m := g.m
	source, x := m.Sources[s], m.Sources[s].Measures[i]
	if x.Expr == nil {
		return false // its problem is known
	}
	var bases []int
	fine := true
	expr.Walk(x.Expr, func(y *expr.Expr) bool {
		if y.Op == expr.OpAggregate {
			bases = append(bases, expr.Self)
			return false
		}
		if y.Op != expr.OpMeasure || !fine {
			return fine
		}
		of := s
		if y.Measure.Node != expr.Self {
			of = m.Nodes[y.Measure.Node].Source
			g.depends = append(g.depends, depends{s, of, at.at("expr")})
		}
		if !g.check(of, y.Measure.Index) {
			fine = false
			return false
		}
		if err := g.measureOverItself(y.Measure); err != nil {
			g.refuse(source, at.at("expr"), err.Class, err)
			fine = false
			return false
		}
		for _, b := range g.bases[of][y.Measure.Index] {
			if b == expr.Self {
				b = y.Measure.Node
			}
			bases = append(bases, b)
		}
		return true
	})
	if !fine {
		if !source.Invalid {
			g.report(source, at.at("expr"), expr.InvalidMeasure, "", "a measure that %s is made of is not valid", shorten(x.Name))
		}
		return false
	}
	checked, t, err := expr.Check(x.Expr, func(y *expr.Expr) expr.Type {
		if y.Op == expr.OpField {
			return m.columnOf(s, y.Field).Type
		}
		of := s // y is a measure: nothing else is left in a bound expression
		if y.Measure.Node != expr.Self {
			of = m.Nodes[y.Measure.Node].Source
		}
		return g.types[of][y.Measure.Index]
	})
	if err != nil {
		g.refuse(source, at.at("expr"), err.Class, err)
		return false
	}
	x.Expr = checked
	slices.Sort(bases)
	g.types[s][i], g.bases[s][i] = t, slices.Compact(bases)
	return g.restrictions(s, x, at, g.bases[s][i])
}

// measureOverItself refuses a measure of an alias that is made of columns of that alias.
func (l *loader) measureOverItself(x expr.Measure) *expr.Error {
	m := l.m
	if x.Node == expr.Self || !m.Nodes[x.Node].Alias || !slices.Contains(m.measureNodes(x), x.Node) {
		return nil
	}
	return m.overItself(x.Node, m.Sources[m.Nodes[x.Node].Source].Measures[x.Index].Name)
}

// restrictions checks that the filter and the segments of a measure can be applied to
// every aggregate below it: the rows of each base must reach all columns in them.
func (g *measures) restrictions(s int, x *Measure, at origin, bases []int) bool {
	type restriction struct {
		what string
		at   origin
		e    *expr.Expr
	}
	list := []restriction{{"filter", at.at("filter"), x.Filter}}
	for _, i := range x.Segments {
		list = append(list, restriction{"segment " + g.m.Sources[s].Segments[i].Name, at.at("segments"), g.m.Sources[s].Segments[i].Expr})
	}
	for _, r := range list {
		for _, base := range bases {
			if base == expr.Self || r.e == nil {
				continue // the source's own rows reach what it could be bound to
			}
			nodes := g.m.exprNodes(s, r.e)
			expr.Walk(r.e, func(y *expr.Expr) bool {
				if y.Op == expr.OpField && y.Field.Node == expr.Self {
					nodes = append(nodes, s)
				}
				return true
			})
			for _, n := range nodes {
				if err := g.m.hasPath(base, n); err != nil {
					err.Message = fmt.Sprintf("the %s cannot be applied to the aggregates of %s in this measure: %s", r.what, g.m.Nodes[base].Name, err.Message)
					g.refuse(g.m.Sources[s], r.at, err.Class, err)
					return false
				}
			}
		}
	}
	return true
}
