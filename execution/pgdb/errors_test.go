package pgdb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
)

// TestNamesOfOtherProducts: the error about a name that only another product has says what to
// write instead, and what it says runs.
func TestNamesOfOtherProducts(t *testing.T) {
	t.Parallel()
	server := testdb.Postgres(t)
	db := open(t, server.NewDatabase(t, "CREATE TABLE orders (id int, status text)"), pgdb.Config{})
	for _, c := range []struct{ sql, hint, instead string }{
		{"SELECT 1 FROM dual", "leave FROM dual out", "SELECT 1"},
		{"SELECT id FROM orders WHERE ROWNUM <= 5", "LIMIT 10", "SELECT row_number() OVER (ORDER BY id) FROM orders LIMIT 10"},
		{"SELECT o.rownum FROM orders AS o", "lists the columns", ""},
		{"SELECT decode(status, 'paid', 1, 0) FROM orders", "CASE x WHEN a THEN b ELSE c END", "SELECT CASE status WHEN 'paid' THEN 1 ELSE 0 END FROM orders"},
		{"SELECT decode(id, 1, 2) FROM orders", "decode(text, 'hex')", "SELECT decode('00', 'hex')"},
		{"SELECT @@version", "write version(), or SHOW server_version", "SELECT version()"},
		{"SELECT @@VERSION", "write version(), or SHOW server_version", "SHOW server_version"},
		{"SELECT @@global.version", "SHOW server_version", "SHOW server_version"},
		{"SELECT 'é', sysdate FROM orders", "write now()", "SELECT now()"},
		{"SELECT version FROM orders", "lists the columns", ""},
		{"SELECT * FROM duals", "lists the tables", ""},
		{"SELECT nothing(1)", "", ""},
	} {
		_, err := db.Try(t.Context(), t, c.sql, execution.Limits{})
		e, ok := errors.AsType[*execution.Error](err)
		if !ok || !strings.Contains(e.Hint, c.hint) || c.hint == "" && e.Hint != "" {
			t.Errorf("%s: %v, want the hint %q", c.sql, err, c.hint)
			if ok {
				t.Error(e.Hint)
			}
		}
		if c.instead == "" {
			continue
		}
		if _, err := db.Try(t.Context(), t, c.instead, execution.Limits{}); err != nil {
			t.Errorf("%s: %v", c.instead, err)
		}
	}
}
