package usage

import (
	"cmp"
	"math"
	"slices"

	"github.com/ktxhq/ktx/research/catalog"
)

// Counts are the counts of an artifact for the tables and columns of a snapshot.
// What the snapshot does not have, because a rule denies it or it is gone, is in no
// list and no sum.
type Counts struct {
	Tables  []Table  // by catalog, db and name
	Columns []Column // by table and name

	tables  map[catalog.Ref]Table
	columns map[End]int64
	joined  map[catalog.Ref][]Joined
}

// Joined counts the statements that joined a column of a table with another one.
type Joined struct {
	Column     string
	To         End
	Statements int64
}

// In returns the counts of f for what the snapshot has. When a list names an object
// twice, the first counts.
func (f *File) In(s *catalog.Snapshot) *Counts {
	c := &Counts{tables: map[catalog.Ref]Table{}, columns: map[End]int64{}, joined: map[catalog.Ref][]Joined{}}
	for _, t := range f.Tables {
		if _, twice := c.tables[t.Table]; !twice && s.Table(t.Table) != nil {
			c.tables[t.Table] = t
			c.Tables = append(c.Tables, t)
		}
	}
	has := func(e End) bool {
		t := s.Table(e.Table)
		return t != nil && t.Column(e.Column) != nil
	}
	for _, column := range f.Columns {
		end := End{column.Table, column.Column}
		if _, twice := c.columns[end]; !twice && has(end) {
			c.columns[end] = column.Statements
			c.Columns = append(c.Columns, column)
		}
	}
	seen := map[[2]End]bool{}
	for _, j := range f.Joins {
		pair := [2]End{j.From, j.To}
		if seen[pair] || !has(j.From) || !has(j.To) {
			continue
		}
		seen[pair] = true
		c.joined[j.From.Table] = append(c.joined[j.From.Table], Joined{j.From.Column, j.To, j.Statements})
		if j.From != j.To {
			c.joined[j.To.Table] = append(c.joined[j.To.Table], Joined{j.To.Column, j.From, j.Statements})
		}
	}
	slices.SortFunc(c.Tables, func(a, b Table) int { return compareRefs(a.Table, b.Table) })
	slices.SortFunc(c.Columns, func(a, b Column) int {
		return compareEnds(End{a.Table, a.Column}, End{b.Table, b.Column})
	})
	for _, list := range c.joined {
		slices.SortFunc(list, func(a, b Joined) int {
			return cmp.Or(cmp.Compare(b.Statements, a.Statements), cmp.Compare(a.Column, b.Column), compareEnds(a.To, b.To))
		})
	}
	return c
}

// Table returns the count of a table, and false if no statement read it.
func (c *Counts) Table(r catalog.Ref) (Table, bool) {
	t, ok := c.tables[r]
	return t, ok
}

// Column returns how many statements named a column.
func (c *Counts) Column(r catalog.Ref, name string) int64 { return c.columns[End{r, name}] }

// Joined returns the joins of a table, those of most statements first.
func (c *Counts) Joined(r catalog.Ref) []Joined { return c.joined[r] }

// Share says how much something is used that n statements read, when the most used
// of its kind is read by most statements: from 0, for none, to 1. It grows with the
// logarithm, so that the most used does not make all others equal.
func Share(n, most int64) float64 {
	if n <= 0 || most <= 0 {
		return 0
	}
	return min(math.Log1p(float64(n))/math.Log1p(float64(most)), 1)
}
