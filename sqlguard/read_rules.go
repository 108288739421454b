package sqlguard

import (
	"slices"
	"strings"
)

// ReadRules answers which relations and columns a policy permits, for a backend whose
// engine asks before each read. The zero value permits all.
type ReadRules struct {
	policy Policy
	traits traits
}

// ReadRulesOf returns what p permits in a dialect.
func ReadRulesOf(d Dialect, p Policy) ReadRules { return ReadRules{policy: p, traits: traitsOf(d)} }

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
