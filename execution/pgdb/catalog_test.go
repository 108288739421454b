package pgdb_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// everyKind creates one object of each kind in the schema shop. Some names need
// quotes.
const everyKind = `
CREATE SCHEMA shop;
CREATE TYPE shop.status AS ENUM ('new', 'paid');
CREATE TYPE shop.money AS (amount numeric, currency text);
CREATE TYPE shop.span AS RANGE (subtype = float8, subtype_diff = float8mi);
CREATE TYPE shop.shell;
CREATE DOMAIN shop.email AS text CONSTRAINT at CHECK (VALUE LIKE '%@%') CHECK (length(VALUE) < 100) NOT NULL;
CREATE DOMAIN shop.own_email AS shop.email;

CREATE FUNCTION shop.twice(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n * 2';
CREATE FUNCTION shop.twice(n text, times int DEFAULT 2, "at" timestamptz DEFAULT now()) RETURNS text LANGUAGE sql AS 'SELECT repeat(n, times)';
CREATE FUNCTION shop.total(VARIADIC parts numeric[]) RETURNS numeric LANGUAGE sql STABLE AS 'SELECT sum(p) FROM unnest(parts) AS p';
CREATE FUNCTION shop.runs() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = shop, pg_temp SET work_mem = '8MB' AS 'BEGIN DELETE FROM shop.orders; END';
CREATE FUNCTION shop.adds(total shop.money, n numeric) RETURNS shop.money LANGUAGE sql IMMUTABLE AS 'SELECT total';
CREATE FUNCTION shop.less(a shop.money, b shop.money) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT a.amount < b.amount';
CREATE FUNCTION shop.compare(a shop.money, b shop.money) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 0';
CREATE FUNCTION shop.amount(m shop.money) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT m.amount';
CREATE FUNCTION shop.parts(n int, OUT a text, OUT b shop.money) LANGUAGE sql STABLE AS 'SELECT NULL::text, NULL::shop.money';
CREATE FUNCTION shop.list() RETURNS TABLE (c int, d shop.email) LANGUAGE sql STABLE AS 'SELECT 1, NULL::shop.email';
CREATE PROCEDURE shop.pay(INOUT n int) LANGUAGE sql AS 'SELECT n';
CREATE FUNCTION pg_catalog.our_own() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE AGGREGATE shop.sum_of(numeric) (sfunc = shop.adds, stype = shop.money, initcond = '(0,EUR)');
CREATE AGGREGATE shop.moving(int) (sfunc = int4pl, stype = int, msfunc = int4pl, minvfunc = int4mi, mstype = int);
CREATE FUNCTION shop.rank_of() RETURNS bigint LANGUAGE internal WINDOW AS 'window_rank';

CREATE OPERATOR shop.<<< (leftarg = shop.money, rightarg = shop.money, function = shop.less, commutator = OPERATOR(shop.>>>));
CREATE OPERATOR shop.## (rightarg = shop.money, function = shop.amount);
CREATE CAST (shop.money AS numeric) WITH FUNCTION shop.amount(shop.money) AS ASSIGNMENT;
CREATE CAST (text AS shop.money) WITH INOUT;
CREATE CAST (int AS text) WITH INOUT AS IMPLICIT;

CREATE TABLE shop.orders (id bigint PRIMARY KEY, "Status" shop.status, tags text[], total shop.money, gone int);
ALTER TABLE shop.orders DROP COLUMN gone;
CREATE TABLE shop.big_orders (boss shop.email) INHERITS (shop.orders);
CREATE TABLE shop.events (at date NOT NULL, what jsonb) PARTITION BY RANGE (at);
CREATE TABLE shop.events_1 PARTITION OF shop.events FOR VALUES FROM ('2020-01-01') TO ('2021-01-01') PARTITION BY RANGE (at);
CREATE TABLE shop.events_1_1 PARTITION OF shop.events_1 FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
CREATE INDEX ON shop.events (at);
CREATE VIEW shop.open_orders AS SELECT o.id, shop.twice(1) AS two FROM shop.orders AS o WHERE o."Status" = 'new';
CREATE MATERIALIZED VIEW shop.counts AS SELECT count(*) AS n FROM shop.open_orders;
CREATE SEQUENCE shop.numbers;
CREATE EXTENSION postgres_fdw;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER postgres_fdw;
CREATE FOREIGN TABLE shop.far (id int) SERVER elsewhere;
CREATE TABLE shop.empty ();
`

func name(schema, name string) sqlguard.CatalogName {
	return sqlguard.CatalogName{Schema: schema, Name: name}
}

func ours(n string) sqlguard.CatalogName   { return name("shop", n) }
func system(n string) sqlguard.CatalogName { return name("pg_catalog", n) }

func columns(pairs ...any) []sqlguard.CatalogColumn {
	list := []sqlguard.CatalogColumn{}
	for i := 0; i < len(pairs); i += 2 {
		n, _ := pairs[i].(string)
		t, _ := pairs[i+1].(sqlguard.CatalogName)
		list = append(list, sqlguard.CatalogColumn{Name: n, Type: t})
	}
	return list
}

func types(names ...sqlguard.CatalogName) []sqlguard.CatalogName {
	return append([]sqlguard.CatalogName{}, names...)
}

// wantObjects is the catalogue of everyKind, without extensions.
func wantObjects(major int) *sqlguard.Objects {
	const (
		plain     = sqlguard.FunctionPlain
		immutable = sqlguard.VolatilityImmutable
		stable    = sqlguard.VolatilityStable
		volatile  = sqlguard.VolatilityVolatile
	)
	money := ours("money")
	order := []any{"id", system("int8"), "Status", ours("status"), "tags", system("_text"), "total", money}
	want := &sqlguard.Objects{
		Functions: []sqlguard.CatalogFunction{
			{CatalogName: system("our_own"), Kind: plain, Arguments: types(), Results: types(system("int4")), Volatility: volatile, Language: "sql", Body: "SELECT 1"},
			{CatalogName: ours("adds"), Kind: plain, Arguments: types(money, system("numeric")), Results: types(money), Volatility: immutable, Language: "sql", Body: "SELECT total"},
			{CatalogName: ours("amount"), Kind: plain, Arguments: types(money), Results: types(system("numeric")), Volatility: immutable, Language: "sql", Body: "SELECT m.amount"},
			{CatalogName: ours("compare"), Kind: plain, Arguments: types(money, money), Results: types(system("int4")), Volatility: immutable, Language: "sql", Body: "SELECT 0"},
			{CatalogName: ours("less"), Kind: plain, Arguments: types(money, money), Results: types(system("bool")), Volatility: immutable, Language: "sql", Body: "SELECT a.amount < b.amount"},
			{
				CatalogName: ours("list"), Kind: plain, Arguments: types(), Results: types(system("record"), system("int4"), ours("email")),
				Volatility: stable, Language: "sql", Body: "SELECT 1, NULL::shop.email",
			},
			{
				CatalogName: ours("moving"), Kind: sqlguard.FunctionAggregate, Arguments: types(system("int4")), Results: types(system("int4")), Volatility: immutable, Language: "internal",
				Runs: types(system("int4mi"), system("int4pl")),
			},
			{
				CatalogName: ours("parts"), Kind: plain, Arguments: types(system("int4")), Results: types(system("record"), system("text"), money),
				Volatility: stable, Language: "sql", Body: "SELECT NULL::text, NULL::shop.money",
			},
			{CatalogName: ours("pay"), Kind: sqlguard.FunctionProcedure, Arguments: types(system("int4")), Results: types(system("record"), system("int4")), Volatility: volatile, Language: "sql", Body: "SELECT n"},
			{CatalogName: ours("rank_of"), Kind: sqlguard.FunctionWindow, Arguments: types(), Results: types(system("int8")), Volatility: volatile, Language: "internal"},
			{
				CatalogName: ours("runs"), Kind: plain, Arguments: types(), Results: types(system("void")), Volatility: volatile, Language: "plpgsql", SecurityDefiner: true,
				Settings: []string{"search_path=shop, pg_temp", "work_mem=8MB"},
			},
			{
				CatalogName: ours("sum_of"), Kind: sqlguard.FunctionAggregate, Arguments: types(system("numeric")), Results: types(money), Volatility: immutable, Language: "internal",
				Runs: types(ours("adds")),
			},
			{
				CatalogName: ours("total"), Kind: plain, Arguments: types(system("_numeric")), Variadic: true, Results: types(system("numeric")), Volatility: stable, Language: "sql",
				Body: "SELECT sum(p) FROM unnest(parts) AS p",
			},
			{CatalogName: ours("twice"), Kind: plain, Arguments: types(system("int4")), Results: types(system("int4")), Volatility: immutable, Language: "sql", Body: "SELECT n * 2"},
			{
				CatalogName: ours("twice"), Kind: plain, Arguments: types(system("text"), system("int4"), system("timestamptz")), Defaults: 2, DefaultValues: "2, now()", Results: types(system("text")),
				Volatility: volatile, Language: "sql", Body: "SELECT repeat(n, times)",
			},
		},
		Operators: []sqlguard.CatalogOperator{
			{CatalogName: ours("##"), Right: money, Function: ours("amount")},
			{CatalogName: ours("<<<"), Left: money, Right: money, Function: ours("less"), Commutator: ours(">>>")},
		},
		Casts: []sqlguard.CatalogCast{
			{Source: system("int4"), Target: system("text"), Context: sqlguard.CastImplicit},
			{Source: system("text"), Target: money, Context: sqlguard.CastExplicit},
			{Source: money, Target: system("numeric"), Function: ours("amount"), Context: sqlguard.CastAssignment},
		},
		Types: []sqlguard.CatalogType{
			{CatalogName: ours("email"), Kind: sqlguard.TypeDomain, Base: system("text"), Checks: []string{"CHECK ((VALUE ~~ '%@%'::text))", "CHECK ((length(VALUE) < 100))"}},
			{CatalogName: money, Kind: sqlguard.TypeComposite, Columns: columns("amount", system("numeric"), "currency", system("text"))},
			{CatalogName: ours("own_email"), Kind: sqlguard.TypeDomain, Base: ours("email")},
			{CatalogName: ours("span"), Kind: sqlguard.TypeRange, Base: system("float8")},
			{CatalogName: ours("status"), Kind: sqlguard.TypeEnum},
		},
		Relations: []sqlguard.CatalogRelation{
			{CatalogName: ours("big_orders"), Kind: sqlguard.RelationTable, Columns: columns(append(slices.Clone(order), "boss", ours("email"))...)},
			{
				CatalogName: ours("counts"), Kind: sqlguard.RelationMaterialized, Columns: columns("n", system("int8")),
				Definition: " SELECT count(*) AS n\n   FROM shop.open_orders;",
			},
			{CatalogName: ours("empty"), Kind: sqlguard.RelationTable, Columns: columns()},
			{
				CatalogName: ours("events"), Kind: sqlguard.RelationPartitioned, Columns: columns("at", system("date"), "what", system("jsonb")),
				Children: types(ours("events_1"), ours("events_1_1")),
			},
			{
				CatalogName: ours("events_1"), Kind: sqlguard.RelationPartitioned, Columns: columns("at", system("date"), "what", system("jsonb")),
				Children: types(ours("events_1_1")),
			},
			{CatalogName: ours("events_1_1"), Kind: sqlguard.RelationTable, Columns: columns("at", system("date"), "what", system("jsonb"))},
			{CatalogName: ours("far"), Kind: sqlguard.RelationForeign, Columns: columns("id", system("int4"))},
			{
				CatalogName: ours("numbers"), Kind: sqlguard.RelationSequence,
				Columns: columns("last_value", system("int8"), "log_cnt", system("int8"), "is_called", system("bool")),
			},
			{
				CatalogName: ours("open_orders"), Kind: sqlguard.RelationView, Columns: columns("id", system("int8"), "two", system("int4")),
				Definition: " SELECT o.id,\n    shop.twice(1) AS two\n   FROM shop.orders o\n  WHERE (o.\"Status\" = 'new'::shop.status);",
			},
			{CatalogName: ours("orders"), Kind: sqlguard.RelationTable, Columns: columns(order...), Children: types(ours("big_orders"))},
		},
	}
	if major >= 14 {
		want.Types = append(want.Types, sqlguard.CatalogType{CatalogName: ours("span_multirange"), Kind: sqlguard.TypeRange, Base: ours("span")})
		want.Casts = append(want.Casts, sqlguard.CatalogCast{
			Source: ours("span"), Target: ours("span_multirange"), Function: ours("span_multirange"), Context: sqlguard.CastExplicit,
		})
		slices.SortFunc(want.Types, func(a, b sqlguard.CatalogType) int { return cmp.Compare(a.Name, b.Name) })
	}
	return want
}

// unpretty removes what server versions print differently: white space,
// parentheses, and the name of the only table of a query.
func unpretty(text string) string {
	return strings.NewReplacer(" ", "", "\n", "", "(", "", ")", "", "o.", "").Replace(text)
}

func TestCatalogHasEveryKindOfObject(t *testing.T) {
	t.Parallel()
	server := testdb.Postgres(t)
	url := server.NewDatabase(t, everyKind)
	role := server.NewRole(t) // it may read no table, but every role may read the catalogue
	database := query[string](t, url, "SELECT current_database()")
	c, err := open(t, server.URL(database, role), pgdb.Config{Objects: true}).Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := *c.Objects
	got.Functions = slices.DeleteFunc(slices.Clone(got.Functions), func(f sqlguard.CatalogFunction) bool {
		// The server creates the constructor functions of a range type.
		constructor := f.Language == "internal" && strings.HasPrefix(f.Name, "span")
		return f.Extension != "" || constructor
	})
	want := wantObjects(c.Major)
	same := gocmp.FilterPath(func(p gocmp.Path) bool { return p.Last().String() == ".Definition" }, gocmp.Transformer("unpretty", unpretty))
	if diff := gocmp.Diff(want, &got, same); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	behind, err := open(t, url, pgdb.Config{Objects: true, Pooler: pgdb.PoolerOn, MaxConnections: 1}).Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(c, behind); diff != "" {
		t.Errorf("behind a pooler (-without +behind):\n%s", diff)
	}
	if want := name("public", "postgres_fdw_handler"); !slices.ContainsFunc(c.Objects.Functions, func(f sqlguard.CatalogFunction) bool {
		return f.CatalogName == want && f.Extension == "postgres_fdw" && f.Language == "c"
	}) {
		t.Errorf("no function %v of its extension", want)
	}
}

func TestCatalogHasParsedBodies(t *testing.T) {
	t.Parallel()
	server := testdb.Postgres(t)
	if server.Version() < 14 {
		t.Log("this server has no such bodies")
		return
	}
	url := server.NewDatabase(t, `
		CREATE FUNCTION half(n int) RETURNS int RETURN n / 2;
		CREATE FUNCTION quarter(n int) RETURNS int BEGIN ATOMIC SELECT 1; SELECT half(half(n)); END;`)
	c, err := open(t, url, pgdb.Config{Objects: true}).Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{}
	for _, f := range c.Objects.Functions {
		bodies[f.Name] = strings.Join(strings.Fields(f.Body), " ")
	}
	want := map[string]string{"half": "RETURN (n / 2)", "quarter": "BEGIN ATOMIC SELECT 1; SELECT half(half(n)) AS half; END"}
	if diff := gocmp.Diff(want, bodies); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}

func TestCatalogKnowsExtensions(t *testing.T) {
	t.Parallel()
	extensions := []string{"citext", "hstore", "pg_trgm", "ltree", "unaccent", "pgcrypto", "file_fdw", "postgres_fdw", "pg_stat_statements"}
	url := testdb.Postgres(t).NewDatabase(t, "CREATE EXTENSION "+strings.Join(extensions, "; CREATE EXTENSION "))
	c, err := open(t, url, pgdb.Config{Objects: true}).Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	count := func(kind, name, extension string) {
		if extension == "" {
			t.Errorf("%s %s belongs to no extension", kind, name)
		} else if !strings.Contains(kinds[extension], kind) {
			kinds[extension] += kind + " "
		}
	}
	for _, f := range c.Objects.Functions {
		count("functions", f.Name, f.Extension)
	}
	for _, o := range c.Objects.Operators {
		count("operators", o.Name, o.Extension)
	}
	for _, k := range c.Objects.Casts {
		count("casts", k.Source.Name+" to "+k.Target.Name, k.Extension)
	}
	for _, y := range c.Objects.Types {
		count("types", y.Name, y.Extension)
	}
	for _, r := range c.Objects.Relations {
		count("relations", r.Name, r.Extension)
	}
	want := map[string]string{
		"citext": "functions operators casts types ", "hstore": "functions operators casts types ", "pg_trgm": "functions operators types ",
		"ltree": "functions operators types ", "unaccent": "functions ", "pgcrypto": "functions ", "file_fdw": "functions ",
		"postgres_fdw": "functions ", "pg_stat_statements": "functions relations ",
	}
	if diff := gocmp.Diff(want, kinds); diff != "" {
		t.Errorf("kinds of objects by extension (-want +got):\n%s", diff)
	}
}

// TestCatalogIsOfNow changes each part of a database and checks that the next
// catalogue shows the change. When other sessions only change rows, the
// catalogue stays the same.
func TestCatalogIsOfNow(t *testing.T) {
	t.Parallel()
	server := testdb.Postgres(t)
	url := server.NewDatabase(t, everyKind)
	c := open(t, url, pgdb.Config{Objects: true})
	load := func() *sqlguard.Catalog {
		t.Helper()
		catalog, err := c.Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return catalog
	}
	last := load()
	for _, sql := range []string{
		"INSERT INTO shop.orders VALUES (1)", "TRUNCATE shop.orders", "ANALYZE", "VACUUM shop.orders", "REFRESH MATERIALIZED VIEW shop.counts",
		"CREATE TEMPORARY TABLE t (a int)", "CREATE TEMPORARY VIEW v AS SELECT 1", "CREATE INDEX ON shop.orders (id)",
	} {
		server.Exec(t, url, sql)
		if load() != last {
			t.Errorf("%s: another catalogue", sql)
		}
	}
	for _, sql := range []string{
		"CREATE OR REPLACE FUNCTION shop.twice(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n + n'",
		"CREATE INDEX twos ON shop.orders ((id + shop.twice(1)))",
		"DROP INDEX shop.twos",
		"ALTER TABLE shop.orders ADD CONSTRAINT positive CHECK (id > shop.twice(0))",
		"ALTER TABLE shop.orders DROP CONSTRAINT positive",
		"CREATE POLICY own ON shop.orders USING (id > 0); ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY",
		"ALTER POLICY own ON shop.orders USING (id > 1)",
		"ALTER TABLE shop.orders DISABLE ROW LEVEL SECURITY",
		"CREATE OPERATOR CLASS shop.own DEFAULT FOR TYPE shop.money USING btree AS FUNCTION 1 shop.compare(shop.money, shop.money)",
		"DROP OPERATOR FAMILY shop.own USING btree CASCADE",
		"ALTER FUNCTION shop.twice(int) VOLATILE",
		"ALTER FUNCTION shop.twice(int) SECURITY DEFINER",
		"ALTER FUNCTION shop.twice(int) SET work_mem = '1MB'",
		"CREATE OR REPLACE VIEW shop.open_orders AS SELECT o.id, 2 AS two FROM shop.orders AS o",
		"ALTER TABLE shop.events RENAME TO happenings",
		"ALTER TABLE shop.empty ADD COLUMN a int",
		"ALTER TABLE shop.empty RENAME COLUMN a TO b",
		"ALTER TABLE shop.empty DROP COLUMN b",
		"ALTER TABLE shop.big_orders NO INHERIT shop.orders",
		"ALTER DOMAIN shop.email DROP CONSTRAINT at",
		"ALTER EXTENSION postgres_fdw DROP FUNCTION postgres_fdw_validator(text[], oid)",
		"DROP CAST (text AS shop.money)",
		"DROP OPERATOR shop.## (NONE, shop.money)",
		"CREATE OPERATOR shop.>>> (leftarg = shop.money, rightarg = shop.money, function = shop.less, commutator = OPERATOR(shop.<<<))",
		"CREATE TYPE shop.other AS ENUM ()",
		"ALTER SCHEMA shop RENAME TO store",
		"DROP SCHEMA store CASCADE",
	} {
		server.Exec(t, url, sql)
		next := load()
		if next == last || gocmp.Equal(next, last) {
			t.Errorf("%s: the same catalogue", sql)
		}
		last = next
	}
}

// TestCatalogWithoutObjects: without objects, a catalogue costs one query.
func TestCatalogWithoutObjects(t *testing.T) {
	t.Parallel()
	c, err := open(t, testdb.Postgres(t).NewDatabase(t, everyKind), pgdb.Config{}).Catalog(t.Context())
	if err != nil || c.Objects != nil || c.Major != testdb.Postgres(t).Version() {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestCatalogBeyondItsLimitsIsRefused(t *testing.T) {
	t.Parallel()
	url := testdb.Postgres(t).NewDatabase(t, "CREATE VIEW v AS SELECT '"+strings.Repeat("x", 5000)+"' AS a")
	for _, limit := range []struct {
		bytes, cell int64
		rows        int
	}{{1 << 20, 4000, 1 << 20}, {4000, 1 << 20, 1 << 20}, {1 << 20, 1 << 20, 100}} {
		c := open(t, url, pgdb.Config{Objects: true})
		c.LimitCatalog(limit.bytes, limit.cell, limit.rows)
		if _, err := c.Catalog(t.Context()); err == nil || !strings.Contains(err.Error(), "too large") {
			t.Errorf("%+v: %v", limit, err)
		}
	}
}

// TestNamesMeanWhatTheCatalogueSays changes the search path of a role while
// sessions are open. Every session resolves names in the schemas that the guard
// in force assumes.
func TestNamesMeanWhatTheCatalogueSays(t *testing.T) {
	t.Parallel()
	server := testdb.Postgres(t)
	role := server.NewRole(t)
	url := server.NewDatabase(t, `
		CREATE SCHEMA a; CREATE TABLE a.t AS SELECT 'a' AS v; CREATE SCHEMA "B b"; CREATE TABLE "B b".t AS SELECT 'b' AS v;
		GRANT USAGE ON SCHEMA a, "B b" TO `+role+`; GRANT SELECT ON a.t, "B b".t TO `+role+`;
		ALTER ROLE `+role+` SET search_path = "$user", a`)
	c := open(t, server.URL(query[string](t, url, "SELECT current_database()"), role), pgdb.Config{MaxConnections: 2})
	load := func() []string {
		t.Helper()
		catalog, err := c.Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return catalog.SearchPath
	}
	want := func(when, v string) {
		t.Helper()
		if got := c.One(t, "SELECT v FROM t"); got != v {
			t.Errorf("%s: t is that of %s, want %s", when, got, v)
		}
	}
	want("without a catalogue", "a")
	if diff := gocmp.Diff([]string{"a"}, load()); diff != "" {
		t.Errorf("search path (-want +got):\n%s", diff)
	}
	c.SetGuard(executiontest.Guard(t, "postgres", 0).ID())
	want("at first", "a")
	server.Exec(t, url, "ALTER ROLE "+role+` SET search_path = "B b", a`,
		"CREATE SCHEMA AUTHORIZATION "+role, "CREATE TABLE "+role+".t AS SELECT 'own' AS v", "ALTER TABLE "+role+".t OWNER TO "+role)
	want("in a session that is open", "a")
	server.Exec(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '"+role+"'")
	executiontest.Eventually(t, "a new session", func() bool {
		_, err := c.Try(t.Context(), t, "SELECT 1", execution.Limits{})
		return err == nil
	})
	want("in a new session", "a")
	if diff := gocmp.Diff([]string{"B b", "a"}, load()); diff != "" {
		t.Errorf("search path (-want +got):\n%s", diff)
	}
	want("before the guard knows", "a")
	c.SetGuard(executiontest.Guard(t, "postgres", 0).ID())
	want("when the guard knows", "b")
}

// TestCatalogIsOfOneMoment loads while two tables swap their names. The server
// may print the view's query with a table name from another time than the list
// of tables.
func TestCatalogIsOfOneMoment(t *testing.T) {
	t.Parallel()
	const swaps = 60
	server := testdb.Postgres(t)
	url := server.NewDatabase(t, "CREATE TABLE a (one int); CREATE TABLE b (two int); CREATE VIEW v AS SELECT one FROM a")
	done := make(chan error, 1)
	go func() {
		defer close(done)
		conn, err := pgx.Connect(context.WithoutCancel(t.Context()), url)
		if err != nil {
			done <- err
			return
		}
		defer conn.Close(context.Background()) //nolint:errcheck // its changes are committed
		for i := range swaps {
			sql := "ALTER TABLE a RENAME TO c; ALTER TABLE b RENAME TO a; ALTER TABLE c RENAME TO b; "
			if i%2 == 0 {
				sql += "CREATE TYPE e AS ENUM (); CREATE FUNCTION f(e) RETURNS e LANGUAGE sql AS 'SELECT $1'; CREATE VIEW w AS SELECT f(NULL::e)"
			} else {
				sql += "DROP TYPE e CASCADE"
			}
			if _, err := conn.Exec(context.Background(), sql); err != nil {
				done <- err
				return
			}
			time.Sleep(time.Duration(i%10) * 5 * time.Millisecond) // some loads fit into a pause, some do not
		}
	}()
	c := open(t, url, pgdb.Config{Objects: true})
	loaded, gaveUp := 0, 0
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false // then load once more
		default:
		}
		catalog, err := c.Catalog(t.Context())
		if err != nil {
			if !strings.Contains(err.Error(), "changed each of") {
				t.Fatal(err)
			}
			gaveUp++
			continue
		}
		loaded++
		relations := catalog.Objects.Relations // a, b, v and perhaps w
		if made := len(catalog.Objects.Types); len(relations) != 3+made || len(catalog.Objects.Functions) != made {
			t.Fatalf("%+v", catalog.Objects)
		}
		for _, r := range relations[:2] {
			v := relations[2]
			over := strings.Contains(unpretty(v.Definition), "FROM"+r.Name)
			if over != (r.Columns[0].Name == "one") {
				t.Fatalf("%s has the column %s, and the view is %s", r.Name, r.Columns[0].Name, v.Definition)
			}
		}
	}
	if loaded == 0 {
		t.Error("nothing was loaded")
	}
	t.Logf("%d loaded, %d given up", loaded, gaveUp)
}
