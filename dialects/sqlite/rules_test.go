package sqlite_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestRowid checks that the names of the rowid may mean a denied column, unless the
// engine itself applies the rules.
func TestRowid(t *testing.T) {
	t.Parallel()
	policy := sqlguard.DefaultPolicy()
	policy.Columns = []sqlguard.ColumnRule{{Match: "main.people.id"}}
	for _, sql := range []string{
		"SELECT rowid FROM people", "SELECT p.OID FROM people AS p", `SELECT max("_rowid_") FROM people`,
		"SELECT name FROM people WHERE rowid > 3", "SELECT name FROM people ORDER BY oid",
	} {
		g := guardWith(t, policy, &sqlguard.Catalog{SearchPath: []string{"main"}})
		if v := g.Check(sql); v.Allowed || v.Code != sqlguard.CodeColumnNotAllowed {
			t.Errorf("%s: %v", sql, v.Findings)
		}
		g = guardWith(t, policy, &sqlguard.Catalog{SearchPath: []string{"main"}, EngineDenies: true})
		if v := g.Check(sql); !v.Allowed {
			t.Errorf("with the engine's rules, %s: %v", sql, v.Findings)
		}
	}
	g := guardWith(t, policy, &sqlguard.Catalog{SearchPath: []string{"main"}, EngineDenies: true})
	for _, sql := range []string{"SELECT id FROM people", "SELECT * FROM people", "SELECT name FROM orders NATURAL JOIN people"} {
		if v := g.Check(sql); v.Allowed || v.Code != sqlguard.CodeColumnNotAllowed {
			t.Errorf("%s: %v", sql, v.Findings)
		}
	}
	for _, sql := range []string{"SELECT rowid FROM orders", "SELECT p.name, o.total FROM orders AS o JOIN people AS p ON p.name = o.name"} {
		if v := g.Check(sql); !v.Allowed {
			t.Errorf("%s: %v", sql, v.Findings)
		}
	}
}

func guardWith(t *testing.T, p sqlguard.Policy, c *sqlguard.Catalog) *sqlguard.Guard {
	t.Helper()
	g, err := sqlguard.New(sqlite.Dialect{}, p, c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
