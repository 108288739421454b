package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
)

// large writes a scan that is worth a cache, whose files are older than what may
// still change.
func large(t *testing.T, dir string) string {
	t.Helper()
	scan := scanOf("s", "2026-01-01T00:00:00Z")
	for i := range 250 {
		table := catalogtest.Table(fmt.Sprintf("a.t%03d", i), "id integer key -- The number", "at text null")
		table.Columns[0].Descriptions = map[string]string{"ai": "Number"}
		table.Columns[1].SampleValues = []string{"x", ""}
		table.Columns[1].Generated, table.Columns[1].EnumValues = "stored", []string{"new", "", "it's late"}
		rows := int64(i)
		table.EstimatedRows = &rows
		table.ForeignKeys = []catalog.ForeignKey{catalogtest.Key("id", "a.t000", "id", fmt.Sprintf("fk%d", i%2))}
		scan.Tables = append(scan.Tables, table)
	}
	one := catalogtest.Table("a.t001")
	scan.Profile = &catalog.Profile{ProfiledAt: "p", Columns: map[string]catalog.ProfileColumn{"k": {Table: one.Ref(), Column: "id", DistinctCount: 7, SampleValues: []string{"1"}}}}
	scan.Relationships = &catalog.Relationships{Accepted: []catalog.Relationship{{
		From: catalog.EndPoint{Table: one.Ref(), Columns: []string{"at"}}, To: catalog.EndPoint{Table: one.Ref(), Columns: []string{"id"}}, Confidence: 0.5,
	}}}
	folder := catalogtest.Write(t, dir, "w", scan)
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(filepath.Join(dir, "raw-sources"), func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestCache wants the same snapshot from the files and from the cache, and from the
// files again when the cache is not theirs.
func TestCache(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	folder := large(t, p.dir)
	if err := os.Mkdir(filepath.Join(p.dir, ".ktx"), 0o700); err != nil {
		t.Fatal(err)
	}
	first := p.snapshot()
	if c := first.Tables()[0].Columns[1]; c.Generated != "stored" || !slices.Equal(c.EnumValues, []string{"new", "", "it's late"}) {
		t.Errorf("the files say how the column is made and what it may hold; the snapshot has %+v", c)
	}
	cache := filepath.Join(p.dir, ".ktx", "catalog", "w.bin")
	text, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	same := func(what string) {
		t.Helper()
		p.store = catalog.NewStore(catalogtest.Open(t, p.dir), time.Now)
		s := p.snapshot()
		if diff := cmp.Diff([]any{first.Identity(), first.Tables(), first.Relationships(), first.Profile()}, []any{s.Identity(), s.Tables(), s.Relationships(), s.Profile()}); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	// The files are unreadable from now on, and look the same: what comes back is
	// from the cache.
	table := filepath.Join(folder, "tables", "00007.json")
	content, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(table)
	if err != nil {
		t.Fatal(err)
	}
	put := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(table, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(table, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	put(make([]byte, len(content)))
	same("from the cache")
	put(content)
	for _, damage := range [][]byte{nil, text[:len(text)-1], append(slices.Clip(text), 0), flipped(text, len(text)/2), flipped(text, 3), []byte("other")} {
		if err := os.WriteFile(cache, damage, 0o600); err != nil {
			t.Fatal(err)
		}
		same(fmt.Sprintf("with a cache of %d bytes", len(damage)))
	}
	if now, err := os.ReadFile(cache); err != nil || string(now) != string(text) {
		t.Errorf("the cache is not written again: %v", err)
	}
	catalogtest.Put(t, table, catalogtest.Table("a.changed", "id"))
	p.store = catalog.NewStore(catalogtest.Open(t, p.dir), time.Now)
	if s := p.snapshot(); len(s.Tables()) != 250 || s.Table(catalog.Ref{DB: "a", Name: "changed"}) == nil || s.Table(catalog.Ref{DB: "a", Name: "t007"}) != nil {
		t.Error("a file that changed after the cache was written is not seen")
	}
}

func flipped(text []byte, at int) []byte {
	out := append([]byte{}, text...)
	out[at] ^= 1
	return out
}
