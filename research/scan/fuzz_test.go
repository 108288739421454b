package scan_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// FuzzState: whatever the files of earlier scans have, a scan comes to its end.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"format":1,"options":"x","syncId":"../../x","runId":"y","started":"2026-03-04T05:06:07Z"}`+"\n"), []byte(`{"createdAt":"2026-01-01T00:00:00Z"}`), []byte(`{"name":"a","columns":[{"name":"x"}]}`))
	f.Add([]byte("{\"format\":1}\n{\"table\":null}\n{\"probe\":{}}\n"), []byte(`{}`), []byte(`[]`))
	f.Add([]byte{0, '\n', 0xff}, []byte("null"), []byte(`{"columns":null,"db":7}`))
	path := testdb.SQLiteFile(f, "CREATE TABLE a (x INTEGER PRIMARY KEY, y TEXT); INSERT INTO a VALUES (1, 'one')")
	f.Fuzz(func(t *testing.T, journal, report, table []byte) {
		s := newStand(t, sqliteAt(path))
		for name, content := range map[string][]byte{
			".ktx/scan/shop/journal.jsonl": journal, "raw-sources/shop/live-database/old/scan-report.json": report, "raw-sources/shop/live-database/old/tables/a.json": table,
		} {
			if err := os.MkdirAll(filepath.Join(s.dir, filepath.Dir(name)), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(s.dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if result := s.run(); result.Tables != 1 {
			t.Errorf("%d tables", result.Tables)
		}
	})
}
