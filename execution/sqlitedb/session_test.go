package sqlitedb_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/execution/sqlitedb/engine"
	"github.com/ktxhq/ktx/sqlguard"
)

// Every function of the engine is in one of the two lists, so that a new
// version of the engine cannot add one unnoticed. Every listed function exists.
func TestFunctionLists(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t), 1)
	has := make(map[string]bool)
	for _, row := range c.rows(t, "SELECT DISTINCT name FROM pragma_function_list") {
		has[row[0]] = true
	}
	listed := maps.Clone(sqlitedb.Functions)
	for name := range sqlitedb.RefusedFunctions {
		if listed[name] {
			t.Errorf("%s is allowed and refused", name)
		}
		listed[name] = true
	}
	for _, name := range engine.Lacking {
		delete(listed, name)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(has)), slices.Sorted(maps.Keys(listed))); diff != "" {
		t.Errorf("functions (-engine +lists):\n%s", diff)
	}
}

// The authorizer is not the only control. Without it, every attack still fails
// to change the database.
func TestWithoutAuthorizer(t *testing.T) {
	target := executiontest.SQLite(openBackend)
	victim := target.Victim(t)
	before := victim.State(t)
	for _, a := range target.Attacks {
		t.Run(a.Name, func(t *testing.T) {
			c := open(t, victim.Address(t, ""), 1)
			c.Tamper(func(conn *engine.Conn) {
				if err := conn.SetAuthorizer(nil); err != nil {
					t.Fatal(err)
				}
			})
			res, err := c.Try(t.Context(), t, victim.Text(t, "", a.SQL), execution.Limits{})
			if diff := cmp.Diff(before, victim.State(t)); diff != "" {
				t.Errorf("%s changed the database (-before +after):\n%s\n(error %v, result %v)", a.SQL, diff, err, res)
			}
		})
	}
}

// The checks of Query are not the only control either. A connection that runs
// any statement cannot write to the file or create another file.
func TestReadOnlyConnection(t *testing.T) {
	target := executiontest.SQLite(openBackend)
	victim := target.Victim(t)
	before := victim.State(t)
	for _, a := range target.Attacks {
		t.Run(a.Name, func(t *testing.T) {
			c := open(t, victim.Address(t, ""), 1)
			var err error
			c.Tamper(func(conn *engine.Conn) {
				if err := conn.SetAuthorizer(nil); err != nil {
					t.Fatal(err)
				}
				err = conn.Exec(victim.Text(t, "", a.SQL))
			})
			if diff := cmp.Diff(before, victim.State(t)); diff != "" {
				t.Errorf("%s changed the database (-before +after):\n%s\n(error %v)", a.SQL, diff, err)
			}
		})
	}
}

// A session whose state has changed runs nothing, and is replaced.
func TestPins(t *testing.T) {
	set := func(sql string) func(*engine.Conn) error {
		return func(conn *engine.Conn) error { return conn.Exec(sql) }
	}
	config := func(op sqlite3.DBConfig, on bool) func(*engine.Conn) error {
		return func(conn *engine.Conn) error {
			_, err := conn.Config(op, on)
			return err
		}
	}
	for name, change := range map[string]func(*engine.Conn) error{
		"query_only":      set("PRAGMA query_only = 0"),
		"transaction":     set("BEGIN"),
		"trusted_schema":  config(sqlite3.DBCONFIG_TRUSTED_SCHEMA, true),
		"defensive":       config(sqlite3.DBCONFIG_DEFENSIVE, false),
		"writable_schema": config(sqlite3.DBCONFIG_WRITABLE_SCHEMA, true),
		"dqs_dml":         config(sqlite3.DBCONFIG_DQS_DML, false),
		"attached": func(conn *engine.Conn) error {
			conn.Limit(sqlite3.LIMIT_ATTACHED, 3)
			return nil
		},
		"rows": func(conn *engine.Conn) error {
			return conn.Exec("PRAGMA query_only = 0; CREATE TEMP TABLE t (x); INSERT INTO t VALUES (1); PRAGMA query_only = 1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, testdb.SQLiteFile(t), 1)
			c.Tamper(func(conn *engine.Conn) {
				// The authorizer would refuse the change. So the test removes
				// it, and sets one that permits everything afterwards.
				if err := conn.SetAuthorizer(nil); err != nil {
					t.Fatal(err)
				}
				if err := change(conn); err != nil {
					t.Fatal(err)
				}
			})
			e := c.fails(t, "SELECT 1")
			if e.Code != sqlguard.CodeSessionModeMismatch || e.Retryable {
				t.Errorf("error %v, want %s", e, sqlguard.CodeSessionModeMismatch)
			}
			if got := c.rows(t, "SELECT 1"); got[0][0] != "1" {
				t.Errorf("read %v after the session was replaced", got)
			}
		})
	}
}

// The controls do not prevent the reads that analysts use.
func TestReads(t *testing.T) {
	path := testdb.SQLiteFile(t, `CREATE VIRTUAL TABLE docs USING fts5(title, body, tokenize = 'porter unicode61');
		INSERT INTO docs VALUES ('first', 'running with scissors'), ('second', 'walking');
		CREATE VIRTUAL TABLE words USING fts5vocab(docs, row)`)
	// Older programs write strings in double quotes, even in the schema.
	conn, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []sqlite3.DBConfig{sqlite3.DBCONFIG_DQS_DDL, sqlite3.DBCONFIG_DQS_DML} {
		if _, err := conn.Config(op, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(conn.Exec(`
		CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT "quoted", total REAL, twice AS (total * 2) STORED, CHECK (name <> "bad"));
		INSERT INTO t (name, total) VALUES ('a', 1.5), ('b', 2.5), ('c', NULL);
		CREATE INDEX t_lower ON t (lower(name)) WHERE name <> "none";
		CREATE VIEW v AS SELECT name, upper(name) AS up FROM t;
		PRAGMA user_version = 7`), conn.Close()); err != nil {
		t.Fatal(err)
	}
	c := open(t, path, 2)
	for _, q := range []struct{ sql, want string }{
		{"SELECT name, up FROM v ORDER BY 1 LIMIT 1", "a A"},
		{"SELECT twice FROM t WHERE id = 2", "5.0"},
		{`SELECT "no such column"`, "no such column"},
		{"SELECT name FROM t WHERE lower(name) = 'b' AND name <> 'none'", "b"},
		{"SELECT title FROM docs WHERE docs MATCH 'run'", "first"},
		{"SELECT title FROM docs('walk')", "second"},
		{"SELECT highlight(docs, 1, '[', ']') FROM docs WHERE docs MATCH 'run' ORDER BY bm25(docs)", "[running] with scissors"},
		{"SELECT snippet(docs, 1, '', '', '…', 2) FROM docs WHERE docs = 'run' ORDER BY rank", "running with…"},
		{"SELECT term FROM words WHERE doc = 1 ORDER BY 1 LIMIT 1", "first"},
		{`SELECT group_concat(value) FROM json_each('[1,2,3]')`, "1,2,3"},
		{`SELECT '{"a":[10,20]}' ->> '$.a[1]', '{"a":1}' -> 'a'`, "20 1"},
		{"SELECT key, type FROM json_tree('{\"a\":1}') WHERE key IS NOT NULL", "a integer"},
		{"SELECT sum(value) FROM generate_series(1, 10)", "55"},
		{"SELECT name, row_number() OVER (ORDER BY name DESC), lag(name) OVER (ORDER BY id) FROM t ORDER BY id LIMIT 1", "a 3 "},
		{"WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s WHERE i < 5) SELECT max(i) FROM s", "5"},
		{"SELECT 'abc' LIKE 'A%', 'abc' GLOB 'a*', 'abc' REGEXP '^a'", "1 1 1"},
		{"SELECT strftime('%Y', '2024-02-29'), date('2024-03-01', '-1 day')", "2024 2024-02-29"},
		{"SELECT length(current_timestamp) + length(current_date)", "29"},
		{"SELECT round(sqrt(2), 3), pi() > 3, 7 % 4", "1.414 1 3"},
		{"VALUES (1, 'x')", "1 x"},
		{"SELECT 1 WHERE 'a' = 'A' COLLATE NOCASE", "1"},
		{"SELECT count(*) FROM t t1 JOIN t t2 USING (id) LEFT JOIN docs ON docs.title = t1.name", "3"},
		{"PRAGMA user_version", "7"},
		{"PRAGMA encoding", "UTF-8"},
		{"PRAGMA quick_check", "ok"},
		{"PRAGMA integrity_check", "ok"},
		{"SELECT name FROM pragma_table_info('t') WHERE pk", "id"},
		{"SELECT count(*) > 2 FROM pragma_table_list", "1"},
		{"SELECT count(*) FROM sqlite_schema WHERE type = 'view'", "1"},
		{"SELECT 1; -- the end", "1"},
		{";; SELECT 1 ;;\n/* done */ ;", "1"},
	} {
		rows := c.rows(t, q.sql)
		if len(rows) == 0 {
			t.Errorf("%s: no rows", q.sql)
			continue
		}
		if got := strings.Join(rows[0], " "); got != q.want {
			t.Errorf("%s: %q, want %q", q.sql, got, q.want)
		}
	}
	plan := c.rows(t, "EXPLAIN QUERY PLAN SELECT * FROM t WHERE id = 1")
	if got := plan[0][len(plan[0])-1]; !strings.HasPrefix(got, "SEARCH t USING INTEGER PRIMARY KEY") {
		t.Errorf("the plan is %q", got)
	}
}
