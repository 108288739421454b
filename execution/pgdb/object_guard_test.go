package pgdb_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// A guard that judges with the objects of a database takes into account what
// the server would run for each statement. These tests ask the server itself.
// Random schemas are full of functions that fail with a mark when they run,
// behind overloads, operators, casts, domains, views and columns that look like
// calls. A statement that the guard accepts must run without the mark.

const differentialMark = "KTX RAN THIS"

// trap creates a function that nothing proves safe.
func trap(name, arguments, returns string) string {
	return fmt.Sprintf(`CREATE FUNCTION %s(%s) RETURNS %s LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN IF current_setting('ktx.armed', true) = 'on' THEN RAISE EXCEPTION '%s %s'; END IF; RETURN NULL; END $$`, name, arguments, returns, differentialMark, name)
}

const differentialTypes = `
CREATE SCHEMA aside;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (a int, b text);
CREATE TYPE days AS RANGE (subtype = int4);
CREATE DOMAIN short AS text CHECK (length(VALUE) < 50);
CREATE DOMAIN amount AS int CHECK (VALUE < 1000000);`

const differentialTables = `
CREATE TABLE people (id int, name text, m mood, pg_sleep int, upper text);
CREATE TABLE orders (id int, person int, total numeric, at timestamptz, tags text[], p pair);
CREATE TABLE odd (id int, e email, es email[], s short, n amount, j jsonb, d days, r people);
INSERT INTO people VALUES (1, 'ann', 'ok', 3, 'U'), (2, 'bob', 'sad', 4, 'V');
INSERT INTO orders VALUES (1, 1, 10.5, '2024-01-01', '{a,b}', '(1,x)'), (2, 2, 3, '2024-02-01', '{}', '(2,y)');
INSERT INTO odd VALUES (1, 'a@b', '{c@d}', 'short', 5, '{"a":1}', '[1,5]', '(1,ann,ok,3,U)');`

// choose returns a random one of its arguments.
func choose[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

var (
	differentialArgumentTypes = []string{"int", "text", "numeric", "bigint", "mood", "pair", "people", "anyelement", "amount", "short", "text[]", "days", "json", "varchar", "record", "anyarray", "double precision"}
	differentialNames         = []string{"upper", "length", "abs", "round", "lower", "md5", "concat", "name", "total", "lead", "extra", "sum", "count", "id", "text", "pg_sleep", "now", "like", "int4", "date", "numeric", "int4eq", "array_agg", "tags", "similarity", "m"}
	differentialOperators     = []string{"=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "||", "~~", "~", "@>", "&&", "@#@", "->", "#"}
)

// differentialSchema returns the statements that create a database with traps.
// Those in may are skipped when the server's rules refuse them.
func differentialSchema(r *rand.Rand) (must, may []string) {
	must = []string{differentialTypes, trap("email_ok", "text", "boolean"), "CREATE DOMAIN email AS text CHECK (email_ok(VALUE) IS NOT FALSE)", differentialTables}
	schema := func() string { return choose(r, "", "", "", "aside.") }
	argument := func() string { return choose(r, differentialArgumentTypes...) }
	for range 14 {
		arguments := make([]string, r.IntN(3))
		for i := range arguments {
			arguments[i] = argument()
		}
		if len(arguments) > 0 && r.IntN(6) == 0 {
			arguments[len(arguments)-1] += " DEFAULT NULL"
		} else if r.IntN(8) == 0 {
			arguments = append(arguments, "VARIADIC text[]")
		}
		may = append(may, trap(schema()+choose(r, differentialNames...), strings.Join(arguments, ", "), choose(r, "text", "int", "boolean", "people", "mood", "email")))
	}
	for i := range 8 {
		left, right := argument(), argument()
		if r.IntN(2) == 0 {
			right = left
		}
		name := fmt.Sprintf("%sop_%d", schema(), i)
		operands := fmt.Sprintf("LEFTARG = %s, RIGHTARG = %s", left, right)
		function := trap(name, left+", "+right, "boolean")
		if r.IntN(5) == 0 {
			operands, function = "RIGHTARG = "+right, trap(name, right, "boolean")
		} else if r.IntN(4) == 0 {
			// A proved operator with a negator that is not proved.
			function = fmt.Sprintf("CREATE FUNCTION %s(%s, %s) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true'", name, left, right)
			may = append(may, trap(name+"_not", left+", "+right, "boolean"), fmt.Sprintf("CREATE OPERATOR !!@ (%s, FUNCTION = %s_not)", operands, name))
			operands += ", NEGATOR = !!@"
		}
		may = append(may, function, fmt.Sprintf("CREATE OPERATOR %s%s (%s, FUNCTION = %s)", schema(), choose(r, differentialOperators...), operands, name))
	}
	for i := range choose(r, 0, 0, 1, 2) {
		source, target := choose(r, "mood", "pair", "days", "people", "int", "text"), choose(r, "text", "int", "mood", "boolean", "json", "json", "pair", "bigint")
		name := fmt.Sprintf("cast_%d", i)
		may = append(may, trap(name, source, target), fmt.Sprintf("CREATE CAST (%s AS %s) WITH FUNCTION %s(%s) %s", source, target, name, source, choose(r, "", "", "AS ASSIGNMENT", "AS IMPLICIT")))
	}
	may = append(
		may,
		"CREATE FUNCTION proved(int) RETURNS int LANGUAGE sql STABLE AS 'SELECT $1 + 1'",
		"CREATE FUNCTION proved(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT upper($1) || ''!'''",
		"CREATE FUNCTION proved(anyelement, anyelement) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT $1 = $2 OR $1 < $2'",
		"CREATE FUNCTION proved(people) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1.name'",
		"CREATE FUNCTION sloppy(text) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT email_ok($1)'",
		"CREATE FUNCTION narrow(text) RETURNS email LANGUAGE sql STABLE AS 'SELECT $1'",
		"CREATE FUNCTION fallback(int, int DEFAULT op_default()) RETURNS int LANGUAGE sql STABLE AS 'SELECT $1'",
		"CREATE FUNCTION atomic(a text) RETURNS text LANGUAGE sql STABLE RETURN upper(a) || lower(a)",
		"CREATE AGGREGATE gather(text) (SFUNC = textcat, STYPE = text)",
		trap("step", "text, text", "text"), "CREATE AGGREGATE trapped(text) (SFUNC = step, STYPE = text, INITCOND = '')",
		"CREATE VIEW plain AS SELECT id, name FROM people",
		"CREATE VIEW calm AS SELECT id, pg_catalog.upper(name) AS loud, m FROM people WHERE id OPERATOR(pg_catalog.>) 0",
		"CREATE VIEW loud AS SELECT id, upper(name) AS name, abs(id) AS n FROM people",
		"CREATE VIEW mailed AS SELECT name::email AS e, id FROM people",
		"CREATE VIEW compared AS SELECT p.id, o.total FROM people p JOIN orders o ON o.person = p.id WHERE p.name <> 'x'",
		"CREATE VIEW over_loud AS SELECT * FROM loud",
	)
	return must, may
}

// differentialText makes random statements.
type differentialText struct{ *rand.Rand }

func (r differentialText) expression(depth int) string {
	if depth <= 0 {
		return choose(r.Rand, "1", "2.5", "'a'", "'1'", "NULL", "true", "p.id", "p.name", "o.total", "o.at", "o.tags", "p.m", "x.e", "x.es", "x.s", "x.n", "x.d", "x.r", "p", "o", "x",
			"o.p", "'ok'::mood", "'(1,a)'::pair", "ROW(1, 'a')", "ARRAY[1, 2]", "'{a}'", "name", "total", "(x.r)", "now()", "'[1,2]'", "'a'::text", "'a' COLLATE \"C\"")
	}
	e := func() string { return r.expression(depth - 1 - r.IntN(2)) }
	op := choose(r.Rand, differentialOperators...)
	name := choose(r.Rand, append(differentialNames, "proved", "proved", "sloppy", "narrow", "fallback", "atomic", "gather", "trapped", "json_populate_record", "to_json", "json_agg", "jsonb_build_array", "row_to_json")...)
	switch r.IntN(26) {
	case 0, 1, 2:
		return name + "(" + e() + ")"
	case 3:
		return choose(r.Rand, name, name, "proved") + "(" + e() + ", " + e() + ")"
	case 4:
		return choose(r.Rand, "public.", "aside.", "pg_catalog.") + name + "(" + e() + ")"
	case 5, 6, 7:
		return "(" + e() + " " + op + " " + e() + ")"
	case 8:
		return "(" + e() + " OPERATOR(" + choose(r.Rand, "pg_catalog", "public", "aside") + "." + op + ") " + e() + ")"
	case 9:
		return "NOT (" + e() + " " + op + " " + e() + ")"
	case 10:
		return choose(r.Rand, "p", "o", "x") + "." + name
	case 11:
		return "(" + e() + ")." + name
	case 12:
		return "(" + e() + ")::" + choose(r.Rand, "text", "int", "mood", "email", "short", "amount", "pair", "people", "email[]", "days", "boolean", "json", "varchar(5)")
	case 13:
		return "(" + e() + " IN (" + e() + ", " + e() + "))"
	case 14:
		return "(" + e() + " BETWEEN " + e() + " AND " + e() + ")"
	case 15:
		return "CASE " + e() + " WHEN " + e() + " THEN " + e() + " ELSE " + e() + " END"
	case 16:
		return choose(r.Rand, "NULLIF", "COALESCE", "GREATEST") + "(" + e() + ", " + e() + ")"
	case 17:
		return "(" + e() + " IS DISTINCT FROM " + e() + ")"
	case 18:
		return "(" + e() + choose(r.Rand, " LIKE ", " ILIKE ", " SIMILAR TO ") + e() + ")"
	case 19:
		return "(" + e() + " " + op + choose(r.Rand, " ANY", " ALL") + " (SELECT " + e() + "))"
	case 20:
		return "(" + e() + " = ANY (" + e() + "))"
	case 21:
		return "ARRAY[" + e() + ", " + e() + "]"
	case 22:
		return "((" + e() + ", " + e() + ") " + choose(r.Rand, "=", "<", "<>") + " (" + e() + ", " + e() + "))"
	case 23:
		return choose(r.Rand, "-", "@#@ ", "~ ", "+ ", "# ") + "(" + e() + ")"
	case 24:
		return "(SELECT " + e() + " FROM (SELECT id, name FROM people) s)"
	default:
		return "(" + e() + " IN (SELECT " + e() + "))"
	}
}

func (r differentialText) statement() string {
	switch r.IntN(13) {
	case 0:
		return "SELECT * FROM " + choose(r.Rand, "plain", "calm", "loud", "mailed", "compared", "over_loud", "people", "orders", "odd")
	case 1:
		return "SELECT 1 FROM people p " + choose(r.Rand, "JOIN orders o USING (id)", "NATURAL JOIN orders o", "NATURAL JOIN odd o")
	case 2:
		return "SELECT p.id FROM people p ORDER BY p." + choose(r.Rand, "id", "name", "m") + " USING " + choose(r.Rand, "<", ">", "OPERATOR(pg_catalog.<)")
	case 3:
		return "SELECT s." + choose(r.Rand, differentialNames...) + " FROM (SELECT " + choose(r.Rand, "*", "id, name", "name AS total, m AS upper") + " FROM people) s"
	case 4:
		return "WITH p AS (SELECT * FROM people), o AS (SELECT * FROM orders), x AS (SELECT * FROM odd) SELECT " + r.expression(2) + " FROM p, o, x"
	case 5:
		return "SELECT DISTINCT " + r.expression(1) + " FROM people p, orders o, odd x UNION SELECT " + r.expression(1) + " FROM people p, orders o, odd x"
	case 6:
		return "SELECT " + r.expression(2) + " FROM people p, orders o"
	case 7:
		return "SELECT " + r.expression(2) + " FROM people p"
	case 8:
		return "SELECT " + r.expression(2)
	case 9:
		return "SELECT 1 FROM people p, orders o, odd x WHERE " + r.expression(r.IntN(2))
	default:
		return "SELECT " + r.expression(1+r.IntN(3)) + " FROM people p, orders o, odd x WHERE " + r.expression(r.IntN(2)) + " IS NOT NULL"
	}
}

// KTX_TEST_DIFFERENTIAL is the number of schemas, for a longer run than that of
// make test-all. KTX_TEST_SEED repeats one schema.
func TestNothingUnprovedRuns(t *testing.T) {
	rounds, statements := 2, 300
	if executiontest.Full() {
		rounds, statements = 3, 500
	}
	if n, err := strconv.Atoi(os.Getenv("KTX_TEST_DIFFERENTIAL")); err == nil {
		rounds, statements = n, 2000
	}
	server := testdb.Postgres(t)
	var total trial
	for round := range rounds {
		seed := uint64(time.Now().UnixNano()) + uint64(round)
		if n, err := strconv.ParseUint(os.Getenv("KTX_TEST_SEED"), 10, 64); err == nil {
			seed = n + uint64(round)
		}
		r := rand.New(rand.NewPCG(seed, 0))
		must, may := differentialSchema(r)
		url := server.NewDatabase(t, must...)
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		made := 0
		for _, sql := range may {
			if _, err := conn.Exec(t.Context(), sql); err == nil {
				made++
			}
		}
		if made < len(may)/2 {
			t.Fatalf("seed %d: only %d of %d objects could be made", seed, made, len(may))
		}
		catalog, err := open(t, url, pgdb.Config{Objects: true}).Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// In alternating rounds, the policy allows all names or none.
		policy := sqlguard.DefaultPolicy()
		if round%3 > 0 {
			policy.Functions.Allow = []string{"public.*", "aside.*", "pg_catalog.*"}
		}
		guard, err := sqlguard.New(postgres.Dialect{}, policy, catalog)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "SET ktx.armed = 'on'; SET default_transaction_read_only = on; SET statement_timeout = '5s'"); err != nil {
			t.Fatal(err)
		}
		texts := differentialText{r}
		for range statements {
			total.judge(t, seed, guard, conn, texts.statement())
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	total.report(t)
}

// trial counts the results of the statements that the guard and the server got.
type trial struct{ accepted, answered, caught, refused int }

// judge gives one statement to the guard and to the server. The server may run
// a trap only for a statement that the guard refuses.
func (c *trial) judge(t *testing.T, seed uint64, guard *sqlguard.Guard, conn *pgx.Conn, sql string) {
	t.Helper()
	v := guard.Check(sql)
	ran, answered := mark(t.Context(), conn, sql)
	switch {
	case v.Allowed && ran != "":
		t.Errorf("seed %d: accepted, and the server ran %s:\n%s", seed, ran, sql)
	case v.Allowed:
		c.accepted++
		if answered {
			c.answered++
		}
	case ran != "":
		c.caught++
	case answered:
		c.refused++
		if testing.Verbose() && os.Getenv("KTX_TEST_SHOW") != "" {
			t.Logf("refused, and harmless: %s\n\t%v", sql, v.Findings[0].Message)
		}
	}
}

// proves reports whether statements were answered, and others would have run a trap.
func (c *trial) proves() bool { return c.answered > 0 && c.caught > 0 }

// report logs the counts, and fails the test when they prove nothing.
func (c *trial) report(t *testing.T) {
	t.Helper()
	t.Logf("%d statements accepted, of which the server answered %d; %d refused that would have run a trap, %d refused that ran none",
		c.accepted, c.answered, c.caught, c.refused)
	if !c.proves() {
		t.Error("no statement was answered, or none would have run a trap: the run proves nothing")
	}
}

// mark runs a statement and returns the trap that it ran, and whether the server
// answered it.
func mark(ctx context.Context, conn *pgx.Conn, sql string) (ran string, answered bool) {
	_, err := conn.Exec(ctx, sql)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(e.Message, differentialMark) {
		return e.Message, false
	}
	return "", err == nil
}
