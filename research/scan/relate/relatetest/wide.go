package relatetest

import (
	"fmt"
	"math/rand/v2"

	"github.com/ktxhq/ktx/research/catalog"
)

// Wide returns a schema with many tables of that many columns, as warehouses have
// them: families of tables with equal names but for a number, the same columns in
// every table, tenants, and references by name.
func Wide(tables, columns int) []*catalog.Table {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // test data
	areas := []string{"sales", "stock", "billing", "crm", "web", "audit", "plan", "hr", "ship", "lab"}
	things := []string{"order", "item", "account", "event", "session", "invoice", "user", "contract", "ticket", "sensor", "batch", "route", "price", "asset", "claim", "visit"}
	attributes := []string{"status", "year", "amount", "quantity", "note", "kind", "created_at", "updated_at", "city", "zip", "rank", "name", "flag", "total", "source"}
	schema := "main"
	list := make([]*catalog.Table, tables)
	for i := range list {
		name := fmt.Sprintf("%s_%s_%s", areas[i%len(areas)], things[i/len(areas)%len(things)], things[i/len(areas)/len(things)%len(things)])
		if n := i / len(areas) / len(things) / len(things); n > 0 {
			name = fmt.Sprintf("%s_%d", name, 2000+n)
		}
		list[i] = &catalog.Table{DB: &schema, Name: name, Kind: catalog.KindTable}
	}
	for i, t := range list {
		column := func(name, kind string, key bool) {
			t.Columns = append(t.Columns, catalog.Column{Name: name, NativeType: kind, DimensionType: catalog.DimensionNumber, PrimaryKey: key})
		}
		column("tenant_id", "bigint", i%3 == 0)
		column("id", "bigint", true)
		for n := 2; n < columns; n++ {
			switch {
			case n < columns/2:
				column(list[random.IntN(len(list))].Name+"_id", "bigint", false)
			case n == columns/2:
				column("created_by", "bigint", false)
			case n == columns/2+1:
				column(things[random.IntN(len(things))]+"_id", "bigint", false)
			default:
				column(fmt.Sprintf("%s_%d", attributes[random.IntN(len(attributes))], n), "text", false)
			}
		}
	}
	return list
}
