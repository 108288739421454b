package sqlitedb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// DefaultMaxConnections is the bound that a [Config] without one gets.
const DefaultMaxConnections = 4

// Config says which database to open, and how many connections it may have.
type Config struct {
	// Path of the database file. The file must exist.
	Path string
	// MaxConnections bounds the statements that run at a time; 0 means
	// DefaultMaxConnections. A connection may use up to 256 MiB.
	MaxConnections int
	// Session is what the guard's dialect assumes about a connection. Open
	// refuses settings that the session does not guarantee.
	Session []sqlguard.Setting
	// Access has the rules on tables and columns. The engine's authorizer applies
	// them to all that a statement reads, also through views and full-text tables.
	Access sqlguard.ReadRules
}

// Validate returns what is wrong with c, or nil. It does not look at the file.
func (c Config) Validate() error {
	if c.MaxConnections < 0 || c.MaxConnections > 64 {
		return fmt.Errorf("maxConnections: %d is not between 1 and 64", c.MaxConnections)
	}
	return nil
}

// DB is a database file that is open for reading. It is safe for concurrent
// use.
type DB struct {
	path  string // absolute: SQLite reads a relative "file:…" as a URI
	guard atomic.Pointer[sqlguard.ID]
	pool  pool
}

var _ execution.Backend = (*DB)(nil)

// Open opens the file and reads its header. So it returns an error for a file
// that does not exist, is not a database, or cannot be read. The error is an
// *[execution.Error]. The backend runs only statements that the guard with this
// ID approved.
func Open(ctx context.Context, c Config, guard sqlguard.ID) (*DB, error) {
	if err := c.Validate(); err != nil {
		return nil, execution.NewError(sqlguard.CodeNotConfigured, "open SQLite: "+err.Error(), err)
	}
	for _, setting := range c.Session {
		if value, known := held[setting.Name]; !known || value != setting.Value {
			return nil, execution.NewError(sqlguard.CodeSessionModeMismatch,
				fmt.Sprintf("the guard takes %s = %s for granted, which a SQLite session does not hold to", setting.Name, setting.Value), nil)
		}
	}
	if c.Path == "" {
		return nil, execution.NewError(sqlguard.CodeNotConfigured, "the connection names no SQLite file", nil)
	}
	if err := ctx.Err(); err != nil {
		return nil, ended(err)
	}
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return nil, execution.NewError(sqlguard.CodeNotConfigured, "the path of the SQLite file cannot be resolved", err)
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = DefaultMaxConnections
	}
	db := &DB{path: path}
	db.pool.init(c.MaxConnections)
	db.pool.access = c.Access
	db.SetGuard(guard)
	first := newSession(c.Access)
	if err := first.open(ctx, path, execution.DefaultLockTimeout); err != nil {
		return nil, err
	}
	db.pool.adopt(first)
	return db, nil
}

// SetGuard replaces the ID whose approvals Query accepts.
func (db *DB) SetGuard(id sqlguard.ID) { db.guard.Store(&id) }

// Catalog returns the one schema in which names are looked up. The engine's
// authorizer applies the rules of the connection.
func (db *DB) Catalog(ctx context.Context) (*sqlguard.Catalog, error) {
	if err := ctx.Err(); err != nil {
		return nil, ended(err)
	}
	if db.pool.isClosed() {
		return nil, errClosed()
	}
	return &sqlguard.Catalog{SearchPath: []string{"main"}, EngineDenies: db.pool.access.Restricts()}, nil
}

// Close ends every statement and closes every connection. A statement in the
// middle of one long opcode cannot be ended. Close gives up on it after two
// seconds and returns an error.
func (db *DB) Close() error { return db.pool.close() }

// fileAt checks the database file. Its errors name the file without its folder.
// The cause contains the whole path.
func fileAt(path string) (os.FileInfo, *execution.Error) {
	name := filepath.Base(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, execution.NewError(sqlguard.CodeNotConfigured, fmt.Sprintf("the SQLite file %q does not exist", name), err)
	case errors.Is(err, fs.ErrPermission):
		return nil, execution.NewError(sqlguard.CodeNotConfigured, fmt.Sprintf("the SQLite file %q may not be read by this user", name), err)
	case err != nil:
		return nil, execution.NewError(sqlguard.CodeNotConfigured, fmt.Sprintf("the SQLite file %q cannot be looked at", name), err)
	case !info.Mode().IsRegular(): // opening a pipe would block, and a folder cannot be read
		return nil, execution.NewError(sqlguard.CodeNotConfigured, fmt.Sprintf("%q is no file", name), nil)
	}
	return info, nil
}
