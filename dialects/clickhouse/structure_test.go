package clickhouse_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

// TestFunctionsAsValues: the name of a function before arrays is a call of it. Every refused
// text that names file or hostName read a file, or ran, on 26.7.
func TestFunctionsAsValues(t *testing.T) {
	t.Parallel()
	judged(t, []string{
		"SELECT arrayMap(file, ['/etc/hostname'])", "SELECT arrayMap((file), ['x'])", "SELECT arrayMap((+(file)), ['x'])", "SELECT arrayMap(file AS g, ['x'])", "SELECT arrayMap((file AS g), ['x'])",
		"SELECT arrayMap(ALL file, ['x'])", "SELECT arrayMap(/* */ `file` /* */, ['x'])", `SELECT arrayMap("file", ['x'])`, "SELECT `arrayMap`(file, ['x'])", "SELECT arrayFold(joinGet, ['x'], 'y')",
		"SELECT arrayMap(x -> arrayMap(file, [x]), ['x'])", "SELECT * APPLY(x -> arrayMap(file, x)) FROM t", "SELECT arrayPartialSort(file, 1, ['x'])", "SELECT arrayMap(my_udf, ['x'])",
		"WITH x -> x AS file SELECT arrayMap(file, ['x'])", "SELECT (WITH x -> x AS my_udf SELECT 1), arrayMap(my_udf, ['x'])", "WITH file AS f SELECT arrayMap(f, ['x'])",
		"WITH x -> x AS f SELECT * FROM view(SELECT arrayMap(f, ['x']))",
	}, []string{
		"SELECT arrayMap(upper, names), arrayFold(plus, list, toInt64(0)), arrayMap(left, names, [1]) FROM t", "SELECT arrayMap((x) -> x, a), arrayMap((x, y) -> x, a, b), arrayMap(x -> x, a) FROM t",
		"WITH x -> upper(x) AS f SELECT arrayMap(f, names), (SELECT arrayMap(f, ['a'])) FROM t", "WITH (x, y) -> concat(x, y) AS f SELECT arrayMap(f, a, b) FROM t",
		"SELECT arraySum(file), arraySort(file), arrayPartialSort(file, names), arrayConcat(file, names), has(file, 1) FROM t", "SELECT arrayFirst(x, y -> x != y, a, b), arrayMap(file, x -> x, a, b) FROM t",
	})
}

// TestColumnsOfTexts: a list of columns in a text holds names and types. What it computes, the
// engine runs: each refused text with hostName showed the name of the server on 26.7, but for
// those of values with a call, a query or a cast.
func TestColumnsOfTexts(t *testing.T) {
	t.Parallel()
	judged(t, []string{
		`SELECT b FROM values('a UInt8, b String ALIAS file(\'/etc/hostname\')', 1)`, "SELECT b FROM VALUES('a UInt8, b String ALIAS hostName()', 1)", "SELECT b FROM values('a ALIAS hostName(), b UInt8', 1)",
		"SELECT b FROM values(('a UInt8, b String ALIAS hostName()'), 1)", "SELECT b FROM values(+'a UInt8, b String ALIAS hostName()', 1)", "SELECT b FROM values('a UInt8, b String ALIAS hostName()' AS q, 1)",
		"SELECT b FROM values($$a UInt8, b String ALIAS hostName()$$, 1)", "SELECT b FROM values($x$a UInt8, b String ALIAS hostName()$x$, 1)", `SELECT b FROM values('a UInt8, b String \x41LIAS hostName()', 1)`,
		`SELECT b FROM values('a UInt8, b\talias\thostName()', 1)`, "SELECT b FROM values('a UInt8, b String/**/ALIAS hostName()', 1)", "SELECT b FROM values('a UInt8, b String --,\n ALIAS hostName()', 1)",
		`SELECT b FROM values('a UInt8, "b"ALIAS hostName()', 1)`, "SELECT b FROM values('a UInt8, b String NOT NULL ALIAS hostName()', 1)", "SELECT b FROM values('a UInt8, b String DEFAULT hostName()', 1)",
		"WITH 'a UInt8, b String ALIAS hostName()' AS s SELECT b FROM values(s, 1)", "WITH 'a UInt8, b String ALIAS hostName()' AS s SELECT b FROM generateRandom(s)",
		"SELECT b FROM generateRandom('a UInt8, b String ALIAS hostName()')", "SELECT b FROM generateRandom(concat('a UInt8, b String AL', 'IAS hostName()'))", "SELECT b FROM generateRandom((SELECT 'a UInt8, b String ALIAS hostName()'))",
		"SELECT b FROM values(identity('a UInt8, b String ALIAS hostName()'), 1)", "SELECT b FROM values((SELECT 'a UInt8, b String ALIAS hostName()'), 1)", "SELECT b FROM values(['a UInt8, b String ALIAS hostName()'][1], 1)",
		"SELECT b FROM values('a UInt8, b String ALIAS hostName()'::String, 1)", `SELECT structureToProtobufSchema('a UInt8, b String ALIAS file(\'x\')')`, "DESCRIBE values('a UInt8, b String ALIAS hostName()', 1)",
	}, []string{
		`SELECT * FROM values('id UInt8, name String, alias String, d DateTime(\'UTC\')', (1, 'a', 'b', now()))`, "SELECT * FROM values((1, 2), (3, 4))", "SELECT * FROM values(('a', 1), ('b', 2))", "SELECT * FROM values('abc', 'def')",
		"SELECT * FROM values(1, 2)", "SELECT * FROM values(-1, 2)", "SELECT * FROM values([1], [2])", "SELECT * FROM values(toDate('2020-01-01'), today())", "SELECT * FROM values(tuple(1), tuple(2))", "SELECT * FROM values(NULL, 1)",
		"SELECT * FROM values('a UInt8 COMMENT \\'x\\'', 1)", "SELECT * FROM generateRandom('a UInt8, b Tuple(alias String)', 1, 2, 3) LIMIT 1", "SELECT * FROM generateRandom() LIMIT 1", "SELECT * FROM (VALUES (1, 'a')) AS t",
	})
}

// TestInnerTables: the rows of a materialized view have a name of their own, for which no rule
// on the view holds.
func TestInnerTables(t *testing.T) {
	t.Parallel()
	judged(t, []string{"SELECT * FROM `.inner.daily`", "SELECT * FROM shop.`.inner_id.a3c56bf9-e502-471b-8cf0-7e7d4d10a5a1`", "SELECT 1 IN `.inner.daily`", "SELECT * FROM `.tmp.inner_id.x`"}, []string{"SELECT * FROM daily", "SELECT * FROM `inner`"})
}

func judged(t *testing.T, refused, passes []string) {
	t.Helper()
	g := dialecttest.NewGuard(t, clickhouse.Dialect{})
	for _, sql := range refused {
		if v := g.CheckOnce(sql); v.Allowed || v.Code == "parse_error" {
			t.Errorf("%s: %q %v", sql, v.Code, v.Findings)
		}
	}
	for _, sql := range passes {
		if v := g.CheckOnce(sql); !v.Allowed {
			t.Errorf("refused: %s: %s %v", sql, v.Code, v.Findings)
		}
	}
}
