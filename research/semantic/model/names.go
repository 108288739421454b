package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// place is an index of a list of a source: a column or a measure.
type place struct{ source, index int }

// names finds things by what they are called. A name fits exactly, or else without
// regard to case if one thing alone fits so.
type names struct {
	nodes    lookup[int]
	columns  lookup[place] // of all sources
	measures lookup[place]
	local    []local // by source
}

// local are the names within a source.
type local struct {
	columns, measures, segments lookup[int]
}

// lookup is a list of things by name and by name in lower case.
type lookup[T any] struct {
	exact, folded map[string][]T
}

// room makes room for so many names.
func (l *lookup[T]) room(n int) {
	l.exact, l.folded = make(map[string][]T, n), make(map[string][]T, n)
}

func (l *lookup[T]) add(name string, thing T) {
	if l.exact == nil {
		l.room(0)
	}
	folded := strings.ToLower(name)
	one := []T{thing} // for both, as long as each has one thing: append copies a full slice
	put := func(m map[string][]T, key string) {
		if list, ok := m[key]; ok {
			m[key] = append(list, thing)
		} else {
			m[key] = one[:1:1]
		}
	}
	put(l.exact, name)
	put(l.folded, folded)
}

// drop takes the things of a name out for which gone says so.
func (l *lookup[T]) drop(name string, gone func(T) bool) {
	drop := func(m map[string][]T, key string) {
		m[key] = slices.DeleteFunc(slices.Clone(m[key]), gone) // its array may be shared
	}
	drop(l.exact, name)
	drop(l.folded, strings.ToLower(name))
}

// find returns what fits exactly, or else what fits without regard to case.
func (l *lookup[T]) find(name string) []T {
	if found := l.exact[name]; len(found) > 0 {
		return found
	}
	return l.folded[strings.ToLower(name)]
}

// one returns the one thing that fits.
func (l *lookup[T]) one(name string) (T, bool) {
	if found := l.find(name); len(found) == 1 {
		return found[0], true
	}
	var none T
	return none, false
}

// Node returns the node of a source or an alias.
func (m *Model) Node(name string) (int, *expr.Error) {
	found := m.names.nodes.find(name)
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return 0, &expr.Error{
			Class: expr.AmbiguousField, Pos: -1, Message: fmt.Sprintf("several sources are called %s if case does not matter", name),
			Hint: "write the name as one of them has it", Near: m.nodeNames(found),
		}
	}
	if p, ok := m.broken[strings.ToLower(name)]; ok {
		return 0, refusalOf(p)
	}
	near := m.near(name, m.allNodes)
	return 0, &expr.Error{Class: expr.UnknownSource, Pos: -1, Message: fmt.Sprintf("there is no source or alias %s", shorten(name)), Hint: didYouMean(near), Near: near}
}

func (m *Model) nodeNames(nodes []int) []string {
	var out []string
	for _, n := range nodes[:min(maxNear, len(nodes))] {
		out = append(out, m.Nodes[n].Name)
	}
	return out
}

func (m *Model) allNodes() []string {
	out := make([]string, 0, len(m.Nodes))
	for _, n := range m.Nodes {
		if !m.Sources[n.Source].Denied {
			out = append(out, n.Name)
		}
	}
	return out
}

// Column returns the column that a name of a request means (R17).
func (m *Model) Column(n expr.Name) (expr.Field, *expr.Error) {
	if n.Qualifier == "" {
		return m.bareColumn(n)
	}
	node, err := m.Node(n.Qualifier)
	if err != nil {
		return expr.Field{}, err
	}
	f, err := m.ownColumn(node, n.Leaf)
	if err != nil {
		return f, err
	}
	if m.column(f).Visibility == Hidden {
		return f, hidden(m.Nodes[node].Name, m.column(f).Name)
	}
	if c := m.computedOf(f); c != nil && m.Nodes[node].Alias && slices.Contains(c.nodes, node) {
		return f, m.overItself(node, m.column(f).Name)
	}
	return f, nil
}

// ownColumn finds a column of a node, a hidden one too.
func (m *Model) ownColumn(node int, leaf string) (expr.Field, *expr.Error) {
	source := m.Nodes[node].Source
	found := m.names.local[source].columns.find(leaf)
	switch {
	case len(found) == 1:
		return expr.Field{Node: node, Column: found[0]}, nil
	case len(found) > 1:
		e := &expr.Error{Class: expr.AmbiguousField, Pos: -1, Message: fmt.Sprintf("several columns of %s are called %s if case does not matter", m.Nodes[node].Name, leaf), Hint: "write the name as one of them has it"}
		for _, c := range found[:min(maxNear, len(found))] {
			e.Near = append(e.Near, m.qualified(node, m.Sources[source].Columns[c].Name))
		}
		return expr.Field{}, e
	}
	e := &expr.Error{Class: expr.UnknownField, Pos: -1, Message: fmt.Sprintf("%s has no column %s", m.Nodes[node].Name, shorten(leaf))}
	if i, ok := m.names.local[source].measures.one(leaf); ok {
		e.Hint = fmt.Sprintf("%s is a measure of %s; it stands among the measures of a request", m.Sources[source].Measures[i].Name, m.Nodes[node].Name)
		return expr.Field{}, e
	}
	for _, k := range m.near(leaf, func() []string { return publicColumns(m.Sources[source]) }) {
		e.Near = append(e.Near, m.qualified(node, k))
	}
	e.Hint = didYouMean(e.Near)
	return expr.Field{}, e
}

func publicColumns(s *Source) []string {
	var out []string
	for _, c := range s.Columns {
		if c.Visibility == Public {
			out = append(out, c.Name)
		}
	}
	return out
}

func measureNames(s *Source) []string {
	var out []string
	for _, x := range s.Measures {
		out = append(out, x.Name)
	}
	return out
}

func segmentNames(s *Source) []string {
	var out []string
	for _, x := range s.Segments {
		out = append(out, x.Name)
	}
	return out
}

func (m *Model) bareColumn(n expr.Name) (expr.Field, *expr.Error) {
	found := m.names.columns.find(n.Leaf)
	var usable []place
	for _, p := range found {
		if m.Sources[p.source].Columns[p.index].Visibility != Hidden {
			usable = append(usable, p)
		}
	}
	switch {
	case len(usable) == 1:
		return expr.Field{Node: usable[0].source, Column: usable[0].index}, nil
	case len(usable) > 1:
		return expr.Field{}, m.ambiguous("column", n.Leaf, usable, func(p place) string { return m.Sources[p.source].Columns[p.index].Name })
	case len(found) > 0:
		return expr.Field{}, hidden(m.Sources[found[0].source].Name, m.Sources[found[0].source].Columns[found[0].index].Name)
	}
	e := &expr.Error{Class: expr.UnknownField, Pos: -1, Message: fmt.Sprintf("no source has a column %s", shorten(n.Leaf))}
	if measures := m.names.measures.find(n.Leaf); len(measures) > 0 {
		p := measures[0]
		e.Hint = fmt.Sprintf("%s is a measure; it stands among the measures of a request", m.qualified(p.source, m.Sources[p.source].Measures[p.index].Name))
		return expr.Field{}, e
	}
	var known []string
	for _, s := range m.Sources {
		for _, c := range s.Columns {
			if c.Visibility == Public {
				known = append(known, s.Name+"."+c.Name)
			}
		}
	}
	e.Near = nearestLeaf(n.Leaf, known)
	e.Hint = "a text is written in quotes, as '" + strings.ReplaceAll(shorten(n.Leaf), "'", "''") + "'"
	if len(e.Near) > 0 {
		e.Hint += "; or " + didYouMean(e.Near)
	}
	return expr.Field{}, e
}

// nearestLeaf finds near names among qualified ones by what stands behind the point.
func nearestLeaf(leaf string, known []string) []string {
	by := map[string][]string{}
	var leaves []string
	for _, k := range known {
		_, l, _ := strings.Cut(k, ".")
		if by[l] == nil {
			leaves = append(leaves, l)
		}
		by[l] = append(by[l], k)
	}
	var out []string
	for _, l := range expr.Near(leaf, leaves) {
		out = append(out, by[l]...)
	}
	return out[:min(maxNear, len(out))]
}

func (m *Model) ambiguous(kind, leaf string, places []place, name func(place) string) *expr.Error {
	e := &expr.Error{Class: expr.AmbiguousField, Pos: -1}
	for _, p := range places[:min(maxNear, len(places))] {
		e.Near = append(e.Near, m.qualified(p.source, name(p)))
	}
	e.Message = fmt.Sprintf("%d sources have a %s %s", len(places), kind, shorten(leaf))
	e.Hint = "write one of them with its source: " + strings.Join(e.Near, ", ")
	return e
}

// Measure returns the measure that a name of a request means (R17).
func (m *Model) Measure(n expr.Name) (expr.Measure, *expr.Error) {
	if n.Qualifier != "" {
		node, err := m.Node(n.Qualifier)
		if err != nil {
			return expr.Measure{}, err
		}
		return m.ownMeasure(node, n.Leaf)
	}
	found := m.names.measures.find(n.Leaf)
	switch {
	case len(found) == 1:
		return expr.Measure{Node: found[0].source, Index: found[0].index}, nil
	case len(found) > 1:
		return expr.Measure{}, m.ambiguous("measure", n.Leaf, found, func(p place) string { return m.Sources[p.source].Measures[p.index].Name })
	}
	e := &expr.Error{Class: expr.UnknownMeasure, Pos: -1, Message: fmt.Sprintf("no source has a measure %s", shorten(n.Leaf))}
	if columns := m.names.columns.find(n.Leaf); len(columns) > 0 {
		p := columns[0]
		if c := m.Sources[p.source].Columns[p.index]; c.Visibility != Hidden {
			e.Hint = aggregateHint(m.qualified(p.source, c.Name), c)
			return expr.Measure{}, e
		}
	}
	var known []string
	for _, s := range m.Sources {
		for _, x := range s.Measures {
			known = append(known, s.Name+"."+x.Name)
		}
	}
	e.Near = nearestLeaf(n.Leaf, known)
	e.Hint = didYouMean(e.Near)
	return expr.Measure{}, e
}

func (m *Model) ownMeasure(node int, leaf string) (expr.Measure, *expr.Error) {
	source := m.Nodes[node].Source
	found := m.names.local[source].measures.find(leaf)
	if len(found) == 1 {
		f := expr.Measure{Node: node, Index: found[0]}
		if m.Nodes[node].Alias && slices.Contains(m.measureNodes(f), node) {
			return f, m.overItself(node, m.Sources[source].Measures[f.Index].Name)
		}
		return f, nil
	}
	e := &expr.Error{Class: expr.UnknownMeasure, Pos: -1, Message: fmt.Sprintf("%s has no measure %s", m.Nodes[node].Name, shorten(leaf))}
	if len(found) > 1 {
		e.Class, e.Message = expr.AmbiguousField, fmt.Sprintf("several measures of %s are called %s if case does not matter", m.Nodes[node].Name, leaf)
	}
	if c, ok := m.names.local[source].columns.one(leaf); ok && len(found) == 0 && m.Sources[source].Columns[c].Visibility != Hidden {
		e.Hint = aggregateHint(m.qualified(node, m.Sources[source].Columns[c].Name), m.Sources[source].Columns[c])
		return expr.Measure{}, e
	}
	for _, k := range m.near(leaf, func() []string { return measureNames(m.Sources[source]) }) {
		e.Near = append(e.Near, m.qualified(node, k))
	}
	e.Hint = didYouMean(e.Near)
	return expr.Measure{}, e
}

// aggregateHint shows how to make a measure of a column.
func aggregateHint(name string, c *Column) string {
	if c.Type == expr.Number {
		return fmt.Sprintf("%s is a column; write sum(%s), avg(%s), or count(%s)", name, name, name, name)
	}
	return fmt.Sprintf("%s is a column; write count(%s) or count(distinct %s)", name, name, name)
}

// Segment returns the segment that a name of a request means. It must be qualified.
func (m *Model) Segment(n expr.Name) (node, segment int, err *expr.Error) {
	if n.Qualifier == "" {
		e := &expr.Error{Class: expr.UnknownSegment, Pos: -1, Message: fmt.Sprintf("the segment %s has no source", shorten(n.Leaf)), Hint: "write source.segment"}
		for s, source := range m.Sources {
			for _, i := range m.names.local[s].segments.find(n.Leaf) {
				if len(e.Near) < maxNear {
					e.Near = append(e.Near, m.qualified(s, source.Segments[i].Name))
				}
			}
		}
		if len(e.Near) > 0 {
			e.Hint = "write " + strings.Join(e.Near, " or ")
		}
		return 0, 0, e
	}
	node, err = m.Node(n.Qualifier)
	if err != nil {
		return 0, 0, err
	}
	source := m.Nodes[node].Source
	if i, ok := m.names.local[source].segments.one(n.Leaf); ok {
		if m.Nodes[node].Alias && slices.Contains(m.exprNodes(source, m.Sources[source].Segments[i].Expr), node) {
			return 0, 0, m.overItself(node, m.Sources[source].Segments[i].Name)
		}
		return node, i, nil
	}
	e := &expr.Error{Class: expr.UnknownSegment, Pos: -1, Message: fmt.Sprintf("%s has no segment %s", m.Nodes[node].Name, shorten(n.Leaf))}
	for _, k := range m.near(n.Leaf, func() []string { return segmentNames(m.Sources[source]) }) {
		e.Near = append(e.Near, m.qualified(node, k))
	}
	e.Hint = didYouMean(e.Near)
	return 0, 0, e
}

func (m *Model) qualified(node int, leaf string) string { return m.Nodes[node].Name + "." + leaf }

func (m *Model) column(f expr.Field) *Column {
	return m.Sources[m.Nodes[f.Node].Source].Columns[f.Column]
}

// columnOf is the column of a field in an expression of a source.
func (m *Model) columnOf(source int, f expr.Field) *Column {
	if f.Node != expr.Self {
		source = m.Nodes[f.Node].Source
	}
	return m.Sources[source].Columns[f.Column]
}

func hidden(source, column string) *expr.Error {
	return &expr.Error{Class: expr.HiddenField, Pos: -1, Message: fmt.Sprintf("%s.%s is hidden", source, column), Hint: "use another column"}
}

// overItself refuses what an alias cannot have: an expression of its source that goes
// over the join that gives the alias. Under the alias that would be another row.
func (m *Model) overItself(node int, leaf string) *expr.Error {
	n := m.Nodes[node]
	return &expr.Error{
		Class: expr.Disconnected, Pos: -1,
		Message: fmt.Sprintf("%s.%s uses columns of %s itself, and no join leads from %s to another %s", n.Name, leaf, n.Name, n.Name, n.Name),
		Hint:    "use " + m.Sources[n.Source].Name + "." + leaf,
	}
}

// Refusal returns why requests that touch a source are refused, or nil.
func (m *Model) Refusal(source int) *expr.Error { return m.refusals[source] }

func refusalOf(p Problem) *expr.Error {
	where := p.File
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	message := p.Message
	if p.Path != "" {
		message = p.Path + ": " + message
	}
	return &expr.Error{Class: p.Class, Pos: -1, Message: fmt.Sprintf("the source %s is not valid: %s (%s)", p.Source, message, where), Hint: "correct the file and run ktx sl validate"}
}
