//go:build !(csqlite && cgo && (linux || darwin))

package engine

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"
)

// Library says which of the two this is.
const Library = "Go"

// Lacking are the functions that only the other engine has.
var Lacking []string

// Conn is a connection that only reads.
type Conn = sqlite3.Conn

// Stmt is a statement.
type Stmt = sqlite3.Stmt

// Open opens the file at an absolute path, only to read it. The temporary files of the
// connection are those of files. Open, and each statement after it, waits for a lock for at
// most lockTimeout; until [Conn.SetInterrupt], both end when ctx does.
func Open(ctx context.Context, path string, files *TempFiles, lockTimeout time.Duration) (*Conn, error) {
	conn, err := sqlite3.OpenFlags(files.uri(path), sqlite3.OPEN_READONLY|sqlite3.OPEN_PRIVATECACHE|sqlite3.OPEN_URI)
	if err != nil {
		return nil, err
	}
	conn.SetInterrupt(ctx)
	err = conn.BusyTimeout(lockTimeout)
	if err == nil {
		err = fts5.Register(conn) // which reads the file
	}
	if err != nil {
		_ = conn.Close() // it has only been opened
		return nil, err
	}
	return conn, nil
}

// Hold opens a file so that no other file gets its number. It returns nil where it
// cannot.
func Hold(path string) *os.File {
	file, err := os.Open(path) //nolint:gosec // the operator's own path
	if err != nil {
		return nil
	}
	return file
}

// Writable reports whether the user of this process may write to a file.
func Writable(path string) bool {
	file, err := os.OpenFile(path, os.O_WRONLY, 0) //nolint:gosec // the operator's own path; nothing is written or created
	if err != nil {
		return false
	}
	_ = file.Close()
	return true
}

// Close ends the statements of a connection and closes it.
func Close(conn *Conn) error {
	for _, stmt := range slices.Collect(conn.Stmts()) {
		_ = stmt.Close() // the error is that of its last step
	}
	return conn.Close()
}
