package dictionary

import (
	"fmt"
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
	Profile() *catalog.ProfileInfo // nil without a profile
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
	ref    catalog.Ref
	table  *catalog.Table
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
			list = append(list, place{ref: ref, table: t, column: &t.Columns[i]})
		}
	}
	slices.SortStableFunc(list, func(a, b place) int { return compareColumns(a.ref, a.column.Name, b.ref, b.column.Name) })
	return slices.CompactFunc(list, func(a, b place) bool { return a.ref == b.ref && a.column.Name == b.column.Name })
}

// complete reports whether the samples of a column are all its values: it has no
// more distinct ones, and the profile has read all rows of the table.
func (p *place) complete(profile *catalog.ProfileInfo) bool {
	stats, rows := p.column.Stats, p.table.EstimatedRows
	return stats != nil && profile != nil && rows != nil && stats.Distinct <= int64(len(p.column.SampleValues)) &&
		*rows <= stats.Rows && stats.Rows < int64(profile.SampleRows)
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
	s.coverage.Complete = true
	for _, p := range places(snapshot, access) {
		if err := s.add(p, snapshot.Profile(), records, h.folding != folding()); err != nil {
			return nil, err
		}
	}
	s.finish(snapshot, file != nil, int64(h.perColumn))
	return s, nil
}

// add adds the values of a column, if any are known.
func (s *Set) add(p place, profile *catalog.ProfileInfo, records []record, refold bool) error {
	n, found := slices.BinarySearchFunc(records, p, func(r record, p place) int {
		return compareColumns(r.table, r.column, p.ref, p.column.Name)
	})
	textual := p.column.DimensionType == catalog.DimensionString || p.column.DimensionType == ""
	var err error
	switch {
	case found:
		err = s.addRecord(&records[n], refold)
	case textual && len(p.column.SampleValues) > 0:
		cardinality := int64(-1)
		if p.column.Stats != nil {
			cardinality = p.column.Stats.Distinct
		}
		err = s.addSamples(p.ref, p.column.Name, p.column.SampleValues, cardinality, p.complete(profile))
	default:
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
		rows, most := int64(p.SampleRows), int64(p.ValuesPerColumn)
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
