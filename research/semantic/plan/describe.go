package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// Description is a plan for people and for agents, as answers carry it. Who knows the
// engine fills Dialect.
type Description struct {
	Groups         []Group  `json:"groups"`
	Spine          []string `json:"spine"`           // sources whose members are added (R5)
	MeasureFilters []string `json:"measure_filters"` // joined by AND
	Columns        []Column `json:"columns"`
	Assumptions    []string `json:"assumptions"`
	Dialect        string   `json:"dialect"`
	ModelHash      string   `json:"model_hash"`
}

// Group is the aggregation of the rows of one source.
type Group struct {
	Base         string          `json:"base"`
	Measures     []string        `json:"measures"` // outputs that are made of it
	Joins        []DescribedJoin `json:"joins"`
	Filters      []string        `json:"filters"` // joined by AND
	SemiAdditive string          `json:"semi_additive,omitempty"`
}

// DescribedJoin is one left join.
type DescribedJoin struct {
	From         string `json:"from"`
	To           string `json:"to"`
	On           string `json:"on"`
	Relationship string `json:"relationship"`
	Verified     string `json:"verified,omitempty"` // when the data was last found to agree
}

// Column is a column of the answer and where it comes from.
type Column struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`   // dimension or measure
	From   []string `json:"from"`   // columns of tables, as source.column, sorted
	Tables []string `json:"tables"` // sorted; a source with sql stands by its name
}

// Describe returns the plan for an answer. Its lists are never nil. Verified returns
// when the data was found to bear out a join that a source declares, or ""; it may be
// nil.
func (p *Plan) Describe(verified func(source string, join int) string) Description {
	d := Description{
		Groups: []Group{}, Spine: append([]string{}, p.spines...), MeasureFilters: []string{},
		Columns: []Column{}, Assumptions: []string{}, ModelHash: p.Model.Hash,
	}
	filters := []string{}
	for _, c := range p.rows {
		filters = append(filters, readable(p.Model, p, c.bound, c.node))
	}
	for _, h := range p.having {
		d.MeasureFilters = append(d.MeasureFilters, plainText(h))
	}
	for i, l := range p.Legs {
		for _, j := range l.Joins {
			d.Assumptions = addOnce(d.Assumptions, p.assumption(j.Edge))
		}
		if l.Spine {
			continue
		}
		g := Group{Base: p.Model.Nodes[l.Base].Name, Measures: []string{}, Joins: []DescribedJoin{}, Filters: filters}
		for _, j := range l.Joins {
			e := p.Model.Edges[j.Edge]
			join := DescribedJoin{
				From: p.Model.Nodes[e.From].Name, To: p.Model.Nodes[e.To].Name,
				On: edgeText(p.Model, j.Edge), Relationship: kindName(e.Kind),
			}
			if verified != nil {
				join.Verified = verified(p.Model.Sources[e.Source].Name, e.Join)
			}
			g.Joins = append(g.Joins, join)
		}
		for _, out := range p.Measures {
			if slices.ContainsFunc(atomsOf(out.Expr), func(a int) bool { return p.Atoms[a].Leg == i }) {
				g.Measures = append(g.Measures, out.Name)
			}
		}
		if l.Semi != nil {
			g.SemiAdditive = p.semiText(l.Semi)
		}
		d.Groups = append(d.Groups, g)
	}
	for _, dim := range p.Dimensions {
		d.Columns = append(d.Columns, p.column(dim.Name, "dimension", []*expr.Expr{dim.Expr}, []int{dim.Field.Node}))
	}
	for _, out := range p.Measures {
		var trees []*expr.Expr
		var nodes []int
		for _, i := range atomsOf(out.Expr) {
			a := p.Atoms[i]
			nodes = append(nodes, a.Base)
			trees = append(append(trees, a.Args...), a.Filter)
			if a.Semi != nil {
				trees = append(append(trees, a.Semi.Over), a.Semi.Per...)
			}
		}
		d.Columns = append(d.Columns, p.column(out.Name, "measure", trees, nodes))
	}
	return d
}

// atomsOf lists the atoms in e, each once.
func atomsOf(e *expr.Expr) []int {
	var list []int
	expr.Walk(e, func(x *expr.Expr) bool {
		if x.Op == expr.OpAtom {
			list = addOnce(list, x.Index)
		}
		return true
	})
	return list
}

// column describes an output that is made of columns in trees and of rows of nodes.
func (p *Plan) column(name, kind string, trees []*expr.Expr, nodes []int) Column {
	c := Column{Name: name, Kind: kind, From: []string{}, Tables: []string{}}
	for _, t := range trees {
		for _, f := range fieldsOf(t, expr.Self) {
			c.From = addOnce(c.From, fieldName(p.Model, f))
			nodes = addOnce(nodes, f.Node)
		}
	}
	for _, n := range nodes {
		c.Tables = addOnce(c.Tables, tableName(p.Model.Sources[p.Model.Nodes[n].Source]))
	}
	slices.Sort(c.From)
	slices.Sort(c.Tables)
	return c
}

func tableName(s *model.Source) string {
	if s.Table == nil {
		return s.Name
	}
	parts := make([]string, len(s.Table))
	for i, id := range s.Table {
		parts[i] = id.Name
	}
	return strings.Join(parts, ".")
}

// assumption is what a join takes for granted: what the model declares, and nothing in
// the plan has looked at the data.
func (p *Plan) assumption(edge int) string {
	e := p.Model.Edges[edge]
	from, to := p.Model.Nodes[e.From].Name, p.Model.Nodes[e.To].Name
	return fmt.Sprintf("each row of %s has at most one row of %s (%s, declared by %s)", from, to, edgeText(p.Model, edge), p.Model.Sources[e.Source].Name)
}

func (p *Plan) semiText(s *Semi) string {
	take := "last"
	if s.First {
		take = "first"
	}
	text := fmt.Sprintf("the rows with the %s %s", take, readable(p.Model, p, s.Over, expr.Self))
	if len(s.Per) > 0 {
		per := make([]string, len(s.Per))
		for i, x := range s.Per {
			per[i] = readable(p.Model, p, x, expr.Self)
		}
		text += " of each " + list(per, "and")
	}
	return text
}
