package sqlitedb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/sqlitedb/engine"
	"github.com/ktxhq/ktx/sqlguard"
)

// The statements of the session. They contain no data, and no statement of a
// caller is run through them.
const (
	// The comment makes the statement fail if comments are switched off.
	textBegin     = "BEGIN /* comments are white space */"
	textRollback  = "ROLLBACK"
	textQueryOnly = "PRAGMA query_only = 1"
	textReadBack  = "PRAGMA query_only"
	// The pages that a connection keeps, in KiB. By default it keeps 2 MiB, and an
	// aggregate of a larger table reads and copies every page anew.
	textCache     = "PRAGMA cache_size = -16384"
	textHead      = "SELECT count(*) FROM sqlite_schema"
	textVersion   = "SELECT sqlite_version()"
	textJournal   = "PRAGMA journal_mode"
	textWrite     = "CREATE TABLE ktx_write_probe (x)"
	textAttach    = "ATTACH 'file:ktx_probe?mode=memory' AS ktx_probe"
	textExtension = "SELECT load_extension('ktx_probe')"
	textWritable  = "PRAGMA query_only = 0"
	textUnlisted  = "SELECT fts5(NULL)" // even if it ran, it would return nothing
	// The engine cannot list the columns of views and virtual tables without
	// running their definitions.
	textInventory = "SELECT json_array(m.name, json(CASE WHEN m.type = 'table' AND m.rootpage > 0 THEN (SELECT json_group_array(c.name) FROM pragma_table_xinfo(m.name) AS c) END)) FROM sqlite_schema AS m WHERE m.type IN ('table', 'view')"
	textFunctions = "SELECT DISTINCT name FROM pragma_function_list"
	textOldSearch = "SELECT name FROM sqlite_schema WHERE type = 'table' AND (sql LIKE 'CREATE VIRTUAL TABLE%USING fts3%' OR sql LIKE 'CREATE VIRTUAL TABLE%USING fts4%')"
)

// limits are the limits of a connection (https://sqlite.org/limits.html). All
// others keep SQLite's default.
var limits = []struct {
	category sqlite3.LimitCategory
	value    int
}{
	// The longest value that can be read or made. It bounds the input of each
	// function call, and is also the longest cell that a query can read at all.
	{sqlite3.LIMIT_LENGTH, maxValueBytes},
	{sqlite3.LIMIT_SQL_LENGTH, 1 << 20},
	{sqlite3.LIMIT_EXPR_DEPTH, 1000},
	{sqlite3.LIMIT_FUNCTION_ARG, 1000},
	{sqlite3.LIMIT_LIKE_PATTERN_LENGTH, 10_000},
	{sqlite3.LIMIT_TRIGGER_DEPTH, 1},
	{sqlite3.LIMIT_ATTACHED, 0},
}

const maxValueBytes = 64 << 20

// held are the settings that a dialect may assume about a session, by the
// dialect's names. Each is pinned below and read back.
var held = map[string]string{
	"attached_databases": "0",
	"dqs_dml":            "on",
	"enable_comments":    "on", // otherwise textBegin does not compile
	"load_extension":     "off",
	"trusted_schema":     "off",
}

// switches are the settings of a connection
// (https://sqlite.org/c3ref/c_dbconfig_defensive.html).
var switches = []struct {
	name  string
	op    sqlite3.DBConfig
	value bool
}{
	{"defensive", sqlite3.DBCONFIG_DEFENSIVE, true},
	{"trusted_schema", sqlite3.DBCONFIG_TRUSTED_SCHEMA, false},
	{"writable_schema", sqlite3.DBCONFIG_WRITABLE_SCHEMA, false},
	{"load_extension", sqlite3.DBCONFIG_ENABLE_LOAD_EXTENSION, false},
	{"fts3_tokenizer", sqlite3.DBCONFIG_ENABLE_FTS3_TOKENIZER, false},
	{"triggers", sqlite3.DBCONFIG_ENABLE_TRIGGER, false},
	{"views", sqlite3.DBCONFIG_ENABLE_VIEW, true},
	// "x" is a string if no column has that name. The guard judges such a
	// statement in both readings.
	{"dqs_dml", sqlite3.DBCONFIG_DQS_DML, true},
	{"dqs_ddl", sqlite3.DBCONFIG_DQS_DDL, true},
	{"no_checkpoint_on_close", sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, true},
}

// session is one read-only connection. One goroutine at a time uses it.
type session struct {
	conn     *engine.Conn
	temp     *engine.TempFiles
	file     os.FileInfo // the file that the connection has open
	held     *os.File    // an open handle, so that no other file gets the same number
	begin    *engine.Stmt
	rollback *engine.Stmt
	readBack *engine.Stmt
	// access is nil when the connection has no rules on tables and columns; then
	// hold and cookie are nil too.
	access  *access
	hold    *engine.Stmt
	cookie  *engine.Stmt
	running bool // a statement of a caller has been compiled and runs
	// own is set while the session compiles or runs its own constant
	// statements. The authorizer permits those, and their recompilation.
	own         bool
	lockTimeout time.Duration
}

// newSession returns a session that is not open yet, and applies the rules.
func newSession(rules sqlguard.ReadRules) *session {
	s := &session{}
	if rules.Restricts() {
		s.access = &access{rules: rules}
	}
	return s
}

// open opens a read-only connection, sets every pin, reads the pins back, and
// reads the file's header. It waits for a lock for at most lockTimeout, and
// ends when ctx does. After an error there is nothing to close.
func (s *session) open(ctx context.Context, path string, lockTimeout time.Duration) (err error) {
	defer func() {
		if r := recover(); r != nil { // out of memory, or out of address space
			err = broken(r)
		}
		if err != nil {
			s.close()
		}
	}()
	err = s.connect(ctx, path, lockTimeout)
	if err == nil {
		defer s.conn.SetInterrupt(context.Background())
		err = s.setUp()
	}
	if err != nil && ctx.Err() != nil && interrupted(err) {
		return ended(ctx.Err())
	}
	return err
}

// reopenings bounds how often connect opens a file that is replaced meanwhile.
const reopenings = 20

// connect opens the file at path and records which file it is. The engine does
// not say which file it opened. So connect compares the file at path before and
// after opening. It keeps the first file open, so that no other file can get
// the same number.
func (s *session) connect(ctx context.Context, path string, lockTimeout time.Duration) error {
	for range reopenings {
		file, failed := fileAt(path) // this also refuses a pipe, which would block
		if failed != nil {
			return failed
		}
		s.file = file
		if s.held = engine.Hold(path); s.held != nil { // if this fails, the engine reports why
			if info, err := s.held.Stat(); err == nil {
				s.file = info
			}
		}
		s.temp = engine.NewTempFiles()
		var err error
		if s.conn, err = engine.Open(ctx, path, s.temp, lockTimeout); err != nil {
			return databaseError(err, "")
		}
		s.lockTimeout = lockTimeout
		now, failed := fileAt(path)
		if failed != nil {
			return failed
		}
		if os.SameFile(s.file, now) {
			return nil
		}
		s.close()
		s.conn, s.held, s.temp = nil, nil, nil
	}
	return execution.NewError(sqlguard.CodeConnectionLost, "the database file is replaced again and again", nil)
}

// waitForLocks sets how long a statement waits for a lock.
func (s *session) waitForLocks(timeout time.Duration) error {
	if s.lockTimeout == timeout {
		return nil
	}
	s.lockTimeout = timeout
	return s.conn.BusyTimeout(timeout)
}

// setUp turns a new connection into a session.
func (s *session) setUp() error {
	if err := s.pin(); err != nil {
		return databaseError(err, "")
	}
	if err := s.checkPins(); err != nil {
		return err
	}
	if err := s.readHead(); err != nil {
		return err
	}
	_, err := s.askOwn(textCache)
	return err
}

// pin sets every pin. The authorizer comes last, because it denies all further
// settings.
func (s *session) pin() error {
	for _, sw := range switches {
		if _, err := s.conn.Config(sw.op, sw.value); err != nil {
			return fmt.Errorf("set %s: %w", sw.name, err)
		}
	}
	if err := s.conn.Exec(textQueryOnly); err != nil {
		return fmt.Errorf("set query_only: %w", err)
	}
	for _, l := range limits {
		s.conn.Limit(l.category, l.value)
	}
	if err := s.conn.SetAuthorizer(s.authorize); err != nil {
		return fmt.Errorf("set the authorizer: %w", err)
	}
	s.own = true
	defer func() { s.own = false }()
	type statement struct {
		stmt **engine.Stmt
		text string
	}
	owns := []statement{{&s.begin, textBegin}, {&s.rollback, textRollback}, {&s.readBack, textReadBack}}
	if s.access != nil {
		owns = append(owns, statement{&s.hold, textHold}, statement{&s.cookie, textCookie})
	}
	for _, own := range owns {
		var err error
		if *own.stmt, _, err = s.conn.PrepareFlags(own.text, sqlite3.PREPARE_PERSISTENT); err != nil {
			return err
		}
	}
	return nil
}

// checkPins reads back everything that keeps the session read-only. It costs a
// few microseconds and runs before every statement.
func (s *session) checkPins() error {
	mismatch := func(what string) error {
		return execution.NewError(sqlguard.CodeSessionModeMismatch, "the SQLite session is not as it was set up: "+what, nil)
	}
	if readOnly, _ := s.conn.ReadOnly("main"); !readOnly {
		return mismatch("the file is not open read-only")
	}
	for _, sw := range switches {
		if is, err := s.conn.Config(sw.op); err != nil || is != sw.value {
			return mismatch(sw.name)
		}
	}
	for _, l := range limits {
		if s.conn.Limit(l.category, -1) != l.value {
			return mismatch(fmt.Sprintf("limit %d", l.category))
		}
	}
	queryOnly := false
	err := s.runOwn(s.readBack, func(stmt *engine.Stmt) { queryOnly = stmt.ColumnInt64(0) == 1 })
	switch {
	case err != nil:
		return err
	case !queryOnly:
		return mismatch("query_only")
	case !s.conn.GetAutocommit():
		return mismatch("a transaction is open")
	case s.conn.TotalChanges() != 0:
		return mismatch("rows were changed")
	}
	return nil
}

// authorize is called by SQLite for every action of a statement that it
// compiles.
func (s *session) authorize(action sqlite3.AuthorizerActionCode, third, fourth, _, inner string) sqlite3.AuthorizerReturnCode {
	if s.own {
		if action == sqlite3.AUTH_READ && s.access != nil && s.access.traced != nil {
			s.access.traced(third, fourth)
		}
		return sqlite3.AUTH_OK
	}
	switch action { //nolint:exhaustive // every other action is denied, including actions of later versions
	case sqlite3.AUTH_SELECT, sqlite3.AUTH_RECURSIVE:
		return sqlite3.AUTH_OK
	case sqlite3.AUTH_READ:
		if s.access == nil || s.access.read(third, fourth, inner, s.running) {
			return sqlite3.AUTH_OK
		}
	case sqlite3.AUTH_FUNCTION:
		name := strings.ToLower(fourth)
		if functions[name] && (s.access == nil || s.access.call(name)) {
			return sqlite3.AUTH_OK
		}
	case sqlite3.AUTH_PRAGMA:
		if takesName, listed := pragmas[strings.ToLower(third)]; listed && (fourth == "" || takesName) {
			return sqlite3.AUTH_OK
		}
	}
	return sqlite3.AUTH_DENY
}

// pragmas are the PRAGMAs that read, and whether each may have a name as its
// argument. A value as argument would set the others. FTS5 runs data_version.
var pragmas = map[string]bool{
	"table_info":       true,
	"table_xinfo":      true,
	"table_list":       true,
	"index_list":       true,
	"index_info":       true,
	"index_xinfo":      true,
	"foreign_key_list": true,
	"quick_check":      true,
	"integrity_check":  true,
	"function_list":    false,
	"collation_list":   false,
	"compile_options":  false,
	"user_version":     false,
	"application_id":   false,
	"schema_version":   false,
	"encoding":         false,
	"page_count":       false,
	"page_size":        false,
	"freelist_count":   false,
	"data_version":     false,
}

// runOwn runs one of the session's own statements to its end.
func (s *session) runOwn(stmt *engine.Stmt, row func(*engine.Stmt)) error {
	s.own = true
	defer func() { s.own = false }()
	for stmt.Step() {
		if row != nil {
			row(stmt)
		}
	}
	err := stmt.Err()
	if reset := stmt.Reset(); err == nil {
		err = reset
	}
	return databaseError(err, "")
}

// askOwn compiles and runs one of the session's own statements.
func (s *session) askOwn(text string) ([]string, error) {
	s.own = true
	defer func() { s.own = false }()
	stmt, _, err := s.conn.Prepare(text)
	if err != nil {
		return nil, databaseError(err, "")
	}
	defer func() { _ = stmt.Close() }() // runOwn has returned the error
	var rows []string
	err = s.runOwn(stmt, func(stmt *engine.Stmt) {
		if stmt.ColumnCount() > 0 {
			rows = append(rows, strings.ToValidUTF8(stmt.ColumnText(0), "?"))
		}
	})
	return rows, err
}

// readHead reads the schema. It fails if the file is not a database.
func (s *session) readHead() error {
	_, err := s.askOwn(textHead)
	return err
}

// tries are statements that must be refused. Each writes, or would make writing
// possible.
var tries = []struct {
	what, text string
	alone      bool // run without the authorizer and query_only, so that only the read-only file is left as a control
}{
	{"a write", textWrite, false},
	{"ATTACH", textAttach, false},
	{"load_extension", textExtension, false},
	{"a function that is not listed", textUnlisted, false},
	{"PRAGMA query_only = 0", textWritable, false},
	{"a write without the authorizer and without query_only", textWrite, true},
}

// try runs each of tries and rolls it back. It returns those that the engine
// did not refuse. If there are any, the session must not be used again.
func (s *session) try() (passed []string, err error) {
	for _, t := range tries {
		refused, err := s.tryOne(t.text, t.alone)
		if err != nil {
			return nil, err
		}
		if !refused {
			passed = append(passed, t.what)
		}
	}
	return passed, nil
}

func (s *session) tryOne(text string, alone bool) (refused bool, err error) {
	if alone {
		if _, err := s.askOwn(textWritable); err != nil {
			return false, err
		}
	}
	if err := s.runOwn(s.begin, nil); err != nil {
		return false, err
	}
	if alone {
		_, err = s.askOwn(text)
	} else {
		err = s.ask(text)
	}
	refused = err != nil
	if err := s.runOwn(s.rollback, nil); err != nil {
		return false, err
	}
	if alone {
		if _, err := s.askOwn(textQueryOnly); err != nil {
			return false, err
		}
	}
	return refused, nil
}

// ask compiles and runs one of the session's own statements as if a caller had
// sent it, so that the authorizer judges it.
func (s *session) ask(text string) error {
	stmt, _, err := s.conn.Prepare(text)
	if err != nil {
		return err
	}
	for stmt.Step() {
		continue // run it to its end
	}
	err = stmt.Err()
	return errors.Join(err, stmt.Close())
}

// compileView compiles a statement that reads a view of the schema, so that the
// authorizer is asked for everything that the view reads. The statement does not run.
func (s *session) compileView(name string) (compiled bool, err error) {
	s.own = true
	defer func() { s.own = false }()
	stmt, _, err := s.conn.Prepare("SELECT * FROM main." + sqlite3.QuoteIdentifier(name))
	if err != nil {
		return false, nil // it names what does not exist
	}
	if err := stmt.Close(); err != nil {
		return false, databaseError(err, "")
	}
	return true, nil
}

// close closes the connection. It may be called after a fault inside the
// engine, when closing can fail in any way. Nothing more can be done then.
func (s *session) close() {
	defer func() { _ = recover() }()
	if s.held != nil {
		defer func() { _ = s.held.Close() }()
	}
	if s.temp != nil {
		defer s.temp.Close()
	}
	if s.conn == nil {
		return
	}
	s.conn.SetInterrupt(context.Background())
	_ = engine.Close(s.conn)
}
