//go:build linux

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/sqlguard"
)

// items is the number of rows in the scenarios' files.
const items = 2000

// itemsSQL makes the table that everyQuestion reads.
func itemsSQL(tag string) string {
	return fmt.Sprintf(`CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, pad TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
INSERT INTO items SELECT i, '%s-' || i, printf('%%0200d', i) FROM n`, items, tag)
}

// all asks for the whole table.
func all(tag string) question {
	q := question{sql: "SELECT id, name, pad FROM items ORDER BY id"}
	for i := range items {
		q.rows = append(q.rows, []string{fmt.Sprint(i + 1), fmt.Sprintf("%s-%d", tag, i+1), fmt.Sprintf("%0200d", i+1)})
	}
	return q
}

// openFile opens the scenario's gateway on a file.
func (s *stand) openFile(path string) {
	s.Helper()
	s.openFileWith(path, settings{})
}

func (s *stand) openFileWith(path string, set settings) {
	s.Helper()
	s.openConnection(execution.Connection{
		ID: connectionID, Engine: "SQLITE", Dialect: sqlite.Dialect{}, Policy: sqlguard.Policy{MaxConstant: longConstants},
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return sqlitedb.Open(ctx, sqlitedb.Config{Path: path, Session: sqlite.Dialect{}.Session()}, guard)
		},
	}, set)
}

// file makes a database file with the table, opens the gateway on it, and asks
// one question.
func (s *stand) file(tag string, before ...string) (path string) {
	s.Helper()
	path = testdb.SQLiteFile(s, append(before, itemsSQL(tag))...)
	s.openFile(path)
	s.right(all(tag))
	return path
}

// either asks a question that has two right answers.
func (s *stand) either(a, b question) {
	s.Helper()
	res, err := s.gateway.Query(s.Context(), execution.Request{ConnectionID: connectionID, SQL: a.sql})
	if err == nil {
		if first, second := a.wrong(res), b.wrong(res); first != "" && second != "" {
			s.Errorf("neither answer: %s; %s", first, second)
		}
		return
	}
	e, ok := errors.AsType[*execution.Error](err)
	if !ok || res != nil {
		s.Errorf("%v together with %v", err, res)
		return
	}
	s.wantCode(e.Code, s.scenario.codes...)
}

// writer opens a file for writing.
func (s *stand) writer(path string) *sqlite3.Conn {
	s.Helper()
	conn, err := sqlite3.Open(path)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = conn.Close() })
	return conn
}

func (s *stand) write(conn *sqlite3.Conn, sql string) {
	s.Helper()
	if err := conn.Exec(sql); err != nil {
		s.Fatalf("%s: %v", sql, err)
	}
}

func (s *stand) read(path string) []byte {
	s.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		s.Fatal(err)
	}
	return text
}

// place replaces a file by another in one step.
func (s *stand) place(path string, content []byte) {
	s.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		s.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		s.Fatal(err)
	}
}

var sqliteFiles = []scenario{
	{
		name:   "file replaced",
		does:   "The file is replaced 40 times by one with other rows, while 4 callers read all rows.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost},
		passes: "Every answer is wholly that of one of the files.",
		run: func(s *stand) string {
			path := s.file("old")
			old, next := s.read(path), s.read(testdb.SQLiteFile(s, itemsSQL("new")))
			a, b := all("old"), all("new")
			ctx, stop := context.WithCancel(s.Context())
			var work sync.WaitGroup
			for range 4 {
				work.Go(func() {
					for ctx.Err() == nil {
						s.either(a, b)
					}
				})
			}
			for i := range 40 {
				time.Sleep(10 * time.Millisecond)
				s.place(path, [][]byte{next, old}[i%2])
			}
			stop()
			work.Wait()
			s.right(a)
			return ""
		},
	},
	{
		name:   "file cut",
		does:   "The open file is cut to 3/4, to a half, to a page, to 100 bytes and to nothing; then a whole one takes its place.",
		codes:  []sqlguard.Code{sqlguard.CodeDatabaseError, sqlguard.CodeConnectionLost},
		passes: "No answer has a part of the rows; a call on the whole file is right.",
		run: func(s *stand) string {
			path := s.file("cut")
			whole := s.read(path)
			for _, size := range []int{len(whole) * 3 / 4, len(whole) / 2, 4096, 100, 0} {
				if err := os.Truncate(path, int64(size)); err != nil {
					s.Fatal(err)
				}
				for range 3 {
					s.ask(s.Context(), all("cut"), execution.Limits{})
				}
				s.place(path, whole)
				s.right(all("cut"))
			}
			return ""
		},
	},
	{
		name:   "file locked by a writer",
		does:   "A writer holds the file exclusively; 4 callers read with a lock limit of 0.1 s; the writer leaves.",
		codes:  []sqlguard.Code{sqlguard.CodeBusy},
		passes: "All end as `busy` with a time to wait, and are right when the writer has left.",
		run: func(s *stand) string {
			path := s.file("locked")
			w := s.writer(path)
			s.write(w, "BEGIN EXCLUSIVE")
			var work sync.WaitGroup
			for range 4 {
				work.Go(func() {
					e, _ := s.asked(s.Context(), all("locked"), execution.Limits{LockTimeout: 100 * time.Millisecond})
					s.wantBusy(e)
				})
			}
			work.Wait()
			s.write(w, "ROLLBACK")
			s.right(all("locked"))
			return "4 of 4 `busy`"
		},
	},
	{
		name:   "beside a writer",
		does:   "A writer in WAL mode moves amounts between 100 accounts without pause, while 3 callers read the sum and the number of accounts 60 times each.",
		passes: "Every answer has the whole sum.",
		run: func(s *stand) string {
			path := testdb.SQLiteFile(s, "PRAGMA journal_mode = WAL", `CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER);
				WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO accounts SELECT i, 100 FROM n`)
			s.openFile(path)
			sum := question{sql: "SELECT sum(balance), count(*) FROM accounts", rows: [][]string{{"10000", "100"}}}
			s.right(sum)
			w := s.writer(path)
			ctx, stop := context.WithCancel(s.Context())
			var writing, reading sync.WaitGroup
			writing.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					s.write(w, fmt.Sprintf("BEGIN IMMEDIATE; UPDATE accounts SET balance = balance - %[1]d WHERE id = %[2]d; UPDATE accounts SET balance = balance + %[1]d WHERE id = %[3]d; COMMIT", i%7, i%100+1, (i*31)%100+1))
				}
			})
			for range 3 {
				reading.Go(func() {
					for range 60 {
						s.right(sum)
					}
				})
			}
			reading.Wait()
			stop()
			writing.Wait()
			return "180 of 180 right"
		},
	},
	{
		name:   "WAL files removed",
		does:   "A database in WAL mode has a newer state in its -wal file; that and the -shm file are removed under a gateway and a writer that are open.",
		codes:  []sqlguard.Code{sqlguard.CodeDatabaseError, sqlguard.CodeBusy},
		passes: "Every answer is wholly the older state or wholly the newer one.",
		run: func(s *stand) string {
			path := s.file("old", "PRAGMA journal_mode = WAL")
			w := s.writer(path)
			s.write(w, "PRAGMA wal_autocheckpoint = 0")
			s.write(w, "PRAGMA wal_checkpoint(TRUNCATE)")
			s.write(w, "UPDATE items SET name = 'new-' || id")
			s.right(all("new"))
			for _, suffix := range []string{"-wal", "-shm"} {
				if err := os.Remove(path + suffix); err != nil {
					s.Fatal(err)
				}
			}
			for range 6 {
				s.either(all("old"), all("new"))
			}
			return ""
		},
	},
	{
		name:   "page destroyed",
		does:   "The head of one page is overwritten, for every page of the file in turn, and all rows are read.",
		codes:  []sqlguard.Code{sqlguard.CodeDatabaseError},
		passes: "Every call ends as `database_error`; a call on the whole file is right.",
		run: func(s *stand) string {
			path := s.file("page")
			whole := s.read(path)
			pages := len(whole) / 4096
			step := 8 // tests every eighth page, unless the variables select all pages
			if full() || executiontest.Full() {
				step = 1
			}
			tried := 0
			for page := 0; page < pages; page += step {
				tried++
				bad := append([]byte(nil), whole...)
				copy(bad[page*4096:], strings.Repeat("\xff", 100))
				s.place(path, bad)
				s.wantCode(s.ask(s.Context(), all("page"), execution.Limits{}), sqlguard.CodeDatabaseError)
			}
			s.place(path, whole)
			s.right(all("page"))
			return fmt.Sprintf("%d of %d pages", tried, pages)
		},
	},
	{
		name:   "bytes destroyed at random",
		does:   "8 bytes are overwritten at 5 places, for 300 fixed seeds; rows are read in three ways.",
		codes:  []sqlguard.Code{sqlguard.CodeDatabaseError, sqlguard.CodeTimeout, sqlguard.CodeBusy},
		passes: "Every call ends, with rows or with one of these codes, and the process lives; a call on the whole file is right.",
		full:   true,
		run: func(s *stand) string {
			path := s.file("bytes", "CREATE TABLE other (a, b)", "CREATE INDEX by_b ON other (b)")
			whole := s.read(path)
			for seed := range 300 {
				random := rand.New(rand.NewPCG(7, uint64(seed)))
				bad := append([]byte(nil), whole...)
				for range 5 {
					at := random.IntN(len(bad) - 8)
					for i := range 8 {
						bad[at+i] = byte(random.IntN(256))
					}
				}
				s.place(path, bad)
				for _, sql := range []string{"SELECT * FROM items", "SELECT count(*), max(name) FROM items WHERE id > 1000", "SELECT b FROM other ORDER BY b"} {
					res, err := s.gateway.Query(s.Context(), execution.Request{ConnectionID: connectionID, SQL: sql, Limits: execution.Limits{Timeout: 5 * time.Second}})
					if (res == nil) == (err == nil) {
						s.Errorf("%s: %v together with %v", sql, res, err)
					}
					if err != nil {
						s.wantCode(execution.CodeOf(err), s.scenario.codes...)
					}
				}
			}
			s.place(path, whole)
			s.right(all("bytes"))
			return "300 of 300 files"
		},
	},
	{
		name:   "file deleted",
		does:   "The file is deleted under a gateway that has it open; later a file is there again.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost},
		passes: "Calls end as `connection_lost`, and are right when the file is back.",
		run: func(s *stand) string {
			path := s.file("deleted")
			whole := s.read(path)
			if err := os.Remove(path); err != nil {
				s.Fatal(err)
			}
			for range 3 {
				s.wantCode(s.ask(s.Context(), all("deleted"), execution.Limits{}), sqlguard.CodeConnectionLost)
			}
			s.place(path, whole)
			s.right(all("deleted"))
			return ""
		},
	},
	{
		name:   "writer died in a transaction",
		does:   "The file is that of a program that was killed while it wrote, with the journal it left; later a program that may write opens it.",
		codes:  []sqlguard.Code{sqlguard.CodeDatabaseError},
		passes: "Calls end as `database_error` and never show the half-written state; when the journal was played back they are right.",
		run: func(s *stand) string {
			source := testdb.SQLiteFile(s, itemsSQL("committed"))
			w := s.writer(source)
			s.write(w, "PRAGMA cache_size = 5")
			s.write(w, "BEGIN IMMEDIATE; UPDATE items SET name = 'half-' || id, pad = pad || pad")
			path := filepath.Join(s.TempDir(), "crashed.db")
			for _, suffix := range []string{"", "-journal"} {
				if err := os.WriteFile(path+suffix, s.read(source+suffix), 0o600); err != nil {
					s.Fatal(err)
				}
			}
			s.write(w, "ROLLBACK")
			s.openFile(path)
			for range 3 {
				s.wantCode(s.ask(s.Context(), all("committed"), execution.Limits{}), sqlguard.CodeDatabaseError)
			}
			s.write(s.writer(path), "SELECT count(*) FROM items")
			s.right(all("committed"))
			return ""
		},
	},
	{
		name:   "read-only folder",
		does:   "The command, as a user without privileges, reads a database in WAL mode in a folder where it may make no file; then it may.",
		codes:  []sqlguard.Code{sqlguard.CodeDatabaseError},
		passes: "The call ends as `database_error`; the next is right when files can be made.",
		run: func(s *stand) string {
			dir, plain := s.unprivileged()
			folder := filepath.Join(dir, "data")
			if err := os.Mkdir(folder, 0o700); err != nil {
				s.Fatal(err)
			}
			source := testdb.SQLiteFile(s, "PRAGMA journal_mode = WAL", itemsSQL("wal"))
			path := filepath.Join(folder, "wal.db")
			if err := os.WriteFile(path, s.read(source), 0o600); err != nil {
				s.Fatal(err)
			}
			s.becomes(dir, fmt.Sprintf("connections:\n  %s: {driver: sqlite, path: data/wal.db}\n", connectionID))
			s.alike(dir)
			if err := os.Chmod(folder, 0o500); err != nil {
				s.Fatal(err)
			}
			c := s.serve(dir, plain)
			count := question{sql: "SELECT count(*) FROM items", rows: [][]string{{fmt.Sprint(items)}}}
			code := c.ask(count)
			s.wantCode(code, sqlguard.CodeDatabaseError)
			if err := os.Chmod(folder, 0o700); err != nil {
				s.Fatal(err)
			}
			c.right(count)
			c.bye()
			s.recorded(s.logDir, 0)
			return ""
		},
	},
	{
		name:   "no space for temporary files",
		does:   "The command sorts 40 MB of text, with a folder for temporary files on a file system of 64 KiB.",
		codes:  []sqlguard.Code{sqlguard.CodeDatabaseError},
		passes: "The call ends as `database_error`; small sorts are right after it.",
		run: func(s *stand) string {
			s.canMount()
			dir := s.project()
			temporary := filepath.Join(dir, "temporary")
			if err := os.Mkdir(temporary, 0o700); err != nil {
				s.Fatal(err)
			}
			if err := os.Rename(testdb.SQLiteFile(s, itemsSQL("sort")), filepath.Join(dir, "sort.db")); err != nil {
				s.Fatal(err)
			}
			s.becomes(dir, fmt.Sprintf("connections:\n  %s: {driver: sqlite, path: sort.db}\n", connectionID))
			c := s.serve(dir, mounting(temporary, 64<<10), environment("SQLITE_TMPDIR="+temporary))
			big := question{sql: "SELECT max(length(v)) FROM (SELECT a.pad || b.id AS v FROM items AS a, items AS b WHERE b.id <= 100 ORDER BY v LIMIT -1 OFFSET 1)"}
			s.wantCode(c.ask(big), sqlguard.CodeDatabaseError)
			c.right(question{sql: "SELECT name FROM items ORDER BY pad DESC LIMIT 1", rows: [][]string{{fmt.Sprintf("sort-%d", items)}}})
			c.bye()
			s.recorded(s.logDir, 0)
			return ""
		},
	},
}
