package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
)

// BenchmarkScale reads scans of many columns: cold from the files, warm from the
// cache, and again when nothing changed.
func BenchmarkScale(b *testing.B) {
	for _, tables := range []int{4_000, 20_000} {
		const columns = 25
		dir := b.TempDir()
		if err := os.Mkdir(filepath.Join(dir, ".ktx"), 0o700); err != nil {
			b.Fatal(err)
		}
		var scan catalogtest.Scan
		for i := range tables {
			table := catalogtest.Table(fmt.Sprintf("schema_%d.table_of_things_%d", i%40, i))
			for c := range columns {
				table.Columns = append(table.Columns, catalogtest.Table("x", fmt.Sprintf("column_%d_%d integer -- What the column %d of the table says", c, i, c)).Columns...)
			}
			scan.Tables = append(scan.Tables, table)
		}
		catalogtest.Write(b, dir, "w", scan)
		scan.Tables = nil
		old := time.Now().Add(-time.Hour)
		err := filepath.WalkDir(filepath.Join(dir, "raw-sources"), func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Chtimes(path, old, old)
		})
		if err != nil {
			b.Fatal(err)
		}
		root := catalogtest.Open(b, dir)
		open := func(b *testing.B, store *catalog.Store) {
			b.Helper()
			if s, err := store.Snapshot(b.Context(), "w", catalogtest.All{}); err != nil || len(s.Tables()) != tables {
				b.Fatal(err)
			}
		}
		name := fmt.Sprintf("%dk", tables*columns/1000)
		b.Run(name+"/cold", func(b *testing.B) {
			for b.Loop() {
				_ = os.RemoveAll(filepath.Join(dir, ".ktx", "catalog"))
				open(b, catalog.NewStore(root, time.Now))
			}
		})
		b.Run(name+"/warm", func(b *testing.B) {
			for b.Loop() {
				open(b, catalog.NewStore(root, time.Now))
			}
		})
		b.Run(name+"/unchanged", func(b *testing.B) {
			store := catalog.NewStore(root, time.Now)
			open(b, store)
			for b.Loop() {
				open(b, store)
			}
			b.StopTimer()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MB-held")
			runtime.KeepAlive(store)
		})
		b.Run(name+"/not-found", func(b *testing.B) {
			store := catalog.NewStore(root, time.Now)
			s, err := store.Snapshot(b.Context(), "w", catalogtest.All{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, _, err := s.Resolve("schema_1.tabel_of_thing"); err == nil {
					b.Fatal("found")
				}
			}
		})
	}
}
