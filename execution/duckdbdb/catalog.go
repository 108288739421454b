package duckdbdb

import (
	"context"
	"reflect"

	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/sqlguard"
)

// Catalog returns the schema in which names are looked up, the views, and the columns that
// are computed from others. As long as nothing has changed, it returns the same value, which
// callers must not modify.
func (d *DB) Catalog(ctx context.Context) (*sqlguard.Catalog, error) {
	c, err := d.catalogOf(ctx)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.catalog == nil || !reflect.DeepEqual(d.catalog, c) {
		d.catalog = c
	}
	return d.catalog, nil
}

// Inventory lists the schemas, the tables and views with their columns, and the macros.
func (d *DB) Inventory(ctx context.Context) (sqlguard.Inventory, error) {
	var in sqlguard.Inventory
	schemas, err := d.askAll(ctx, textSchemas)
	if err != nil {
		return in, err
	}
	for _, row := range schemas {
		in.Schemas = append(in.Schemas, row[0])
	}
	columns, err := d.askAll(ctx, textColumns)
	if err != nil {
		return in, err
	}
	in.Relations = rowset.Relations(columns)
	macros, err := d.askAll(ctx, textMacros)
	for _, row := range macros {
		in.Functions = append(in.Functions, sqlguard.CatalogName{Schema: row[0], Name: row[1]})
	}
	return in, err
}
