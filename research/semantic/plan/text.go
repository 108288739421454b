package plan

import (
	"fmt"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// readable writes e with the names that a request uses. Self is node.
func readable(m *model.Model, p *Plan, e *expr.Expr, node int) string {
	return plainText(named(m, p, e, node))
}

// named puts names in for what is bound.
func named(m *model.Model, p *Plan, e *expr.Expr, node int) *expr.Expr {
	if e.Op == expr.OpPresent {
		return named(m, p, e.Args[0], node)
	}
	if e.Op == expr.OpField {
		f := e.Field
		if f.Node == expr.Self {
			f.Node = node
		}
		n := m.Nodes[f.Node]
		return &expr.Expr{Op: expr.OpName, Name: spelled(n.Name, m.Sources[n.Source].Columns[f.Column].Name)}
	}
	if e.Op == expr.OpMeasure {
		x := e.Measure
		if x.Node == expr.Self {
			x.Node = node
		}
		n := m.Nodes[x.Node]
		return &expr.Expr{Op: expr.OpName, Name: spelled(n.Name, m.Sources[n.Source].Measures[x.Index].Name)}
	}
	if e.Op == expr.OpAtom {
		a := p.Atoms[e.Index]
		return named(m, p, &expr.Expr{Op: expr.OpAggregate, Func: a.Func, Distinct: a.Distinct, Args: a.Args, Filter: a.Filter}, a.Base)
	}
	out := *e
	out.Args = make([]*expr.Expr, len(e.Args))
	for i, a := range e.Args {
		out.Args[i] = named(m, p, a, node)
	}
	if e.Filter != nil {
		out.Filter = named(m, p, e.Filter, node)
	}
	return &out
}

// plainText is e without the parentheses around the whole of it.
func plainText(e *expr.Expr) string {
	s := e.String()
	if strings.HasPrefix(s, "(") && closesAt(s) == len(s)-1 {
		s = s[1 : len(s)-1]
	}
	return s
}

// closesAt is where the parenthesis at the start of s is closed.
func closesAt(s string) int {
	depth, quote := 0, byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// spelled is a name that is quoted where it must be.
func spelled(qualifier, leaf string) expr.Name {
	return expr.Name{Qualifier: qualifier, Leaf: leaf, QuotedQualifier: !expr.Plain(qualifier), QuotedLeaf: !expr.Plain(leaf)}
}

// edgeText is a join as its equalities.
func edgeText(m *model.Model, edge int) string {
	e := m.Edges[edge]
	from, to := m.Nodes[e.From], m.Nodes[e.To]
	parts := make([]string, len(e.Pairs))
	for i, p := range e.Pairs {
		parts[i] = fmt.Sprintf("%s = %s",
			expr.Name{Qualifier: from.Name, Leaf: m.Sources[from.Source].Columns[p.From].Name}.String(),
			expr.Name{Qualifier: to.Name, Leaf: m.Sources[to.Source].Columns[p.To].Name}.String())
	}
	return strings.Join(parts, " AND ")
}

// kindName is how a file writes the relationship of an edge.
func kindName(k model.Kind) string {
	switch k {
	case model.ManyToOne:
		return "many_to_one"
	case model.OneToMany:
		return "one_to_many"
	case model.OneToOne:
		return "one_to_one"
	}
	return "unknown"
}

// list joins names by commas, with word before the last.
func list(names []string, word string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + word + " " + names[last]
}

// upTo joins at most n names and counts the others.
func upTo(n int, names []string) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(names[:n], ", "), len(names)-n)
}
