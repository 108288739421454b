package executiontest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

const itemsTable = `CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT);
	INSERT INTO items VALUES (1, 'one'), (2, 'two'), (3, 'three');`

// SQLite returns the target for SQLite. The address that open gets is the path
// of a database file.
func SQLite(open OpenFunc) Target {
	return Target{
		Engine: "SQLite",
		Intro: "SQLite has no roles. The authorizer is asked first, so that most rows name it. It does not stand alone: " +
			"further tests send the same texts without it, and then straight to the read-only connection, and the database is still not changed.",
		Dialect: "sqlite",
		Open:    open,
		NewDatabase: func(tb testing.TB) Database {
			tb.Helper()
			return sqliteFile(testdb.SQLiteFile(tb, itemsTable))
		},
		Queries:   sqliteQueries,
		Values:    sqliteValues,
		Victim:    newSQLiteVictim,
		Roles:     []string{""},
		Attacks:   sqliteAttacks,
		Secrets:   "main.secrets",
		StoppedBy: sqliteControl,
		Report:    filepath.Join("..", "..", "docs", "evidence", "second-control.md"),
	}
}

// sqliteFile is a database in this process. No server runs its statements.
type sqliteFile string

func (f sqliteFile) Address() string                   { return string(f) }
func (sqliteFile) Running(testing.TB) (n int, ok bool) { return 0, false }

const sqliteSeries = "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < %d) "

var sqliteQueries = Queries{
	One:     "SELECT 1 AS one",
	Numbers: func(n int) string { return fmt.Sprintf(sqliteSeries+"SELECT i AS n FROM s", n) },
	Texts: func(rows, size int) string {
		return fmt.Sprintf(sqliteSeries+"SELECT printf('%%0*d', %d, i) AS text FROM s", rows, size)
	},
	Cells: func(sizes ...int) string {
		return unionOf(sizes, func(id, size int) string {
			return fmt.Sprintf("SELECT %d AS id, printf('%%0*d', %d, 0) AS cell", id, size)
		})
	},
	Columns:    selectColumns,
	Duplicates: "SELECT 1 AS a, 2 AS a",
	Empty:      "SELECT id, name FROM items WHERE id < 0",
	Slow: []string{
		"WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s) SELECT count(*) FROM s",
		"SELECT count(*) FROM generate_series(1, 9000000000) AS a WHERE value % 7 = 8",
		"WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s LIMIT 4000) SELECT max(a.i * b.i % 1013) FROM s a, s b, s c",
	},
	Fails:     "SELECT abs(id - 9223372036854775807 - 2) FROM items WHERE id = 1",
	FailsLate: fmt.Sprintf(sqliteSeries+"SELECT CASE WHEN i < 7000 THEN i ELSE abs(-9223372036854775807 - 1 + i - i) END FROM s", 9000),
	Wrong:     "SELECT 'äö€', id FROM items WHERE nowhere = 1",
	WrongAt:   "nowhere",
}

// selectColumns is the same in every dialect.
func selectColumns(n int) string {
	var b strings.Builder
	b.WriteString("SELECT ")
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d AS c%d", i+1, i+1)
	}
	return b.String()
}

// unionOf returns one SELECT for each size, in order, numbered from 1.
func unionOf(sizes []int, one func(id, size int) string) string {
	parts := make([]string, len(sizes))
	for i, size := range sizes {
		parts[i] = one(i+1, size)
	}
	return strings.Join(parts, " UNION ALL ")
}

var sqliteValues = []ValueCase{
	{"null", "SELECT NULL", "", execution.Value{}},
	{"empty text", "SELECT ''", "", execution.Value{Kind: execution.String}},
	{"text", "SELECT 'Grüße, 世界 😀'", "", execution.Value{Kind: execution.String, Text: "Grüße, 世界 😀"}},
	{"text with NUL", "SELECT 'a' || char(0) || 'b'", "", execution.Value{Kind: execution.String, Text: "a\x00b"}},
	{"declared type", "SELECT name FROM items WHERE id = 2", "TEXT", execution.Value{Kind: execution.String, Text: "two"}},
	{"key", "SELECT id FROM items WHERE id = 2", "INTEGER", execution.Value{Kind: execution.Number, Text: "2"}},
	{"integer", "SELECT -42", "", execution.Value{Kind: execution.Number, Text: "-42"}},
	{"2^53", "SELECT 9007199254740992", "", execution.Value{Kind: execution.Number, Text: "9007199254740992"}},
	{"2^53 + 1", "SELECT 9007199254740993", "", execution.Value{Kind: execution.String, Text: "9007199254740993"}},
	{"-2^53 - 1", "SELECT -9007199254740993", "", execution.Value{Kind: execution.String, Text: "-9007199254740993"}},
	{"largest integer", "SELECT 9223372036854775807", "", execution.Value{Kind: execution.String, Text: "9223372036854775807"}},
	{"real", "SELECT 0.1 + 0.2", "", execution.Value{Kind: execution.Number, Text: "0.30000000000000004"}},
	{"whole real", "SELECT 2.0", "", execution.Value{Kind: execution.Number, Text: "2.0"}},
	{"large real", "SELECT 1e300", "", execution.Value{Kind: execution.Number, Text: "1.0e+300"}},
	{"infinity", "SELECT 9e999", "", execution.Value{Kind: execution.String, Text: "Inf"}},
	{"-infinity", "SELECT -9e999", "", execution.Value{Kind: execution.String, Text: "-Inf"}},
	{"not a number", "SELECT 9e999 - 9e999", "", execution.Value{}},
	{"truth", "SELECT 1 = 1", "", execution.Value{Kind: execution.Number, Text: "1"}},
	{"blob", "SELECT x'00ff10'", "BLOB", execution.Value{Kind: execution.String, Text: `\x00ff10`}},
	{"blob that is text", "SELECT CAST('ab' AS BLOB)", "BLOB", execution.Value{Kind: execution.String, Text: `\x6162`}},
	{"empty blob", "SELECT x''", "BLOB", execution.Value{Kind: execution.String, Text: `\x`}},
	{"text that is no UTF-8", "SELECT CAST(x'61ff62' AS TEXT)", "BLOB", execution.Value{Kind: execution.String, Text: `\x61ff62`}},
	{"half a surrogate", "SELECT CAST(x'eda080' AS TEXT)", "BLOB", execution.Value{Kind: execution.String, Text: `\xeda080`}},
	{"replacement character", "SELECT char(65533)", "", execution.Value{Kind: execution.String, Text: "\uFFFD"}},
	{"date", "SELECT date('2024-02-29')", "", execution.Value{Kind: execution.String, Text: "2024-02-29"}},
	{"json", `SELECT json('{"b":1,"b":9007199254740993}')`, "", execution.Value{Kind: execution.String, Text: `{"b":1,"b":9007199254740993}`}},
}

// sqliteControl names the control that an error of the SQLite session came
// from.
func sqliteControl(e *execution.Error) string {
	switch {
	case e.SQLState == "SQLITE_AUTH", strings.HasPrefix(e.Message, "not authorized"):
		return "authorizer"
	case strings.HasPrefix(e.SQLState, "SQLITE_READONLY"):
		return "read-only connection"
	case e.SQLState == "" && strings.Contains(e.Message, "statement writes"):
		return "check that the statement reads"
	case strings.Contains(e.Message, "more than one statement"):
		return "one statement per call"
	case strings.Contains(e.Message, "no such function"), strings.Contains(e.Message, "no such module"), strings.Contains(e.Message, "no such table"):
		return "not part of this SQLite"
	case strings.Contains(e.Message, "may not be modified"), strings.Contains(e.Message, "too many arguments"):
		return "SQLite itself"
	default:
		return ""
	}
}

// sqliteVictim is a database file in a folder of its own.
type sqliteVictim struct{ path string }

func newSQLiteVictim(tb testing.TB) Victim {
	tb.Helper()
	return &sqliteVictim{path: testdb.SQLiteFile(tb, itemsTable,
		`CREATE TABLE secrets (name TEXT, value TEXT); INSERT INTO secrets VALUES ('key', 'hidden');
		CREATE VIEW item_names AS SELECT name FROM items;
		CREATE VIRTUAL TABLE docs USING fts5(body); INSERT INTO docs VALUES ('one text');`)}
}

func (v *sqliteVictim) Major() int { return 3 }

func (v *sqliteVictim) Address(testing.TB, string) string { return v.path }

func (v *sqliteVictim) Text(_ testing.TB, _, sql string) string {
	return strings.ReplaceAll(sql, "{dir}", filepath.Dir(v.path))
}

func (v *sqliteVictim) Session() string {
	return "SELECT name, sql FROM sqlite_temp_master UNION ALL SELECT 'like', 'a' LIKE 'A' UNION ALL SELECT 'changes', total_changes()"
}

func (v *sqliteVictim) Restore(testing.TB) {}

// State reads everything through a connection of its own, and lists the files
// in the folder.
func (v *sqliteVictim) State(tb testing.TB) []Fact {
	tb.Helper()
	facts := filesIn(tb, filepath.Dir(v.path))
	conn, err := sqlite3.OpenFlags(v.path, sqlite3.OPEN_READWRITE)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the connection has only read
	for _, pragma := range []string{"user_version", "application_id", "schema_version", "journal_mode"} {
		for _, row := range sqliteRows(tb, conn, "PRAGMA "+pragma) {
			facts = append(facts, Fact{"setting", pragma, row})
		}
	}
	for _, name := range []string{"sqlite_schema", "items", "secrets"} {
		for i, row := range sqliteRows(tb, conn, "SELECT * FROM "+name) {
			facts = append(facts, Fact{"table", name + " " + strconv.Itoa(i), row})
		}
	}
	return facts
}

// filesIn lists the files in a folder, with the beginning of a hash of their content.
func filesIn(tb testing.TB, dir string) []Fact {
	tb.Helper()
	var facts []Fact
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		facts = append(facts, Fact{"file", d.Name(), hex.EncodeToString(sum[:8])})
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return facts
}

// sqliteRows returns every row as one string.
func sqliteRows(tb testing.TB, conn *sqlite3.Conn, sql string) []string {
	tb.Helper()
	stmt, _, err := conn.Prepare(sql)
	if err != nil {
		tb.Fatal(err)
	}
	defer stmt.Close() //nolint:errcheck // stmt.Err below reports the error of Close
	var rows []string
	for stmt.Step() {
		var cells []string
		for i := range stmt.ColumnCount() {
			cells = append(cells, stmt.ColumnText(i))
		}
		rows = append(rows, strings.Join(cells, "\x1f"))
	}
	if err := stmt.Err(); err != nil {
		tb.Fatal(err)
	}
	return rows
}
