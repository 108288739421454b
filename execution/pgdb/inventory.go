package pgdb

import (
	"context"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

var _ execution.Lister = (*DB)(nil)

// Inventory lists the schemas, relations and functions of the database,
// including the server's own. It leaves out temporary schemas.
func (d *DB) Inventory(ctx context.Context) (sqlguard.Inventory, error) {
	var in sqlguard.Inventory
	err := d.interview(ctx, func(ask asker) error {
		in = sqlguard.Inventory{} // an interview may begin again
		rows, err := ask(inventorySchemasSQL)
		if err != nil {
			return err
		}
		for _, row := range rows {
			in.Schemas = append(in.Schemas, row[0])
		}
		if rows, err = ask(inventoryRelationsSQL); err != nil {
			return err
		}
		for _, row := range rows {
			columns, err := jsonList[string](row[2])
			if err != nil {
				return unreadable(err)
			}
			in.Relations = append(in.Relations, sqlguard.InventoryRelation{CatalogName: sqlguard.CatalogName{Schema: row[0], Name: row[1]}, Columns: columns})
		}
		if rows, err = ask(inventoryFunctionsSQL); err != nil {
			return err
		}
		for _, row := range rows {
			in.Functions = append(in.Functions, sqlguard.CatalogName{Schema: row[0], Name: row[1]})
		}
		return nil
	})
	return in, err
}
