package relate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// The values of catalog.Relationship.Relationship.
const (
	manyToOne = "many_to_one"
	oneToOne  = "one_to_one"
)

// finder is the state of one call of Find.
type finder struct {
	in         Input
	tables     []*table // sorted by ref
	byRef      map[catalog.Ref]*table
	formalFrom map[string]bool // end points that a declared key starts from
	out        catalog.Relationships
}

// table is a table with what was derived from its names and its profile.
type table struct {
	*catalog.Table

	ref     catalog.Ref
	primary []int // the columns of the declared primary key
}

func newFinder(in Input) *finder {
	f := &finder{in: in, byRef: map[catalog.Ref]*table{}, formalFrom: map[string]bool{}}
	f.out = catalog.Relationships{
		ConnectionID: in.ConnectionID,
		Accepted:     []catalog.Relationship{}, Review: []catalog.Relationship{},
		Rejected: []catalog.Relationship{}, Skipped: []catalog.Relationship{},
	}
	for _, t := range in.Tables {
		ref := t.Ref()
		if _, twice := f.byRef[ref]; twice {
			continue
		}
		n := &table{Table: t, ref: ref}
		for i := range t.Columns {
			if t.Columns[i].PrimaryKey {
				n.primary = append(n.primary, i)
			}
		}
		f.byRef[ref] = n
		f.tables = append(f.tables, n)
	}
	slices.SortFunc(f.tables, func(a, b *table) int { return compareRefs(a.ref, b.ref) })
	return f
}

// result returns the lists, each sorted by From and then by To.
func (f *finder) result() catalog.Relationships {
	for _, list := range [][]catalog.Relationship{f.out.Accepted, f.out.Review, f.out.Rejected, f.out.Skipped} {
		slices.SortStableFunc(list, func(a, b catalog.Relationship) int {
			return cmp.Or(compareEnds(a.From, b.From), compareEnds(a.To, b.To))
		})
	}
	return f.out
}

func compareRefs(a, b catalog.Ref) int {
	return cmp.Or(strings.Compare(a.Catalog, b.Catalog), strings.Compare(a.DB, b.DB), strings.Compare(a.Name, b.Name))
}

func compareEnds(a, b catalog.EndPoint) int {
	return cmp.Or(compareRefs(a.Table, b.Table), slices.Compare(a.Columns, b.Columns))
}

// endKey returns a string that no other end point has.
func endKey(e catalog.EndPoint) string {
	parts := append([]string{e.Table.Catalog, e.Table.DB, e.Table.Name}, e.Columns...)
	return strings.Join(parts, "\x00")
}
