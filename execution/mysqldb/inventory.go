package mysqldb

import (
	"context"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

var _ execution.Lister = (*DB)(nil)

// Inventory lists the relations and functions of the databases that statements may name,
// and the relations of information_schema, as far as the account may see them.
func (d *DB) Inventory(ctx context.Context) (sqlguard.Inventory, error) {
	var in sqlguard.Inventory
	err := d.interview(ctx, func(self identity, ask asker) error {
		rows, err := ask(inventorySchemasSQL)
		if err != nil {
			return err
		}
		for _, row := range rows {
			in.Schemas = append(in.Schemas, row[0])
		}
		databases := d.databases(self)
		at := map[sqlguard.CatalogName]int{}
		for _, question := range []string{systemRelationsSQL, relationsSQL + databases + relationsOrder} {
			if rows, err = ask(question); err != nil {
				return err
			}
			for _, row := range rows {
				n := sqlguard.CatalogName{Schema: row[0], Name: row[1]}
				at[n] = len(in.Relations)
				in.Relations = append(in.Relations, sqlguard.InventoryRelation{CatalogName: n})
			}
		}
		if rows, err = ask(columnsSQL + databases + columnsOrder); err != nil {
			return err
		}
		for _, row := range rows {
			if i, ok := at[sqlguard.CatalogName{Schema: row[0], Name: row[1]}]; ok {
				in.Relations[i].Columns = append(in.Relations[i].Columns, row[2])
			}
		}
		if rows, err = ask(routinesSQL + routinesIn(databases)); err != nil {
			return err
		}
		for _, row := range rows {
			in.Functions = append(in.Functions, sqlguard.CatalogName{Schema: row[0], Name: strings.ToLower(row[1])})
		}
		return nil
	})
	return in, err
}
