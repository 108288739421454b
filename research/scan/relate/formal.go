package relate

import (
	"github.com/ktxhq/ktx/research/catalog"
)

// The values of catalog.Relationship.Source.
const (
	formal   = "formal"
	inferred = "inferred"
)

// declared accepts the foreign keys that the tables declare. The pairs of a
// composite key follow each other and have one constraint name.
func (f *finder) declared() {
	for _, t := range f.tables {
		keys := t.ForeignKeys
		for len(keys) > 0 {
			n := 1
			for n < len(keys) && samePart(&keys[0], &keys[n]) {
				n++
			}
			f.accept(t, keys[:n])
			keys = keys[n:]
		}
	}
}

// samePart reports whether two pairs belong to one composite key.
func samePart(a, b *catalog.ForeignKey) bool {
	return a.ConstraintName != nil && b.ConstraintName != nil && *a.ConstraintName == *b.ConstraintName && a.To() == b.To()
}

func (f *finder) accept(t *table, pairs []catalog.ForeignKey) {
	r := catalog.Relationship{
		From:         catalog.EndPoint{Table: t.ref},
		To:           catalog.EndPoint{Table: f.target(t.ref, pairs[0].To())},
		Relationship: manyToOne,
		Confidence:   1,
		Source:       formal,
		Evidence:     []string{"the database declares this foreign key"},
	}
	for _, p := range pairs {
		r.From.Columns = append(r.From.Columns, p.FromColumn)
		r.To.Columns = append(r.To.Columns, p.ToColumn)
	}
	if t.hasKey(r.From.Columns) {
		r.Relationship = oneToOne
	}
	f.out.Accepted = append(f.out.Accepted, r)
	f.remember(&r)
	f.formalFrom[endKey(r.From)] = true
}

// target completes a target that lacks the parts that it shares with the table
// that refers to it.
func (f *finder) target(from, to catalog.Ref) catalog.Ref {
	if _, ok := f.byRef[to]; ok {
		return to
	}
	full := to
	if full.DB == "" {
		full.DB = from.DB
	}
	if full.Catalog == "" {
		full.Catalog = from.Catalog
	}
	if _, ok := f.byRef[full]; ok {
		return full
	}
	return to
}
