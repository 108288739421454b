package plan

import (
	"slices"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// tree is the joins of one leg. Each node of it is reached by one edge.
type tree struct {
	b      *builder
	base   int
	joins  []Join
	walked map[[2]int]bool // from and to of the paths that are joined
	longer [][2]int        // those of them that have a longer alternative
}

func (b *builder) tree(base int) *tree {
	return &tree{b: b, base: base, walked: map[[2]int]bool{}}
}

// planLegs groups the atoms by whose rows they aggregate, finds the joins that each leg
// needs, and adds the legs that only add tuples.
func (b *builder) planLegs() *expr.Error {
	if len(b.plan.Atoms) == 0 {
		return b.dimensionsOnly()
	}
	p := b.plan
	byKey := map[string]int{}
	for i := range p.Atoms {
		key := b.atoms[i].leg
		leg, ok := byKey[key]
		if !ok {
			leg = len(p.Legs)
			byKey[key] = leg
			p.Legs = append(p.Legs, Leg{Base: p.Atoms[i].Base, Semi: p.Atoms[i].Semi})
		}
		p.Atoms[i].Leg = leg
		p.Legs[leg].Atoms = append(p.Legs[leg].Atoms, i)
	}
	trees := make([]*tree, len(p.Legs))
	for i := range p.Legs {
		trees[i] = b.tree(p.Legs[i].Base)
		if err := trees[i].dimensions(); err != nil {
			return err
		}
	}
	for _, c := range b.rows {
		for _, t := range trees {
			if err := b.rowFilterOf(t, c, trees); err != nil {
				return err
			}
		}
	}
	for i := range p.Atoms {
		if err := trees[p.Atoms[i].Leg].all(b.atoms[i].fields); err != nil {
			return within(err, "the measure", b.atoms[i].label)
		}
	}
	for i, t := range trees {
		p.Legs[i].Joins = t.joins
		p.Legs[i].Where = b.where()
		b.noteLonger(t)
	}
	if b.r.NoEmpty {
		return nil
	}
	return b.addSpines()
}

// where lists the row filters, which hold for every leg (R13).
func (b *builder) where() []*expr.Expr {
	var list []*expr.Expr
	for _, c := range b.rows {
		list = append(list, c.expr)
	}
	return list
}

// dimensionsOnly is R15: distinct tuples from the source that reaches all.
func (b *builder) dimensionsOnly() *expr.Error {
	nodes := b.dimensionNodes()
	bases := b.finest(nodes)
	if len(bases) == 0 {
		err := b.noneReachesAll(nodes, "no source among "+b.nodeNames(nodes)+" reaches the others")
		if through := b.nodesReaching(nodes); len(through) > 0 {
			err.Hint = "add a measure of " + list(through, "or") + ", whose rows lead to all of them"
		}
		return err
	}
	for _, base := range bases {
		t := b.tree(base)
		if err := t.dimensions(); err != nil {
			return err
		}
		for _, c := range b.rows {
			if err := t.all(c.fields); err != nil {
				return b.unreachable(err, base, "the filter "+b.conditionText(c), c.fields)
			}
		}
		b.plan.Legs = append(b.plan.Legs, Leg{Base: base, Joins: t.joins, Where: b.where()})
		b.noteLonger(t)
	}
	return nil
}

// nodesReaching names up to three sources whose rows lead to all nodes.
func (b *builder) nodesReaching(nodes []int) []string {
	var names []string
	for i, n := range b.m.Nodes {
		if len(names) < 3 && !n.Alias && len(b.m.Sources[n.Source].Measures) > 0 && b.reachesAll(i, nodes) {
			names = append(names, n.Name)
		}
	}
	return names
}

func (b *builder) dimensionNodes() []int {
	var nodes []int
	for _, d := range b.plan.Dimensions {
		nodes = addOnce(nodes, d.Field.Node)
	}
	return nodes
}

// rowFilterOf joins what a row filter needs to one leg. All legs must reach it: a filter
// that held for some of the measures alone would be read as holding for all (R13).
func (b *builder) rowFilterOf(t *tree, c condition, trees []*tree) *expr.Error {
	err := t.all(c.fields)
	if err == nil {
		return nil
	}
	if err.Class == expr.FanOut || err.Class == expr.Disconnected {
		for _, other := range trees {
			if other.base == t.base || !b.reachesFields(other.base, c.fields) {
				continue
			}
			return refuse(expr.FilterNotApplicable,
				"use a segment of "+b.m.Nodes[other.base].Name+", or a measure with its own condition, as sum(…) FILTER (WHERE …)",
				"the filter %s holds for rows of %s and cannot hold for rows of %s, which the request aggregates too", b.conditionText(c), b.m.Nodes[other.base].Name, b.m.Nodes[t.base].Name)
		}
	}
	return b.unreachable(err, t.base, "the filter "+b.conditionText(c), c.fields)
}

func (b *builder) conditionText(c condition) string {
	return readable(b.m, b.plan, c.bound, c.node)
}

func (b *builder) reachesFields(from int, fields []expr.Field) bool {
	for _, f := range fields {
		if f.Node != from && !b.m.Reaches(from, f.Node) {
			return false
		}
	}
	return true
}

// addSpines is the second half of R5: tuples that the finest of the dimension's sources
// has, with or without rows to aggregate.
func (b *builder) addSpines() *expr.Error {
	nodes := b.dimensionNodes()
	if len(nodes) == 0 {
		return nil
	}
	for _, s := range b.finest(nodes) {
		// A leg of the same base has the same rows, joins to the dimensions, and row
		// filters, so that it has every tuple of the spine.
		if slices.ContainsFunc(b.plan.Legs, func(l Leg) bool { return l.Base == s }) {
			continue
		}
		if c, ok := b.filterBeyond(s); ok {
			b.notAdded = append(b.notAdded, "Members of "+b.m.Nodes[s].Name+" without rows are not added, because the filter "+b.conditionText(c)+" cannot be asked of them.")
			continue
		}
		t := b.tree(s)
		err := t.dimensions()
		for _, c := range b.rows {
			if err == nil {
				err = t.all(c.fields)
			}
		}
		if err != nil {
			e := *err
			e.Message = "members of " + b.m.Nodes[s].Name + " without rows cannot be found: " + e.Message
			e.Hint = "set include_empty to false"
			return &e
		}
		b.plan.Legs = append(b.plan.Legs, Leg{Base: s, Joins: t.joins, Where: b.where(), Spine: true})
		b.noteLonger(t)
	}
	return nil
}

// filterBeyond finds a row filter that the rows of s do not lead to.
func (b *builder) filterBeyond(s int) (condition, bool) {
	for _, c := range b.rows {
		if !b.reachesFields(s, c.fields) {
			return c, true
		}
	}
	return condition{}, false
}

// dimensions joins what the dimensions of the request need.
func (t *tree) dimensions() *expr.Error {
	for _, d := range t.b.plan.Dimensions {
		if err := t.reach(d.Field); err != nil {
			return t.b.unreachable(err, t.base, "the dimension "+fieldName(t.b.m, d.Field), []expr.Field{d.Field})
		}
	}
	return nil
}

func (t *tree) all(fields []expr.Field) *expr.Error {
	for _, f := range fields {
		if err := t.reach(f); err != nil {
			return err
		}
	}
	return nil
}

// reach joins the node of f, and what f needs if it is computed.
func (t *tree) reach(f expr.Field) *expr.Error {
	if err := t.walk(t.base, f.Node); err != nil {
		return err
	}
	steps := t.b.m.Dependencies(f)
	for len(steps) > 0 {
		// A step starts at f's node or where another step ends.
		i := slices.IndexFunc(steps, func(s model.Step) bool { return t.holds(s.From) })
		if i < 0 {
			return refuse(expr.InvalidColumn, "", "the column %s needs %s, to which nothing leads", fieldName(t.b.m, f), t.b.m.Nodes[steps[0].From].Name)
		}
		if err := t.walk(steps[i].From, steps[i].To); err != nil {
			return err
		}
		steps = slices.Delete(steps, i, i+1)
	}
	return nil
}

// holds reports whether a node is in the tree.
func (t *tree) holds(node int) bool {
	return node == t.base || slices.ContainsFunc(t.joins, func(j Join) bool { return t.b.m.Edges[j.Edge].To == node })
}

// walk joins the path between two nodes (R14). From is in the tree.
func (t *tree) walk(from, to int) *expr.Error {
	if from == to || t.walked[[2]int{from, to}] {
		return nil
	}
	m := t.b.m
	edges, longer, err := m.Path(from, to)
	if err != nil {
		return err
	}
	for _, e := range edges {
		node := m.Edges[e].To
		entered := slices.IndexFunc(t.joins, func(j Join) bool { return m.Edges[j.Edge].To == node })
		switch {
		case entered >= 0 && t.joins[entered].Edge == e:
		case node == t.base:
			return refuse(expr.AmbiguousJoinPath, "leave the column out that leads back", "%s would be joined to itself by %s", m.Nodes[node].Name, edgeText(m, e))
		case entered >= 0:
			return refuse(expr.AmbiguousJoinPath, "leave one of the two out, or give one of the joins an alias", "%s would be joined in two ways: by %s and by %s", m.Nodes[node].Name, edgeText(m, t.joins[entered].Edge), edgeText(m, e))
		default:
			if err := t.b.usable(node); err != nil {
				return err
			}
			t.joins = append(t.joins, Join{Edge: e})
		}
	}
	t.walked[[2]int{from, to}] = true
	if longer {
		t.longer = addOnce(t.longer, [2]int{from, to})
	}
	return nil
}
