package model

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// computed is what is known of a column with an expression.
type computed struct {
	expanded *expr.Expr // over columns of tables; the source's own have Self
	nodes    []int      // that expanded names, without Self, sorted
	steps    []Step     // From may be Self; sorted
}

// Step says that a column of the node To belongs to a row of the node From, along
// Path(From, To). From is not always the base of a leg: a computed column of a joined
// source reaches further from there.
type Step struct{ From, To int }

func (m *Model) computedOf(f expr.Field) *computed {
	s := m.Nodes[f.Node].Source
	if m.computed[s] == nil || f.Column >= len(m.computed[s]) {
		return nil
	}
	return m.computed[s][f.Column]
}

// Expand returns a column as a tree over columns of tables: computed ones are replaced
// by their expressions, and Self by the node of f. What a computed column takes from
// another source stays at that node; see [Model.Dependencies].
func (m *Model) Expand(f expr.Field) *expr.Expr {
	c := m.computedOf(f)
	if c == nil {
		return &expr.Expr{Op: expr.OpField, Field: f}
	}
	return present(f.Node, At(c.expanded, f.Node))
}

// present is a computed column where its row may be missing: without a row there is no
// value, whatever the expression makes of NULLs (R4).
func present(node int, e *expr.Expr) *expr.Expr {
	return &expr.Expr{Op: expr.OpPresent, Field: expr.Field{Node: node, Column: -1}, Args: []*expr.Expr{e}}
}

// At returns a tree with Self replaced by a node.
func At(e *expr.Expr, node int) *expr.Expr {
	out, _ := expr.Map(e, func(x *expr.Expr) (*expr.Expr, *expr.Error) {
		if (x.Op == expr.OpField || x.Op == expr.OpPresent) && x.Field.Node == expr.Self {
			x.Field.Node = node
		}
		if x.Op == expr.OpMeasure && x.Measure.Node == expr.Self {
			x.Measure.Node = node
		}
		return x, nil
	})
	return out
}

// Dependencies returns the steps that the columns of Expand(f) need beyond the node of
// f itself, sorted. A leg that uses f must join along the path of each of them, and all
// of its paths together must be a tree (R14): a step from customers to regions is not
// the same as one from orders to regions. A column of a table has none.
func (m *Model) Dependencies(f expr.Field) []Step {
	c := m.computedOf(f)
	if c == nil {
		return nil
	}
	out := slices.Clone(c.steps)
	for i := range out {
		if out[i].From == expr.Self {
			out[i].From = f.Node
		}
	}
	slices.SortFunc(out, compareSteps)
	return slices.Compact(out)
}

func compareSteps(a, b Step) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) }

// Bind binds the names of a row-scope expression that belongs to the source of a node
// (R17): a bare name is a column of its own, or else the column of the one source that
// safe paths lead to and that has it. Own columns get the node Self. In aggregates it
// binds the arguments and the filter.
func (m *Model) Bind(base int, e *expr.Expr) (*expr.Expr, *expr.Error) {
	return expr.Map(e, func(x *expr.Expr) (*expr.Expr, *expr.Error) {
		if x.Op != expr.OpName {
			return x, nil
		}
		f, err := m.bindName(base, x.Name)
		if err != nil {
			err.Pos = x.Pos
			return nil, err
		}
		x.Op, x.Field = expr.OpField, f // the name stays, for messages
		return x, nil
	})
}

func (m *Model) bindName(base int, n expr.Name) (expr.Field, *expr.Error) {
	source := m.Nodes[base].Source
	if n.Qualifier != "" {
		node, err := m.Node(n.Qualifier)
		if err != nil {
			return expr.Field{}, err
		}
		f, err := m.ownColumn(node, n.Leaf)
		if err != nil {
			return f, err
		}
		if node == base || node == source {
			f.Node = expr.Self
			return f, nil
		}
		return f, m.hasPath(base, node)
	}
	if own := m.names.local[source].columns.find(n.Leaf); len(own) == 1 {
		return expr.Field{Node: expr.Self, Column: own[0]}, nil
	} else if len(own) > 1 {
		return m.ownColumn(base, n.Leaf)
	}
	places := m.names.columns.find(n.Leaf)
	var reached, visible []expr.Field
	for _, p := range places {
		for _, node := range m.nodesOf(p.source) {
			if !m.Reaches(base, node) {
				continue
			}
			f := expr.Field{Node: node, Column: p.index}
			reached = append(reached, f)
			if m.column(f).Visibility != Hidden {
				visible = append(visible, f)
			}
		}
	}
	if len(visible) > 0 {
		reached = visible
	}
	switch {
	case len(reached) == 1:
		return reached[0], m.hasPath(base, reached[0].Node)
	case len(reached) > 1:
		e := &expr.Error{Class: expr.AmbiguousField, Message: fmt.Sprintf("%s has no column %s, and %d sources that it reaches have one", m.Nodes[base].Name, shorten(n.Leaf), len(reached))}
		for _, f := range reached[:min(maxNear, len(reached))] {
			e.Near = append(e.Near, m.qualified(f.Node, m.column(f).Name))
		}
		e.Hint = "write one of them with its source"
		return expr.Field{}, e
	case len(places) == 1:
		return expr.Field{}, m.hasPath(base, places[0].source)
	}
	return m.ownColumn(base, n.Leaf) // which is an error that names what is near
}

// nodesOf returns the nodes of a source: itself and its aliases.
func (m *Model) nodesOf(source int) []int {
	out := []int{source}
	for n := len(m.Sources); n < len(m.Nodes); n++ {
		if m.Nodes[n].Source == source {
			out = append(out, n)
		}
	}
	return out
}

// exprNodes returns the nodes, other than Self, of whose columns an expression of a
// source is made, sorted.
func (m *Model) exprNodes(source int, e *expr.Expr) []int {
	var out []int
	expr.Walk(e, func(x *expr.Expr) bool {
		if x.Op == expr.OpField {
			f := x.Field
			if f.Node == expr.Self {
				f.Node = source
			} else {
				out = append(out, f.Node)
			}
			if c := m.computedOf(f); c != nil {
				out = append(out, c.nodes...)
			}
		}
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// measureNodes returns the nodes, other than Self, of whose columns a measure is made
// in its own source, sorted.
func (m *Model) measureNodes(f expr.Measure) []int {
	source := m.Nodes[f.Node].Source
	seen := map[int]bool{}
	var out []int
	var visit func(i int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		x := m.Sources[source].Measures[i]
		out = append(out, m.exprNodes(source, x.Expr)...)
		out = append(out, m.exprNodes(source, x.Filter)...)
		for _, s := range x.Segments {
			out = append(out, m.exprNodes(source, m.Sources[source].Segments[s].Expr)...)
		}
		expr.Walk(x.Expr, func(y *expr.Expr) bool {
			if y.Op == expr.OpMeasure && y.Measure.Node == expr.Self {
				visit(y.Measure.Index)
			}
			return true
		})
	}
	visit(f.Index)
	slices.Sort(out)
	return slices.Compact(out)
}
