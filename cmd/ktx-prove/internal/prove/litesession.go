package prove

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"github.com/ktxhq/ktx/corpus"
)

// sqlite is a database file in a folder that this package made. The role that
// may only read is a handle opened read-only. The read-only transaction is a
// transaction under PRAGMA query_only, because SQLite has no read-only
// transaction.
type sqlite struct {
	dir     string
	limit   time.Duration
	content []byte // the file with the fixture
	number  string
}

const liteFile = "shop.db"

// startSQLite creates the file. It changes the working directory of the process
// to its folder, so that a statement that names a file writes there.
func startSQLite(fixture string, limit time.Duration) (_ *sqlite, err error) {
	dir, err := os.MkdirTemp("", "ktx-prove-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	l := &sqlite{dir: dir, limit: limit}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	conn, err := sqlite3.Open(l.path())
	if err != nil {
		return nil, fmt.Errorf("make the database: %w", err)
	}
	version, err := liteRows(conn, "SELECT sqlite_version()")
	if err := errors.Join(err, conn.Exec(fixture), conn.Close()); err != nil {
		return nil, fmt.Errorf("make the database: %w", err)
	}
	l.number = version[0][0]
	if l.content, err = os.ReadFile(l.path()); err != nil {
		return nil, fmt.Errorf("read the database: %w", err)
	}
	if err := os.Chdir(dir); err != nil {
		return nil, fmt.Errorf("enter the folder: %w", err)
	}
	return l, nil
}

func (l *sqlite) path() string { return filepath.Join(l.dir, liteFile) }

func (l *sqlite) name() string     { return "sqlite" }
func (l *sqlite) version() string  { return l.number }
func (l *sqlite) roles() [2]string { return [2]string{"read_write_handle", "read_only_handle"} }

// prepare sets up in the file what a case needs.
func (l *sqlite) prepare(_ context.Context, c corpus.Case) (made bool, err error) {
	texts, _ := setup(c)
	if len(texts) == 0 {
		return false, nil
	}
	conn, err := sqlite3.Open(l.path())
	if err != nil {
		return false, fmt.Errorf("open the database: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := fts5.Register(conn); err != nil {
		return false, fmt.Errorf("register FTS5: %w", err)
	}
	for _, text := range texts {
		if err := conn.Exec(text); err != nil {
			return true, &setupError{text, err}
		}
	}
	return true, nil
}

func (l *sqlite) try(ctx context.Context, a Attempt, c corpus.Case) (o Outcome, err error) {
	flags := sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE
	if a.Role == "read_only_handle" {
		flags = sqlite3.OPEN_READONLY
	}
	conn, err := sqlite3.OpenFlags(l.path(), flags|sqlite3.OPEN_URI)
	if err != nil {
		return o, fmt.Errorf("open the database: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.HardHeapLimit(256 << 20)
	made, _ := setup(c)
	if len(made) > 0 { // which may be a full-text table
		if err := fts5.Register(conn); err != nil {
			return o, fmt.Errorf("register FTS5: %w", err)
		}
	}
	if err := setUpSession(a, "read_only_handle", c, conn.Exec); err != nil {
		return o, err
	}
	if a.ReadOnly {
		if err := conn.Exec("PRAGMA query_only = ON"); err != nil {
			return o, fmt.Errorf("make the session read-only: %w", err)
		}
	}
	before, err := liteSession(conn)
	if err != nil {
		return o, err
	}
	limited, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	conn.SetInterrupt(limited)
	begun := time.Now()
	o = liteRun(limited, conn, c.SQL)
	o.took = time.Since(begun)
	conn.SetInterrupt(ctx)
	if after, err := liteSession(conn); err == nil {
		o.Changed = before.Changed(after)
	}
	if !conn.GetAutocommit() {
		_ = conn.Exec("COMMIT") // Its effects are seen from outside.
	}
	return o, nil
}

// liteRun runs every statement of the text and steps to the end of each.
func liteRun(ctx context.Context, conn *sqlite3.Conn, sql string) (o Outcome) {
	o.Result = Executed
	for sql != "" {
		stmt, tail, err := conn.Prepare(sql)
		if err == nil && stmt != nil {
			for stmt.Step() {
				o.Rows = true
			}
			err = errors.Join(stmt.Err(), stmt.Close())
		}
		if err != nil {
			failed := liteFailure(ctx, err)
			failed.Rows = o.Rows
			return failed
		}
		if len(tail) >= len(sql) {
			break
		}
		sql = tail
	}
	return o
}

func liteFailure(ctx context.Context, err error) Outcome {
	if ctx.Err() != nil || errors.Is(err, sqlite3.INTERRUPT) {
		return Outcome{Result: TimedOut}
	}
	if code, ok := errors.AsType[sqlite3.ErrorCode](err); ok {
		words := strings.Split(err.Error(), ": ") // sqlite3: SQL logic error: no such table: orders
		return Outcome{Result: Failed, message: strings.Join(words[min(2, len(words)-1):], ": "), Code: fmt.Sprintf("sqlite %d", code), ReadOnly: code == sqlite3.READONLY}
	}
	return Outcome{Result: Failed, Code: "client"}
}

// liteSession reads the state of a handle in its own session.
func liteSession(conn *sqlite3.Conn) (State, error) {
	s := State{"transaction": fmt.Sprint(conn.GetAutocommit())}
	for _, pragma := range []string{
		"query_only", "foreign_keys", "writable_schema", "recursive_triggers", "read_uncommitted", "synchronous", "temp_store", "trusted_schema",
		"cell_size_check", "busy_timeout", "cache_size", "journal_mode", "locking_mode", "mmap_size", "secure_delete",
		"defer_foreign_keys", "ignore_check_constraints", "automatic_index", "reverse_unordered_selects", "legacy_alter_table", "threads",
	} {
		rows, err := liteRows(conn, "PRAGMA "+pragma)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", pragma, err)
		}
		s["session setting "+pragma] = digest(rows)
	}
	for name, sql := range map[string]string{
		"session databases":         "SELECT name FROM pragma_database_list WHERE name <> 'temp'",
		"session temporary objects": "SELECT type, name FROM temp.sqlite_schema",
	} {
		rows, err := liteRows(conn, sql)
		if err != nil {
			return nil, fmt.Errorf("read the state of a handle: %w", err)
		}
		s[name] = digest(rows)
	}
	return s, nil
}

func (l *sqlite) snapshot(context.Context) (_ State, err error) {
	s := State{}
	if err := listFiles(s, l.dir, func(path string) bool { return path == liteFile+"-journal" }); err != nil {
		return nil, err
	}
	conn, err := sqlite3.OpenFlags(l.path(), sqlite3.OPEN_READWRITE)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for _, pragma := range []string{"user_version", "application_id", "journal_mode", "encoding", "schema_version", "freelist_count", "page_count", "auto_vacuum"} {
		rows, err := liteRows(conn, "PRAGMA "+pragma)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", pragma, err)
		}
		s["file "+pragma] = digest(rows)
	}
	schema, err := liteRows(conn, "SELECT type, name, tbl_name, sql FROM sqlite_schema")
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	s["catalog sqlite_schema"] = digest(schema)
	content, err := os.ReadFile(l.path())
	if err != nil {
		return nil, fmt.Errorf("read the database: %w", err)
	}
	s[fileContent] = digest([][]string{{string(content)}})
	for _, object := range schema {
		if object[0] != "table" {
			continue
		}
		rows, err := liteRows(conn, `SELECT * FROM "`+strings.ReplaceAll(object[1], `"`, `""`)+`"`)
		if err != nil {
			s["rows "+object[1]] = "unreadable"
			continue
		}
		s["rows "+object[1]] = digest(rows)
	}
	return s, nil
}

// reset empties the folder and writes the file again.
func (l *sqlite) reset(context.Context) error {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return fmt.Errorf("read the folder: %w", err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(l.dir, e.Name())); err != nil {
			return fmt.Errorf("empty the folder: %w", err)
		}
	}
	return os.WriteFile(l.path(), l.content, 0o600)
}

// log is empty: if SQLite crashes, this program does.
func (l *sqlite) log() string { return "" }

func (l *sqlite) close() error { return os.RemoveAll(l.dir) }

// liteRows runs constant text of this package.
func liteRows(conn *sqlite3.Conn, sql string) (_ [][]string, err error) {
	stmt, _, err := conn.Prepare(sql)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	var rows [][]string
	for stmt.Step() {
		row := make([]string, stmt.ColumnCount())
		for i := range row {
			row[i] = stmt.ColumnText(i)
		}
		rows = append(rows, row)
	}
	return rows, stmt.Err()
}
