package oracle_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// query is one query that both sides run.
type query struct {
	connection string // of the service: with the guard of the product, or with one that approves everything
	sql        string
	floats     bool // of the columns v and bits: the number in v is compared with its bits
}

// The connections of the service.
const (
	guarded   = "guarded"
	unguarded = "unguarded"
	narrow    = "narrow" // without the guard, with a limit on values that makes the backend read long rows piece by piece
)

// named creates objects whose names need quotes.
const named = `CREATE SCHEMA cells;
	CREATE TYPE cells.mood AS ENUM ('sad', 'ha"p,py', '', ' ', 'NULL', 'größe\n', '{}', '(');
	CREATE TYPE cells."we""ird, Täble" AS (a int4, "b c" text, m cells.mood, n numeric[]);
	CREATE FUNCTION cells."we""ird, fünction"(int4, numeric) RETURNS int4 LANGUAGE sql AS 'SELECT 1';
	CREATE DOMAIN cells.positive AS int4 CHECK (VALUE > 0);
	CREATE DOMAIN cells.more AS cells.positive CHECK (VALUE > 1);
	CREATE TYPE cells.span AS RANGE (subtype = numeric);
	CREATE TABLE cells.known AS SELECT n % 7 AS a, n % 7 / 2 AS b, ('{x,"y z",é}'::text[])[n % 3 + 1] AS c FROM generate_series(1, 400) AS n;
	CREATE STATISTICS cells.known_both (ndistinct, dependencies, mcv) ON a, b FROM cells.known;
	ANALYZE cells.known`

// userValues are values of types that users define, and of types with
// modifiers.
var userValues = map[string]values{
	"cells.mood":                  {edges: []string{"sad", `ha"p,py`, "", " ", "NULL", `größe\n`, "{}", "("}},
	`cells."we""ird, Täble"`:      {edges: []string{"(,,,)", `(1,"a ""b"" \\ ,",sad,"{1.10,NULL,NaN}")`, `(-1,"",,{})`, `(,NULL,"ha""p,py",)`}},
	"cells.positive":              {edges: []string{"1", "2147483647"}},
	"cells.more":                  {edges: []string{"2", "2147483647"}},
	"cells.span":                  {edges: []string{"[1.5,2.50]", "empty", "(,)"}},
	"numeric(38,18)":              {edges: []string{"0", "-0.000000000000000001", "99999999999999999999.999999999999999999", "NaN", "1.1"}, random: func(r *rand.Rand) string { return sign(r) + digits(r, 1+r.IntN(20)) + "." + digits(r, 1+r.IntN(30)) }},
	"numeric(5,0)":                {edges: []string{"1.5", "99999"}},
	"varchar(3)":                  {edges: []string{"", "é世x"}, random: randomText},
	"char(5)":                     {edges: []string{"", "é", "12345"}, random: randomText},
	"bit(8)":                      {edges: []string{"1", "11111111"}, random: func(r *rand.Rand) string { return randomBits(r, 1, 20) }},
	"bit varying(4)":              {edges: []string{"", "1111"}},
	"time(0)":                     {edges: []string{"23:59:59.5", "12:00:00.49"}, random: randomClock},
	"timestamp(3)":                {edges: []string{"2024-01-01 00:00:00.0005"}, random: func(r *rand.Rand) string { return randomMoment(r, "") }},
	"timestamp(0) with time zone": {edges: []string{"2024-01-01 00:00:00.5+14"}},
	"interval day to second(2)":   {edges: []string{"1 day 00:00:00.005", "-1 day"}},
	"interval year to month":      {edges: []string{"1 year 13 mons"}},
}

// extensions have types of their own. They are compared if the server has the
// extension, because some packages of the server do not contain it.
var extensions = map[string]map[string]values{
	"citext": {"cells.citext": {edges: []string{"", "Größe"}, random: randomText}},
	"cube":   {"cells.cube": {edges: []string{"(1,2),(3,4.5)", "(0)", "()"}}},
	"hstore": {"cells.hstore": {edges: []string{"", `a=>1, "b c"=>NULL, ""=>"NULL"`, `"x\"y"=>"\\, =>"`}}},
	"isn":    {"cells.ean13": {edges: []string{"978-0-393-04002-9"}}, "cells.issn": {edges: []string{"1436-4522"}}},
	"ltree":  {"cells.ltree": {edges: []string{"", "Top.Science.a_b"}}, "cells.lquery": {edges: []string{"*.a{1,3}.!b|c*@"}}, "cells.ltxtquery": {edges: []string{"Europe & !(a@* | b)"}}},
	"seg":    {"cells.seg": {edges: []string{"5.0", "<1.50", "1.50 .. 2.3", "5(+-)0.3"}}},
}

// pgTable makes one table for a type. It has the value, a domain over it, an
// array, a row type with both, an array of rows and, if the type has an order,
// a range. PgTable returns the query that reads all of it, and rows without a
// type.
func pgTable(t *testing.T, conn *pgx.Conn, r *rand.Rand, number int, typ string, v values, rows int) query {
	t.Helper()
	texts := slices.Clone(v.edges)
	for since, more := range v.since {
		if major(t, conn) >= since {
			texts = append(texts, more...)
		}
	}
	if v.random != nil {
		for range rows {
			texts = append(texts, v.random(r))
		}
	}
	name := func(kind string) string { return fmt.Sprintf("cells.%s_%d", kind, number) }
	ordered := exists(t, conn, `SELECT FROM pg_opclass JOIN pg_am ON pg_am.oid = opcmethod
		WHERE amname = 'btree' AND opcdefault AND opcintype = $1::regtype`, typ)
	sql := []string{
		fmt.Sprintf("CREATE DOMAIN %s AS %s", name("domain"), typ),
		fmt.Sprintf("CREATE TYPE %s AS (v %s, n int4, a %s[], d %s)", name("row"), typ, typ, name("domain")),
		fmt.Sprintf("CREATE TABLE %s (id int4, v %s, d %s, a %s[], r %s, ra %[5]s[])", name("t"), typ, name("domain"), typ, name("row")),
		fmt.Sprintf("INSERT INTO %s (id, v) VALUES (0, NULL)", name("t")),
	}
	for i, e := range v.expressions {
		sql = append(sql, fmt.Sprintf("INSERT INTO %s (id, v) VALUES (%d, %s)", name("t"), -i-1, e))
	}
	execute(t, conn, strings.Join(sql, ";"))
	read := "x::" + typ
	if strings.HasPrefix(typ, `pg_catalog."reg`) { // text has casts of its own to these
		read = strings.Trim(strings.TrimPrefix(typ, "pg_catalog."), `"`) + "in(textout(x))"
	}
	if _, err := conn.Exec(t.Context(), fmt.Sprintf("INSERT INTO %s (id, v) SELECT n, %s FROM unnest($1::text[]) WITH ORDINALITY AS u (x, n)", name("t"), read), texts); err != nil {
		t.Fatalf("values of %s: %v", typ, err)
	}
	arrays := `CASE t.id % 7 WHEN 0 THEN '{}' WHEN 1 THEN ARRAY[t.v] WHEN 2 THEN ARRAY[t.v, NULL, before] WHEN 3 THEN ARRAY[ARRAY[t.v, before], ARRAY[NULL, t.v]]
		WHEN 4 THEN array_fill(t.v, ARRAY[2, 1, 2], ARRAY[-1, 0, 2147483640]) WHEN 5 THEN array_fill(t.v, ARRAY[2], ARRAY[0]) ELSE NULL END`
	if strings.HasSuffix(typ, `vector"`) && typ != `pg_catalog."tsvector"` { // these are arrays themselves; before version 15, ARRAY makes two-dimensional arrays of them
		arrays = `CASE t.id % 3 WHEN 0 THEN '{}' ELSE CAST('{"' || t.v::text || '",NULL}' AS ` + typ + `[]) END`
	}
	sql = []string{
		fmt.Sprintf("UPDATE %s AS t SET d = t.v, a = %s FROM (SELECT id, lag(v) OVER (ORDER BY id) AS before FROM %[1]s) AS b WHERE b.id = t.id", name("t"), arrays),
		fmt.Sprintf("UPDATE %s SET r = ROW(v, id, a, d)::%s WHERE id %% 9 <> 0", name("t"), name("row")),
		fmt.Sprintf("UPDATE %s SET ra = ARRAY[r, NULL, ROW(NULL, NULL, NULL, NULL)::%s] WHERE id %% 8 <> 0", name("t"), name("row")),
	}
	columns := "id, v, d, a, r, ra, ROW(v, ROW(d, NULL, ''), a) AS record"
	if ordered {
		sql = append(sql,
			fmt.Sprintf("CREATE TYPE %s AS RANGE (subtype = %s)", name("range"), typ),
			fmt.Sprintf("ALTER TABLE %s ADD x %s, ADD xa %[2]s[]", name("t"), name("range")),
			fmt.Sprintf(`UPDATE %s AS t SET x = %s(least(t.v, before), greatest(t.v, before), ('{[],"[)","(]",()}'::text[])[abs(t.id) %% 4 + 1])
				FROM (SELECT id, lag(v) OVER (ORDER BY id) AS before FROM %[1]s) AS b WHERE b.id = t.id`, name("t"), name("range")),
			fmt.Sprintf("UPDATE %s SET xa = ARRAY[x, 'empty', NULL] WHERE id %% 3 = 0", name("t")),
		)
		columns += ", x, xa"
	}
	q := query{connection: guarded}
	if typ == `pg_catalog."float4"` || typ == `pg_catalog."float8"` {
		q.connection, q.floats = unguarded, true
		columns += ", " + strings.NewReplacer("pg_catalog.", "", `"`, "").Replace(typ) + "send(v) AS bits"
	}
	execute(t, conn, strings.Join(sql, ";"))
	q.sql = "SELECT " + columns + " FROM " + name("t") + " ORDER BY id"
	return q
}

// pgTables makes all tables and returns the queries that read them.
func pgTables(t *testing.T, conn *pgx.Conn, r *rand.Rand, rows int) []query {
	t.Helper()
	all := maps.Clone(userValues)
	for extension, types := range extensions {
		if exists(t, conn, "SELECT FROM pg_available_extensions WHERE name = $1", extension) {
			execute(t, conn, "CREATE EXTENSION "+extension+" SCHEMA cells")
			maps.Copy(all, types)
		}
	}
	for _, table := range []map[string]values{pgValues, pgShapes} {
		for name, v := range table {
			typ := name
			if !strings.Contains(name, ".") {
				typ = `pg_catalog."` + name + `"`
			}
			if exists(t, conn, "SELECT WHERE to_regtype($1) IS NOT NULL", typ) {
				all[typ] = v
			}
		}
	}
	var queries []query
	var mixed []query // values of many types in each row
	for i, typ := range slices.Sorted(maps.Keys(all)) {
		queries = append(queries, pgTable(t, conn, r, i, typ, all[typ], rows))
		if i%8 == 7 {
			var columns, joins string
			for n := i - 7; n <= i; n++ {
				columns += fmt.Sprintf(", t_%d.v AS v%[1]d", n)
				joins += fmt.Sprintf(" LEFT JOIN cells.t_%d ON t_%[1]d.id = n", n)
			}
			mixed = append(mixed, query{connection: guarded, sql: fmt.Sprintf("SELECT n%s FROM generate_series(0, %d) AS n%s ORDER BY n", columns, rows, joins)})
		}
	}
	return append(queries, mixed...)
}

func major(t *testing.T, conn *pgx.Conn) int {
	t.Helper()
	var n int
	if err := conn.QueryRow(t.Context(), "SELECT current_setting('server_version_num')::int4 / 10000").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func exists(t *testing.T, conn *pgx.Conn, sql string, args ...any) bool {
	t.Helper()
	var found bool
	if err := conn.QueryRow(t.Context(), "SELECT EXISTS ("+sql+")", args...).Scan(&found); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return found
}

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatalf("%.2000s: %v", sql, err)
	}
}
