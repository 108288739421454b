package pgdb_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestInventory(t *testing.T) {
	t.Parallel()
	server := testdb.Postgres(t)
	role := server.NewRole(t) // it may read no table, but every role may read the names
	url := server.NewDatabase(t, everyKind)
	in, err := open(t, server.URL(query[string](t, url, "SELECT current_database()"), role), pgdb.Config{}).Inventory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(in.Schemas, "shop") || !slices.Contains(in.Schemas, "pg_catalog") || slices.Contains(in.Schemas, "pg_toast") {
		t.Errorf("schemas %v", in.Schemas)
	}
	if !slices.Contains(in.Functions, ours("twice")) || !slices.Contains(in.Functions, system("pg_sleep")) {
		t.Error("a function is missing")
	}
	columns := map[sqlguard.CatalogName][]string{}
	for _, r := range in.Relations {
		columns[r.CatalogName] = r.Columns
	}
	if diff := cmp.Diff([]string{"id", "Status", "tags", "total"}, columns[ours("orders")]); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	for _, name := range []string{"open_orders", "counts", "far", "numbers", "events"} {
		if len(columns[ours(name)]) == 0 {
			t.Errorf("%s is not listed", name)
		}
	}
	p := sqlguard.Policy{Tables: sqlguard.Names{Deny: []string{"shop.orders", "pg_catalog.pg_class", "shop.oders"}}, Columns: []sqlguard.ColumnRule{{Match: "shop.orders.gone"}}}
	want := []sqlguard.UnmatchedName{
		{Key: "access.tables.deny", Name: "shop.oders", Near: "shop.orders", Protects: true},
		{Key: "access.columns", Name: "shop.orders.gone", Protects: true},
	}
	if diff := cmp.Diff(want, sqlguard.Unmatched(postgres.Dialect{}, p, in)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
