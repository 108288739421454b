package executiontest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
)

// DuckDBFile makes and reads database files without the backend. A package that links
// DuckDB implements it.
type DuckDBFile struct {
	New  func(tb testing.TB, statements ...string) string
	Rows func(tb testing.TB, path, sql string) []string
}

const duckItems = "CREATE TABLE items (id INTEGER PRIMARY KEY, name VARCHAR); INSERT INTO items VALUES (1, 'one'), (2, 'two'), (3, 'three')"

// DuckDB returns the target for DuckDB. The address that open gets is the path of a
// database file.
func DuckDB(open OpenFunc, files DuckDBFile) Target {
	return Target{
		Engine: "DuckDB",
		Intro: "DuckDB has no roles. The engine is asked first whether a text is one SELECT or EXPLAIN, so that most rows name this check. It does not stand alone: " +
			"`ktx doctor` and a further test send writes and ways to files without it, and the read-only session refuses them.",
		Dialect: "duckdb",
		Open:    open,
		NewDatabase: func(tb testing.TB) Database {
			tb.Helper()
			return duckDatabase(files.New(tb, duckItems))
		},
		Queries: duckQueries,
		Values:  duckValues,
		Victim: func(tb testing.TB) Victim {
			tb.Helper()
			return &duckVictim{files: files, path: files.New(tb, duckItems,
				"CREATE TABLE secrets (name VARCHAR, value VARCHAR); INSERT INTO secrets VALUES ('key', 'hidden'); CREATE SEQUENCE numbers; CREATE VIEW item_names AS SELECT name FROM items")}
		},
		Roles:     []string{""},
		Attacks:   duckAttacks,
		Secrets:   "main.secrets",
		StoppedBy: duckControl,
		Report:    filepath.Join("..", "..", "docs", "evidence", "second-control.md"),
	}
}

// duckDatabase is a database file. Its statements run in processes of the backend.
type duckDatabase string

func (d duckDatabase) Address() string                   { return string(d) }
func (duckDatabase) Running(testing.TB) (n int, ok bool) { return 0, false }

var duckQueries = Queries{
	One:     "SELECT 1 AS one",
	Numbers: func(n int) string { return fmt.Sprintf("SELECT i AS n FROM range(1, %d) r(i)", n+1) },
	Texts: func(rows, size int) string {
		return fmt.Sprintf("SELECT lpad(i::VARCHAR, %d, '0') AS text FROM range(1, %d) r(i)", size, rows+1)
	},
	Cells: func(sizes ...int) string {
		rows := make([]string, len(sizes))
		for i, size := range sizes {
			rows[i] = fmt.Sprintf("(%d, repeat('0', %d))", i+1, size)
		}
		return "SELECT * FROM (VALUES " + strings.Join(rows, ", ") + ") t(id, cell)"
	},
	Columns:    selectColumns,
	Duplicates: "SELECT 1 AS a, 2 AS a",
	Empty:      "SELECT id, name FROM items WHERE id < 0",
	Slow: []string{
		"SELECT count(*) FROM range(9000000000000) r(i) WHERE hash(i) = 42",
		"SELECT max(hash(a.i, b.i, c.i)) FROM range(100000) a(i), range(100000) b(i), range(100000) c(i)",
		"WITH RECURSIVE s(i) AS (SELECT 1::HUGEINT UNION ALL SELECT i + 1 FROM s) SELECT count(*) FROM s",
		// One call of a function, which an interrupt does not end.
		"SELECT length(repeat('x', 900000000)), length(repeat('y', 900000000)), count(*) FROM range(9000000000000) r(i) WHERE hash(i) = 42",
	},
	Fails:     "SELECT error('boom ' || name) FROM items WHERE id = 1",
	FailsLate: "SELECT CAST(CASE WHEN i < 400000 THEN '1' ELSE 'x' || i END AS INTEGER) FROM range(500000) r(i)",
	Wrong:     "SELECT 'äö€', id FROM items WHERE nowhere = 1",
	WrongAt:   "nowhere",
}

func str(text string) execution.Value {
	return execution.Value{Kind: execution.String, Text: text}
}

func num(text string) execution.Value {
	return execution.Value{Kind: execution.Number, Text: text}
}

var duckValues = []ValueCase{
	{"null", "SELECT NULL", "INTEGER", execution.Value{}},
	{"empty text", "SELECT ''", "VARCHAR", str("")},
	{"text", "SELECT 'Grüße, 世界 😀'", "VARCHAR", str("Grüße, 世界 😀")},
	{"text with NUL", "SELECT 'a' || chr(0) || 'b'", "VARCHAR", str("a\x00b")},
	{"key", "SELECT id FROM items WHERE id = 2", "INTEGER", num("2")},
	{"true", "SELECT 1 = 1", "BOOLEAN", execution.Value{Kind: execution.Bool, Text: "true"}},
	{"2^53", "SELECT 9007199254740992", "BIGINT", num("9007199254740992")},
	{"2^53 + 1", "SELECT 9007199254740993", "BIGINT", str("9007199254740993")},
	{"hugeint", "SELECT 170141183460469231731687303715884105727", "HUGEINT", str("170141183460469231731687303715884105727")},
	{"decimal", "SELECT 1.50", "DECIMAL(3,2)", str("1.50")},
	{"double", "SELECT 0.1::DOUBLE + 0.2::DOUBLE", "DOUBLE", num("0.30000000000000004")},
	{"float", "SELECT 1.1::FLOAT", "FLOAT", num("1.1")},
	{"infinity", "SELECT 'inf'::DOUBLE", "DOUBLE", str("inf")},
	{"not a number", "SELECT 'nan'::DOUBLE", "DOUBLE", str("nan")},
	{"blob", `SELECT '\x00\xFFab'::BLOB`, "BLOB", str(`\x00ff6162`)},
	{"empty blob", "SELECT ''::BLOB", "BLOB", str(`\x`)},
	{"date", "SELECT DATE '2024-02-29'", "DATE", str("2024-02-29")},
	{"date before Christ", "SELECT DATE '0044-03-15 (BC)'", "DATE", str("0044-03-15 (BC)")},
	{"timestamp with time zone", "SELECT TIMESTAMPTZ '2024-02-29 12:34:56.5+02'", "TIMESTAMP WITH TIME ZONE", str("2024-02-29 10:34:56.5+00")},
	{"interval", "SELECT INTERVAL '1 month 2 days 3.5 seconds'", "INTERVAL", str("1 month 2 days 00:00:03.5")},
	{"list", "SELECT [1, NULL, 3]", "INTEGER[]", str("[1, NULL, 3]")},
	{"struct", "SELECT {'a': 1, 'b': 'x'}", "STRUCT(a INTEGER, b VARCHAR)", str("{'a': 1, 'b': x}")},
	{"map", "SELECT MAP {'k': 1.50}", "MAP(VARCHAR, DECIMAL(3,2))", str("{k=1.50}")},
	{"json", `SELECT '{"b":1,"b":9007199254740993}'::JSON`, "JSON", str(`{"b":1,"b":9007199254740993}`)},
}

// duckControl names the control that an error came from.
func duckControl(e *execution.Error) string {
	switch {
	case strings.Contains(e.Message, "more than one statement"), strings.Contains(e.Message, "no statement"):
		return "one statement per call"
	case strings.Contains(e.Message, "does not call this statement"):
		return "check that the statement reads"
	case e.SQLState == "TransactionContext", strings.Contains(e.Message, "read-only"):
		return "read-only transaction"
	case e.SQLState == "Permission", strings.Contains(e.Message, "disabled by configuration"), strings.Contains(e.Message, "disabled through configuration"):
		return "no access to files"
	case strings.Contains(e.Message, "configuration has been locked"):
		return "locked configuration"
	case e.SQLState == "Catalog", e.SQLState == "Missing Extension":
		return "not part of this DuckDB"
	case e.SQLState == "Binder", e.SQLState == "Parser", e.SQLState == "Not implemented":
		return "DuckDB itself"
	default:
		return ""
	}
}

// duckVictim is a database file in a folder of its own.
type duckVictim struct {
	files DuckDBFile
	path  string
}

func (v *duckVictim) Major() int { return 1 }

func (v *duckVictim) Address(testing.TB, string) string { return v.path }

func (v *duckVictim) Text(_ testing.TB, _, sql string) string {
	return strings.ReplaceAll(sql, "{dir}", filepath.Dir(v.path))
}

func (v *duckVictim) Session() string {
	return "SELECT name, value FROM duckdb_settings() WHERE name NOT IN ('temp_directory', 'allowed_directories', 'home_directory', 'extension_directory', 'secret_directory') " +
		"UNION ALL SELECT database_name, coalesce(readonly::VARCHAR, '') FROM duckdb_databases() " +
		"UNION ALL SELECT schema_name, function_name FROM duckdb_functions() WHERE NOT internal " +
		"UNION ALL SELECT schema_name, table_name FROM duckdb_tables() ORDER BY ALL"
}

func (v *duckVictim) Restore(testing.TB) {}

// State lists the files in the folder, and reads everything without the backend.
func (v *duckVictim) State(tb testing.TB) []Fact {
	tb.Helper()
	facts := filesIn(tb, filepath.Dir(v.path))
	const everything = "SELECT 'tables', concat_ws(' ', table_schema, table_name, table_type) FROM information_schema.tables " +
		"UNION ALL SELECT 'items', concat_ws(' ', id, name) FROM items UNION ALL SELECT 'secrets', concat_ws(' ', name, value) FROM secrets " +
		"UNION ALL SELECT 'sequence', concat_ws(' ', sequence_name, last_value) FROM duckdb_sequences()"
	for _, row := range v.files.Rows(tb, v.path, everything) {
		name, value, _ := strings.Cut(row, "\x1f")
		facts = append(facts, Fact{"table", name, value})
	}
	return facts
}
