package scan

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// sqlite reads SQLite. All tables are in the schema main.
type sqlite struct{}

// sqliteSchema is the schema of a database file.
const sqliteSchema = "main"

// sqliteTable is what SQLite says of a table beside its columns.
type sqliteTable struct {
	*table
	withoutRowID bool
	keyParts     map[int]string // columns of the primary key, by position
}

func (e sqlite) structure(ctx context.Context, a *asker, scope scope) (*structure, error) {
	s := &structure{scope: map[string][]string{"schemas": {sqliteSchema}}}
	for _, schema := range scope.schemas {
		if !strings.EqualFold(schema, sqliteSchema) {
			return nil, fmt.Errorf("SQLite has the schema main only, not %q", schema)
		}
	}
	known := map[string]*sqliteTable{}
	var order []*sqliteTable
	err := a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual')
AND substr(lower(name), 1, 7) <> 'sqlite_' AND name > %s ORDER BY name LIMIT %d`, literal(from(after, 0, "")), limit)
	}, func(row []string, _ []bool) {
		t := &sqliteTable{table: newTable(catalog.Ref{DB: sqliteSchema, Name: row[0]}, catalog.KindTable), keyParts: map[int]string{}}
		if row[1] == "view" {
			t.Kind = catalog.KindView
		}
		t.withoutRowID = row[2] != "0" || row[1] == "virtual"
		known[row[0]] = t
		order = append(order, t)
	})
	if err != nil {
		return nil, fmt.Errorf("read the tables: %w", err)
	}
	if err := e.columns(ctx, a, known, ""); err != nil {
		if lost(err) {
			return nil, fmt.Errorf("read the columns: %w", err)
		}
		// One view that is broken makes the statement for all tables fail.
		for _, t := range order {
			t.Columns, t.columns, t.keyParts = t.Columns[:0], nil, map[int]string{}
			err := e.columns(ctx, a, known, t.Name)
			if err != nil && lost(err) {
				return nil, fmt.Errorf("read the columns: %w", err)
			}
			if err != nil {
				ref := t.Ref()
				s.warn("columns_not_read", &ref, "the columns could not be read, so the scan leaves it out: %v", err)
				t.Columns = t.Columns[:0]
			}
		}
	}
	for _, t := range order {
		if len(t.Columns) == 0 {
			continue
		}
		e.finish(t)
		s.tables = append(s.tables, t.table)
	}
	if err := e.foreignKeys(ctx, a, known); err != nil {
		if lost(err) {
			return nil, fmt.Errorf("read the foreign keys: %w", err)
		}
		s.warn("catalogue_not_read", nil, "the foreign keys could not be read, so the scan has none: %v", err)
	}
	return s, nil
}

// columns reads the columns of one table, or of all tables if only is "".
func (sqlite) columns(ctx context.Context, a *asker, known map[string]*sqliteTable, only string) error {
	return a.pages(ctx, func(after []string, limit int) string {
		which := ""
		if only != "" {
			which = " AND m.name = " + literal(only)
		}
		return fmt.Sprintf(`SELECT m.name, x.cid, x.name, x.type, x."notnull", x.pk, x.hidden FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) x
WHERE m.type IN ('table', 'view')%s AND (m.name > %s OR m.name = %[2]s AND x.cid > %s) ORDER BY m.name, x.cid LIMIT %d`,
			which, literal(from(after, 0, "")), from(after, 1, "-1"), limit)
	}, func(row []string, _ []bool) {
		t := known[row[0]]
		if t == nil || row[6] == "1" { // a hidden column of a virtual table
			return
		}
		normalized := sqliteType(row[3])
		c := catalog.Column{
			Name: row[2], NativeType: row[3], NormalizedType: normalized, DimensionType: dimension(normalized), Nullable: row[4] == "0",
		}
		switch row[6] {
		case "2":
			c.Generated = "virtual"
		case "3":
			c.Generated = "stored"
		}
		if part, err := strconv.Atoi(row[5]); err == nil && part > 0 {
			t.keyParts[part] = row[2]
		}
		// A column may hold values of any type, so all values are read as texts.
		class := classText
		if classOf(normalized) == classOpaque && row[3] != "" {
			class = classOpaque
		}
		t.add(c, column{readable: true, class: class})
	})
}

// sqliteType returns the normalized type of a declared type: that of its name, else by
// its affinity (Datatypes In SQLite, section 3.1).
func sqliteType(declared string) string {
	if t := normalize(declared); t != typeOther {
		return t
	}
	upper := strings.ToUpper(declared)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(upper, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("INT"):
		return typeInteger
	case has("CHAR", "CLOB", "TEXT"):
		return typeString
	case has("BLOB"):
		return typeBinary
	case has("REAL", "FLOA", "DOUB"):
		return typeFloat
	case upper == "":
		return typeOther
	default:
		return typeDecimal
	}
}

// finish sets the primary key, and how rows of the table can be read across it.
func (e sqlite) finish(t *sqliteTable) {
	var key []string
	for i := 1; i <= len(t.keyParts); i++ {
		key = append(key, t.keyParts[i])
	}
	if len(key) > 0 {
		t.key(key)
	}
	if t.Kind != catalog.KindTable {
		return
	}
	if !t.withoutRowID {
		for _, word := range []string{"rowid", "_rowid_", "oid"} { // a column may have one of these names
			taken := false
			for i := range t.Columns {
				taken = taken || strings.EqualFold(t.Columns[i].Name, word)
			}
			if !taken {
				t.stride = word
				return
			}
		}
	}
	if k := t.integerKey(); k != "" {
		t.stride = e.quote(k)
	}
}

// foreignKeys reads the declared keys. A key that names no columns of its target
// refers to the primary key.
func (sqlite) foreignKeys(ctx context.Context, a *asker, known map[string]*sqliteTable) error {
	folded := map[string]*sqliteTable{}
	for n, t := range known {
		folded[strings.ToLower(n)] = t
	}
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT m.name, f.id, f.seq, f."table", f."from", f."to" FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) f
WHERE m.type = 'table' AND (m.name > %s OR m.name = %[1]s AND (f.id > %s OR f.id = %[2]s AND f.seq > %s)) ORDER BY m.name, f.id, f.seq LIMIT %d`,
			literal(from(after, 0, "")), from(after, 1, "-1"), from(after, 2, "-1"), limit)
	}, func(row []string, null []bool) {
		t := known[row[0]]
		if t == nil {
			return
		}
		target, column := row[3], row[5]
		if to := folded[strings.ToLower(target)]; to != nil {
			target = to.Name // as it was created
			if seq, err := strconv.Atoi(row[2]); null[5] && err == nil {
				column = to.keyParts[seq+1]
			}
			for i := range to.Columns {
				if strings.EqualFold(to.Columns[i].Name, column) {
					column = to.Columns[i].Name
				}
			}
		}
		if column == "" {
			return // the target does not exist, and the key does not name its columns
		}
		schema, constraint := sqliteSchema, "fk_"+row[1]
		t.ForeignKeys = append(t.ForeignKeys, catalog.ForeignKey{
			FromColumn: row[4], ToDB: &schema, ToTable: target, ToColumn: column, ConstraintName: &constraint,
		})
	})
}

func (sqlite) quote(name string) string { return quoteWith(name, `"`, `"`) }

// prefix is empty for bytes, which are no text of the user's.
func (sqlite) prefix(x string, n int) string {
	return fmt.Sprintf("CASE WHEN typeof(%s) = 'blob' THEN '' ELSE substr(%[1]s, 1, %d) END", x, n)
}

func (sqlite) length(x string) string { return "length(" + x + ")" }

func (sqlite) exact(x string) string {
	return "(CASE WHEN typeof(" + x + ") = 'blob' THEN '' ELSE CAST(" + x + " AS TEXT) END COLLATE BINARY)"
}

func (sqlite) absent(x string) string { return x + " IS NULL" }

func (sqlite) text(x string) string { return "CAST(" + x + " AS TEXT)" }

func (sqlite) rows(columns string, src source, n int) string { return limited(columns, src, n) }

func (e sqlite) spread(ctx context.Context, a *asker, t *table, want, total int64) (source, bool, error) {
	if t.stride == "" {
		return source{}, false, nil
	}
	return ranges(ctx, a, e, t, want, total)
}
