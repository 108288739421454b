package scan

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// duckdb reads DuckDB: a database file, or a folder, whose files are views of a database
// that the backend calls ktx_files.
type duckdb struct{}

// duckScope is the condition on the rows of DuckDB's functions about the catalogue.
func duckScope(schemas []string) string {
	scope := "database_name = current_database() AND NOT internal"
	if len(schemas) > 0 {
		scope += " AND schema_name IN (" + names(schemas, literal) + ")"
	}
	return scope
}

// duckKey is how the catalogue's tables are told apart.
func duckKey(schema, name string) string { return schema + "\x00" + name }

func (e duckdb) structure(ctx context.Context, a *asker, scope scope) (*structure, error) {
	s := &structure{scope: map[string][]string{}}
	if len(scope.schemas) > 0 {
		s.scope["schemas"] = scope.schemas
	}
	known := map[string]*table{}
	if err := e.tables(ctx, a, s, scope.schemas, known); err != nil {
		return nil, fmt.Errorf("read the tables: %w", err)
	}
	if err := e.columns(ctx, a, scope.schemas, known); err != nil {
		return nil, fmt.Errorf("read the columns: %w", err)
	}
	if err := e.constraints(ctx, a, scope.schemas, known); err != nil {
		if lost(err) {
			return nil, fmt.Errorf("read the keys: %w", err)
		}
		s.warn("catalogue_not_read", nil, "the keys could not be read, so the scan has none: %v", err)
	}
	return s, nil
}

func (duckdb) tables(ctx context.Context, a *asker, s *structure, schemas []string, known map[string]*table) error {
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT schema_name, name, kind, left(comment, %d), estimated_size FROM (
SELECT database_name, schema_name, internal, table_name AS name, 'table' AS kind, comment, estimated_size FROM duckdb_tables()
UNION ALL SELECT database_name, schema_name, internal, view_name, CASE database_name WHEN 'ktx_files' THEN 'file' ELSE 'view' END, comment, NULL FROM duckdb_views()) AS r
WHERE %s AND (schema_name, name) > (%s, %s) ORDER BY schema_name, name LIMIT %d`,
			maxComment, duckScope(schemas), literal(from(after, 0, "")), literal(from(after, 1, "")), limit)
	}, func(row []string, null []bool) {
		t := newTable(catalog.Ref{DB: row[0], Name: row[1]}, catalog.KindTable)
		if row[2] == "view" {
			t.Kind = catalog.KindView
		}
		t.Comment, t.EstimatedRows, t.samples = comment(row[3], null[3]), number(row[4], null[4]), row[2] == "table"
		known[duckKey(row[0], row[1])] = t
		s.tables = append(s.tables, t)
	})
}

func (duckdb) columns(ctx context.Context, a *asker, schemas []string, known map[string]*table) error {
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT schema_name, table_name, column_index, column_name, data_type, is_nullable, left(comment, %d) FROM duckdb_columns()
WHERE %s AND (schema_name, table_name, column_index) > (%s, %s, %s) ORDER BY schema_name, table_name, column_index LIMIT %d`,
			maxComment, duckScope(schemas), literal(from(after, 0, "")), literal(from(after, 1, "")), from(after, 2, "0"), limit)
	}, func(row []string, null []bool) {
		t := known[duckKey(row[0], row[1])]
		if t == nil {
			return
		}
		normalized := normalize(row[4])
		if strings.HasSuffix(row[4], "]") {
			normalized = typeArray
		}
		t.add(catalog.Column{
			Name: row[3], NativeType: row[4], NormalizedType: normalized, DimensionType: dimension(normalized),
			Nullable: row[5] == "true", Comment: comment(row[6], null[6]), EnumValues: duckLabels(row[4]),
		}, column{readable: true, class: classOf(normalized)})
	})
}

// duckLabels returns the labels in the text of an enum type: ENUM('a', 'b').
func duckLabels(native string) []string {
	rest, found := strings.CutPrefix(native, "ENUM(")
	if !found || !strings.HasSuffix(rest, ")") {
		return nil
	}
	var labels []string
	for rest = strings.TrimSuffix(rest, ")"); rest != ""; {
		label, after, ok := cutPart(rest)
		if !ok {
			return nil
		}
		labels, rest = append(labels, label), strings.TrimPrefix(after, ", ")
	}
	return labels
}

// cutPart returns the literal that a text begins with, and the rest.
func cutPart(text string) (value, rest string, ok bool) {
	if text == "" || text[0] != '\'' {
		return "", "", false
	}
	for i := 1; i < len(text); i++ {
		if text[i] != '\'' {
			continue
		}
		if i+1 < len(text) && text[i+1] == '\'' {
			i++
			continue
		}
		return strings.ReplaceAll(text[1:i], "''", "'"), text[i+1:], true
	}
	return "", "", false
}

// constraints reads the declared keys.
func (duckdb) constraints(ctx context.Context, a *asker, schemas []string, known map[string]*table) error {
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT schema_name, table_name, constraint_index, place, constraint_type, constraint_name, constraint_column_names[place], referenced_table, referenced_column_names[place]
FROM (SELECT *, unnest(range(1, len(constraint_column_names) + 1)) AS place FROM duckdb_constraints() WHERE constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')) AS c
WHERE %s AND (schema_name, table_name, constraint_index, place) > (%s, %s, %s, %s) ORDER BY schema_name, table_name, constraint_index, place LIMIT %d`,
			strings.Replace(duckScope(schemas), " AND NOT internal", "", 1), literal(from(after, 0, "")), literal(from(after, 1, "")), from(after, 2, "-1"), from(after, 3, "0"), limit)
	}, func(row []string, _ []bool) {
		t := known[duckKey(row[0], row[1])]
		switch {
		case t == nil:
		case row[4] == "PRIMARY KEY":
			t.key(append(t.primary, row[6]))
		default:
			// A key cannot refer to a table of another schema.
			t.ForeignKeys = append(t.ForeignKeys, catalog.ForeignKey{
				FromColumn: row[6], ToDB: optional(row[0]), ToTable: row[7], ToColumn: row[8], ConstraintName: optional(row[5]),
			})
		}
	})
}

func (duckdb) quote(name string) string { return quoteWith(name, `"`, `"`) }

func (duckdb) prefix(x string, n int) string { return fmt.Sprintf("left(%s::VARCHAR, %d)", x, n) }

func (duckdb) length(x string) string { return "length(" + x + "::VARCHAR)" }

func (duckdb) exact(x string) string { return x + "::VARCHAR" }

func (duckdb) absent(x string) string { return "CASE WHEN " + x + " IS NULL THEN 1 ELSE 0 END" }

func (duckdb) text(x string) string { return x + "::VARCHAR" }

func (duckdb) rows(columns string, src source, n int) string { return limited(columns, src, n) }

func (e duckdb) spread(_ context.Context, _ *asker, t *table, want, total int64) (source, bool, error) {
	if !t.samples || total <= 0 {
		return source{}, false, nil
	}
	percent := math.Min(100, 100*float64(want)/float64(total))
	return source{from: fmt.Sprintf("%s TABLESAMPLE bernoulli(%s%%) REPEATABLE (1)", name(e, t.Ref()), strconv.FormatFloat(percent, 'f', 6, 64))}, true, nil
}
