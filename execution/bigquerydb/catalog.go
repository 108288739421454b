package bigquerydb

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb/wire"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	// maxDatasets and maxListed bound what is listed for the catalogue.
	maxDatasets = 2000
	maxListed   = 500_000
	// catalogTime bounds the time of all lists.
	catalogTime = 2 * time.Minute
)

// Catalog returns the project and the dataset, and the views when the connection has rules
// that need them. As long as nothing has changed, it returns the same value, which callers
// must not modify.
func (d *DB) Catalog(ctx context.Context) (*sqlguard.Catalog, error) {
	ctx, end := d.bounded(ctx)
	defer end()
	c := &sqlguard.Catalog{Database: d.target.project, SearchPath: []string{d.target.dataset}}
	if _, err := d.client.Tables(ctx, d.own(), maxListed); err != nil && !errors.Is(err, wire.ErrTooMany) {
		return nil, d.ended(ctx, err)
	}
	if d.access.Restricts() {
		views, err := d.allViews(ctx)
		if err != nil {
			return nil, d.ended(ctx, err)
		}
		c.Views = views
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.catalog == nil || !reflect.DeepEqual(d.catalog, c) {
		d.catalog = c
	}
	return d.catalog, nil
}

func (d *DB) own() wire.Dataset {
	return wire.Dataset{Project: d.target.project, Dataset: d.target.dataset}
}

// bounded returns a context that ends when the backend is closed, and after some time.
func (d *DB) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := d.pool.OnClose(func() { cancel(errClosed) })
	ctx, end := context.WithTimeout(ctx, catalogTime)
	return ctx, func() { end(); stop(); cancel(nil) }
}

var errClosed = execution.NewError(sqlguard.CodeDraining, "the connection is being closed", nil)

// ended returns the error for a list that was not read.
func (d *DB) ended(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*execution.Error](context.Cause(ctx)); ok {
		return e
	}
	if e, ok := errors.AsType[*execution.Error](err); ok {
		return e
	}
	if errors.Is(err, wire.ErrTooMany) {
		return execution.NewError(sqlguard.CodeDatabaseError, "the catalogue of the project is too large", err)
	}
	if ctx.Err() != nil {
		return faults.Unconnected(ctx, err)
	}
	return d.broken(err, "")
}

// allViews lists the views of every dataset that statements may name. When some cannot be
// listed, all are unknown: nil.
func (d *DB) allViews(ctx context.Context) ([]sqlguard.CatalogName, error) {
	datasets, err := d.datasets(ctx)
	views := []sqlguard.CatalogName{}
	for _, set := range datasets {
		var tables []wire.TableInfo
		if tables, err = d.client.Tables(ctx, set, maxListed); err != nil {
			break
		}
		for _, t := range tables {
			if !keepsRows(t.Type) {
				views = append(views, sqlguard.CatalogName{Schema: t.Table.Dataset, Name: t.Table.Name})
			}
		}
	}
	if e, ok := errors.AsType[*wire.ServiceError](err); ok && !e.Overload() {
		return nil, nil
	}
	return views, err
}

// keepsRows reports whether a table keeps the rows that it returns, or reads them from
// files. Every other kind, also a new one, counts as a view.
func keepsRows(kind string) bool { return kind == "TABLE" || kind == "SNAPSHOT" || kind == "EXTERNAL" }

// datasets lists those of the project and of the further projects. Those that begin with an
// underscore hold results of others' queries.
func (d *DB) datasets(ctx context.Context) ([]wire.Dataset, error) {
	var out []wire.Dataset
	for _, project := range append([]string{d.target.project}, d.projects...) {
		names, err := d.client.In(project).Datasets(ctx, maxDatasets)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if !strings.HasPrefix(name, "_") {
				out = append(out, wire.Dataset{Project: project, Dataset: name})
			}
		}
	}
	return out, nil
}

// Inventory lists the datasets, tables and functions that the principal may see. It lists
// no relations of the service's own.
func (d *DB) Inventory(ctx context.Context) (sqlguard.Inventory, error) {
	var in sqlguard.Inventory
	within, end := d.bounded(ctx)
	defer end()
	sets, err := d.datasets(within)
	if err != nil {
		return in, d.ended(within, err)
	}
	for _, set := range sets {
		in.Schemas = append(in.Schemas, set.Dataset)
		relations, err := d.relations(within, set)
		if err != nil {
			return in, err
		}
		in.Relations = append(in.Relations, relations...)
		functions, err := d.ask(within, routinesSQL(set))
		if err != nil {
			return in, err
		}
		for _, row := range functions {
			in.Functions = append(in.Functions, sqlguard.CatalogName{Schema: set.Dataset, Name: row[0]})
		}
	}
	return in, nil
}
