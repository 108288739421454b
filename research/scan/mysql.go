package scan

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// mysql reads MySQL and MariaDB. Names are compared and sorted by their bytes (HEX),
// because INFORMATION_SCHEMA compares them without case.
type mysql struct{}

func (e mysql) structure(ctx context.Context, a *asker, scope scope) (*structure, error) {
	schemas := scope.schemas
	if len(schemas) == 0 {
		own, err := a.ask(ctx, "SELECT DATABASE()")
		if err != nil {
			return nil, fmt.Errorf("read the name of the database: %w", err)
		}
		if len(own.Rows) == 1 && own.Rows[0][0].Text != "" {
			schemas = append(schemas, own.Rows[0][0].Text)
		}
		schemas = distinctNames(append(schemas, scope.databases...))
		if len(schemas) == 0 {
			return nil, fmt.Errorf("the connection has no database; name one in its url, or with --schemas")
		}
	}
	s := &structure{scope: map[string][]string{"schemas": schemas}}
	for _, db := range schemas {
		if err := e.database(ctx, a, s, db); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// database reads the tables of one database.
func (e mysql) database(ctx context.Context, a *asker, s *structure, db string) error {
	known := map[string]*table{}
	if err := e.tables(ctx, a, s, db, known); err != nil {
		return fmt.Errorf("read the tables of %s: %w", db, err)
	}
	if len(known) == 0 {
		return nil
	}
	if err := e.columns(ctx, a, db, known); err != nil {
		return fmt.Errorf("read the columns of %s: %w", db, err)
	}
	if err := e.keys(ctx, a, db, known); err != nil {
		if lost(err) {
			return fmt.Errorf("read the keys of %s: %w", db, err)
		}
		s.warn("catalogue_not_read", nil, "the keys of %s could not be read, so the scan has none: %v", db, err)
	}
	for _, t := range known {
		if key := t.integerKey(); key != "" && t.Kind == catalog.KindTable {
			t.stride = e.quote(key)
		}
		t.samples = t.Kind == catalog.KindTable
	}
	return nil
}

func (mysql) tables(ctx context.Context, a *asker, s *structure, db string, known map[string]*table) error {
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT HEX(t.table_name), t.table_name, t.table_type, t.engine, t.table_rows, LEFT(t.table_comment, %d) FROM information_schema.tables t
WHERE t.table_schema = %s AND t.table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED') AND HEX(t.table_name) > '%s' ORDER BY HEX(t.table_name) LIMIT %d`,
			maxComment, mysqlLiteral(db), from(after, 0, ""), limit)
	}, func(row []string, null []bool) {
		t := newTable(catalog.Ref{DB: db, Name: row[1]}, catalog.KindTable)
		switch engine := strings.ToUpper(row[3]); {
		case row[2] == "VIEW":
			t.Kind = catalog.KindView
		case engine == "FEDERATED" || engine == "CONNECT" || engine == "SPIDER":
			t.Kind = catalog.KindExternal
		}
		if t.Kind != catalog.KindView { // the comment of a view is the word VIEW, or why it is broken
			t.Comment = comment(row[5], null[5])
			t.EstimatedRows = number(row[4], null[4])
		} else if !null[5] && row[5] != "" && !strings.EqualFold(row[5], "VIEW") {
			ref := t.Ref()
			s.warn("view_broken", &ref, "%s", row[5])
		}
		known[row[1]] = t
		s.tables = append(s.tables, t)
	})
}

func (mysql) columns(ctx context.Context, a *asker, db string, known map[string]*table) error {
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT HEX(c.table_name), c.ordinal_position, c.table_name, c.column_name, c.column_type, c.data_type, c.is_nullable, c.extra, LEFT(c.column_comment, %d), c.privileges
FROM information_schema.columns c WHERE c.table_schema = %s AND (HEX(c.table_name) > '%s' OR HEX(c.table_name) = '%[3]s' AND c.ordinal_position > %s)
ORDER BY HEX(c.table_name), c.ordinal_position LIMIT %d`, maxComment, mysqlLiteral(db), from(after, 0, ""), from(after, 1, "0"), limit)
	}, func(row []string, null []bool) {
		t := known[row[2]]
		if t == nil {
			return
		}
		normalized := normalize(row[4])
		if normalized == typeOther {
			normalized = normalize(row[5])
		}
		if strings.HasPrefix(row[4], "bit(1)") {
			normalized = typeBoolean
		}
		c := catalog.Column{
			Name: row[3], NativeType: row[4], NormalizedType: normalized, DimensionType: dimension(normalized),
			Nullable: row[6] == "YES", Comment: comment(row[8], null[8]),
		}
		switch extra := strings.ToUpper(row[7]); {
		case strings.Contains(extra, "VIRTUAL GENERATED"):
			c.Generated = "virtual"
		case strings.Contains(extra, "GENERATED") && !strings.Contains(extra, "DEFAULT_GENERATED"):
			c.Generated = "stored"
		case strings.Contains(extra, "AUTO_INCREMENT"):
			c.Generated = "identity"
		}
		length := declaredLength(row[4])
		if normalized == typeEnum {
			c.EnumValues = mysqlLabels(row[4])
			length = 0
		}
		t.add(c, column{readable: strings.Contains(row[9], "select"), class: classOf(normalized), maxLength: length})
	})
}

// mysqlLabels reads the labels of a type such as enum('a','b').
func mysqlLabels(native string) []string {
	var out []string
	_, rest, _ := strings.Cut(native, "(")
	for {
		at := strings.IndexByte(rest, '\'')
		if at < 0 {
			return out
		}
		rest = rest[at+1:]
		var label strings.Builder
		for rest != "" {
			quote := strings.IndexByte(rest, '\'')
			if quote < 0 {
				return out
			}
			label.WriteString(rest[:quote])
			rest = rest[quote+1:]
			if !strings.HasPrefix(rest, "'") {
				break
			}
			label.WriteByte('\'')
			rest = rest[1:]
		}
		out = append(out, label.String())
	}
}

func (mysql) keys(ctx context.Context, a *asker, db string, known map[string]*table) error {
	primary := map[string][]string{}
	err := a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT HEX(k.table_name), HEX(k.constraint_name), k.ordinal_position, k.table_name, k.constraint_name, k.column_name, k.referenced_table_schema, k.referenced_table_name, k.referenced_column_name
FROM information_schema.key_column_usage k WHERE k.table_schema = %s AND (k.constraint_name = 'PRIMARY' OR k.referenced_table_name IS NOT NULL)
AND (HEX(k.table_name) > '%s' OR HEX(k.table_name) = '%[2]s' AND (HEX(k.constraint_name) > '%s' OR HEX(k.constraint_name) = '%[3]s' AND k.ordinal_position > %s))
ORDER BY HEX(k.table_name), HEX(k.constraint_name), k.ordinal_position LIMIT %d`,
			mysqlLiteral(db), from(after, 0, ""), from(after, 1, ""), from(after, 2, "0"), limit)
	}, func(row []string, null []bool) {
		t := known[row[3]]
		switch {
		case t == nil:
		case null[7]:
			primary[row[3]] = append(primary[row[3]], row[5])
		default:
			t.ForeignKeys = append(t.ForeignKeys, catalog.ForeignKey{
				FromColumn: row[5], ToDB: optional(row[6]), ToTable: row[7], ToColumn: row[8], ConstraintName: optional(row[4]),
			})
		}
	})
	for name, columns := range primary {
		known[name].key(columns)
	}
	return err
}

// mysqlLiteral writes a text as a literal. Whether a backslash has a meaning inside of
// a literal depends on the session, so a text with one is written as its bytes.
func mysqlLiteral(text string) string {
	if strings.ContainsAny(text, `\'`) {
		return "CONVERT(X'" + hex.EncodeToString([]byte(text)) + "' USING utf8mb4)"
	}
	return literal(text)
}

func (mysql) quote(name string) string { return quoteWith(name, "`", "`") }

func (mysql) prefix(x string, n int) string { return fmt.Sprintf("LEFT(%s, %d)", x, n) }

func (mysql) length(x string) string { return "CHAR_LENGTH(" + x + ")" }

func (mysql) exact(x string) string { return "(CONVERT(" + x + " USING utf8mb4) COLLATE utf8mb4_bin)" }

func (mysql) absent(x string) string { return "CASE WHEN " + x + " IS NULL THEN 1 ELSE 0 END" }

func (mysql) text(x string) string { return "CAST(" + x + " AS CHAR)" }

func (mysql) rows(columns string, src source, n int) string { return limited(columns, src, n) }

func (e mysql) spread(ctx context.Context, a *asker, t *table, want, total int64) (source, bool, error) {
	if t.stride != "" {
		src, ok, err := ranges(ctx, a, e, t, want, total)
		if ok || err != nil {
			return src, ok, err
		}
	}
	if !t.samples || total <= 0 {
		return source{}, false, nil
	}
	share := min(1, float64(want)/float64(total))
	return source{from: name(e, t.Ref()), where: "RAND(1) < " + strconv.FormatFloat(share, 'f', 9, 64)}, true, nil
}

// distinctNames returns names in their order, each once.
func distinctNames(list []string) []string {
	var out []string
	for _, n := range list {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
