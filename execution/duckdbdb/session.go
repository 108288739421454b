package duckdbdb

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/sqlguard"
)

// The statements of the package's own. They are constants.
const (
	// The engine's own functions have the database system. A user's macro can have the name
	// of one of them, and would run instead.
	textMacros = "SELECT schema_name, function_name, function_name IN (SELECT function_name FROM duckdb_functions() WHERE database_name = 'system') " +
		"FROM duckdb_functions() WHERE database_name = current_database() AND NOT internal ORDER BY ALL"
	textRelations = "SELECT schema_name, table_name FROM (SELECT database_name, schema_name, table_name FROM duckdb_tables() " +
		"UNION ALL SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal) WHERE database_name = current_database() ORDER BY ALL"
	textViews     = "SELECT schema_name, view_name, sql FROM duckdb_views() WHERE database_name = current_database() AND NOT internal ORDER BY ALL"
	textColumns   = "SELECT schema_name, table_name, column_name FROM duckdb_columns() WHERE database_name = current_database() AND NOT internal ORDER BY schema_name, table_name, column_index"
	textGenerated = "SELECT schema_name, table_name, column_name, column_default FROM duckdb_columns() WHERE database_name = current_database() AND NOT internal AND column_default IS NOT NULL ORDER BY ALL"
	textSchemas   = "SELECT schema_name FROM duckdb_schemas() WHERE database_name = current_database() AND NOT internal ORDER BY ALL"
)

// tries are statements that must be refused. Each writes, or would make writing possible.
var tries = []struct{ what, text string }{
	{"a write to the database", "CREATE TABLE main.ktx_write_probe (x INTEGER)"},
	{"a write to memory", "CREATE TABLE memory.main.ktx_write_probe (x INTEGER)"},
	{"ATTACH", "ATTACH '/ktx_probe.duckdb' AS ktx_probe"},
	{"a file that is no table", "FROM read_text('/etc/passwd')"},
	{"COPY to a file", "COPY (SELECT 1) TO '/tmp/ktx_write_probe.csv'"},
	{"INSTALL", "INSTALL httpfs"},
	{"LOAD", "LOAD httpfs"},
	{"a setting", "SET enable_external_access = true"},
}

// catalogLimits bound each question about the catalogue. A longer answer is an error, because
// a partial catalogue must not be used.
var catalogLimits = execution.Limits{
	Rows: 2_000_000, Bytes: 512 << 20, CellBytes: 16 << 20, Columns: 32, Timeout: time.Minute,
}.WithDefaults()

// inspect refuses a database in which a name means something else than the guard takes for
// granted.
func (d *DB) inspect(c *conn) error {
	macros, err := c.ask(textMacros)
	if err != nil {
		return err
	}
	for _, row := range macros {
		if row[2] == "true" || d.known != nil && d.known(row[1]) {
			return unsafeName(fmt.Sprintf("the macro %s.%s has the name of a built-in function, and would run instead of it", row[0], row[1]))
		}
	}
	relations, err := c.ask(textRelations)
	if err != nil {
		return err
	}
	for _, row := range relations {
		if d.known != nil && d.known(row[1]) && systemName.MatchString(row[1]) {
			return unsafeName(fmt.Sprintf("the table %s.%s has the name of a system view, and would be read instead of it", row[0], row[1]))
		}
	}
	if d.source.folder != "" || !d.access.Restricts() {
		return nil
	}
	views, err := c.ask(textViews)
	if err != nil {
		return err
	}
	return d.around(relations, views)
}

// systemName is the form of the names of system views that are read without a schema.
var systemName = regexp.MustCompile(`(?i)^(duckdb|pg|sqlite)_`)

// around refuses a database with a view that shows, or may show, what a rule denies: DuckDB
// has no roles, and reads a view's tables whatever the statement may name. The definition of
// such a view contains the name of the table.
func (d *DB) around(relations, views [][]string) error {
	for _, view := range views {
		if d.access.Denies(view[0], view[1]) {
			continue
		}
		text := strings.ToLower(view[2])
		for _, r := range relations {
			if r[0] == view[0] && r[1] == view[1] || !d.access.Denies(r[0], r[1]) && len(d.access.DeniedColumns(r[0], r[1])) == 0 {
				continue
			}
			if strings.Contains(text, strings.ToLower(strings.ReplaceAll(r[1], `"`, `""`))) {
				e := execution.NewError(sqlguard.CodeNotConfigured, fmt.Sprintf("the view %s.%s may show rows of %s.%s, which a rule of this connection denies", view[0], view[1], r[0], r[1]), nil)
				e.Hint = "the operator must deny the view too (access.tables.deny)"
				return e
			}
		}
	}
	return nil
}

func unsafeName(message string) error {
	e := execution.NewError(sqlguard.CodeNotConfigured, message, nil)
	e.Hint = "the operator must rename or drop it"
	return e
}

// ask runs one of the package's own questions while the process is opened.
func (c *conn) ask(text string) ([][]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), catalogLimits.Timeout)
	defer cancel()
	res, _, err := c.run(ctx, statement{text: text}, catalogLimits)
	return texts(res, err)
}

// askAll runs one of the package's own questions.
func (d *DB) askAll(ctx context.Context, text string) ([][]string, error) {
	return texts(d.run(ctx, statement{text: text}, catalogLimits))
}

func texts(res *execution.Result, err error) ([][]string, error) {
	switch {
	case err != nil:
		return nil, err
	case res.Truncated:
		return nil, execution.NewError(sqlguard.CodeDatabaseError, "the catalogue of the database is too large", nil)
	}
	return rowset.Texts(res.Rows), nil
}

// try runs each of tries, and returns those that the engine did not refuse.
func (d *DB) try(ctx context.Context) (passed []string, err error) {
	for _, t := range tries {
		_, err := d.run(ctx, statement{text: t.text, any: true}, catalogLimits)
		switch code := execution.CodeOf(err); {
		case err == nil:
			passed = append(passed, t.what)
		case code != sqlguard.CodeDatabaseError:
			return nil, err
		}
	}
	return passed, nil
}

func triedText() string {
	what := make([]string, len(tries))
	for i, t := range tries {
		what[i] = t.what
	}
	return strings.Join(what, ", ")
}

// catalogOf returns what the guard may know about the database.
func (d *DB) catalogOf(ctx context.Context) (*sqlguard.Catalog, error) {
	c := &sqlguard.Catalog{SearchPath: []string{"main"}, Database: d.source.catalogue(), Views: []sqlguard.CatalogName{}}
	if d.source.folder != "" {
		// Every table of files is a view of the engine's, and hides no other table.
		return c, nil
	}
	views, err := d.askAll(ctx, textViews)
	if err != nil {
		return nil, err
	}
	for _, row := range views {
		c.Views = append(c.Views, sqlguard.CatalogName{Schema: row[0], Name: row[1]})
	}
	generated, err := d.askAll(ctx, textGenerated)
	if err != nil || len(generated) == 0 {
		return c, err
	}
	columns, err := d.askAll(ctx, textColumns)
	if err != nil {
		return nil, err
	}
	c.Derived = derivedOf(generated, columns)
	return c, nil
}

// derivedOf returns the columns whose default or generating expression may name other
// columns of their table.
func derivedOf(computed, columns [][]string) []sqlguard.DerivedColumn {
	var out []sqlguard.DerivedColumn
	for _, row := range computed {
		d := sqlguard.DerivedColumn{Table: sqlguard.CatalogName{Schema: row[0], Name: row[1]}, Column: row[2]}
		for _, c := range columns {
			if c[0] == row[0] && c[1] == row[1] && c[2] != row[2] && strings.Contains(strings.ToLower(row[3]), strings.ToLower(c[2])) {
				d.From = append(d.From, c[2])
			}
		}
		if d.From != nil {
			out = append(out, d)
		}
	}
	return slices.Clip(out)
}
