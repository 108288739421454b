package executiontest

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution"
)

// testResults checks that rows are complete, in order, and have their values in
// the order of the columns.
func testResults(t *testing.T, s *suite) {
	t.Helper()
	c, _ := s.open(t, 1)
	t.Run("rows", func(t *testing.T) {
		const n = 2500
		res := c.Get(t, s.Queries.Numbers(n), execution.Limits{})
		if len(res.Rows) != n {
			t.Fatalf("%d rows, want %d", len(res.Rows), n)
		}
		var size int64
		for i, row := range res.Rows {
			want := strconv.Itoa(i + 1)
			if len(row) != 1 || row[0] != (execution.Value{Kind: execution.Number, Text: want}) {
				t.Fatalf("row %d is %v, want the number %s", i+1, row, want)
			}
			size += int64(len(want))
		}
		if res.Truncated || res.TruncatedBy != "" || res.Note != "" {
			t.Errorf("a complete result says it is cut: %t %q %q", res.Truncated, res.TruncatedBy, res.Note)
		}
		if res.Bytes != size {
			t.Errorf("Bytes is %d, want %d", res.Bytes, size)
		}
		if res.Elapsed <= 0 {
			t.Errorf("Elapsed is %v", res.Elapsed)
		}
		if res.Columns[0].Name != "n" {
			t.Errorf("the column is named %q, want n", res.Columns[0].Name)
		}
	})
	t.Run("columns of one name", func(t *testing.T) {
		if s.Queries.Duplicates == "" {
			t.Skip("the language gives columns of one name other names")
		}
		res := c.Get(t, s.Queries.Duplicates, execution.Limits{})
		want := [][]execution.Value{{{Kind: execution.Number, Text: "1"}, {Kind: execution.Number, Text: "2"}}}
		if diff := cmp.Diff(want, res.Rows); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		if len(res.Columns) != 2 || res.Columns[0].Name != "a" || res.Columns[1].Name != "a" {
			t.Errorf("columns are %v, want a and a", res.Columns)
		}
	})
	t.Run("no rows", func(t *testing.T) {
		res := c.Get(t, s.Queries.Empty, execution.Limits{})
		if len(res.Rows) != 0 || res.Truncated || res.Bytes != 0 {
			t.Errorf("%d rows, truncated %t, %d bytes; want an empty result", len(res.Rows), res.Truncated, res.Bytes)
		}
		if len(res.Columns) != 2 || res.Columns[0].Name != "id" || res.Columns[1].Name != "name" {
			t.Errorf("columns are %v, want id and name", res.Columns)
		}
	})
	t.Run("no columns", func(t *testing.T) {
		if s.Queries.NoColumns == "" {
			t.Skip("the language has no query without columns")
		}
		res := c.Get(t, s.Queries.NoColumns, execution.Limits{})
		if len(res.Rows) != 3 || len(res.Columns) != 0 || len(res.Rows[0]) != 0 {
			t.Errorf("%d rows, %d columns; want 3 rows without columns", len(res.Rows), len(res.Columns))
		}
	})
	t.Run("own rows", func(t *testing.T) {
		// A caller may keep a result while other statements run.
		first := c.Get(t, s.Queries.Texts(3, 40), execution.Limits{})
		kept := first.Rows[2][0].Text
		copied := string([]byte(kept))
		for range 20 {
			c.Get(t, s.Queries.Numbers(500), execution.Limits{})
		}
		if kept != copied {
			t.Errorf("a value of an earlier result has changed to %q", kept)
		}
	})
}

// testValues checks that the text of each value is the server's own.
func testValues(t *testing.T, s *suite) {
	t.Helper()
	c, _ := s.open(t, 1)
	for _, v := range s.Values {
		t.Run(v.Name, func(t *testing.T) {
			res := c.Get(t, v.SQL, execution.Limits{})
			if len(res.Rows) != 1 || len(res.Rows[0]) != 1 {
				t.Fatalf("%d rows, want one value", len(res.Rows))
			}
			if diff := cmp.Diff(v.Want, res.Rows[0][0]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", v.SQL, diff)
			}
			if got := res.Columns[0].Type; got != v.Type {
				t.Errorf("%s: the column's type is %q, want %q", v.SQL, got, v.Type)
			}
		})
	}
}
