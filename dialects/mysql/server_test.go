package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// engine is a session of a real server on the database of schema.sql. It has all
// privileges and no read-only transaction, so that only the guard protects the server.
type engine struct {
	server  *testdb.MariaDBServer
	conn    *sql.Conn
	db      *sql.DB
	other   *sql.DB // sees what the session leaves behind
	dialect mysql.Dialect
	name    string
}

func newEngine(tb testing.TB) *engine {
	tb.Helper()
	s := testdb.MariaDB(tb)
	schema, err := os.ReadFile(filepath.Join("testdata", "schema.sql"))
	if err != nil {
		tb.Fatal(err)
	}
	var statements []string
	for statement := range strings.SplitSeq(string(schema), ";\n") {
		if strings.TrimSpace(statement) != "" {
			statements = append(statements, statement)
		}
	}
	url := s.NewDatabase(tb, statements...)
	e := &engine{server: s, db: s.DB(tb, url), other: s.DB(tb, url)}
	if err := e.other.QueryRowContext(tb.Context(), "SELECT DATABASE()").Scan(&e.name); err != nil {
		tb.Fatal(err)
	}
	conn, err := e.db.Conn(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	e.conn = conn
	tb.Cleanup(func() { _ = e.conn.Close() })
	for _, setting := range (mysql.Dialect{}).Session() {
		if _, err := e.conn.ExecContext(tb.Context(), fmt.Sprintf("SET %s = '%s'", setting.Name, setting.Value)); err != nil {
			tb.Fatal(err)
		}
	}
	d, ok := (mysql.Dialect{}).ForServer(s.Product(), s.Version()).(mysql.Dialect)
	if !ok {
		tb.Fatal("no dialect for the server")
	}
	e.dialect = d
	return e
}

// guard judges for the server and the database of the tests.
func (e *engine) guard(tb testing.TB) *sqlguard.Guard {
	tb.Helper()
	g, err := sqlguard.New(mysql.Dialect{}, sqlguard.DefaultPolicy(), &sqlguard.Catalog{
		Product: e.server.Product(), Version: e.server.Version(), Database: e.name, SearchPath: []string{e.name},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// run executes a statement and returns what the server did other than read, or "". A
// statement that the server refuses does nothing.
func (e *engine) run(ctx context.Context, text string) (fault string, ran bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	rows, err := e.conn.QueryContext(ctx, text)
	if err != nil {
		if e.conn.PingContext(ctx) != nil {
			return "ends the session: " + err.Error(), true
		}
		return "", false
	}
	defer func() { _ = rows.Close() }()
	for results := 1; ; results++ {
		columns, err := rows.Columns()
		if err != nil || len(columns) == 0 {
			return "answers without a column", true
		}
		if results > 1 {
			return "runs more than one statement", true
		}
		for rows.Next() {
		}
		if !rows.NextResultSet() {
			_ = rows.Err() // an error while reading rows is not an error of the guard
			return "", true
		}
	}
}

// threeParts matches a column with its table and its database.
var threeParts = regexp.MustCompile("[\\w`]\\s*\\.\\s*[\\w`]+\\s*\\.")

// crashes reports whether a text contains a read that crashes or hangs some
// releases of MariaDB: 10.11.19 crashes when ON names a column of a database that
// does not exist, and some statements with INTERSECT ALL and EXCEPT ALL never
// return.
func crashes(text string) bool {
	upper := strings.ToUpper(text)
	return threeParts.MatchString(text) || strings.Contains(upper, "INTERSECT") && strings.Contains(upper, "EXCEPT") && strings.Contains(upper, "ALL")
}

// stateQueries ask for everything that a statement could change.
var stateQueries = []string{
	"SELECT table_schema, table_name, table_type, create_time, auto_increment FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'performance_schema', 'sys', 'mysql') ORDER BY 1, 2",
	"SELECT schema_name FROM information_schema.schemata ORDER BY 1",
	"SELECT * FROM mysql.global_priv ORDER BY 1, 2",
	"SELECT * FROM mysql.db ORDER BY 1, 2, 3",
	"SELECT db, name, type FROM mysql.proc ORDER BY 1, 2, 3",
	"SELECT * FROM mysql.func",
	"SELECT trigger_schema, trigger_name FROM information_schema.triggers ORDER BY 1, 2",
	"SELECT event_schema, event_name FROM information_schema.events ORDER BY 1, 2",
	"CHECKSUM TABLE t, u, p, `odd``name`, `größe`, h",
	"SELECT next_not_cached_value FROM s",
	"SELECT variable_name, variable_value FROM information_schema.global_variables WHERE variable_name NOT IN " +
		"('TIMESTAMP', 'GTID_BINLOG_POS', 'GTID_BINLOG_STATE', 'GTID_CURRENT_POS') ORDER BY 1",
}

// sessionQueries ask for what a statement could change of its session.
var sessionQueries = []string{
	"SELECT variable_name, variable_value FROM information_schema.session_variables WHERE variable_name NOT IN " +
		"('TIMESTAMP', 'RAND_SEED1', 'RAND_SEED2', 'ERROR_COUNT', 'WARNING_COUNT', 'LAST_GTID', 'PSEUDO_THREAD_ID', 'GTID_BINLOG_POS', 'GTID_BINLOG_STATE', 'GTID_CURRENT_POS') ORDER BY 1",
	"SELECT * FROM information_schema.user_variables ORDER BY 1",
	"SELECT database(), current_role(), current_user()",
}

// state returns the state of the server and of the session.
func (e *engine) state(tb testing.TB) string {
	tb.Helper()
	var b strings.Builder
	for _, q := range stateQueries {
		dump(tb, &b, e.other, q, e.foreign)
	}
	for _, q := range sessionQueries {
		dump(tb, &b, e.conn, q, e.foreign)
	}
	return b.String()
}

// foreign reports whether a value is the name of a database or user of another
// test, which may run beside this one on the same server.
func (e *engine) foreign(v sql.RawBytes) bool {
	return strings.HasPrefix(string(v), "ktx_") && string(v) != e.name
}

type asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// dump writes the rows of a query, without those of databases and users that
// foreign knows.
func dump(tb testing.TB, b *strings.Builder, db asker, query string, foreign func(sql.RawBytes) bool) {
	tb.Helper()
	rows, err := db.QueryContext(tb.Context(), query)
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		tb.Fatal(err)
	}
	values, targets := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			tb.Fatal(err)
		}
		if slices.ContainsFunc(values, foreign) {
			continue
		}
		for _, v := range values {
			b.Write(v)
			b.WriteByte('\t')
		}
		b.WriteByte('\n')
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
}

// TestServerReads runs the statements of verdicts.txt that the guard allows on a real
// server, in a session with all privileges. The server must read them and change nothing.
func TestServerReads(t *testing.T) {
	e := newEngine(t)
	g := e.guard(t)
	before := e.state(t)
	read := 0
	for _, c := range readVerdicts(t) {
		if !g.Check(c.sql).Allowed {
			continue
		}
		fault, ran := e.run(t.Context(), c.sql)
		if fault != "" {
			t.Errorf("verdicts.txt:%d: %s\nis allowed, but the server %s", c.line, c.sql, fault)
		}
		if ran {
			read++
		} else if c.prepared {
			_, err := e.conn.ExecContext(t.Context(), c.sql)
			t.Errorf("verdicts.txt:%d: %s\nis allowed, but the server says %v", c.line, c.sql, err)
		}
	}
	if diff := cmp.Diff(before, e.state(t)); diff != "" {
		t.Errorf("what is allowed changed the server:\n%s", diff)
	}
	if read < 100 {
		t.Errorf("the server read only %d texts", read)
	}
	t.Logf("%d texts read", read)
}

// reads reports whether the server reads a text as a query, without running it.
func (e *engine) reads(ctx context.Context, text string) bool {
	stmt, err := e.conn.PrepareContext(ctx, text)
	if err != nil {
		return false
	}
	defer func() { _ = stmt.Close() }()
	return true
}

// mutationSeed is the seed of the mutations. KTX_TEST_MUTATION_SEED sets another one.
func mutationSeed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("KTX_TEST_MUTATION_SEED"), 10, 64); err == nil {
		return n
	}
	return 1
}
