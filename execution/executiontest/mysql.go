package executiontest

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// The accounts that attacks on MariaDB run as.
const (
	accountRoot   = "root"
	accountOwner  = "all rights on the database"
	accountReader = "account that may only read"
)

// MariaDB returns the target for MariaDB. The address that open gets is a URL.
// The calling package must have testdb.Main as its TestMain.
func MariaDB(open OpenFunc) Target {
	t := mysqlTarget(open)
	t.Engine, t.Dialect, t.Victim, t.Attacks = "MariaDB", "mariadb", newMySQLVictim(mariadbProduct), inGroups(mysqlAttacks, mariadbAttacks)
	t.Intro += " The rows are those of version 10.11."
	return t
}

// MySQL is like [MariaDB], for a MySQL server that KTX_TEST_MARIADB_BIN or
// KTX_TEST_MARIADB_URL names.
func MySQL(open OpenFunc) Target {
	t := mysqlTarget(open)
	t.Engine, t.Dialect, t.Victim, t.Attacks = "MySQL", "mysql", newMySQLVictim(mysqlProduct), inGroups(mysqlAttacks, mysqlOnlyAttacks)
	t.Intro += " The rows are those of version 9.7."
	return t
}

// inGroups returns all attacks, with those of the same group next to each
// other.
func inGroups(lists ...[]Attack) []Attack {
	all := slices.Concat(lists...)
	first := map[string]int{}
	for i, a := range all {
		if _, ok := first[a.Group]; !ok {
			first[a.Group] = i
		}
	}
	slices.SortStableFunc(all, func(a, b Attack) int { return first[a.Group] - first[b.Group] })
	return all
}

func mysqlTarget(open OpenFunc) Target {
	return Target{
		Intro: "Root is the worst case. All rights on the database is what the account of an application often has. " +
			"The third account may select from tables that it was granted and nothing else: what a connection should use. " +
			"DDL and DCL commit the transaction that they stand in; they are refused since the session is read-only by default, too, not only its transaction. " +
			"The check of the answer refuses what ran and did not answer as a read does, with rows of the transaction that it was sent in; the session is closed then.",
		Open: open,
		NewDatabase: func(tb testing.TB) Database {
			tb.Helper()
			server := testdb.MariaDB(tb)
			return &mysqlDatabase{server: server, url: server.NewDatabase(tb, itemsTable)}
		},
		Queries:   mysqlQueries,
		Values:    mysqlValues,
		Roles:     []string{accountRoot, accountOwner, accountReader},
		Secrets:   "shop.secrets",
		StoppedBy: mysqlControl,
		Report:    filepath.Join("..", "..", "docs", "evidence", "second-control.md"),
	}
}

type mysqlDatabase struct {
	server *testdb.MariaDBServer
	url    string
}

func (d *mysqlDatabase) Address() string { return d.url }

// Running counts the sessions of the database that are busy.
func (d *mysqlDatabase) Running(tb testing.TB) (n int, ok bool) {
	tb.Helper()
	db := d.server.DB(tb, d.url)
	defer db.Close() //nolint:errcheck // the connections have only read
	const busy = `SELECT COUNT(*) FROM information_schema.processlist
		WHERE db = DATABASE() AND command <> 'Sleep' AND id <> CONNECTION_ID()`
	if err := db.QueryRowContext(tb.Context(), busy).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n, true
}

// mysqlSeries returns a table with the numbers from 1 to n in the column i.
func mysqlSeries(n int) string {
	const digits = "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) AS %s"
	var terms, tables []string
	for i, power := 0, 1; power < n || i == 0; i, power = i+1, power*10 {
		name := string(rune('a' + i))
		terms = append(terms, fmt.Sprintf("%d * %s.d", power, name))
		tables = append(tables, fmt.Sprintf(digits, name))
	}
	sum := "1 + " + strings.Join(terms, " + ")
	return fmt.Sprintf("(SELECT %s AS i FROM %s WHERE %[1]s <= %[3]d) AS s", sum, strings.Join(tables, ", "), n)
}

var mysqlQueries = Queries{
	One:     "SELECT 1 AS one",
	Numbers: func(n int) string { return "SELECT i AS n FROM " + mysqlSeries(n) + " ORDER BY i" },
	Texts: func(rows, size int) string {
		return fmt.Sprintf("SELECT LPAD(i, %d, '0') AS text FROM %s ORDER BY i", size, mysqlSeries(rows))
	},
	Cells: func(sizes ...int) string {
		return unionOf(sizes, func(id, size int) string {
			return fmt.Sprintf("SELECT %d AS id, REPEAT('x', %d) AS cell", id, size)
		})
	},
	Columns:    selectColumns,
	Duplicates: "SELECT 1 AS a, 2 AS a",
	Empty:      "SELECT id, name FROM items WHERE id < 0",
	Slow: []string{
		"SELECT COUNT(*) FROM " + mysqlSeries(100_000) + ", " + strings.ReplaceAll(mysqlSeries(100_000), "AS s", "AS t") + " WHERE (s.i + t.i) % 7 = 8",
		// This is not the first, because the tests run several of the first at
		// a time. When several sessions run SLEEP, MariaDB takes two seconds
		// for some KILLs.
		"SELECT SLEEP(120)",
		"SELECT i, SLEEP(0.01) FROM " + mysqlSeries(100_000),
	},
	Fails:     "SELECT 9223372036854775807 + id FROM items WHERE id = 1",
	FailsLate: "SELECT i, 9223372036854775807 + (i = 7000) FROM (SELECT i FROM " + mysqlSeries(9000) + " ORDER BY i LIMIT 9000) AS t",
	Wrong:     "SELECT 'äö€', id FRUM items WHERE id = 1",
	WrongAt:   "items",
}

var mysqlValues = []ValueCase{
	{"null", "SELECT NULL", "null", execution.Value{}},
	{"empty text", "SELECT ''", "varchar", execution.Value{Kind: execution.String}},
	{"text", "SELECT 'Grüße, 世界 😀'", "varchar", execution.Value{Kind: execution.String, Text: "Grüße, 世界 😀"}},
	{"text of another character set", "SELECT CONVERT('Grüße' USING latin1)", "varchar", execution.Value{Kind: execution.String, Text: "Grüße"}},
	{"declared type", "SELECT name FROM items WHERE id = 2", "text", execution.Value{Kind: execution.String, Text: "two"}},
	{"integer", "SELECT id FROM items WHERE id = 2", "int", execution.Value{Kind: execution.Number, Text: "2"}},
	{"2^53", "SELECT 9007199254740992", "bigint", execution.Value{Kind: execution.Number, Text: "9007199254740992"}},
	{"2^53 + 1", "SELECT 9007199254740993", "bigint", execution.Value{Kind: execution.String, Text: "9007199254740993"}},
	{"-2^53 - 1", "SELECT -9007199254740993", "bigint", execution.Value{Kind: execution.String, Text: "-9007199254740993"}},
	{"largest integer", "SELECT 18446744073709551615", "bigint unsigned", execution.Value{Kind: execution.String, Text: "18446744073709551615"}},
	{"float", "SELECT 0.1e0 + 0.2e0", "double", execution.Value{Kind: execution.Number, Text: "0.30000000000000004"}},
	{"large float", "SELECT 1e300", "double", execution.Value{Kind: execution.Number, Text: "1e300"}},
	{"decimal", "SELECT 1.50", "decimal", execution.Value{Kind: execution.String, Text: "1.50"}},
	{"long decimal", "SELECT 12345678901234567890.123450", "decimal", execution.Value{Kind: execution.String, Text: "12345678901234567890.123450"}},
	{"bytes", "SELECT CAST(x'00ff10' AS BINARY)", "varbinary", execution.Value{Kind: execution.String, Text: `\x00ff10`}},
	{"bytes that are text", "SELECT CAST('ab' AS BINARY)", "varbinary", execution.Value{Kind: execution.String, Text: `\x6162`}},
	{"no bytes", "SELECT CAST('' AS BINARY)", "varbinary", execution.Value{Kind: execution.String, Text: `\x`}},
	{"date", "SELECT DATE '2024-02-29'", "date", execution.Value{Kind: execution.String, Text: "2024-02-29"}},
	{"far date", "SELECT TIMESTAMP '9999-12-31 23:59:59.999999'", "datetime", execution.Value{Kind: execution.String, Text: "9999-12-31 23:59:59.999999"}},
	{"point in time", "SELECT CAST(FROM_UNIXTIME(86400) AS DATETIME)", "datetime", execution.Value{Kind: execution.String, Text: "1970-01-02 00:00:00"}},
	{"time beyond a day", "SELECT TIME '-838:59:59'", "time", execution.Value{Kind: execution.String, Text: "-838:59:59"}},
	{"json", `SELECT JSON_EXTRACT('{"b": 9007199254740993}', '$')`, "json", execution.Value{Kind: execution.String, Text: `{"b": 9007199254740993}`}},
}

var errorNumber = regexp.MustCompile(`\(error ([0-9]+)\)$`)

// mysqlControl names the control that an error of a session came from, by its
// number.
func mysqlControl(e *execution.Error) string {
	match := errorNumber.FindStringSubmatch(e.Message)
	if match == nil {
		return "check of the answer"
	}
	for name, numbers := range map[string][]string{
		"read-only transaction":  {"1792"},
		"transaction":            {"1192", "1399", "1400", "1568"},
		"rights of the account":  {"1044", "1045", "1095", "1142", "1143", "1227", "1370", "1410", "1419", "1698"},
		"one statement per call": {"1064"},
		"one result per call":    {"1312"},
		"no local files":         {"1148", "3948", "4166"},
		"server":                 {"1109", "1149", "1210", "1235", "1290", "1295", "1306", "1336", "1524", "1575"},
	} {
		if slices.Contains(numbers, match[1]) {
			return name
		}
	}
	return ""
}
