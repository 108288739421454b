package executiontest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/chserver"
)

// ClickHouse returns the target for a stand-in for ClickHouse, package chserver. It shows
// that the backend keeps the contract over HTTP: what it sends and when, how it reads
// values, errors, ends and broken answers. It cannot show what only the engine does, so it
// has no attacks; [RealClickHouse] has them.
func ClickHouse(open OpenFunc, config chserver.Config) Target {
	return Target{
		Engine:  "ClickHouse",
		Dialect: "clickhouse",
		Open:    open,
		NewDatabase: func(tb testing.TB) Database {
			tb.Helper()
			s := chserver.Start(tb, config)
			for _, v := range clickHouseValues {
				s.On(v.SQL, func(r *chserver.Reply) { r.One("v", v.Type, v.JSON) })
			}
			return &clickHouseStandIn{s}
		},
		Queries: clickHouseQueries,
		Values:  clickHouseCases(),
		Victim: func(tb testing.TB) Victim {
			tb.Helper()
			tb.Skip("a stand-in has no engine to attack")
			return nil
		},
		Secrets:   "default.secrets",
		StoppedBy: clickHouseControl,
	}
}

type clickHouseStandIn struct{ s *chserver.Server }

func (d *clickHouseStandIn) Address() string {
	return d.s.URL()
}

// Running counts the statements that run.
func (d *clickHouseStandIn) Running(testing.TB) (n int, ok bool) { return d.s.Running(), true }

// clickHouseQueries are statements that servers since 2018 run. Table functions are left
// out because servers of that time do not permit them with readonly=1.
var clickHouseQueries = Queries{
	One:     "SELECT 1 AS one",
	Numbers: func(n int) string { return fmt.Sprintf("SELECT number + 1 AS n FROM system.numbers LIMIT %d", n) },
	Texts: func(rows, size int) string {
		return fmt.Sprintf("SELECT substring(concat('%s', toString(number)), length(toString(number)) + 1) AS text FROM system.numbers LIMIT %d", strings.Repeat("0", size), rows)
	},
	Cells: func(sizes ...int) string {
		texts := make([]string, len(sizes))
		for i, n := range sizes {
			texts[i] = strconv.Itoa(n)
		}
		part := fmt.Sprintf("hex(toFixedString('', %d))", slices.Max(sizes)/4+1)
		return fmt.Sprintf("SELECT number + 1 AS id, substring(concat(%s, %s), 1, arrayElement([%s], toUInt32(number + 1))) AS cell FROM system.numbers LIMIT %d",
			part, part, strings.Join(texts, ", "), len(sizes))
	},
	Columns: selectColumns,
	Empty:   "SELECT id, name FROM items WHERE id < 0",
	Slow: []string{
		"SELECT count() FROM system.numbers WHERE number % 7 = 8",
		"SELECT count() FROM (SELECT number AS a FROM system.numbers LIMIT 200000) AS x CROSS JOIN (SELECT number AS b FROM system.numbers LIMIT 200000) AS y WHERE (a + b) % 7 = 8",
	},
	Fails:     "SELECT intDiv(1, id - 1) FROM items WHERE id = 1",
	FailsLate: "SELECT intDiv(1, 400000 - toInt64(number)) AS n FROM system.numbers LIMIT 2000000",
	Wrong:     "SELECT 'äö€', id FROM items WHERE )",
	WrongAt:   ")",
}

// clickHouseValue is a value, and how the server writes it into a row of JSON.
type clickHouseValue struct {
	Name, SQL, Type, JSON string
	Want                  execution.Value
	Since                 int // the first release that knows it; 0 is any
}

var clickHouseValues = []clickHouseValue{
	{"null", "SELECT CAST(NULL AS Nullable(String)) AS v", "Nullable(String)", "null", execution.Value{}, 0},
	{"the text null", "SELECT 'null' AS v", "String", `"null"`, text("null"), 0},
	{"the sign of NULL", "SELECT CAST('ᴺᵁᴸᴸ' AS Nullable(String)) AS v", "Nullable(String)", `"ᴺᵁᴸᴸ"`, text("ᴺᵁᴸᴸ"), 0},
	{"empty text", "SELECT '' AS v", "String", `""`, text(""), 0},
	{"text", "SELECT 'Grüße, 世界 😀' AS v", "String", `"Grüße, 世界 😀"`, text("Grüße, 世界 😀"), 0},
	{"escapes", `SELECT 'a"b\\c/d\te\nf\0g' AS v`, "String", `"a\"b\\c/d\te\nf\u0000g"`, text("a\"b\\c/d\te\nf\x00g"), 0},
	{"bytes", "SELECT unhex('00FF10') AS v", "String", "\"\\u0000\xff\\u0010\"", text(`\x00ff10`), 20},
	{"integer", "SELECT -42 AS v", "Int8", "-42", number("-42"), 0},
	{"2^53", "SELECT toUInt64(9007199254740992) AS v", "UInt64", "9007199254740992", number("9007199254740992"), 0},
	{"2^53 + 1", "SELECT toUInt64(9007199254740993) AS v", "UInt64", "9007199254740993", text("9007199254740993"), 0},
	{"large integer", "SELECT toInt256('-57896044618658097711785492504343953926634992332820282019728792003956564819968') AS v", "Int256", "-57896044618658097711785492504343953926634992332820282019728792003956564819968", text("-57896044618658097711785492504343953926634992332820282019728792003956564819968"), 21},
	{"truth", "SELECT true AS v", "Bool", "true", execution.Value{Kind: execution.Bool, Text: "true"}, 22},
	{"float", "SELECT 0.1 + 0.2 AS v", "Float64", "0.30000000000000004", number("0.30000000000000004"), 0},
	{"large float", "SELECT 1e300 AS v", "Float64", "1e300", number("1e300"), 0},
	{"not a number", "SELECT nan AS v", "Float64", `"nan"`, text("nan"), 0},
	{"infinity", "SELECT -inf AS v", "Float64", `"-inf"`, text("-inf"), 0},
	{"decimal", "SELECT toDecimal128('12345678901234567890.123450', 6) AS v", "Decimal(38, 6)", "12345678901234567890.12345", text("12345678901234567890.12345"), 22},
	{"date", "SELECT toDate('2024-02-29') AS v", "Date", `"2024-02-29"`, text("2024-02-29"), 0},
	{"time", "SELECT toDateTime('2024-02-29 12:34:56', 'UTC') AS v", "DateTime('UTC')", `"2024-02-29 12:34:56"`, text("2024-02-29 12:34:56"), 20},
	{"precise time", "SELECT toDateTime64('2024-02-29 12:34:56.789', 3, 'UTC') AS v", "DateTime64(3, 'UTC')", `"2024-02-29 12:34:56.789"`, text("2024-02-29 12:34:56.789"), 20},
	{"uuid", "SELECT toUUID('6f9619ff-8b86-d011-b42d-00c04fc964ff') AS v", "UUID", `"6f9619ff-8b86-d011-b42d-00c04fc964ff"`, text("6f9619ff-8b86-d011-b42d-00c04fc964ff"), 0},
	{"enum", "SELECT CAST('a' AS Enum8('a' = 1, 'b' = 2)) AS v", "Enum8('a' = 1, 'b' = 2)", `"a"`, text("a"), 0},
	{"low cardinality", "SELECT toLowCardinality(toNullable('a')) AS v", "LowCardinality(Nullable(String))", `"a"`, text("a"), 22},
	{"array", "SELECT ['a]', 'b\\'', '\"'] AS v", "Array(String)", `["a]","b'","\""]`, text(`["a]","b'","\""]`), 20},
	{"array of nothing", "SELECT [NULL, 1] AS v", "Array(Nullable(UInt8))", "[null,1]", text("[null,1]"), 20},
	{"tuple", "SELECT tuple(1, 'x', [2]) AS v", "Tuple(UInt8, String, Array(UInt8))", `[1,"x",[2]]`, text(`[1,"x",[2]]`), 20},
	{"named tuple", "SELECT CAST((1, 'x') AS Tuple(a UInt8, b String)) AS v", "Tuple(a UInt8, b String)", `{"a":1,"b":"x"}`, text(`{"a":1,"b":"x"}`), 24},
	{"map", "SELECT map('k', nan, 'l', 1.5) AS v", "Map(String, Float64)", `{"k":"nan","l":1.5}`, text(`{"k":"nan","l":1.5}`), 22},
	{"interval", "SELECT toIntervalDay(3) AS v", "IntervalDay", "3", number("3"), 0},
	{"address", "SELECT toIPv4('127.0.0.1') AS v", "IPv4", `"127.0.0.1"`, text("127.0.0.1"), 20},
}

func clickHouseCases() []ValueCase {
	var out []ValueCase
	for _, v := range clickHouseValues {
		out = append(out, ValueCase{Name: v.Name, SQL: v.SQL, Type: v.Type, Want: v.Want})
	}
	return out
}

// clickHouseControl names the control that an error of the session came from, by its code
// (ClickHouse's src/Common/ErrorCodes.cpp).
func clickHouseControl(e *execution.Error) string {
	switch e.SQLState {
	case "164":
		return "readonly=1"
	case "497", "291":
		return "rights of the role"
	case "48", "80", "344", "636":
		return "ClickHouse itself"
	case "62", "358":
		return "HTTP interface"
	case "": // not from the server
		return "check of the answer"
	default:
		return ""
	}
}
