package clickhousedb

import (
	"context"
	"errors"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/sqlguard"
)

var _ execution.Lister = (*DB)(nil)

// codeUnknownName says that a name of a question is not known to an older server.
const codeUnknownName = "47"

// Inventory lists the databases, tables and functions that the user may see. It lists no
// relations of the server's own.
func (d *DB) Inventory(ctx context.Context) (sqlguard.Inventory, error) {
	var in sqlguard.Inventory
	databases, err := d.askAll(ctx, databasesSQL)
	if err != nil {
		return in, err
	}
	for _, row := range databases {
		in.Schemas = append(in.Schemas, row[0])
	}
	columns, err := d.askAll(ctx, columnsSQL)
	if err != nil {
		return in, err
	}
	in.Relations = rowset.Relations(columns)
	functions, err := d.askAll(ctx, functionsSQL)
	if e, ok := errors.AsType[*execution.Error](err); ok && e.SQLState == codeUnknownName {
		return in, nil
	}
	for _, row := range functions {
		in.Functions = append(in.Functions, sqlguard.CatalogName{Name: row[0]})
	}
	return in, err
}
