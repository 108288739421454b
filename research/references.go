package research

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/sqlguard"
)

// references returns a function that reports whether the name of a table or a source
// on a page may be shown to the caller. A name that the rules of one of the caller's
// connections deny is not shown. A name without a schema may mean any table, so rules
// on schemas or tables hide it unless the latest scan of a connection has a table of
// that name that may be read.
func (s *Service) references(ctx context.Context) (visible func(name string) bool, err error) {
	var all []connectionRules
	for _, c := range s.gateway.Connections(ctx) {
		readable, err := s.gateway.Readable(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, connectionRules{id: c.ID, readable: readable})
	}
	return func(name string) bool {
		denied := false
		for i := range all {
			r := &all[i]
			schema, table, own := r.parts(name)
			if !r.readable.Relation(schema, table) {
				denied = true
			}
			if own {
				return r.readable.Relation(schema, table) || schema == "" && s.scanned(ctx, r, table)
			}
		}
		if !denied {
			return true
		}
		for i := range all {
			if schema, table, _ := all[i].parts(name); schema == "" && s.scanned(ctx, &all[i], table) {
				return true
			}
		}
		return false
	}, nil
}

// connectionRules are the rules of a connection, and the tables of its scan that may
// be read, by name in lower case.
type connectionRules struct {
	id       string
	readable sqlguard.Readable
	tables   map[string]bool // nil until they are needed
}

// parts divides a name on a page into a schema and a table. Own says that the name
// begins with the id of the connection.
func (r *connectionRules) parts(name string) (schema, table string, own bool) {
	for _, mark := range []string{"/", ".", ":"} {
		if rest, ok := strings.CutPrefix(name, r.id+mark); ok && rest != "" {
			name, own = rest, true
			break
		}
	}
	list := strings.Split(name, ".")
	if len(list) < 2 {
		return "", name, own
	}
	return list[len(list)-2], list[len(list)-1], own
}

// scanned reports whether the latest scan of a connection has a table of that name
// that the caller may read.
func (s *Service) scanned(ctx context.Context, r *connectionRules, table string) bool {
	if r.tables == nil {
		r.tables = map[string]bool{}
		names, err := s.sourceNames(ctx, r.id)
		if err != nil {
			return false // what cannot be looked up is not shown
		}
		for _, name := range names {
			r.tables[strings.ToLower(name)] = true
		}
	}
	return r.tables[strings.ToLower(table)]
}

// sourceNames returns the names of what the caller may read of a connection: the tables
// that its latest scan found, and the sources of its semantic layer.
func (s *Service) sourceNames(ctx context.Context, connectionID string) ([]string, error) {
	names, err := s.tableNames(ctx, connectionID)
	if err != nil || !hasSemantic(s) {
		return names, err
	}
	info, err := s.gateway.Connection(ctx, connectionID)
	if err != nil {
		return nil, err
	}
	found, err := s.semanticLayer(ctx, info)
	if err != nil {
		return nil, err
	}
	for _, source := range found.Model().Sources {
		if !source.Denied {
			names = append(names, source.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// tableNames returns the names of the tables of a connection that the caller may read,
// as its latest scan found them. Without a scan there are none.
func (s *Service) tableNames(ctx context.Context, connectionID string) ([]string, error) {
	tables, err := s.Tables(ctx, connectionID)
	if errors.Is(err, catalog.ErrNoScan) {
		return nil, nil
	}
	var names []string
	for _, t := range tables {
		names = append(names, t.Name)
	}
	return names, err
}

// Tables returns the tables of a connection that the caller may read, as its latest scan
// found them. The error wraps [catalog.ErrNoScan] if there is no scan.
func (s *Service) Tables(ctx context.Context, connectionID string) ([]*catalog.Table, error) {
	store := s.stores.Load().Catalog
	if store == nil {
		return nil, nil
	}
	readable, err := s.gateway.Readable(ctx, connectionID)
	if err != nil {
		return nil, err
	}
	found, err := store.Snapshot(ctx, connectionID, readable)
	if err != nil {
		return nil, err
	}
	return found.Tables(), nil
}
