//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package prove

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/ktxhq/ktx/corpus"
)

// duck is a DuckDB database file in a folder that this package made. The role that may
// only read is the file opened read-only. It runs every statement of a text, as the
// command line shell does.
type duck struct {
	dir     string
	limit   time.Duration
	content []byte // the file with the fixture
	fixture State  // what is in that file
}

const duckFile = "shop.duckdb"

// startDuckDB creates the file. It changes the working directory of the process to its
// folder, so that a statement that names a file writes there.
func startDuckDB(fixture string, limit time.Duration) (_ engine, err error) {
	dir, err := os.MkdirTemp("", "ktx-prove-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	d := &duck{dir: dir, limit: limit}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if err := d.with("read_write_handle", func(c *duckConn) error { return c.run(fixture, nil) }); err != nil {
		return nil, fmt.Errorf("make the database: %w", err)
	}
	if d.content, err = os.ReadFile(d.path()); err != nil {
		return nil, fmt.Errorf("read the database: %w", err)
	}
	if err := os.Chdir(dir); err != nil {
		return nil, fmt.Errorf("enter the folder: %w", err)
	}
	return d, nil
}

func (d *duck) path() string     { return filepath.Join(d.dir, duckFile) }
func (d *duck) name() string     { return "duckdb" }
func (d *duck) version() string  { return strings.TrimPrefix(bindings.LibraryVersion(), "v") }
func (d *duck) roles() [2]string { return [2]string{"read_write_handle", "read_only_handle"} }
func (d *duck) log() string      { return "" } // if DuckDB crashes, this program does
func (d *duck) close() error     { return os.RemoveAll(d.dir) }

// duckConn is a session of an instance of its own.
type duckConn struct{ c bindings.Connection }

// with opens the file, and closes it behind f. Extensions and secrets lie in the folder,
// and no extension is fetched from the network.
func (d *duck) with(role string, f func(*duckConn) error) error {
	mode := map[string]string{"read_write_handle": "read_write", "read_only_handle": "read_only"}[role]
	var config bindings.Config
	if bindings.CreateConfig(&config) != bindings.StateSuccess {
		return errors.New("make the configuration")
	}
	defer bindings.DestroyConfig(&config)
	for name, value := range map[string]string{
		"access_mode": mode, "threads": "1", "memory_limit": "256MB", "errors_as_json": "true", "autoinstall_known_extensions": "false",
		"extension_directory": filepath.Join(d.dir, "extensions"), "secret_directory": filepath.Join(d.dir, "secrets"), "temp_directory": filepath.Join(d.dir, "temp"),
		"custom_extension_repository": filepath.Join(d.dir, "none"), "autoinstall_extension_repository": filepath.Join(d.dir, "none"),
	} {
		if bindings.SetConfig(config, name, value) != bindings.StateSuccess {
			return fmt.Errorf("configure %s", name)
		}
	}
	var db bindings.Database
	var message string
	if bindings.OpenExt(d.path(), &db, config, &message) != bindings.StateSuccess {
		return fmt.Errorf("open the database: %s", message)
	}
	defer bindings.Close(&db)
	c := &duckConn{}
	if bindings.Connect(db, &c.c) != bindings.StateSuccess {
		return errors.New("connect to the database")
	}
	defer bindings.Disconnect(&c.c)
	return f(c)
}

// duckError is an error of the engine: its kind, such as Catalog.
type duckError struct{ kind, message string }

func (e *duckError) Error() string { return e.kind + ": " + e.message }

func duckFailure(text string) error {
	if at := strings.IndexByte(text, '{'); at >= 0 {
		var said struct {
			Type    string `json:"exception_type"`
			Message string `json:"exception_message"`
		}
		if json.Unmarshal([]byte(text[at:]), &said) == nil && said.Type != "" {
			return &duckError{said.Type, said.Message}
		}
	}
	kind, message, found := strings.Cut(text, " Error: ")
	if !found {
		kind, message = "Unknown", text
	}
	return &duckError{kind, message}
}

// run runs every statement of a text, and calls row for each row.
func (c *duckConn) run(text string, row func(values []string)) error {
	var extracted bindings.ExtractedStatements
	defer bindings.DestroyExtracted(&extracted)
	n := bindings.ExtractStatements(c.c, text, &extracted)
	if n == 0 {
		if message := bindings.ExtractStatementsError(extracted); message != "" {
			return duckFailure(message)
		}
	}
	for i := range n {
		if err := c.one(extracted, i, row); err != nil {
			return err
		}
	}
	return nil
}

func (c *duckConn) one(extracted bindings.ExtractedStatements, i bindings.IdxT, row func([]string)) error {
	var prepared bindings.PreparedStatement
	defer bindings.DestroyPrepare(&prepared)
	if bindings.PrepareExtractedStatement(c.c, extracted, i, &prepared) != bindings.StateSuccess {
		return duckFailure(bindings.PrepareError(prepared))
	}
	var pending bindings.PendingResult
	defer bindings.DestroyPending(&pending)
	if bindings.PendingPreparedStreaming(prepared, &pending) != bindings.StateSuccess {
		return duckFailure(bindings.PendingError(pending))
	}
	var r bindings.Result
	defer bindings.DestroyResult(&r)
	if bindings.ExecutePending(pending, &r) != bindings.StateSuccess {
		return duckFailure(bindings.ResultError(&r))
	}
	for {
		chunk := bindings.FetchChunk(r)
		if chunk.Ptr == nil {
			break
		}
		for at := range bindings.DataChunkGetSize(chunk) {
			if row != nil {
				row(duckTexts(chunk, at))
			}
		}
		bindings.DestroyDataChunk(&chunk)
	}
	if message := bindings.ResultError(&r); message != "" {
		return duckFailure(message)
	}
	return nil
}

// duckTexts returns the values of a row that are texts; the others are empty.
func duckTexts(chunk bindings.DataChunk, row bindings.IdxT) []string {
	values := make([]string, bindings.DataChunkGetColumnCount(chunk))
	for i := range values {
		v := bindings.DataChunkGetVector(chunk, bindings.IdxT(i))
		t := bindings.VectorGetColumnType(v)
		valid := bindings.VectorGetValidity(v)
		if bindings.GetTypeId(t) == bindings.TypeVarchar && (valid == nil || bindings.ValidityRowIsValid(valid, row)) {
			values[i] = bindings.StringTData(&(*[2048]bindings.StringT)(bindings.VectorGetData(v))[row])
		}
		bindings.DestroyLogicalType(&t)
	}
	return values
}

// rows runs constant text of this package, whose columns are texts.
func (c *duckConn) rows(text string) (rows [][]string, err error) {
	err = c.run(text, func(values []string) { rows = append(rows, values) })
	return rows, err
}

// prepare sets up in the file what a case needs.
func (d *duck) prepare(_ context.Context, c corpus.Case) (made bool, err error) {
	texts, _ := setup(c)
	if len(texts) == 0 {
		return false, nil
	}
	return true, d.with("read_write_handle", func(conn *duckConn) error {
		for _, text := range texts {
			if err := conn.run(text, nil); err != nil {
				return &setupError{text, err}
			}
		}
		return nil
	})
}

func (d *duck) try(ctx context.Context, a Attempt, c corpus.Case) (o Outcome, err error) {
	err = d.with(a.Role, func(conn *duckConn) error {
		if err := setUpSession(a, "read_only_handle", c, func(text string) error { return conn.run(text, nil) }); err != nil {
			return err
		}
		if a.ReadOnly {
			if err := conn.run("BEGIN TRANSACTION READ ONLY", nil); err != nil {
				return err
			}
		}
		before, err := duckSession(conn)
		if err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(ctx, d.limit)
		defer cancel()
		stop := context.AfterFunc(limited, func() { bindings.Interrupt(conn.c) })
		begun := time.Now()
		failed := conn.run(c.SQL, func([]string) { o.Rows = true })
		o.took = time.Since(begun)
		stop()
		o.Result = Executed
		switch e, told := errors.AsType[*duckError](failed); {
		case failed == nil:
		case told && strings.EqualFold(e.kind, "interrupt"):
			o.Result = TimedOut
		case told:
			o.Result, o.Code, o.message = Failed, "duckdb "+e.kind, e.message
			o.ReadOnly = strings.Contains(e.message, "read-only")
		default:
			o.Result, o.Code = Failed, "client"
		}
		if after, err := duckSession(conn); err == nil {
			o.Changed = before.Changed(after)
		} else if o.Result == Failed {
			_ = conn.run("ROLLBACK", nil) // the transaction is aborted
		}
		_ = conn.run("COMMIT", nil) // its effects are seen from outside
		return nil
	})
	return o, err
}

// duckSession reads the state of a session.
func duckSession(c *duckConn) (State, error) {
	s := State{}
	for name, text := range map[string]string{
		"session databases":           "SELECT database_name FROM duckdb_databases()",
		"session search path":         "SELECT current_setting('search_path'), current_schema()",
		"session temporary objects":   "SELECT table_name FROM duckdb_tables() WHERE temporary UNION ALL SELECT view_name FROM duckdb_views() WHERE temporary AND NOT internal",
		"session functions":           "SELECT function_name FROM duckdb_functions() WHERE NOT internal",
		"session variables":           "SELECT name, value::VARCHAR FROM duckdb_variables()",
		"session prepared statements": "SELECT name FROM duckdb_prepared_statements()",
		"session secrets":             "SELECT name FROM duckdb_secrets()",
		"session extensions":          "SELECT extension_name FROM duckdb_extensions() WHERE loaded",
	} {
		rows, err := c.rows(text)
		if err != nil {
			return nil, err
		}
		s[name] = digest(rows)
	}
	settings, err := c.rows("SELECT name, value FROM duckdb_settings()")
	if err != nil {
		return nil, err
	}
	for _, row := range settings {
		s["session setting "+row[0]] = row[1]
	}
	// Two statements have one transaction, or one each.
	var ids [2]string
	for i := range ids {
		rows, err := c.rows("SELECT txid_current()::VARCHAR")
		if err != nil {
			return nil, err
		}
		ids[i] = rows[0][0]
	}
	s["transaction"] = fmt.Sprint(ids[0] == ids[1])
	return s, nil
}

// duckCatalog are what statements may change beside rows.
var duckCatalog = map[string]string{
	"catalog tables":    "SELECT schema_name, table_name, sql, coalesce(comment, '') FROM duckdb_tables()",
	"catalog views":     "SELECT schema_name, view_name, sql, coalesce(comment, '') FROM duckdb_views() WHERE NOT internal",
	"catalog indexes":   "SELECT schema_name, index_name, sql FROM duckdb_indexes()",
	"catalog sequences": "SELECT schema_name, sequence_name, coalesce(last_value::VARCHAR, '') FROM duckdb_sequences()",
	"catalog functions": "SELECT schema_name, function_name, macro_definition FROM duckdb_functions() WHERE NOT internal",
	"catalog schemas":   "SELECT schema_name FROM duckdb_schemas() WHERE NOT internal",
	"catalog types":     "SELECT schema_name, type_name FROM duckdb_types() WHERE NOT internal",
	"catalog columns":   "SELECT schema_name, table_name, column_name, coalesce(comment, '') FROM duckdb_columns() WHERE NOT internal",
}

// snapshot reads the file and lists the files beside it. A file that has the bytes of the
// fixture is not read again.
func (d *duck) snapshot(context.Context) (State, error) {
	content, err := os.ReadFile(d.path())
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(d.path() + ".wal")
	fixture := bytes.Equal(content, d.content) && errors.Is(err, fs.ErrNotExist)
	s := State{}
	if fixture && d.fixture != nil {
		s = maps.Clone(d.fixture)
	} else if err := d.read(s); err != nil {
		return nil, err
	}
	if fixture && d.fixture == nil {
		d.fixture = maps.Clone(s)
	}
	s[fileContent] = digest([][]string{{string(content)}})
	return s, listFiles(s, d.dir, func(path string) bool { return path == duckFile+".wal" })
}

// read reads the objects and the rows of the file.
func (d *duck) read(s State) error {
	return d.with("read_write_handle", func(c *duckConn) error {
		for name, text := range duckCatalog {
			rows, err := c.rows(text)
			if err != nil {
				return fmt.Errorf("read the %s: %w", name, err)
			}
			s[name] = digest(rows)
		}
		tables, err := c.rows("SELECT schema_name, table_name FROM duckdb_tables()")
		if err != nil {
			return err
		}
		for _, t := range tables {
			rows, err := c.rows(fmt.Sprintf(`SELECT t::VARCHAR FROM "%s"."%s" AS t`, strings.ReplaceAll(t[0], `"`, `""`), strings.ReplaceAll(t[1], `"`, `""`)))
			if err != nil {
				s["rows "+t[1]] = "unreadable"
				continue
			}
			s["rows "+t[1]] = digest(rows)
		}
		return nil
	})
}

// reset empties the folder and writes the file again.
func (d *duck) reset(context.Context) error {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return fmt.Errorf("read the folder: %w", err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(d.dir, e.Name())); err != nil {
			return fmt.Errorf("empty the folder: %w", err)
		}
	}
	return os.WriteFile(d.path(), d.content, 0o600)
}
