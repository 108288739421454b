package clickhousedb

import (
	"context"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/network"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/sqlguard"
)

// notOwn keeps the databases of the server's own out of an answer.
const notOwn = "database NOT IN ('system', 'information_schema', 'INFORMATION_SCHEMA', '_temporary_and_external_tables')"

// The questions about the catalogue. The server shows a user only what it may read or show.
const (
	// computedSQL returns the columns whose values are made from an expression.
	computedSQL = "SELECT database, table, name, default_expression FROM system.columns WHERE " + notOwn + " AND default_expression != '' ORDER BY database, table, name"
	// besideSQL returns every column of the tables that have such columns.
	besideSQL = "SELECT database, table, name FROM system.columns WHERE " + notOwn +
		" AND (database, table) IN (SELECT database, table FROM system.columns WHERE default_expression != '') ORDER BY database, table, name"
	tablesSQL    = "SELECT database, name, engine FROM system.tables WHERE " + notOwn + " ORDER BY database, name"
	columnsSQL   = "SELECT database, table, name FROM system.columns WHERE " + notOwn + " ORDER BY database, table, position"
	databasesSQL = "SELECT name AS database FROM system.databases WHERE " + notOwn + " ORDER BY database"
	// functionsSQL is not known to servers before 21.10, which have no such functions.
	functionsSQL = "SELECT name FROM system.functions WHERE origin != 'System' ORDER BY name"
)

// catalogLimits bound each question about the catalogue. A longer answer is an error,
// because a partial catalogue must not be used.
var catalogLimits = execution.Limits{
	Rows: 2_000_000, Bytes: 512 << 20, CellBytes: 16 << 20, Columns: 32, Timeout: time.Minute,
}.WithDefaults()

// Catalog returns the server's version, the database, the columns that the server computes
// from others, and the tables whose rows are kept elsewhere. As long as nothing has changed,
// it returns the same value, which callers must not modify.
func (d *DB) Catalog(ctx context.Context) (*sqlguard.Catalog, error) {
	s, err := d.renew(ctx)
	if err != nil {
		return nil, err
	}
	major, err := strconv.Atoi(before(s.version, "."))
	if err != nil {
		return nil, network.Untrusted("the server has no version", err)
	}
	c := &sqlguard.Catalog{
		Major: major, Version: s.version, Database: d.target.database, SearchPath: []string{d.target.database}, Views: []sqlguard.CatalogName{},
	}
	computed, err := d.askAll(ctx, computedSQL)
	if err != nil {
		return nil, err
	}
	if len(computed) > 0 {
		columns, err := d.askAll(ctx, besideSQL)
		if err != nil {
			return nil, err
		}
		c.Derived = derivedOf(computed, columns)
	}
	tables, err := d.askAll(ctx, tablesSQL)
	if err != nil {
		return nil, err
	}
	for _, row := range tables {
		if !keepsRows(row[2]) {
			c.Views = append(c.Views, sqlguard.CatalogName{Schema: row[0], Name: row[1]})
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.catalog == nil || !reflect.DeepEqual(d.catalog, c) {
		d.catalog = c
	}
	return d.catalog, nil
}

// keepsRows reports whether an engine keeps the rows that its tables return. Every other
// one, also a new one, counts as a view: View, MaterializedView, Distributed, Merge, Buffer,
// Alias and Dictionary return rows of other tables.
func keepsRows(engine string) bool {
	switch engine {
	case "Log", "TinyLog", "StripeLog", "Memory", "Set", "Join", "EmbeddedRocksDB":
		return true
	}
	return strings.HasSuffix(engine, "MergeTree")
}

// derivedOf returns the columns whose expression may name other columns of their table.
func derivedOf(computed, columns [][]string) []sqlguard.DerivedColumn {
	beside := map[sqlguard.CatalogName][]string{}
	for _, row := range columns {
		table := sqlguard.CatalogName{Schema: row[0], Name: row[1]}
		beside[table] = append(beside[table], row[2])
	}
	var out []sqlguard.DerivedColumn
	for _, row := range computed {
		table := sqlguard.CatalogName{Schema: row[0], Name: row[1]}
		derived := sqlguard.DerivedColumn{Table: table, Column: row[2]}
		for _, name := range beside[table] {
			// A quoted name is escaped, so the text of the name may not be in it.
			if name != row[2] && (strings.Contains(row[3], name) || strings.ContainsAny(name, "\\`\"")) {
				derived.From = append(derived.From, name)
			}
		}
		if derived.From != nil {
			out = append(out, derived)
		}
	}
	return out
}

func before(text, sep string) string {
	head, _, _ := strings.Cut(text, sep)
	return head
}

// askAll runs a question about the catalogue.
func (d *DB) askAll(ctx context.Context, sql string) ([][]string, error) {
	res, err := d.run(ctx, statement{text: sql, own: true}, catalogLimits)
	if err != nil {
		return nil, err
	}
	if res.Truncated {
		return nil, execution.NewError(sqlguard.CodeDatabaseError, "the catalogue of the server is too large", nil)
	}
	return rowset.Texts(res.Rows), nil
}
