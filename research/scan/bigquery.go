package scan

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// bigquery reads BigQuery: the datasets that the principal sees, in the location of the
// connection's own. Its keys are not enforced, so the scan has none.
type bigquery struct{}

func (e bigquery) structure(ctx context.Context, a *asker, scope scope) (*structure, error) {
	s := &structure{scope: map[string][]string{}}
	for _, project := range append([]string{""}, scope.databases...) {
		datasets := scope.schemas
		if len(datasets) == 0 {
			var err error
			if datasets, err = e.datasets(ctx, a, project); err != nil {
				return nil, fmt.Errorf("list the datasets: %w", err)
			}
		}
		for _, dataset := range datasets {
			s.scope["schemas"] = append(s.scope["schemas"], strings.TrimPrefix(project+"."+dataset, "."))
			known := map[string]*table{}
			if err := e.tables(ctx, a, s, project, dataset, known); err != nil {
				return nil, fmt.Errorf("read the tables of %s: %w", dataset, err)
			}
			if err := e.columns(ctx, a, project, dataset, known); err != nil {
				return nil, fmt.Errorf("read the columns of %s: %w", dataset, err)
			}
			if err := e.sizes(ctx, a, project, dataset, known); err != nil {
				if lost(err) {
					return nil, fmt.Errorf("read the sizes of tables of %s: %w", dataset, err)
				}
				s.warn("catalogue_not_read", nil, "how many rows the tables of %s have could not be read: %v", dataset, err)
			}
		}
	}
	return s, nil
}

// in writes the beginning of a name in a project, or in the connection's own.
func (e bigquery) in(project, rest string) string {
	if project == "" {
		return rest
	}
	return e.quote(project) + "." + rest
}

func (e bigquery) datasets(ctx context.Context, a *asker, project string) ([]string, error) {
	var out []string
	err := a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf("SELECT schema_name FROM %s WHERE schema_name > %s AND NOT STARTS_WITH(schema_name, '_') ORDER BY schema_name LIMIT %d",
			e.in(project, "INFORMATION_SCHEMA.SCHEMATA"), bigqueryLiteral(from(after, 0, "")), limit)
	}, func(row []string, _ []bool) { out = append(out, row[0]) })
	return out, err
}

func (e bigquery) tables(ctx context.Context, a *asker, s *structure, project, dataset string, known map[string]*table) error {
	views := e.in(project, e.quote(dataset)+".INFORMATION_SCHEMA.")
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT t.table_name, t.table_type, o.option_value FROM %sTABLES AS t
LEFT JOIN %sTABLE_OPTIONS AS o ON o.table_name = t.table_name AND o.option_name = 'description'
WHERE t.table_name > %s ORDER BY t.table_name LIMIT %d`, views, views, bigqueryLiteral(from(after, 0, "")), limit)
	}, func(row []string, null []bool) {
		t := newTable(catalog.Ref{Catalog: project, DB: dataset, Name: row[0]}, catalog.KindTable)
		switch {
		case strings.HasSuffix(row[1], "VIEW"):
			t.Kind = catalog.KindView
		case row[1] == "BASE TABLE":
			t.samples = true
		}
		t.Comment = comment(optionText(row[2]), null[2])
		known[row[0]] = t
		s.tables = append(s.tables, t)
	})
}

// optionText returns the text of an option, which is written as a literal. A literal with
// escapes that JSON does not have stays as it is.
func optionText(value string) string {
	if text, err := strconv.Unquote(value); err == nil {
		value = text
	}
	runes := []rune(value)
	return string(runes[:min(len(runes), maxComment)])
}

func (e bigquery) columns(ctx context.Context, a *asker, project, dataset string, known map[string]*table) error {
	views := e.in(project, e.quote(dataset)+".INFORMATION_SCHEMA.")
	return a.pages(ctx, func(after []string, limit int) string {
		table := bigqueryLiteral(from(after, 0, ""))
		return fmt.Sprintf(`SELECT c.table_name, c.ordinal_position, c.column_name, c.data_type, c.is_nullable, SUBSTR(p.description, 1, %d) FROM %sCOLUMNS AS c
LEFT JOIN %sCOLUMN_FIELD_PATHS AS p ON p.table_name = c.table_name AND p.field_path = c.column_name
WHERE c.table_name > %s OR c.table_name = %s AND c.ordinal_position > %s ORDER BY c.table_name, c.ordinal_position LIMIT %d`,
			maxComment, views, views, table, table, from(after, 1, "0"), limit)
	}, func(row []string, null []bool) {
		t := known[row[0]]
		if t == nil {
			return
		}
		normalized := bigqueryType(row[3])
		t.add(catalog.Column{
			Name: row[2], NativeType: row[3], NormalizedType: normalized, DimensionType: dimension(normalized), Nullable: row[4] == "YES", Comment: comment(row[5], null[5]),
		}, column{readable: true, class: classOf(normalized), maxLength: declaredLength(row[3])})
	})
}

// sizes reads how many rows the tables have.
func (e bigquery) sizes(ctx context.Context, a *asker, project, dataset string, known map[string]*table) error {
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf("SELECT table_id, row_count FROM %s WHERE table_id > %s ORDER BY table_id LIMIT %d",
			e.in(project, e.quote(dataset)+".__TABLES__"), bigqueryLiteral(from(after, 0, "")), limit)
	}, func(row []string, null []bool) {
		if t := known[row[0]]; t != nil && t.Kind == catalog.KindTable {
			t.EstimatedRows = number(row[1], null[1])
		}
	})
}

// bigqueryTypes are types, without their parameters, by their normalized ones.
var bigqueryTypes = map[string]string{
	"INT64": typeInteger, "FLOAT64": typeFloat, "NUMERIC": typeDecimal, "BIGNUMERIC": typeDecimal, "BOOL": typeBoolean, "STRING": typeString, "BYTES": typeBinary,
	"DATE": typeDate, "TIME": typeTime, "DATETIME": typeTimestamp, "TIMESTAMP": typeTimestamp, "INTERVAL": typeInterval, "JSON": typeJSON, "GEOGRAPHY": typeGeometry,
	"ARRAY": typeArray,
}

func bigqueryType(native string) string {
	word := native
	if i := strings.IndexAny(word, "(<"); i >= 0 {
		word = word[:i]
	}
	if t, known := bigqueryTypes[word]; known {
		return t
	}
	return typeOther
}

// bigqueryLiteral writes a text as a literal, in which a backslash has a meaning.
func bigqueryLiteral(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`).Replace(text) + "'"
}

func (bigquery) quote(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}

func (bigquery) prefix(x string, n int) string {
	return fmt.Sprintf("SUBSTR(CAST(%s AS STRING), 1, %d)", x, n)
}

func (bigquery) length(x string) string { return "CHAR_LENGTH(CAST(" + x + " AS STRING))" }

func (bigquery) exact(x string) string { return "CAST(" + x + " AS STRING)" }

func (bigquery) absent(x string) string { return "IF(" + x + " IS NULL, 1, 0)" }

func (bigquery) text(x string) string { return "CAST(" + x + " AS STRING)" }

func (bigquery) rows(columns string, src source, n int) string { return limited(columns, src, n) }

// sampledFrom is how many rows a table has from which a sample is taken. A sample consists
// of whole blocks, and a small table may have only one.
const sampledFrom = 5_000_000

func (e bigquery) spread(_ context.Context, _ *asker, t *table, want, total int64) (source, bool, error) {
	if !t.samples || total < sampledFrom {
		return source{}, false, nil
	}
	percent := min(100, max(100*float64(want)/float64(total), 0.1))
	return source{from: name(e, t.Ref()) + " TABLESAMPLE SYSTEM (" + strconv.FormatFloat(percent, 'f', 3, 64) + " PERCENT)"}, true, nil
}
