package scan

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/ktxhq/ktx/research/catalog"
)

// postgres reads PostgreSQL.
type postgres struct{}

// pgScope is the condition on schemas. Relations of extensions are left out, such as
// spatial_ref_sys and pg_stat_statements.
func pgScope(schemas []string) string {
	if len(schemas) > 0 {
		return "n.nspname IN (" + names(schemas, literal) + ")"
	}
	return `n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`
}

// pgRelations are the relations of a scan: tables, partitioned tables, views,
// materialized views and foreign tables, without partitions.
func pgRelations(schemas []string) string {
	return `pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND ` + pgScope(schemas) + `
AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid AND d.deptype = 'e')`
}

func (e postgres) structure(ctx context.Context, a *asker, scope scope) (*structure, error) {
	s := &structure{scope: map[string][]string{}}
	schemas := scope.schemas
	if len(schemas) > 0 {
		s.scope["schemas"] = schemas
	}
	byOID := map[string]*table{}
	if err := e.tables(ctx, a, s, schemas, byOID); err != nil {
		return nil, fmt.Errorf("read the tables: %w", err)
	}
	if len(byOID) == 0 {
		return s, nil
	}
	for _, step := range []struct {
		what string
		read func() error
	}{
		{"row estimates of partitioned tables", func() error { return e.partitions(ctx, a, schemas, byOID) }},
		{"columns", func() error { return e.columns(ctx, a, schemas, byOID) }},
		{"primary keys", func() error { return e.keys(ctx, a, schemas, byOID) }},
		{"foreign keys", func() error { return e.foreignKeys(ctx, a, schemas, byOID) }},
	} {
		err := step.read()
		if err == nil {
			continue
		}
		if lost(err) || step.what == "columns" {
			return nil, fmt.Errorf("read the %s: %w", step.what, err)
		}
		s.warn("catalogue_not_read", nil, "the %s could not be read, so the scan has none: %v", step.what, err)
	}
	return s, nil
}

func (postgres) tables(ctx context.Context, a *asker, s *structure, schemas []string, byOID map[string]*table) error {
	var denied []string
	err := a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT c.oid, n.nspname, c.relname, c.relkind::text,
CASE WHEN c.reltuples < 0 OR c.reltuples = 0 AND c.relpages = 0 THEN NULL ELSE c.reltuples::bigint END,
left(pg_catalog.obj_description(c.oid, 'pg_class'), %d),
(pg_catalog.has_table_privilege(c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT')) AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
FROM %s AND c.oid > %s::pg_catalog.oid ORDER BY c.oid LIMIT %d`, maxComment, pgRelations(schemas), from(after, 0, "0"), limit)
	}, func(row []string, null []bool) {
		ref := catalog.Ref{DB: row[1], Name: row[2]}
		if row[6] != "t" {
			denied = append(denied, display(ref))
			return
		}
		t := newTable(ref, pgKind(row[3]))
		t.Comment = comment(row[5], null[5])
		t.EstimatedRows = number(row[4], null[4])
		t.samples = row[3] == "r" || row[3] == "p" || row[3] == "m"
		byOID[row[0]] = t
		s.tables = append(s.tables, t)
	})
	s.warnUnreadable(denied)
	return err
}

func pgKind(relkind string) catalog.Kind {
	switch relkind {
	case "v", "m":
		return catalog.KindView
	case "f":
		return catalog.KindExternal
	default:
		return catalog.KindTable
	}
}

// partitions adds up the estimates of partitions. Servers before version 14 have no
// estimate for the parent.
func (postgres) partitions(ctx context.Context, a *asker, schemas []string, byOID map[string]*table) error {
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`WITH RECURSIVE parts AS (SELECT c.oid AS root, c.oid AS part FROM %s AND c.relkind = 'p' AND c.oid > %s::pg_catalog.oid
UNION ALL SELECT parts.root, i.inhrelid FROM parts JOIN pg_catalog.pg_inherits i ON i.inhparent = parts.part)
SELECT parts.root, CASE WHEN count(*) FILTER (WHERE p.reltuples < 0) = 0 THEN sum(p.reltuples)::bigint END
FROM parts JOIN pg_catalog.pg_class p ON p.oid = parts.part WHERE p.relkind IN ('r', 'f') GROUP BY parts.root ORDER BY parts.root LIMIT %d`,
			pgRelations(schemas), from(after, 0, "0"), limit)
	}, func(row []string, null []bool) {
		if t := byOID[row[0]]; t != nil && t.EstimatedRows == nil {
			t.EstimatedRows = number(row[1], null[1])
		}
	})
}

func (postgres) columns(ctx context.Context, a *asker, schemas []string, byOID map[string]*table) error {
	labels, err := pgLabels(ctx, a)
	if err != nil {
		return err
	}
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT a.attrelid, a.attnum, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull OR t.typnotnull OR b.typnotnull,
a.attidentity::text, a.attgenerated::text, b.typtype::text, b.typcategory::text,
CASE WHEN t.typtype = 'd' THEN pg_catalog.format_type(t.typbasetype, t.typtypmod) END, b.oid,
left(pg_catalog.col_description(a.attrelid, a.attnum), %d), pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT')
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
JOIN pg_catalog.pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid IN (SELECT c.oid FROM %s)
AND (a.attrelid, a.attnum) > (%s::pg_catalog.oid, %s::smallint) ORDER BY a.attrelid, a.attnum LIMIT %d`,
			maxComment, pgRelations(schemas), from(after, 0, "0"), from(after, 1, "0"), limit)
	}, func(row []string, null []bool) {
		t := byOID[row[0]]
		if t == nil {
			return
		}
		native, shape := row[3], row[3]
		if !null[9] {
			shape = row[9] // a domain is read as its base type
		}
		normalized := normalize(shape)
		switch {
		case row[8] == "A":
			normalized = typeArray
		case row[7] == "e":
			normalized = typeEnum
		case row[7] == "c" || row[7] == "r" || row[7] == "m":
			normalized = typeOther
		case normalized == typeOther && row[8] == "S":
			normalized = typeString
		}
		c := catalog.Column{
			Name: row[2], NativeType: native, NormalizedType: normalized, DimensionType: dimension(normalized),
			Nullable: row[4] != "t", Comment: comment(row[11], null[11]), EnumValues: labels[row[10]],
		}
		switch {
		case row[6] == "s":
			c.Generated = "stored"
		case row[6] == "v":
			c.Generated = "virtual"
		case row[5] != "":
			c.Generated = "identity"
		}
		t.add(c, column{readable: row[12] == "t", class: classOf(normalized), maxLength: declaredLength(shape)})
	})
}

// pgLabels returns the labels of enums by the OID of the type.
func pgLabels(ctx context.Context, a *asker) (map[string][]string, error) {
	labels := map[string][]string{}
	err := a.pages(ctx, func(after []string, limit int) string {
		condition := ""
		if after != nil {
			condition = fmt.Sprintf(" WHERE (e.enumtypid, e.enumsortorder) > (%s::pg_catalog.oid, %s::real)", after[0], literal(after[1]))
		}
		return fmt.Sprintf("SELECT e.enumtypid, e.enumsortorder::text, e.enumlabel FROM pg_catalog.pg_enum e%s ORDER BY e.enumtypid, e.enumsortorder LIMIT %d", condition, limit)
	}, func(row []string, _ []bool) {
		labels[row[0]] = append(labels[row[0]], row[2])
	})
	return labels, err
}

func (postgres) keys(ctx context.Context, a *asker, schemas []string, byOID map[string]*table) error {
	columns := map[string][]string{}
	err := a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT k.conrelid, p.ord, a.attname FROM pg_catalog.pg_constraint k
CROSS JOIN LATERAL unnest(k.conkey) WITH ORDINALITY AS p(num, ord)
JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = p.num
WHERE k.contype = 'p' AND k.conrelid IN (SELECT c.oid FROM %s) AND (k.conrelid, p.ord) > (%s::pg_catalog.oid, %s::bigint)
ORDER BY k.conrelid, p.ord LIMIT %d`, pgRelations(schemas), from(after, 0, "0"), from(after, 1, "0"), limit)
	}, func(row []string, _ []bool) {
		columns[row[0]] = append(columns[row[0]], row[2])
	})
	for oid, t := range byOID {
		if key := columns[oid]; key != nil {
			t.key(key)
		}
	}
	return err
}

// foreignKeys reads the declared keys. A key that points to a partitioned table has
// further rows in the catalogue, one for each partition, which have a parent.
func (postgres) foreignKeys(ctx context.Context, a *asker, schemas []string, byOID map[string]*table) error {
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT k.oid, p.ord, k.conrelid, k.conname, a.attname, fn.nspname, fc.relname, fa.attname FROM pg_catalog.pg_constraint k
CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS p(num, fnum, ord)
JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = p.num
JOIN pg_catalog.pg_class fc ON fc.oid = k.confrelid JOIN pg_catalog.pg_namespace fn ON fn.oid = fc.relnamespace
JOIN pg_catalog.pg_attribute fa ON fa.attrelid = k.confrelid AND fa.attnum = p.fnum
WHERE k.contype = 'f' AND k.conparentid = 0 AND k.conrelid IN (SELECT c.oid FROM %s) AND (k.oid, p.ord) > (%s::pg_catalog.oid, %s::bigint)
ORDER BY k.oid, p.ord LIMIT %d`, pgRelations(schemas), from(after, 0, "0"), from(after, 1, "0"), limit)
	}, func(row []string, _ []bool) {
		if t := byOID[row[2]]; t != nil {
			t.ForeignKeys = append(t.ForeignKeys, catalog.ForeignKey{
				FromColumn: row[4], ToDB: optional(row[5]), ToTable: row[6], ToColumn: row[7], ConstraintName: optional(row[3]),
			})
		}
	})
}

func (postgres) quote(name string) string { return quoteWith(name, `"`, `"`) }

func (postgres) prefix(x string, n int) string { return fmt.Sprintf("left(%s::text, %d)", x, n) }

func (postgres) length(x string) string { return "char_length(" + x + "::text)" }

func (postgres) exact(x string) string { return "(" + x + `::text COLLATE "C")` }

func (postgres) absent(x string) string { return "CASE WHEN " + x + " IS NULL THEN 1 ELSE 0 END" }

func (postgres) text(x string) string { return x + "::text" }

func (postgres) rows(columns string, src source, n int) string { return limited(columns, src, n) }

// spread reads random pages. From small tables it reads random rows, because few
// pages would be few places.
func (e postgres) spread(_ context.Context, _ *asker, t *table, want, total int64) (source, bool, error) {
	if !t.samples || total <= 0 {
		return source{}, false, nil
	}
	const manyRows = 1_000_000 // reading all of fewer rows takes less than a second
	method := "SYSTEM"
	if total < manyRows {
		method = "BERNOULLI"
	}
	percent := math.Min(100, 100*float64(want)/float64(total))
	return source{from: fmt.Sprintf("%s TABLESAMPLE %s (%s) REPEATABLE (1)", name(e, t.Ref()), method, strconv.FormatFloat(percent, 'f', 6, 64))}, true, nil
}
