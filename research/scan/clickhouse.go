package scan

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/execution/clickhousedb/typename"
	"github.com/ktxhq/ktx/research/catalog"
)

// clickhouse reads ClickHouse. Its primary keys are not unique, so the scan has none, and
// it has no foreign keys.
type clickhouse struct{}

func (e clickhouse) structure(ctx context.Context, a *asker, scope scope) (*structure, error) {
	schemas := scope.schemas
	if len(schemas) == 0 {
		own, err := a.ask(ctx, "SELECT currentDatabase()")
		if err != nil {
			return nil, fmt.Errorf("read the name of the database: %w", err)
		}
		if len(own.Rows) == 1 {
			schemas = append(schemas, own.Rows[0][0].Text)
		}
		schemas = distinctNames(append(schemas, scope.databases...))
	}
	s := &structure{scope: map[string][]string{"schemas": schemas}}
	for _, db := range schemas {
		known := map[string]*table{}
		if err := e.tables(ctx, a, s, db, known); err != nil {
			return nil, fmt.Errorf("read the tables of %s: %w", db, err)
		}
		if err := e.columns(ctx, a, db, known); err != nil {
			return nil, fmt.Errorf("read the columns of %s: %w", db, err)
		}
	}
	return s, nil
}

func (clickhouse) tables(ctx context.Context, a *asker, s *structure, db string, known map[string]*table) error {
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT name, engine, substringUTF8(comment, 1, %d), total_rows FROM system.tables
WHERE database = %s AND NOT is_temporary AND name > %s AND NOT startsWith(name, '.inner') ORDER BY name LIMIT %d`, maxComment, clickhouseLiteral(db), clickhouseLiteral(from(after, 0, "")), limit)
	}, func(row []string, null []bool) {
		t := newTable(catalog.Ref{DB: db, Name: row[0]}, catalog.KindTable)
		switch {
		case strings.HasSuffix(row[1], "View"):
			t.Kind = catalog.KindView
		case strings.HasSuffix(row[1], "MergeTree"):
			t.samples = true
		}
		t.Comment, t.EstimatedRows = comment(row[2], null[2]), number(row[3], null[3])
		known[t.Name] = t
		s.tables = append(s.tables, t)
	})
}

func (clickhouse) columns(ctx context.Context, a *asker, db string, known map[string]*table) error {
	return a.pages(ctx, func(after []string, limit int) string {
		return fmt.Sprintf(`SELECT table, position, name, type, default_kind, substringUTF8(comment, 1, %d) FROM system.columns
WHERE database = %s AND (table, position) > (%s, %s) ORDER BY table, position LIMIT %d`,
			maxComment, clickhouseLiteral(db), clickhouseLiteral(from(after, 0, "")), from(after, 1, "0"), limit)
	}, func(row []string, null []bool) {
		t := known[row[0]]
		if t == nil {
			return
		}
		normalized, nullable := clickhouseType(row[3])
		c := catalog.Column{
			Name: row[2], NativeType: row[3], NormalizedType: normalized, DimensionType: dimension(normalized), Nullable: nullable, Comment: comment(row[5], null[5]),
		}
		switch row[4] {
		case "MATERIALIZED":
			c.Generated = "stored"
		case "ALIAS":
			c.Generated = "virtual"
		}
		t.add(c, column{readable: true, class: classOf(normalized), maxLength: declaredLength(row[3])})
	})
}

// clickhouseTypes are types, without what wraps them, by their normalized ones.
var clickhouseTypes = []struct {
	form       *regexp.Regexp
	normalized string
}{
	{regexp.MustCompile(`^U?Int[0-9]+$`), typeInteger},
	{regexp.MustCompile(`^B?Float[0-9]+$`), typeFloat},
	{regexp.MustCompile(`^Decimal`), typeDecimal},
	{regexp.MustCompile(`^Bool$`), typeBoolean},
	{regexp.MustCompile(`^(String|FixedString|IPv[46]$)`), typeString},
	{regexp.MustCompile(`^Enum`), typeEnum},
	{regexp.MustCompile(`^Date(32)?$`), typeDate},
	{regexp.MustCompile(`^Time(64)?\b`), typeTime},
	{regexp.MustCompile(`^DateTime`), typeTimestamp},
	{regexp.MustCompile(`^Interval`), typeInterval},
	{regexp.MustCompile(`^UUID$`), typeUUID},
	{regexp.MustCompile(`^(JSON|Object)\b`), typeJSON},
	{regexp.MustCompile(`^Array\(`), typeArray},
	{regexp.MustCompile(`^(Point|Ring|Geometry|LineString|MultiLineString|Polygon|MultiPolygon)$`), typeGeometry},
}

// clickhouseType returns the normalized type, and whether a value can be null.
func clickhouseType(native string) (normalized string, nullable bool) {
	native, nullable = typename.Unwrap(native)
	for _, t := range clickhouseTypes {
		if t.form.MatchString(native) {
			return t.normalized, nullable
		}
	}
	return typeOther, nullable || strings.HasPrefix(native, "Variant(") || strings.HasPrefix(native, "Dynamic")
}

// clickhouseLiteral writes a text as a literal, in which a backslash has a meaning.
func clickhouseLiteral(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}

func (clickhouse) quote(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}

func (clickhouse) prefix(x string, n int) string {
	return fmt.Sprintf("substringUTF8(toString(%s), 1, %d)", x, n)
}

func (clickhouse) length(x string) string { return "lengthUTF8(toString(" + x + "))" }

func (clickhouse) exact(x string) string { return "toString(" + x + ")" }

func (clickhouse) absent(x string) string { return "isNull(" + x + ")" }

func (clickhouse) text(x string) string { return "toString(" + x + ")" }

func (clickhouse) rows(columns string, src source, n int) string { return limited(columns, src, n) }

func (e clickhouse) spread(_ context.Context, _ *asker, t *table, want, total int64) (source, bool, error) {
	if !t.samples || total <= 0 {
		return source{}, false, nil
	}
	share := min(1, float64(want)/float64(total))
	return source{from: name(e, t.Ref()), where: "rand(1) / 4294967296 < " + strconv.FormatFloat(share, 'f', 9, 64)}, true, nil
}
