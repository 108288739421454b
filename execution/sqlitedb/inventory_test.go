package sqlitedb_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestInventory(t *testing.T) {
	t.Parallel()
	c := open(t, testdb.SQLiteFile(t, `CREATE TABLE orders (id, "E mail"); CREATE VIEW totals AS SELECT count(*) AS n FROM orders; CREATE VIEW broken AS SELECT a FROM gone;
		CREATE VIRTUAL TABLE texts USING fts5(body)`), 1)
	in, err := c.Inventory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	main := func(name string) sqlguard.CatalogName { return sqlguard.CatalogName{Schema: "main", Name: name} }
	got := map[string][]string{}
	for _, r := range in.Relations {
		got[r.Schema+"."+r.Name] = r.Columns
	}
	for name, columns := range map[string][]string{"main.orders": {"id", "E mail"}, "main.totals": nil, "main.broken": nil, "main.texts": nil, "main.sqlite_schema": nil} {
		if diff := cmp.Diff(columns, got[name]); diff != "" {
			t.Errorf("columns of %s (-want +got):\n%s", name, diff)
		}
	}
	if !slices.Contains(in.Functions, main("lower")) || slices.Contains(in.Functions, main("lowerr")) {
		t.Errorf("functions %v", in.Functions)
	}
	// The session still runs statements afterwards.
	if got := c.rows(t, "SELECT count(*) FROM orders"); got[0][0] != "0" {
		t.Errorf("rows %v", got)
	}
}
