package sqlitedb

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

var _ execution.Lister = (*DB)(nil)

// Inventory lists the tables and views of the file, and the functions of the
// engine, in the schema main. It lists no columns of views and virtual tables.
func (db *DB) Inventory(ctx context.Context) (sqlguard.Inventory, error) {
	run, end := context.WithCancel(ctx)
	defer end()
	s, err := db.pool.acquire(run, db.path, execution.Limits{}.WithDefaults(), end)
	if err != nil {
		return sqlguard.Inventory{}, err
	}
	in, err := s.inventory()
	if err != nil {
		db.pool.discard(s)
	} else {
		db.pool.release(s)
	}
	return in, err
}

func (s *session) inventory() (in sqlguard.Inventory, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = broken(r)
		}
	}()
	in.Schemas = []string{"main", "temp"}
	for _, name := range []string{"sqlite_schema", "sqlite_master"} {
		in.Relations = append(in.Relations, sqlguard.InventoryRelation{CatalogName: sqlguard.CatalogName{Schema: "main", Name: name}})
	}
	relations, err := s.askOwn(textInventory)
	if err != nil {
		return in, err
	}
	for _, text := range relations {
		r := sqlguard.InventoryRelation{CatalogName: sqlguard.CatalogName{Schema: "main"}}
		if err := json.Unmarshal([]byte(text), &[]any{&r.Name, &r.Columns}); err != nil {
			return in, fmt.Errorf("a name of the schema: %w", err)
		}
		in.Relations = append(in.Relations, r)
	}
	functions, err := s.askOwn(textFunctions)
	for _, name := range functions {
		in.Functions = append(in.Functions, sqlguard.CatalogName{Schema: "main", Name: name})
	}
	return in, err
}
