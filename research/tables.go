package research

import (
	"context"
	"errors"
	"fmt"

	"github.com/ktxhq/ktx/research/catalog"
)

// TableSummary is a table as a list of tables shows it.
type TableSummary struct {
	Schema, Name, Kind string
	Columns            int
	Rows               *int64 // an estimate
	// References are the tables that declared keys lead to, as far as the caller may see
	// them.
	References []string
}

// ScannedTables returns the tables of the latest scan of a connection that the rules permit to
// be read, and when the scan read them. There are none without a scan. It is for pages:
// models search with discover_data.
func (s *Service) ScannedTables(ctx context.Context, connectionID string) (tables []TableSummary, scanned string, err error) {
	store := s.stores.Load().Catalog
	if store == nil {
		return nil, "", nil
	}
	found, err := s.snapshot(ctx, store, connectionID)
	if errors.Is(err, catalog.ErrNoScan) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("list tables: %w", err)
	}
	for _, t := range found.Tables() {
		ref := t.Ref()
		row := TableSummary{Schema: ref.DB, Name: ref.Name, Kind: string(t.Kind), Columns: len(t.Columns), Rows: t.EstimatedRows}
		seen := map[catalog.Ref]bool{}
		for i := range t.ForeignKeys {
			to := t.ForeignKeys[i].To()
			if !seen[to] {
				seen[to] = true
				row.References = append(row.References, display(to))
			}
		}
		tables = append(tables, row)
	}
	return tables, found.ExtractedAt(), nil
}

// display returns the name of a table with its schema.
func display(r catalog.Ref) string {
	if r.DB == "" {
		return r.Name
	}
	return r.DB + "." + r.Name
}
