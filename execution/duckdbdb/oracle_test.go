//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package duckdbdb_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/duckfile"
)

// oracleSources are queries with values of every type: DuckDB's own table of all types with
// their least and greatest values and NULL, and values in which a text can go wrong. The
// types test_all_types() has are those of the engine that is linked.
var oracleSources = []string{
	"FROM test_all_types()",
	"FROM test_all_types(use_large_enum = true)",
	"SELECT i::TINYINT a, i::SMALLINT b, i::INTEGER c, i::BIGINT d, i::HUGEINT e, i::BIGNUM f, i::FLOAT g, i::DOUBLE h, i::DECIMAL(4, 1) j, i::DECIMAL(38, 10) k, i::VARCHAR l, (i % 2)::BOOLEAN m FROM range(-120, 120) r(i)",
	"SELECT pow(10, i) a, -1 / pow(10, i) b, pow(10, i)::FLOAT c, 1 / pow(3, i) d, (1 / pow(3, i))::FLOAT e FROM range(-38, 38) r(i)",
	"SELECT unnest(['nan', 'inf', '-inf', '-0', '4.9e-324', '1.7976931348623157e308'])::DOUBLE a",
	"SELECT unnest(['nan', 'inf', '-inf', '-0', '1e-45', '3.4028235e38'])::FLOAT a",
	"SELECT DATE '2000-02-28' + i::INTEGER a, TIMESTAMP '1999-12-31 23:59:59.999999' + to_hours(i) b, TIMESTAMPTZ '1999-12-31 23:59:59.999999+00' + to_hours(i * 1000) c, to_microseconds(i * 1234567) d, TIME '00:00:00' + to_seconds(i * 7) e FROM range(-400, 400) r(i)",
	"SELECT unnest(['infinity', '-infinity', '0001-01-01', '0001-01-01 (BC)', '9999-12-31', '290000-12-31', '5877642-06-25 (BC)'])::DATE a",
	"SELECT unnest(['infinity', '-infinity', '0044-03-15 (BC) 12:00:00', '294247-01-10 04:00:54.775806', '1970-01-01 00:00:00.000001'])::TIMESTAMP a",
	"SELECT unnest(['infinity', '-infinity', '0044-03-15 (BC) 12:00:00+00', '294247-01-10 04:00:54.775806+00', '1970-01-01 00:00:00.000001-12:34'])::TIMESTAMPTZ a",
	"SELECT unnest(['24:00:00', '00:00:00.000001', '23:59:59.999999'])::TIME a",
	"SELECT unnest(['00:00:00+15:59', '23:59:59.999999-15:59:59', '12:00:00+00'])::TIMETZ a",
	"SELECT unnest([INTERVAL '-1 month', INTERVAL '1 year 2 months -3 days', INTERVAL '-00:00:00.000001', INTERVAL '999999 hours']) a",
	`SELECT unnest(['', ' ', 'NULL', 'null', 'a''b', 'a"b', E'line\nline\t', chr(0), 'é', '😀', '\xAA', '[1, 2]', '{}', repeat('x', 5000)]) a`,
	`SELECT ['', ' ', 'NULL', 'a''b', 'a, b', '[x]', E'\n', 'é', NULL] a, {'a b': 'x, y', 'q''': NULL, 'n': {'m': [1.50, NULL]}} b, MAP {'k, 1': 'v=2', '': NULL} c, [[1], [], NULL] d, [1, 2, 3]::INTEGER[3] e`,
	"SELECT unnest(['1', '0', '10101', repeat('10', 100)])::BIT a",
	"SELECT unnest(['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '6f9619ff-8b86-d011-b42d-00c04fc964ff'])::UUID a",
	`SELECT unnest(['{"b":1,"b":9007199254740993,"a":[1.10,null]}', '"x"', 'null', '1e400'])::JSON a`,
	"SELECT 'x'::ENUM('x', 'it''s') a, NULL::ENUM('x') b, union_value(num := 2)::UNION(num INTEGER, str VARCHAR) c, 7::VARIANT d, [1, 'x'::VARIANT] e",
	`SELECT unnest(['', '\x00', '\xFF\x00ab', 'text'])::BLOB a, ['\xAA'::BLOB] b, {'x': '\x00'::BLOB} c`,
	"SELECT NULL a, NULL::INTEGER b, [] c, NULL::STRUCT(a INTEGER) d",
}

// TestOracle compares every cell with the text that DuckDB gives the same value, in this
// process. Bytes are hexadecimal digits here.
func TestOracle(t *testing.T) {
	t.Parallel()
	g := executiontest.Guard(t, "duckdb", 0)
	db, err := duckdbdb.Open(t.Context(), duckdbdb.Config{Path: duckfile.New(t)}, g.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it returns nil
	c := executiontest.NewClient(db, g)
	cells, equal := 0, 0
	types := map[string]bool{}
	for _, source := range oracleSources {
		if strings.HasPrefix(source, "FROM") {
			source = "SELECT * " + source
		}
		res := c.Get(t, source, execution.Limits{CellBytes: 8 << 20, Bytes: 64 << 20})
		texts := make([]string, len(res.Columns))
		names := make([]string, len(res.Columns))
		for i, column := range res.Columns {
			types[column.Type] = true
			names[i] = fmt.Sprintf("c%d", i)
			texts[i] = fmt.Sprintf("CAST(c%d AS VARCHAR)", i)
			if column.Type == "BLOB" {
				texts[i] = fmt.Sprintf(`'\x' || lower(hex(c%d))`, i)
			}
		}
		want := duckfile.Rows(t, ":memory:", "SELECT "+strings.Join(texts, ", ")+" FROM ("+source+") AS t("+strings.Join(names, ", ")+")")
		if len(want) != len(res.Rows) {
			t.Errorf("%s: %d rows, want %d", source, len(res.Rows), len(want))
			continue
		}
		for i, row := range res.Rows {
			for k, v := range row {
				got := v.Text
				if v.Kind == execution.Null {
					got = "NULL"
				}
				cells++
				if got == want[i][k] {
					equal++
					continue
				}
				t.Errorf("%s\nrow %d, column %s %s: %.200q, want %.200q", source, i, res.Columns[k].Name, res.Columns[k].Type, got, want[i][k])
			}
		}
	}
	t.Logf("%d of %d cells of %d types are equal", equal, cells, len(types))
}
