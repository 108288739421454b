package mysqldb_test

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

const connectionID = "SELECT CONNECTION_ID()"

// A connection is used again after a read. A statement that is not a read, or
// that ends the transaction, makes the backend close its connection.
func TestReuse(t *testing.T) {
	server := testdb.MariaDB(t)
	c := open(t, server.NewDatabase(t, "CREATE TABLE items (id int PRIMARY KEY)"), mysqldb.Config{MaxConnections: 1})
	id := c.One(t, connectionID)
	for _, sql := range []string{
		"SELECT 1", "SELECT * FROM items", "SHOW TABLES", "DESCRIBE items", "EXPLAIN SELECT * FROM items", "SELECT @a := 1", "SELECT GET_LOCK('mysqldb', 0)",
		"SELECT * FROM items LOCK IN SHARE MODE", "(SELECT 1) UNION ALL (SELECT 2)", "VALUES (1), (2)", "CHECKSUM TABLE items", "SHOW WARNINGS",
	} {
		if server.Product() == "mysql" {
			sql = strings.Replace(sql, "VALUES (1), (2)", "VALUES ROW(1), ROW(2)", 1)
		}
		c.Get(t, sql, execution.Limits{})
		if now := c.One(t, connectionID); now != id {
			t.Errorf("%s closed its connection", sql)
			id = now
		}
	}
	for _, sql := range []string{"SELEC 1", "SELECT * FROM nowhere", "INSERT INTO items VALUES (1)", "DROP TABLE items", "SELECT 1; SELECT 2"} {
		_ = c.Fails(t, sql, execution.Limits{})
		if now := c.One(t, connectionID); now != id {
			t.Errorf("%s closed its connection", sql)
			id = now
		}
	}
	for _, sql := range []string{"SET @a = 1", "DO 1", "COMMIT", "BEGIN", "SELECT 1 INTO @a", "USE information_schema", "PREPARE p FROM 'SELECT 1'", "HANDLER items OPEN"} {
		_ = c.Fails(t, sql, execution.Limits{})
		now := c.One(t, connectionID)
		if now == id {
			t.Errorf("%s did not close its connection", sql)
		}
		id = now
	}
}

// No state of a session survives until the next statement, although the
// connection is the same.
func TestNothingLeaks(t *testing.T) {
	server := testdb.MariaDB(t)
	c := open(t, server.NewDatabase(t), mysqldb.Config{MaxConnections: 1})
	id := c.One(t, connectionID)
	for _, test := range []struct{ sql, ask, want string }{
		{"SELECT @a := 7", "SELECT @a IS NULL", "1"},
		{"SELECT GET_LOCK('mysqldb leak', 0)", "SELECT COALESCE(IS_USED_LOCK('mysqldb leak'), 'nobody')", "nobody"},
		{"SELECT LAST_INSERT_ID(4242)", "SELECT LAST_INSERT_ID()", "0"},
		{"SELECT SQL_CALC_FOUND_ROWS 1 FROM (SELECT 1 UNION SELECT 2) AS t LIMIT 1", "SELECT FOUND_ROWS()", "1"},
	} {
		if _, err := c.Try(t.Context(), t, test.sql, execution.Limits{}); err != nil {
			t.Errorf("%s: %v", test.sql, err)
		}
		if got := c.One(t, test.ask); got != test.want && test.want != "" {
			t.Errorf("after %s, %s is %q, want %q", test.sql, test.ask, got, test.want)
		}
	}
	if now := c.One(t, connectionID); now != id {
		t.Error("the connection is another one, so the test shows nothing")
	}
}

// TestPins checks the state of the session that a statement runs in.
func TestPins(t *testing.T) {
	// The settings hold for every new session of the server, also for those of other
	// packages' tests.
	var server *testdb.MariaDBServer
	if os.Getenv("KTX_TEST_MARIADB_URL") != "" {
		server = testdb.MariaDB(t) // the version that is to be tested
	} else {
		server = testdb.StartMariaDB(t, testdb.Options{})
	}
	server.Admin(t, "SET GLOBAL time_zone = '+03:00'", "SET GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'", "SET GLOBAL completion_type = 'CHAIN'", "SET GLOBAL sql_auto_is_null = ON")
	defer server.Admin(t, "SET GLOBAL time_zone = '+00:00'", "SET GLOBAL sql_mode = DEFAULT", "SET GLOBAL completion_type = DEFAULT", "SET GLOBAL sql_auto_is_null = OFF")
	url := server.NewDatabase(t)
	c := open(t, url, mysqldb.Config{Session: mysql.Dialect{}.Session(), MaxConnections: 1})
	lim := execution.Limits{Rows: 41, Timeout: 2500 * time.Millisecond, LockTimeout: 1500 * time.Millisecond}
	limit, readOnly := "@@max_statement_time", "@@tx_read_only"
	wantLimit := "2.500000"
	if server.Product() == "mysql" {
		limit, readOnly, wantLimit = "@@max_execution_time", "@@transaction_read_only", "2500"
	}
	for range 2 { // on the same connection
		for sql, want := range map[string]string{
			"SELECT @@time_zone":                             "+00:00",
			"SELECT @@sql_mode":                              mysql.Dialect{}.Session()[1].Value,
			"SELECT @@character_set_client":                  "utf8mb4",
			"SELECT @@character_set_results":                 "utf8mb4",
			"SELECT @@character_set_connection":              "utf8mb4",
			"SELECT @@autocommit":                            "1",
			"SELECT @@sql_auto_is_null":                      "0",
			"SELECT @@sql_select_limit":                      "42",
			"SELECT @@lock_wait_timeout":                     "2",
			"SELECT @@innodb_lock_wait_timeout":              "2",
			"SELECT " + limit:                                wantLimit,
			"SELECT " + readOnly:                             "1",
			`SELECT 'a\nb' = CONCAT('a', CHAR(10), 'b')`:     "1",
			`SELECT "a"`:                                     "a",
			"SELECT 0 || 1":                                  "1",
			"SELECT COUNT(*) FROM (SELECT 1) AS t WHERE 1=1": "1",
		} {
			res, err := c.Try(t.Context(), t, sql, lim)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			if got := res.Rows[0][0].Text; got != want {
				t.Errorf("%s is %q, want %q", sql, got, want)
			}
		}
	}
	zoned := open(t, url, mysqldb.Config{Session: []sqlguard.Setting{{Name: "time_zone", Value: "-05:00"}}})
	if got := zoned.One(t, "SELECT FROM_UNIXTIME(1)"); got != "1969-12-31 19:00:01" {
		t.Errorf("the first second of time is %q in the zone that was configured", got)
	}
}

// A session that does not accept the pins runs no statement.
func TestMismatch(t *testing.T) {
	url := testdb.MariaDB(t).NewDatabase(t, "CREATE TABLE items (id int)", "INSERT INTO items VALUES (1)")
	for name, s := range map[string]sqlguard.Setting{
		"a fixed one":                {Name: "lower_case_table_names", Value: "17"},
		"one that nobody knows":      {Name: "no_such_setting", Value: "1"},
		"a value that nobody knows":  {Name: "sql_mode", Value: "NO_SUCH_MODE"},
		"one that sessions have not": {Name: "max_connections", Value: "7"},
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, url, mysqldb.Config{Session: []sqlguard.Setting{s}})
			e := c.Fails(t, "SELECT * FROM items", execution.Limits{})
			if e.Code != sqlguard.CodeSessionModeMismatch {
				t.Errorf("error %v, want %s", e, sqlguard.CodeSessionModeMismatch)
			}
		})
	}
}

// A connection that ended while it was idle makes no statement fail.
func TestIdleLoss(t *testing.T) {
	server := testdb.MariaDB(t)
	c := open(t, server.NewDatabase(t), mysqldb.Config{MaxConnections: 3})
	ids := map[string]bool{}
	var mu sync.Mutex
	var users sync.WaitGroup
	for range 3 { // at once, so that there are several
		users.Go(func() {
			res, err := c.Try(t.Context(), t, "SELECT CONNECTION_ID(), SLEEP(0.2)", execution.Limits{})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			ids[res.Rows[0][0].Text] = true
			mu.Unlock()
		})
	}
	users.Wait()
	for id := range ids {
		server.Admin(t, "KILL "+id)
	}
	if now := c.One(t, connectionID); ids[now] {
		t.Error("the connection was not ended")
	}
}

// The role and database with which an account's sessions begin, and what
// happens when another session changes them.
func TestRoleAndDatabase(t *testing.T) {
	server := testdb.MariaDB(t)
	url := server.NewDatabase(t, "CREATE TABLE items (id int)", "INSERT INTO items VALUES (1)")
	database := strings.TrimPrefix(url[strings.LastIndex(url, "/")+1:], "/")
	database, _, _ = strings.Cut(database, "?")
	user := server.NewUser(t)
	role := user + "_r"
	server.Admin(t, "CREATE ROLE "+role, "GRANT SELECT ON "+database+".* TO "+role)
	defer server.Admin(t, "DROP ROLE "+role)
	server.Admin(t, "GRANT "+role+" TO '"+user+"'@'%'", setDefaultRole(server, role, user))
	c := open(t, server.URL(database, user), mysqldb.Config{MaxConnections: 1})
	id := c.One(t, connectionID)
	for range 3 { // the reset keeps the role, or the connection is replaced
		if got := c.One(t, "SELECT id FROM items"); got != "1" {
			t.Errorf("the role's table has %q", got)
		}
	}
	t.Logf("the connection is the same: %t", id == c.One(t, connectionID))
}

func setDefaultRole(server *testdb.MariaDBServer, role, user string) string {
	if server.Product() == "mysql" {
		return "SET DEFAULT ROLE " + role + " TO '" + user + "'@'%'"
	}
	return "SET DEFAULT ROLE " + role + " FOR '" + user + "'@'%'"
}

// An answer with the columns of SHOW REPLICAS on a server that shows the passwords of its
// replicas is not given, also if it is cut.
func TestPasswordsOfReplicas(t *testing.T) {
	c := open(t, testdb.MariaDB(t).NewDatabase(t), mysqldb.Config{MaxConnections: 1})
	const columns = "SELECT 1 AS Server_id, 'h' AS Host, 'u' AS User, 'p' AS Password, 3306 AS Port"
	for _, sql := range []string{columns, columns + ", 2 AS Master_id UNION ALL SELECT 2, 'h', 'u', 'p', 1, 1"} {
		err := c.Fails(t, sql, execution.Limits{Rows: 1})
		if e, ok := errors.AsType[*execution.Error](err); !ok || e.Code != sqlguard.CodeCredentialRelation || strings.Contains(err.Error(), "'p'") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	c.Get(t, "SELECT 1 AS Server_id, 'h' AS Host, 3306 AS Port, 2 AS Master_id", execution.Limits{})
}
