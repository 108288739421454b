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
				row.References = append(row.References, DisplayTable(to))
			}
		}
		tables = append(tables, row)
	}
	return tables, found.ExtractedAt(), nil
}

// ColumnProfile is what the latest scan counted in a column, and some of its values. Rows
// is how many rows it read.
type ColumnProfile struct {
	Name                  string
	Rows, Nulls, Distinct int64
	Values                []string
}

// Profile returns what the latest scan counted in the columns of a table that the rules
// permit to be read: nothing without a profile. It is for pages.
func (s *Service) Profile(ctx context.Context, connectionID, table string) ([]ColumnProfile, error) {
	store := s.stores.Load().Catalog
	if store == nil {
		return nil, nil
	}
	found, err := s.snapshot(ctx, store, connectionID)
	if err != nil {
		return nil, err
	}
	t, _, err := found.Resolve(table)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	var list []ColumnProfile
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Stats != nil {
			list = append(list, ColumnProfile{Name: c.Name, Rows: c.Stats.Rows, Nulls: c.Stats.Nulls, Distinct: c.Stats.Distinct, Values: c.SampleValues})
		}
	}
	return list, nil
}

// WikiPage is a page of the wiki as a list shows it.
type WikiPage struct{ Key, Scope, Summary string }

// WikiPages returns the pages of the wiki that a search can find, sorted by key. It is for
// pages: models search.
func (s *Service) WikiPages() ([]WikiPage, error) {
	store := s.stores.Load().Wiki
	if store == nil {
		return nil, nil
	}
	found, err := store.Snapshot()
	if err != nil {
		return nil, storeError(err)
	}
	var list []WikiPage
	for _, p := range found.Pages() {
		if p.Searchable() {
			list = append(list, WikiPage{Key: p.Key, Scope: string(p.Scope), Summary: p.Summary})
		}
	}
	return list, nil
}

// DisplayTable returns the name of a table with its schema.
func DisplayTable(r catalog.Ref) string {
	if r.DB == "" {
		return r.Name
	}
	return r.DB + "." + r.Name
}
