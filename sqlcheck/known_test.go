//go:build unix

package sqlcheck_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// known is a folder with a cache, and how its files look to a check.
type knownTree struct {
	dir, store string
	dialect    string
}

// check checks the folder and returns the names of the files that it opened.
func (k *knownTree) check(t *testing.T) ([]report.File, []string) {
	t.Helper()
	inputs, err := sqlcheck.Find([]string{k.dir}, "stdin")
	if err != nil {
		t.Fatal(err)
	}
	cache := sqlcheck.OpenCache(k.store, k.dir, "build", time.Now())
	c := sqlcheck.Checker{Choose: with(t, k.dialect), Cache: cache, Today: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}
	var mu sync.Mutex
	var opened []string
	c.OnOpen(func(path string) {
		mu.Lock()
		defer mu.Unlock()
		opened = append(opened, filepath.Base(path))
	})
	files, err := c.Run(t.Context(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	if err := cache.Save(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(opened)
	return withoutTexts(files), opened
}

// withoutTexts takes out what reports of a file that was read have, and those of a file
// that was not read quote instead.
func withoutTexts(files []report.File) []report.File {
	for i := range files {
		files[i].Text = ""
		for j := range files[i].Findings {
			files[i].Findings[j].Quoted = nil
		}
	}
	return files
}

// TestKnownFilesAreNotRead: a check opens the files that changed, and those
// that depend on them, and no other.
func TestKnownFilesAreNotRead(t *testing.T) {
	t.Parallel()
	k := &knownTree{dir: t.TempDir(), store: t.TempDir(), dialect: "postgres"}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settled := func() { time.Sleep(150 * time.Millisecond) } // longer than a tick
	write("a.sql", "SELECT 1; DROP TABLE t")
	write("b.sql", "SELECT 1\n-- ktx:allow write_statement until=2026-12-01 reason=\"x\"")
	write("names.py", "TABLE = 'SELECT 1'\n")
	write("user.py", "from names import TABLE\ndef f(cursor):\n    cursor.execute(TABLE)\n")
	write("plain.py", "print(1)\n")
	settled()
	cold, opened := k.check(t)
	if want := []string{"a.sql", "b.sql", "names.py", "plain.py", "user.py"}; !slices.Equal(opened, want) {
		t.Fatalf("a cold check opens %v", opened)
	}
	warm, opened := k.check(t)
	if len(opened) > 0 {
		t.Errorf("a warm check opens %v", opened)
	}
	if diff := cmp.Diff(cold, warm); diff != "" {
		t.Error(diff)
	}
	for _, change := range []struct {
		name string
		do   func()
		want []string
	}{
		{"the same size, and the time set back", func() {
			path := filepath.Join(k.dir, "a.sql")
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			write("a.sql", "DROP TABLE t; SELECT 1")
			if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, []string{"a.sql"}},
		{"what a file needs", func() { write("names.py", "TABLE = 'DROP TABLE t'\n") }, []string{"names.py", "user.py"}},
		{"what a file needs is gone", func() { _ = os.Remove(filepath.Join(k.dir, "names.py")) }, []string{"user.py"}},
		{"what a file needs is back", func() { write("names.py", "TABLE = 'SELECT 1'\n") }, []string{"names.py", "user.py"}},
		{"another file has its name", func() {
			write("c.txt", "SELECT 2; DROP TABLE t")
			if err := os.Rename(filepath.Join(k.dir, "c.txt"), filepath.Join(k.dir, "a.sql")); err != nil {
				t.Fatal(err)
			}
		}, []string{"a.sql"}},
	} {
		change.do()
		settled()
		got, opened := k.check(t)
		if !slices.Equal(opened, change.want) {
			t.Errorf("%s: it opens %v, want %v", change.name, opened, change.want)
		}
		fresh := &knownTree{dir: k.dir, store: t.TempDir(), dialect: k.dialect}
		want, _ := fresh.check(t)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", change.name, diff)
		}
	}
	k.dialect = "sqlite"
	if _, opened := k.check(t); !slices.Contains(opened, "a.sql") {
		t.Errorf("another guard: it opens %v", opened)
	}
	// A file that was written just now may change again without a trace.
	before := time.Now()
	write("new.sql", "SELECT 1")
	k.check(t)
	if _, opened := k.check(t); !slices.Contains(opened, "new.sql") && time.Since(before) < 100*time.Millisecond {
		t.Error("a file that was written just now counts as known")
	}
}

// TestSettled: a file that was written just before may change again without a trace, for
// longer where the system seems to count seconds.
func TestSettled(t *testing.T) {
	whole := time.Unix(1_800_000_000, 0)
	for _, test := range []struct {
		changed time.Time
		after   time.Duration
		want    bool
	}{
		{whole.Add(time.Millisecond), 50 * time.Millisecond, false},
		{whole.Add(time.Millisecond), 150 * time.Millisecond, true},
		{whole, 150 * time.Millisecond, false},
		{whole, 2100 * time.Millisecond, true},
		{whole.Add(time.Millisecond), -time.Hour, false},
	} {
		if got := sqlcheck.Settled(test.changed, test.changed.Add(test.after)); got != test.want {
			t.Errorf("changed at %v, looked at %v later: %t", test.changed, test.after, got)
		}
	}
}

// TestReportsOfKnownFiles: what people read is the same.
func TestReportsOfKnownFiles(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.sql"), []byte("SELECT 1;\r\n  DROP TABLE täble -- ktx:allow write_statement until=2026-12-01 reason=\"x\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(150 * time.Millisecond)
	var said []string
	for range 2 {
		cache := sqlcheck.OpenCache(store, dir, "build", time.Now())
		inputs, err := sqlcheck.Find([]string{dir}, "stdin")
		if err != nil {
			t.Fatal(err)
		}
		c := sqlcheck.Checker{Choose: with(t, "postgres"), Cache: cache, Today: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}
		files, err := c.Run(t.Context(), inputs)
		if err != nil {
			t.Fatal(err)
		}
		if err := cache.Save(); err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, format := range report.Formats() {
			if format == report.FormatJSON {
				continue // it has the statements, which no cache keeps
			}
			if err := report.Write(&all, format, &report.Check{Files: files, Summary: report.Summarize(files), Version: "1"}); err != nil {
				t.Fatal(err)
			}
		}
		said = append(said, all.String())
	}
	if diff := cmp.Diff(said[0], said[1]); diff != "" {
		t.Error(diff)
	}
}

// TestFilesWithoutDialectAreKnown: a warm check says again that nothing tells the
// dialect of a file, without reading it, until something does.
func TestFilesWithoutDialectAreKnown(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "a.sql")
	if err := os.WriteFile(path, []byte("DROP TABLE t"), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(150 * time.Millisecond) // longer than a tick
	unknown := func(message, engine string) sqlcheck.Chooser {
		return func(string, string, sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding) {
			return nil, &sqlguard.Finding{Code: sqlguard.CodeDialectUnknown, Message: message, Object: engine}
		}
	}
	for i, test := range []struct {
		choose sqlcheck.Chooser
		strict bool
		opens  bool
		want   string
	}{
		{unknown("one", ""), false, true, "dialect_unknown one"},
		{unknown("two", ""), false, false, "dialect_unknown two"},
		{unknown("three", "oracle"), false, false, "oracle"},
		{unknown("four", "oracle"), true, false, "dialect_unknown four"},
		{with(t, "postgres"), false, true, "ddl_statement DROP changes the schema"},
		{with(t, "postgres"), false, false, "ddl_statement DROP changes the schema"},
		{unknown("five", ""), false, true, "dialect_unknown five"},
	} {
		cache := sqlcheck.OpenCache(store, dir, "build", time.Now())
		c := sqlcheck.Checker{Choose: test.choose, Cache: cache, Strict: test.strict, Today: time.Now()}
		opened := false
		c.OnOpen(func(string) { opened = true })
		files, err := c.Run(t.Context(), []sqlcheck.Input{{Path: path}})
		if err != nil {
			t.Fatal(err)
		}
		if err := cache.Save(); err != nil {
			t.Fatal(err)
		}
		got := files[0].Skipped
		for _, f := range files[0].Findings {
			got += string(f.Code) + " " + f.Message
		}
		if got != test.want || opened != test.opens {
			t.Errorf("%d: %q, opened %t", i, got, opened)
		}
	}
}

// TestWhatFilesSayIsKnown: what in a file says its dialect is kept, so a warm check
// decides the same without the file.
func TestWhatFilesSayIsKnown(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), t.TempDir()
	var inputs []sqlcheck.Input
	for name, driver := range map[string]string{"a.py": "psycopg", "b.py": "snowflake"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("import "+driver+"\ncur.execute('DROP TABLE t')"), 0o600); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, sqlcheck.Input{Path: path})
	}
	time.Sleep(150 * time.Millisecond) // longer than a tick
	guard := with(t, "postgres")
	choose := func(path, text string, known sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding) {
		switch {
		case strings.Contains(text, "import psycopg"):
			return guard(path, text, known)
		case strings.Contains(text, "import snowflake"):
			return nil, &sqlguard.Finding{Code: sqlguard.CodeDialectUnknown, Object: "snowflake"}
		default:
			return nil, &sqlguard.Finding{Code: sqlguard.CodeDialectUnknown}
		}
	}
	says := func(_, text string) string {
		line, _, _ := strings.Cut(text, "\n")
		return line
	}
	var first []string
	for warm := range 2 {
		cache := sqlcheck.OpenCache(store, dir, "build", time.Now())
		c := sqlcheck.Checker{Choose: choose, Says: says, Cache: cache, Today: time.Now()}
		c.OnOpen(func(path string) {
			if warm == 1 {
				t.Errorf("opens %s", path)
			}
		})
		files, err := c.Run(t.Context(), inputs)
		if err != nil {
			t.Fatal(err)
		}
		if err := cache.Save(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			got = append(got, fmt.Sprintf("%q %d %q", f.Skipped, f.Refused, f.Dialect))
		}
		if warm == 0 {
			first = got
		} else if diff := cmp.Diff(first, got); diff != "" {
			t.Error(diff)
		}
	}
}
