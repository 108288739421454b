package sqlitedb_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestErrors(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t, `CREATE TABLE t (x INTEGER, y TEXT);
		INSERT INTO t VALUES (1, 'a'), (2, '{');
		CREATE VIEW broken AS SELECT nowhere FROM t;
		CREATE VIRTUAL TABLE docs USING fts5(body)`), 1)
	for _, q := range []struct {
		sql, state, message string
		at                  string // the part of the statement at the position
	}{
		{"SELECT nowhere FROM t", "SQLITE_ERROR", "no such column: nowhere", "nowhere"},
		{"SELECT 'é', x FROM t WHERE y = 1 ORDER BY é", "SQLITE_ERROR", "no such column: é", "é"},
		{"SELECT * FROM missing", "SQLITE_ERROR", "no such table: missing", ""},
		{"SELECT x FROM t WHERE (x = 1", "SQLITE_ERROR", "incomplete input", ""},
		{"SELEC 1", "SQLITE_ERROR", `near "SELEC": syntax error`, "SELEC"},
		{"SELECT nosuch(1)", "SQLITE_ERROR", "no such function: nosuch", "nosuch"},
		{"SELECT abs(1, 2)", "SQLITE_ERROR", "wrong number of arguments to function abs()", "abs"},
		{"SELECT json_extract(y, '$.a') FROM t", "SQLITE_ERROR", "malformed JSON", ""},
		{"SELECT * FROM broken", "SQLITE_ERROR", "no such column: nowhere", ""},
		{"SELECT body FROM docs WHERE docs MATCH '\"'", "SQLITE_ERROR", "unterminated string", ""},
		{"SELECT fts5(NULL)", "SQLITE_ERROR", "not authorized to use function: fts5", "fts5"},
		{"DELETE FROM t", "SQLITE_AUTH", "not authorized", ""},
		{"", "", "holds no statement", ""},
		{"-- nothing", "", "holds no statement", ""},
		{"SELECT 1; SELECT 2", "", "more than one statement", ""},
		{"SELECT 1; garbage", "", "more than one statement", ""},
		{"SELECT 1 " + strings.Repeat("+ 1", 2000), "SQLITE_ERROR", "Expression tree is too large", ""},
	} {
		e := c.fails(t, q.sql)
		if e.Code != sqlguard.CodeDatabaseError || e.SQLState != q.state || !strings.Contains(e.Message, q.message) || e.Retryable {
			t.Errorf("%.60s: %s %q %q (retryable %t), want %s %q %q", q.sql, e.Code, e.SQLState, e.Message, e.Retryable, sqlguard.CodeDatabaseError, q.state, q.message)
		}
		want := 0
		if q.at != "" {
			want = strings.LastIndex(q.sql, q.at) + 1
		}
		if e.Position != want {
			t.Errorf("%.60s: position %d, want %d", q.sql, e.Position, want)
		}
	}
}

// The error for a statement that was never approved contains no part of the
// statement.
func TestNotApproved(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t), 1)
	_, err := c.Query(context.Background(), sqlguard.Approved{}, execution.Limits{})
	if err == nil || !strings.Contains(err.Error(), "not approved") {
		t.Errorf("error %v", err)
	}
}

// TestHintsOfUnknownNames: what other engines have and SQLite accepts as a name.
func TestHintsOfUnknownNames(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t, "CREATE TABLE t (x TEXT)"), 1)
	for sql, hint := range map[string]string{
		"SELECT date('now') - interval '1 day'": "date(x, '-7 days')",
		"SELECT y FROM t":                       "PRAGMA table_info(name)",
		"SELECT tablename FROM pg_tables":       "SELECT name FROM sqlite_schema",
	} {
		if e := c.fails(t, sql); !strings.Contains(e.Hint, hint) {
			t.Errorf("%s: %s: hint %q, want %q", sql, e.Message, e.Hint, hint)
		}
	}
}
