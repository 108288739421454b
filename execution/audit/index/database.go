package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/array"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"github.com/ktxhq/ktx/execution/filelock"
)

// The identity of a file, in its header
// (https://sqlite.org/fileformat2.html#application_id).
const (
	applicationID = 0x6b747861 // "ktxa"
	version       = 5
)

// schema makes an empty index. Names of principals, tables and so on are stored
// once, in name. A statement whose decision is not in the log is in the row of its
// outcome, and its segment is 0.
const schema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE name (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, text TEXT NOT NULL, UNIQUE (kind, text));
CREATE TABLE shape (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, fingerprint INTEGER NOT NULL, kind INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX shape_fingerprint ON shape (fingerprint);
CREATE TABLE relation (name INTEGER NOT NULL, shape INTEGER NOT NULL, PRIMARY KEY (name, shape)) WITHOUT ROWID;
CREATE TABLE function (name INTEGER NOT NULL, shape INTEGER NOT NULL, PRIMARY KEY (name, shape)) WITHOUT ROWID;
CREATE TABLE codeset (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
CREATE TABLE code (name INTEGER NOT NULL, codeset INTEGER NOT NULL, PRIMARY KEY (name, codeset)) WITHOUT ROWID;
CREATE VIRTUAL TABLE search USING fts5 (text, content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1');
CREATE TABLE statement (
  n INTEGER PRIMARY KEY,
  time INTEGER NOT NULL, status INTEGER NOT NULL, principal INTEGER NOT NULL, client INTEGER NOT NULL, connection INTEGER NOT NULL,
  shape INTEGER NOT NULL, codes INTEGER NOT NULL, rows INTEGER, ms REAL, latency INTEGER NOT NULL,
  session INTEGER NOT NULL, address INTEGER NOT NULL, reason INTEGER NOT NULL, verdict INTEGER NOT NULL, query INTEGER NOT NULL, run INTEGER NOT NULL, open INTEGER NOT NULL,
  seq INTEGER NOT NULL, segment INTEGER NOT NULL, place INTEGER NOT NULL, hash INTEGER NOT NULL, bytes INTEGER NOT NULL,
  "end" INTEGER NOT NULL, end_type INTEGER NOT NULL, end_time INTEGER NOT NULL, end_seq INTEGER NOT NULL,
  end_segment INTEGER NOT NULL, end_place INTEGER NOT NULL, end_hash INTEGER NOT NULL, end_bytes INTEGER NOT NULL
);
CREATE INDEX statement_query ON statement (query);
CREATE INDEX statement_session ON statement (session);
CREATE INDEX statement_principal ON statement (principal);
CREATE INDEX statement_shape ON statement (shape);
CREATE INDEX statement_codes ON statement (codes) WHERE codes <> 0;
CREATE INDEX statement_open ON statement (run) WHERE open <> 0;
CREATE TABLE event (
  n INTEGER PRIMARY KEY, type INTEGER NOT NULL, time INTEGER NOT NULL, bytes INTEGER NOT NULL, lost INTEGER NOT NULL
);
CREATE TABLE pack (block INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE span (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, earliest INTEGER NOT NULL, latest INTEGER NOT NULL);
`

// busyTimeout is how long a connection waits for another process, which holds the
// lock for the time of one batch.
const busyTimeout = 30 * time.Second

// conn is one connection. One goroutine at a time uses it.
type conn struct {
	db    *sqlite3.Conn
	stmts map[string]*sqlite3.Stmt
	path  string
	file  os.FileInfo
	ended bool // it was closed
}

// maxStatements bounds the compiled statements of a connection.
const maxStatements = 200

// The kilobytes of the file that a connection keeps in memory. The one that writes changes
// pages all over the indexes of a table.
const (
	readerCache = 2048
	writerCache = 16384
)

// connect opens the file, and makes it when it does not exist.
func connect(path string, cache int) (c *conn, err error) {
	err = locked(path, func(mark *os.File) error {
		if c, err = open(path, cache, mark); err != nil {
			return err
		}
		if _, err = mark.WriteAt([]byte{inUse}, 0); err != nil {
			err = errors.Join(err, c.db.Close())
			c = nil
		}
		return err
	})
	return c, err
}

// The first byte of the file beside the index whose lock everybody takes. When the last
// connection ends, SQLite moves the write-ahead log into the database and deletes it.
// Otherwise the database is only a part of the index, and without the other one it can
// hold pages of different times, each with a right checksum.
const (
	inUse = 'o'
	ended = 'c'
)

// complete returns errDamaged when the database needs its write-ahead log and has none.
func complete(path string, mark *os.File) error {
	state := make([]byte, 1)
	if _, err := mark.ReadAt(state, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if state[0] == ended {
		return nil
	}
	_, err := os.Lstat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return errDamaged
	}
	return err
}

func open(path string, cache int, mark *os.File) (*conn, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the caller names the index
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err == nil {
		err = known(f)
	}
	if err == nil && info.Size() > 0 {
		err = complete(path, mark)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	register()
	name, err := address(path)
	if err != nil {
		return nil, err
	}
	db, err := sqlite3.OpenFlags(name, sqlite3.OPEN_READWRITE|sqlite3.OPEN_NOFOLLOW|sqlite3.OPEN_URI)
	if err != nil {
		return nil, err
	}
	c := &conn{db: db, stmts: map[string]*sqlite3.Stmt{}, path: path, file: info}
	_, err = db.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES, sumBytes) // for a file that is empty
	err = errors.Join(err, db.BusyTimeout(busyTimeout), fts5.Register(db), array.Register(db))
	if err == nil {
		err = db.Exec(`PRAGMA synchronous = normal; PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 8192; PRAGMA temp_store = memory; PRAGMA trusted_schema = off; PRAGMA cache_size = -` + strconv.Itoa(cache) +
			// SQLite makes the write-ahead log of a new file when it first reads the file. Until
			// then another process would take it for one that has lost its log.
			`; SELECT count(*) FROM sqlite_schema`)
	}
	if err != nil {
		return nil, errors.Join(err, c.db.Close())
	}
	return c, nil
}

// known looks at the header of a file. SQLite would call the pages of an index of an
// earlier version, which have no checksums, damaged.
func known(f io.ReaderAt) error {
	header := make([]byte, 100)
	n, err := f.ReadAt(header, 0)
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return nil
	case n < len(header) || !bytes.HasPrefix(header, []byte("SQLite format 3\x00")):
		return errForeign
	}
	// The header of a file that a process left behind can still be empty.
	id, v := binary.BigEndian.Uint32(header[68:]), binary.BigEndian.Uint32(header[60:])
	switch {
	case id == applicationID && v < version:
		return errVersion
	case header[20] == sumBytes:
		return nil
	case id == 0 && v == 0:
		return errVersion
	}
	return errForeign
}

// close closes the connection. The last one deletes the write-ahead log, by its name. When
// another file has taken the place of this one, that log belongs to the other, and stays.
func (c *conn) close() error {
	if c.ended {
		return nil
	}
	c.ended = true
	c.forget()
	return locked(c.path, func(mark *os.File) error {
		if c.replaced(c.path) {
			_, err := c.db.FileControl("main", sqlite3.FCNTL_PERSIST_WAL, true)
			return errors.Join(err, c.db.Close())
		}
		err := c.db.Close()
		if _, left := os.Lstat(c.path + "-wal"); err == nil && errors.Is(left, fs.ErrNotExist) {
			_, err = mark.WriteAt([]byte{ended}, 0)
		}
		return err
	})
}

// forget closes the compiled statements.
func (c *conn) forget() {
	for _, s := range c.stmts {
		_ = s.Close() // its error is that of its last run
	}
	clear(c.stmts)
}

// replaced reports whether another file has taken the place of the one that is open.
func (c *conn) replaced(path string) bool {
	info, err := os.Lstat(path)
	return err != nil || !os.SameFile(info, c.file)
}

// each runs text with args and calls row for every row of its result. It stops when
// row returns false.
func (c *conn) each(ctx context.Context, text string, args []any, row func(*sqlite3.Stmt) bool) (err error) {
	s := c.stmts[text]
	if s == nil {
		if len(c.stmts) >= maxStatements {
			c.forget()
		}
		if s, _, err = c.db.Prepare(text); err != nil {
			return err
		}
		c.stmts[text] = s
	}
	for i, arg := range args {
		if err := bind(s, i+1, arg); err != nil {
			return err
		}
	}
	defer c.db.SetInterrupt(c.db.SetInterrupt(ctx))
	defer func() { err = errors.Join(err, s.Reset()) }()
	for s.Step() {
		if !row(s) {
			return nil
		}
	}
	if err := s.Err(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return nil
}

func bind(s *sqlite3.Stmt, i int, arg any) error {
	switch v := arg.(type) {
	case nil:
		return s.BindNull(i)
	case int:
		return s.BindInt(i, v)
	case int64:
		return s.BindInt64(i, v)
	case float64:
		return s.BindFloat(i, v)
	case string:
		return s.BindText(i, v)
	case []byte:
		return s.BindBlob(i, v)
	case []int64:
		return s.BindPointer(i, v)
	default:
		return fmt.Errorf("no binding for %T", arg)
	}
}

// run is each for a statement without a result.
func (c *conn) run(ctx context.Context, text string, args ...any) error {
	return c.each(ctx, text, args, func(*sqlite3.Stmt) bool { return true })
}

// number returns the first column of the first row, or 0.
func (c *conn) number(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = c.each(ctx, text, args, func(s *sqlite3.Stmt) bool { n = s.ColumnInt64(0); return false })
	return n, err
}

// value returns a value of the table meta, or nothing.
func (c *conn) value(ctx context.Context, key string) (v []byte, err error) {
	err = c.each(ctx, `SELECT value FROM meta WHERE key = ?`, []any{key}, func(s *sqlite3.Stmt) bool {
		v = s.ColumnBlob(0, nil)
		return false
	})
	return v, err
}

func (c *conn) setValue(ctx context.Context, key string, value []byte) error {
	return c.run(ctx, `INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`, key, string(value))
}

// transaction runs do between BEGIN IMMEDIATE and COMMIT, or ROLLBACK when do returns
// an error. A signal or a deadline does not interrupt the two.
func (c *conn) transaction(ctx context.Context, do func() error) error {
	always := context.WithoutCancel(ctx)
	if err := c.run(always, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	err := do()
	if err == nil {
		if err = c.run(always, `COMMIT`); err == nil {
			return nil
		}
	}
	if !c.db.GetAutocommit() {
		err = errors.Join(err, c.run(always, `ROLLBACK`))
	}
	return err
}

// prepare makes an empty index in a file that is empty.
func (c *conn) prepare(ctx context.Context) error {
	var id, v, tables int64
	// One look at all three: another process may make the index meanwhile.
	err := c.each(ctx, `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`, nil, func(s *sqlite3.Stmt) bool {
		id, v, tables = s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2)
		return false
	})
	switch {
	case err != nil:
		return err
	case id == applicationID && v == version:
		return nil
	case tables > 0 && id == applicationID:
		return errVersion
	case tables > 0:
		return errForeign
	}
	return c.transaction(ctx, func() error { return c.create(ctx) })
}

var (
	// errForeign says that the file is not an index.
	errForeign = errors.New("the file is not an audit index")
	// errDamaged says that a part of it is not as it was written.
	errDamaged = errors.New("a part of the audit index is not as it was written")
	// errVersion says that another version of ktx made it.
	errVersion = errors.New("the audit index has another version")
)

func (c *conn) create(ctx context.Context) error {
	if n, err := c.number(ctx, `SELECT count(*) FROM sqlite_schema`); err != nil || n > 0 {
		return err // another process was faster
	}
	return c.db.Exec(schema + fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d`, applicationID, version))
}

// clear empties the index. The caller is in a transaction.
func (c *conn) clear(ctx context.Context) error {
	var tables []string
	if err := c.each(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search\_%' ESCAPE '\'`, nil, func(s *sqlite3.Stmt) bool {
		tables = append(tables, s.ColumnText(0))
		return true
	}); err != nil {
		return err
	}
	c.forget()
	for _, table := range tables {
		if err := c.db.Exec(`DROP TABLE ` + sqlite3.QuoteIdentifier(table)); err != nil {
			return err
		}
	}
	return c.create(ctx)
}

// unusable reports whether an error says that the file is damaged or not an index, so
// that it has to be made anew.
func unusable(err error) bool {
	for _, of := range []error{
		errDamaged, errForeign, errVersion, sqlite3.CORRUPT, sqlite3.NOTADB, sqlite3.ERROR, sqlite3.MISMATCH, sqlite3.CONSTRAINT,
		sqlite3.IOERR_DATA, sqlite3.IOERR_READ, sqlite3.IOERR_SHORT_READ,
		sqlite3.IOERR_DELETE_NOENT, // another process has made the index anew, and deleted the files of this one
	} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// locked runs do while no other process opens or deletes the files of an index. One that
// opens them in the middle of a deletion would take some of the old ones for its own.
func locked(path string, do func(mark *os.File) error) error {
	f, err := os.OpenFile(path+"-lock", os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the caller names the index
	if err != nil {
		return err
	}
	if err = filelock.Lock(f); err == nil {
		err = do(f)
	}
	return errors.Join(err, f.Close())
}

// remove deletes a file that is of no use, and those that belong to it, unless another one
// has taken its place.
func remove(path string, useless os.FileInfo) error {
	return locked(path, func(*os.File) error {
		if info, err := os.Lstat(path); err == nil && !os.SameFile(info, useless) {
			return nil
		}
		for _, name := range []string{path, path + "-wal", path + "-shm", path + "-journal"} {
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
}
