package executiontest

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
)

// testCaps checks that each limit cuts the result where it should, and that the
// result says so. A value is never cut.
func testCaps(t *testing.T, s *suite) {
	t.Helper()
	c, _ := s.open(t, 1)

	t.Run("rows", func(t *testing.T) {
		for _, n := range []int{1, 7, 8, 9, 5000} {
			const most = 8
			res := c.Get(t, s.Queries.Numbers(n), execution.Limits{Rows: most})
			wantRows(t, res, min(n, most))
			wantCut(t, res, n > most, execution.TruncatedByRows)
		}
		res := c.Get(t, s.Queries.Numbers(execution.DefaultRows+1), execution.Limits{})
		wantRows(t, res, execution.DefaultRows)
		wantCut(t, res, true, execution.TruncatedByRows)
		s.answers(t, c)
	})

	t.Run("bytes", func(t *testing.T) {
		const size, most = 100, 1000
		for _, rows := range []int{9, 10, 11, 2000} {
			res := c.Get(t, s.Queries.Texts(rows, size), execution.Limits{Bytes: most})
			wantRows(t, res, min(rows, most/size))
			wantCut(t, res, rows > most/size, execution.TruncatedByBytes)
			if res.Bytes != int64(len(res.Rows))*size {
				t.Errorf("Bytes is %d, want %d", res.Bytes, len(res.Rows)*size)
			}
		}
		// A row that does not fit ends the result before it, even the first
		// row.
		res := c.Get(t, s.Queries.Texts(3, size), execution.Limits{Bytes: size - 1})
		wantRows(t, res, 0)
		wantCut(t, res, true, execution.TruncatedByBytes)
		s.answers(t, c)
	})

	t.Run("short values", func(t *testing.T) {
		// The texts of all rows fit. As JSON they do not, and in memory even less.
		const rows, most = 60_000, 300_000
		res := c.Get(t, s.Queries.Numbers(rows), execution.Limits{Rows: rows, Bytes: most})
		wantCut(t, res, true, execution.TruncatedByBytes)
		size := res.Bytes + 3*int64(len(res.Rows))
		if size > most+execution.FreeStructure || size < most {
			t.Errorf("%d rows of at least %d bytes as JSON, with a limit of %d", len(res.Rows), size, most)
		}
		s.answers(t, c)
	})

	t.Run("cell", func(t *testing.T) {
		const most = 1000
		res := c.Get(t, s.Queries.Cells(10, most, most, 20), execution.Limits{CellBytes: most})
		wantRows(t, res, 4)
		wantCut(t, res, false, "")
		res = c.Get(t, s.Queries.Cells(10, most, most+1, 20), execution.Limits{CellBytes: most})
		wantRows(t, res, 2)
		wantCut(t, res, true, execution.TruncatedByCell)
		for _, part := range []string{"cell", strconv.Itoa(most + 1)} {
			if !strings.Contains(res.Note, part) {
				t.Errorf("the note %q does not name %s", res.Note, part)
			}
		}
		if got := len(res.Rows[1][1].Text); got != most {
			t.Errorf("a cell within the limit has %d bytes, want %d", got, most)
		}
		s.answers(t, c)
	})

	t.Run("columns", func(t *testing.T) {
		const most = 12
		for _, n := range []int{11, 12, 13, 200} {
			res := c.Get(t, s.Queries.Columns(n), execution.Limits{Columns: most})
			wantRows(t, res, 1)
			wantCut(t, res, n > most, execution.TruncatedByColumns)
			if len(res.Columns) != min(n, most) || len(res.Rows[0]) != len(res.Columns) {
				t.Errorf("%d columns, %d values; want %d", len(res.Columns), len(res.Rows[0]), min(n, most))
			}
			for i, v := range res.Rows[0] {
				if want := strconv.Itoa(i + 1); v.Text != want || res.Columns[i].Name != "c"+want {
					t.Errorf("column %d is %s of %s, want c%s of %s", i, res.Columns[i].Name, v.Text, want, want)
				}
			}
		}
		res := c.Get(t, s.Queries.Columns(execution.DefaultColumns+200), execution.Limits{})
		if len(res.Columns) != execution.DefaultColumns {
			t.Errorf("%d columns, want the default limit %d", len(res.Columns), execution.DefaultColumns)
		}
		wantCut(t, res, true, execution.TruncatedByColumns)
	})

	t.Run("combinations", func(t *testing.T) {
		const omitted = "of 2 columns"
		for _, q := range []struct {
			name, sql string
			lim       execution.Limits
			rows      int
			by        execution.TruncatedBy
			note      []string // parts of the note
		}{
			{"the last row fills the bytes", s.Queries.Texts(10, 100), execution.Limits{Rows: 10, Bytes: 1000}, 10, "", nil},
			{"rows and bytes are full", s.Queries.Texts(11, 100), execution.Limits{Rows: 10, Bytes: 1000}, 10, execution.TruncatedByRows, []string{"10"}},
			{"bytes are full first", s.Queries.Texts(11, 100), execution.Limits{Rows: 10, Bytes: 999}, 9, execution.TruncatedByBytes, []string{"999", "row 10"}},
			{"a long value behind the last row", s.Queries.Cells(10, 10, 2000), execution.Limits{Rows: 2, CellBytes: 1000}, 2, execution.TruncatedByRows, nil},
			{"a long value in the last row", s.Queries.Cells(10, 2000, 10), execution.Limits{Rows: 2, CellBytes: 1000}, 1, execution.TruncatedByCell, []string{`"cell"`, "2000", "row 2", "substr"}},
			{"a long value in the first row", s.Queries.Cells(2000, 10), execution.Limits{CellBytes: 1000}, 0, execution.TruncatedByCell, []string{"row 1"}},
			{"a long value and no bytes left", s.Queries.Cells(900, 2000), execution.Limits{Bytes: 901, CellBytes: 1000}, 1, execution.TruncatedByCell, nil},
			{"the longest value there may be", s.Queries.Cells(1000), execution.Limits{CellBytes: 1000, Bytes: 1001}, 1, "", nil},
			{"columns and rows", s.Queries.Cells(10, 10, 10), execution.Limits{Columns: 1, Rows: 2}, 2, execution.TruncatedByRows, []string{"rows", omitted}},
			{"columns and bytes", s.Queries.Cells(10, 10, 10), execution.Limits{Columns: 1, Bytes: 2}, 2, execution.TruncatedByBytes, []string{"bytes", omitted}},
			{"columns and a long value", s.Queries.Cells(10, 10), execution.Limits{Columns: 1, CellBytes: 1000}, 2, execution.TruncatedByColumns, []string{omitted}},
			{"a long value in a column left out", s.Queries.Cells(10, 5000), execution.Limits{Columns: 1, CellBytes: 1000}, 2, execution.TruncatedByColumns, []string{omitted}},
			{"bytes in a column left out", s.Queries.Cells(5000, 5000), execution.Limits{Columns: 1, Bytes: 2}, 2, execution.TruncatedByColumns, []string{omitted}},
			{"an error behind the last row", s.Queries.FailsLate, execution.Limits{Rows: 10}, 10, execution.TruncatedByRows, nil},
		} {
			t.Run(q.name, func(t *testing.T) {
				res := c.Get(t, q.sql, q.lim)
				wantRows(t, res, q.rows)
				wantCut(t, res, q.by != "", q.by)
				for _, part := range q.note {
					if !strings.Contains(res.Note, part) {
						t.Errorf("the note %q does not have %q", res.Note, part)
					}
				}
				for _, row := range res.Rows {
					if len(row) != len(res.Columns) {
						t.Errorf("a row of %d values for %d columns", len(row), len(res.Columns))
					}
				}
			})
		}
		s.answers(t, c)
	})

	t.Run("memory", func(t *testing.T) {
		// A value that a limit leaves out is not copied to this process' heap.
		const cell = 32 << 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		res := c.Get(t, s.Queries.Cells(10, cell), execution.Limits{})
		runtime.ReadMemStats(&after)
		wantRows(t, res, 1)
		wantCut(t, res, true, execution.TruncatedByCell)
		if used := after.TotalAlloc - before.TotalAlloc; used > cell/2 {
			t.Errorf("a cell of %d bytes that is left out allocated %d bytes", cell, used)
		}
		s.answers(t, c)
	})
}

func wantRows(t *testing.T, res *execution.Result, n int) {
	t.Helper()
	if len(res.Rows) != n {
		t.Errorf("%d rows, want %d", len(res.Rows), n)
	}
	if len(res.Columns) == 0 {
		t.Error("the result has no columns")
	}
}

// wantCut checks the three fields that say whether a result is complete.
func wantCut(t *testing.T, res *execution.Result, cut bool, by execution.TruncatedBy) {
	t.Helper()
	if !cut {
		by = ""
	}
	if res.Truncated != cut || res.TruncatedBy != by || (res.Note != "") != cut {
		t.Errorf("truncated %t by %q with note %q, want %t by %q", res.Truncated, res.TruncatedBy, res.Note, cut, by)
	}
}
