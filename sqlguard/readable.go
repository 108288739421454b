package sqlguard

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// Readable says which relations and columns the rules of a policy permit to be
// read. It is for callers that list names and values which they know already,
// such as those of an earlier scan. A statement is judged by a [Guard]. The zero
// value permits nothing.
type Readable struct {
	rules *readableRules
}

type readableRules struct {
	policy Policy
	traits traits
	id     string
}

// NewReadable returns what p permits on servers of the dialect. The dialect may be
// nil if ktx has no reader for the connection's SQL: names that a rule denies are
// then compared without their case, and names that a rule allows exactly.
func NewReadable(d Dialect, p Policy) Readable {
	r := &readableRules{policy: Policy{Schemas: p.Schemas, Tables: p.Tables, Columns: p.Columns}}
	name := ""
	if d == nil {
		r.traits.fold = func(name string) string { return name }
	} else {
		name, r.traits = d.Name(), traitsOf(d)
	}
	text, err := json.Marshal(struct {
		Dialect string
		Policy  Policy
	}{name, r.policy})
	if err != nil { // a policy has strings and lists only
		return Readable{}
	}
	sum := sha256.Sum256(text)
	r.id = hex.EncodeToString(sum[:])
	return Readable{rules: r}
}

// ID is equal for two values that give the same answers. It is "" for the zero
// value.
func (r Readable) ID() string {
	if r.rules == nil {
		return ""
	}
	return r.rules.id
}

// Relation reports whether the relation may be read. For a dialect whose schemas
// are databases, schema is the database. A relation without a schema may be read
// only if no rule on schemas or tables exists.
func (r Readable) Relation(schema, name string) bool {
	if r.rules == nil {
		return false
	}
	p := &r.rules.policy
	if schema == "" {
		return len(p.Schemas.Allow)+len(p.Schemas.Deny)+len(p.Tables.Allow)+len(p.Tables.Deny) == 0
	}
	return p.permitsIn(schema, name, r.rules.traits)
}

// Column reports whether the column may be read. It asks [Readable.Relation] too.
// In a relation without a schema, a rule denies the column in every schema.
func (r Readable) Column(schema, relation, column string) bool {
	if !r.Relation(schema, relation) {
		return false
	}
	same := r.rules.traits.same
	return !slices.ContainsFunc(r.rules.policy.Columns, func(rule ColumnRule) bool {
		s, rest, _ := strings.Cut(rule.Match, ".")
		t, c, _ := strings.Cut(rest, ".")
		return same(c, column) && same(t, relation) && (schema == "" || same(s, schema))
	})
}

// DeniesColumns reports whether any rule denies a column. A view may show such a
// column under another name, and only the server knows.
func (r Readable) DeniesColumns() bool {
	return r.rules == nil || len(r.rules.policy.Columns) > 0
}
