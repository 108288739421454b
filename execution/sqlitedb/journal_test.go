package sqlitedb_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// writer returns a connection of another program that writes to the file.
func writer(tb testing.TB, path string) *sqlite3.Conn {
	tb.Helper()
	conn, err := sqlite3.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() }) // tests that close it themselves check the error
	return conn
}

func run(tb testing.TB, conn *sqlite3.Conn, sql string) {
	tb.Helper()
	if err := conn.Exec(sql); err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
}

// Each statement sees one consistent state of a database while another program
// writes to it.
func TestReadsBesideAWriter(t *testing.T) {
	for _, mode := range []string{"DELETE", "WAL"} {
		t.Run(mode, func(t *testing.T) {
			path := testdb.SQLiteFile(t, "PRAGMA journal_mode = "+mode+"; CREATE TABLE pairs (a, b); INSERT INTO pairs VALUES (0, 0)")
			c := open(t, path, 3)
			const states = 150
			w := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestWriterProcess$")
			w.Env = append(os.Environ(), "KTX_TEST_WRITES="+strconv.Itoa(states), "KTX_TEST_WRITES_TO="+path)
			var writing sync.WaitGroup
			writing.Go(func() {
				if out, err := w.CombinedOutput(); err != nil {
					t.Errorf("the writer: %v\n%s", err, out)
				}
			})
			var reading sync.WaitGroup
			for range 3 {
				reading.Go(func() {
					for last := 0; last < states; {
						res, err := c.Try(t.Context(), t, "SELECT (SELECT max(a) FROM pairs), (SELECT max(b) FROM pairs)", execution.Limits{LockTimeout: time.Minute})
						if err != nil {
							t.Errorf("the read failed: %v %s %v", err, typed(t, err).SQLState, typed(t, err).Err)
							return
						}
						a, b := res.Rows[0][0].Text, res.Rows[0][1].Text
						now, err := strconv.Atoi(a)
						if a != b || err != nil || now < last {
							t.Errorf("read %s and %s after %d", a, b, last)
							return
						}
						last = now
						if t.Failed() {
							return
						}
					}
				})
			}
			writing.Wait()
			reading.Wait()
		})
	}
}

// TestOpensBesideAWriter: a connection that is opened while another program has the lock
// waits for it like a statement.
func TestOpensBesideAWriter(t *testing.T) {
	path := testdb.SQLiteFile(t, "CREATE TABLE t (x); INSERT INTO t VALUES (1)")
	c := open(t, path, 3)
	w := writer(t, path)
	run(t, w, "BEGIN EXCLUSIVE; UPDATE t SET x = 2")
	var reading sync.WaitGroup
	for range 3 {
		reading.Go(func() {
			res, err := c.Try(t.Context(), t, "SELECT x FROM t", execution.Limits{LockTimeout: time.Minute})
			if err != nil || res.Rows[0][0].Text != "2" {
				t.Errorf("%v %v", res, err)
			}
		})
	}
	time.Sleep(50 * time.Millisecond) // without the wait, the reads fail within it
	run(t, w, "COMMIT")
	reading.Wait()
}

// TestWriterProcess is the program that writes beside the readers of another test.
func TestWriterProcess(t *testing.T) {
	states, err := strconv.Atoi(os.Getenv("KTX_TEST_WRITES"))
	if err != nil {
		return // this is the test's own process, which only reads
	}
	w := writer(t, os.Getenv("KTX_TEST_WRITES_TO"))
	if err := w.BusyTimeout(time.Minute); err != nil {
		t.Fatal(err)
	}
	for range states {
		run(t, w, "BEGIN IMMEDIATE; UPDATE pairs SET a = a + 1; UPDATE pairs SET b = b + 1; COMMIT")
	}
}

// A locked database is busy after the lock timeout, and can be read again when
// the lock is released.
func TestLocked(t *testing.T) {
	path := testdb.SQLiteFile(t, "CREATE TABLE t (x); INSERT INTO t VALUES (1)")
	c := open(t, path, 1)
	w := writer(t, path)
	run(t, w, "BEGIN EXCLUSIVE; UPDATE t SET x = 2")
	start := time.Now()
	_, err := c.Try(t.Context(), t, "SELECT x FROM t", execution.Limits{LockTimeout: 100 * time.Millisecond})
	e := typed(t, err)
	if e.Code != sqlguard.CodeBusy || !e.Retryable || e.RetryAfter <= 0 || e.SQLState != "SQLITE_BUSY" {
		t.Errorf("error %+v, want busy and the time to wait before a retry", e)
	}
	if took := time.Since(start); took < 90*time.Millisecond {
		t.Errorf("took %v, want 100 ms or more", took)
	}
	// The caller's deadline and the statement's time limit come before the lock
	// timeout.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = c.Try(ctx, t, "SELECT x FROM t", execution.Limits{LockTimeout: time.Minute})
	if e := typed(t, err); e.Code != sqlguard.CodeTimeout {
		t.Errorf("error %v, want %s", e, sqlguard.CodeTimeout)
	}
	run(t, w, "COMMIT")
	if got := c.rows(t, "SELECT x FROM t"); got[0][0] != "2" {
		t.Errorf("read %v, want 2", got)
	}
}

// Reading a database without a WAL never changes its folder. Reading one with a
// WAL creates the two files that SQLite needs, and leaves the database file
// unchanged.
func TestFilesBesideTheDatabase(t *testing.T) {
	for mode, want := range map[string][]string{
		"DELETE": {"test.db"},
		"WAL":    {"test.db", "test.db-shm", "test.db-wal"},
	} {
		t.Run(mode, func(t *testing.T) {
			path := testdb.SQLiteFile(t, "PRAGMA journal_mode = "+mode+"; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := files(t, filepath.Dir(path)); len(got) != 1 {
				t.Fatalf("the folder holds %q before it is read", got)
			}
			c := open(t, path, 2)
			c.rows(t, "SELECT * FROM t ORDER BY x")
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, files(t, filepath.Dir(path))); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(before) != string(after) {
				t.Error("the database file has changed")
			}
		})
	}
}

// The WAL makes the writes of a killed program readable. When the program was
// killed while it wrote to the database file itself, a reader cannot undo that,
// and the error says so.
func TestKilledWriter(t *testing.T) {
	copyTo := func(t *testing.T, from string, suffixes ...string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "copy.db")
		for _, suffix := range suffixes {
			content, err := os.ReadFile(from + suffix)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path+suffix, string(content))
		}
		return path
	}
	t.Run("WAL", func(t *testing.T) {
		path := testdb.SQLiteFile(t, "PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
		w := writer(t, path)
		run(t, w, "INSERT INTO t VALUES ('in the log')")
		c := open(t, copyTo(t, path, "", "-wal"), 1)
		if got := c.rows(t, "SELECT x FROM t"); got[0][0] != "in the log" {
			t.Errorf("read %v", got)
		}
	})
	t.Run("journal", func(t *testing.T) {
		path := testdb.SQLiteFile(t, "CREATE TABLE t (x)")
		w := writer(t, path)
		run(t, w, "PRAGMA cache_size = 1; BEGIN; INSERT INTO t SELECT randomblob(500) FROM generate_series(1, 2000)")
		db, err := tryOpen(t, copyTo(t, path, "", "-journal"))
		if err == nil {
			_ = db.Close()
			t.Fatal("opened a database that is half written")
		}
		e := typed(t, err)
		if e.Code != sqlguard.CodeDatabaseError || e.SQLState != "SQLITE_READONLY_ROLLBACK" || !strings.Contains(e.Hint, "open the database once") {
			t.Errorf("error %+v", e)
		}
	})
	t.Run("lost files of a WAL", func(t *testing.T) {
		if os.Geteuid() == 0 {
			t.Skip("root may write to every folder")
		}
		path := testdb.SQLiteFile(t, "PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
		if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) }) // so that the test can remove it
		_, err := tryOpen(t, path)
		if e := typed(t, err); !strings.Contains(e.Hint, "WAL mode") {
			t.Errorf("error %+v, want a hint on WAL mode", e)
		}
	})
}

// The error for a table whose module is missing names the tables that can be
// read.
func TestOldFullTextSearch(t *testing.T) {
	path := testdb.SQLiteFile(t, "CREATE TABLE t (x); CREATE TABLE old_content (docid INTEGER PRIMARY KEY, c0body)")
	w := writer(t, path)
	if _, err := w.Config(sqlite3.DBCONFIG_WRITABLE_SCHEMA, true); err != nil {
		t.Fatal(err)
	}
	run(t, w, "INSERT INTO sqlite_schema VALUES ('table', 'old', 'old', 0, 'CREATE VIRTUAL TABLE old USING fts4(body)')")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c := open(t, path, 1)
	e := c.fails(t, "SELECT * FROM old WHERE old MATCH 'x'")
	if e.Code != sqlguard.CodeDatabaseError || e.SQLState != "SQLITE_ERROR" || !strings.Contains(e.Hint, "FTS3 and FTS4") {
		t.Errorf("error %+v, want one that names FTS3 and FTS4", e)
	}
	if got := c.rows(t, "SELECT count(*) FROM t"); got[0][0] != "0" {
		t.Errorf("read %v from another table", got)
	}
	report, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range report.Findings {
		found = found || strings.Contains(f.Message, "FTS3 and FTS4") && strings.Contains(f.Message, "old")
	}
	if !found {
		t.Errorf("the probe's findings are %+v, want one on the table old", report.Findings)
	}
}

// tryOpen is like open, for a file that the backend may refuse.
func tryOpen(tb testing.TB, path string) (execution.Backend, error) {
	tb.Helper()
	db, err := openBackend(tb.Context(), path, 1, sqlguard.ID{1})
	if err == nil && db == nil {
		err = errors.New("neither a database nor an error")
	}
	return db, err
}
