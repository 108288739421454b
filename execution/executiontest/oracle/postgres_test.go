package oracle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlguard"
)

// pgDefaults sets settings of the database that must not affect either side,
// because the pins override them.
const pgDefaults = `ALTER DATABASE %[1]s SET DateStyle = 'German, MDY'; ALTER DATABASE %[1]s SET IntervalStyle = 'iso_8601';
	ALTER DATABASE %[1]s SET bytea_output = 'escape'; ALTER DATABASE %[1]s SET extra_float_digits = -15;
	ALTER DATABASE %[1]s SET TimeZone = 'Asia/Kathmandu'; ALTER DATABASE %[1]s SET client_encoding = 'LATIN1'`

// pgTexts are queries whose columns no table can have, or whose results are
// computed from values of several types.
var pgTexts = []string{
	"SELECT pg_sleep(0)", "SELECT ROW(1, 'a', NULL, 'b,c', ROW(2))", "SELECT ROW()", "SELECT ROW(NULL)", "SELECT ARRAY[ROW(1, 'a'), NULL, ROW(NULL, '')]",
	"SELECT textout('a b'), textout(''), ARRAY[textout('x'), NULL]::cstring[], '{}'::cstring[]",
	"SELECT most_common_vals, histogram_bounds, most_common_freqs FROM pg_stats WHERE schemaname = 'cells' AND tablename = 'known' ORDER BY attname",
	"SELECT stxdndistinct, stxddependencies, stxdmcv FROM pg_statistic_ext_data",
	"SELECT ev_action FROM pg_rewrite WHERE ev_class = 'pg_user'::regclass", "SELECT NULL::gtsvector, NULL::gtsvector[]",
	"SELECT NULL", "SELECT NULL::int4", "SELECT 'x'", "SELECT ''", "SELECT 1", "SELECT 1.0", "SELECT -0.0::float8", "SELECT true AND NULL", "SELECT ARRAY[ARRAY['a'], ARRAY['b']]",
	"SELECT 1, 1, 1 AS a, 2 AS a, 3 AS \"?column?\"", "SELECT sum(n), avg(n), count(*), stddev(n) FROM generate_series(1, 7) AS n", "SELECT sum(x) FROM unnest('{0.1,0.2,0.3}'::float8[]) AS x",
	"SELECT interval '1 day' * 1.5", "SELECT 2 ^ 0.5, 10::numeric ^ -20, exp(1.0)", "SELECT 1::int8 << 60", "SELECT chr(128512), chr(1), chr(1114111)",
	"SELECT to_jsonb(v), jsonb_agg(v), json_agg(v) FROM cells.known AS v WHERE a = 1 GROUP BY v.*, v ORDER BY v", "SELECT xmlelement(name a, 1.50, 'x')::text",
	"SELECT array_agg(t), string_agg(t, E'\\n') FROM (VALUES ('a'), (NULL), ('\"')) AS v (t)", "SELECT to_tsvector('english', 'The rats'), ts_headline('simple'::regconfig, 'a b', 'b'::tsquery)",
	"SELECT current_schemas(true), current_setting('DateStyle'), current_setting('TimeZone'), version()", "SELECT oid, prosrc, proacl, proargtypes FROM pg_proc WHERE oid < 2000 ORDER BY oid",
	"SELECT indclass, indkey, indoption, indexprs FROM pg_index WHERE indexrelid < 10000 ORDER BY indexrelid",
	"SHOW server_version", "SHOW DateStyle", "SHOW IntervalStyle", "SHOW bytea_output", "SHOW extra_float_digits", "EXPLAIN (COSTS off) SELECT 1", "EXPLAIN (COSTS off, FORMAT json) SELECT 1", "EXPLAIN (COSTS off, FORMAT xml) SELECT 1", "EXPLAIN (COSTS off, FORMAT yaml) SELECT 1",
	"VALUES (1, 'a'), (NULL, NULL), (3, '')", "TABLE cells.known", "SELECT repeat('é', 500000)", "SELECT repeat(E'\\\\\"\\n', 200000)", "SELECT decode(repeat('00ff', 200000), 'hex')", "SELECT array_agg(n) FROM generate_series(1, 100000) AS n",
	"SELECT g, g::text FROM generate_series('2024-03-30 00:00+01'::timestamptz, '2024-04-01', '3 hours') AS g",
}

// pgLong are rows that are longer than one value may be, although each of their
// values is not. Values shorter than narrowCell are returned.
var pgLong = []string{
	fmt.Sprintf("SELECT n, repeat('é', %d), NULL, '', repeat(E'\\\n\"', %d), NULL::int4, decode(repeat('00', %d), 'hex'), 1.5::float8 FROM generate_series(1, 5) AS n", narrowCell/2, narrowCell/3, narrowCell/2-1),
	fmt.Sprintf("SELECT repeat('x', n * %d), repeat('y', %d - n), NULL, n FROM generate_series(0, 100) AS n", narrowCell/100, narrowCell),
	"SELECT n, repeat('x', 700), repeat('y', 700) FROM generate_series(1, 60) AS n",
}

const narrowCell = 60_000

// noResult are types that no column of a result can have, each with the reason.
var noResult = map[string]string{
	"any": "stands for an argument of any type", "internal": "cannot be made or passed by SQL", "unknown": "the server gives such a column the type text",
	"anyelement": polymorphic, "anynonarray": polymorphic, "anyenum": polymorphic, "anyrange": polymorphic, "anymultirange": polymorphic,
	"anycompatible": polymorphic, "anycompatiblearray": polymorphic, "anycompatiblenonarray": polymorphic, "anycompatiblerange": polymorphic, "anycompatiblemultirange": polymorphic,
	"trigger": handler, "event_trigger": handler, "language_handler": handler, "fdw_handler": handler, "index_am_handler": handler, "table_am_handler": handler, "tsm_handler": handler,
	"pg_ddl_command":        "exists inside of event triggers",
	"pg_brin_bloom_summary": brin, "pg_brin_minmax_multi_summary": brin,
}

const (
	polymorphic = "is replaced by the type of the arguments"
	handler     = "is what functions return that the server alone calls; a value of it cannot be printed"
	brin        = "exists inside of index pages; no function returns it"
)

// onlyNull are types whose only value in SQL is NULL, each with the reason.
var onlyNull = map[string]string{
	"gtsvector":   "exists inside of index pages; it cannot be read as text",
	"gtsvector[]": "is an array of these",
}

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	server := testdb.Postgres(t)
	url := server.NewDatabase(t)
	conn := connect(t, url)
	r := source(t)
	var name string
	if err := conn.QueryRow(t.Context(), "SELECT quote_ident(current_database())").Scan(&name); err != nil {
		t.Fatal(err)
	}
	execute(t, conn, named)
	queries := pgTables(t, conn, r, randomRows(t, 80))
	for _, sql := range pgTexts {
		queries = append(queries, query{connection: unguarded, sql: sql})
	}
	for _, sql := range pgLong {
		queries = append(queries, query{connection: narrow, sql: sql})
	}
	queries = append(queries, pgRowTypes(t, conn)...)
	execute(t, conn, fmt.Sprintf(pgDefaults, name))

	s := pgService(t, url, "")
	want := psql(t, url, asItIs, "UTC", queries)
	types := pgTypes(t, conn)
	covered := map[uint32]bool{}
	var f figure
	for i, q := range queries {
		got := ask(t, s, q.connection, q.sql)
		if len(want[i]) != len(got.Rows)*len(got.Headers) {
			t.Errorf("%.200s: %d rows of %d columns, psql prints %d cells", q.sql, len(got.Rows), len(got.Headers), len(want[i]))
			f.cells += len(want[i])
			continue
		}
		columns := columnTypes(t, conn, q.sql, len(got.Headers), types)
		for n, typ := range columns {
			if typ.name != got.HeaderTypes[n] {
				t.Errorf("%.200s: column %d has the type %q, the server says %q", q.sql, n+1, got.HeaderTypes[n], typ.name)
			}
		}
		for n, row := range got.Rows {
			for m, c := range row {
				place := fmt.Sprintf("%.200s: row %d, column %s of type %s", q.sql, n+1, got.Headers[m], columns[m].name)
				if f.compare(t, place, c, want[i][n*len(row)+m]) && (c.kind != 0 || onlyNull[columns[m].name] != "") {
					covered[columns[m].declared] = true
				}
				checkKind(t, place, columns[m].name, c)
			}
			if q.floats {
				checkBits(t, row[1], row[len(row)-1])
			}
		}
	}
	f.report(t, "PostgreSQL "+strconv.Itoa(server.Version()), least())
	for oid, typ := range types {
		if !covered[oid] && noResult[typ.name] == "" {
			t.Errorf("no value of the type %s was compared: give it values in pgValues, or a reason in noResult", typ.name)
		}
		if covered[oid] && noResult[typ.name] != "" {
			t.Errorf("values of the type %s were compared, although noResult says that it %s", typ.name, noResult[typ.name])
		}
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// pgService serves a database with the product's guard, and with a guard that
// approves every statement. An empty zone means the product's own default.
func pgService(t *testing.T, url, zone string) *research.Service {
	t.Helper()
	connection := func(id string, d sqlguard.Dialect, policy sqlguard.Policy, lim execution.Limits) execution.Connection {
		return execution.Connection{
			ID: id, Engine: "POSTGRESQL", Dialect: d, Policy: policy, Limits: lim,
			Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
				return pgdb.Open(ctx, pgdb.Config{URL: execution.NewSecret(url), MaxConnections: 2, Timezone: zone, Session: d.Session()}, guard)
			},
		}
	}
	all, policy := executiontest.Permissive{DialectName: "postgres"}, sqlguard.Policy{MaxBytes: sqlguard.CeilingMaxBytes}
	short := limits
	short.CellBytes = narrowCell
	return service(t, connection(guarded, postgres.Dialect{}, sqlguard.Policy{}, limits), connection(unguarded, all, policy, limits), connection(narrow, all, policy, short))
}

// pgType is a type of a column.
type pgType struct {
	declared uint32 // the type's own OID, also of a domain
	name     string // the type that the server sends: for a domain, its base type
}

// pgTypes returns the server's own types. Their OIDs are under 16384
// (src/include/access/transam.h). It leaves out the row types of TOAST tables,
// because no query can name them.
func pgTypes(t *testing.T, conn *pgx.Conn) map[uint32]pgType {
	t.Helper()
	rows, err := conn.Query(t.Context(), `WITH RECURSIVE base AS (
			SELECT oid, oid AS sent FROM pg_type WHERE typtype <> 'd'
			UNION ALL SELECT t.oid, b.sent FROM base AS b JOIN pg_type AS t ON t.typtype = 'd' AND t.typbasetype = b.oid)
		SELECT base.oid, CASE WHEN e.typarray = t.oid THEN e.typname || '[]' ELSE t.typname::text END
		FROM base JOIN pg_type AS t ON t.oid = base.sent LEFT JOIN pg_type AS e ON e.oid = t.typelem
		JOIN pg_type AS own ON own.oid = base.oid
		WHERE own.typnamespace <> 'pg_toast'::regnamespace AND own.oid < 16384`)
	if err != nil {
		t.Fatal(err)
	}
	types := map[uint32]pgType{}
	var typ pgType
	_, err = pgx.ForEachRow(rows, []any{&typ.declared, &typ.name}, func() error {
		types[typ.declared] = typ
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return types
}

// columnTypes asks the server for the types of a query's columns. The columns
// of a query that cannot be in FROM are all text.
func columnTypes(t *testing.T, conn *pgx.Conn, sql string, n int, builtin map[uint32]pgType) []pgType {
	t.Helper()
	out := make([]pgType, n)
	prepared, err := conn.Prepare(t.Context(), "", sql)
	if err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
	for i, field := range prepared.Fields {
		out[i].declared = field.DataTypeOID
	}
	if verb, _, _ := strings.Cut(sql, " "); slices.Contains([]string{"SELECT", "VALUES", "TABLE"}, verb) {
		names, kinds := make([]string, n), make([]string, n)
		for i := range n {
			names[i] = "c" + strconv.Itoa(i)
			kinds[i] = "pg_typeof(" + names[i] + ")::oid"
		}
		into := make([]any, n)
		for i := range out {
			into[i] = &out[i].declared
		}
		text := fmt.Sprintf("SELECT %s FROM (%s) AS q (%s) LIMIT 1", strings.Join(kinds, ", "), sql, strings.Join(names, ", "))
		if err := conn.QueryRow(t.Context(), text).Scan(into...); err != nil {
			t.Fatalf("%.200s: %v", text, err)
		}
	}
	for i, typ := range out {
		if known, ok := builtin[typ.declared]; ok {
			out[i] = known
			continue
		}
		// A type of the test has the name under which the server sends it.
		if err := conn.QueryRow(t.Context(), `SELECT CASE WHEN e.typarray = t.oid THEN e.typname || '[]' ELSE t.typname::text END
			FROM pg_type AS t LEFT JOIN pg_type AS e ON e.oid = t.typelem WHERE t.oid = $1`, prepared.Fields[i].DataTypeOID).Scan(&out[i].name); err != nil {
			t.Fatalf("%.200s: column %d: %v", sql, i+1, err)
		}
	}
	return out
}

// pgRowTypes returns queries for a row and an array of rows of every catalogue
// and view of the server. Columns of known types have values. The catalogues'
// own rows are not used, because they could change between two reads.
func pgRowTypes(t *testing.T, conn *pgx.Conn) []query {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT c.oid::regclass::text, array_agg(attname::text ORDER BY attnum), array_agg(t.typname::text ORDER BY attnum), own.typarray <> 0
		FROM pg_class AS c JOIN pg_type AS own ON own.oid = reltype JOIN pg_attribute AS a ON attrelid = c.oid AND attnum > 0 JOIN pg_type AS t ON t.oid = atttypid
		WHERE c.oid < 16384 AND relkind IN ('r', 'v') AND relnamespace <> 'pg_toast'::regnamespace GROUP BY c.oid, own.typarray ORDER BY c.oid`)
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	var name string
	var names, types []string
	var arrays bool // versions from 14 on have them
	_, err = pgx.ForEachRow(rows, []any{&name, &names, &types, &arrays}, func() error {
		object := map[string]string{}
		for i, n := range names {
			if v := pgValues[types[i]]; len(v.edges) > 0 {
				if text := v.edges[len(n)%len(v.edges)]; len(text) < 100 {
					object[n] = text
				}
			}
		}
		text, err := json.Marshal(object)
		row := fmt.Sprintf("jsonb_populate_record(NULL::%s, '%s')", name, strings.ReplaceAll(string(text), "'", "''"))
		columns = append(columns, row)
		if arrays {
			columns = append(columns, "ARRAY["+row+", NULL]")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []query
	for part := range slices.Chunk(columns, 40) {
		out = append(out, query{connection: unguarded, sql: "SELECT " + strings.Join(part, ", ")})
	}
	return out
}

// checkKind checks the JSON kind of a value: a number or boolean if every JSON
// reader reads it exactly, and a string otherwise.
func checkKind(t *testing.T, place, typ string, c cell) {
	t.Helper()
	want := byte('s')
	switch typ {
	case "bool":
		want = 'b'
	case "int2", "int4", "int8", "oid":
		n, ok := new(big.Int).SetString(c.text, 10)
		if ok && n.CmpAbs(big.NewInt(1<<53)) <= 0 {
			want = 'n'
		}
	case "float4", "float8":
		if f, err := strconv.ParseFloat(c.text, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			want = 'n'
		}
	}
	if c.kind != 0 && c.kind != want {
		t.Errorf("%s: %s is of JSON kind %q, want %q", place, shortened(c), c.kind, want)
	}
	if c.kind == 'n' {
		checkNumber(t, place, c.text, typ == "float4" || typ == "float8")
	}
}

// checkNumber checks that every JSON reader reads a number exactly. As a
// float64 it must be exactly the decimal that is written. For a float it is
// enough that it prints as the same one.
func checkNumber(t *testing.T, place, text string, float bool) {
	t.Helper()
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !json.Valid([]byte(text)) {
		t.Errorf("%s: %s is no number of JSON in the range of float64: %v", place, text, err)
		return
	}
	exact, _, err := big.ParseFloat(text, 10, 2000, big.ToNearestEven)
	if err != nil {
		t.Errorf("%s: %s: %v", place, text, err)
		return
	}
	back, accuracy := exact.Float64()
	switch {
	case back != f:
		t.Errorf("%s: %s is read as %v and as %v", place, text, f, back)
	case !strings.ContainsAny(text, ".eE") && (accuracy != big.Exact || math.Abs(f) > 1<<53):
		t.Errorf("%s: %s is an integer that a float64 does not hold", place, text)
	case !float && accuracy != big.Exact:
		t.Errorf("%s: a float64 does not hold %s exactly", place, text)
	}
}

// checkBits compares a float with the bytes that the server sends for it.
func checkBits(t *testing.T, v, bits cell) {
	t.Helper()
	if v.kind == 0 {
		return
	}
	f, err := strconv.ParseFloat(v.text, 64)
	if err != nil {
		t.Errorf("the float %s: %v", v, err)
		return
	}
	text := fmt.Sprintf(`\x%016x`, math.Float64bits(f))
	if len(bits.text) == len(`\x01234567`) {
		text = fmt.Sprintf(`\x%08x`, math.Float32bits(float32(f)))
	}
	if text != bits.text && !math.IsNaN(f) {
		t.Errorf("the float %s has the bits %s, the server's are %s", v, text, bits.text)
	}
}
