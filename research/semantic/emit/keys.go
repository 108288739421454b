package emit

import (
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// A leg whose dimensions all lie behind one join is aggregated by the keys of that join
// first. Then only one row of each key is joined and grouped by the dimensions, which is
// several times faster if keys are numbers and dimensions are texts. The answer is the
// same: rows of one key have the same partner, and sums, counts, minima, and maxima can be
// put together from those of their parts.
//
// A condition on what is joined may leave few rows, which the engine can then find first:
// with one, a leg is not aggregated by keys.
//
// Keys must be numbers. Texts may be equal to GROUP BY and different to the join, when the
// two columns have different collations.

// keysFirst returns the join by whose keys a leg can be aggregated first.
func (w *writer) keysFirst(l *plan.Leg) (edge int, ok bool) {
	edge = -1
	if len(w.plan.Dimensions) == 0 || len(l.Atoms) == 0 {
		return -1, false
	}
	m := w.plan.Model
	for _, j := range l.Joins {
		if m.Edges[j.Edge].From != l.Base {
			continue
		}
		if edge >= 0 {
			return -1, false
		}
		edge = j.Edge
	}
	if edge < 0 {
		return -1, false
	}
	e := &m.Edges[edge]
	from, to := m.Sources[m.Nodes[e.From].Source].Columns, m.Sources[m.Nodes[e.To].Source].Columns
	for _, p := range e.Pairs {
		if p.From < 0 || p.From >= len(from) || p.To < 0 || p.To >= len(to) || from[p.From].Expr != nil || from[p.From].Type != expr.Number || to[p.To].Type != expr.Number {
			return -1, false
		}
	}
	steps := 0
	for i := range w.plan.Dimensions {
		if w.touches(w.plan.Dimensions[i].Expr, l.Base, &steps)&touchesBase != 0 {
			return -1, false
		}
	}
	for _, i := range l.Atoms {
		if i < 0 || i >= len(w.plan.Atoms) || !w.divisible(&w.plan.Atoms[i], l.Base, &steps) {
			return -1, false
		}
	}
	for _, c := range l.Where {
		if w.touches(c, l.Base, &steps)&touchesJoined != 0 {
			return -1, false
		}
	}
	return edge, steps <= maxSteps
}

// divisible reports whether an aggregate of the base's columns alone can be put together
// from those of parts.
func (w *writer) divisible(a *plan.Atom, base int, steps *int) bool {
	switch a.Func {
	case "sum", "count":
		if a.Distinct {
			return false
		}
	case "min", "max":
	default:
		return false
	}
	for _, e := range a.Args {
		if w.touches(e, base, steps)&touchesJoined != 0 {
			return false
		}
	}
	return a.Filter == nil || w.touches(a.Filter, base, steps)&touchesJoined == 0
}

// What an expression reads.
const (
	touchesBase = 1 << iota
	touchesJoined
)

// maxSteps bounds the work of touches. With more, both are taken to be read.
const maxSteps = 10_000

// touches says what columns e reads, also through computed columns.
func (w *writer) touches(e *expr.Expr, base int, steps *int) int {
	if *steps++; *steps > maxSteps {
		return touchesBase | touchesJoined
	}
	if e.Op == expr.OpField {
		return w.fieldTouches(e.Field, base, steps)
	}
	all := 0
	if e.Op == expr.OpPresent && e.Field.Node != base {
		all = touchesJoined
	}
	for _, a := range e.Args {
		all |= w.touches(a, base, steps)
	}
	return all
}

func (w *writer) fieldTouches(f expr.Field, base int, steps *int) int {
	node := f.Node
	if node == expr.Self {
		node = w.self
	}
	m := w.plan.Model
	if node >= 0 && node < len(m.Nodes) {
		if columns := m.Sources[m.Nodes[node].Source].Columns; f.Column >= 0 && f.Column < len(columns) && columns[f.Column].Expr != nil {
			before := w.self
			w.self = node
			defer func() { w.self = before }()
			return w.touches(columns[f.Column].Expr, base, steps)
		}
	}
	if node == base {
		return touchesBase
	}
	return touchesJoined
}

// keyedLeg writes a leg that is aggregated by keys first.
func (w *writer) keyedLeg(l *plan.Leg, edge int, all bool) {
	applied := w.dialect == SQLServer && w.needsApply()
	w.text("SELECT")
	w.indent++
	first := true
	w.dimensions(applied, &first)
	w.atoms(l, all, &first, w.total)
	w.indent--
	w.line()
	w.text("FROM (")
	w.indent++
	w.line()
	w.keys(l, edge)
	w.indent--
	w.line()
	w.text(") AS k")
	for _, j := range l.Joins {
		w.join(j.Edge, j.Edge == edge)
	}
	if applied {
		w.apply()
	}
	w.groupBy(applied)
}

// total writes an aggregate of the plan from those of keys.
func (w *writer) total(i int) {
	switch a := &w.plan.Atoms[i]; {
	case a.Func == "min":
		w.combined("MIN", i)
	case a.Func == "max":
		w.combined("MAX", i)
	case a.Func == "count" && (w.dialect == Postgres || w.dialect == MySQL || w.dialect == DuckDB): // where a sum is larger
		w.text("CAST(")
		w.combined("SUM", i)
		w.text(" AS ", integers[w.dialect], ")")
	case a.Func == "sum" && len(a.Args) > 0:
		w.combined(w.sum(a.Args[0]), i)
	default:
		w.combined("SUM", i)
	}
}

// combined writes an aggregate over those of keys.
func (w *writer) combined(aggregate string, i int) {
	w.text(aggregate)
	w.orNull()
	w.text("(")
	w.column("k", "a", i)
	w.text(")")
}

// keys writes the aggregates of each key.
func (w *writer) keys(l *plan.Leg, edge int) {
	e := &w.plan.Model.Edges[edge]
	w.text("SELECT")
	w.indent++
	first := true
	for i, p := range e.Pairs {
		w.item(&first)
		w.field(expr.Field{Node: e.From, Column: p.From}, true)
		w.text(" AS k")
		w.number(i)
	}
	w.atoms(l, false, &first, w.plainAtom)
	w.indent--
	w.line()
	w.text("FROM ")
	w.source(l.Base)
	w.conditions(l.Where)
	for i, p := range e.Pairs {
		if i == 0 {
			w.line()
			w.text("GROUP BY ")
		} else {
			w.text(", ")
		}
		w.field(expr.Field{Node: e.From, Column: p.From}, true)
	}
}
