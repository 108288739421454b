// Package catalogtest writes artifacts of scans for tests.
package catalogtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/catalog"
)

// Scan is what [Write] writes. The zero values of the texts have defaults.
type Scan struct {
	SyncID        string // "2026-01-02-030405-r1"
	CreatedAt     string // "2026-01-02T03:04:05Z"
	Driver        string // "postgres"
	Tables        []catalog.Table
	Profile       *catalog.Profile
	Relationships *catalog.Relationships
}

// Folder returns the folder of the scans of a connection.
func Folder(project, connectionID string) string {
	return filepath.Join(project, "raw-sources", connectionID, "live-database")
}

// Write writes a scan of a connection into a project, its report last, and returns
// its folder.
func Write(tb testing.TB, project, connectionID string, s Scan) string {
	tb.Helper()
	if s.SyncID == "" {
		s.SyncID = "2026-01-02-030405-r1"
	}
	if s.CreatedAt == "" {
		s.CreatedAt = "2026-01-02T03:04:05Z"
	}
	if s.Driver == "" {
		s.Driver = "postgres"
	}
	dir := filepath.Join(Folder(project, connectionID), s.SyncID)
	Put(tb, filepath.Join(dir, "connection.json"), catalog.ConnectionFile{ConnectionID: connectionID, Driver: s.Driver, ExtractedAt: s.CreatedAt})
	for i := range s.Tables {
		Put(tb, filepath.Join(dir, "tables", fmt.Sprintf("%05d.json", i)), s.Tables[i])
	}
	if s.Profile != nil {
		Put(tb, filepath.Join(dir, "enrichment", "relationship-profile.json"), s.Profile)
	}
	if s.Relationships != nil {
		Put(tb, filepath.Join(dir, "enrichment", "relationships.json"), s.Relationships)
	}
	Put(tb, filepath.Join(dir, "scan-report.json"), catalog.Report{
		ConnectionID: connectionID, Driver: s.Driver, SyncID: s.SyncID, RunID: "r1", CreatedAt: s.CreatedAt,
	})
	return dir
}

// Put writes value as JSON to a file that appears at once, with the folders above
// it.
func Put(tb testing.TB, path string, value any) {
	tb.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		tb.Fatal(err)
	}
	PutText(tb, path, string(text))
}

// PutText is [Put] for a text.
func PutText(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	temporary := path + ".new"
	if err := os.WriteFile(temporary, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Rename(temporary, path); err != nil {
		tb.Fatal(err)
	}
}

// Table returns a table. Its name has the schema and may have the catalog before
// it, with dots between. A column is a name, a type, and the words "key" and "null",
// and its comment after "--": "id integer key -- the number".
func Table(name string, columns ...string) catalog.Table {
	parts := strings.Split(name, ".")
	t := catalog.Table{Name: parts[len(parts)-1], Kind: catalog.KindTable, ForeignKeys: []catalog.ForeignKey{}, Columns: []catalog.Column{}}
	if n := len(parts); n > 1 {
		t.DB = &parts[n-2]
	}
	if len(parts) > 2 {
		t.Catalog = &parts[0]
	}
	for _, text := range columns {
		definition, comment, commented := strings.Cut(text, " -- ")
		words := strings.Fields(definition)
		c := catalog.Column{Name: words[0], NativeType: "text", NormalizedType: "string", DimensionType: catalog.DimensionString}
		for i, w := range words[1:] {
			switch {
			case i == 0:
				c.NativeType, c.NormalizedType = w, w
				if w == "integer" || strings.HasPrefix(w, "numeric") {
					c.DimensionType = catalog.DimensionNumber
				}
			case w == "key":
				c.PrimaryKey = true
			case w == "null":
				c.Nullable = true
			}
		}
		if commented {
			c.Comment = &comment
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// Key returns a foreign key of one pair of columns. The table it points to is as in
// [Table].
func Key(from, toTable, toColumn, constraint string) catalog.ForeignKey {
	to := Table(toTable)
	k := catalog.ForeignKey{FromColumn: from, ToCatalog: to.Catalog, ToDB: to.DB, ToTable: to.Name, ToColumn: toColumn}
	if constraint != "" {
		k.ConstraintName = &constraint
	}
	return k
}

// Open returns the project's folder for a store, and closes it after the test.
func Open(tb testing.TB, project string) *os.Root {
	tb.Helper()
	root, err := os.OpenRoot(project)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := root.Close(); err != nil {
			tb.Error(err)
		}
	})
	return root
}

// All permits everything.
type All struct{}

// Relation implements catalog.Access.
func (All) Relation(string, string) bool { return true }

// Column implements catalog.Access.
func (All) Column(string, string, string) bool { return true }

// DeniesColumns implements catalog.Access.
func (All) DeniesColumns() bool { return false }

// ID implements catalog.Access.
func (All) ID() string { return "all" }
