package usage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research/usage"
)

func write(t *testing.T, dir, text string, modified time.Time) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(usage.Path("warehouse")))
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, modified, modified); err != nil {
		t.Fatal(err)
	}
}

// TestStoreSeesChanges: a change counts from the next call on, even one that keeps
// the size and the time of a young file.
func TestStoreSeesChanges(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	s := usage.NewStore(root, func() time.Time { return now })
	read := func() (int64, string) {
		t.Helper()
		f, id, err := s.File("warehouse")
		if err != nil || (f == nil) != (id == "") {
			t.Fatalf("%v, %q, %v", f, id, err)
		}
		if f == nil {
			return -1, id
		}
		return f.Statements, id
	}
	if n, _ := read(); n != -1 {
		t.Errorf("no file: %d", n)
	}
	text := func(n string) string { return `{"connectionId":"warehouse","statements":` + n + `}` }
	write(t, dir, text("1"), now)
	n, first := read()
	if n != 1 {
		t.Errorf("got %d", n)
	}
	write(t, dir, text("2"), now)
	n, second := read()
	if n != 2 || second == first {
		t.Errorf("a young file that changed: %d, %s", n, second)
	}
	now = now.Add(time.Hour)
	if n, id := read(); n != 2 || id != second {
		t.Errorf("an old file: %d, %s", n, id)
	}
	write(t, dir, strings.Replace(text("3"), "3", "33", 1), now.Add(-time.Minute))
	if n, _ := read(); n != 33 {
		t.Errorf("another size: %d", n)
	}
	write(t, dir, "{", now)
	for range 2 {
		if f, id, err := s.File("warehouse"); f != nil || id != "" || err == nil {
			t.Errorf("%v, %q, %v", f, id, err)
		}
	}
	write(t, dir, text("4"), now)
	if n, _ := read(); n != 4 {
		t.Errorf("mended: %d", n)
	}
	if err := os.RemoveAll(filepath.Join(dir, "raw-sources")); err != nil {
		t.Fatal(err)
	}
	if n, _ := read(); n != -1 {
		t.Errorf("deleted: %d", n)
	}
}

func TestShare(t *testing.T) {
	last := -1.0
	for n := int64(0); n <= 100; n++ {
		s := usage.Share(n, 100)
		if s <= last || s < 0 || s > 1 {
			t.Errorf("%d of 100: %v after %v", n, s, last)
		}
		last = s
	}
	if last != 1 || usage.Share(5, 0) != 0 || usage.Share(-1, 5) != 0 || usage.Share(7, 5) != 1 {
		t.Errorf("%v, %v, %v, %v", last, usage.Share(5, 0), usage.Share(-1, 5), usage.Share(7, 5))
	}
}
