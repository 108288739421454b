package plan

import (
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// segment is a segment of the request.
type segment struct {
	text string
	name string
	node int
	expr *expr.Expr
	used bool
}

// resolveSegments looks up the segments of the request (R12).
func (b *builder) resolveSegments() *expr.Error {
	for _, text := range b.r.Segments {
		n, err := expr.ParseName(text)
		if err != nil {
			return within(err, "the segment", text)
		}
		node, i, err := b.m.Segment(n)
		if err != nil {
			return within(b.lookupFailed(n, err), "the segment", text)
		}
		if err := b.usable(node); err != nil {
			return within(err, "the segment", text)
		}
		s := b.m.Sources[b.m.Nodes[node].Source].Segments[i]
		if s.Expr == nil {
			return within(refuse(expr.InvalidSegment, "ktx sl validate shows what is wrong", "the segment is invalid"), "the segment", text)
		}
		b.segments = append(b.segments, segment{text: text, name: s.Name, node: node, expr: s.Expr})
	}
	return nil
}

// segmentConditions lists what the segments of the request ask of the rows of a base. A
// segment named by its source holds for the source's aliases too.
func (b *builder) segmentConditions(base int) ([]condition, *expr.Error) {
	var conds []condition
	for i := range b.segments {
		s := &b.segments[i]
		node := b.m.Nodes[s.node]
		if s.node != base && (node.Alias || node.Source != b.m.Nodes[base].Source) {
			continue
		}
		if s.node != base {
			// Under an alias, a segment that goes over the join that gives the alias would
			// compare other rows.
			if _, _, err := b.m.Segment(expr.Name{Qualifier: b.m.Nodes[base].Name, Leaf: s.name}); err != nil {
				return nil, within(err, "the segment", s.text)
			}
		}
		s.used = true
		more, err := b.conditions(s.expr, base)
		if err != nil {
			return nil, err
		}
		conds = append(conds, more...)
	}
	return conds, nil
}

// checkSegments refuses a segment that no measure of the request is affected by.
func (b *builder) checkSegments() *expr.Error {
	for _, s := range b.segments {
		if !s.used {
			return within(refuse(expr.SegmentNotApplicable, "leave it out, ask for a measure of "+b.m.Nodes[s.node].Name+", or write its condition as a filter", "no measure of the request aggregates rows of %s", b.m.Nodes[s.node].Name), "the segment", s.text)
		}
	}
	return nil
}

// resolveFilters sorts the conditions of the request into those of rows and those of
// measures (R7, R13).
func (b *builder) resolveFilters() *expr.Error {
	for _, text := range b.r.Filters {
		if err := b.filter(text); err != nil {
			return within(err, "the filter", text)
		}
	}
	return nil
}

func (b *builder) filter(text string) *expr.Error {
	e, err := expr.Parse(text)
	if err != nil {
		return err
	}
	for _, part := range expr.Conjuncts(e) {
		var k kinds
		if err := b.classify(part, &k); err != nil {
			return err
		}
		switch {
		case k.column != "" && k.measure != "":
			return refuse(expr.MixedFilter, "join conditions of rows and of measures by AND, or give them as two filters", "one condition compares the column %s, which is of rows, with %s, which is of measures", k.column, k.measure)
		case k.measure != "":
			err = b.measureFilter(part)
		default:
			err = b.rowFilter(part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// kinds says what a condition is about.
type kinds struct {
	column  string // a column outside aggregates
	measure string // a measure or an aggregate
}

// classify finds what stands in e outside aggregates. A name that is a column and a
// measure is the column.
func (b *builder) classify(e *expr.Expr, k *kinds) *expr.Error {
	if e.Op == expr.OpAggregate {
		k.measure = e.Func + "(…)"
		return nil
	}
	if e.Op == expr.OpName {
		return b.classifyName(e, k)
	}
	for _, a := range e.Args {
		if err := b.classify(a, k); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) classifyName(e *expr.Expr, k *kinds) *expr.Error {
	if e.Name.Qualifier == "" && !b.anyColumn(e.Name.Leaf) {
		_, err := b.m.Measure(e.Name)
		if err == nil {
			k.measure = e.Name.String()
			return nil
		}
		if err.Class == expr.AmbiguousField {
			err.Pos = e.Pos
			return err
		}
	}
	f, err := b.m.Column(e.Name)
	if err == nil {
		k.column = e.Name.String()
		b.noteColumnMeant(f)
		return nil
	}
	if err.Class == expr.UnknownField || err.Class == expr.HiddenField {
		if _, merr := b.m.Measure(e.Name); merr == nil {
			k.measure = e.Name.String()
			return nil
		}
	}
	err = b.lookupFailed(e.Name, err)
	err.Pos = e.Pos
	return err
}

// anyColumn reports whether a source has a column of that name. It is cheaper than the
// refusal of a name, which looks for near ones.
func (b *builder) anyColumn(leaf string) bool {
	for _, s := range b.m.Sources {
		for _, c := range s.Columns {
			if strings.EqualFold(c.Name, leaf) {
				return true
			}
		}
	}
	return false
}

func (b *builder) rowFilter(e *expr.Expr) *expr.Error {
	bound, err := b.bindRow(e)
	if err != nil {
		return err
	}
	bound, typ, err := expr.Check(bound, b.columnType(expr.Self))
	if err != nil {
		return err
	}
	if err := isCondition(typ); err != nil {
		return err
	}
	conds, err := b.conditions(bound, expr.Self)
	if err != nil {
		return err
	}
	for _, c := range conds {
		if key := c.expr.String(); !b.rowKeys[key] {
			b.rowKeys[key] = true
			b.rows = append(b.rows, c)
		}
	}
	return nil
}

func (b *builder) measureFilter(e *expr.Expr) *expr.Error {
	lowered, err := b.lower(e, &layer{node: expr.Self, label: "the filter"})
	if err != nil {
		return err
	}
	lowered, typ, err := expr.Check(lowered, b.atomType)
	if err != nil {
		return err
	}
	if err := isCondition(typ); err != nil {
		return err
	}
	b.plan.Having = append(b.plan.Having, lowered)
	b.plan.having = append(b.plan.having, e)
	return nil
}

func isCondition(t expr.Type) *expr.Error {
	if t == expr.Boolean || t == expr.Unknown {
		return nil
	}
	return refuse(expr.InvalidRequest, "compare it, as orders.amount > 5", "a filter is a condition; this one is a %s", typeName(t))
}
