package executiontest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// The roles that attacks run as.
const (
	roleSuperuser = "superuser"
	roleOwner     = "owner of the tables"
	roleReader    = "role that may only read"
)

// PostgreSQL returns the target for PostgreSQL. The address that open gets is a
// URL. The calling package must have testdb.Main as its TestMain.
func PostgreSQL(open OpenFunc) Target {
	return Target{
		Engine: "PostgreSQL",
		Intro: "The superuser is the worst case. The owner of the tables is what the role of an application often is. " +
			"The third role may select from tables that it was granted and nothing else: what a connection should use. Versions 13 to 18 give these rows.",
		Dialect: "postgres",
		Open:    open,
		NewDatabase: func(tb testing.TB) Database {
			tb.Helper()
			server := testdb.Postgres(tb)
			return &postgresDatabase{url: server.NewDatabase(tb, itemsTable)}
		},
		Queries:   postgresQueries,
		Values:    postgresValues,
		Victim:    newPostgresVictim,
		Roles:     []string{roleSuperuser, roleOwner, roleReader},
		Attacks:   postgresAttacks,
		Secrets:   "public.secrets",
		StoppedBy: postgresControl,
		Report:    filepath.Join("..", "..", "docs", "evidence", "second-control.md"),
	}
}

type postgresDatabase struct{ url string }

func (d *postgresDatabase) Address() string { return d.url }

// Running counts the sessions of the database that are busy.
func (d *postgresDatabase) Running(tb testing.TB) (n int, ok bool) {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), d.url)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(tb.Context()) //nolint:errcheck // the connection has only read
	const busy = `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()`
	if err := conn.QueryRow(tb.Context(), busy).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n, true
}

var postgresQueries = Queries{
	One:     "SELECT 1 AS one",
	Numbers: func(n int) string { return fmt.Sprintf("SELECT i AS n FROM generate_series(1, %d) AS i", n) },
	Texts: func(rows, size int) string {
		return fmt.Sprintf("SELECT lpad(i::text, %d, '0') AS text FROM generate_series(1, %d) AS i", size, rows)
	},
	Cells: func(sizes ...int) string {
		return unionOf(sizes, func(id, size int) string {
			return fmt.Sprintf("SELECT %d AS id, repeat('x', %d) AS cell", id, size)
		})
	},
	Columns:    selectColumns,
	Duplicates: "SELECT 1 AS a, 2 AS a",
	Empty:      "SELECT id, name FROM items WHERE id < 0",
	NoColumns:  "SELECT FROM items",
	Slow: []string{
		"SELECT pg_sleep(120)",
		"SELECT count(*) FROM generate_series(1, 100000) AS a, generate_series(1, 100000) AS b WHERE (a + b) % 7 = 8",
		"SELECT i FROM generate_series(1, 100000) AS i, LATERAL pg_sleep(0.01 + i * 0)",
	},
	Fails:     "SELECT 1 / (id - 1) FROM items WHERE id = 1",
	FailsLate: "SELECT 1 / (7000 - i) FROM generate_series(1, 9000) AS i",
	Wrong:     "SELECT 'äö€', id FROM items WHERE nowhere = 1",
	WrongAt:   "nowhere",
}

var postgresValues = []ValueCase{
	{"null", "SELECT NULL::text", "text", execution.Value{}},
	{"empty text", "SELECT ''::text", "text", execution.Value{Kind: execution.String}},
	{"text", "SELECT 'Grüße, 世界 😀'::text", "text", execution.Value{Kind: execution.String, Text: "Grüße, 世界 😀"}},
	{"integer", "SELECT -42", "int4", execution.Value{Kind: execution.Number, Text: "-42"}},
	{"2^53", "SELECT 9007199254740992", "int8", execution.Value{Kind: execution.Number, Text: "9007199254740992"}},
	{"2^53 + 1", "SELECT 9007199254740993", "int8", execution.Value{Kind: execution.String, Text: "9007199254740993"}},
	{"-2^53 - 1", "SELECT -9007199254740993", "int8", execution.Value{Kind: execution.String, Text: "-9007199254740993"}},
	{"float", "SELECT 0.1::float8 + 0.2::float8", "float8", execution.Value{Kind: execution.Number, Text: "0.30000000000000004"}},
	{"not a number", "SELECT 'NaN'::float8", "float8", execution.Value{Kind: execution.String, Text: "NaN"}},
	{"infinity", "SELECT '-Infinity'::float8", "float8", execution.Value{Kind: execution.String, Text: "-Infinity"}},
	{"long decimal", "SELECT 12345678901234567890.123450", "numeric", execution.Value{Kind: execution.String, Text: "12345678901234567890.123450"}},
	{"truth", "SELECT true", "bool", execution.Value{Kind: execution.Bool, Text: "t"}},
	{"bytes", `SELECT '\x00ff10'::bytea`, "bytea", execution.Value{Kind: execution.String, Text: `\x00ff10`}},
	{"date", "SELECT DATE '2024-02-29'", "date", execution.Value{Kind: execution.String, Text: "2024-02-29"}},
	{"date before Christ", "SELECT DATE '0044-03-15 BC'", "date", execution.Value{Kind: execution.String, Text: "0044-03-15 BC"}},
	{"time stamp", "SELECT TIMESTAMPTZ '2024-02-29 12:00:00+02'", "timestamptz", execution.Value{Kind: execution.String, Text: "2024-02-29 10:00:00+00"}},
	{"interval", "SELECT INTERVAL '1 day 2 hours'", "interval", execution.Value{Kind: execution.String, Text: "1 day 02:00:00"}},
	{"array", "SELECT ARRAY[[1,2],[3,NULL]]", "int4[]", execution.Value{Kind: execution.String, Text: "{{1,2},{3,NULL}}"}},
	{"json", `SELECT '{"b":1,"b":9007199254740993}'::json`, "json", execution.Value{Kind: execution.String, Text: `{"b":1,"b":9007199254740993}`}},
	{"uuid", "SELECT '00000000-0000-0000-0000-00000000002a'::uuid", "uuid", execution.Value{Kind: execution.String, Text: "00000000-0000-0000-0000-00000000002a"}},
}

// postgresControl names the control that an error of the PostgreSQL session
// came from, by its SQLSTATE (the manual's appendix A).
func postgresControl(e *execution.Error) string {
	switch e.SQLState {
	case "25006": // read_only_sql_transaction
		return "read-only transaction"
	case "25001", "2D000": // active_sql_transaction, invalid_transaction_termination
		return "transaction"
	case "42501": // insufficient_privilege
		return "rights of the role"
	case "42601": // syntax_error
		if strings.Contains(e.Message, "multiple commands") {
			return "one statement per call"
		}
		return ""
	case "0A000": // feature_not_supported
		return "server"
	case "": // not from the server
		return "check of the protocol"
	default:
		return ""
	}
}
