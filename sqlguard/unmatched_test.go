package sqlguard_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlguard"
)

func TestUnmatched(t *testing.T) {
	in := sqlguard.Inventory{
		Schemas: []string{"public", "sales"},
		Relations: []sqlguard.InventoryRelation{
			{CatalogName: sqlguard.CatalogName{Schema: "public", Name: "Orders"}, Columns: []string{"id", "email"}},
			{CatalogName: sqlguard.CatalogName{Schema: "sales", Name: "invoices"}, Columns: []string{"id"}},
			{CatalogName: sqlguard.CatalogName{Schema: "sales", Name: "totals"}},
		},
		Functions: []sqlguard.CatalogName{{Schema: "public", Name: "score"}, {Schema: "pg_catalog", Name: "pg_sleep"}},
	}
	p := sqlguard.Policy{
		Schemas:   sqlguard.Names{Allow: []string{"public", "sale*", "Sales", "other"}, Deny: []string{"SALES", "payrol"}},
		Tables:    sqlguard.Names{Allow: []string{"public.Orders", "public.orders", "sales.*", "none.*"}, Deny: []string{"public.ORDERS", "sales.invoice", "public.tmp_*"}},
		Functions: sqlguard.Names{Allow: []string{"public.score", "public.scores"}, Deny: []string{"pg_catalog.pg_sleep", "pg_catalog.pg_slep", "completely.different"}},
		Columns:   []sqlguard.ColumnRule{{Match: "public.orders.EMAIL"}, {Match: "public.orders.emial"}, {Match: "sale.invoices.id"}, {Match: "sales.totals.any"}},
	}
	want := []sqlguard.UnmatchedName{
		{Key: "access.schemas.allow", Name: "Sales", Near: "sales"},
		{Key: "access.schemas.allow", Name: "other"},
		{Key: "access.tables.allow", Name: "public.orders", Near: "public.Orders"},
		{Key: "access.tables.allow", Name: "none.*"},
		{Key: "functions.allow", Name: "public.scores", Near: "public.score"},
		{Key: "access.schemas.deny", Name: "payrol", Protects: true},
		{Key: "access.tables.deny", Name: "sales.invoice", Near: "sales.invoices", Protects: true},
		{Key: "access.tables.deny", Name: "public.tmp_*"},
		{Key: "functions.deny", Name: "pg_catalog.pg_slep", Near: "pg_catalog.pg_sleep", Protects: true},
		{Key: "functions.deny", Name: "completely.different", Protects: true},
		{Key: "access.columns", Name: "public.orders.emial", Near: "public.Orders.email", Protects: true},
		{Key: "access.columns", Name: "sale.invoices.id", Near: "sales.invoices.id", Protects: true},
	}
	if diff := cmp.Diff(want, sqlguard.Unmatched(reader{}, p, in)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if got := sqlguard.Unmatched(reader{}, sqlguard.DefaultPolicy(), sqlguard.Inventory{}); len(got) > 0 {
		t.Errorf("a policy without names: %+v", got)
	}
}
