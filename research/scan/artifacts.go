package scan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/ktxhq/ktx/research/catalog"
)

// findings are what a scan writes.
type findings struct {
	structure     *structure
	relationships catalog.Relationships
	warnings      []catalog.Warning
	profile       *catalog.Profile // nil without a profile
}

// foreignKeysFile is foreign-keys.json: the declared keys of all tables.
type foreignKeysFile struct {
	ForeignKeys []tableForeignKey `json:"foreignKeys"`
}

type tableForeignKey struct {
	Table catalog.Ref `json:"table"`
	catalog.ForeignKey
}

// warningsFile is warnings.json.
type warningsFile struct {
	Warnings []catalog.Warning `json:"warnings"`
}

// write writes the artifacts without the report.
func (f *findings) write(o *Options, report *catalog.Report) error {
	folder := syncFolder(o.Connection.ID, report.SyncID)
	// What a process left that was stopped while it wrote is not part of this scan.
	if err := o.Root.RemoveAll(folder); err != nil {
		return fmt.Errorf("write the artifacts: %w", err)
	}
	for _, sub := range []string{"tables", "enrichment"} {
		if err := o.Root.MkdirAll(path.Join(folder, sub), 0o755); err != nil {
			return fmt.Errorf("write the artifacts: %w", err)
		}
	}
	count := len(f.structure.tables)
	scope, err := json.Marshal(f.structure.scope)
	if err != nil {
		return fmt.Errorf("write the artifacts: %w", err)
	}
	files := []struct {
		name  string
		value any
	}{
		{"connection.json", catalog.ConnectionFile{
			ConnectionID: report.ConnectionID, Driver: report.Driver, ExtractedAt: stamp(o.Now), Scope: scope, TableCount: &count,
		}},
		{"foreign-keys.json", f.foreignKeys()},
		{"warnings.json", warningsFile{Warnings: f.warnings}},
		{"enrichment/relationships.json", f.relationships},
	}
	for _, file := range files {
		if err := writeJSON(o.Root, path.Join(folder, file.name), file.value); err != nil {
			return err
		}
	}
	for _, t := range f.structure.tables {
		if err := writeJSON(o.Root, path.Join(folder, "tables", fileName(t.Ref())+".json"), t.Table); err != nil {
			return err
		}
	}
	if f.profile != nil {
		if err := writeJSON(o.Root, path.Join(folder, "enrichment", "relationship-profile.json"), f.profile); err != nil {
			return err
		}
	}
	return nil
}

func (f *findings) foreignKeys() foreignKeysFile {
	out := foreignKeysFile{ForeignKeys: []tableForeignKey{}}
	for _, t := range f.structure.tables {
		for _, k := range t.ForeignKeys {
			out.ForeignKeys = append(out.ForeignKeys, tableForeignKey{Table: t.Ref(), ForeignKey: k})
		}
	}
	return out
}

// stamp writes a time as the artifacts have it: RFC 3339 with milliseconds, so that of
// two scans in one second the later one is the latest.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// maxFileName bounds the name of a file, so that every file system takes it.
const maxFileName = 100

// fileName returns a name for the file of a table, which no other table has, also on a
// file system that ignores case.
func fileName(ref catalog.Ref) string {
	var b strings.Builder
	full := strings.TrimLeft(strings.Join([]string{ref.Catalog, ref.DB, ref.Name}, "."), ".")
	for _, r := range full {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-', r == '.' && b.Len() > 0:
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	slug := b.String()
	dotted := strings.Contains(ref.Catalog+ref.DB+ref.Name, ".")
	if slug == full && !dotted && len(slug) <= maxFileName {
		return slug
	}
	sum := sha256.Sum256([]byte(jsonText([]string{ref.Catalog, ref.DB, ref.Name})))
	return slug[:min(len(slug), maxFileName)] + "-" + hex.EncodeToString(sum[:6])
}

// profileOf joins the profiles of the tables.
func profileOf(o *Options, driver string, tables []*table, profiles map[catalog.Ref]*tableProfile) *catalog.Profile {
	out := &catalog.Profile{
		ConnectionID: o.Connection.ID, Driver: driver, ProfiledAt: stamp(o.Now), ProfileSampleRows: o.SampleRows,
		SampleValuesPerColumn: shownValues, Tables: []catalog.ProfileTable{}, Columns: map[string]catalog.ProfileColumn{},
	}
	for _, t := range tables {
		p := profiles[t.Ref()]
		if p == nil {
			continue
		}
		if p.Rows != nil {
			out.Tables = append(out.Tables, catalog.ProfileTable{Table: t.Ref(), RowCount: *p.Rows})
		}
		for _, c := range p.Columns {
			out.Columns[display(t.Ref())+"."+displayPart(c.Column)] = c
		}
	}
	return out
}

// removeUnfinished removes artifacts of earlier scans that never got a report.
func removeUnfinished(root *os.Root, connection, keep string) error {
	folders, err := entries(root, path.Join(rawFolder, connection, liveFolder))
	if err != nil {
		return err
	}
	for _, f := range folders {
		folder := syncFolder(connection, f.Name())
		if _, err := root.Lstat(path.Join(folder, reportFile)); err == nil || !f.IsDir() || f.Name() == keep || !ours(f.Name()) {
			continue
		}
		if err := root.RemoveAll(folder); err != nil {
			return err
		}
	}
	return nil
}

// ours reports whether a folder has a name that a scan of ktx gives.
func ours(name string) bool {
	_, err := time.Parse(syncLayout, name[:min(len(name), len(syncLayout))])
	return err == nil && len(name) > len(syncLayout)
}

// syncLayout is how the id of a scan begins; the id of the run follows.
const syncLayout = "2006-01-02-150405-"
