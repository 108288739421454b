package mssqldb

import (
	"context"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/sqlguard"
)

// Catalog returns the server's version, the database, its computed columns, and the schemas
// in which unqualified names are looked up: the user's default schema, then dbo. When
// [Config.Objects] is set, it also returns the objects of the database that the user may
// see. As long as nothing has changed, it returns the same value, which callers must not
// modify.
func (d *DB) Catalog(ctx context.Context) (*sqlguard.Catalog, error) {
	c, at, err := d.facts(ctx)
	if err != nil {
		return nil, err
	}
	d.found.Store(at)
	return d.describe(ctx, c, d.objects, &d.catalog)
}

// facts returns the catalogue without anything about objects, and where the session looks
// up names.
func (d *DB) facts(ctx context.Context) (*sqlguard.Catalog, *home, error) {
	rows, err := d.ask(ctx, catalogSQL)
	if err != nil {
		return nil, nil, err
	}
	if len(rows) != 1 || len(rows[0]) != 3 || rows[0][1] == "" {
		return nil, nil, network.Untrusted("the server does not say what it is", nil)
	}
	version, database, schema := rows[0][0], rows[0][1], rows[0][2]
	major, err := strconv.Atoi(before(version, "."))
	if err != nil {
		return nil, nil, network.Untrusted("the server has no version", err)
	}
	c := &sqlguard.Catalog{Major: major, Version: version, Database: database}
	if schema != "" && !strings.EqualFold(schema, defaultSchema) {
		c.SearchPath = append(c.SearchPath, schema)
	}
	c.SearchPath = append(c.SearchPath, defaultSchema)
	return c, &home{database, schema}, nil
}

const defaultSchema = "dbo"

func before(text, sep string) string {
	head, _, _ := strings.Cut(text, sep)
	return head
}

// ask runs one constant query and returns its rows as strings; NULL is "".
func (d *DB) ask(ctx context.Context, sql string) ([][]string, error) {
	res, err := d.run(ctx, statement{text: sql}, ownLimits)
	if err != nil {
		return nil, err
	}
	return textsOf(res), nil
}

func textsOf(res *execution.Result) [][]string { return rowset.Texts(res.Rows) }
