package relate

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ktxhq/ktx/research/catalog"
)

// table is a table with what was derived from its names and its profile.
type table struct {
	*catalog.Table

	ref      catalog.Ref
	number   int // position in finder.tables
	layer    string
	words    []string // of the name, folded, without layers
	label    label    // of words
	tails    []string // phrases of the last words
	heads    []string // phrases of the first words
	initials string
	columns  []column
	primary  []int // the columns of the declared primary key
	key      int   // the column by which rows are referred to, or -1
	rows     int64 // -1 if it is not known
}

// column is a column with what was derived from its name and its profile.
type column struct {
	name     string
	words    []string // folded
	plain    []string // words without the prefix that the columns of the table share
	joined   string   // see join, of plain
	whole    string   // see join, of words
	kind     kind
	unique   claim // whether each value occurs once
	empty    bool  // the profile found no value
	distinct int64 // -1 if it is not known
	nulls    bool  // the profile found rows without a value
	shortest int   // letters of the shortest value, -1 if it is not known
	longest  int
	highest  int64 // the greatest number that a sample value ends with; 0 if one ends with none
	letters  bool  // no sample value has a digit, and there are some
	first    bool  // the first column of the table
	readings []reading
}

// claim is what is known of a property.
type claim int

const (
	unknown claim = iota
	yes
	nearly // true of most values, as in dirty data
	no
)

// A layer is a prefix of the built-in list, or a word that most tables of a schema
// begin with.
const (
	sharedPrefixTables = 3   // tables that must begin with a word for it to be a layer
	sharedPrefixShare  = 0.6 // share of the tables of the schema
)

// newTables derives what the names say. Tables are sorted by ref; of two tables with
// one ref the first is kept.
func newTables(in []*catalog.Table) []*table {
	tables := make([]*table, 0, len(in))
	for _, t := range in {
		n := &table{Table: t, ref: t.Ref(), key: -1, rows: -1}
		for i := range t.Columns {
			if t.Columns[i].PrimaryKey {
				n.primary = append(n.primary, i)
			}
		}
		tables = append(tables, n)
	}
	slices.SortStableFunc(tables, func(a, b *table) int { return compareRefs(a.ref, b.ref) })
	tables = slices.CompactFunc(tables, func(a, b *table) bool { return a.ref == b.ref })
	for i, t := range tables {
		t.number = i
		t.words = split(t.Name)
		t.columns = newColumns(t.Table)
	}
	dropLayers(tables)
	for _, t := range tables {
		t.label = labelOf(t.words)
		t.initials = initials(t.words)
		for i := 1; i < len(t.words); i++ {
			t.tails = append(t.tails, phrase(t.words[i:]))
			t.heads = append(t.heads, phrase(t.words[:i]))
		}
	}
	return tables
}

// dropLayers removes layers from the words of tables.
func dropLayers(tables []*table) {
	size, starts := map[schema]int{}, map[schema]map[string]int{}
	for _, t := range tables {
		s := schemaOf(t)
		size[s]++
		if len(t.words) > 1 {
			if starts[s] == nil {
				starts[s] = map[string]int{}
			}
			starts[s][t.words[0]]++
		}
	}
	for _, t := range tables {
		s := schemaOf(t)
		for len(t.words) > 1 {
			first := t.words[0]
			shared := starts[s][first]
			if !layers[first] && (shared < sharedPrefixTables || float64(shared) < sharedPrefixShare*float64(size[s])) {
				break
			}
			t.layer += first + " "
			t.words = t.words[1:]
			if !layers[first] {
				break
			}
		}
		if n := len(t.words); n > 1 && tailLayers[t.words[n-1]] {
			t.layer += t.words[n-1]
			t.words = t.words[:n-1]
		}
		for _, mark := range tailMarks {
			n := len(t.words) - 1
			if n < 0 {
				break
			}
			if rest := strings.TrimSuffix(t.words[n], mark); rest != "" && rest != t.words[n] {
				t.words = append(slices.Clone(t.words[:n]), rest)
				break
			}
		}
	}
}

// newColumns derives what the names and the types of the columns say.
func newColumns(t *catalog.Table) []column {
	columns := make([]column, len(t.Columns))
	firsts := map[string]int{}
	for i := range t.Columns {
		c := &t.Columns[i]
		columns[i] = column{name: c.Name, words: split(c.Name), kind: kindOf(c), distinct: -1, shortest: -1, first: i == 0}
		if w := columns[i].words; len(w) > 1 && !keyWords[w[0]] {
			firsts[w[0]]++
		}
	}
	for i := range columns {
		c := &columns[i]
		c.plain = c.words
		c.whole = join(c.words)
		// c_custkey, c_name, c_phone: the prefix names the table and says nothing.
		if len(c.words) > 1 && firsts[c.words[0]] >= 3 && firsts[c.words[0]]*10 >= len(columns)*8 {
			c.plain = c.words[1:]
		}
		c.joined = join(c.plain)
	}
	return columns
}

// usesProfile adds what the profile counted.
func (f *finder) usesProfile(p *catalog.Profile) {
	if p == nil {
		return
	}
	byName := map[string]*table{} // tables whose name only one schema has
	for _, t := range f.tables {
		if _, twice := byName[t.Name]; twice {
			byName[t.Name] = nil
		} else {
			byName[t.Name] = t
		}
	}
	find := func(ref catalog.Ref) *table {
		if t := f.byRef[ref]; t != nil {
			return t
		}
		if ref.DB == "" && ref.Catalog == "" {
			return byName[ref.Name]
		}
		return nil
	}
	for i := range p.Tables {
		if t := find(p.Tables[i].Table); t != nil {
			t.rows = p.Tables[i].RowCount
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.Columns)) {
		entry := p.Columns[key]
		t := find(entry.Table)
		if t == nil {
			continue
		}
		i := slices.IndexFunc(t.columns, func(c column) bool { return c.name == entry.Column })
		if i < 0 {
			continue
		}
		t.columns[i].profiled(&entry)
		if t.rows < 0 {
			t.rows = entry.RowCount
		}
	}
}

// hasName reports whether two columns have one name, with or without the prefix that
// the columns of a table share.
func (c *column) hasName(other *column) bool {
	return c.joined == other.joined || c.joined == other.whole || c.whole == other.joined || c.whole == other.whole
}

// tail returns the name without its first words.
func (c *column) tail(first int) string {
	if first == 0 {
		return c.joined
	}
	return join(c.plain[first:])
}

// profiled adds what the profile counted.
func (c *column) profiled(p *catalog.ProfileColumn) {
	values := p.RowCount - p.NullCount
	c.distinct = p.DistinctCount
	c.nulls = p.NullCount > 0
	if p.MinTextLength != nil && p.MaxTextLength != nil {
		c.shortest, c.longest = *p.MinTextLength, *p.MaxTextLength
	}
	c.sampled(p.SampleValues)
	switch {
	case values <= 0:
		c.empty = p.RowCount > 0
		if p.RowCount > 0 {
			c.unique = no
		}
	case p.DistinctCount >= values && p.NullCount == 0:
		c.unique = yes
	case float64(p.DistinctCount) >= 0.95*float64(values) && values >= 20 || p.DistinctCount >= values-1 && values >= 5:
		c.unique = nearly
	default:
		c.unique = no
	}
}

// sampled adds what the sample values tell of the others.
func (c *column) sampled(values []string) {
	c.letters = len(values) > 0
	for _, v := range values {
		c.letters = c.letters && !strings.ContainsFunc(v, unicode.IsDigit)
	}
	for _, v := range values {
		n, err := strconv.ParseInt(v[len(strings.TrimRight(v, "0123456789")):], 10, 64)
		if err != nil || n <= 0 {
			c.highest = 0
			return
		}
		c.highest = max(c.highest, n)
	}
}

// hasKey reports whether columns are the declared primary key of t, in any order.
func (t *table) hasKey(columns []string) bool {
	if len(t.primary) == 0 || len(t.primary) != len(columns) {
		return false
	}
	for _, i := range t.primary {
		if !slices.Contains(columns, t.columns[i].name) {
			return false
		}
	}
	return true
}

// full returns the qualified name of the table for evidence.
func (t *table) full() string {
	parts := []string{}
	for _, p := range []string{t.ref.Catalog, t.ref.DB, t.ref.Name} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ".")
}
