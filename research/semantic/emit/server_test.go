package emit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb/engine"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/model"
)

func TestMain(m *testing.M) {
	if engine.Asked(os.Args[1:]) {
		os.Exit(engine.Run(os.Stdin, os.Stdout))
	}
	testdb.Main(m)
}

// TestRows runs the text of every plan on real servers. The rows of every engine must be
// those of the plan's file in testdata/rows.
func TestRows(t *testing.T) {
	m := shop(t)
	servers := map[emit.Dialect]*executiontest.Client{
		emit.SQLite:   onSQLite(t, data(emit.SQLite)),
		emit.Postgres: onPostgres(t, data(emit.Postgres)),
		emit.MySQL:    onMariaDB(t, data(emit.MySQL)),
	}
	if *update {
		if err := os.MkdirAll("testdata/rows", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range plans {
		t.Run(a.name, func(t *testing.T) {
			for _, d := range []emit.Dialect{emit.SQLite, emit.Postgres, emit.MySQL} {
				checkRows(t, a, m, d, servers[d])
			}
		})
	}
}

// checkRows runs the text of a plan and compares the rows with those of its file.
func checkRows(t *testing.T, a ask, m *model.Model, d emit.Dialect, c *executiontest.Client) {
	t.Helper()
	sql, refused := emit.Emit(a.plan(t, m), d)
	if refused != nil {
		if a.name != "median" || d == emit.Postgres || d == emit.ClickHouse || d == emit.DuckDB || d == emit.BigQuery {
			t.Error(d, refused)
		}
		return
	}
	got := rows(c.Get(t, sql.Text, execution.Limits{}))
	path := filepath.Join("testdata", "rows", a.name+".txt")
	if *update && (d == emit.SQLite || a.name == "median") {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch d { //nolint:exhaustive // to the others, ß has no large form
	case emit.ClickHouse:
		got = strings.ReplaceAll(got, "ÄSS€𝄞", "Äß€𝄞")
	case emit.DuckDB:
		got = strings.ReplaceAll(got, "Äẞ€𝄞", "Äß€𝄞")
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s\n%s", d, diff, sql.Text)
	}
}

// rows writes a result in a form that does not depend on the engine's types.
func rows(res *execution.Result) string {
	var b strings.Builder
	for i, c := range res.Columns {
		if i > 0 {
			b.WriteString(" | ")
		}
		b.WriteString(c.Name)
	}
	b.WriteString("\n")
	for _, row := range res.Rows {
		for i, v := range row {
			if i > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(canonical(v))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func canonical(v execution.Value) string {
	switch {
	case v.Kind == execution.Null:
		return "NULL"
	case v.Kind == execution.Bool && strings.HasPrefix(v.Text, "t"):
		return "1"
	case v.Kind == execution.Bool:
		return "0"
	}
	if f, err := strconv.ParseFloat(v.Text, 64); err == nil {
		return strconv.FormatFloat(f+0, 'g', 9, 64)
	}
	s := v.Text
	if len(s) >= 19 && s[4] == '-' && s[13] == ':' {
		s = strings.TrimSuffix(strings.Replace(s, "T", " ", 1), "Z")
		s = strings.TrimSuffix(strings.TrimSuffix(s, ".000000"), " 00:00:00")
	}
	return fmt.Sprintf("%q", s)
}

func onSQLite(tb testing.TB, statements []string) *executiontest.Client {
	tb.Helper()
	g := executiontest.Guard(tb, "sqlite", 0)
	db, err := sqlitedb.Open(tb.Context(), sqlitedb.Config{Path: testdb.SQLiteFile(tb, statements...), MaxConnections: 1}, g.ID())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return executiontest.NewClient(db, g)
}

func onPostgres(tb testing.TB, statements []string) *executiontest.Client {
	tb.Helper()
	g := executiontest.Guard(tb, "postgres", 0)
	db, err := pgdb.Open(tb.Context(), pgdb.Config{URL: execution.NewSecret(testdb.Postgres(tb).NewDatabase(tb, statements...))}, g.ID())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return executiontest.NewClient(db, g)
}

func onMariaDB(tb testing.TB, statements []string) *executiontest.Client {
	tb.Helper()
	g := executiontest.Guard(tb, "mysql", 0)
	db, err := mysqldb.Open(tb.Context(), mysqldb.Config{URL: execution.NewSecret(testdb.MariaDB(tb).NewDatabase(tb, statements...))}, g.ID())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return executiontest.NewClient(db, g)
}

// data are the statements that make the tables of shop: with keys that are NULL or lead
// nowhere, times around the borders of weeks, months, and years, and names that look like
// patterns.
func data(d emit.Dialect) []string {
	odd := `"a""b` + "`" + `c]d"`
	replace := map[emit.Dialect]*strings.Replacer{
		emit.Postgres: strings.NewReplacer("{text}", "text", "{time}", "timestamp", "{odd}", odd, "{", `"`, "}", `"`),
		emit.SQLite:   strings.NewReplacer("{text}", "TEXT", "{time}", "TEXT", "date", "TEXT", "order_date", "order_date", "{odd}", odd, "{", `"`, "}", `"`),
		emit.ClickHouse: strings.NewReplacer("integer PRIMARY KEY", "Int32", "integer", "Nullable(Int32)", "{text}", "Nullable(String)", "numeric(10,2)", "Nullable(Decimal(10, 2))", "boolean", "Nullable(Bool)",
			"{time}", "Nullable(DateTime64(0))", " date", " Nullable(Date32)", "'1899-12-31'", "toDate32(toDateTime64('1899-12-31 00:00:00', 0))", "{odd}", odd, "{", `"`, "}", `"`, `\`, `\\`),
		emit.DuckDB: strings.NewReplacer("{text}", "VARCHAR", "{time}", "TIMESTAMP", "{odd}", odd, "{", `"`, "}", `"`),
		emit.MySQL:  strings.NewReplacer("{text}", "VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "{time}", "DATETIME", "{odd}", "`a\"b``c]d`", "{", "`", "}", "`", `\`, `\\`),
	}[d]
	out := make([]string, 0, 16)
	for _, s := range []string{
		"CREATE TABLE regions (id integer PRIMARY KEY, name {text})",
		"INSERT INTO regions VALUES (1, 'North'), (2, 'South'), (3, NULL)",
		"CREATE TABLE Customers (id integer PRIMARY KEY, name {text}, region_id integer, active boolean, signup date)",
		`INSERT INTO Customers VALUES (1, 'Ann', 1, TRUE, '2023-05-01'), (2, 'a_b', 2, TRUE, '2024-02-29'), (3, 'o''Neill ', NULL, FALSE, NULL), (4, 'a\b|c', 9, NULL, '2024-12-30'),
			(5, '[b]*?x', 3, TRUE, '2024-01-01'), (6, NULL, 1, TRUE, NULL), (7, 'Äß€𝄞', 1, FALSE, '1899-12-31')`,
		"CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer, recipient_id integer, status {text}, amount numeric(10,2), quantity integer, created_at {time}, order_date date, paid boolean)",
		`INSERT INTO orders VALUES
			(1, 1, 2, 'new', 10.50, 1, '2024-12-29 23:59:59', '2024-12-29', TRUE),
			(2, 1, 1, 'shipped', 20.25, 2, '2024-12-30 00:00:00', '2024-12-30', FALSE),
			(3, 2, NULL, 'new', 99.99, 3, '2025-01-01 00:00:00', '2025-01-01', TRUE),
			(4, 3, 7, 'cancelled', 0, 0, '2023-01-01 07:08:09', '2023-01-01', NULL),
			(5, NULL, 3, 'shipped', 5, 5, '2024-02-29 12:30:00', '2024-02-29', TRUE),
			(6, 99, 99, NULL, NULL, NULL, NULL, NULL, NULL),
			(7, 5, 6, 'new', -3.75, 4, '2024-01-31 10:15:30', '2024-01-31', FALSE),
			(8, 2, 5, 'shipped', 60, 7, '2021-01-03 23:59:59', '2021-01-03', TRUE),
			(9, 2, 5, 'shipped', 0.5, 1, '2021-01-04 00:00:00', '2021-01-04', FALSE),
			(10, 6, 4, 'returned', 45, 2, '1899-12-31 23:00:00', '1899-12-31', TRUE),
			(11, 7, 4, 'returned', 7.25, 3, '2024-03-31 00:30:00', '2024-04-01', FALSE),
			(12, 4, 1, NULL, 80, 1, '2020-12-31 23:59:59', '2020-12-31', TRUE),
			(13, 4, 1, 'new', 1.25, 6, '2024-10-01 00:00:00', '2024-09-30', NULL)`,
		"CREATE TABLE returns (id integer PRIMARY KEY, customer_id integer, amount numeric(10,2), returned_on date)",
		"INSERT INTO returns VALUES (1, 1, 5, '2024-12-31'), (2, 1, 2.5, '2025-01-02'), (3, NULL, 1, '2024-01-01'), (4, 98, 3, NULL), (5, 7, NULL, '2023-01-01')",
		"CREATE TABLE balances (account {text}, day date, balance numeric(10,2), customer_id integer)",
		`INSERT INTO balances VALUES ('a', '2024-01-30', 100, 1), ('a', '2024-01-31', 110, 1), ('a', '2024-02-01', 90, 1), ('b', '2024-01-15', 50, 1), ('b', '2024-02-29', -5, 1),
			('c', '2024-01-31', 7, 2), ('c', NULL, 1000, 2), ('d', '2024-01-02', 1, NULL), ('d', '2024-01-03', 2, NULL), ('e', '2024-01-03', NULL, 5)`,
		"CREATE TABLE {group} ({order} integer, {odd} {text}, {from} {time})",
		`INSERT INTO {group} VALUES (1, 'x', '2024-01-31 10:00:00'), (2, 'it''s \n', '2024-01-31 10:00:00'), (3, 'x', NULL), (4, 'y', '2024-02-01 00:00:00')`,
	} {
		if s = replace.Replace(s); d == emit.ClickHouse && strings.HasPrefix(s, "CREATE") {
			s += " ENGINE = Memory"
		}
		out = append(out, s)
	}
	return out
}
