package sql_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/sql"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research"
)

func number(text string) execution.Value { return execution.Value{Kind: execution.Number, Text: text} }

func text(text string) execution.Value { return execution.Value{Kind: execution.String, Text: text} }

// TestParquet reads the file again: every column has the type that holds its values
// exactly, and no value is another.
func TestParquet(t *testing.T) {
	null := execution.Value{}
	out := &research.SQLExecutionOutput{
		Headers: []string{"z", "whole", "double", "long", "truth", "mixed", "z", "none", "z_2"},
		Rows: [][]execution.Value{
			{text("Kraków"), number("-9223372036854775808"), number("0.10"), number("0.12345678901234567890"), {Kind: execution.Bool, Text: "t"}, number("1"), number("7"), null, text("")},
			{null, number("9"), number("1e300"), number("1"), {Kind: execution.Bool, Text: "f"}, text("1"), null, null, text("\\x00a")},
		},
	}
	var b bytes.Buffer
	if err := sql.WriteParquet(&b, out); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for _, f := range file.Schema().Fields() {
		types[f.Name()] = f.Type().Kind().String()
		if !f.Optional() {
			t.Errorf("%s may not be NULL", f.Name())
		}
	}
	want := map[string]string{
		"z": "BYTE_ARRAY", "whole": "INT64", "double": "DOUBLE", "long": "BYTE_ARRAY", "truth": "BOOLEAN", "mixed": "BYTE_ARRAY",
		"z_3": "INT64", "none": "BYTE_ARRAY", "z_2": "BYTE_ARRAY",
	}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Error(diff)
	}
	rows, err := parquet.Read[any](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	wantRows := []any{
		map[string]any{"z": "Kraków", "whole": int64(-9223372036854775808), "double": 0.1, "long": "0.12345678901234567890", "truth": true, "mixed": "1", "z_3": int64(7), "none": nil, "z_2": ""},
		map[string]any{"z": nil, "whole": int64(9), "double": 1e300, "long": "1", "truth": false, "mixed": "1", "z_3": nil, "none": nil, "z_2": "\\x00a"},
	}
	if diff := cmp.Diff(wantRows, rows); diff != "" {
		t.Error(diff)
	}
}

// TestParquetRowGroups: a result of several row groups, with NULLs at the edges of bytes
// of the levels, is read as it is.
func TestParquetRowGroups(t *testing.T) {
	const rows = 2*65536 + 3
	out := &research.SQLExecutionOutput{Headers: []string{"n", "odd", "s"}}
	for i := range rows {
		row := []execution.Value{number(strconv.Itoa(i)), {Kind: execution.Bool, Text: map[bool]string{true: "1", false: "0"}[i%2 == 1]}, text(strings.Repeat("x", i%5))}
		if i%7 == 3 {
			row[1] = execution.Value{}
		}
		out.Rows = append(out.Rows, row)
	}
	var b bytes.Buffer
	if err := sql.WriteParquet(&b, out); err != nil {
		t.Fatal(err)
	}
	type record struct {
		N   *int64  `parquet:"n,optional"`
		Odd *bool   `parquet:"odd,optional"`
		S   *string `parquet:"s,optional"`
	}
	got, err := parquet.Read[record](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(got) != rows {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	for i, r := range got {
		if *r.N != int64(i) || (r.Odd == nil) != (i%7 == 3) || r.Odd != nil && *r.Odd != (i%2 == 1) || len(*r.S) != i%5 {
			t.Fatalf("row %d is %v %v %v", i, r.N, r.Odd, r.S)
		}
	}
}

// TestParquetWithoutRows: a result without rows is a file with its columns.
func TestParquetWithoutRows(t *testing.T) {
	var b bytes.Buffer
	if err := sql.WriteParquet(&b, &research.SQLExecutionOutput{Headers: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || file.NumRows() != 0 || len(file.Schema().Fields()) != 1 {
		t.Errorf("%v", err)
	}
}
