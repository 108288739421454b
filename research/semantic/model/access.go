package model

import (
	"errors"
	"fmt"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// NotAllowed is the class of a request for what the rules of a connection deny.
const NotAllowed expr.Class = "relation_not_allowed"

// ErrDenied is what a [Judge] wraps if the rules of the connection deny a table or a
// column that the text reads.
var ErrDenied = errors.New("denied by this connection's rules")

// Permission says what the rules of a connection permit to be read.
type Permission interface {
	// Table reports whether a table may be read.
	Table(table []Ident) bool
	// Column reports whether a column of a table may be read.
	Column(table []Ident, column string) bool
	// DeniesColumns reports whether any rule denies a column.
	DeniesColumns() bool
}

// restriction is what a model is read without.
type restriction struct {
	sources map[string]bool            // that are denied as a whole, by name
	columns map[string]map[string]bool // of the manifest, by source
}

// maxRestrictions is how often a model is read again without what turned out to need
// something denied. After that, everything that people wrote is denied.
const maxRestrictions = 20

// LoadPermitted checks the model that the files say, without what the rules deny. A source is denied if its table,
// its query, or a column that its own file declares is denied. A denied column that only
// the manifest names is left out, as if the scan had not found it, and joins to denied
// tables or over denied columns are left out too. A source that is valid with what was
// left out and not without it is denied as well.
//
// A request that names a denied source is answered as if there were none of that name.
// Nothing else of the model tells of what is denied.
func (f *Folder) LoadPermitted(connection string, judge Judge, p Permission) *Model {
	asked := map[string]judged{}
	once := func(sql string) (relations, columns []string, err error) {
		v, ok := asked[sql]
		if !ok {
			v.relations, v.columns, v.err = judge(sql)
			asked[sql] = v
		}
		return v.relations, v.columns, v.err
	}
	if judge == nil {
		once = nil
	}
	all := f.load(connection, once, nil)
	r := &restriction{sources: map[string]bool{}, columns: map[string]map[string]bool{}}
	invalid := map[string]bool{}
	for _, s := range all.Sources {
		invalid[s.Name] = s.Invalid
		r.judge(s, p)
	}
	if len(r.sources) == 0 && len(r.columns) == 0 {
		return all
	}
	var m *Model
	for tries, before := 0, -1; before != len(r.sources); tries++ {
		m = f.load(connection, once, r)
		before = len(r.sources)
		for _, s := range m.Sources {
			if s.Invalid && !invalid[s.Name] || tries == maxRestrictions && s.Form != Manifest {
				r.sources[s.Name] = true
			}
		}
	}
	m.withhold(all, r)
	return m
}

type judged struct {
	relations, columns []string
	err                error
}

// judge notes what of a source is denied.
func (r *restriction) judge(s *Source, p Permission) {
	if s.Denied || s.Table != nil && !p.Table(s.Table) {
		r.sources[s.Name] = true
		return
	}
	if s.Table == nil || !p.DeniesColumns() {
		return
	}
	for _, c := range s.Columns {
		switch {
		case c.Text != "" || p.Column(s.Table, c.Name):
		case s.Form == Standalone:
			r.sources[s.Name] = true
			return
		default:
			if r.columns[s.Name] == nil {
				r.columns[s.Name] = map[string]bool{}
			}
			r.columns[s.Name][c.Name] = true
		}
	}
}

func (r *restriction) source(name string) bool { return r != nil && r.sources[name] }

func (r *restriction) column(source, name string) bool { return r != nil && r.columns[source][name] }

// withhold takes the names of denied sources out of the model, and out of the problems
// what tells of denied things. all is the model as the files say it.
func (m *Model) withhold(all *Model, r *restriction) {
	plain := func(p Problem) Problem { p.Hint = ""; return p }
	known := map[Problem]bool{}
	invalid := map[string]bool{}
	for _, p := range all.Problems {
		known[plain(p)] = true
	}
	for _, s := range all.Sources {
		invalid[s.Name] = s.Invalid
	}
	var kept []Problem
	first := map[string]Problem{}
	for _, p := range m.Problems {
		if r.source(p.Source) || !known[plain(p)] {
			continue
		}
		kept = append(kept, p)
		if _, ok := first[p.Source]; !ok && !p.Warning {
			first[p.Source] = p
		}
	}
	m.Problems = kept
	for i, s := range m.Sources {
		m.refusals[i] = nil
		switch p, ok := first[s.Name]; {
		case r.source(s.Name):
			s.Invalid = false
			m.names.nodes.drop(s.Name, func(node int) bool { return m.Nodes[node].Source == i })
			m.refusals[i] = &expr.Error{ // no name and no join leads to it, so nobody should read this
				Class: NotAllowed, Pos: -1, Message: "the request needs what this connection's rules deny", Hint: "use other sources",
			}
		case !s.Invalid && !invalid[s.Name]:
		case ok:
			s.Invalid, m.refusals[i] = true, refusalOf(p)
		default:
			s.Invalid = true
			m.refusals[i] = &expr.Error{Class: expr.InvalidSource, Pos: -1, Message: fmt.Sprintf("the source %s is not valid", s.Name), Hint: "use other sources"}
		}
	}
	for folded, p := range m.broken {
		if r.source(p.Source) {
			delete(m.broken, folded)
		}
	}
}

// deny makes a source that has nothing but its name.
func deny(s *Source) *Source {
	return &Source{Name: s.Name, Form: s.Form, File: s.File, Denied: true, DefaultTime: -1}
}

// Source returns the source of a name. It finds none that is denied.
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
