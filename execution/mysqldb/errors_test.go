package mysqldb_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestNamesOfOtherProducts: the error about a name that only another product has says what to
// write instead.
func TestNamesOfOtherProducts(t *testing.T) {
	t.Parallel()
	server := testdb.MariaDB(t)
	g := openGateway(t, server.NewDatabase(t, "CREATE TABLE orders (id int)"), false, func(*sqlguard.Policy) {})
	for sql, hint := range map[string]string{
		"SELECT id FROM orders WHERE id = $1":           "$1 is a parameter of PostgreSQL, and nothing is bound to it: write the value as a literal",
		"SELECT $12":                                    "$12 is a parameter of PostgreSQL",
		"SELECT id FROM orders WHERE orders.rownum < 5": "write LIMIT 10",
		"SELECT sysdate FROM orders":                    "write NOW()",
		"SELECT $x FROM orders":                         "SHOW COLUMNS FROM name",
		"SELECT nothing FROM orders":                    "SHOW COLUMNS FROM name",
	} {
		_, err := g.ask(t, sql)
		e, ok := err.(*execution.Error) //nolint:errorlint // the gateway's own
		if !ok || !strings.Contains(e.Hint, hint) {
			t.Errorf("%s: %#v, want the hint %q", sql, err, hint)
		}
	}
}
