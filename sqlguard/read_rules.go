package sqlguard

import (
	"slices"
	"strings"
)

// ReadRules answers which relations and columns a policy permits, for a backend whose
// engine asks before each read. The zero value permits all.
type ReadRules struct {
	dialect Dialect
	policy  Policy
	traits  traits
}

// ReadRulesOf returns what p permits in a dialect.
func ReadRulesOf(d Dialect, p Policy) ReadRules {
	return ReadRules{dialect: d, policy: p, traits: traitsOf(d)}
}

// Restricts reports whether the policy has any rule on schemas, tables or columns.
func (r ReadRules) Restricts() bool {
	p := &r.policy
	return len(p.Schemas.Allow)+len(p.Schemas.Deny)+len(p.Tables.Allow)+len(p.Tables.Deny)+len(p.Columns) > 0
}

// Denies reports whether a rule denies a relation. A view must not read such a
// relation either.
func (r ReadRules) Denies(schema, name string) bool { return r.policy.deniesIn(schema, name, r.traits) }

// Permits reports whether a statement may name a relation: no rule denies it, and it
// is on the lists of allowed schemas and tables, where there are any.
func (r ReadRules) Permits(schema, name string) bool {
	return r.policy.permitsIn(schema, name, r.traits)
}

// SameName reports whether the server may treat two names as the same name.
func (r ReadRules) SameName(a, b string) bool { return r.traits.same(a, b) }

// DeniedColumns returns the columns of a relation that the policy denies, as the
// rules spell them.
func (r ReadRules) DeniedColumns(schema, name string) []string {
	var denied []string
	for _, rule := range r.policy.Columns {
		of, rest, _ := strings.Cut(rule.Match, ".")
		table, column, _ := strings.Cut(rest, ".")
		if r.traits.same(of, schema) && r.traits.same(table, name) && !slices.Contains(denied, column) {
			denied = append(denied, column)
		}
	}
	return denied
}

// Whole reports whether the policy permits every relation and column of a schema, also of
// tables that are made later.
func (r ReadRules) Whole(schema string) bool {
	p := &r.policy
	about := func(name string) bool {
		of, _, _ := strings.Cut(name, ".")
		return r.traits.same(of, schema)
	}
	return len(p.Tables.Allow) == 0 && !slices.ContainsFunc(p.Tables.Deny, about) &&
		!slices.ContainsFunc(p.Columns, func(rule ColumnRule) bool { return about(rule.Match) }) && p.permitsIn(schema, "", r.traits)
}

// Derive returns rules that also deny the columns computed from denied columns.
func (r ReadRules) Derive(derived []DerivedColumn) ReadRules {
	g := Guard{policy: r.policy, traits: r.traits}
	r.policy.Columns = g.derive(derived)
	return r
}

// Around is a view that shows, or may show, what a rule denies.
type Around struct {
	CatalogName
	Why string // a clause for a message
}

// Around returns the views of a catalogue with objects that read what a rule denies, also
// through other views and functions, and those whose definition the catalogue lacks. A
// view that a rule denies itself is not among them. Without a rule that denies a table or
// column, and for a dialect that does not judge with objects, there are none.
func (r ReadRules) Around(c *Catalog) ([]Around, error) {
	if c == nil || c.Objects == nil || !r.policy.deniesAny() || r.dialect == nil {
		return nil, nil
	}
	g, err := New(r.dialect, r.policy, c)
	if err != nil {
		return nil, err
	}
	var out []Around
	for i := range g.objects.Relations {
		v := &g.objects.Relations[i]
		if v.Kind != RelationView && v.Kind != RelationMaterialized || r.Denies(v.Schema, v.Name) {
			continue
		}
		// The rules that deny are all that is asked here, as of a view whose rows
		// are stored.
		if _, why := g.objects.holds(g, node{kind: nodeView, index: i, stored: true}); why != "" {
			out = append(out, Around{v.CatalogName, why})
		}
	}
	return out, nil
}
