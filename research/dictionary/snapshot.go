package dictionary

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// Snapshot is what the dictionary reads of the latest scan of a connection. It holds
// only what the access rules of the connection permit.
type Snapshot interface {
	ConnectionID() string
	// Identity changes whenever an answer of another method changes.
	Identity() string
	SyncID() string
	Tables() []*catalog.Table
	Profile() *catalog.Profile // nil without a profile
}

// Access is what the dictionary needs to know of the access rules beyond what a
// [Snapshot] has left out already. sqlguard.Readable implements it.
type Access interface {
	// DeniesColumns reports whether any column is denied. Then the values of views
	// are left out: a view may show a denied column under another name.
	DeniesColumns() bool
	// ID is equal for two values that give the same answers.
	ID() string
}

// place is a column of the snapshot whose values may be shown.
type place struct {
	table  catalog.Ref
	column *catalog.Column
}

// places returns the columns whose values may be shown, in order.
func places(snapshot Snapshot, access Access) []place {
	var list []place
	for _, t := range snapshot.Tables() {
		ref := t.Ref()
		if t.Kind == catalog.KindView && access.DeniesColumns() {
			continue
		}
		for i := range t.Columns {
			list = append(list, place{table: ref, column: &t.Columns[i]})
		}
	}
	slices.SortStableFunc(list, func(a, b place) int { return compareColumns(a.table, a.column.Name, b.table, b.column.Name) })
	return slices.CompactFunc(list, func(a, b place) bool { return a.table == b.table && a.column.Name == b.column.Name })
}

// profile finds what a profile says of a column.
type profile struct {
	columns map[profileKey]catalog.ProfileColumn
	rows    map[catalog.Ref]int64
	sampled int64
}

type profileKey struct {
	table  catalog.Ref
	column string
}

func newProfile(p *catalog.Profile) *profile {
	out := &profile{columns: map[profileKey]catalog.ProfileColumn{}, rows: map[catalog.Ref]int64{}}
	if p == nil {
		return out
	}
	out.sampled = int64(p.ProfileSampleRows)
	for _, key := range slices.Sorted(maps.Keys(p.Columns)) {
		c := p.Columns[key]
		if c.Table.Name == "" || c.Column == "" { // another tool may give the key only
			dot := strings.LastIndexByte(key, '.')
			if dot < 0 {
				continue
			}
			table := key[:dot]
			c.Table, c.Column = catalog.Ref{Name: table[strings.LastIndexByte(table, '.')+1:]}, key[dot+1:]
			if _, taken := out.columns[profileKey{c.Table, c.Column}]; taken {
				continue
			}
		}
		out.columns[profileKey{c.Table, c.Column}] = c
	}
	for _, t := range p.Tables {
		out.rows[t.Table] = t.RowCount
	}
	return out
}

// of returns what the profile says of a column. An entry without a schema is of the
// tables of that name in every schema.
func (p *profile) of(table catalog.Ref, column string) (c catalog.ProfileColumn, rows int64, ok bool) {
	for _, ref := range []catalog.Ref{table, {DB: table.DB, Name: table.Name}, {Name: table.Name}} {
		if c, ok = p.columns[profileKey{ref, column}]; ok {
			break
		}
	}
	for _, ref := range []catalog.Ref{table, {DB: table.DB, Name: table.Name}, {Name: table.Name}} {
		if rows, found := p.rows[ref]; found {
			return c, rows, ok
		}
	}
	return c, c.RowCount, ok
}

// newSet returns the values of a snapshot: of the values file where it has the
// column, else the samples of the artifacts. The file may be nil. An error says
// that the file is damaged.
func newSet(snapshot Snapshot, access Access, file []byte) (*Set, error) {
	s := Unscanned(snapshot.ConnectionID())
	var records []record
	var h header
	if file != nil {
		var body []byte
		var err error
		if h, body, err = readFile(file); err != nil {
			return nil, err
		}
		if records, err = columns(body); err != nil {
			return nil, err
		}
		s.file = file
		s.reserve(records)
	}
	profile := newProfile(snapshot.Profile())
	s.coverage.Complete = true
	for _, p := range places(snapshot, access) {
		if err := s.add(p, profile, records, h.folding != folding()); err != nil {
			return nil, err
		}
	}
	s.finish(snapshot, file != nil, int64(h.perColumn))
	return s, nil
}

// add adds the values of a column, if any are known.
func (s *Set) add(p place, profile *profile, records []record, refold bool) error {
	n, found := slices.BinarySearchFunc(records, p, func(r record, p place) int {
		return compareColumns(r.table, r.column, p.table, p.column.Name)
	})
	var err error
	if found {
		err = s.addRecord(&records[n], refold)
	} else if t := p.column.DimensionType; t == catalog.DimensionString || t == "" {
		known, rows, ok := profile.of(p.table, p.column.Name)
		values := p.column.SampleValues
		if len(values) == 0 {
			values = known.SampleValues
		}
		if len(values) == 0 {
			return nil
		}
		cardinality, complete := int64(-1), false
		if ok {
			cardinality = known.DistinctCount
			complete = rows <= profile.sampled && known.DistinctCount <= int64(len(values))
		}
		err = s.addSamples(p.table, p.column.Name, values, cardinality, complete)
	} else {
		return nil
	}
	if err != nil {
		return fmt.Errorf("column %s of %s: %w", p.column.Name, p.table.Name, err)
	}
	last := s.columns[len(s.columns)-1]
	s.coverage.Complete = s.coverage.Complete && last.complete
	return nil
}

// finish sets the status and the coverage.
func (s *Set) finish(snapshot Snapshot, hasFile bool, perColumn int64) {
	s.clip()
	c := &s.coverage
	c.ProfiledColumns = len(s.columns)
	c.Complete = c.Complete && len(s.columns) > 0
	if id := snapshot.SyncID(); id != "" {
		c.SyncID = &id
	}
	p := snapshot.Profile()
	if p != nil {
		rows, most := int64(p.ProfileSampleRows), int64(p.SampleValuesPerColumn)
		c.SampledRows, c.ValuesPerColumn = &rows, &most
		if p.ProfiledAt != "" {
			at := strings.Clone(p.ProfiledAt)
			c.ProfiledAt = &at
		}
	}
	if hasFile {
		c.ValuesPerColumn = &perColumn
	}
	switch {
	case len(s.columns) > 0:
		s.status = StatusReady
	case p != nil || hasFile:
		s.status = StatusNoCandidates
	default:
		s.status = StatusNoProfile
	}
}

// reserve makes room for the values of a file.
func (s *Set) reserve(records []record) {
	count, size := 0, 0
	for i := range records {
		count += records[i].count
		size += len(records[i].values)
	}
	s.starts = append(make([]uint32, 0, count+1), 0)
	s.codes, s.textAt = make([]uint32, 0, count), make([]uint32, 0, count)
	s.letters = make([]letters, 0, count)
	s.folded = make([]byte, 0, size-min(size, 5*count)) // each value also has two numbers and a hash
}

// clip gives back memory that the values do not need.
func (s *Set) clip() {
	s.folded, s.samples = clipped(s.folded), clipped(s.samples)
	s.starts, s.codes, s.textAt, s.letters = clipped(s.starts), clipped(s.codes), clipped(s.textAt), clipped(s.letters)
}

func clipped[E any](list []E) []E {
	if cap(list)-len(list) > len(list)/8 {
		return append(make([]E, 0, len(list)), list...)
	}
	return list
}
