package rowset

import "github.com/ktxhq/ktx/sqlguard"

// Relations returns the relations that rows of a schema, a relation and a column list, with
// their columns. The rows of a relation follow each other.
func Relations(rows [][]string) []sqlguard.InventoryRelation {
	var out []sqlguard.InventoryRelation
	for _, row := range rows {
		name := sqlguard.CatalogName{Schema: row[0], Name: row[1]}
		if last := len(out) - 1; last < 0 || out[last].CatalogName != name {
			out = append(out, sqlguard.InventoryRelation{CatalogName: name})
		}
		r := &out[len(out)-1]
		r.Columns = append(r.Columns, row[2])
	}
	return out
}
