package sqlcheck_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlguard"
)

var cached = map[string]string{
	"a.sql": "SELECT 1; DROP TABLE t;\n-- ktx:allow write_statement until=2026-12-01 reason=\"x\"\nDELETE FROM t;",
	"b.sql": "\ufeffSELECT 2;\r\nSELECT 3",
	"c.sql": "SELECT \xff",
	"d.sql": "",
	"e.sql": "SELECT 1; DROP TABLE t;\n-- ktx:allow write_statement until=2026-12-01 reason=\"x\"\nDELETE FROM t;",
}

// TestCacheChangesNothing: a check with the cache has the same findings as a
// check with the guard.
func TestCacheChangesNothing(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), t.TempDir()
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	want := withoutTexts(judged(t, dir, nil, cached))
	for _, round := range []string{"cold", "warm"} { // if this takes long, a warm check reads no file
		c := sqlcheck.OpenCache(store, dir, "build", now)
		if diff := cmp.Diff(want, withoutTexts(judged(t, dir, c, nil))); diff != "" {
			t.Errorf("%s: %s", round, diff)
		}
		if err := c.Save(); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(store); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if n := asked(t, dir, sqlcheck.OpenCache(store, dir, "build", now)); n != 0 {
		t.Errorf("a warm check asks the guard %d times", n)
	}
	for name, c := range map[string]*sqlcheck.Cache{
		"another build":  sqlcheck.OpenCache(store, dir, "build 2", now),
		"another folder": sqlcheck.OpenCache(store, dir+"x", "build", now),
		"another policy": nil,
	} {
		if c == nil {
			continue
		}
		if n := asked(t, dir, c); n == 0 {
			t.Errorf("%s: the guard is not asked", name)
		}
	}
	// Only a changed file is judged.
	if err := os.WriteFile(filepath.Join(dir, "b.sql"), []byte("SELECT 2; SELECT 4; SELECT 5"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := asked(t, dir, sqlcheck.OpenCache(store, dir, "build", now)); n != 3 {
		t.Errorf("the guard is asked %d times", n)
	}
}

// counting is a dialect that counts the texts that it analyses.
type counting struct {
	sqlguard.Dialect
	n *int
}

func (c counting) Analyze(sql string) ([]sqlguard.Statement, error) {
	*c.n++
	return c.Dialect.Analyze(sql) //nolint:wrapcheck // the dialect's own
}

// asked returns how many statements the guard is asked about.
func asked(t *testing.T, dir string, cache *sqlcheck.Cache) int {
	t.Helper()
	inputs, err := sqlcheck.Find([]string{dir}, "stdin")
	if err != nil {
		t.Fatal(err)
	}
	inner, _ := with(t, "postgres")("", "", sqlcheck.Known{})
	n := 0
	guard, err := sqlguard.New(counting{inner.Dialect(), &n}, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := sqlcheck.Checker{Choose: func(string, string, sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding) { return guard, nil }, Cache: cache, Jobs: 1}
	if _, err := c.Run(t.Context(), inputs); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCacheThatIsNone: a file that is not a cache, or a damaged one, counts as
// an empty cache.
func TestCacheThatIsNone(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), t.TempDir()
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	c := sqlcheck.OpenCache(store, dir, "build", now)
	want := judged(t, dir, c, cached)
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(store)
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	file := filepath.Join(store, entries[0].Name())
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty": {}, "short": good[:10], "cut": good[:len(good)-1], "longer": append(bytes.Clone(good), 0),
		"another byte": append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1), "text": []byte("not a cache, but long enough for what stands in front of one"),
	} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		c := sqlcheck.OpenCache(store, dir, "build", now)
		if n := asked(t, dir, c); n == 0 {
			t.Errorf("%s: the guard is not asked", name)
		}
	}
	// An entry that was not used for a month is dropped.
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	c = sqlcheck.OpenCache(store, dir, "build", now.AddDate(0, 0, 40))
	if diff := cmp.Diff(want, judged(t, dir, c, nil)); diff != "" {
		t.Error(diff)
	}
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	if n := asked(t, dir, sqlcheck.OpenCache(store, dir, "build", now.AddDate(0, 0, 40))); n != 0 {
		t.Errorf("entries that were asked for are gone: %d", n)
	}
}
