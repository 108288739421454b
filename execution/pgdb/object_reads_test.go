package pgdb_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// Random tables have indexes, constraints, statistics, policies, partitions and
// operator classes that call functions that fail with a mark when they run. The
// statements under test name none of these functions. A statement that the
// guard accepts must run without the mark.

var readObjects = []string{
	"CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (a int, b text)",
	trapOf("trap", "int", "int", "$1"), trapOf("trap", "text", "text", "$1"), trapOf("truth", "int", "boolean", "$1 > 0"), trapOf("truth", "text", "boolean", "$1 > 'b'"),
	strings.Replace(trapOf("strict", "int", "int", "$1"), "IMMUTABLE", "IMMUTABLE STRICT", 1),
	trapOf("plus", "int, int", "int", "$1 + $2"), "CREATE OPERATOR +# (LEFTARG = int, RIGHTARG = int, FUNCTION = plus)",
	trapOf("above", "int, int", "boolean", "$1 > $2"), "CREATE OPERATOR ># (LEFTARG = int, RIGHTARG = int, FUNCTION = above)",
	trapOf("difference", "int, int", "float8", "$1 - $2"),
	"CREATE FUNCTION calm(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1'",
	"CREATE FUNCTION calm(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT upper($1)'",
	"CREATE FUNCTION one(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'",
	"CREATE FUNCTION first(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1'",
	"CREATE FUNCTION deep(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT public.trap($1)'",
	"CREATE FUNCTION hidden(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + public.trap(1)'",
	"CREATE FUNCTION kept(int) RETURNS int LANGUAGE sql IMMUTABLE SET work_mem = '1MB' AS 'SELECT $1 + public.trap(1)'",
	trapOf("compares_moods", "mood, mood", "int", "1"), comparisons,
	trapOf("compares_ints", "int, int", "int", "btint4cmp($1, $2)"),
	"CREATE OPERATOR CLASS odd_ops FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 compares_ints(int, int)",
	trapOf("hashes", "int, bigint", "bigint", "1"), "CREATE OPERATOR CLASS hashed FOR TYPE int USING hash AS OPERATOR 1 =, FUNCTION 2 hashes(int, bigint)",
}

// computed makes random expressions over the columns a, b, m and d. With traps,
// the expressions call functions that nothing proves safe.
type computed struct {
	*rand.Rand

	traps bool
}

func (r computed) pick(always []string, traps ...string) string {
	if r.traps {
		always = append(always, traps...)
	}
	return choose(r.Rand, always...)
}

func (r computed) number(depth int) string {
	if depth <= 0 {
		return choose(r.Rand, "a", "a", "1", "2", "NULL::int")
	}
	n := func() string { return r.number(depth - 1) }
	switch r.IntN(9) {
	case 0, 1, 2:
		return r.pick([]string{"abs", "calm", "one"}, "trap", "trap", "strict", "deep", "hidden", "kept") + "(" + n() + ")"
	case 3:
		return "(" + n() + r.pick([]string{" + ", " - "}, " +# ") + n() + ")"
	case 4:
		return "length(" + r.text(depth-1) + ")"
	case 5:
		return choose(r.Rand, "coalesce", "nullif", "greatest") + "(" + n() + ", " + n() + ")"
	case 6:
		return "CASE WHEN " + r.truth(depth-1) + " THEN " + n() + " ELSE " + n() + " END"
	case 7:
		return "CASE " + n() + " WHEN " + n() + " THEN " + n() + " END"
	default:
		return "(ARRAY[" + n() + ", " + n() + "])[1]"
	}
}

func (r computed) text(depth int) string {
	if depth <= 0 {
		return choose(r.Rand, "b", "b", "'x'", "a::text", "NULL::text")
	}
	s := func() string { return r.text(depth - 1) }
	switch r.IntN(5) {
	case 0, 1:
		return r.pick([]string{"lower", "calm"}, "trap", "trap") + "(" + s() + ")"
	case 2:
		return "(" + s() + " || " + s() + ")"
	case 3:
		return "first(" + s() + ", " + s() + ")"
	default:
		return "coalesce(" + s() + ", " + s() + ")"
	}
}

func (r computed) truth(depth int) string {
	if depth <= 0 {
		return choose(r.Rand, "a > 5", "a = 1", "b = 'x'", "m = 'ok'::mood", "d && '[1,5]'::days", "true", "a IS NOT NULL")
	}
	b, n, s := func() string { return r.truth(depth - 1) }, func() string { return r.number(depth - 1) }, func() string { return r.text(depth - 1) }
	switch r.IntN(10) {
	case 0, 1:
		return "(" + n() + r.pick([]string{" > ", " = ", " < "}, " ># ") + n() + ")"
	case 2:
		return "(" + s() + " = " + s() + ")"
	case 3, 4:
		return "(" + b() + choose(r.Rand, " OR ", " AND ") + b() + ")"
	case 5:
		return "NOT " + b()
	case 6:
		return "(" + choose(r.Rand, n(), s()) + " IS NOT NULL)"
	case 7:
		if r.traps {
			return "truth(" + choose(r.Rand, n(), s()) + ")"
		}
		return b()
	case 8:
		return "(" + n() + " = ANY (ARRAY[" + n() + ", " + n() + "]))"
	default:
		return "(" + n() + " IN (" + n() + ", " + n() + "))"
	}
}

// readTables returns the statements that create the tables t0 to t7, each with
// a few parts. Those in may are skipped when the server refuses them.
func readTables(r *rand.Rand, version int) (must, may []string) {
	must = append(must, readObjects...)
	must = append(must, "CREATE TYPE days AS RANGE (subtype = int"+choose(r, "", "", ", subtype_diff = difference", ", subtype_opclass = odd_ops")+")")
	for i := range 8 {
		table := fmt.Sprintf("t%d", i)
		with := ""
		switch r.IntN(6) {
		case 0:
			with = choose(r, " PARTITION BY HASH (a hashed)", " PARTITION BY RANGE (a)", " PARTITION BY RANGE (d)", " PARTITION BY LIST (d)")
		case 1:
			with = " PARTITION BY RANGE ((" + computed{r, true}.number(1) + "))"
		}
		columns := "CREATE TABLE IF NOT EXISTS " + table + " (a int, b text, m mood, d days, p pair)"
		may = append(may, columns+with, columns)
		if with != "" {
			may = append(may, "CREATE TABLE "+table+"_1 PARTITION OF "+table+choose(r, " DEFAULT", " FOR VALUES WITH (MODULUS 1, REMAINDER 0)", " FOR VALUES FROM (0) TO (100)", " FOR VALUES IN ('[1,2]', '[3,4]')", " FOR VALUES FROM ('[1,2]') TO ('[90,91]')"),
				"CREATE TABLE "+table+"_2 PARTITION OF "+table+" DEFAULT")
		} else if r.IntN(4) == 0 {
			may = append(may, "CREATE TABLE "+table+"_1 () INHERITS ("+table+")")
		}
		parts := choose(r, 0, 1, 1, 2, 3)
		for n := range parts {
			x := computed{r, r.IntN(3) > 0}
			depth := 1 + r.IntN(3)
			on := table + choose(r, "", "", "_1")
			switch r.IntN(8) {
			case 0, 1:
				may = append(may, fmt.Sprintf("CREATE INDEX ON %s ((%s))", on, choose(r, x.number(depth), x.text(depth))))
			case 2:
				may = append(may, fmt.Sprintf("CREATE INDEX ON %s (%s) WHERE %s", on, choose(r, "a", "b"), x.truth(depth)))
			case 3:
				may = append(may, fmt.Sprintf("ALTER TABLE %s ADD CHECK ((%s) IS NOT NULL OR true)", on, x.truth(depth)))
			case 4:
				may = append(may, fmt.Sprintf("CREATE STATISTICS s%d_%d ON (%s), a FROM %s", i, n, choose(r, x.number(depth), x.text(depth)), on))
			case 5:
				condition := choose(r, x.truth(depth), fmt.Sprintf("a IN (SELECT a FROM t%d WHERE %s)", r.IntN(8), x.truth(1)))
				may = append(may, fmt.Sprintf("CREATE POLICY p%d ON %s %s USING (%s)", n, table, choose(r, "", "", "FOR SELECT", "FOR UPDATE"), condition),
					"ALTER TABLE "+table+choose(r, " ENABLE", " ENABLE", " DISABLE")+" ROW LEVEL SECURITY")
			case 6:
				if version >= 18 {
					may = append(may, fmt.Sprintf("ALTER TABLE %s ADD COLUMN g%d int GENERATED ALWAYS AS (%s) VIRTUAL", table, n, x.number(depth)))
				} else {
					may = append(may, fmt.Sprintf("ALTER TABLE %s ADD COLUMN g%d int GENERATED ALWAYS AS (%s) STORED", table, n, x.number(depth)))
				}
			default:
				may = append(may, "CREATE INDEX ON "+on+" (a odd_ops)")
			}
		}
		may = append(may, fmt.Sprintf("INSERT INTO %s SELECT g %% 10, chr(97 + g %% 20), CASE WHEN g %% 2 = 0 THEN 'ok'::mood ELSE 'sad' END, int4range(g, g + 2)::text::days, ROW(g, 'x') FROM generate_series(1, 50) g", table))
	}
	if r.IntN(4) == 0 {
		may = append(may, "CREATE OPERATOR CLASS mood_ops DEFAULT FOR TYPE mood USING btree AS "+ownOperators+", FUNCTION 1 compares_moods(mood, mood)")
	}
	for i := range 3 {
		may = append(may, fmt.Sprintf("CREATE VIEW v%d AS SELECT a, b, m, d, p FROM t%d", i, r.IntN(8)),
			fmt.Sprintf("CREATE FUNCTION reads%d(int) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM t%d WHERE a = $1'", i, r.IntN(8)))
	}
	return must, append(may, "ANALYZE")
}

func readText(r *rand.Rand) string {
	x := computed{r, false}
	from := choose(r, "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "v0", "v1", "v2")
	column := func() string { return choose(r, "a", "b", "m", "d", "p", "*", x.number(1), x.text(1)) }
	where := ""
	if r.IntN(3) > 0 {
		where = " WHERE " + x.truth(r.IntN(3))
	}
	switch r.IntN(9) {
	case 0:
		return "SELECT DISTINCT " + column() + " FROM " + from + where
	case 1:
		return "SELECT " + column() + " FROM " + from + where + " ORDER BY " + choose(r, "a", "b", "m", "d", "p", "1")
	case 2:
		c := choose(r, "a", "b", "m", "d")
		return "SELECT " + c + ", count(*), max(a) FROM " + from + where + " GROUP BY " + c
	case 3:
		return "SELECT count(*) FROM " + from + " JOIN (SELECT a AS k, m AS l FROM t" + strconv.Itoa(r.IntN(8)) + ") s ON " + choose(r, "a = k", "m = l", "k = 1 AND a > k")
	case 4:
		return "SELECT a FROM " + from + where + " UNION SELECT a FROM t" + strconv.Itoa(r.IntN(8))
	case 5:
		return "SELECT reads" + strconv.Itoa(r.IntN(3)) + "(1)"
	case 6:
		return "SELECT greatest(" + column() + ", " + column() + "), rank() OVER (ORDER BY " + choose(r, "a", "m") + ") FROM " + from + where
	default:
		return "SELECT " + column() + " FROM " + from + where
	}
}

// TestNothingUnprovedRuns describes KTX_TEST_DIFFERENTIAL and KTX_TEST_SEED.
func TestNoReadRunsWhatIsNotProved(t *testing.T) {
	rounds, statements := 3, 200
	if n, err := strconv.Atoi(os.Getenv("KTX_TEST_DIFFERENTIAL")); err == nil {
		rounds, statements = n, 400
	}
	server := testdb.Postgres(t)
	role := server.NewRole(t)
	var total trial
	made, left := 0, 0
	for round := 0; round < rounds || !total.proves() && round < 10*rounds; round++ { // the objects of a few rounds may trap nothing
		seed := uint64(time.Now().UnixNano()) + uint64(round)
		if n, err := strconv.ParseUint(os.Getenv("KTX_TEST_SEED"), 10, 64); err == nil {
			seed = n + uint64(round)
		}
		r := rand.New(rand.NewPCG(seed, 1))
		must, may := readTables(r, server.Version())
		url := server.NewDatabase(t, must...)
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range may {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				left++
			} else {
				made++
			}
		}
		server.Exec(t, url, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+role)
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
		catalog, err := open(t, url, pgdb.Config{Objects: true}).Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		policy := sqlguard.DefaultPolicy()
		policy.Functions.Allow = []string{"public.*"}
		guard, err := sqlguard.New(postgres.Dialect{}, policy, catalog)
		if err != nil {
			t.Fatal(err)
		}
		asks := armed(t, url, role)
		for range statements {
			if r.IntN(20) == 0 {
				if _, err := asks.Exec(t.Context(), "SET enable_seqscan = "+choose(r, "on", "off")+"; SET enable_indexscan = "+choose(r, "on", "off")+"; SET constraint_exclusion = "+choose(r, "on", "partition")); err != nil {
					t.Fatal(err)
				}
			}
			total.judge(t, seed, guard, asks, readText(r))
		}
	}
	t.Logf("%d objects made and %d left out", made, left)
	total.report(t)
}
