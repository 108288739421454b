package oracle_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/clickhousedb"
	"github.com/ktxhq/ktx/execution/executiontest/chengine"
	"github.com/ktxhq/ktx/sqlguard"
)

// clickHouseTypes are columns with values that the engine makes. Values of containers are
// written by toJSONString, and others by toString.
var clickHouseTypes = []struct {
	typ    string
	values string // an expression of number; "" is generateRandom
	json   bool
}{
	{typ: "Int8"},
	{typ: "Int16"},
	{typ: "Int32"},
	{typ: "Int64"},
	{typ: "Int128"},
	{typ: "Int256"},
	{typ: "UInt8"},
	{typ: "UInt16"},
	{typ: "UInt32"},
	{typ: "UInt64"},
	{typ: "UInt128"},
	{typ: "UInt256"},
	{typ: "Int64", values: "9007199254740990 + number"},
	{typ: "Int64", values: "-9007199254740990 - toInt64(number)"},
	{typ: "Float32"},
	{typ: "Float64"},
	{typ: "BFloat16", values: "toBFloat16(number / 7)"},
	{typ: "Float64", values: "multiIf(number % 4 = 0, nan, number % 4 = 1, inf, number % 4 = 2, -inf, -0.)"},
	{typ: "Float64", values: "pow(10, toInt64(number) % 600 - 300) * (number + 1)"},
	{typ: "Decimal(9, 4)"},
	{typ: "Decimal(18, 0)"},
	{typ: "Decimal(38, 20)"},
	{typ: "Decimal(76, 40)"},
	{typ: "Bool"},
	{typ: "UUID"},
	{typ: "IPv4"},
	{typ: "IPv6"},
	{typ: "Date"},
	{typ: "Date32"},
	{typ: "DateTime('UTC')"},
	{typ: "DateTime('Asia/Tokyo')"},
	{typ: "DateTime64(3, 'UTC')"},
	{typ: "DateTime64(9, 'Europe/Berlin')"},
	{typ: "Time", values: "CAST(toInt32(number) * 37 - 9999 AS Time)"},
	{typ: "Time64(6)", values: "CAST(number / 3 AS Time64(6))"},
	{typ: "IntervalDay", values: "toIntervalDay(number)"},
	{typ: "IntervalMonth", values: "toIntervalMonth(number)"},
	{typ: "String"},
	{typ: "FixedString(16)"},
	{typ: "LowCardinality(String)"},
	{typ: "String", values: "unhex(hex(cityHash64(number)))"}, // any bytes
	{typ: "String", values: `concat(char(number % 32), '"\\/\t\n', repeat('ü世😀', number % 5), '\0')`},
	{typ: "String", values: "'null'"},
	{typ: "String", values: "''"},
	{typ: "String", values: "'ᴺᵁᴸᴸ'"},
	{typ: "Enum8('a' = -1, 'it\\'s' = 0, '\"q\"' = 2)"},
	{typ: "Enum16('one' = 1, 'zwölf' = 1200)"},
	{typ: "Nullable(Int64)"},
	{typ: "Nullable(String)"},
	{typ: "Nullable(Float64)"},
	{typ: "Nullable(DateTime64(6, 'UTC'))"},
	{typ: "LowCardinality(Nullable(String))"},
	{typ: "Nullable(UUID)"},
	{typ: "Nullable(Decimal(20, 5))"},
	{typ: "SimpleAggregateFunction(sum, UInt64)"},
	{typ: "Array(Int32)", json: true},
	{typ: "Array(String)", json: true},
	{typ: "Array(Nullable(Float64))", json: true},
	{typ: "Array(Array(UInt64))", json: true},
	{typ: "Tuple(UInt8, String)", json: true},
	{typ: "Tuple(a Int64, b Array(String))", json: true},
	{typ: "Map(String, Int64)", json: true},
	{typ: "Map(UInt8, Nullable(String))", json: true},
	{typ: "Array(Tuple(d Date, t DateTime('UTC')))", json: true},
	{typ: "Point", json: true},
	{typ: "Polygon", json: true},
	{typ: "Array(UUID)", json: true},
	{typ: "Array(Decimal(12, 3))", json: true},
	{typ: "Array(Bool)", json: true},
	{typ: "Array(Enum8('x' = 1, 'y' = 2))", json: true},
	{typ: "JSON", values: `'{"a": ' || toString(number) || ', "b": {"c": ["x", null, 1.5]}}'`, json: true},
	{typ: "Variant(String, UInt64)", values: "if(number % 2 = 0, CAST(toUInt64(number) AS Variant(String, UInt64)), CAST('x' || toString(number) AS Variant(String, UInt64)))"},
	{typ: "Dynamic", values: "toString(number)::Dynamic"},
}

// clickHouseJSON are the settings of the backend's answers that toJSONString knows.
const clickHouseJSON = "SET output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, " +
	"output_format_json_quote_denormals = 1, output_format_json_escape_forward_slashes = 0, output_format_json_named_tuples_as_objects = 1"

// TestClickHouseEngineValues compares each value that ktx returns with the text that the
// engine itself makes of it, in a session that shares nothing with the backend.
func TestClickHouseEngineValues(t *testing.T) {
	engine := chengine.Start(t, chengine.Config{})
	address := engine.Serve(t, chengine.Door{}).URL("default")
	s := service(t, execution.Connection{
		ID: guarded, Engine: "CLICKHOUSE", Dialect: clickhouse.Dialect{}, Policy: sqlguard.DefaultPolicy(), Limits: limits,
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return clickhousedb.Open(ctx, clickhousedb.Config{URL: execution.NewSecret(address), MaxConnections: 2, Session: clickhouse.Dialect{}.Session()}, guard)
		},
	})
	own := engine.Session(t)
	r := source(t)
	rows := randomRows(t, 4000)
	query := func(sql string) string {
		t.Helper()
		text, err := own.Query(sql, "TSV")
		if err != nil {
			t.Fatalf("%.300s: %v", sql, err)
		}
		return text
	}
	query(clickHouseJSON + ", allow_suspicious_low_cardinality_types = 1, enable_time_time64_type = 1")
	var f figure
	for i, c := range clickHouseTypes {
		table := fmt.Sprintf("held_%d", i)
		query(fmt.Sprintf("CREATE TABLE %s (i UInt64, v %s) ENGINE = Memory", table, c.typ))
		if c.values == "" {
			query(fmt.Sprintf("INSERT INTO %s SELECT rowNumberInAllBlocks(), v FROM generateRandom('v %s', %d, 40, 4) LIMIT %d",
				table, strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(c.typ), r.Uint32(), rows))
		} else {
			query(fmt.Sprintf("INSERT INTO %s SELECT number, %s FROM numbers(%d)", table, c.values, rows))
		}
		function := "toString(%s)"
		switch {
		case c.json:
			function = "toJSONString(%s)"
		case strings.Contains(c.typ, "Float"): // toString has no sign for values that are not numbers
			function = "trim(BOTH '\"' FROM toJSONString(%s))"
		case strings.HasPrefix(c.typ, "FixedString"): // whose last bytes may be zero
			function = "identity(%s)"
		}
		text := query(fmt.Sprintf("SELECT i, if(isNull(v), 'N', concat('V', hex(assumeNotNull(%s)))) FROM %s ORDER BY i", fmt.Sprintf(function, "v"), table))
		want := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		got := ask(t, s, guarded, "SELECT i, v, 'end' AS e FROM "+table+" ORDER BY i")
		if len(got.Rows) != len(want) || len(want) != rows {
			t.Fatalf("%s: %d rows, want %d of %d", c.typ, len(got.Rows), len(want), rows)
		}
		for n, row := range got.Rows {
			place := fmt.Sprintf("%s %s, row %d", c.typ, c.values, n+1)
			id, value, _ := strings.Cut(want[n], "\t")
			if row[0].text != id || row[0].text != strconv.Itoa(n) || row[2] != textCell("end") {
				t.Errorf("%s: the values before and after it are %s and %s", place, row[0], row[2])
			}
			f.compare(t, place, row[1], clickHouseCell(t, c.typ, value))
		}
	}
	f.report(t, "ClickHouse", rows*len(clickHouseTypes))
}

// clickHouseCell is the value of a text that the engine made.
func clickHouseCell(t *testing.T, typ, text string) cell {
	t.Helper()
	if text == "N" {
		return cell{}
	}
	raw, err := hex.DecodeString(strings.TrimPrefix(text, "V"))
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case typ == "Bool":
		return cell{'b', string(raw[:1])}
	case !utf8.Valid(raw):
		return textCell(`\x` + hex.EncodeToString(raw))
	default:
		return textCell(string(raw))
	}
}
