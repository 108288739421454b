package model

import (
	"fmt"
	"slices"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// NotAllowed is the class of a request for what the rules of a connection deny.
const NotAllowed expr.Class = "relation_not_allowed"

// Deny takes a source out of what requests may name, because the connection's rules deny
// its table or a column that it uses. A request that names it is refused, and no answer
// offers what it has. It may be called only before the model is shared.
func (m *Model) Deny(source int) {
	s := m.Sources[source]
	s.Denied = true
	for _, c := range s.Columns {
		c.Visibility = Hidden
	}
	m.refusals[source] = &expr.Error{
		Class: NotAllowed, Pos: -1, Message: fmt.Sprintf("the source %s is denied by this connection's rules", s.Name), Hint: "use other sources",
	}
	inside := func(p place) bool { return p.source == source }
	m.names.columns.remove(inside)
	m.names.measures.remove(inside)
}

// DenyColumn takes a column out of its source, as if a scan had not found it. It may be
// called only before the model is shared.
func (m *Model) DenyColumn(source, column int) {
	c := m.Sources[source].Columns[column]
	c.Denied, c.Visibility = true, Hidden
	m.names.columns.remove(func(p place) bool { return p == place{source, column} })
	m.names.local[source].columns.remove(func(i int) bool { return i == column })
}

// Source returns the source of a name.
func (m *Model) Source(name string) (source int, ok bool) {
	node, ok := m.names.nodes.one(name)
	if !ok {
		return 0, false
	}
	return m.Nodes[node].Source, true
}

// Near returns up to three sources that a name may have meant.
func (m *Model) Near(name string) []string {
	var known []string
	for _, s := range m.Sources {
		if !s.Denied {
			known = append(known, s.Name)
		}
	}
	return expr.Near(name, known)
}

// remove takes things out of the list.
func (l *lookup[T]) remove(which func(T) bool) {
	for _, names := range []map[string][]T{l.exact, l.folded} {
		for name, things := range names {
			if things = slices.DeleteFunc(things, which); len(things) == 0 {
				delete(names, name)
			} else {
				names[name] = things
			}
		}
	}
}
