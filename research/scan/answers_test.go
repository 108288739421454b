package scan_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/scan"
)

// service scans with a store of values on disk, and returns the tools over what the scan
// has written. A warning must be about one of the tables that are named.
func (s *stand) service(warned ...string) (*research.Service, *catalog.Snapshot) {
	s.t.Helper()
	s.options.OpenValues = func(sync string) (scan.Values, error) { return dictionary.NewWriter(s.options.Root, "shop", sync) }
	result := s.run()
	for _, w := range result.Report.Warnings {
		if !slices.Contains(warned, w.Table) {
			s.t.Errorf("warning %+v", w)
		}
	}
	gateway, ok := s.options.Gateway.(*execution.Gateway)
	if !ok {
		s.t.Fatal("the stand has another gateway")
	}
	store := catalog.NewStore(s.options.Root, time.Now)
	snapshot, err := store.Snapshot(s.t.Context(), "shop", s.options.Readable)
	if err != nil {
		s.t.Fatal(err)
	}
	return research.New(gateway, slog.New(slog.DiscardHandler), research.Stores{
		Analyzer: rank.NewAnalyzer(nil), Catalog: store, Dictionary: dictionary.NewStore(s.options.Root),
	}), snapshot
}

// lines returns the first column of a query.
func (s *stand) lines(sql string) []string {
	s.t.Helper()
	result, err := s.options.Gateway.Query(s.t.Context(), execution.Request{ConnectionID: "shop", SQL: sql})
	if err != nil {
		s.t.Fatal(err)
	}
	var lines []string
	for _, row := range result.Rows {
		lines = append(lines, row[0].Text)
	}
	slices.Sort(lines)
	return lines
}

// details returns what entity_details says of a table and these columns, or all.
func details(t *testing.T, s *research.Service, table string, columns ...string) *research.Entity {
	t.Helper()
	out, err := s.EntityDetails(t.Context(), research.EntityDetailsInput{ConnectionID: "shop", Entities: []research.EntityInput{{Table: table, Columns: columns}}})
	if err != nil {
		t.Fatal(err)
	}
	if out.Results[0].Entity == nil {
		t.Fatalf("%s: %+v", table, out.Results[0].Failure)
	}
	return out.Results[0].Entity
}

// told returns what the tools and the snapshot say of all tables, in the form of the
// tables truth and truth_keys.
func told(t *testing.T, s *research.Service, snapshot *catalog.Snapshot) (columns, keys []string) {
	t.Helper()
	none := ""
	for _, table := range snapshot.Tables() {
		if strings.HasPrefix(table.Name, "truth") {
			continue
		}
		e := details(t, s, snapshot.Display(table.Ref()))
		if e.TableRef != table.Ref() || len(e.Columns)+e.OmittedColumns != len(table.Columns) {
			t.Errorf("%s: %+v", snapshot.Display(table.Ref()), e)
		}
		for i, shown := range e.Columns {
			c := table.Columns[i]
			columns = append(columns, fmt.Sprintf("%s|%s|%s|%d|%s|%s|%t|%t|%s|%s|%s", e.TableRef.DB, e.TableRef.Name, e.Kind, i+1, shown.Name, shown.NativeType,
				shown.Nullable, shown.PrimaryKey, c.Generated, strings.Join(c.EnumValues, ","), *cmp.Or(shown.Comment, &none)))
		}
		for _, k := range e.ForeignKeys {
			keys = append(keys, fmt.Sprintf("%s|%s|%s|%s|%s|%s|%s", e.TableRef.DB, e.TableRef.Name, k.FromColumn, *cmp.Or(k.ToDB, &none), k.ToTable, k.ToColumn, *cmp.Or(k.ConstraintName, &none)))
		}
	}
	slices.Sort(columns)
	slices.Sort(keys)
	return columns, keys
}

// matched returns where dictionary_search finds a value, whole.
func matched(t *testing.T, s *research.Service, value string) string {
	t.Helper()
	out, err := s.DictionarySearch(t.Context(), research.DictionarySearchInput{Values: []string{value}})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range out.Results[0].Matches {
		if m.MatchType == "exact" {
			list = append(list, m.TableRef.DB+"."+m.TableRef.Name+"."+m.ColumnName)
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// postgresTruth is what the catalogue of PostgreSQL says, by other statements than those
// of the scan. Partitions belong to their parents.
var postgresTruth = []string{
	`CREATE TABLE truth AS
		SELECT concat_ws('|', n.nspname, c.relname, CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'view' WHEN 'f' THEN 'external' ELSE 'table' END,
			row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum), a.attname, format_type(a.atttypid, a.atttypmod), (NOT (a.attnotnull OR t.typnotnull))::text,
			EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND a.attnum = ANY (i.indkey))::text,
			CASE WHEN a.attidentity <> '' THEN 'identity' WHEN a.attgenerated = 's' THEN 'stored' WHEN a.attgenerated = 'v' THEN 'virtual' ELSE '' END,
			coalesce((SELECT string_agg(e.enumlabel, ',' ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid IN (a.atttypid, t.typbasetype)), ''),
			coalesce(col_description(c.oid, a.attnum), '')) AS line
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = a.atttypid
		WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
			AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`,
	`CREATE TABLE truth_keys AS
		SELECT concat_ws('|', n.nspname, c.relname, a.attname, fn.nspname, f.relname, b.attname, k.conname) AS line
		FROM pg_constraint k CROSS JOIN LATERAL unnest(k.conkey, k.confkey) AS pair (mine, theirs)
		JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_class f ON f.oid = k.confrelid JOIN pg_namespace fn ON fn.oid = f.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = pair.mine JOIN pg_attribute b ON b.attrelid = f.oid AND b.attnum = pair.theirs
		WHERE k.contype = 'f' AND NOT c.relispartition`,
}

// TestPostgresAnswers: the tools tell of a real database what its own catalogue says:
// every relation, column, type, key, enum and generated column.
func TestPostgresAnswers(t *testing.T) {
	t.Parallel()
	var wide []string
	for i := range 1600 {
		wide = append(wide, fmt.Sprintf("c%d int", i))
	}
	more := []string{
		"CREATE TABLE \"Über.Lager\".\"Bücher\"\"[1]\" (\"Nr.\" int PRIMARY KEY, region int, no int, FOREIGN KEY (region, no) REFERENCES sales.orders)",
		"CREATE TABLE \"UPPER\" (\"Id\" serial PRIMARY KEY, s status[], p point, r int4range, n numeric, v varchar, c char(3), iv interval day to second(3), b bit varying(5))",
		"CREATE TABLE wide (" + strings.Join(wide, ", ") + ")",
		"CREATE TABLE nothing ()", "CREATE TABLE kin () INHERITS (employees)",
		"CREATE DOMAIN sure AS int NOT NULL", "CREATE DOMAIN state AS status", "CREATE TABLE sures (id sure, state state, gone int, kept text)", "ALTER TABLE sures DROP COLUMN gone",
	}
	s := newStand(t, postgresAt(testdb.Postgres(t).NewDatabase(t, slices.Concat(postgresShapes[:slices.Index(postgresShapes, "CREATE EXTENSION file_fdw")], []string{
		"CREATE FOREIGN DATA WRAPPER none", "CREATE SERVER files FOREIGN DATA WRAPPER none", "CREATE FOREIGN TABLE sales.feed (line text, no int) SERVER files",
		"CREATE TABLE employees (id int PRIMARY KEY, boss int REFERENCES employees)",
		"INSERT INTO customers (name) VALUES ('Ann'), ('Köln GmbH')", "INSERT INTO sales.events VALUES ('2025-06-01', 'late kind', 1)",
	}, more, postgresTruth)...)))
	tools, snapshot := s.service("sales.feed")
	columns, keys := told(t, tools, snapshot)
	want := slices.DeleteFunc(s.lines("SELECT line FROM truth"), beyondAnswer)
	if d := gocmp.Diff(want, columns); d != "" {
		t.Errorf("columns (-database +tools):\n%s", d)
	}
	if d := gocmp.Diff(s.lines("SELECT line FROM truth_keys"), keys); d != "" {
		t.Errorf("keys (-database +tools): %s", d)
	}
	// Of a wide table the first columns are told, and any column that is asked for.
	if e := details(t, tools, "wide"); len(e.Columns) != 300 || e.OmittedColumns != 1300 {
		t.Errorf("wide: %d columns, %d omitted", len(e.Columns), e.OmittedColumns)
	}
	for from := 0; from < 1600; from += 200 {
		var names []string
		for i := range 200 {
			names = append(names, fmt.Sprintf("c%d", from+i))
		}
		if e := details(t, tools, "public.wide", names...); len(e.Columns) != 200 || e.Columns[199].Name != names[199] || e.OmittedColumns != 0 {
			t.Errorf("wide: %d columns of 200", len(e.Columns))
		}
	}
	for value, place := range map[string]string{"köln gmbh": "public.customers.name", "late kind": "sales.events.kind"} {
		if got := matched(t, tools, value); got != place {
			t.Errorf("%s is found in %q", value, got)
		}
	}
}

// beyondAnswer reports whether a line of the truth is not in one answer: of a wide table
// the columns after the 300th.
func beyondAnswer(line string) bool {
	parts := strings.Split(line, "|")
	var at int
	_, err := fmt.Sscan(parts[3], &at)
	return err == nil && parts[1] == "wide" && at > 300 || strings.HasPrefix(parts[1], "truth")
}

// sqliteTruth is what SQLite says of its tables. Its keys have no names, so that the scan
// names them by their numbers.
var sqliteTruth = []string{
	`CREATE TABLE truth AS SELECT 'main|' || m.name || '|' || m.type || '|' || (1 + (SELECT count(*) FROM pragma_table_xinfo(m.name) q WHERE q.cid < p.cid AND q.hidden <> 1)) || '|' || p.name || '|' || p.type
		|| '|' || iif(p."notnull" OR p.pk AND (m.sql LIKE '%WITHOUT ROWID%' OR p.type = 'INTEGER'), 'false', 'true') || '|' || iif(p.pk, 'true', 'false') || '|' || CASE p.hidden WHEN 2 THEN 'virtual' WHEN 3 THEN 'stored' ELSE '' END || '||' AS line
		FROM sqlite_schema m, pragma_table_xinfo(m.name) p WHERE m.type IN ('table', 'view') AND p.hidden <> 1`,
	`CREATE TABLE truth_keys AS SELECT 'main|' || m.name || '|' || f."from" || '|main|' || f."table" || '|' || coalesce(f."to", (SELECT p.name FROM pragma_table_info(f."table") p WHERE p.pk = f.seq + 1)) || '|fk_' || f.id AS line
		FROM sqlite_schema m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`,
}

// TestSQLiteAnswers is [TestPostgresAnswers] for SQLite.
func TestSQLiteAnswers(t *testing.T) {
	t.Parallel()
	shapes := slices.DeleteFunc(slices.Clone(sqliteShapes), func(sql string) bool {
		return strings.Contains(sql, "fts5") || strings.Contains(sql, "nowhere") || strings.Contains(sql, "Customers,")
	})
	shapes = append(shapes,
		"CREATE TABLE orders (region INT, no INT, customer_id INTEGER REFERENCES customers, PRIMARY KEY (region, no)) WITHOUT ROWID",
		`CREATE TABLE "dot.ted ""[x]""" ("Nr." INTEGER PRIMARY KEY, "日本 語" TEXT DEFAULT 'x', "select" REAL, owner INT REFERENCES customers (id))`,
		`INSERT INTO "dot.ted ""[x]""" ("日本 語") VALUES ('Größe')`,
	)
	s := newStand(t, sqliteAt(testdb.SQLiteFile(t, slices.Concat(shapes, sqliteTruth)...)))
	tools, snapshot := s.service()
	columns, keys := told(t, tools, snapshot)
	want := slices.DeleteFunc(s.lines("SELECT line FROM truth"), beyondAnswer)
	if d := gocmp.Diff(want, columns); d != "" {
		t.Errorf("columns (-database +tools):\n%s", d)
	}
	if d := gocmp.Diff(s.lines("SELECT line FROM truth_keys"), keys); d != "" {
		t.Errorf("keys (-database +tools): %s", d)
	}
	if got := matched(t, tools, "GROSSE"); got != `main.dot.ted "[x]".日本 語` {
		t.Errorf("Größe is found in %q", got)
	}
}

// TestAnswersOfAnEmptyDatabase: the tools tell an empty database from one without a
// scan.
func TestAnswersOfAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	tools, _ := newStand(t, sqliteAt(testdb.SQLiteFile(t))).service()
	out, err := tools.EntityDetails(t.Context(), research.EntityDetailsInput{ConnectionID: "shop", Entities: []research.EntityInput{{Table: "orders"}}})
	if err != nil || out.Results[0].Failure == nil || out.Results[0].Failure.Error.Code != research.TableNotFound || len(out.Results[0].Failure.Error.Candidates) != 0 {
		t.Errorf("%+v, %v", out.Results[0].Failure, err)
	}
	if found, err := tools.DiscoverData(t.Context(), research.DiscoverDataInput{Query: "orders"}); err != nil || len(found.Refs) != 0 || len(found.Notes) != 1 || !strings.HasSuffix(found.Notes[0], "of tables, shop has none") {
		t.Errorf("%+v, %v", found, err)
	}
	if words, err := tools.DictionarySearch(t.Context(), research.DictionarySearchInput{Values: []string{"paid"}}); err != nil || words.Searched[0].Status != dictionary.StatusNoCandidates || words.Searched[0].Coverage.SyncID == nil {
		t.Errorf("%+v, %v", words, err)
	}
}
