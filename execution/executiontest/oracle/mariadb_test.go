package oracle_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlguard"
)

// mariadbDefaults are settings of the server that must not affect either side,
// because the pins override them. Init_connect applies to all users except
// administrators.
var mariadbDefaults = map[string]string{
	"default_time_zone":    "+05:45",
	"character_set_server": "latin1",
	"sql_mode":             "ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,IGNORE_SPACE,REAL_AS_FLOAT,NO_UNSIGNED_SUBTRACTION",
	"init_connect":         "SET NAMES latin1, SESSION sql_select_limit = 3",
}

func TestMariaDB(t *testing.T) {
	t.Parallel()
	server := testdb.StartMariaDB(t, testdb.Options{Settings: mariadbDefaults})
	home := server.NewDatabaseWith(t, "CHARACTER SET utf8mb4")
	name := databaseOf(t, home)
	user := server.NewUser(t, "SELECT ON "+name+".*")
	reader := server.URL(name, user)
	root := session(t, server.DB(t, home))
	r := source(t)
	queries := mariadbTables(t, root, server.Product(), r, randomRows(t, 40))
	queries = append(queries, brokenTexts(t, server, root, name)...)
	for _, text := range slices.Concat(mariadbTexts, mariadbOnly[server.Product()]) {
		queries = append(queries, myQuery{sql: text})
	}
	for _, text := range slices.Concat(mariadbUnread[""], mariadbUnread[server.Product()]) {
		queries = append(queries, myQuery{sql: text, unread: true})
	}

	texts := make([]string, len(queries))
	for i, q := range queries {
		texts[i] = q.sql
	}
	password, _ := mustParse(t, reader).User.Password()
	want := mariadb(t, server, user, password, name, texts)
	s := mariadbService(t, reader)
	var f figure
	covered := map[string]bool{}
	for i, q := range queries {
		connection := guarded
		if q.unread {
			connection = unguarded
		}
		got := ask(t, s, connection, q.sql)
		w := want[i]
		if len(w.fields) != len(got.Headers) || len(w.rows) != len(got.Rows) {
			t.Errorf("%.200s: %d rows of %d columns, mariadb prints %d of %d", q.sql, len(got.Rows), len(got.Headers), len(w.rows), len(w.fields))
			f.cells += len(w.rows) * len(w.fields)
			continue
		}
		for n, c := range w.fields {
			if got.Headers[n] != c.name {
				t.Errorf("%.200s: column %d is called %q, and %q by mariadb", q.sql, n+1, got.Headers[n], c.name)
			}
			if q.declared != "" && n == 1 && got.HeaderTypes[n] != q.declared {
				t.Errorf("%.200s: the column has the type %q, it was declared %q", q.sql, got.HeaderTypes[n], q.declared)
			}
		}
		for n, row := range got.Rows {
			for m, c := range row {
				place := fmt.Sprintf("%.200s: row %d, column %s of type %s", q.sql, n+1, got.Headers[m], got.HeaderTypes[m])
				if f.compare(t, place, c, w.rows[n][m]) && c.kind != 0 && m == 1 {
					covered[q.base] = true
				}
				checkMariaDBKind(t, place, w.fields[m], c)
			}
		}
	}
	f.report(t, server.Product()+" "+server.Version(), least())
	for _, typ := range mariadbTypes(t, root) {
		if !covered[typ] {
			t.Errorf("no value of the type %s was compared: give it values in mariadbValues", typ)
		}
	}
}

// session returns one connection of an administrator whose settings permit
// values that are otherwise refused: dates that do not exist, and zero dates.
func session(t *testing.T, db *sql.DB) *sql.Conn {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // before the pool is closed
	write(t, conn, "SET NAMES utf8mb4; SET SESSION sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'")
	return conn
}

func write(t *testing.T, conn *sql.Conn, text string) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%.2000s: %v", text, err)
	}
}

// column returns the one column of a query.
func column(t *testing.T, conn *sql.Conn, text string) (out []string) {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

func mustParse(t *testing.T, connection string) *url.URL {
	t.Helper()
	u, err := url.Parse(connection)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func databaseOf(t *testing.T, connection string) string {
	t.Helper()
	return strings.TrimPrefix(mustParse(t, connection).Path, "/")
}

// mariadbService serves a database with the product's guard, and with a guard
// that approves every statement.
func mariadbService(t *testing.T, address string) *research.Service {
	t.Helper()
	connection := func(id string, d sqlguard.Dialect, policy sqlguard.Policy) execution.Connection {
		return execution.Connection{
			ID: id, Engine: "MYSQL", Dialect: d, Policy: policy, Limits: limits,
			Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
				return mysqldb.Open(ctx, mysqldb.Config{URL: execution.NewSecret(address), MaxConnections: 2, Session: mysql.Dialect{}.Session()}, guard)
			},
		}
	}
	return service(t,
		connection(guarded, mysql.Dialect{}, sqlguard.Policy{MaxBytes: sqlguard.CeilingMaxBytes, MaxConstant: longConstants}),
		connection(unguarded, executiontest.Permissive{DialectName: "mysql"}, sqlguard.Policy{MaxBytes: sqlguard.CeilingMaxBytes}))
}

// checkMariaDBKind checks the JSON kind of a value: a number if every JSON
// reader reads it exactly, and a string otherwise.
func checkMariaDBKind(t *testing.T, place string, f field, c cell) {
	t.Helper()
	want, float := byte('s'), false
	switch f.typ {
	case "TINY", "SHORT", "INT24", "LONG", "LONGLONG", "YEAR":
		n, ok := new(big.Int).SetString(c.text, 10)
		if ok && n.CmpAbs(big.NewInt(1<<53)) <= 0 && n.String() == c.text { // leading zeros are part of the text
			want = 'n'
		}
	case "FLOAT", "DOUBLE":
		float = true
		if v, err := strconv.ParseFloat(c.text, 64); err == nil && !math.IsInf(v, 0) && !strings.HasPrefix(strings.TrimPrefix(c.text, "-"), "0000") && jsonNumber.MatchString(c.text) {
			want = 'n'
		}
	}
	if c.kind != 0 && c.kind != want {
		t.Errorf("%s: %s is of JSON kind %q, want %q", place, shortened(c), c.kind, want)
	}
	if c.kind == 'n' {
		checkNumber(t, place, c.text, float)
	}
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// brokenTexts makes a column of strings that are not valid UTF-8. The server
// does not store such strings, so brokenTexts edits the server's file.
func brokenTexts(t *testing.T, server *testdb.MariaDBServer, root *sql.Conn, database string) (out []myQuery) {
	t.Helper()
	for _, charset := range []string{"utf8mb4", "utf8mb3"} {
		table := "broken_" + charset
		write(t, root, "CREATE TABLE "+table+" (id int, v char(8) CHARACTER SET "+charset+", w varchar(8) CHARACTER SET "+charset+") ENGINE = MyISAM ROW_FORMAT = FIXED")
		broken := []string{"\xff", "\xc3", "a\xe4\xb8", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80", "é\xfe\xfe", "\x80\x80"}
		for i, bytes := range broken {
			write(t, root, fmt.Sprintf("INSERT INTO %s VALUES (%d, '%s', '%[3]s')", table, i, strings.Repeat(string(rune('G'+i)), len(bytes))))
		}
		write(t, root, "FLUSH TABLES "+table)
		path := filepath.Join(server.SocketDir(), "data", database, table+".MYD")
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		for i, bytes := range broken {
			mark := strings.Repeat(string(rune('G'+i)), len(bytes))
			if strings.Count(text, mark) != 2 {
				t.Fatalf("%s: %d times %s", path, strings.Count(text, mark), mark)
			}
			text = strings.ReplaceAll(text, mark, bytes)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out = append(out, myQuery{sql: "SELECT id, v, w, CONCAT(v, '!'), CONCAT(v, w), UPPER(v), HEX(v), LENGTH(w), COALESCE(v, w), REVERSE(v), LEFT(v, 1), CAST(v AS BINARY), v = w FROM " + table + " ORDER BY id"})
	}
	return out
}
