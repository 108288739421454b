//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package engine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/ktxhq/ktx/execution/duckdbdb/wire"
)

// The statements of the session. They contain no text of a caller, except names and paths
// that are quoted.
const (
	textBegin    = "BEGIN TRANSACTION READ ONLY"
	textRollback = "ROLLBACK"
	textRead     = "FROM cast_values"
	textCast     = "INSERT INTO cast_values SELECT "
	textTruncate = "TRUNCATE cast_values"
	textPins     = "SELECT name, value FROM duckdb_settings() WHERE name IN ('enable_external_access', 'lock_configuration', " +
		"'autoinstall_known_extensions', 'autoload_known_extensions', 'TimeZone', 'Calendar')"
	textReadOnly = "SELECT readonly FROM duckdb_databases() WHERE database_name = current_database()"
)

// pins are set after the database is attached, in this order. The last locks them.
var pins = []string{
	"SET TimeZone = 'UTC'",
	"SET Calendar = 'gregorian'",
	"SET errors_as_json = true",
	"SET enable_external_access = false",
	"SET lock_configuration = true",
}

// held are the values that the pins are read back with.
var held = map[string]string{
	"enable_external_access":       "false",
	"lock_configuration":           "true",
	"autoinstall_known_extensions": "false",
	"autoload_known_extensions":    "false",
	"TimeZone":                     "UTC",
	"Calendar":                     "gregorian",
}

// engine is the one session of the process.
type engine struct {
	conn     *wire.Conn
	settings wire.Settings
	version  string

	db   duckdb.Connection // the database that statements read
	cast duckdb.Connection // an empty database that turns values into text
}

// option is a setting that a database is opened with.
type option struct{ name, value string }

// open opens an empty database of its own in memory. It sets the options in order: without
// access to files, folders cannot be set.
func open(options []option) (duckdb.Connection, error) {
	var c duckdb.Connection
	var config duckdb.Config
	if duckdb.CreateConfig(&config) != duckdb.StateSuccess {
		return c, errors.New("no configuration")
	}
	defer duckdb.DestroyConfig(&config)
	for _, o := range options {
		if duckdb.SetConfig(config, o.name, o.value) != duckdb.StateSuccess {
			return c, fmt.Errorf("the setting %s cannot be %q", o.name, o.value)
		}
	}
	var db duckdb.Database
	var message string
	if duckdb.OpenExt(":memory:", &db, config, &message) != duckdb.StateSuccess {
		return c, fail(message)
	}
	if duckdb.Connect(db, &c) != duckdb.StateSuccess {
		return c, errors.New("no connection")
	}
	return c, nil
}

// setUp opens the database and locks the session.
func (e *engine) setUp() error {
	options := []option{
		{"threads", strconv.Itoa(e.settings.Threads)},
		{"memory_limit", strconv.FormatInt(e.settings.Memory, 10) + "B"},
		{"temp_directory", e.settings.Temp},
		{"max_temp_directory_size", strconv.FormatInt(e.settings.TempBytes, 10) + "B"},
		{"home_directory", e.settings.Temp},
		{"extension_directory", e.settings.Temp},
		{"secret_directory", e.settings.Temp},
		{"allow_persistent_secrets", "false"},
		{"autoinstall_known_extensions", "false"},
		{"autoload_known_extensions", "false"},
		{"allow_unsigned_extensions", "false"},
		{"allow_community_extensions", "false"},
	}
	var err error
	if e.db, err = open(options); err != nil {
		return err
	}
	if e.cast, err = open(append(options, option{"threads", "1"}, option{"enable_external_access", "false"})); err != nil {
		return err
	}
	for _, s := range pins[:2] { // those that values are written by
		if err := e.do(e.cast, s); err != nil {
			return err
		}
	}
	e.version = duckdb.LibraryVersion()
	if err := e.attach(); err != nil {
		return err
	}
	if err := e.readBack(); err != nil {
		return err
	}
	return limitProcess(e.settings.Memory, e.settings.TempBytes)
}

// attach makes the database or the tables, and then ends access to everything else.
func (e *engine) attach() error {
	name := quoteName(e.settings.Name)
	statements := []string{"ATTACH ':memory:' AS " + name, "USE " + name}
	if e.settings.Database != "" {
		statements[0] = attachText(e.settings.Database, name)
	}
	schemas := map[string]bool{"main": true}
	readable := e.settings.Readable
	for _, t := range e.settings.Tables {
		if schema := quoteName(t.Schema); !schemas[schema] && t.Schema != "main" {
			schemas[schema] = true
			statements = append(statements, "CREATE SCHEMA "+schema)
		}
		readable = append(readable, t.Files...)
	}
	if len(readable) > 0 {
		statements = append(statements, "SET allowed_paths = ["+quoteTexts(readable)+"]")
	}
	for _, s := range statements {
		if err := e.do(e.db, s); err != nil {
			return err
		}
	}
	for i, t := range e.settings.Tables {
		if err := e.table(i, t); err != nil {
			return err
		}
	}
	for _, s := range pins {
		if err := e.do(e.db, s); err != nil {
			return err
		}
	}
	return nil
}

// table makes a view of a table of files, or of each table of a database file.
func (e *engine) table(i int, t wire.Table) error {
	if t.Format != wire.DuckDB {
		reader := readers[t.Format]
		if reader == "" {
			return fmt.Errorf("no reader for the format %q", t.Format)
		}
		return e.do(e.db, fmt.Sprintf("CREATE VIEW %s.%s AS FROM %s", quoteName(t.Schema), quoteName(t.Name), fmt.Sprintf(reader, quoteTexts(t.Files))))
	}
	name := "ktx_file_" + strconv.Itoa(i)
	if err := e.do(e.db, attachText(t.Files[0], name)); err != nil {
		return err
	}
	tables, err := e.ask(e.db, "SELECT table_name FROM information_schema.tables WHERE table_catalog = '"+name+"' AND table_schema = 'main' ORDER BY table_name")
	if err != nil {
		return err
	}
	for _, row := range tables {
		if err := e.do(e.db, fmt.Sprintf("CREATE VIEW %s.%s AS FROM %s.main.%[2]s", quoteName(t.Schema), quoteName(row[0]), name)); err != nil {
			return err
		}
	}
	return nil
}

// readers are the table functions that read a list of files.
var readers = map[wire.Format]string{
	wire.CSV:     "read_csv([%s], union_by_name = true, hive_partitioning = true)",
	wire.JSON:    "read_json([%s], union_by_name = true, hive_partitioning = true)",
	wire.Parquet: "read_parquet([%s], union_by_name = true, hive_partitioning = true)",
}

func attachText(path, name string) string {
	return "ATTACH " + quoteText(path) + " AS " + name + " (TYPE duckdb, READ_ONLY)"
}

// readBack checks the pins.
func (e *engine) readBack() error {
	rows, err := e.ask(e.db, textPins)
	if err != nil {
		return err
	}
	seen := map[string]string{}
	for _, row := range rows {
		seen[row[0]] = row[1]
	}
	for name, want := range held {
		if seen[name] != want {
			return &failure{Type: wire.TypeSession, Message: fmt.Sprintf("%s is %q, and must be %q", name, seen[name], want)}
		}
	}
	if e.settings.Database == "" {
		return nil // only the read-only transaction holds for a database in memory
	}
	readOnly, err := e.ask(e.db, textReadOnly)
	if err != nil {
		return err
	}
	if len(readOnly) != 1 || readOnly[0][0] != "true" {
		return &failure{Type: wire.TypeSession, Message: "the database is not open read-only"}
	}
	return nil
}

func (e *engine) begin() error    { return e.do(e.db, textBegin) }
func (e *engine) rollback() error { return e.do(e.db, textRollback) }

// do runs one of the session's own statements.
func (e *engine) do(c duckdb.Connection, text string) error {
	var r duckdb.Result
	defer duckdb.DestroyResult(&r)
	if duckdb.Query(c, text, &r) != duckdb.StateSuccess {
		return fail(duckdb.ResultError(&r))
	}
	return nil
}

// ask runs one of the session's own statements and returns its values as text; NULL is "".
func (e *engine) ask(c duckdb.Connection, text string) ([][]string, error) {
	var r duckdb.Result
	defer duckdb.DestroyResult(&r)
	if duckdb.Query(c, text, &r) != duckdb.StateSuccess {
		return nil, fail(duckdb.ResultError(&r))
	}
	columns := make([]column, duckdb.ColumnCount(&r))
	for i := range columns {
		columns[i] = columnOf(&r, duckdb.IdxT(i))
	}
	caster, err := e.caster(columns)
	if err != nil {
		return nil, err
	}
	defer caster.close()
	var out [][]string
	for {
		chunk := duckdb.FetchChunk(r)
		if chunk.Ptr == nil {
			break
		}
		err := caster.texts(chunk, func(v *values) (bool, error) {
			for i := range v.rows {
				row := make([]string, len(columns))
				for k := range columns {
					if text, null := v.at(k, i); !null {
						row[k] = text
					}
				}
				out = append(out, row)
			}
			return true, nil
		})
		duckdb.DestroyDataChunk(&chunk)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// create makes the table that values are cast in.
func (e *engine) create(columns []column) error {
	var b strings.Builder
	b.WriteString("CREATE OR REPLACE TABLE cast_values (")
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("c" + strconv.Itoa(i))
		if c.bytes {
			b.WriteString(" BLOB")
		} else {
			b.WriteString(" VARCHAR")
		}
	}
	b.WriteByte(')')
	return e.do(e.cast, b.String())
}

// append opens the appender whose rows the engine casts into the table.
func (e *engine) append(chunk duckdb.DataChunk, c *caster) error {
	types := typesOf(chunk, len(c.columns))
	names := make([]string, len(types))
	texts := make([]string, len(types))
	for i := range types {
		names[i] = "c" + strconv.Itoa(i)
		texts[i] = "CAST(" + names[i] + " AS VARCHAR)"
		if c.columns[i].bytes {
			texts[i] = names[i]
		}
		defer duckdb.DestroyLogicalType(&types[i])
	}
	if duckdb.AppenderCreateQuery(e.cast, textCast+strings.Join(texts, ", ")+" FROM rows_to_cast", types, "rows_to_cast", names, &c.appender) != duckdb.StateSuccess {
		return fail(duckdb.AppenderError(c.appender))
	}
	return nil
}

// readCast calls f with the values that were cast, and removes them.
func (e *engine) readCast(columns []column, f func(*values) (bool, error)) error {
	var r duckdb.Result
	defer duckdb.DestroyResult(&r)
	if duckdb.Query(e.cast, textRead, &r) != duckdb.StateSuccess {
		return fail(duckdb.ResultError(&r))
	}
	for more := true; more; {
		chunk := duckdb.FetchChunk(r)
		if chunk.Ptr == nil {
			break
		}
		v := valuesOf(chunk, columns)
		var err error
		more, err = f(v)
		duckdb.DestroyDataChunk(&chunk)
		if err != nil {
			return err
		}
	}
	return e.do(e.cast, textTruncate)
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func quoteTexts(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = quoteText(t)
	}
	return strings.Join(quoted, ", ")
}
