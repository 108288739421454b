package duckdbdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb/wire"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// DefaultMaxConnections is the bound that a [Config] without one gets.
const DefaultMaxConnections = 4

// Config says which files to read. Every field except Path or Files may be zero.
type Config struct {
	// Path is a database file of DuckDB. The file must exist.
	Path string
	// Files is a folder whose files are tables; see [Tables]. Path or Files is set.
	Files string
	// Permits reports whether a file of the folder may be read, by its path below the folder,
	// with slashes. Nil permits every file.
	Permits func(path string) bool
	// MaxConnections bounds the statements that run at a time, and the processes; 0 means
	// DefaultMaxConnections.
	MaxConnections int
	// Session is what the guard's dialect assumes about the session. Open refuses settings
	// that the session does not guarantee.
	Session []sqlguard.Setting
	// Limits are those of the connection. Limits.Temp bounds the temporary files of a
	// process.
	Limits execution.Limits
	// Reserved reports whether a name is that of a built-in function, or of a system view
	// that is read without a schema. Nil means that the engine's own list is the only one.
	Reserved func(name string) bool
	// Access has the rules on tables and columns. Open refuses a database with a view that
	// shows what they deny and is not denied itself.
	Access sqlguard.ReadRules
	// Program is the program that runs the engine, with its arguments. Nil means this
	// program.
	Program []string
}

// Tables returns the names of the tables that a folder has, as schema.name. A database
// file in the folder is named by its schema alone.
func Tables(folder string) ([]string, error) {
	root, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	f, err := readFolder(root, nil)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(f.tables))
	for i, t := range f.tables {
		names[i] = t.Schema
		if t.Name != "" {
			names[i] += "." + t.Name
		}
	}
	return names, nil
}

// held are the settings that a dialect may assume, by the dialect's names. The engine reads
// them back.
var held = map[string]string{
	"access_mode":            "read_only",
	"enable_external_access": "false",
	"lock_configuration":     "true",
}

// What a process may use.
const (
	memory  = 1 << 30
	threads = 2
)

// DB is a database or a folder of files as a backend. It is safe for concurrent use.
type DB struct {
	pool   *pool.Pool[*conn]
	guard  atomic.Pointer[sqlguard.ID]
	source source
	start  func() ([]string, error) // the program that runs the engine
	limits execution.Limits
	known  func(string) bool
	access sqlguard.ReadRules

	mu      sync.Mutex
	catalog *sqlguard.Catalog
}

var (
	_ execution.Backend = (*DB)(nil)
	_ execution.Lister  = (*DB)(nil)
)

// Open opens the files in a first process. So it returns an error for files that are not
// there or cannot be read. Errors are of type *[execution.Error]. The backend runs only
// statements that the guard with this ID approved.
func Open(ctx context.Context, c Config, guard sqlguard.ID) (*DB, error) {
	wrong := func(message string, err error) error {
		return execution.NewError(sqlguard.CodeNotConfigured, "open DuckDB: "+message, err)
	}
	for _, s := range c.Session {
		if value, known := held[s.Name]; !known || value != s.Value {
			return nil, execution.NewError(sqlguard.CodeSessionModeMismatch,
				fmt.Sprintf("the guard takes %s = %s for granted, which a session does not hold to", s.Name, s.Value), nil)
		}
	}
	if c.MaxConnections < 0 || c.MaxConnections > 64 {
		return nil, wrong(fmt.Sprintf("maxConnections: %d is not between 1 and 64", c.MaxConnections), nil)
	}
	if (c.Path == "") == (c.Files == "") {
		return nil, wrong("either path or files must be set: a database file, or a folder of files", nil)
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = DefaultMaxConnections
	}
	d := &DB{limits: c.Limits.WithDefaults(), known: c.Reserved, access: c.Access, start: program}
	if c.Program != nil {
		d.start = func() ([]string, error) { return c.Program, nil }
	}
	var err error
	if d.source.database, err = absolute(c.Path); err == nil {
		d.source.folder, err = absolute(c.Files)
	}
	if err != nil {
		return nil, wrong("the path cannot be resolved", err)
	}
	d.source.permits = c.Permits
	d.SetGuard(guard)
	d.pool = pool.New(c.MaxConnections, d.dial)
	lease, err := d.pool.Acquire(ctx, d.limits.Timeout)
	if err != nil {
		d.pool.Close()
		return nil, err
	}
	d.pool.Release(lease)
	return d, nil
}

func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}

// program returns this program with the argument that makes it run the engine.
func program() ([]string, error) {
	path, err := os.Executable()
	return []string{path, wire.Argument}, err
}

// SetGuard replaces the ID whose approvals Query accepts.
func (d *DB) SetGuard(id sqlguard.ID) { d.guard.Store(&id) }

// Close ends every statement and every process.
func (d *DB) Close() error {
	d.pool.Close()
	return nil
}

// source is where the rows are.
type source struct {
	database, folder string // absolute paths, one of which is set
	permits          func(path string) bool
}

// FolderCatalogue is the name of the database that the tables of a folder are in.
const FolderCatalogue = "ktx_files"

// Catalogue returns the name of the database in statements: that of its file, because the
// views of a database may contain it, or [FolderCatalogue]. DuckDB reads a name of two parts
// that begins with it as a table of the schema main, so a policy must deny the schema of
// this name.
func (c Config) Catalogue() string { return source{database: c.Path, folder: c.Files}.catalogue() }

func (s source) catalogue() string {
	if s.database == "" {
		return FolderCatalogue
	}
	name, _, _ := strings.Cut(filepath.Base(s.database), ".") // as DuckDB's own ATTACH does
	switch strings.ToLower(name) {
	case "", "system", "temp", "memory", "main", "information_schema", "pg_catalog":
		return "ktx_database"
	}
	return name
}

// name is how messages call the source.
func (s source) name() string {
	if s.folder != "" {
		return "the folder " + strconv.Quote(filepath.Base(s.folder))
	}
	return "the file " + strconv.Quote(filepath.Base(s.database))
}

// look returns what is at the source now. Its errors name files without their folders.
func (s source) look() (*folder, error) {
	if s.folder != "" {
		f, err := readFolder(s.folder, s.permits)
		if err != nil {
			return nil, notThere(fmt.Sprintf("the folder %q cannot be read: %v", filepath.Base(s.folder), pathless(err)), err)
		}
		return f, nil
	}
	name := filepath.Base(s.database)
	info, err := os.Stat(s.database)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, notThere(fmt.Sprintf("the DuckDB file %q does not exist", name), err)
	case err != nil:
		return nil, notThere(fmt.Sprintf("the DuckDB file %q cannot be read", name), err)
	case !info.Mode().IsRegular(): // opening a pipe would block, and a folder cannot be read
		return nil, notThere(fmt.Sprintf("%q is no file", name), nil)
	}
	f := &folder{root: filepath.Dir(s.database), files: []file{{name, info.Size(), info.ModTime()}}}
	// Its newest rows may still be in the log beside it.
	if info, err := os.Stat(s.database + ".wal"); err == nil {
		f.files = append(f.files, file{name + ".wal", info.Size(), info.ModTime()})
	}
	return f, nil
}

func notThere(message string, err error) error {
	return execution.NewError(sqlguard.CodeNotConfigured, message, err)
}
