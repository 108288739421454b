package research_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/sqlguard"
)

// artifactOnly returns a connection that runs no statements.
func artifactOnly(id string, policy sqlguard.Policy) execution.Connection {
	return execution.Connection{
		ID: id, Engine: "POSTGRESQL", Dialect: postgres.Dialect{}, Policy: policy,
		Unavailable: execution.NewError(sqlguard.CodeNotConfigured, "it has no url", nil),
	}
}

// warehouse writes the scan of a connection with orders of a shop.
func warehouse(t *testing.T, dir, id string) {
	t.Helper()
	orders := catalogtest.Table("public.orders", "id integer key -- The number", "customer_id integer", "net_amount numeric(10,2) null -- Without tax", "status text")
	orders.Descriptions = map[string]string{"user": "One row for each order.", "ai": "Orders"}
	orders.Columns[3].SampleValues = []string{"paid", "delivered"}
	rows := int64(3000)
	orders.EstimatedRows = &rows
	orders.ForeignKeys = []catalog.ForeignKey{catalogtest.Key("customer_id", "public.customers", "id", "fk_customer")}
	customers := catalogtest.Table("public.customers", "id integer key", "name text -- What the customer is called", "api_key text")
	wide := catalogtest.Table("public.wide")
	for i := range 1600 {
		wide.Columns = append(wide.Columns, catalogtest.Table("x", fmt.Sprintf("c%04d integer -- %s", i, strings.Repeat("long ", 300))).Columns...)
	}
	catalogtest.Write(t, dir, id, catalogtest.Scan{Tables: []catalog.Table{orders, customers, catalogtest.Table("sales.orders", "id"), catalogtest.Table(`public.odd"name`, "id"), wide}})
}

// demoScan writes the scan of the tables that ktx demo has.
func demoScan(t *testing.T, dir, id string) {
	t.Helper()
	orders := catalogtest.Table("main.orders", "id INTEGER key", "customer_id INTEGER", "status TEXT", "total NUMERIC", "ordered_at TEXT", "shipped_at TEXT null")
	orders.Columns[2].SampleValues = []string{"delivered", "paid", "shipped", "cancelled", "open"}
	orders.Columns[4].SampleValues = []string{"2026-01-02 03:04:05", "2026-01-03 03:04:05", "2026-01-04 03:04:05", "2026-01-05 03:04:05", "2026-01-06 03:04:05"}
	orders.ForeignKeys = []catalog.ForeignKey{catalogtest.Key("customer_id", "main.customers", "id", "")}
	items := catalogtest.Table("main.order_items", "order_id INTEGER key", "product_id INTEGER key", "quantity INTEGER", "price NUMERIC")
	items.ForeignKeys = []catalog.ForeignKey{catalogtest.Key("order_id", "main.orders", "id", ""), catalogtest.Key("product_id", "main.products", "id", "")}
	products := catalogtest.Table("main.products", "id INTEGER key", "name TEXT", "category TEXT", "price NUMERIC", "stock INTEGER")
	products.Columns[2].SampleValues = []string{"Kitchen", "Garden", "Office"}
	revenue := catalogtest.Table("main.revenue_by_month", "month null", "orders null", "revenue null")
	revenue.Kind = catalog.KindView
	customers := catalogtest.Table("main.customers", "id INTEGER key", "name TEXT", "email TEXT", "city TEXT", "country TEXT", "joined_at TEXT")
	customers.Columns[4].SampleValues = []string{"DE", "PT", "NO", "FR", "PL"}
	catalogtest.Write(t, dir, id, catalogtest.Scan{Driver: "sqlite", Tables: []catalog.Table{customers, products, orders, items, revenue}})
}

const (
	ordersStart = `{"ok":true,"connectionId":"w","tableRef":{"catalog":null,"db":"public","name":"orders"},"display":"public.orders","kind":"table","comment":"One row for each order.","estimatedRows":3000,"columns":[`
	ordersEnd   = `],"foreignKeys":[{"fromColumn":"customer_id","toCatalog":null,"toDb":"public","toTable":"customers","toColumn":"id","constraintName":"fk_customer"}],` + ordersScan + `}`
	ordersScan  = `"snapshot":{"syncId":"2026-01-02-030405-r1","extractedAt":"2026-01-02T03:04:05Z","scanRunId":"r1"}`
	idColumn    = `{"name":"id","nativeType":"integer","normalizedType":"integer","dimensionType":"number","nullable":false,"primaryKey":true,"comment":"The number"}`
	netColumn   = `{"name":"net_amount","nativeType":"numeric(10,2)","normalizedType":"numeric(10,2)","dimensionType":"number","nullable":true,"primaryKey":false,"comment":"Without tax"}`
)

func TestEntityDetails(t *testing.T) {
	dir := t.TempDir()
	warehouse(t, dir, "w")
	c := connectIn(t, dir, artifactOnly("w", sqlguard.Policy{}), artifactOnly("empty", sqlguard.Policy{}))
	narrow := ordersStart + idColumn + ordersEnd
	for _, test := range []struct{ name, entity, want string }{
		{"by path", `{"table":"public.orders","columns":["id"]}`, narrow},
		{"columns in the order of the table", `{"table":"public.orders","columns":["NET_AMOUNT","orders.id","id"]}`, ordersStart + idColumn + "," + netColumn + ordersEnd},
		{"a column's id", `{"table":"public.orders.id"}`, narrow},
		{"a reference", `{"table":{"catalog":null,"db":"public","name":"orders"},"columns":["id"]}`, narrow},
		{"schema and table", `{"table":{"schema":"public","table":"orders"},"columns":["id"]}`, narrow},
		{"schema beside table", `{"schema":"public","table":"orders","columns":["id"]}`, narrow},
		{"a reference as the entity", `{"db":"public","name":"orders","columns":["id"]}`, narrow},
		{"a path as a name", `{"table":{"name":"public.orders"},"columns":"id"}`, narrow},
		{"other case and quotes", `{"table":"\"PUBLIC\".[Orders]","columns":["id"]}`, narrow},
		{"a reference as text", `{"table":"{\"catalog\":null,\"db\":\"public\",\"name\":\"orders\"}","columns":["id"]}`, narrow},
		{"ambiguous", `{"table":"orders"}`, `{"ok":false,"connectionId":"w","table":"orders",` + ordersScan + `,"error":{"code":"ambiguous_table","message":"2 tables are named \"orders\"; qualify the name as in candidates","candidates":["public.orders","sales.orders"]}}`},
		{"not found", `{"table":"public.oders"}`, `{"ok":false,"connectionId":"w","table":"public.oders",` + ordersScan + `,"error":{"code":"table_not_found","message":"the scan of w has no table \"public.oders\"; the nearest names are in candidates; if it is newer than the scan, ask the operator to run: ktx scan w","candidates":["public.orders","sales.orders"`},
		{"no column", `{"table":"public.orders","columns":["id","net_amont","x"]}`, `{"ok":false,"connectionId":"w","table":"public.orders",` + ordersScan + `,"error":{"code":"column_not_found","message":"public.orders has no column \"net_amont\", \"x\"; without columns, entity_details lists all of them","candidates":["net_amount"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.t = t
			r := c.tool("entity_details", `{"connectionId":"w","entities":[`+test.entity+`]}`)
			want := `{"results":[` + test.want
			if r.IsError || !strings.HasPrefix(r.text(), want) {
				t.Fatalf("got\n%s, want\n%s", r.text(), want)
			}
			validate(t, "entity_details", r.StructuredContent)
		})
	}
	c.t = t
	t.Run("one bad entity does not fail the others", func(t *testing.T) {
		r := c.tool("entity_details", `{"connectionId":"w","entities":["nothing at all",{"table":"public.orders","columns":["id"]},{"table":"public.odd\"name"}]}`)
		var out struct{ Results []struct{ OK bool } }
		if err := json.Unmarshal(r.StructuredContent, &out); err != nil || len(out.Results) != 3 || out.Results[0].OK || !out.Results[1].OK || !out.Results[2].OK {
			t.Errorf("got %s", r.text())
		}
	})
	t.Run("without a scan", func(t *testing.T) {
		r := c.tool("entity_details", `{"connectionId":"empty","entities":"orders"}`)
		want := `{"results":[{"ok":false,"connectionId":"empty","table":"orders","error":{"code":"scan_missing","message":"connection empty has no scan; ask the operator to run: ktx scan empty"}}]}`
		if r.IsError || r.text() != want {
			t.Errorf("got %s", r.text())
		}
		validate(t, "entity_details", r.StructuredContent)
	})
	t.Run("unknown connection", func(t *testing.T) {
		r := c.tool("entity_details", `{"connectionId":"ww","entities":["orders"]}`)
		if !r.IsError || !strings.HasPrefix(r.text(), `unknown_connection: no connection has the id "ww"; configured: empty, w`) {
			t.Errorf("got %s", r.text())
		}
	})
	t.Run("bounds", func(t *testing.T) {
		for _, entities := range []int{1, 20} {
			r := c.tool("entity_details", `{"connectionId":"w","entities":[`+strings.TrimSuffix(strings.Repeat(`"wide",`, entities), ",")+`]}`)
			var out struct {
				Results []struct {
					Columns        []any
					OmittedColumns int
				}
			}
			if err := json.Unmarshal(r.StructuredContent, &out); err != nil || len(r.text()) > 256<<10 {
				t.Fatalf("%d bytes, %v", len(r.text()), err)
			}
			for _, e := range out.Results {
				if len(e.Columns) < 5 || len(e.Columns)+e.OmittedColumns != 1600 || len(e.Columns) > 300 {
					t.Errorf("%d entities: %d columns, %d omitted", entities, len(e.Columns), e.OmittedColumns)
				}
			}
		}
		long := strings.Repeat("é\\\"", 2000)
		r := c.tool("entity_details", `{"connectionId":"w","entities":[`+jsonText(t, long)+`,{"table":"wide","columns":[`+jsonText(t, long)+`,"a","b","c","d","e","f"]}]}`)
		if len(r.text()) > 4200 || r.IsError {
			t.Errorf("%d bytes: %s", len(r.text()), r.text())
		}
	})
}

func jsonText(t *testing.T, s string) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestEntityDetailsHidesWhatIsDenied wants what access rules deny in no answer, and no
// connection of another principal.
func TestEntityDetailsHidesWhatIsDenied(t *testing.T) {
	dir := t.TempDir()
	warehouse(t, dir, "w")
	warehouse(t, dir, "other")
	c := connectIn(t, dir, artifactOnly("w", sqlguard.Policy{
		Schemas: sqlguard.Names{Deny: []string{"sales"}}, Tables: sqlguard.Names{Deny: []string{"public.customers"}},
		Columns: []sqlguard.ColumnRule{{Match: "public.orders.net_amount"}},
	}))
	for _, entity := range []string{`"sales.orders"`, `"public.customers"`, `"customer"`, `{"table":"public.orders","columns":["net_amont"]}`, `"public.orders"`, `"orders"`, `"public.orders.net_amount"`} {
		r := c.tool("entity_details", `{"connectionId":"w","entities":[`+entity+`]}`)
		answer := strings.ReplaceAll(r.text(), strings.Trim(entity, `"`), "")
		for _, denied := range []string{"sales", `"customers"`, "public.customers", "fk_customer", "net_amount", "Without tax"} {
			if strings.Contains(answer, denied) {
				t.Errorf("%s: the answer has %s: %s", entity, denied, r.text())
			}
		}
	}
	if r := c.tool("entity_details", `{"connectionId":"other","entities":["orders"]}`); !r.IsError {
		t.Errorf("got %s", r.text())
	}
}
