package sqlitedb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/sqlitedb/engine"
	"github.com/ktxhq/ktx/sqlguard"
)

// databaseError turns an error of SQLite into an *[execution.Error], and nil
// into nil. When the error came from compiling a statement, text is that
// statement, and the returned error has a position in it. Messages contain no
// path. The operating system's error is the cause.
func databaseError(err error, text string) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*execution.Error](err); ok {
		return e
	}
	var extended sqlite3.ExtendedErrorCode
	if !errors.As(err, &extended) {
		return execution.NewError(sqlguard.CodeDatabaseError, "SQLite: "+err.Error(), err)
	}
	name, message := codeName(extended), messageOf(err)
	e := execution.NewError(sqlguard.CodeDatabaseError, message, err)
	e.SQLState = name
	switch extended.Code() { //nolint:exhaustive // every other code is reported unchanged
	case sqlite3.BUSY, sqlite3.LOCKED:
		e = busy("the database is locked by a program that writes to it")
		e.SQLState, e.Err = name, err
	case sqlite3.INTERRUPT:
		e = execution.NewError(sqlguard.CodeCancelled, "the statement was interrupted", err)
		e.SQLState = name
	case sqlite3.TOOBIG:
		e.Hint = fmt.Sprintf("a value is longer than %d MiB; leave it out, or read length() or octet_length() of the column", maxValueBytes>>20)
	case sqlite3.NOTADB:
		e.Message, e.Retryable = "the file is not an SQLite database, or it is encrypted", false
	case sqlite3.CORRUPT:
		e.Message, e.Retryable = "the database file is damaged: "+message, false
		e.Hint = "PRAGMA integrity_check tells more"
	case sqlite3.READONLY, sqlite3.CANTOPEN:
		e.Retryable = false
		explainUnreadable(e, extended)
	case sqlite3.IOERR, sqlite3.FULL, sqlite3.NOMEM, sqlite3.PROTOCOL:
		e.Retryable = false
	}
	if extended.Code() == sqlite3.AUTH || strings.HasPrefix(message, "not authorized") {
		e.Hint = "the session only reads: SELECT, listed functions, and listed PRAGMAs in their reading form"
	}
	switch {
	case strings.HasPrefix(message, "no such table: "):
		e.Hint = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') lists the tables"
	case strings.HasPrefix(message, "no such column: interval"):
		e.Hint = "SQLite has no INTERVAL: write a modifier, as in date(x, '-7 days')"
	case strings.HasPrefix(message, "no such column: "):
		e.Hint = "PRAGMA table_info(name) lists the columns of a table"
	}
	if module, ok := strings.CutPrefix(message, "no such module: "); ok {
		e.Hint = fmt.Sprintf("the table uses the module %s, which is not part of this SQLite", module)
		if strings.EqualFold(module, "fts3") || strings.EqualFold(module, "fts4") {
			e.Hint += "; FTS3 and FTS4 tables cannot be read, FTS5 tables can; the table's rows may be in its _content table"
		}
	}
	if at := engine.FailedAt(err); text != "" && at != "" && strings.HasSuffix(text, at) {
		e.Position = len(text) - len(at) + 1
	}
	return e
}

// explainUnreadable explains why a read-only connection could not read.
func explainUnreadable(e *execution.Error, code sqlite3.ExtendedErrorCode) {
	if code == sqlite3.READONLY_ROLLBACK {
		e.Message = "a program was stopped while it wrote to the database, and a read-only connection cannot undo that"
		e.Hint = "open the database once with a program that may write to it"
		return
	}
	if network.NoDescriptors(e.Err) {
		e.Code, e.Retryable = sqlguard.CodeBusy, true
		e.Message, e.RetryAfter = "this process has no file descriptor left to open the database file", retryAfter
		e.Hint = "try again when fewer calls run; the operator can raise the limit of open files (ulimit -n)"
		return
	}
	e.Message = "the database cannot be read: " + e.Message
	e.Hint = "a database in WAL mode needs its -wal and -shm files, which must be readable, or a folder where they can be made"
}

// messageOf returns SQLite's own message.
func messageOf(err error) string {
	message := err.Error()
	if cause := errors.Unwrap(err); cause != nil {
		message = strings.TrimSuffix(message, ": "+cause.Error())
	}
	message = strings.TrimPrefix(message, "sqlite3: ")
	if rest, ok := strings.CutPrefix(message, "SQL logic error: "); ok {
		message = rest
	}
	return strings.ToValidUTF8(message, "?")
}

// ended returns the error for a context that ended.
func ended(err error) *execution.Error {
	if errors.Is(err, context.DeadlineExceeded) {
		e := execution.NewError(sqlguard.CodeTimeout, "the statement reached its time limit", err)
		e.Hint = "narrow the query with WHERE, or aggregate less data"
		return e
	}
	return execution.NewError(sqlguard.CodeCancelled, "the caller cancelled the statement", err)
}

// tempFull returns the error for a statement that needs more temporary files than
// it may have.
func tempFull(err error, limit int64) error {
	e := execution.NewError(sqlguard.CodeDatabaseError, fmt.Sprintf("the statement needs more than %d MiB of temporary files (limits.temp), for a sort, a DISTINCT or a GROUP BY", limit>>20), err)
	e.SQLState = codeName(sqlite3.ExtendedErrorCode(sqlite3.FULL))
	e.Retryable = false
	e.Hint = "sort or group fewer rows, or fewer and shorter columns"
	return e
}

// refusal returns an error of the session's own.
func refusal(message string) error {
	return execution.NewError(sqlguard.CodeDatabaseError, message, nil)
}

// broken returns the error for a fault inside the engine.
func broken(fault any) error {
	cause, ok := fault.(error)
	if !ok {
		cause = fmt.Errorf("fault inside SQLite: %v", fault)
	}
	if strings.Contains(cause.Error(), "out of memory") {
		e := execution.NewError(sqlguard.CodeDatabaseError, "the statement needs more memory than a connection may use", cause)
		e.SQLState = codeName(sqlite3.ExtendedErrorCode(sqlite3.NOMEM))
		e.Hint = "aggregate or select less at a time"
		return e
	}
	return execution.NewError(sqlguard.CodeDatabaseError, "the SQLite engine failed on this statement", cause)
}
