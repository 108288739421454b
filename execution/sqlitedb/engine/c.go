//go:build csqlite && cgo && (linux || darwin)

package engine

/*
#cgo LDFLAGS: -lm
#cgo darwin LDFLAGS: -Wl,-undefined,dynamic_lookup
#include <stdlib.h>
#include "engine.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime/cgo"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	_ "github.com/mattn/go-sqlite3" // has the C library
	"github.com/ncruces/go-sqlite3"
)

// Library says which of the two this is.
const Library = "C"

// memory is what an open connection adds to the memory that all may use.
const memory = 256 << 20

// options are those with which the library must have been compiled.
var options = []string{"ENABLE_FTS5", "ENABLE_MATH_FUNCTIONS", "LIKE_DOESNT_MATCH_BLOBS", "OMIT_LOAD_EXTENSION", "SOUNDEX", "STRICT_SUBTYPE", "THREADSAFE"}

// Lacking are the functions that only the other engine has.
var Lacking = []string{
	"base64", "decimal", "decimal_add", "decimal_cmp", "decimal_exp", "decimal_mul", "decimal_pow2", "decimal_sub", "decimal_sum",
	"ieee754", "ieee754_exponent", "ieee754_from_blob", "ieee754_from_int", "ieee754_inc", "ieee754_mantissa", "ieee754_to_blob", "ieee754_to_int",
}

// heap bounds the memory of the library by the number of open connections.
var heap struct {
	sync.Mutex
	connections int64
}

func addConnections(n int64) {
	heap.Lock()
	defer heap.Unlock()
	heap.connections += n
	C.sqlite3_hard_heap_limit64(C.int64_t(max(heap.connections, 1) * memory))
}

// Conn is a connection that only reads. One goroutine at a time uses it.
type Conn struct {
	c          *C.ktx_conn
	db         *C.sqlite3
	handle     cgo.Handle
	authorizer authorizer
	stmts      map[*Stmt]struct{}
	pattern    pattern

	interrupt context.Context //nolint:containedctx // its end interrupts what runs
	unwatch   func() bool
	mu        sync.Mutex
	watched   int // counts the contexts, so that the end of an earlier one does not end a later statement
}

type authorizer func(action sqlite3.AuthorizerActionCode, third, fourth, schema, inner string) sqlite3.AuthorizerReturnCode

// TempFiles are the temporary files of one connection. Together they may not grow
// beyond a limit.
type TempFiles struct {
	name string
	conn *Conn
}

// tempNames numbers the file systems of the process.
var tempNames atomic.Int64

// NewTempFiles permits no temporary files until Begin is called. The caller closes it.
func NewTempFiles() *TempFiles {
	return &TempFiles{name: "ktx-" + strconv.FormatInt(tempNames.Add(1), 10)}
}

// Begin sets the limit of the next statement, in bytes.
func (t *TempFiles) Begin(limit int64) { C.ktx_temp_begin(t.conn.c, C.int64_t(limit)) }

// Reached reports whether the statement needed more than its limit.
func (t *TempFiles) Reached() bool { return C.ktx_temp_full(t.conn.c) != 0 }

// Close does nothing: closing the connection removes its files.
func (t *TempFiles) Close() {}

// Open opens the file at an absolute path, only to read it. The temporary files of the
// connection are those of files. Each statement waits for a lock for at most lockTimeout;
// until [Conn.SetInterrupt], it ends when ctx does.
func Open(ctx context.Context, path string, files *TempFiles, lockTimeout time.Duration) (*Conn, error) {
	for _, option := range options {
		name := C.CString(option)
		used := C.sqlite3_compileoption_used(name)
		C.free(unsafe.Pointer(name))
		if used == 0 {
			return nil, fmt.Errorf("this build's SQLite was compiled without SQLITE_%s; build it with make build-csqlite", option)
		}
	}
	c := &Conn{stmts: make(map[*Stmt]struct{}), interrupt: context.Background()}
	c.handle = cgo.NewHandle(c)
	path = filepath.ToSlash(path)
	uri := C.CString((&url.URL{Scheme: "file", Path: path}).String())
	defer C.free(unsafe.Pointer(uri))
	name := C.CString(files.name)
	defer C.free(unsafe.Pointer(name))
	addConnections(1)
	rc := C.ktx_open(uri, name, C.uintptr_t(c.handle), &c.c)
	if c.c == nil {
		addConnections(-1)
		c.handle.Delete()
		panic(errMemory)
	}
	c.db = C.ktx_db(c.c)
	files.conn = c
	if err := c.error(rc, ""); err != nil {
		_ = Close(c) // what failed is known
		return nil, err
	}
	c.SetInterrupt(ctx)
	if err := c.BusyTimeout(lockTimeout); err != nil {
		_ = Close(c) // it has only been opened
		return nil, err
	}
	return c, nil
}

// Hold returns nil: the connection itself keeps its file open. The locks of the C library
// belong to the process, and closing any other handle of the file would give them up
// (https://sqlite.org/howtocorrupt.html, section 2.2).
func Hold(string) *os.File { return nil }

// Writable reports whether the user of this process may write to a file. It does not
// open the file, as with Hold.
func Writable(path string) bool {
	const write = 2
	return syscall.Access(path, write) == nil
}

// Close ends the statements of a connection and closes it.
func Close(c *Conn) error {
	c.SetInterrupt(context.Background())
	for stmt := range c.stmts {
		_ = stmt.Close() // the error is that of its last step
	}
	rc := C.ktx_close(c.c)
	c.c, c.db = nil, nil
	c.handle.Delete()
	addConnections(-1)
	if rc != 0 {
		return sqlite3.ExtendedErrorCode(rc)
	}
	return nil
}

// SetInterrupt makes statements end when ctx does.
func (c *Conn) SetInterrupt(ctx context.Context) (old context.Context) {
	old = c.interrupt
	if c.unwatch != nil {
		c.unwatch()
		c.unwatch = nil
	}
	c.mu.Lock()
	c.watched++
	number := c.watched
	C.ktx_stop(c.c, 0)
	c.mu.Unlock()
	c.interrupt = ctx
	if ctx.Done() == nil {
		return old
	}
	c.unwatch = context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.watched == number {
			C.ktx_stop(c.c, 1)
		}
	})
	return old
}

// BusyTimeout sets how long a statement waits for a lock.
func (c *Conn) BusyTimeout(timeout time.Duration) error {
	C.ktx_busy_timeout(c.c, C.int64_t((timeout+time.Millisecond-1)/time.Millisecond))
	return nil
}

// Config sets a switch of the connection, or returns its value.
func (c *Conn) Config(op sqlite3.DBConfig, arg ...bool) (bool, error) {
	value := C.int(-1)
	if len(arg) > 0 {
		value = 0
		if arg[0] {
			value = 1
		}
	}
	var is C.int
	rc := C.ktx_config(c.c, C.int(op), value, &is)
	return is != 0, c.error(rc, "")
}

// Limit sets a limit of the connection if value is not negative. It returns the value before.
func (c *Conn) Limit(category sqlite3.LimitCategory, value int) int {
	return int(C.sqlite3_limit(c.db, C.int(category), C.int(value)))
}

// SetAuthorizer sets the function that permits what statements do. It is called while
// they are compiled. With nil everything is permitted.
func (c *Conn) SetAuthorizer(f func(action sqlite3.AuthorizerActionCode, third, fourth, schema, inner string) sqlite3.AuthorizerReturnCode) error {
	c.authorizer = f
	on := C.int(1)
	if f == nil {
		on = 0
	}
	return c.error(C.ktx_authorize(c.c, on), "")
}

//export ktxSQLiteAuthorize
func ktxSQLiteAuthorize(handle C.uintptr_t, action C.int, third, fourth, schema, inner *C.char) C.int {
	c, ok := cgo.Handle(handle).Value().(*Conn)
	if !ok || c.authorizer == nil {
		return C.int(sqlite3.AUTH_DENY)
	}
	return C.int(c.authorizer(sqlite3.AuthorizerActionCode(action), C.GoString(third), C.GoString(fourth), C.GoString(schema), C.GoString(inner)))
}

// pattern is the regular expression that was compiled last.
type pattern struct {
	text     string
	fold     bool
	compiled *regexp.Regexp
}

//export ktxSQLiteMatch
func ktxSQLiteMatch(handle C.uintptr_t, fold C.int, pat *C.char, patLength C.int, text *C.char, length C.int) C.int {
	c, ok := cgo.Handle(handle).Value().(*Conn)
	if !ok {
		return -1
	}
	source := unsafe.String((*byte)(unsafe.Pointer(pat)), int(patLength))
	if p := &c.pattern; p.compiled == nil || p.text != source || p.fold != (fold != 0) {
		p.text, p.fold, p.compiled = strings.Clone(source), fold != 0, nil
		expression := p.text
		if p.fold {
			expression = "(?i)" + expression
		}
		compiled, err := regexp.Compile(expression)
		if err != nil {
			return -1
		}
		p.compiled = compiled
	}
	if c.pattern.compiled.MatchString(unsafe.String((*byte)(unsafe.Pointer(text)), int(length))) {
		return 1
	}
	return 0
}

// ReadOnly reports whether a database is open only to be read, and whether there is one
// of that name.
func (c *Conn) ReadOnly(schema string) (only, ok bool) {
	name := C.CString(schema)
	defer C.free(unsafe.Pointer(name))
	is := C.sqlite3_db_readonly(c.db, name)
	return is > 0, is >= 0
}

// GetAutocommit reports whether no transaction is open.
func (c *Conn) GetAutocommit() bool { return C.sqlite3_get_autocommit(c.db) != 0 }

// TotalChanges returns how many rows the connection has changed.
func (c *Conn) TotalChanges() int64 { return int64(C.sqlite3_total_changes64(c.db)) }

// Exec runs statements.
func (c *Conn) Exec(text string) error {
	if c.interrupt.Err() != nil {
		return sqlite3.INTERRUPT
	}
	if strings.Contains(text, "\x00") {
		return sqlite3.MISUSE
	}
	t := C.CString(text)
	defer C.free(unsafe.Pointer(t))
	return c.error(C.sqlite3_exec(c.db, t, nil, nil, nil), text)
}

// Prepare compiles the first statement of a text, and returns the text behind it. Where
// there is no statement, both are empty.
func (c *Conn) Prepare(text string) (*Stmt, string, error) { return c.PrepareFlags(text, 0) }

// PrepareFlags is Prepare with flags.
func (c *Conn) PrepareFlags(text string, flags sqlite3.PrepareFlag) (*Stmt, string, error) {
	if c.interrupt.Err() != nil {
		return nil, "", sqlite3.INTERRUPT
	}
	if strings.Contains(text, "\x00") { // the engine would take it for the end of the text
		return nil, "", sqlite3.MISUSE
	}
	t := C.CString(text)
	defer C.free(unsafe.Pointer(t))
	s := &Stmt{conn: c}
	var rest *C.char
	if err := c.error(C.sqlite3_prepare_v3(c.db, t, C.int(len(text)+1), C.uint(flags), &s.stmt, &rest), text); err != nil {
		return nil, "", err
	}
	if s.stmt == nil {
		return nil, "", nil
	}
	c.stmts[s] = struct{}{}
	if s.columns = int(C.sqlite3_column_count(s.stmt)); s.columns > 0 {
		s.values = (*C.ktx_value)(C.calloc(C.size_t(s.columns), C.size_t(unsafe.Sizeof(C.ktx_value{}))))
		if s.values == nil {
			panic(errMemory)
		}
	}
	return s, text[uintptr(unsafe.Pointer(rest))-uintptr(unsafe.Pointer(t)):], nil
}

// Stmt is a statement. Values of a row may be read until the next step.
type Stmt struct {
	conn    *Conn
	stmt    *C.sqlite3_stmt
	values  *C.ktx_value // of the row, in memory of C
	columns int
	err     error
}

// Close frees the statement. It returns the error of the last step.
func (s *Stmt) Close() error {
	if s == nil || s.stmt == nil {
		return nil
	}
	delete(s.conn.stmts, s)
	rc := C.sqlite3_finalize(s.stmt)
	C.free(unsafe.Pointer(s.values))
	s.stmt, s.values = nil, nil
	return s.conn.error(rc, "")
}

// Reset makes the statement ready to run again. It returns the error of the last step.
func (s *Stmt) Reset() error {
	rc := C.sqlite3_reset(s.stmt)
	s.err = nil
	return s.conn.error(rc, "")
}

// ReadOnly reports whether the statement does not write.
func (s *Stmt) ReadOnly() bool { return C.sqlite3_stmt_readonly(s.stmt) != 0 }

// Step goes to the next row. It returns false where there is none, and after an error.
func (s *Stmt) Step() bool {
	if s.conn.interrupt.Err() != nil {
		s.err = sqlite3.INTERRUPT
		return false
	}
	const row, done = 100, 101
	switch rc := C.ktx_step(s.conn.c, s.stmt, s.values, C.int(s.columns)); rc {
	case row, done:
		s.err = nil
		return rc == row
	default:
		s.err = s.conn.error(rc, "")
		return false
	}
}

// Err returns the error of the last step.
func (s *Stmt) Err() error { return s.err }

// ColumnCount returns how many columns the result has.
func (s *Stmt) ColumnCount() int { return s.columns }

// ColumnName returns the name of a column.
func (s *Stmt) ColumnName(i int) string { return C.GoString(C.sqlite3_column_name(s.stmt, C.int(i))) }

// ColumnDeclType returns the type that the table declares for a column, or "".
func (s *Stmt) ColumnDeclType(i int) string {
	return C.GoString(C.sqlite3_column_decltype(s.stmt, C.int(i)))
}

func (s *Stmt) value(i int) *C.ktx_value { return &unsafe.Slice(s.values, s.columns)[i] }

// ColumnType returns what a value is.
func (s *Stmt) ColumnType(i int) sqlite3.Datatype { return sqlite3.Datatype(s.value(i)._type) }

// ColumnInt64 returns an integer.
func (s *Stmt) ColumnInt64(i int) int64 {
	if v := s.value(i); v._type == C.int32_t(sqlite3.INTEGER) {
		return int64(v.number)
	}
	n, _ := strconv.ParseInt(s.ColumnText(i), 10, 64) // 0 for what is no number, as the engine does
	return n
}

// ColumnText returns a copy of a text.
func (s *Stmt) ColumnText(i int) string {
	if v := s.value(i); v._type == C.int32_t(sqlite3.INTEGER) {
		return strconv.FormatInt(int64(v.number), 10)
	}
	return string(s.ColumnRawText(i))
}

// ColumnRawText returns a text or a real number as the engine writes it, in the engine's memory.
func (s *Stmt) ColumnRawText(i int) []byte {
	v := s.value(i)
	return unsafe.Slice((*byte)(v.bytes), int(v.length))
}

// ColumnRawBlob returns bytes in the engine's memory.
func (s *Stmt) ColumnRawBlob(i int) []byte { return s.ColumnRawText(i) }

var errMemory = errors.New("SQLite is out of memory")

// Error is an error of the engine.
type Error struct {
	code    sqlite3.ExtendedErrorCode
	message string
	sql     string
	system  error
}

// Error returns the message, as the engine in Go writes it.
func (e *Error) Error() string {
	parts := []string{e.code.Error()}
	if e.message != "" {
		parts = append(parts, e.message)
	}
	if e.system != nil {
		parts = append(parts, e.system.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the error of the operating system, or nil.
func (e *Error) Unwrap() error { return e.system }

// SQL returns the statement from the place of the error on.
func (e *Error) SQL() string { return e.sql }

// Is reports whether a code is that of the error.
func (e *Error) Is(err error) bool { return errors.Is(e.code, err) }

// As gives the code of the error.
func (e *Error) As(into any) bool {
	if code, ok := into.(*sqlite3.ExtendedErrorCode); ok {
		*code = e.code
		return true
	}
	return e.code.As(into)
}

// error returns the error of a code, which a call on the connection returned last. text
// is what was compiled. When the engine has no memory left, error panics, as the engine
// in Go does: the connection must not be used again.
func (c *Conn) error(rc C.int, text string) error {
	if rc == 0 {
		return nil
	}
	code := sqlite3.ExtendedErrorCode(rc)
	if code.Code() == sqlite3.NOMEM || code == sqlite3.IOERR_NOMEM {
		panic(errMemory)
	}
	e := &Error{code: code}
	if c.db == nil {
		return e
	}
	e.message = C.GoString(C.sqlite3_errmsg(c.db))
	if is, ok := strings.CutPrefix(code.Error(), "sqlite3: "); ok {
		e.message = strings.TrimPrefix(strings.TrimPrefix(e.message, is), ": ")
	}
	if e.message == "not an error" {
		e.message = ""
	}
	if at := int(C.sqlite3_error_offset(c.db)); at >= 0 && at <= len(text) && text != "" {
		e.sql = text[at:]
	}
	if code.Code() == sqlite3.CANTOPEN || code.Code() == sqlite3.IOERR {
		if number := C.sqlite3_system_errno(c.db); number != 0 {
			e.system = syscall.Errno(number)
		}
	}
	return e
}
