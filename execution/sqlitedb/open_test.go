package sqlitedb_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/sqlguard"
)

// files lists the files of a folder.
func files(tb testing.TB, dir string) []string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func write(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "text.db"), strings.Repeat("this is no database. ", 500))
	good, err := os.ReadFile(testdb.SQLiteFile(t, "CREATE TABLE a (x); CREATE TABLE b (y); INSERT INTO a VALUES (1)"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "damaged.db"), string(good[:100])+strings.Repeat("\xff", len(good)-100))
	before := files(t, dir)
	id := executiontest.Guard(t, "sqlite", 0).ID()
	for _, c := range []struct {
		name    string
		config  sqlitedb.Config
		code    sqlguard.Code
		message string
	}{
		{"no path", sqlitedb.Config{}, sqlguard.CodeNotConfigured, "names no SQLite file"},
		{"missing file", sqlitedb.Config{Path: filepath.Join(dir, "missing.db")}, sqlguard.CodeNotConfigured, `"missing.db" does not exist`},
		{"missing folder", sqlitedb.Config{Path: filepath.Join(dir, "missing", "x.db")}, sqlguard.CodeNotConfigured, "does not exist"},
		{"URI", sqlitedb.Config{Path: "file:" + filepath.Join(dir, "new.db") + "?mode=rwc"}, sqlguard.CodeNotConfigured, "does not exist"},
		{"memory", sqlitedb.Config{Path: ":memory:"}, sqlguard.CodeNotConfigured, "does not exist"},
		{"folder", sqlitedb.Config{Path: dir}, sqlguard.CodeNotConfigured, "is no file"},
		{"text", sqlitedb.Config{Path: filepath.Join(dir, "text.db")}, sqlguard.CodeDatabaseError, "not an SQLite database"},
		{"damaged", sqlitedb.Config{Path: filepath.Join(dir, "damaged.db")}, sqlguard.CodeDatabaseError, "damaged"},
		{"connections", sqlitedb.Config{Path: filepath.Join(dir, "text.db"), MaxConnections: 65}, sqlguard.CodeNotConfigured, "maxConnections"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, err := sqlitedb.Open(t.Context(), c.config, id)
			if err == nil {
				_ = db.Close()
				t.Fatal("opened")
			}
			e := typed(t, err)
			if e.Code != c.code || !strings.Contains(e.Message, c.message) || e.Retryable {
				t.Errorf("%s %q (retryable %t), want %s with %q, not retryable", e.Code, e.Message, e.Retryable, c.code, c.message)
			}
			if strings.Contains(e.Message+e.Hint, dir+string(filepath.Separator)) {
				t.Errorf("the message %q contains the path", e.Message)
			}
		})
	}
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("files of the folder (-before +after):\n%s", diff)
	}
}

// An empty file is an empty database, and a path is never read as a URI.
func TestOpenTakesPathsAsTheyAre(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"empty.db", "file:strange?mode=rwc", "a b#c%20d'e", ":memory:"} {
		write(t, name, "")
		c := open(t, name, 1)
		if got := c.rows(t, "SELECT count(*) FROM sqlite_schema"); got[0][0] != "0" {
			t.Errorf("%s: %v tables, want none", name, got)
		}
	}
	if got := files(t, "."); len(got) != 4 {
		t.Errorf("the folder holds %q, want the four files that were made", got)
	}
}

// The session guarantees every setting that the dialect assumes. Open refuses
// any other setting before it opens a file.
func TestSessionSettings(t *testing.T) {
	path, id := testdb.SQLiteFile(t), executiontest.Guard(t, "sqlite", 0).ID()
	settings := sqlite.Dialect{}.Session()
	db, err := sqlitedb.Open(t.Context(), sqlitedb.Config{Path: path, Session: settings}, id)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, more := range []sqlguard.Setting{{Name: "dqs_dml", Value: "off"}, {Name: "trusted_schema", Value: "on"}, {Name: "unheard_of", Value: "on"}} {
		db, err := sqlitedb.Open(t.Context(), sqlitedb.Config{Path: path, Session: append(slices.Clip(settings), more)}, id)
		if err == nil {
			_ = db.Close()
			t.Fatalf("opened with %s = %s taken for granted", more.Name, more.Value)
		}
		if e := typed(t, err); e.Code != sqlguard.CodeSessionModeMismatch || !strings.Contains(e.Message, more.Name) {
			t.Errorf("error %v", e)
		}
	}
}

// When a file is replaced, the next statement reads the new file. When the file
// is missing, statements fail until it is back.
func TestReplacedFile(t *testing.T) {
	path := testdb.SQLiteFile(t, "CREATE TABLE t (x); INSERT INTO t VALUES ('old')")
	next := testdb.SQLiteFile(t, "CREATE TABLE t (x); INSERT INTO t VALUES ('new')")
	c := open(t, path, 2)
	if got := c.rows(t, "SELECT x FROM t"); got[0][0] != "old" {
		t.Fatalf("read %v", got)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
	if got := c.rows(t, "SELECT x FROM t"); got[0][0] != "new" {
		t.Errorf("read %v after the file was replaced, want the new content", got)
	}
	if sessions, _ := c.Sessions(); sessions != 1 {
		t.Errorf("%d connections, want the one on the new file", sessions)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if e := c.fails(t, "SELECT x FROM t"); e.Code != sqlguard.CodeConnectionLost || !e.Retryable {
		t.Errorf("error %v for a file that is gone", e)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if got := c.rows(t, "SELECT x FROM t"); got[0][0] != "new" {
		t.Errorf("read %v from a file that is back", got)
	}
}
