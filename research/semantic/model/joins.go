package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// resolveJoins finds the targets of all joins, makes the nodes of the aliases, and reads
// what stands in on. A join of the manifest that cannot be used is left out with a
// warning, because a scan must not make a table unusable.
func (l *loader) resolveJoins() {
	m := l.m
	type named struct{ source, join int }
	aliases := map[string]named{} // by alias in lower case
	var order []string
	for s, source := range m.Sources {
		for i, j := range source.Joins {
			at := l.origins[s].joins[i]
			if j.Disabled || j.To == "" || j.On == "" || j.Kind == 0 {
				continue // switched off, or its problem is known
			}
			found := m.names.nodes.find(j.To)
			if len(found) != 1 {
				l.wrongJoin(s, i, at.at("to"), expr.UnknownSource, didYouMean(m.near(j.To, m.allNodes)), fmt.Sprintf("there is no source %s", shorten(j.To)))
				continue
			}
			if m.Sources[found[0]].Denied {
				j.Disabled, source.Restricted = true, true
				continue
			}
			j.Target = found[0]
			if j.Alias == "" {
				if j.Target == s {
					l.wrongJoin(s, i, at, expr.InvalidJoin, "add alias: parent or another name", "a join of a source to itself needs an alias")
					j.Target = -1
					continue
				}
				j.Node = j.Target
				continue
			}
			if !l.alias(source, at, j.Alias) {
				j.Target = -1
				continue
			}
			folded := strings.ToLower(j.Alias)
			if other, ok := aliases[folded]; ok {
				l.report(source, at.at("alias"), expr.DuplicateName, "give one of them another alias", "the alias %s is used by a join of %s too", j.Alias, m.Sources[other.source].Name)
				j.Target = -1
				continue
			}
			if len(aliases) == maxAliases {
				l.report(source, at.at("alias"), expr.InvalidJoin, "", "the model has more than %d aliases", maxAliases)
				j.Target = -1
				continue
			}
			aliases[folded] = named{s, i}
			order = append(order, folded)
		}
	}
	slices.SortFunc(order, func(a, b string) int {
		x, y := aliases[a], aliases[b]
		return strings.Compare(m.Sources[x.source].Joins[x.join].Alias, m.Sources[y.source].Joins[y.join].Alias)
	})
	for _, a := range order {
		j := m.Sources[aliases[a].source].Joins[aliases[a].join]
		j.Node = len(m.Nodes)
		m.names.nodes.add(j.Alias, j.Node)
		m.Nodes = append(m.Nodes, Node{Name: j.Alias, Source: j.Target, Alias: true})
	}
	for s, source := range m.Sources {
		for i, j := range source.Joins {
			if j.Target >= 0 && !l.on(s, i, j) {
				j.Pairs, j.Target = nil, -1
			}
		}
	}
}

// alias reports whether a name can be an alias.
func (l *loader) alias(source *Source, at origin, alias string) bool {
	if !l.name(source, at.at("alias"), expr.InvalidJoin, alias, false) {
		return false
	}
	for _, n := range l.m.names.nodes.folded[strings.ToLower(alias)] {
		l.report(source, at.at("alias"), expr.DuplicateName, "choose another alias, as the role that the source has in this join", "the alias %s is the name of the source %s", alias, l.m.Nodes[n].Name)
		return false
	}
	return true
}

// wrongJoin reports a join that cannot be used.
func (l *loader) wrongJoin(s, join int, at origin, class expr.Class, hint, message string) {
	source := l.m.Sources[s]
	if source.Joins[join].Origin == "" {
		l.report(source, at, class, hint, "%s", message)
		return
	}
	l.add(source, at, class, hint, message+"; the join is left out", true)
}

// on reads the pairs of a join and checks them against the grain.
func (l *loader) on(s, join int, j *Join) bool {
	at := l.origins[s].joins[join].at("on")
	wrong := func(hint, format string, args ...any) bool {
		l.wrongJoin(s, join, at, expr.InvalidJoin, hint, fmt.Sprintf(format, args...))
		return false
	}
	const form = "write equalities joined by AND, as customer_id = customers.id"
	tree, err := at.v.expression()
	if err != nil {
		return wrong(firstOf(err.Hint, form), "on cannot be read: %s", err.Message)
	}
	for _, c := range expr.Conjuncts(tree) {
		if c.Op != expr.OpEq || c.Args[0].Op != expr.OpName || c.Args[1].Op != expr.OpName {
			return wrong(form, "on may only hold equalities of two columns")
		}
		a, b := c.Args[0].Name, c.Args[1].Name
		sideA, okA := l.side(s, j, a)
		sideB, okB := l.side(s, j, b)
		switch {
		case !okA:
			return wrong(form, "%s is neither %s nor %s", shorten(a.Qualifier), l.m.Sources[s].Name, l.other(j))
		case !okB:
			return wrong(form, "%s is neither %s nor %s", shorten(b.Qualifier), l.m.Sources[s].Name, l.other(j))
		case sideA == sideB:
			return wrong(fmt.Sprintf("write one column of %s and one of %s on each side, with the name of the source before the second", l.m.Sources[s].Name, l.other(j)),
				"both sides of %s = %s belong to %s", shorten(a.Leaf), shorten(b.Leaf), map[bool]string{true: l.other(j), false: l.m.Sources[s].Name}[sideA])
		case sideA:
			a, b = b, a
		}
		from, ok := l.joined(s, join, at, s, a.Leaf)
		if !ok {
			return false
		}
		to, ok := l.joined(s, join, at, j.Target, b.Leaf)
		if !ok {
			return false
		}
		if p := (Pair{from, to}); !slices.Contains(j.Pairs, p) {
			j.Pairs = append(j.Pairs, p)
		}
	}
	return l.onGrain(s, j, at)
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// other is how the other source of a join is called in its on.
func (l *loader) other(j *Join) string {
	return firstOf(j.Alias, l.m.Sources[j.Target].Name)
}

// side says whether a name in on belongs to the other source. A bare one belongs to the
// source of the join.
func (l *loader) side(s int, j *Join, n expr.Name) (other, ok bool) {
	if n.Qualifier == "" {
		return false, true
	}
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		switch {
		case j.Alias != "" && same(n.Qualifier, j.Alias):
			return true, true
		case same(n.Qualifier, l.m.Sources[s].Name):
			return false, true
		case j.Target != s && same(n.Qualifier, l.m.Sources[j.Target].Name):
			return true, true
		}
	}
	return false, false
}

// joined finds a column that a join names.
func (l *loader) joined(s, join int, at origin, of int, name string) (int, bool) {
	source := l.m.Sources[of]
	found := l.m.names.local[of].columns.find(name)
	if len(found) != 1 {
		l.wrongJoin(s, join, at, expr.InvalidJoin, didYouMean(l.m.near(name, func() []string { return columnNames(source) })), fmt.Sprintf("%s has no column %s", source.Name, shorten(name)))
		return 0, false
	}
	if source.Columns[found[0]].Text != "" {
		l.wrongJoin(s, join, at, expr.InvalidJoin, "join on columns of the table, or compute the column in a source with sql",
			fmt.Sprintf("%s.%s is a computed column", source.Name, source.Columns[found[0]].Name))
		return 0, false
	}
	return found[0], true
}

// onGrain checks that the side of which a row may have one partner only is unique in the
// columns of the join.
func (l *loader) onGrain(s int, j *Join, at origin) bool {
	check := func(source *Source, side func(Pair) int) bool {
		covered := len(source.Grain) > 0
		for _, g := range source.Grain {
			covered = covered && slices.ContainsFunc(j.Pairs, func(p Pair) bool { return side(p) == g })
		}
		if covered {
			return true
		}
		why := fmt.Sprintf("the grain of %s is unknown", source.Name)
		if len(source.Grain) > 0 {
			why = fmt.Sprintf("the grain of %s is %s, and on does not name all of it, so that a row may have several partners in %s", source.Name, columnList(source, source.Grain), source.Name)
		}
		if j.Origin != "" {
			j.unsafe = why
			l.add(l.m.Sources[s], at, expr.JoinNotOnGrain, "give an overlay of "+source.Name+" the right grain if the columns are unique", why+"; the join is left out", true)
			return true
		}
		l.report(l.m.Sources[s], at, expr.JoinNotOnGrain,
			fmt.Sprintf("correct the relationship or on, or give %s the right grain", source.Name), "%s, but the relationship is %s", why, kindName(j.Kind))
		return false
	}
	to := func(p Pair) int { return p.To }
	from := func(p Pair) int { return p.From }
	switch j.Kind {
	case ManyToOne:
		return check(l.m.Sources[j.Target], to)
	case OneToMany:
		return check(l.m.Sources[s], from)
	case OneToOne:
		return check(l.m.Sources[j.Target], to) && check(l.m.Sources[s], from)
	}
	return false
}

func kindName(k Kind) string {
	switch k {
	case ManyToOne:
		return "many_to_one"
	case OneToMany:
		return "one_to_many"
	case OneToOne:
		return "one_to_one"
	}
	return "unknown"
}

// columnList writes columns of a source for a message.
func columnList(s *Source, columns []int) string {
	const most = 8
	var names []string
	for _, c := range columns[:min(most, len(columns))] {
		names = append(names, s.Columns[c].Name)
	}
	text := strings.Join(names, ", ")
	if len(columns) > most {
		text += fmt.Sprintf(" and %d more columns", len(columns)-most)
	}
	return text
}
