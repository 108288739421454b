package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// writeNotes says what a reader of the answer should know beside its numbers.
func (b *builder) writeNotes() {
	p := b.plan
	p.rows = b.rows
	p.Notes = append(p.Notes, b.columnsMeant...)
	p.Notes = append(p.Notes, b.segmentNotes()...)
	p.Notes = append(p.Notes, b.orphanNotes()...)
	for _, l := range p.Legs {
		if l.Spine {
			p.spines = append(p.spines, b.m.Nodes[l.Base].Name)
		}
	}
	if len(p.spines) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("Groups of %s without rows are added; include_empty: false leaves them out.", list(p.spines, "and")))
	}
	p.Notes = append(p.Notes, b.notAdded...)
	p.Notes = append(p.Notes, p.Longer...)
}

// segmentNotes says which aggregates a segment does not affect, if it affects others.
func (b *builder) segmentNotes() []string {
	var notes []string
	for _, s := range b.segments {
		var others []int
		for _, a := range b.plan.Atoms {
			n := b.m.Nodes[s.node]
			if a.Base != s.node && (n.Alias || b.m.Nodes[a.Base].Source != n.Source) {
				others = addOnce(others, a.Base)
			}
		}
		if len(others) > 0 {
			notes = append(notes, fmt.Sprintf("The segment %s holds for measures of %s alone, not for those of %s.", s.text, b.m.Nodes[s.node].Name, b.nodeNames(others)))
		}
	}
	return notes
}

// orphanNotes says of which rows the answer holds some without a partner (R4). Where a
// filter is about the partner, it decides, and nothing is said.
func (b *builder) orphanNotes() []string {
	var notes []string
	var seen []int
	for _, l := range b.plan.Legs {
		if l.Spine || slices.Contains(seen, l.Base) {
			continue
		}
		seen = append(seen, l.Base)
		filtered := b.filteredNodes(l.Base)
		var others []int
		for _, d := range b.plan.Dimensions {
			if d.Field.Node != l.Base && !slices.Contains(filtered, d.Field.Node) {
				others = addOnce(others, d.Field.Node)
			}
		}
		if len(others) > 0 {
			notes = append(notes, fmt.Sprintf("Rows of %s without a match in %s are kept; what would come from there is NULL.", b.m.Nodes[l.Base].Name, b.nodeNames(others)))
		}
	}
	return notes
}

// filteredNodes lists the nodes on the paths from base to the columns of row filters.
func (b *builder) filteredNodes(base int) []int {
	var ends, nodes []int
	for _, c := range b.rows {
		for _, f := range c.fields {
			ends = addOnce(ends, f.Node)
		}
	}
	for _, end := range ends {
		edges, _, err := b.m.Path(base, end)
		if err != nil {
			continue
		}
		for _, e := range edges {
			nodes = addOnce(nodes, b.m.Edges[e].To)
		}
	}
	return nodes
}

// noteLonger says where a path was taken because it is the shortest.
func (b *builder) noteLonger(t *tree) {
	for _, l := range t.longer {
		edges, _, err := b.m.Path(l[0], l[1])
		if err != nil {
			continue
		}
		path := []string{b.m.Nodes[l[0]].Name}
		for _, e := range edges {
			path = append(path, b.m.Nodes[b.m.Edges[e].To].Name)
		}
		b.plan.Longer = addOnce(b.plan.Longer, fmt.Sprintf("Longer paths lead from %s to %s too; the shortest is used: %s.", b.m.Nodes[l[0]].Name, b.m.Nodes[l[1]].Name, strings.Join(path, " → ")))
	}
}

// noteColumnMeant says that a filter compares a column, if a measure of the same source
// has its name.
func (b *builder) noteColumnMeant(f expr.Field) {
	s := b.m.Sources[b.m.Nodes[f.Node].Source]
	i := slices.IndexFunc(s.Measures, func(x *model.Measure) bool { return strings.EqualFold(x.Name, s.Columns[f.Column].Name) })
	if i < 0 || s.Measures[i].Expr == nil {
		return
	}
	instead := "give it another name in the model"
	if e := b.plainMeasure(s, s.Measures[i]); e != nil {
		instead = "write " + readable(b.m, b.plan, e, f.Node)
	}
	b.columnsMeant = addOnce(b.columnsMeant, fmt.Sprintf("In a filter, %s is the column, row by row; to filter by the measure of that name %s.", fieldName(b.m, f), instead))
}

// plainMeasure is a measure as a request may write it without its name, or nil if no
// expression says the same.
func (b *builder) plainMeasure(s *model.Source, x *model.Measure) *expr.Expr {
	filters := []*expr.Expr{x.Filter}
	for _, i := range x.Segments {
		filters = append(filters, s.Segments[i].Expr)
	}
	filter := expr.And(filters)
	e := *x.Expr
	if x.SemiAdditive != nil || filter != nil && e.Op != expr.OpAggregate {
		return nil
	}
	if filter != nil {
		e.Filter = expr.And([]*expr.Expr{e.Filter, filter})
	}
	// What a request refuses is no advice: count(*) of no source, and hidden columns.
	allowed := true
	expr.Walk(&e, func(y *expr.Expr) bool {
		if y.Op == expr.OpAggregate && len(y.Args) == 0 && y.Filter == nil {
			allowed = false
		}
		if y.Op == expr.OpField {
			columns := s.Columns
			if y.Field.Node != expr.Self {
				columns = b.m.Sources[b.m.Nodes[y.Field.Node].Source].Columns
			}
			allowed = allowed && columns[y.Field.Column].Visibility != model.Hidden
		}
		return allowed
	})
	if !allowed {
		return nil
	}
	return &e
}
