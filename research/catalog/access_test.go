package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/sqlguard"
)

var _ catalog.Access = sqlguard.Readable{}

// TestDeniedThingsAreAbsent wants no trace of what the rules deny in anything that a
// snapshot returns.
func TestDeniedThingsAreAbsent(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	orders := catalogtest.Table("public.orders", "id integer key", "customer_id integer", "zsecret_code text", "zsecret_part integer")
	orders.Columns[2].SampleValues = []string{"zsecret value"}
	orders.ForeignKeys = []catalog.ForeignKey{
		catalogtest.Key("customer_id", "public.customers", "id", "fk_customer"),
		catalogtest.Key("customer_id", "hr.zsecret", "id", "fk_hr"),
		catalogtest.Key("customer_id", "public.zsecret_keys", "id", ""),
		catalogtest.Key("id", "public.customers", "id", "fk_two"), // one of its pairs is denied
		catalogtest.Key("zsecret_part", "public.customers", "part", "fk_two"),
	}
	view := catalogtest.Table("public.overview", "code text", "state enum('zsecret_label')")
	view.Columns[1].EnumValues = []string{"zsecret_label"}
	view.Kind, view.Columns[0].SampleValues = catalog.KindView, []string{"zsecret value"}
	end := func(table, column string) catalog.EndPoint {
		ref := catalogtest.Table(table)
		return catalog.EndPoint{Table: ref.Ref(), Columns: []string{column}}
	}
	catalogtest.Write(t, p.dir, "w", catalogtest.Scan{
		Tables: []catalog.Table{orders, catalogtest.Table("public.customers", "id integer key", "part integer"), catalogtest.Table("hr.zsecret", "id"), catalogtest.Table("public.zsecret_keys", "id"), view},
		Relationships: &catalog.Relationships{Accepted: []catalog.Relationship{
			{From: end("public.orders", "customer_id"), To: end("public.customers", "id"), Source: "formal"}, // declared too
			{From: end("public.orders", "id"), To: end("public.customers", "part"), Source: "inferred"},
			{From: end("public.orders", "zsecret_code"), To: end("public.customers", "id")},
			{From: end("public.customers", "id"), To: end("hr.zsecret", "id")},
		}},
		Profile: &catalog.Profile{Columns: map[string]catalog.ProfileColumn{
			"public.orders.zsecret_code": {Table: orders.Ref(), Column: "zsecret_code", SampleValues: []string{"zsecret value"}},
			"public.overview.code":       {Table: view.Ref(), Column: "code", SampleValues: []string{"zsecret value"}},
		}},
	})
	all, err := p.store.Snapshot(t.Context(), "w", sqlguard.NewReadable(postgres.Dialect{}, sqlguard.Policy{}))
	if err != nil || len(all.Tables()) != 5 || len(all.Relationships()) != 7 {
		t.Fatalf("without rules: %d tables, %d relationships, %v", len(all.Tables()), len(all.Relationships()), err)
	}
	s, err := p.store.Snapshot(t.Context(), "w", sqlguard.NewReadable(postgres.Dialect{}, sqlguard.Policy{
		Schemas: sqlguard.Names{Deny: []string{"hr"}}, Tables: sqlguard.Names{Deny: []string{"public.zsecret*"}},
		Columns: []sqlguard.ColumnRule{{Match: "public.orders.zsecret_code"}, {Match: "public.orders.zsecret_part"}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal([]any{s.Tables(), s.Relationships(), s.Warnings()})
	if err != nil || strings.Contains(string(text), "zsecret") || strings.Contains(string(text), "fk_two") {
		t.Errorf("%v: %s", err, text)
	}
	if len(s.Tables()) != 3 || len(s.Relationships()) != 2 || len(s.Tables()[1].ForeignKeys) != 1 {
		t.Errorf("%d tables, %d relationships: %s", len(s.Tables()), len(s.Relationships()), text)
	}
	if s.Identity() == all.Identity() {
		t.Error("other rules have the same identity")
	}
	for _, name := range []string{"hr.zsecret", "zsecret_keys", "public.orders.zsecret_code"} {
		if table, column, err := s.Resolve(name); table != nil && column != nil || err == nil {
			t.Errorf("%s is %v %v", name, table, column)
		}
	}
	if _, err := s.ResolveColumn(s.Tables()[1], "zsecret_code"); err == nil {
		t.Error("a denied column is found")
	}
	none, err := p.store.Snapshot(t.Context(), "w", sqlguard.Readable{})
	if err != nil || len(none.Tables())+len(none.Relationships()) != 0 {
		t.Errorf("the zero value permits something: %v", err)
	}
}

// TestSQLiteWithoutSchema applies rules on main to artifacts that leave it out.
func TestSQLiteWithoutSchema(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	orders := catalogtest.Table("orders", "id", "customer_id")
	orders.ForeignKeys = []catalog.ForeignKey{catalogtest.Key("customer_id", "customers", "id", "")}
	catalogtest.Write(t, p.dir, "w", catalogtest.Scan{Driver: "sqlite", Tables: []catalog.Table{orders, catalogtest.Table("customers", "id"), catalogtest.Table("hidden", "id")}})
	s, err := p.store.Snapshot(t.Context(), "w", sqlguard.NewReadable(sqlite.Dialect{}, sqlguard.Policy{Tables: sqlguard.Names{Deny: []string{"main.hidden"}}}))
	if err != nil || len(s.Tables()) != 2 || len(s.Relationships()) != 1 {
		t.Fatalf("%+v %+v %v", s.Tables(), s.Relationships(), err)
	}
	for _, name := range []string{"orders", "main.orders", `"main"."orders"`, "MAIN.[Orders]"} {
		if table, _, err := s.Resolve(name); err != nil || table.Name != "orders" {
			t.Errorf("%s: %v %v", name, table, err)
		}
	}
}
