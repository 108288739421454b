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
	judge   *Guard // with the catalogue's objects, or nil
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
// rules spell them. Within a catalogue, a rule also covers the tables that share rows with
// the one that it names.
func (r ReadRules) DeniedColumns(schema, name string) []string {
	var denied []string
	for _, rule := range r.policy.Columns {
		of, rest, _ := strings.Cut(rule.Match, ".")
		table, column, _ := strings.Cut(rest, ".")
		if r.covers(CatalogName{schema, name}, of, table) && !slices.Contains(denied, column) {
			denied = append(denied, column)
		}
	}
	return denied
}

func (r ReadRules) covers(n CatalogName, schema, table string) bool {
	if r.judge != nil {
		return r.judge.sharesRows(n, schema, table)
	}
	return r.traits.same(schema, n.Schema) && r.traits.same(table, n.Name)
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

// Around is a relation that shows, or may show, what a rule denies.
type Around struct {
	CatalogName
	Why string // a clause for a message
}

// Within returns rules that also deny what a catalogue shows: the columns computed from
// denied columns, and columns of tables that share rows with the table of a rule. It also
// returns the relations around the rules: views that read what a rule denies, also through
// other views and functions, those whose definition the catalogue lacks, tables that share
// rows with a denied table, and tables that show rows of tables that the catalogue does not
// name. A relation that a rule denies itself is not among them. Without a rule that denies a
// table or column, and for a dialect that does not judge with objects, there are none.
func (r ReadRules) Within(c *Catalog) (ReadRules, []Around, error) {
	g := &Guard{policy: r.policy, traits: r.traits}
	r.policy.Columns = g.derive(c.Derived)
	if c.Objects == nil || !g.policy.deniesAny() || r.dialect == nil {
		return r, nil, nil
	}
	g, err := New(r.dialect, g.policy, c)
	if err != nil {
		return r, nil, err
	}
	r.policy.Columns, r.judge = g.columns, g
	var out []Around
	for i := range g.objects.Relations {
		at := &g.objects.Relations[i]
		if r.Denies(at.Schema, at.Name) {
			continue
		}
		if why := g.around(i); why != "" {
			out = append(out, Around{at.CatalogName, why})
		}
	}
	return r, out, nil
}

// around returns why a relation shows, or may show, what a rule denies.
func (g *Guard) around(i int) string {
	switch g.objects.Relations[i].Kind {
	case RelationView, RelationMaterialized:
		// The rules that deny are all that is asked here, as of a view whose rows
		// are stored.
		_, why := g.objects.holds(g, node{kind: nodeView, index: i, stored: true})
		return why
	case RelationMerged:
		return showsOthers
	case RelationTable, RelationPartitioned, RelationForeign, RelationSequence, RelationSynonym:
	}
	return g.deniedRelative(i)
}
