package postgres_test

import (
	"fmt"
	"testing"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// largeCatalog has the relations of the benchmark's statements, many other relations of
// 20 columns, and as many user-defined functions, operators and types.
func largeCatalog(relations, functions int) *sqlguard.Catalog {
	o := &sqlguard.Objects{Relations: []sqlguard.CatalogRelation{
		table("public.customers", "id:int4 name region country birth_year:int4"),
		table("public.orders", "id:int4 customer_id:int4 placed_at:timestamptz status"),
		table("public.order_items", "order_id:int4 price:numeric quantity:int4"),
		table("public.store_sales", "item_id:int4 customer_id:int4 date_id:int4 quantity:int4 list_price:numeric discount:numeric"),
		table("public.web_sales", "item_id:int4 customer_id:int4 date_id:int4 quantity:int4 list_price:numeric discount:numeric"),
		table("public.date_dim", "date_id:int4 year:int4 quarter:int4"),
		table("public.items", "id:int4 brand category"),
		table("public.returns", "item_id:int4 reason"),
	}}
	columns := ""
	for i := range 20 {
		columns += fmt.Sprintf("column_%d ", i)
	}
	for i := range relations {
		o.Relations = append(o.Relations, table(fmt.Sprintf("public.table_%d", i), columns))
	}
	for i := range functions {
		o.Functions = append(o.Functions, sqlFunction(fmt.Sprintf("public.function_%d", i), "int4 text", "SELECT $1 + 1"))
		if i%50 == 0 {
			o.Types = append(o.Types, domain(fmt.Sprintf("public.domain_%d", i), "text", "(length(VALUE) < 9)"))
			o.Operators = append(o.Operators, operator(fmt.Sprintf("public.@%d@", i), "text", "text", "public.function_1"))
		}
	}
	// These are user-defined, for a user-defined type, as extensions have them.
	o.Types = append(o.Types, sqlguard.CatalogType{CatalogName: named("public.version"), Kind: sqlguard.TypeBase})
	for _, name := range []string{"=", "<>", "<", "<=", ">", ">="} {
		o.Operators = append(o.Operators, operator("public."+name, "public.version", "public.version", "public.version_cmp"))
	}
	o.Functions = append(o.Functions, opaque("public.version_cmp", "public.version public.version"), opaque("public.upper", "public.version"))
	return &sqlguard.Catalog{Major: 15, SearchPath: []string{"public"}, Database: "shop", Objects: o}
}

// BenchmarkObjects measures Check of statements that are not in the cache, without and
// with a catalogue of 2,000 relations.
func BenchmarkObjects(b *testing.B) {
	for _, text := range bench.Texts {
		for _, objects := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/%t", text.Name, objects), func(b *testing.B) {
				c := largeCatalog(2000, 500)
				if !objects {
					c.Objects = nil
				}
				g, err := sqlguard.New(postgres.Dialect{}, sqlguard.DefaultPolicy(), c)
				if err != nil {
					b.Fatal(err)
				}
				dialecttest.CheckWith(b, g, text)
			})
		}
	}
}

// BenchmarkNewWithObjects makes guards with 25,000 relations and 25,000 functions.
func BenchmarkNewWithObjects(b *testing.B) {
	c := largeCatalog(25_000, 25_000)
	for b.Loop() {
		if _, err := sqlguard.New(postgres.Dialect{}, sqlguard.DefaultPolicy(), c); err != nil {
			b.Fatal(err)
		}
	}
}
