package executiontest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/bqserver"
)

// BigQuery returns the target for a stand-in for BigQuery, package bqserver. It shows that
// the backend keeps the contract over the REST API: what it sends and when, how it reads
// pages, values and errors, and how it ends jobs. It cannot show what only the service does,
// so it has no attacks.
func BigQuery(open OpenFunc) Target {
	return Target{
		Engine:  "BigQuery",
		Dialect: "bigquery",
		Open:    open,
		NewDatabase: func(tb testing.TB) Database {
			tb.Helper()
			s := bqserver.Start(tb, bqserver.Config{})
			for _, v := range bigQueryValues {
				s.On(v.SQL, bqserver.One(v.Field, v.JSON))
			}
			return &bigQueryStandIn{s}
		},
		Queries: bigQueryQueries,
		Values:  bigQueryCases(),
		Victim: func(tb testing.TB) Victim {
			tb.Helper()
			tb.Skip("a stand-in has no engine to attack")
			return nil
		},
		Secrets:   "shop.secrets",
		StoppedBy: func(*execution.Error) string { return "" },
	}
}

type bigQueryStandIn struct{ s *bqserver.Server }

func (d *bigQueryStandIn) Address() string { return d.s.URL() }

// Running counts the jobs that run.
func (d *bigQueryStandIn) Running(testing.TB) (n int, ok bool) { return d.s.Running(), true }

var bigQueryQueries = Queries{
	One: "SELECT 1 AS one",
	Numbers: func(n int) string {
		return fmt.Sprintf("SELECT n FROM UNNEST(GENERATE_ARRAY(1, %d)) AS n ORDER BY n", n)
	},
	Texts: func(rows, size int) string {
		return fmt.Sprintf("SELECT REPEAT('0', %d) AS text FROM UNNEST(GENERATE_ARRAY(1, %d))", size, rows)
	},
	Cells: func(sizes ...int) string {
		texts := make([]string, len(sizes))
		for i, n := range sizes {
			texts[i] = strconv.Itoa(n)
		}
		return fmt.Sprintf("SELECT n + 1 AS id, REPEAT('0', size) AS cell FROM UNNEST([%s]) AS size WITH OFFSET AS n ORDER BY n", strings.Join(texts, ", "))
	},
	Columns: selectColumns,
	Empty:   "SELECT id, name FROM items WHERE id < 0",
	Slow: []string{
		"SELECT COUNT(*) FROM UNNEST(GENERATE_ARRAY(1, 1000000)) AS a, UNNEST(GENERATE_ARRAY(1, 1000000)) AS b WHERE MOD(a + b, 7) = 8",
	},
	Fails: "SELECT 1 / (id - 1) FROM items WHERE id = 1",
	// A job of BigQuery has all of its rows or none, so a page cannot be read here.
	FailsLate: "SELECT id FROM `expires`",
	Wrong:     "SELECT 'äö€', id FROM items WHERE )",
	WrongAt:   ")",
}

// bigQueryValue is a value, and how the API has it.
type bigQueryValue struct {
	Name, SQL string
	Field     bqserver.Field
	JSON      string
	Type      string // as the result has it
	Want      execution.Value
}

func field(kind string, parts ...bqserver.Field) bqserver.Field {
	return bqserver.Field{Name: "v", Type: kind, Mode: "NULLABLE", Fields: parts}
}

func repeated(f bqserver.Field) bqserver.Field {
	f.Mode = "REPEATED"
	return f
}

func named(name string, f bqserver.Field) bqserver.Field {
	f.Name = name
	return f
}

var bigQueryValues = []bigQueryValue{
	{"null", "SELECT CAST(NULL AS STRING) AS v", field("STRING"), `null`, "STRING", execution.Value{}},
	{"the text null", "SELECT 'null' AS v", field("STRING"), `"null"`, "STRING", text("null")},
	{"empty text", "SELECT '' AS v", field("STRING"), `""`, "STRING", text("")},
	{"text", "SELECT 'Grüße, 世界 😀' AS v", field("STRING"), `"Grüße, \u4e16\u754c \ud83d\ude00"`, "STRING", text("Grüße, 世界 😀")},
	{"escapes", `SELECT 'a"b\\c/d\te\nf\x00g' AS v`, field("STRING"), `"a\"b\\c\/d\te\nf\u0000g"`, "STRING", text("a\"b\\c/d\te\nf\x00g")},
	{"bytes", `SELECT b'\x00\xff\x10' AS v`, field("BYTES"), `"AP8Q"`, "BYTES", text(`\x00ff10`)},
	{"no bytes", `SELECT b'' AS v`, field("BYTES"), `""`, "BYTES", text(`\x`)},
	{"integer", "SELECT -42 AS v", field("INTEGER"), `"-42"`, "INT64", number("-42")},
	{"2^53 + 1", "SELECT 9007199254740993 AS v", field("INTEGER"), `"9007199254740993"`, "INT64", text("9007199254740993")},
	{"truth", "SELECT TRUE AS v", field("BOOLEAN"), `"true"`, "BOOL", execution.Value{Kind: execution.Bool, Text: "true"}},
	{"float", "SELECT 0.1 + 0.2 AS v", field("FLOAT"), `"0.30000000000000004"`, "FLOAT64", number("0.30000000000000004")},
	{"large float", "SELECT 1e300 AS v", field("FLOAT"), `"1E+300"`, "FLOAT64", number("1E+300")},
	{"not a number", "SELECT CAST('nan' AS FLOAT64) AS v", field("FLOAT"), `"NaN"`, "FLOAT64", text("NaN")},
	{"infinity", "SELECT CAST('-inf' AS FLOAT64) AS v", field("FLOAT"), `"-Infinity"`, "FLOAT64", text("-Infinity")},
	{"numeric", "SELECT NUMERIC '12345678901234567890.123456789' AS v", field("NUMERIC"), `"12345678901234567890.123456789"`, "NUMERIC", text("12345678901234567890.123456789")},
	{"date", "SELECT DATE '2024-02-29' AS v", field("DATE"), `"2024-02-29"`, "DATE", text("2024-02-29")},
	{"datetime", "SELECT DATETIME '2024-02-29 12:34:56.789' AS v", field("DATETIME"), `"2024-02-29T12:34:56.789"`, "DATETIME", text("2024-02-29T12:34:56.789")},
	{"time", "SELECT TIME '12:34:56' AS v", field("TIME"), `"12:34:56"`, "TIME", text("12:34:56")},
	{"timestamp", "SELECT TIMESTAMP '2024-02-29 12:34:56+00' AS v", field("TIMESTAMP"), `"1709210096000000"`, "TIMESTAMP", text("2024-02-29 12:34:56+00")},
	{"milliseconds", "SELECT TIMESTAMP '2024-02-29 12:34:56.78+00' AS v", field("TIMESTAMP"), `"1709210096780000"`, "TIMESTAMP", text("2024-02-29 12:34:56.780+00")},
	{"microseconds", "SELECT TIMESTAMP '2024-02-29 12:34:56.789012+00' AS v", field("TIMESTAMP"), `"1709210096789012"`, "TIMESTAMP", text("2024-02-29 12:34:56.789012+00")},
	{"the first timestamp", "SELECT TIMESTAMP '0001-01-01 00:00:00+00' AS v", field("TIMESTAMP"), `"-62135596800000000"`, "TIMESTAMP", text("0001-01-01 00:00:00+00")},
	{"the last timestamp", "SELECT TIMESTAMP '9999-12-31 23:59:59.999999+00' AS v", field("TIMESTAMP"), `"253402300799999999"`, "TIMESTAMP", text("9999-12-31 23:59:59.999999+00")},
	{"no timestamp", "SELECT CAST(NULL AS TIMESTAMP) AS v", field("TIMESTAMP"), `null`, "TIMESTAMP", execution.Value{}},
	{"json", `SELECT JSON '{"a": [1, 2]}' AS v`, field("JSON"), `"{\"a\":[1,2]}"`, "JSON", text(`{"a":[1,2]}`)},
	{"interval", "SELECT INTERVAL 3 DAY AS v", field("INTERVAL"), `"0-0 3 0:0:0"`, "INTERVAL", text("0-0 3 0:0:0")},
	{"geography", "SELECT ST_GEOGPOINT(1, 2) AS v", field("GEOGRAPHY"), `"POINT(1 2)"`, "GEOGRAPHY", text("POINT(1 2)")},
	{"array", `SELECT ['a]', 'b"', ''] AS v`, repeated(field("STRING")), `[{"v": "a]"}, {"v": "b\""}, {"v": ""}]`, "ARRAY<STRING>", text(`["a]","b\"",""]`)},
	{"no elements", "SELECT CAST([] AS ARRAY<INT64>) AS v", repeated(field("INTEGER")), `[]`, "ARRAY<INT64>", text("[]")},
	{"array of times", "SELECT [TIMESTAMP '2024-02-29 12:34:56+00'] AS v", repeated(field("TIMESTAMP")), `[{"v": "1709210096000000"}]`, "ARRAY<TIMESTAMP>", text(`["2024-02-29 12:34:56+00"]`)},
	{
		"struct", "SELECT STRUCT(1 AS a, CAST(NULL AS STRING) AS b, [STRUCT('x' AS c)] AS d) AS v",
		field("RECORD", named("a", field("INTEGER")), named("b", field("STRING")), named("d", repeated(field("RECORD", named("c", field("STRING")))))),
		`{"f": [{"v": "1"}, {"v": null}, {"v": [{"v": {"f": [{"v": "x"}]}}]}]}`,
		"STRUCT<a INT64, b STRING, d ARRAY<STRUCT<c STRING>>>", text(`{"a":"1","b":null,"d":[{"c":"x"}]}`),
	},
	{"no struct", "SELECT IF(FALSE, STRUCT(1 AS a), NULL) AS v", field("RECORD", named("a", field("INTEGER"))), `null`, "STRUCT<a INT64>", execution.Value{}},
}

func bigQueryCases() []ValueCase {
	var out []ValueCase
	for _, v := range bigQueryValues {
		out = append(out, ValueCase{Name: v.Name, SQL: v.SQL, Type: v.Type, Want: v.Want})
	}
	return out
}
