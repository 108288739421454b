package executiontest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
)

// SQLServer returns the target for a stand-in for SQL Server, package
// tdsserver. The address that open gets is a URL.
//
// It shows that the backend keeps the contract on the wire of MS-TDS: what it
// sends and when, how it reads values, errors, ends and broken answers, and
// which connections it uses again. It cannot show what only the engine does:
// that SET ROWCOUNT and LOCK_TIMEOUT work, that a rollback undoes a change,
// that a permission is denied. So it has no attacks; [RealSQLServer] has them.
func SQLServer(open OpenFunc) Target {
	return Target{
		Engine:  "SQL Server",
		Dialect: "sqlserver",
		Open:    open,
		NewDatabase: func(tb testing.TB) Database {
			tb.Helper()
			return &standIn{StandIn(tb, tdsserver.Config{})}
		},
		Queries: sqlServerQueries,
		Values:  sqlServerValues,
		Victim: func(tb testing.TB) Victim {
			tb.Helper()
			tb.Skip("a stand-in has no engine to attack")
			return nil
		},
		Secrets:   "dbo.secrets",
		StoppedBy: sqlServerControl,
	}
}

// StandIn starts a server of package tdsserver with the two views of logins
// that a probe reads. Every login may connect, and do nothing more.
func StandIn(tb testing.TB, config tdsserver.Config) *tdsserver.Server {
	tb.Helper()
	s := tdsserver.Start(tb, config)
	name, small := tdsserver.NVarChar(128), tdsserver.NVarChar(60)
	logins := tdsserver.Table{
		Columns: []tdsserver.Column{{Name: "name", Type: name}, {Name: "principal_id", Type: tdsserver.IntFixed}},
		Rows:    [][]any{{"sa", int64(1)}, {"public", int64(2)}, {"sysadmin", int64(3)}},
	}
	rights := tdsserver.Table{
		Columns: []tdsserver.Column{
			{Name: "class", Type: tdsserver.TinyInt},
			{Name: "class_desc", Type: small},
			{Name: "major_id", Type: tdsserver.IntFixed},
			{Name: "grantee_principal_id", Type: tdsserver.IntFixed},
			{Name: "permission_name", Type: name},
			{Name: "state", Type: tdsserver.Char(1)},
		},
		Rows: [][]any{{int64(105), "ENDPOINT", int64(4), int64(2), "CONNECT", "G"}},
	}
	accounts := config.Accounts
	if len(accounts) == 0 {
		accounts = []tdsserver.Account{tdsserver.Reader}
	}
	for i, a := range accounts {
		id := int64(267 + i)
		logins.Rows = append(logins.Rows, []any{a.Name, id})
		rights.Rows = append(rights.Rows, []any{int64(100), "SERVER", int64(0), id, "CONNECT SQL", "G"})
	}
	s.SetTable("sys.server_principals", logins)
	s.SetTable("sys.server_permissions", rights)
	return s
}

// standIn is one server of package tdsserver.
type standIn struct{ s *tdsserver.Server }

func (d *standIn) Address() string {
	return d.s.URL("encrypt", "true", "certificate", d.s.CertificateFile())
}

// Running counts the batches that run.
func (d *standIn) Running(testing.TB) (n int, ok bool) { return d.s.Running(), true }

var sqlServerQueries = Queries{
	One:     "SELECT 1 AS one",
	Numbers: func(n int) string { return fmt.Sprintf("SELECT value AS n FROM GENERATE_SERIES(1, %d)", n) },
	Texts: func(rows, size int) string {
		return fmt.Sprintf("SELECT RIGHT(REPLICATE('0', %d) + CAST(value AS varchar(20)), %d) AS text FROM GENERATE_SERIES(1, %d)", size, size, rows)
	},
	Cells: func(sizes ...int) string {
		return unionOf(sizes, func(id, size int) string {
			return fmt.Sprintf("SELECT %d AS id, REPLICATE(CAST('x' AS varchar(max)), %d) AS cell", id, size)
		})
	},
	Columns:    selectColumns,
	Duplicates: "SELECT 1 AS a, 2 AS a",
	Empty:      "SELECT id, name FROM items WHERE id < 0",
	Slow: []string{
		"WAITFOR DELAY '00:02:00'",
		"SELECT COUNT_BIG(*) FROM GENERATE_SERIES(1, 100000) AS a CROSS JOIN GENERATE_SERIES(1, 100000) AS b WHERE (a.value + b.value) % 7 = 8",
	},
	Fails:     "SELECT 1 / (id - 1) FROM items WHERE id = 1",
	FailsLate: "SELECT 1 / (7000 - value) AS n FROM GENERATE_SERIES(1, 9000)",
	Wrong:     "SELECT 'äö€', id FROM items WHERE nowhere = 1",
}

func text(s string) execution.Value   { return execution.Value{Kind: execution.String, Text: s} }
func number(s string) execution.Value { return execution.Value{Kind: execution.Number, Text: s} }

var sqlServerValues = []ValueCase{
	{"null", "SELECT CAST(NULL AS nvarchar(10)) AS v", "nvarchar", execution.Value{}},
	{"empty text", "SELECT N'' AS v", "nvarchar", text("")},
	{"text", "SELECT N'Grüße, 世界 😀' AS v", "nvarchar", text("Grüße, 世界 😀")},
	{"text of a code page", "SELECT 'Grüße, €' AS v", "varchar", text("Grüße, €")},
	{"long text", "SELECT REPLICATE(CAST(N'ä' AS nvarchar(max)), 9000) AS v", "nvarchar", text(strings.Repeat("ä", 9000))},
	{"replacement character", "SELECT CAST(NCHAR(65533) AS nvarchar(1)) AS v", "nvarchar", text("\uFFFD")},
	{"integer", "SELECT -42 AS v", "int", number("-42")},
	{"tinyint", "SELECT CAST(255 AS tinyint) AS v", "tinyint", number("255")},
	{"smallint", "SELECT CAST(-32768 AS smallint) AS v", "smallint", number("-32768")},
	{"2^53", "SELECT CAST('9007199254740992' AS bigint) AS v", "bigint", number("9007199254740992")},
	{"2^53 + 1", "SELECT CAST('9007199254740993' AS bigint) AS v", "bigint", text("9007199254740993")},
	{"-2^53 - 1", "SELECT CAST('-9007199254740993' AS bigint) AS v", "bigint", text("-9007199254740993")},
	{"truth", "SELECT CAST(1 AS bit) AS v", "bit", execution.Value{Kind: execution.Bool, Text: "1"}},
	{"float", "SELECT CAST(0.1 AS float) + CAST(0.2 AS float) AS v", "float", number("0.30000000000000004")},
	{"whole float", "SELECT CAST(2 AS float) AS v", "float", number("2")},
	{"large float", "SELECT CAST(1e300 AS float) AS v", "float", number("1e+300")},
	{"real", "SELECT CAST(0.1 AS real) AS v", "real", number("0.1")},
	{"long decimal", "SELECT CAST(12345678901234567890.123450 AS decimal(38, 6)) AS v", "decimal", text("12345678901234567890.123450")},
	{"small decimal", "SELECT CAST(-0.5 AS decimal(38, 18)) AS v", "decimal", text("-0.500000000000000000")},
	{"largest decimal", "SELECT CAST('99999999999999999999999999999999999999' AS decimal(38, 0)) AS v", "decimal", text("99999999999999999999999999999999999999")},
	{"money", "SELECT CAST(-922337203685477.5808 AS money) AS v", "money", text("-922337203685477.5808")},
	{"smallmoney", "SELECT CAST(12.3 AS smallmoney) AS v", "smallmoney", text("12.3000")},
	{"bytes", "SELECT CAST(0x00FF10 AS varbinary(10)) AS v", "varbinary", text(`\x00ff10`)},
	{"no bytes", "SELECT CAST(0x AS varbinary(10)) AS v", "varbinary", text(`\x`)},
	{"date", "SELECT CAST('2024-02-29' AS date) AS v", "date", text("2024-02-29")},
	{"first date", "SELECT CAST('0001-01-01' AS date) AS v", "date", text("0001-01-01")},
	{"last date", "SELECT CAST('9999-12-31' AS date) AS v", "date", text("9999-12-31")},
	{"time", "SELECT CAST('23:59:59.9999999' AS time(7)) AS v", "time", text("23:59:59.9999999")},
	{"short time", "SELECT CAST('12:34:56' AS time(0)) AS v", "time", text("12:34:56")},
	{"datetime2", "SELECT CAST('2024-02-29 12:34:56.123' AS datetime2(3)) AS v", "datetime2", text("2024-02-29 12:34:56.123")},
	{"datetime", "SELECT CAST('2024-02-29T12:34:56.997' AS datetime) AS v", "datetime", text("2024-02-29 12:34:56.997")},
	{"smalldatetime", "SELECT CAST('2024-02-29T12:34:00' AS smalldatetime) AS v", "smalldatetime", text("2024-02-29 12:34:00")},
	{"datetimeoffset", "SELECT CAST('2024-02-29 01:00:00.5 +05:30' AS datetimeoffset(1)) AS v", "datetimeoffset", text("2024-02-29 01:00:00.5 +05:30")},
	{"uniqueidentifier", "SELECT CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier) AS v", "uniqueidentifier", text("6F9619FF-8B86-D011-B42D-00C04FC964FF")},
	{"xml", "SELECT CAST(N'<a b=\"1\"/>' AS xml) AS v", "xml", text(`<a b="1"/>`)},
	{"variant of a decimal", "SELECT CAST(CAST(1.50 AS decimal(5, 2)) AS sql_variant) AS v", "sql_variant", text("1.50")},
	{"variant of bytes", "SELECT CAST(0x312E3530 AS sql_variant) AS v", "sql_variant", text(`\x312e3530`)},
	{"variant of an integer", "SELECT CAST(7 AS sql_variant) AS v", "sql_variant", number("7")},
}

// sqlServerControl names the control that an error of the session came from, by
// its number (SQL Server's "Database Engine events and errors").
func sqlServerControl(e *execution.Error) string {
	switch e.SQLState {
	case "229", "230", "262", "297", "300", "1088", "2760", "4701", "4902", "3701", "15151", "15247", "15406", "916", "21050", "2812", "5812", "6102":
		return "rights of the role"
	case "3906":
		return "read-only database"
	case "": // not from the server
		return "check of the protocol"
	default:
		return ""
	}
}
