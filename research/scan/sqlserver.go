package scan

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// sqlserver reads the connection's own database on SQL Server.
type sqlserver struct{}

func (e sqlserver) structure(ctx context.Context, a *asker, scope scope) (*structure, error) {
	s := &structure{scope: map[string][]string{}}
	for _, db := range scope.databases {
		s.warn("database_not_scanned", nil, "ktx scans the connection's own database on SQL Server; make a connection of its own for %s", db)
	}
	schemas := scope.schemas
	if len(schemas) > 0 {
		s.scope["schemas"] = schemas
	}
	byID := map[string]*table{}
	if err := e.tables(ctx, a, s, schemas, byID); err != nil {
		return nil, fmt.Errorf("read the tables: %w", err)
	}
	if len(byID) == 0 {
		return s, nil
	}
	if err := e.columns(ctx, a, byID); err != nil {
		return nil, fmt.Errorf("read the columns: %w", err)
	}
	for _, step := range []struct {
		what string
		read func(context.Context, *asker, map[string]*table) error
	}{
		{"comments", e.comments},
		{"row counts", e.counts},
		{"primary keys", e.keys},
		{"foreign keys", e.foreignKeys},
	} {
		if err := step.read(ctx, a, byID); err != nil {
			if lost(err) {
				return nil, fmt.Errorf("read the %s: %w", step.what, err)
			}
			s.warn("catalogue_not_read", nil, "the %s could not be read, so the scan has none: %v", step.what, err)
		}
	}
	return s, nil
}

func (sqlserver) tables(ctx context.Context, a *asker, s *structure, schemas []string, byID map[string]*table) error {
	which := ""
	if len(schemas) > 0 {
		which = " AND s.name IN (" + names(schemas, sqlserverLiteral) + ")"
	}
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT TOP (%d) o.object_id, s.name, o.name, RTRIM(o.type) FROM sys.objects o JOIN sys.schemas s ON s.schema_id = o.schema_id
WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0%s AND o.object_id > %s ORDER BY o.object_id`, limit, which, from(after, 0, "-2147483648"))
	}, func(row []string, _ []bool) {
		t := newTable(catalog.Ref{DB: row[1], Name: row[2]}, catalog.KindTable)
		if row[3] == "V" {
			t.Kind = catalog.KindView
		}
		t.samples = row[3] == "U"
		byID[row[0]] = t
		s.tables = append(s.tables, t)
	})
}

func (sqlserver) columns(ctx context.Context, a *asker, byID map[string]*table) error {
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT TOP (%d) c.object_id, c.column_id, c.name, t.name, b.name, c.max_length, c.precision, c.scale, c.is_nullable, c.is_identity, c.is_computed
FROM sys.columns c JOIN sys.objects o ON o.object_id = c.object_id JOIN sys.types t ON t.user_type_id = c.user_type_id
LEFT JOIN sys.types b ON b.user_type_id = c.system_type_id
WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0 AND (c.object_id > %s OR c.object_id = %[2]s AND c.column_id > %s) ORDER BY c.object_id, c.column_id`,
			limit, from(after, 0, "-2147483648"), from(after, 1, "0"))
	}, func(row []string, null []bool) {
		t := byID[row[0]]
		if t == nil {
			return
		}
		native := sqlserverType(row[3], row[5], row[6], row[7])
		normalized := normalize(native)
		switch {
		case normalized == typeOther && !null[4]: // an alias type
			normalized = normalize(row[4])
		case row[3] == "timestamp": // another name of rowversion
			normalized = typeBinary
		}
		if row[3] == "bit" || normalized == typeOther && row[4] == "bit" {
			normalized = typeBoolean
		}
		c := catalog.Column{Name: row[2], NativeType: native, NormalizedType: normalized, DimensionType: dimension(normalized), Nullable: isTrue(row[8])}
		switch {
		case isTrue(row[10]):
			c.Generated = "virtual"
		case isTrue(row[9]):
			c.Generated = "identity"
		}
		t.add(c, column{readable: true, class: classOf(normalized), maxLength: declaredLength(native)})
	})
}

// isTrue reads a bit.
func isTrue(text string) bool { return text == "1" || text == "true" }

// sqlserverType writes a type with its length, precision and scale. The length of
// sys.columns is in bytes, and -1 for max.
func sqlserverType(name, length, precision, scale string) string {
	switch name {
	case "nchar", "nvarchar", "char", "varchar", "binary", "varbinary":
		n, err := strconv.Atoi(length)
		switch {
		case err != nil:
			return name
		case n < 0:
			return name + "(max)"
		case name[0] == 'n':
			n /= 2
		}
		return fmt.Sprintf("%s(%d)", name, n)
	case "decimal", "numeric":
		return fmt.Sprintf("%s(%s,%s)", name, precision, scale)
	case "datetime2", "datetimeoffset", "time":
		return fmt.Sprintf("%s(%s)", name, scale)
	default:
		return name
	}
}

func (sqlserver) comments(ctx context.Context, a *asker, byID map[string]*table) error {
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT TOP (%d) e.major_id, e.minor_id, CAST(e.value AS nvarchar(%d)), c.name FROM sys.extended_properties e
LEFT JOIN sys.columns c ON c.object_id = e.major_id AND c.column_id = e.minor_id
WHERE e.class = 1 AND e.name = N'MS_Description' AND (e.major_id > %s OR e.major_id = %[3]s AND e.minor_id > %s) ORDER BY e.major_id, e.minor_id`,
			limit, maxComment, from(after, 0, "-2147483648"), from(after, 1, "-1"))
	}, func(row []string, null []bool) {
		t := byID[row[0]]
		if t == nil {
			return
		}
		if row[1] == "0" {
			t.Comment = comment(row[2], null[2])
			return
		}
		for i := range t.Columns {
			if t.Columns[i].Name == row[3] {
				t.Columns[i].Comment = comment(row[2], null[2])
			}
		}
	})
}

func (sqlserver) counts(ctx context.Context, a *asker, byID map[string]*table) error {
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT TOP (%d) p.object_id, SUM(p.rows) FROM sys.partitions p
WHERE p.index_id IN (0, 1) AND p.object_id > %s GROUP BY p.object_id ORDER BY p.object_id`, limit, from(after, 0, "-2147483648"))
	}, func(row []string, null []bool) {
		if t := byID[row[0]]; t != nil {
			t.EstimatedRows = number(row[1], null[1])
		}
	})
}

func (sqlserver) keys(ctx context.Context, a *asker, byID map[string]*table) error {
	columns := map[string][]string{}
	err := a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT TOP (%d) x.object_id, x.key_ordinal, c.name FROM sys.indexes i JOIN sys.index_columns x ON x.object_id = i.object_id AND x.index_id = i.index_id
JOIN sys.columns c ON c.object_id = x.object_id AND c.column_id = x.column_id
WHERE i.is_primary_key = 1 AND x.key_ordinal > 0 AND (x.object_id > %s OR x.object_id = %[2]s AND x.key_ordinal > %s) ORDER BY x.object_id, x.key_ordinal`,
			limit, from(after, 0, "-2147483648"), from(after, 1, "0"))
	}, func(row []string, _ []bool) {
		columns[row[0]] = append(columns[row[0]], row[2])
	})
	for id, key := range columns {
		if t := byID[id]; t != nil {
			t.key(key)
		}
	}
	return err
}

func (sqlserver) foreignKeys(ctx context.Context, a *asker, byID map[string]*table) error {
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT TOP (%d) f.object_id, k.constraint_column_id, f.parent_object_id, f.name, pc.name, rs.name, ro.name, rc.name
FROM sys.foreign_keys f JOIN sys.foreign_key_columns k ON k.constraint_object_id = f.object_id
JOIN sys.columns pc ON pc.object_id = k.parent_object_id AND pc.column_id = k.parent_column_id
JOIN sys.objects ro ON ro.object_id = k.referenced_object_id JOIN sys.schemas rs ON rs.schema_id = ro.schema_id
JOIN sys.columns rc ON rc.object_id = k.referenced_object_id AND rc.column_id = k.referenced_column_id
WHERE f.object_id > %s OR f.object_id = %[2]s AND k.constraint_column_id > %s ORDER BY f.object_id, k.constraint_column_id`,
			limit, from(after, 0, "-2147483648"), from(after, 1, "0"))
	}, func(row []string, _ []bool) {
		if t := byID[row[2]]; t != nil {
			t.ForeignKeys = append(t.ForeignKeys, catalog.ForeignKey{
				FromColumn: row[4], ToDB: optional(row[5]), ToTable: row[6], ToColumn: row[7], ConstraintName: optional(row[3]),
			})
		}
	})
}

// sqlserverLiteral writes a text as a Unicode literal.
func sqlserverLiteral(text string) string { return "N" + literal(text) }

func (sqlserver) quote(name string) string { return quoteWith(name, "[", "]") }

func (sqlserver) prefix(x string, n int) string {
	return fmt.Sprintf("LEFT(CAST(%s AS nvarchar(max)), %d)", x, n)
}

func (sqlserver) length(x string) string { return "LEN(" + x + ")" }

func (sqlserver) exact(x string) string {
	return "(CAST(" + x + " AS nvarchar(max)) COLLATE Latin1_General_BIN2)"
}

func (sqlserver) absent(x string) string { return "CASE WHEN " + x + " IS NULL THEN 1 ELSE 0 END" }

func (sqlserver) text(x string) string { return "CAST(" + x + " AS nvarchar(4000))" }

func (sqlserver) rows(columns string, src source, n int) string {
	distinct := ""
	if rest, ok := strings.CutPrefix(columns, "DISTINCT "); ok {
		distinct, columns = "DISTINCT ", rest
	}
	return fmt.Sprintf("SELECT %sTOP (%d) %s FROM %s", distinct, n, columns, src.sql())
}

func (e sqlserver) spread(_ context.Context, _ *asker, t *table, want, total int64) (source, bool, error) {
	if !t.samples || total <= 0 {
		return source{}, false, nil
	}
	return source{from: name(e, t.Ref()) + " TABLESAMPLE (" + strconv.FormatInt(want, 10) + " ROWS) REPEATABLE (1)"}, true, nil
}
