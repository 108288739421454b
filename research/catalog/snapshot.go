package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// Snapshot is what a scan found on a connection, as far as the access rules of the
// connection permit it. It never changes, and callers must not change what it
// returns.
type Snapshot struct {
	connectionID, identity string
	syncID, runID          string
	driver, extractedAt    string
	tables                 []*Table
	relationships          []Relationship
	profile                *ProfileInfo
	warnings               []Warning
	names                  nameIndex
}

// ConnectionID returns the id of the connection.
func (s *Snapshot) ConnectionID() string { return s.connectionID }

// Identity is equal for snapshots with the same content: those of equal files and
// equal access rules. It can be the key of what is derived from a snapshot.
func (s *Snapshot) Identity() string { return s.identity }

// SyncID returns the name of the scan's folder.
func (s *Snapshot) SyncID() string { return s.syncID }

// ScanRunID returns the run that wrote the scan, or "".
func (s *Snapshot) ScanRunID() string { return s.runID }

// Driver returns the driver by which the tables were read, such as "postgres".
func (s *Snapshot) Driver() string { return s.driver }

// ExtractedAt returns when the tables were read (RFC 3339).
func (s *Snapshot) ExtractedAt() string { return s.extractedAt }

// Tables returns the tables, ordered by catalog, db and name.
func (s *Snapshot) Tables() []*Table { return s.tables }

// Relationships returns the declared foreign keys and then the accepted
// relationships that are not declared. Both ends may be read.
func (s *Snapshot) Relationships() []Relationship { return s.relationships }

// Profile returns how values were sampled, or nil if the scan has no profile. The
// values are in [Column.SampleValues], and counts are in [Column.Stats].
func (s *Snapshot) Profile() *ProfileInfo { return s.profile }

// Warnings says which files of the scan could not be used. Their names may be those
// of tables that the access rules deny, so the warnings are for the operator. No
// answer of a tool shows them.
func (s *Snapshot) Warnings() []Warning { return s.warnings }

// Table returns the table with exactly this name, or nil.
func (s *Snapshot) Table(r Ref) *Table {
	i, found := slices.BinarySearchFunc(s.tables, r, func(t *Table, r Ref) int { return compareRefs(t.Ref(), r) })
	if !found {
		return nil
	}
	return s.tables[i]
}

// Column returns the column with exactly this name, or nil.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// newSnapshot returns the snapshot of a scan under access rules.
func newSnapshot(connectionID string, in *scan, access Access) *Snapshot {
	f := newFilter(access, in.head.Driver)
	s := &Snapshot{
		connectionID: connectionID, identity: in.identity(connectionID, access), syncID: in.report.syncID, runID: cut(in.report.report.RunID, maxName),
		driver: in.head.Driver, extractedAt: in.head.ExtractedAt, profile: in.profile, warnings: slices.Clone(in.warnings),
		tables: make([]*Table, 0, len(in.tables)),
	}
	for _, info := range in.tables {
		if info.table == nil {
			continue
		}
		if t := f.apply(info.table); t != nil {
			s.tables = append(s.tables, t)
		}
	}
	// Of two files with the same table, the first by name counts.
	slices.SortStableFunc(s.tables, func(a, b *Table) int { return compareRefs(a.Ref(), b.Ref()) })
	s.tables = slices.CompactFunc(s.tables, func(a, b *Table) bool { return a.Ref() == b.Ref() })
	known := func(r Ref) bool { return s.Table(r) != nil }
	for i, t := range s.tables {
		s.tables[i] = f.keys(t, known)
	}
	s.relate(f, in.relations)
	return s
}

// relate collects the relationships whose ends may be read.
func (s *Snapshot) relate(f filter, accepted []Relationship) {
	seen := map[string]bool{}
	for _, t := range s.tables {
		for i := 0; i < len(t.ForeignKeys); {
			k := &t.ForeignKeys[i]
			r := Relationship{
				From: EndPoint{Table: t.Ref()}, To: EndPoint{Table: s.target(t, k)},
				Relationship: "many_to_one", Confidence: 1, Source: "formal",
			}
			for first := k; ; {
				r.From.Columns, r.To.Columns = append(r.From.Columns, k.FromColumn), append(r.To.Columns, k.ToColumn)
				if i++; i == len(t.ForeignKeys) || !sameKey(first, &t.ForeignKeys[i]) {
					break
				}
				k = &t.ForeignKeys[i]
			}
			seen[r.key()] = true
			s.relationships = append(s.relationships, r)
		}
	}
	for _, r := range accepted {
		if key := r.key(); !seen[key] && f.end(r.From.Table, r.From.Columns...) && f.end(r.To.Table, r.To.Columns...) {
			seen[key] = true
			s.relationships = append(s.relationships, r)
		}
	}
}

// target returns the table that a key points to. An artifact may leave its schema
// out where it is that of the key.
func (s *Snapshot) target(t *Table, k *ForeignKey) Ref {
	to := k.To()
	if to.Catalog == "" && to.DB == "" {
		if here := (Ref{Catalog: text(t.Catalog), DB: text(t.DB), Name: to.Name}); s.Table(here) != nil {
			return here
		}
	}
	return to
}

// key is equal for two relationships with the same ends.
func (r *Relationship) key() string {
	return fmt.Sprintf("%q %q %q %q", r.From.Table, r.From.Columns, r.To.Table, r.To.Columns)
}

// identity hashes everything that a snapshot depends on.
func (s *scan) identity(connectionID string, access Access) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "catalog %d %q %q %q %t\n", cacheVersion, connectionID, access.ID(), s.report.syncID, s.over)
	add := func(name string, src *source) { _, _ = fmt.Fprintf(h, "%q %s %x\n", name, src.problem, src.hash) }
	add(reportName, s.report.source)
	for i, f := range extraFiles {
		add(f.name, s.extras[i])
	}
	for i, t := range s.tables {
		add(s.names[i], t.source)
	}
	return hex.EncodeToString(h.Sum(nil))
}
