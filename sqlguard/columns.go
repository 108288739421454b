package sqlguard

import (
	"fmt"
	"slices"
	"strings"
)

// judgeColumns applies the column rules. When in doubt it refuses: it refuses any
// mention that could mean a denied column. It treats a relation that could be a view
// of a rule's table like that table, because there is no catalogue to resolve views,
// unless the engine itself applies the rules to views.
func (g *Guard) judgeColumns(s *Statement, v *Verdict) {
	for _, rule := range g.columns {
		if len(v.Findings) >= maxFindings {
			return // refused; rules times relations can be many
		}
		schema, rest, _ := strings.Cut(rule.Match, ".")
		table, column, _ := strings.Cut(rest, ".")
		var covered, others []*Relation
		for i := range s.Relations {
			r := &s.Relations[i]
			switch {
			case r.System:
			case g.couldBe(r, schema, table):
				covered = append(covered, r)
			default:
				others = append(others, r)
			}
		}
		for _, r := range others {
			if g.catalog.EngineDenies {
				break
			}
			v.Findings = append(v.Findings, Finding{
				Code: CodeUnresolvedObject, Span: r.Span, Object: qualified(r.Schema, r.Name),
				Message: fmt.Sprintf("relation %s could be a view over %s.%s, which has a denied column", qualified(r.Schema, r.Name), schema, table),
				Hint:    "no other statement on it helps; ask the operator for guard.catalog, with which ktx knows what is a view",
			})
		}
		if len(covered) == 0 {
			continue
		}
		v.refuseMentions(s, rule, column, covered, others, g)
	}
}

// refuseMentions refuses every mention of a denied column of the covered
// relations.
func (v *Verdict) refuseMentions(s *Statement, rule ColumnRule, column string, covered, others []*Relation, g *Guard) {
	for i := range s.ColumnRefs {
		ref := &s.ColumnRefs[i]
		if !mentions(ref, column, covered, others, g) {
			continue
		}
		v.Findings = append(v.Findings, Finding{
			Code: CodeColumnNotAllowed, Span: ref.Span, Object: rule.Match,
			Message: fmt.Sprintf("column %s is denied by this connection's policy, and the statement reads it or may read it here", rule.Match),
			Hint:    columnHint(ref, column, g),
		})
	}
}

// columnHint says how a statement does without a denied column that ref mentions.
func columnHint(ref *ColumnRef, column string, g *Guard) string {
	switch {
	case ref.Star:
		return fmt.Sprintf("name the columns that you need, without %s, instead of *", column)
	case g.traits.same(ref.Name, column):
		return fmt.Sprintf("leave %s out: no statement of this connection reads it, also not in a condition", column)
	default:
		return fmt.Sprintf("name the columns that you need, without %s, instead of %s", column, ref.Name)
	}
}

// derive returns the column rules and a rule for each column that is computed from a
// denied one, also over several steps. A rule for a table covers the columns of tables
// that share rows with it.
func (g *Guard) derive(derived []DerivedColumn) []ColumnRule {
	rules := slices.Clone(g.policy.Columns)
	known := make(map[ColumnRule]bool, len(rules))
	for _, rule := range rules {
		known[rule] = true
	}
	for i := 0; i < len(rules); i++ {
		schema, rest, _ := strings.Cut(rules[i].Match, ".")
		table, column, _ := strings.Cut(rest, ".")
		for _, d := range derived {
			if !slices.ContainsFunc(d.From, func(from string) bool { return g.traits.same(from, column) }) || !g.sharesRows(d.Table, schema, table) {
				continue
			}
			if rule := (ColumnRule{Match: schema + "." + table + "." + d.Column}); !known[rule] {
				known[rule] = true
				rules = append(rules, rule)
			}
		}
	}
	return rules
}

// sharesRows reports whether a table is the one of a rule, or shares rows with it by
// inheritance.
func (g *Guard) sharesRows(n CatalogName, schema, table string) bool {
	is := func(n CatalogName) bool { return g.traits.same(n.Schema, schema) && g.traits.same(n.Name, table) }
	if g.objects == nil {
		return is(n)
	}
	i, ok := g.objects.relations[g.objects.key(n)]
	return is(n) || ok && slices.ContainsFunc(g.objects.relatives(i), func(at int) bool { return is(g.objects.Relations[at].CatalogName) })
}

// couldBe reports whether r is, or could resolve to, schema.table.
func (g *Guard) couldBe(r *Relation, schema, table string) bool {
	same := g.traits.same
	if r.Prefix {
		if !couldBegin(g.traits.fold(table), g.traits.fold(strings.TrimSuffix(r.Name, "*"))) {
			return false
		}
	} else if !same(r.Name, table) {
		return false
	}
	path := g.searchPath()
	return same(r.Schema, schema) || r.Schema == "" && (len(path) == 0 ||
		slices.ContainsFunc(path, func(p string) bool { return same(p, schema) }))
}

// readsRow reports whether x.name can be the call of a function that gets the whole row x.
// With objects, the guard judges such a call itself.
func (g *Guard) readsRow(name string) bool {
	return g.traits.rowFunction != nil && g.traits.rowFunction(name) || g.objects == nil && slices.Contains(g.catalog.RowFunctions, name)
}

// mentions reports whether ref could read column of one of the covered relations: by
// its name, by a star, by another name that the server may have for it, or by the
// relation's own name, which means its whole row.
func mentions(ref *ColumnRef, column string, covered, others []*Relation, g *Guard) bool {
	same := g.traits.same
	named := func(relations []*Relation, name string) bool {
		return slices.ContainsFunc(relations, func(r *Relation) bool {
			if r.Alias != "" {
				return same(r.Alias, name)
			}
			return same(r.Name, name)
		})
	}
	if len(ref.Qualifier) > 0 {
		last := ref.Qualifier[len(ref.Qualifier)-1]
		if named(others, last) && !named(covered, last) {
			return false
		}
	}
	if len(ref.Qualifier) > 0 && g.readsRow(ref.Name) {
		return true
	}
	return ref.Star || ref.Alias && !g.catalog.EngineDenies || same(ref.Name, column) || !ref.Element && named(covered, ref.Name)
}
