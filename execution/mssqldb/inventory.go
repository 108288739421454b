package mssqldb

import (
	"context"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

var _ execution.Lister = (*DB)(nil)

// Inventory lists the schemas, relations and functions of the database that the user may
// see. It lists no relations of the server's own.
func (d *DB) Inventory(ctx context.Context) (sqlguard.Inventory, error) {
	var in sqlguard.Inventory
	schemas, err := d.askAll(ctx, `SELECT name FROM sys.schemas ORDER BY name`)
	if err != nil {
		return in, err
	}
	for _, row := range schemas {
		in.Schemas = append(in.Schemas, row[0])
	}
	relations, err := d.askAll(ctx, relationsSQL)
	if err != nil {
		return in, err
	}
	columns, err := d.askAll(ctx, columnsSQL)
	if err != nil {
		return in, err
	}
	objects := objectsOf(relations, columns, nil, "")
	for i := range objects.Relations {
		r := &objects.Relations[i]
		listed := sqlguard.InventoryRelation{CatalogName: r.CatalogName}
		for _, c := range r.Columns {
			listed.Columns = append(listed.Columns, c.Name)
		}
		in.Relations = append(in.Relations, listed)
	}
	for i := range objects.Functions {
		in.Functions = append(in.Functions, objects.Functions[i].CatalogName)
	}
	return in, nil
}
