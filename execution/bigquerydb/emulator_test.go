package bigquerydb_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/bqemulator"
	"github.com/ktxhq/ktx/sqlguard"
)

// openEmulator opens a backend on the emulator, in a dataset of its own.
func openEmulator(t *testing.T, e bqemulator.Emulator) *executiontest.Client {
	t.Helper()
	address := e.NewDataset(t)
	g, err := sqlguard.New(bigquery.Dialect{}, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bigquerydb.Open(t.Context(), bigquerydb.Config{URL: execution.NewSecret(address), Session: bigquery.Dialect{}.Session()}, g.ID())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return executiontest.NewClient(b, g)
}

// answer is what the API says about a query.
type answer struct {
	Schema struct {
		Fields []schemaField `json:"fields"`
	} `json:"schema"`
	Rows []struct {
		F []struct{ V any } `json:"f"`
	} `json:"rows"`
}

type schemaField struct {
	Name, Type, Mode string
	Fields           []schemaField
}

// shown is the text of a value of the API, as the package's doc.go has it. Below a column
// it is a value of JSON.
func shown(t *testing.T, f schemaField, v any) any {
	t.Helper()
	if f.Mode == "REPEATED" {
		f.Mode = ""
		list, _ := v.([]any)
		out := []any{}
		for _, item := range list {
			object, ok := item.(map[string]any)
			if !ok {
				t.Fatalf("an element is %v", item)
			}
			out = append(out, shown(t, f, object["v"]))
		}
		return out
	}
	if v == nil {
		return nil
	}
	if f.Type == "RECORD" || f.Type == "STRUCT" {
		object, _ := v.(map[string]any)
		list, _ := object["f"].([]any)
		var out strings.Builder
		for i, item := range list {
			cell, _ := item.(map[string]any)
			name, value := marshal(t, f.Fields[i].Name), marshal(t, shown(t, f.Fields[i], cell["v"]))
			fmt.Fprintf(&out, "%s%s:%s", map[bool]string{true: ",", false: ""}[i > 0], name, value)
		}
		return json.RawMessage("{" + out.String() + "}")
	}
	text, ok := v.(string)
	if !ok {
		t.Fatalf("a %s is %T %v", f.Type, v, v)
	}
	switch f.Type {
	case "BYTES":
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return `\x` + hex.EncodeToString(raw)
	case "TIMESTAMP":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil { // the emulator has microseconds only outside of arrays and structures
			return text
		}
		at := time.UnixMicro(n).UTC()
		form := "2006-01-02 15:04:05"
		for _, digits := range []string{".000", ".000000"} {
			if s := at.Format(form + digits); strings.TrimRight(at.Format(".000000"), "0") != "." && len(strings.TrimRight(at.Format(".000000"), "0")) <= len(digits) {
				return s + "+00"
			}
		}
		return at.Format(form) + "+00"
	}
	return text
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// emulatorValues are expressions of every type.
var emulatorValues = []string{
	"NULL", "CAST(NULL AS STRING)", "CAST(NULL AS INT64)", "CAST(NULL AS TIMESTAMP)", "CAST(NULL AS BYTES)", "0", "-42", "9007199254740991", "9007199254740993", "9223372036854775807", "-9223372036854775808", "TRUE", "FALSE",
	"0.1", "1.0", "-0.0", "1e300", "5e-324", "0.1 + 0.2", "CAST('nan' AS FLOAT64)", "CAST('inf' AS FLOAT64)", "CAST('-inf' AS FLOAT64)", "1e21", "123456789.123456789", "NUMERIC '0'", "NUMERIC '12345678901234567890123456789.123456789'", "NUMERIC '-0.000000001'",
	"BIGNUMERIC '578960446186580977117854925043439539266.34992332820282019728792003956564819967'", "BIGNUMERIC '1.5'", "''", "'null'", "'a'", "'Grüße, 世界 😀'", `'a"b\\c/d\te\nf'`, `'\x01\x7f'`, "' '", "REPEAT('x', 5000)", "'2024-01-01'", "b''", `b'\x00\xff\x10'`, "b'abc'",
	"DATE '0001-01-01'", "DATE '2024-02-29'", "DATE '9999-12-31'", "DATETIME '2024-02-29 12:34:56'", "DATETIME '2024-02-29 12:34:56.789012'", "DATETIME '0001-01-01 00:00:00'", "TIME '00:00:00'", "TIME '23:59:59.999999'", "TIME '12:34:56.5'",
	"TIMESTAMP '2024-02-29 12:34:56+00'", "TIMESTAMP '2024-02-29 12:34:56.78+00'", "TIMESTAMP '2024-02-29 12:34:56.789012+00'", "TIMESTAMP '1969-12-31 23:59:59.999999+00'", "TIMESTAMP '0001-01-01 00:00:00+00'", "TIMESTAMP '9999-12-31 23:59:59.999999+00'", "TIMESTAMP '2024-02-29 12:34:56+02'",
	"INTERVAL 3 DAY", "INTERVAL '1-2 3 4:5:6.789' YEAR TO SECOND", "INTERVAL -1 MONTH", `JSON '{"a": [1, 2.5, null, true, "x"]}'`, "JSON 'null'", `JSON '"text"'`, "JSON '12345678901234567890'", "ST_GEOGPOINT(1, 2)", "RANGE<DATE> '[2024-01-01, 2024-12-31)'",
	"[1, 2, 3]", "CAST([] AS ARRAY<INT64>)", `['a]', 'b"', '']`, "[1.5, -2.5]", "[TRUE, FALSE]", "[DATE '2024-02-29']", "[TIMESTAMP '2024-02-29 12:34:56.5+00', TIMESTAMP '1970-01-01 00:00:00+00']", `[b'\xff', b'']`, "[NUMERIC '1.5']",
	"STRUCT(1 AS a)", "STRUCT(1 AS a, 'x' AS b, CAST(NULL AS STRING) AS c, TRUE AS d, 1.5 AS e)", "STRUCT([1, 2] AS a, STRUCT('x' AS c) AS b)", "STRUCT(TIMESTAMP '2024-02-29 12:34:56+00' AS a, DATE '2024-02-29' AS b, b'abc' AS c)", "[STRUCT(1 AS a, [STRUCT('x' AS c)] AS b), STRUCT(2, [STRUCT('y')])]", "STRUCT('a\"b' AS `a b`)",
	"IF(FALSE, STRUCT(1 AS a), NULL)", "CURRENT_DATE() IS NULL", "GENERATE_ARRAY(1, 200)", "SHA256('a')", "SAFE_DIVIDE(1, 0)", "DATE_DIFF(DATE '2024-03-01', DATE '2024-02-28', DAY)", "FORMAT('%.3f', 1.0)", "SPLIT('a,b,,c')", "COUNT(*)", "APPROX_COUNT_DISTINCT(1)", "ANY_VALUE('x')", "SUM(NUMERIC '1.1')",
}

// TestEmulatorValues compares the backend's values with what the API of the emulator has,
// which Go's own JSON decoder reads. A type that the emulator does not have is logged.
func TestEmulatorValues(t *testing.T) {
	e := bqemulator.Need(t)
	c := openEmulator(t, e)
	cells := 0
	for _, expression := range emulatorValues {
		sql := "SELECT " + expression + " AS v"
		if strings.Contains(expression, "(*)") || strings.HasPrefix(expression, "APPROX_") || strings.HasPrefix(expression, "ANY_") || strings.HasPrefix(expression, "SUM(") {
			sql += " FROM UNNEST([1, 2, 3]) AS n"
		}
		res, err := c.Try(t.Context(), t, sql, execution.Limits{})
		if err != nil {
			t.Logf("the emulator does not have %s: %v", sql, err)
			continue
		}
		var want answer
		if err := json.Unmarshal(e.Query(t, "", sql), &want); err != nil {
			t.Fatal(err)
		}
		if len(res.Rows) != len(want.Rows) || len(res.Columns) != len(want.Schema.Fields) {
			t.Errorf("%s: %d rows of %d columns, want %d of %d", sql, len(res.Rows), len(res.Columns), len(want.Rows), len(want.Schema.Fields))
			continue
		}
		for i, row := range res.Rows {
			for k, got := range row {
				cells++
				value := shown(t, want.Schema.Fields[k], want.Rows[i].F[k].V)
				if value == nil {
					if got.Kind != execution.Null {
						t.Errorf("%s: %v, want NULL", sql, got)
					}
					continue
				}
				text, plain := value.(string)
				if !plain {
					text = marshal(t, value)
				}
				if got.Kind == execution.Null || got.Text != text {
					t.Errorf("%s: %v, want %q", sql, got, text)
				}
			}
		}
	}
	t.Logf("%d cells of %d expressions", cells, len(emulatorValues))
	if cells < len(emulatorValues)*8/10 {
		t.Errorf("the emulator has only %d of %d expressions", cells, len(emulatorValues))
	}
}

// TestEmulatorPages reads more rows than a page has, and stops at a limit on rows.
func TestEmulatorPages(t *testing.T) {
	c := openEmulator(t, bqemulator.Need(t))
	const rows = 25_000
	sql := fmt.Sprintf("SELECT n, CONCAT('row ', CAST(n AS STRING)) AS name FROM UNNEST(GENERATE_ARRAY(1, %d)) AS n ORDER BY n", rows)
	res := c.Get(t, sql, execution.Limits{Rows: rows + 1})
	if len(res.Rows) != rows || res.Truncated {
		t.Fatalf("%d rows, truncated %t", len(res.Rows), res.Truncated)
	}
	for i, row := range res.Rows {
		if n := strconv.Itoa(i + 1); row[0].Text != n || row[1].Text != "row "+n {
			t.Fatalf("row %d is %v", i, row)
		}
	}
	if res := c.Get(t, sql, execution.Limits{Rows: 12_345}); len(res.Rows) != 12_345 || !res.Truncated {
		t.Errorf("%d rows, truncated %t", len(res.Rows), res.Truncated)
	}
}

// TestEmulatorErrors checks that errors of the emulator are errors of the statement, and
// that the connection can be used after them.
func TestEmulatorErrors(t *testing.T) {
	c := openEmulator(t, bqemulator.Need(t))
	for _, sql := range []string{"SELECT nothing FROM UNNEST([1]) AS n", "SELECT * FROM missing", "SELECT 1 + 'a'", "SELECT ERROR('stop')", "SELECT CAST('x' AS INT64)"} {
		if e := c.Fails(t, sql, execution.Limits{}); e.Code != sqlguard.CodeDatabaseError {
			t.Errorf("%s: %s %s", sql, e.Code, e.Message)
		}
		if res := c.Get(t, "SELECT 1 AS one", execution.Limits{}); len(res.Rows) != 1 || res.Rows[0][0].Text != "1" {
			t.Errorf("after %s: %v", sql, res.Rows)
		}
	}
}
