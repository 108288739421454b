package pgdb_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// objectWay is a schema and two statements. For sql, the server runs the trap
// and the guard refuses the statement. For twin, neither happens.
type objectWay struct {
	name, setup, sql, twin string
}

// objectWays are ways in which a statement runs a function that it does not
// visibly call.
var objectWays = []objectWay{
	{"overload", trap("upper", "int", "text"), "SELECT upper(1)", "SELECT pg_catalog.upper('a')"},
	{"overload in the server's schema", trap("pg_catalog.intruder", "int", "text"), "SELECT pg_catalog.intruder(1)", "SELECT abs(1)"},
	{"variadic", trap("length", "VARIADIC int[]", "int"), "SELECT length(1, 2, 3)", "SELECT pg_catalog.length('a')"},
	{"defaults", trap("length", "int, int DEFAULT 2", "int"), "SELECT length(1)", "SELECT char_length('a')"},
	{"default value", trap("def", "", "int") + "; CREATE FUNCTION okay(a int, b int DEFAULT def()) RETURNS int LANGUAGE sql STABLE AS 'SELECT $1'", "SELECT okay(1)", "SELECT 1"},
	{"column", trap("f", "people", "text"), "SELECT p.f FROM people p", "SELECT p.name FROM people p"},
	{"column that is there", trap("name", "people", "text"), "SELECT name(p) FROM people p", "SELECT p.name, (p).name FROM people p"},
	{"column of a sub-query", trap("f", "record", "text"), "SELECT s.f FROM (SELECT 1) s", "SELECT s.f FROM (SELECT 1 AS f) s"},
	{"attribute", trap("f", "text", "text"), "SELECT (p.name).f FROM people p", "SELECT (p.pr).a FROM people p"},
	{"row without a name", trap("abs", "pair", "int"), "SELECT abs(ROW(1, 'a'))", "SELECT abs(1)"},
	{"operator", trap("op", "mood, text", "boolean") + "; CREATE OPERATOR = (LEFTARG = mood, RIGHTARG = text, FUNCTION = op)", "SELECT m = 'ok'::text FROM people", "SELECT id = 1 FROM people"},
	{"operator of two literals", trap("op", "int, int", "boolean") + "; CREATE OPERATOR @#@ (LEFTARG = int, RIGHTARG = int, FUNCTION = op)", "SELECT '1' @#@ '2'", "SELECT '1' = '2'"},
	{"literal beside a value", trap("abs", "int, mood", "int"), "SELECT abs(1, 'ok')", "SELECT abs(1)"},
	{"literal beside an operand", trap("op", "int, mood", "boolean") + "; CREATE OPERATOR @#@ (LEFTARG = int, RIGHTARG = mood, FUNCTION = op)", "SELECT id @#@ 'ok' FROM people", "SELECT id FROM people"},
	{"literals of a type", trap("op", "mood, mood", "boolean") + "; CREATE OPERATOR @#@ (LEFTARG = mood, RIGHTARG = mood, FUNCTION = op)", "SELECT 'ok' @#@ 'sad'", "SELECT 'ok' = 'sad'"},
	{"null beside an operand", trap("op", "int, mood", "boolean") + "; CREATE OPERATOR @#@ (LEFTARG = int, RIGHTARG = mood, FUNCTION = op)", "SELECT id @#@ NULL FROM people", "SELECT id FROM people"},
	{"value of an unknown type", trap("abs", "int, mood", "int"), "SELECT abs(1, 'ok'::unknown)", "SELECT abs(1)"},
	{"row of typed values", trap("abs", "pair", "int"), "SELECT abs(ROW(1, 'a'::text))", "SELECT abs(1)"},
	{"name of a range", "CREATE TYPE days AS RANGE (subtype = int4); " + trap("days", "text, text", "text"), "SELECT days('a'::text, 'b'::text)", "SELECT days(1, 2, '[]') && '[1,3)'::days"},
	{"parameter of a domain", trap("abs", "email", "int"), "SELECT abs(name) FROM people", "SELECT pg_catalog.abs(id) FROM people"},
	{"row of a child", "CREATE TABLE child () INHERITS (people); INSERT INTO child VALUES (1); " + trap("abs", "people", "int"), "SELECT abs(c) FROM child c", "SELECT abs(c.id) FROM child c"},
	{"row of a sub-query", trap("abs", "pair", "int"), "SELECT abs(s) FROM (SELECT 1, 'a'::text) s", "SELECT abs(id), abs(people.id), abs(n) FROM people WHERE abs(id) > 0"},
	{"prefix operator", trap("op", "text", "boolean") + "; CREATE OPERATOR @ (RIGHTARG = text, FUNCTION = op)", "SELECT @ 'a'::text", "SELECT OPERATOR(pg_catalog.@) 1"},
	{
		"negator", "CREATE FUNCTION same(mood, mood) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT 1; SELECT $1::text IS NOT NULL'; " + trap("other", "mood, mood", "boolean") +
			"; CREATE OPERATOR === (LEFTARG = mood, RIGHTARG = mood, FUNCTION = same, NEGATOR = !==); CREATE OPERATOR !== (LEFTARG = mood, RIGHTARG = mood, FUNCTION = other, NEGATOR = ===)",
		"SELECT 1 FROM people WHERE NOT (m === 'ok')", "SELECT 1 FROM people WHERE NOT (id = 1)",
	},
	{"IN", equalMoods, "SELECT m IN ('ok', 'sad') FROM people", "SELECT id IN (1, 2) FROM people"},
	{"IN of a sub-query", equalMoods, "SELECT m IN (SELECT m FROM people) FROM people", "SELECT id IN (SELECT id FROM people) FROM people"},
	{"ANY", equalMoods, "SELECT m = ANY ('{ok}') FROM people", "SELECT id = ANY ('{1}') FROM people"},
	{"rows", equalMoods, "SELECT (id, m) IS DISTINCT FROM (1, 'ok') FROM people", "SELECT (id, name) IS DISTINCT FROM (1, 'a') FROM people"},
	{"CASE", equalMoods, "SELECT CASE m WHEN 'ok' THEN 1 END FROM people", "SELECT CASE id WHEN 1 THEN 1 END FROM people"},
	{"NULLIF", equalMoods, "SELECT NULLIF(m, 'ok') FROM people", "SELECT NULLIF(id, 1) FROM people"},
	{"IS DISTINCT FROM", equalMoods, "SELECT m IS DISTINCT FROM 'ok' FROM people", "SELECT id IS DISTINCT FROM 1 FROM people"},
	{"USING", equalMoods, "SELECT 1 FROM people a JOIN people b USING (m)", "SELECT 1 FROM people a JOIN people b USING (id)"},
	{"NATURAL", equalMoods, "SELECT 1 FROM (SELECT m FROM people) a NATURAL JOIN (SELECT m FROM people) b", "SELECT 1 FROM (SELECT id FROM people) a NATURAL JOIN (SELECT id FROM people) b"},
	{"BETWEEN", trap("less", "mood, mood", "boolean") + "; CREATE OPERATOR <= (LEFTARG = mood, RIGHTARG = mood, FUNCTION = less)", "SELECT 'ok'::mood BETWEEN 'sad' AND m FROM people", "SELECT id BETWEEN 1 AND 2 FROM people"},
	{"NOT BETWEEN", trap("less", "mood, mood", "boolean") + "; CREATE OPERATOR < (LEFTARG = mood, RIGHTARG = mood, FUNCTION = less)", "SELECT m NOT BETWEEN SYMMETRIC 'sad' AND 'ok' FROM people", "SELECT id NOT BETWEEN 1 AND 2 FROM people"},
	{"LIKE", trap("like_it", "mood, text", "boolean") + "; CREATE OPERATOR ~~ (LEFTARG = mood, RIGHTARG = text, FUNCTION = like_it)", "SELECT m LIKE 'a%' FROM people", "SELECT name LIKE 'a%' FROM people"},
	{"explicit cast", trap("to_int", "mood", "int") + "; CREATE CAST (mood AS int) WITH FUNCTION to_int(mood)", "SELECT m::int FROM people", "SELECT m::text, name::text FROM people"},
	{"implicit cast", trap("to_int", "mood", "int") + "; CREATE CAST (mood AS int) WITH FUNCTION to_int(mood) AS IMPLICIT", "SELECT abs(m) FROM people", "SELECT abs(id) FROM people"},
	{
		"cast of a result", trap("to_int", "mood", "int") + "; CREATE CAST (mood AS int) WITH FUNCTION to_int(mood) AS ASSIGNMENT; CREATE FUNCTION okay(mood) RETURNS int LANGUAGE sql STABLE AS 'SELECT $1'",
		"SELECT okay(m) FROM people", "SELECT id FROM people",
	},
	{"cast to json", trap("to_js", "mood", "json") + "; CREATE CAST (mood AS json) WITH FUNCTION to_js(mood)", "SELECT jsonb_build_array(m) FROM people", "SELECT jsonb_build_array(id) FROM people"},
	{"cast to json of a row", trap("to_js", "mood", "json") + "; CREATE CAST (mood AS json) WITH FUNCTION to_js(mood)", "SELECT row_to_json(p) FROM people p", "SELECT row_to_json(s) FROM people, (SELECT 1) s"},
	{"domain", "", "SELECT 'x'::email", "SELECT 'x'::text"},
	{"name of a domain as a call", "", "SELECT email('x')", "SELECT text('x')"},
	{"value of a type named as a call", trap("upper", "mood", "text"), "SELECT upper(mood('ok'))", "SELECT upper(text('ok'))"},
	{"array of a domain", "", "SELECT '{x}'::email[]", "SELECT '{x}'::text[]"},
	{"domain in a type", "CREATE TYPE mailed AS (e email)", "SELECT '(x)'::mailed", "SELECT '(1,x)'::pair"},
	{"domain in a row", "", "SELECT '(1,x)'::odd", "SELECT '(1,a,ok,3,u,)'::people"},
	{"literal beside an array of a domain", "", "SELECT es = '{x}' FROM odd", "SELECT e = 'x' FROM odd"},
	{"domain becomes an array", "", "SELECT ARRAY[e] @> '{x}' FROM odd", "SELECT id, e = ANY ('{x}') FROM odd"},
	{"array of a domain in a set operation", "", "SELECT es FROM odd UNION ALL SELECT '{x}'", "SELECT * FROM odd ORDER BY es"},
	{"array of a domain beside another array", "", "SELECT CASE WHEN id = 1 THEN ARRAY[e::text] ELSE es END FROM odd", "SELECT o.*, es, es[1], cardinality(es), array_length(o.es, 1), p.n FROM odd o JOIN people p USING (id)"},
	{"array of a domain through a sub-query", "", "SELECT s.f = '{x}' FROM (SELECT es FROM odd) s (f)", "SELECT count(es), o FROM people NATURAL JOIN odd o GROUP BY o, o.es"},
	{"array of a domain through a list of names", "", "SELECT c, c = '{x}' FROM odd AS o (a, b, c)", "SELECT es FROM odd WHERE id = 1 AND e = 'x'"},
	{"array of a domain in a value", "", "SELECT (SELECT es FROM odd LIMIT 1) = '{x}'", "WITH p AS (SELECT name FROM people) SELECT es, name FROM odd, p"},
	{"array of a domain in a common table expression", "", "WITH w (f) AS (SELECT es FROM odd) SELECT f = '{x}' FROM w", "SELECT es FROM odd LIMIT 1"},
	{"result of a body that is an array", "CREATE FUNCTION okay(OUT es email[]) LANGUAGE sql STABLE AS $$ SELECT ARRAY['x'] $$; CREATE FUNCTION calm() RETURNS SETOF text[] LANGUAGE sql STABLE AS 'SELECT es FROM odd'", "SELECT okay()", "SELECT calm()"},
	{"aggregated domain", "", "SELECT array_agg(e) @> '{x}' FROM odd", "SELECT count(e) FROM odd"},
	{"row of JSON", "", "SELECT json_populate_record(o, '{\"e\": \"x\"}') FROM odd o", "SELECT id FROM odd"},
	{"columns of JSON", "", "SELECT * FROM json_to_record('{\"e\": \"x\"}') AS r (e email)", "SELECT * FROM json_to_record('{\"e\": \"x\"}') AS r (e text)"},
	{"argument of a domain", "CREATE FUNCTION okay(email) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1'", "SELECT okay('x')", "SELECT 1"},
	{"result of a domain", "CREATE FUNCTION okay(text) RETURNS email LANGUAGE sql STABLE AS 'SELECT $1'", "SELECT okay('x')", "SELECT 1"},
	{"body", trap("deep", "int", "int") + "; CREATE FUNCTION okay(int) RETURNS int LANGUAGE sql STABLE AS 'SELECT deep($1)'", "SELECT okay(1)", "SELECT 1"},
	{"aggregate", trap("step", "int, int", "int") + "; CREATE AGGREGATE okay(int) (SFUNC = step, STYPE = int)", "SELECT okay(id) FROM people", "SELECT sum(id) FROM people"},
	{
		"body for any type", equalMoods + "; CREATE FUNCTION okay(anyelement, anyelement) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT $1 = $2'",
		"SELECT okay(m, m) FROM people", "SELECT id = id FROM people",
	},
	{
		"domain in a body for any type", "CREATE FUNCTION abs(anyelement) RETURNS boolean LANGUAGE sql STABLE AS $$ SELECT ARRAY[$1] @> '{x}' $$",
		"SELECT abs(e) FROM odd", "SELECT e FROM odd",
	},
	{
		"condition", trap("truth", "mood", "boolean") + "; CREATE CAST (mood AS boolean) WITH FUNCTION truth(mood) AS ASSIGNMENT",
		"SELECT 1 FROM people WHERE m", "SELECT 1 FROM people WHERE id = 1",
	},
	{
		"limit", trap("many", "mood", "bigint") + "; CREATE CAST (mood AS bigint) WITH FUNCTION many(mood) AS ASSIGNMENT",
		"SELECT 1 LIMIT (SELECT m FROM people)", "SELECT 1 LIMIT (SELECT id FROM people)",
	},
	{"cast to an array", trap("to_list", "mood", "int[]") + "; CREATE CAST (mood AS int[]) WITH FUNCTION to_list(mood)", "SELECT m::int[] FROM people", "SELECT m::text FROM people"},
	{"cast to an array of pairs", trap("to_list", "mood", "pair[]") + "; CREATE CAST (mood AS pair[]) WITH FUNCTION to_list(mood)", "SELECT m::pair[] FROM people", "SELECT m::text FROM people"},
	{"cast from an array", trap("to_int", "mood[]", "int") + "; CREATE CAST (mood[] AS int) WITH FUNCTION to_int(mood[])", "SELECT ARRAY[m]::int FROM people", "SELECT ARRAY[m]::text FROM people"},
	{"cast of elements", trap("truth", "mood", "boolean") + "; CREATE CAST (mood AS boolean) WITH FUNCTION truth(mood)", "SELECT ARRAY[m]::_bool FROM people", "SELECT ARRAY[m]::_text FROM people"},
	{
		"cast to a domain of the server", trap("to_int", "mood", "int") + "; CREATE CAST (mood AS int) WITH FUNCTION to_int(mood)",
		"SELECT m::information_schema.cardinal_number FROM people", "SELECT m::text FROM people",
	},
	{
		"state of an aggregate", `CREATE FUNCTION same(anyelement) RETURNS anyelement LANGUAGE sql STABLE AS 'SELECT $1'; CREATE FUNCTION one(anyelement) RETURNS int LANGUAGE sql STABLE AS 'SELECT 1';
			CREATE AGGREGATE okay(*) (SFUNC = same, STYPE = email, FINALFUNC = one, INITCOND = 'x')`,
		"SELECT okay(*) FROM people", "SELECT count(*) FROM people",
	},
	{
		"function in FROM that hides a table", trap("n", "text", "text"),
		"SELECT (SELECT lower.n FROM ROWS FROM (lower('x'))) FROM people AS lower", "SELECT (SELECT lower.n FROM ROWS FROM (upper('x'))) FROM people AS lower",
	},
	{
		"XMLTABLE that hides a table", trap("n", "anyelement", "text"),
		"SELECT (SELECT xmltable.n FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS b int)) FROM people AS xmltable",
		"SELECT (SELECT xmltable.b FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS b int)) FROM people AS xmltable",
	},
	{"name of an array as an attribute", "", "SELECT (COALESCE('{x}'::text))._email", "SELECT (pr).a FROM people"},
	{"name of an array as a column", "", "SELECT coalesce._email FROM COALESCE('{x}'::text)", "SELECT coalesce FROM COALESCE('{x}'::text)"},
	{"name of an array of rows", "", `SELECT (COALESCE('{"(1,x,)"}'::text))._odd`, "SELECT (pr).b FROM people"},
	{
		"operator class of a range", trap("compare", "text, text", "int") + `; CREATE OPERATOR CLASS odd_ops FOR TYPE text USING btree AS
			OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 compare(text, text); CREATE TYPE names AS RANGE (subtype = text, subtype_opclass = odd_ops)`,
		"SELECT '[a,b]'::names", "SELECT '[1,2]'::int4range",
	},
	{"view", trap("deep", "int", "int") + "; CREATE VIEW v AS SELECT deep(id) FROM people; CREATE VIEW w AS SELECT * FROM v; CREATE VIEW u AS SELECT id FROM people", "SELECT * FROM w", "SELECT * FROM u"},
}

const equalMoods = `CREATE FUNCTION equal_moods(mood, mood) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN IF current_setting('ktx.armed', true) = 'on' THEN RAISE EXCEPTION '` + differentialMark + ` equal_moods'; END IF; RETURN NULL; END $$;
CREATE OPERATOR = (LEFTARG = mood, RIGHTARG = mood, FUNCTION = equal_moods)`

const waysTables = `
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN email AS text CHECK (email_ok(VALUE) IS NOT FALSE);
CREATE TABLE people (id int, name text, m mood, n int, t text, pr pair);
CREATE TABLE odd (id int, e email, es email[]);
INSERT INTO people VALUES (1, 'ann', 'ok', 1, 't', '(1,a)');
INSERT INTO odd VALUES (1, 'a@b', '{c@d}')`

func TestWaysToRunAFunction(t *testing.T) { runWays(t, objectWays) }

// armed connects as a role, so that the server's session has cached nothing of
// the database, and arms the traps.
func armed(t *testing.T, url, role string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	sql := "SET ktx.armed = 'on'; SET ROLE " + role + "; SET default_transaction_read_only = on; SET work_mem = '64kB'; SET statement_timeout = '20s'"
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
	return conn
}

// runWays gives each way to the server and to the guard in the same database.
// The server runs it as a role that may read everything and owns nothing.
func runWays(t *testing.T, ways []objectWay) {
	t.Helper()
	server := testdb.Postgres(t)
	role, viewOwner := server.NewRole(t), server.NewRole(t)
	url := server.NewDatabase(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, sql ...string) {
		t.Helper()
		for _, text := range sql {
			if _, err := conn.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	defer func() {
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	client := open(t, url, pgdb.Config{Objects: true})
	for _, way := range ways {
		t.Run(strings.ReplaceAll(way.name, " ", "_"), func(t *testing.T) {
			run(t, "DROP FUNCTION IF EXISTS pg_catalog.intruder(int); DROP SCHEMA public CASCADE; CREATE SCHEMA public",
				trap("email_ok", "text", "boolean"), waysTables, strings.ReplaceAll(way.setup, "owner_of_view", viewOwner),
				"GRANT USAGE ON SCHEMA public TO "+role+"; GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+role)
			asks := armed(t, url, role)
			catalog, err := client.Catalog(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			policy := sqlguard.DefaultPolicy()
			policy.Functions.Allow = []string{"public.*", "pg_catalog.*"}
			guard, err := sqlguard.New(postgres.Dialect{}, policy, catalog)
			if err != nil {
				t.Fatal(err)
			}
			if ran, _ := mark(t.Context(), asks, way.sql); ran == "" {
				t.Errorf("the server runs no trap for %s", way.sql)
			}
			if v := guard.Check(way.sql); v.Allowed {
				t.Errorf("allowed: %s", way.sql)
			} else if testing.Verbose() {
				t.Log(v.Findings[0].Message)
			}
			if ran, answered := mark(t.Context(), asks, way.twin); ran != "" || !answered {
				t.Errorf("the server ran %q, answered %t for the twin %s", ran, answered, way.twin)
			}
			if v := guard.Check(way.twin); !v.Allowed {
				t.Errorf("refused: %s\n\t%v", way.twin, v.Findings)
			}
		})
	}
}
