package model

import (
	"fmt"
	"slices"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// The limits of expressions. Where computed columns stand in computed columns, each
// level can double the tree that they become.
const (
	maxExpressions   = 4 << 20   // bytes of all expressions of a connection
	maxExpanded      = 5_000     // nodes of one column
	maxExpandedTotal = 1_000_000 // nodes of all columns
)

// resolveColumns reads and binds the expressions of computed columns.
func (l *loader) resolveColumns() {
	m := l.m
	types := make([][]expr.Type, len(m.Sources))
	for s, source := range m.Sources {
		types[s] = make([]expr.Type, len(source.Columns))
		for i, c := range source.Columns {
			if c.Text == "" {
				continue
			}
			if m.computed[s] == nil {
				m.computed[s] = make([]*computed, len(source.Columns))
			}
			c.Expr, types[s][i] = l.rowScope(s, l.origins[s].columns[i].at("expr"), expr.InvalidColumn, "a computed column")
		}
	}
	state := make([][]visit, len(m.Sources))
	for s, source := range m.Sources {
		state[s] = make([]visit, len(source.Columns))
	}
	for s, source := range m.Sources {
		for i, c := range source.Columns {
			if c.Text != "" {
				l.expand(state, s, i)
			}
		}
	}
	for s, source := range m.Sources {
		for i, c := range source.Columns {
			if c.Text == "" || m.computed[s][i] == nil {
				continue
			}
			at := l.origins[s].columns[i].at("expr")
			if err := l.overItself(c.Expr); err != nil {
				l.refuse(source, at, err.Class, err)
				continue
			}
			if t := types[s][i]; t != expr.Unknown && c.Type != expr.Unknown && t != c.Type {
				l.report(source, at, expr.InvalidColumn, fmt.Sprintf("write type: %s, or CAST the expression", t),
					"the expression of %s is a %s, and its type is %s", shorten(c.Name), t, c.Type)
			}
		}
	}
}

// visit is how far a search for circles has come with something.
type visit uint8

const (
	notSeen visit = iota
	underWay
	done
)

// expand fills what is known of a computed column, after those that it is made of. It
// reports whether that was possible.
func (l *loader) expand(state [][]visit, s, i int) bool {
	m := l.m
	c := m.Sources[s].Columns[i]
	at := l.origins[s].columns[i].at("expr")
	switch state[s][i] {
	case done:
		return m.computed[s][i] != nil
	case underWay:
		l.report(m.Sources[s], at, expr.CircularColumn, "write it over columns of the table", "the column %s is made of itself", shorten(c.Name))
		return false
	case notSeen:
	}
	state[s][i] = underWay
	defer func() { state[s][i] = done }()
	if c.Expr == nil {
		return false // its problem is known
	}
	out := &computed{}
	size := 0
	fine, plain := true, true
	expr.Walk(c.Expr, func(x *expr.Expr) bool {
		size++
		if x.Op != expr.OpField || !fine {
			return fine
		}
		from, source := x.Field.Node, s
		if from != expr.Self {
			source = m.Nodes[from].Source
			out.nodes = append(out.nodes, from)
			out.steps = append(out.steps, Step{expr.Self, from})
			l.depends = append(l.depends, depends{s, source, at})
		}
		if m.Sources[source].Columns[x.Field.Column].Text == "" {
			return true
		}
		plain = false
		if !l.expand(state, source, x.Field.Column) {
			fine = false
			return false
		}
		inner := m.computed[source][x.Field.Column]
		size += treeSize(inner.expanded)
		out.nodes = append(out.nodes, inner.nodes...)
		for _, step := range inner.steps {
			if step.From == expr.Self {
				step.From = from
			}
			out.steps = append(out.steps, step)
		}
		return true
	})
	if !fine {
		if !m.Sources[s].Invalid {
			l.report(m.Sources[s], at, expr.InvalidColumn, "", "a column that %s is made of is not valid", shorten(c.Name))
		}
		return false
	}
	if !plain {
		l.expanded += size
	}
	if size > maxExpanded || l.expanded > maxExpandedTotal {
		l.report(m.Sources[s], at, expr.InvalidColumn, "compute a part of it in a source with sql", "with the columns that it is made of, the expression of %s is too large", shorten(c.Name))
		return false
	}
	slices.Sort(out.nodes)
	out.nodes = slices.Compact(out.nodes)
	slices.SortFunc(out.steps, compareSteps)
	out.steps = slices.Compact(out.steps)
	m.computed[s][i] = out
	out.expanded = c.Expr
	if plain {
		return true
	}
	out.expanded, _ = expr.Map(c.Expr, func(x *expr.Expr) (*expr.Expr, *expr.Error) {
		if x.Op != expr.OpField {
			return x, nil
		}
		source := s
		if x.Field.Node != expr.Self {
			source = m.Nodes[x.Field.Node].Source
		}
		if m.Sources[source].Columns[x.Field.Column].Text == "" {
			return x, nil
		}
		if x.Field.Node == expr.Self {
			return m.computed[source][x.Field.Column].expanded, nil
		}
		return present(x.Field.Node, At(m.computed[source][x.Field.Column].expanded, x.Field.Node)), nil
	})
	return true
}

func treeSize(e *expr.Expr) int {
	n := 0
	expr.Walk(e, func(*expr.Expr) bool { n++; return true })
	return n
}

// parse reads the expression at a place; nil if something is wrong with it.
func (l *loader) parse(source *Source, at origin) *expr.Expr {
	if source.problems >= maxProblems {
		return nil
	}
	if l.expressions += len(at.v.text); l.expressions > maxExpressions {
		l.report(source, at, expr.InvalidSource, "", "the expressions of the connection are longer than %d bytes together", maxExpressions)
		return nil
	}
	tree, err := at.v.expression()
	if err != nil {
		l.refuse(source, at, err.Class, err)
		return nil
	}
	return tree
}

// rowScope reads, binds, and checks an expression over rows; nil if something is wrong
// with it.
func (l *loader) rowScope(s int, at origin, class expr.Class, what string) (*expr.Expr, expr.Type) {
	m := l.m
	source := m.Sources[s]
	tree := l.parse(source, at)
	if tree == nil {
		return nil, expr.Unknown
	}
	if a := aggregateIn(tree); a != nil {
		l.report(source, at, class, "put the aggregate into a measure", "%s is computed for each row, and %s aggregates many", what, a.Func)
		return nil, expr.Unknown
	}
	tree, err := m.Bind(s, tree)
	if err != nil {
		l.refuse(source, at, err.Class, err)
		return nil, expr.Unknown
	}
	tree, t, err := expr.Check(tree, func(x *expr.Expr) expr.Type { return m.columnOf(s, x.Field).Type })
	if err != nil {
		l.refuse(source, at, err.Class, err)
		return nil, expr.Unknown
	}
	return tree, t
}

// condition reads and binds a condition on rows; nil if something is wrong with it.
func (l *loader) condition(s int, at origin, class expr.Class, what string) *expr.Expr {
	e, t := l.rowScope(s, at, class, what)
	if e == nil {
		return nil
	}
	if err := l.overItself(e); err != nil {
		l.refuse(l.m.Sources[s], at, err.Class, err)
		return nil
	}
	if t != expr.Boolean && t != expr.Unknown {
		l.report(l.m.Sources[s], at, class, "write a comparison, as status = 'paid'", "%s must be true or false for each row, and this is a %s", what, t)
		return nil
	}
	l.need(s, at, e)
	return e
}

// need notes which sources an expression needs.
func (l *loader) need(s int, at origin, e *expr.Expr) {
	for _, n := range l.m.exprNodes(s, e) {
		l.depends = append(l.depends, depends{s, l.m.Nodes[n].Source, at})
	}
}

// aggregateIn returns the first aggregate of a tree, or nil.
func aggregateIn(e *expr.Expr) *expr.Expr {
	var found *expr.Expr
	expr.Walk(e, func(x *expr.Expr) bool {
		if x.Op == expr.OpAggregate && found == nil {
			found = x
		}
		return found == nil
	})
	return found
}

// overItself refuses a column of an alias that is computed over that alias itself.
func (l *loader) overItself(e *expr.Expr) *expr.Error {
	m := l.m
	var found *expr.Error
	expr.Walk(e, func(x *expr.Expr) bool {
		if x.Op == expr.OpField && x.Field.Node != expr.Self && m.Nodes[x.Field.Node].Alias {
			if c := m.computedOf(x.Field); c != nil && slices.Contains(c.nodes, x.Field.Node) && found == nil {
				found = m.overItself(x.Field.Node, m.column(x.Field).Name)
			}
		}
		return found == nil
	})
	return found
}

// resolveSegments reads and binds the segments of all sources.
func (l *loader) resolveSegments() {
	for s, source := range l.m.Sources {
		for i, x := range source.Segments {
			if x.Text != "" {
				x.Expr = l.condition(s, l.origins[s].segments[i].at("expr"), expr.InvalidSegment, "a segment")
			}
		}
	}
}
