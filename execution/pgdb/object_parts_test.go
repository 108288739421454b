package pgdb_test

import (
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// trapOf is trap with a result expression.
func trapOf(name, arguments, returns, result string) string {
	return fmt.Sprintf(`CREATE FUNCTION %s(%s) RETURNS %s LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN IF current_setting('ktx.armed', true) = 'on' THEN RAISE EXCEPTION '%s %s'; END IF; RETURN %s; END $$`, name, arguments, returns, differentialMark, name, result)
}

// comparisons are operators in SQL on mood.
const comparisons = `CREATE FUNCTION compares(mood, mood) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1::text < $2::text';
CREATE OPERATOR <# (LEFTARG = mood, RIGHTARG = mood, FUNCTION = compares); CREATE OPERATOR <=# (LEFTARG = mood, RIGHTARG = mood, FUNCTION = compares);
CREATE OPERATOR =# (LEFTARG = mood, RIGHTARG = mood, FUNCTION = compares); CREATE OPERATOR >=# (LEFTARG = mood, RIGHTARG = mood, FUNCTION = compares);
CREATE OPERATOR ># (LEFTARG = mood, RIGHTARG = mood, FUNCTION = compares);`

const ownOperators = "OPERATOR 1 <#, OPERATOR 2 <=#, OPERATOR 3 =#, OPERATOR 4 >=#, OPERATOR 5 >#"

// readWays are ways in which reading a table runs a function that the statement
// does not mention.
var readWays = []objectWay{
	{"index", trapOf("f", "int", "int", "1") + "; CREATE INDEX ON people ((id + f(1)))", "SELECT name FROM people", "SELECT e FROM odd"},
	{"index on a column", trapOf("f", "int", "int", "1") + "; CREATE INDEX ON people ((id + f(1))); CREATE INDEX ON odd (f(id))", "SELECT id FROM people", "SELECT id FROM odd WHERE id = 1"},
	{"index on a constant among columns", trapOf("f", "text", "text", "$1") + "; CREATE INDEX ON people (f(coalesce('a', name))); CREATE INDEX ON odd (f(lower(e::text)))", "SELECT id FROM people", "SELECT id, e FROM odd WHERE e = 'x'"},
	{"index on a null of a column", trapOf("f", "text", "text", "$1") + "; CREATE INDEX ON people (f(name || NULL)); CREATE INDEX ON odd (f(e || 'x'))", "SELECT id FROM people", "SELECT id, e FROM odd"},
	{"body in an index", trapOf("f", "int", "int", "1") + `; CREATE FUNCTION deep(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + public.f(1)'; CREATE INDEX ON people (deep(id));
		CREATE FUNCTION calm(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1'; CREATE INDEX ON odd (calm(id))`, "SELECT n FROM people", "SELECT id FROM odd"},
	{"constant of a body in an index", trapOf("f", "int", "int", "1") + "; CREATE FUNCTION one(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'; CREATE INDEX ON people (f(one(id)))", "SELECT n FROM people", "SELECT id FROM odd"},
	{"operator in an index", trapOf("f", "int, int", "int", "1") + "; CREATE OPERATOR +# (LEFTARG = int, RIGHTARG = int, FUNCTION = f); CREATE INDEX ON people ((id + (1 +# 2))); CREATE INDEX ON odd ((id +# 1))", "SELECT n FROM people", "SELECT id FROM odd"},
	{"predicate", trapOf("f", "int", "boolean", "true") + "; CREATE INDEX ON people (id) WHERE f(1); CREATE INDEX ON odd (id) WHERE f(id)", "SELECT name FROM people", "SELECT id FROM odd"},
	{
		"predicate on one side of OR", trapOf("f", "int", "boolean", "true") + `; CREATE TABLE many (a int, b int, c text) WITH (fillfactor = 10); ALTER TABLE many ALTER c SET STORAGE plain;
		INSERT INTO many SELECT CASE WHEN g % 500 = 0 THEN 6 ELSE 1 END, g % 2, repeat('x', 200) FROM generate_series(1, 20000) g; CREATE INDEX ON many (b) WHERE a > 5 OR f(a); ANALYZE many`,
		"SELECT count(a) FROM many WHERE a > 5 AND b = 0", "SELECT id FROM odd",
	},
	{"check", trapOf("f", "int", "int", "1") + "; CREATE TABLE kid (CHECK (n <> f(2))) INHERITS (people); CREATE TABLE calm (id int, CHECK (id > 0 AND f(id) IS NOT NULL))", "SELECT n FROM people WHERE n = 1", "SELECT id FROM calm"},
	{"operator in a check", trapOf("f", "int, int", "boolean", "true") + "; CREATE OPERATOR ># (LEFTARG = int, RIGHTARG = int, FUNCTION = f); CREATE TABLE kid (CHECK (2 ># 1)) INHERITS (people)", "SELECT n FROM people WHERE n = 1", "SELECT id FROM odd"},
	{"partition's index", trapOf("f", "int", "int", "1") + "; CREATE TABLE parts (a int) PARTITION BY RANGE (a); CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (9); CREATE INDEX ON part ((a + f(1)))", "SELECT a FROM parts", "SELECT id FROM odd"},
	{"range in a predicate", trapOf("f", "int, int", "float8", "1") + "; CREATE TYPE span AS RANGE (subtype = int, subtype_diff = f); " + trapOf("g", "span", "span", "$1") + "; CREATE INDEX ON people (id) WHERE g('[1,2]'::span) = g('[1,2]')", "SELECT id FROM people", "SELECT id FROM odd"},
	{"policy", trapOf("f", "int", "boolean", "true") + `; CREATE POLICY p ON people USING (f(id)); ALTER TABLE people ENABLE ROW LEVEL SECURITY;
		CREATE POLICY p ON odd USING (id > 0 AND current_setting('app.tenant', true) IS NULL AND current_user <> 'x'); ALTER TABLE odd ENABLE ROW LEVEL SECURITY`, "SELECT name FROM people", "SELECT id FROM odd"},
	{"policy that is not on", trapOf("f", "int", "boolean", "true") + `; CREATE POLICY p ON people USING (f(id)); ALTER TABLE people ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON odd USING (f(id));
		CREATE TABLE calm (id int); CREATE POLICY p ON calm FOR DELETE USING (f(id)); CREATE POLICY q ON calm USING (true); ALTER TABLE calm ENABLE ROW LEVEL SECURITY`, "SELECT id FROM people", "SELECT o.id FROM odd o, calm"},
	{"policy that reads", trapOf("f", "int", "boolean", "true") + `; CREATE TABLE members (id int); INSERT INTO members VALUES (1); CREATE VIEW trapped AS SELECT id FROM members WHERE f(id); CREATE VIEW calm AS SELECT id FROM members;
		CREATE POLICY p ON people USING (id IN (SELECT id FROM trapped)); ALTER TABLE people ENABLE ROW LEVEL SECURITY;
		CREATE POLICY p ON odd USING (EXISTS (SELECT 1 FROM calm c WHERE c.id = odd.id)); ALTER TABLE odd ENABLE ROW LEVEL SECURITY`, "SELECT name FROM people", "SELECT id FROM odd"},
	{"policy with a body", trapOf("f", "int", "boolean", "true") + `; CREATE FUNCTION okay(int) RETURNS boolean LANGUAGE sql AS 'SELECT f($1)'; CREATE FUNCTION tenant() RETURNS text LANGUAGE sql SECURITY DEFINER AS $$ SELECT current_setting('app.tenant', true) $$;
		CREATE POLICY p ON people USING (okay(id)); ALTER TABLE people ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON odd USING (tenant() IS NULL); ALTER TABLE odd ENABLE ROW LEVEL SECURITY`, "SELECT name FROM people", "SELECT id FROM odd"},
	{"view over a policy", trapOf("f", "int", "boolean", "true") + "; CREATE POLICY p ON people USING (f(id)); ALTER TABLE people ENABLE ROW LEVEL SECURITY; ALTER TABLE people FORCE ROW LEVEL SECURITY; GRANT SELECT ON people TO owner_of_view; CREATE VIEW v AS SELECT name FROM people; ALTER VIEW v OWNER TO owner_of_view", "SELECT name FROM v", "SELECT id FROM odd"},
	{"index of a materialized view", trapOf("f", "int", "int", "1") + "; CREATE MATERIALIZED VIEW stored AS SELECT id FROM people; CREATE INDEX ON stored ((id + f(1)))", "SELECT id FROM stored", "SELECT id FROM odd"},
	{"table in a body", trapOf("f", "int", "int", "1") + "; CREATE INDEX ON people ((id + f(1))); CREATE FUNCTION okay() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM people'", "SELECT okay()", "SELECT id FROM odd"},
	{"order of an enum", trap("cmp", "mood, mood", "int") + ";" + comparisons + "CREATE OPERATOR CLASS own DEFAULT FOR TYPE mood USING btree AS " + ownOperators + ", FUNCTION 1 cmp(mood, mood); INSERT INTO people VALUES (2, 'bob', 'sad')", "SELECT m FROM people ORDER BY m", "SELECT id FROM people ORDER BY id"},
	{"distinct enums", trap("cmp", "mood, mood", "int") + ";" + comparisons + "CREATE OPERATOR CLASS own DEFAULT FOR TYPE mood USING btree AS " + ownOperators + ", FUNCTION 1 cmp(mood, mood); INSERT INTO people VALUES (2, 'bob', 'sad')", "SELECT count(*) FROM (SELECT DISTINCT p.m FROM people p) s", "SELECT DISTINCT name FROM people"},
	{"greatest of an array", trap("cmp", "mood, mood", "int") + ";" + comparisons + "CREATE OPERATOR CLASS own DEFAULT FOR TYPE mood USING btree AS " + ownOperators + ", FUNCTION 1 cmp(mood, mood)", "SELECT greatest(ARRAY[m], '{ok}') FROM people", "SELECT greatest(ARRAY[id], '{1}') FROM people"},
	{
		"hash of partitions", trapOf("h", "int, bigint", "bigint", "1") + `; CREATE OPERATOR CLASS hashed FOR TYPE int USING hash AS OPERATOR 1 =, FUNCTION 2 h(int, bigint);
		CREATE TABLE parts (a int) PARTITION BY HASH (a hashed); CREATE TABLE part PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
		CREATE TABLE calm (a int) PARTITION BY RANGE (upper(h(a, 1)::text))`, "SELECT a FROM parts WHERE a = 1", "SELECT a FROM calm WHERE a = 1",
	},
	{
		"index of an operator class", trapOf("cmp", "int, int", "int", "btint4cmp($1, $2)") + `; CREATE OPERATOR CLASS odd_ops FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 cmp(int, int);
		CREATE TABLE big AS SELECT g AS a FROM generate_series(1, 20000) g; CREATE INDEX ON big (a odd_ops); ANALYZE big`, "SELECT a FROM big WHERE a = 1", "SELECT id FROM odd WHERE id = 1 ORDER BY id",
	},
}

// oddRange is a range type over text. Its own function compares the bounds, and
// fails once the trap is armed.
const oddRange = `CREATE FUNCTION cmp_texts(text, text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN IF current_setting('ktx.armed', true) = 'on' THEN RAISE EXCEPTION '` + differentialMark + ` cmp_texts'; END IF; RETURN bttextcmp($1, $2); END $$;
CREATE OPERATOR CLASS odd_ops FOR TYPE text USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 cmp_texts(text, text);
CREATE TYPE names AS RANGE (subtype = text, subtype_opclass = odd_ops); CREATE TYPE holder AS (n names);
CREATE TABLE stays (id int, r names, h holder); INSERT INTO stays SELECT g, names('a', 'c' || g % 2), ROW(names('a', 'c' || g % 2))::holder FROM generate_series(1, 9) g; `

// rangeWays are ways to compare values of a range when the statement only
// selects the column.
var rangeWays = []objectWay{
	{"sorted ranges", oddRange, "SELECT r FROM stays ORDER BY r", "SELECT id FROM stays ORDER BY id"},
	{"distinct ranges", oddRange, "SELECT DISTINCT r FROM stays", "SELECT DISTINCT id FROM stays"},
	{"grouped rows of ranges", oddRange, "SELECT h FROM stays GROUP BY h", "SELECT id FROM stays GROUP BY id"},
	{"rows sorted by rows of ranges", oddRange, "SELECT * FROM stays ORDER BY h", "SELECT * FROM people ORDER BY id"},
	{"partitions by a range", oddRange + `CREATE TABLE parts (id int, r names) PARTITION BY RANGE (r); CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM ('[a,b]') TO ('[b,c]');
		CREATE TABLE part_2 PARTITION OF parts FOR VALUES FROM ('[b,c]') TO ('[c,d]'); CREATE TABLE calm (id int, r names) PARTITION BY RANGE (id)`, "SELECT id FROM parts", "SELECT id FROM calm"},
}

// Statistics on expressions and multiranges came with PostgreSQL 14.
var newerWays = []objectWay{
	{
		"multirange of a range", "CREATE TYPE days AS RANGE (subtype = int4); CREATE TABLE stays (d days); INSERT INTO stays VALUES ('[1,2]'); " + trap("lower", "days_multirange", "int"),
		"SELECT lower(range_agg(d)) FROM stays", "SELECT pg_catalog.lower(range_agg(d)) FROM stays",
	},
	{"statistics", trapOf("f", "int", "int", "1") + "; CREATE STATISTICS s ON (id + f(1)), name FROM people; CREATE STATISTICS r ON (f(id)) FROM odd", "SELECT name FROM people", "SELECT id FROM odd"},
}

func TestWaysInWhichAReadRunsAFunction(t *testing.T) {
	runWays(t, slices.Concat(readWays, rangeWays))
	if testdb.Postgres(t).Version() >= 14 {
		runWays(t, newerWays)
	}
}

// The catalogue lists the parts of relations that could run a user-defined
// function.
func TestCatalogHasPartsOfRelations(t *testing.T) {
	t.Parallel()
	server := testdb.Postgres(t)
	url := server.NewDatabase(t, everyKind, `
		CREATE INDEX quiet ON shop.orders (lower(tags[1])) WHERE id > 0;
		CREATE INDEX held ON shop.orders (shop.less(total, total));
		CREATE INDEX fixed ON shop.orders ((id + shop.twice(1)));
		CREATE INDEX fresh ON shop.orders (id) WHERE "Status" = 'new';
		CREATE INDEX listed ON shop.orders (id) WHERE "Status" IN ('new', 'paid');
		ALTER TABLE shop.orders ADD CONSTRAINT positive CHECK (id > shop.twice(0) OR "Status" = 'paid');
		CREATE POLICY own ON shop.orders USING (id = current_setting('app.id')::int);
		CREATE POLICY writes ON shop.orders FOR INSERT WITH CHECK (true);
		CREATE POLICY off ON shop.empty USING (true);
		ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY;
		CREATE OPERATOR CLASS shop.own_ops DEFAULT FOR TYPE shop.money USING btree AS FUNCTION 1 shop.compare(shop.money, shop.money);
		CREATE INDEX totals ON shop.orders (total)`)
	c, err := open(t, url, pgdb.Config{Objects: true}).Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	routine := func(n string, arguments ...sqlguard.CatalogName) sqlguard.CatalogRoutine {
		return sqlguard.CatalogRoutine{CatalogName: ours(n), Arguments: arguments}
	}
	money, status := ours("money"), []sqlguard.CatalogName{ours("_status"), ours("status")}
	twice, compare := routine("twice", system("int4")), routine("compare", money, money)
	positive := sqlguard.CatalogPart{Name: "the constraint positive", Runs: []sqlguard.CatalogRoutine{twice}}
	want := map[string][]sqlguard.CatalogPart{
		"orders": {
			positive,
			{Name: "the index fixed", Runs: []sqlguard.CatalogRoutine{twice}},
			{Name: "the index held", Runs: []sqlguard.CatalogRoutine{routine("less", money, money)}},
			{Name: "the index listed", Makes: status},
			{Name: "the operator class own_ops", Runs: []sqlguard.CatalogRoutine{compare}},
			{Name: "the row security policy own", Own: true, Expression: "(id = (current_setting('app.id'::text))::integer)"},
		},
		"big_orders": {positive},
	}
	got := map[string][]sqlguard.CatalogPart{}
	for _, r := range c.Objects.Relations {
		if len(r.Parts) > 0 {
			got[r.Name] = r.Parts
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff([]sqlguard.CatalogOrder{{Type: money, Runs: []sqlguard.CatalogRoutine{compare}}}, c.Objects.Orders); diff != "" {
		t.Errorf("orders (-want +got):\n%s", diff)
	}
}
