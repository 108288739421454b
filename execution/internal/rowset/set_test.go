package rowset_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/rowset"
)

var syntax = rowset.Syntax{
	Plain: regexp.MustCompile(`^[a-z]+$`),
	Quote: strconv.Quote,
	Part:  "part(%s, %d)",
}

// set returns a set of columns of these kinds, named a, b, c.
func set(lim execution.Limits, kinds ...rowset.Kind) *rowset.Set {
	s := &rowset.Set{Limits: lim.WithDefaults(), Syntax: &syntax}
	s.Describe(len(kinds))
	for i := range s.Columns {
		s.Column(i, execution.Column{Name: string(rune('a' + i))}, kinds[i])
	}
	return s
}

func texts(cells ...string) [][]byte {
	row := make([][]byte, len(cells))
	for i, c := range cells {
		if c != "NULL" {
			row[i] = []byte(c)
		}
	}
	return row
}

func TestValues(t *testing.T) {
	s := set(execution.Limits{}, rowset.String, rowset.Bool, rowset.Integer, rowset.Float, rowset.Bytes)
	for _, row := range [][][]byte{
		texts("", "t", "-42", "1.5e-07", "\x01"),
		texts("NULL", "NULL", "NULL", "NULL", "NULL"),
		texts("a\xff", "f", "9007199254740993", "NaN", ""),
		texts("é", "f", "007", "-0", "é"),
	} {
		if !s.Room() {
			t.Fatal("there is no room")
		}
		s.Add(row)
	}
	res := s.Result()
	want := [][]execution.Value{
		{{Kind: execution.String}, {Kind: execution.Bool, Text: "t"}, {Kind: execution.Number, Text: "-42"}, {Kind: execution.Number, Text: "1.5e-07"}, {Kind: execution.String, Text: `\x01`}},
		{{}, {}, {}, {}, {}},
		{{Kind: execution.String, Text: `\x61ff`}, {Kind: execution.Bool, Text: "f"}, {Kind: execution.String, Text: "9007199254740993"}, {Kind: execution.String, Text: "NaN"}, {Kind: execution.String, Text: `\x`}},
		{{Kind: execution.String, Text: "é"}, {Kind: execution.Bool, Text: "f"}, {Kind: execution.String, Text: "007"}, {Kind: execution.Number, Text: "-0"}, {Kind: execution.String, Text: `\xc3a9`}},
	}
	if diff := cmp.Diff(want, res.Rows); diff != "" {
		t.Error(diff)
	}
	size := 0
	for _, row := range want {
		for _, v := range row {
			size += len(v.Text)
		}
	}
	if res.Bytes != int64(size) || res.Truncated || s.Full() {
		t.Errorf("%d bytes, want %d; truncated %t", res.Bytes, size, res.Truncated)
	}
	if got := s.Texts(); got[1][0] != "" || got[2][0] != `\x61ff` {
		t.Errorf("%q", got)
	}
}

// The rows end before the first that does not fit, and the result says why.
func TestLimits(t *testing.T) {
	long := strings.Repeat("x", 40)
	for _, v := range []struct {
		name  string
		lim   execution.Limits
		kind  rowset.Kind
		cells []string
		rows  int
		by    execution.TruncatedBy
		note  string
	}{
		{"rows", execution.Limits{Rows: 2}, rowset.String, []string{"1", "2", "3"}, 2, execution.TruncatedByRows, ""},
		{"just enough rows", execution.Limits{Rows: 2}, rowset.String, []string{"1", "2"}, 2, "", ""},
		{"bytes", execution.Limits{Bytes: 100}, rowset.String, []string{long, long, long}, 2, execution.TruncatedByBytes, ""},
		{"bytes as digits", execution.Limits{Bytes: 100}, rowset.Bytes, []string{long, long}, 1, execution.TruncatedByBytes, ""},
		{"cell as digits", execution.Limits{CellBytes: 64}, rowset.Bytes, []string{"1", long}, 1, execution.TruncatedByCell, "part(a, 16)"},
		{"cell that is no text", execution.Limits{CellBytes: 64}, rowset.String, []string{"1", long + "\xff"}, 1, execution.TruncatedByCell, "part(a, 16)"},
	} {
		s := set(v.lim, v.kind)
		for _, c := range v.cells {
			if !s.Full() && s.Room() {
				s.Add(texts(c))
			}
		}
		res := s.Result()
		if len(res.Rows) != v.rows || res.TruncatedBy != v.by || res.Truncated != (v.by != "") || !strings.Contains(res.Note, v.note) {
			t.Errorf("%s: %d rows, by %q: %s", v.name, len(res.Rows), res.TruncatedBy, res.Note)
		}
	}
}

// The first reason counts, and a name that needs quotes is quoted.
func TestCut(t *testing.T) {
	s := set(execution.Limits{Columns: 1, CellBytes: 8}, rowset.String, rowset.String)
	s.Columns[0].Name = "A"
	s.Cut(0, 99)
	s.CutRows()
	res := s.Result()
	if res.TruncatedBy != execution.TruncatedByCell || !strings.Contains(res.Note, `part("A", 2)`) || len(res.Columns) != 1 || s.Wide != 2 {
		t.Errorf("%+v", res)
	}
}

// Rows keep their texts when many more are added.
func TestManyRows(t *testing.T) {
	const n = 5000
	s := set(execution.Limits{Rows: n, Bytes: 1 << 30}, rowset.Integer, rowset.String)
	buffer := make([]byte, 0, 64)
	for i := range n {
		buffer = strconv.AppendInt(buffer[:0], int64(i), 10)
		s.Add([][]byte{buffer, buffer})
	}
	res := s.Result()
	for i, row := range res.Rows {
		if want := strconv.Itoa(i); row[0].Text != want || row[1].Text != want || len(row) != 2 || cap(row) != 2 {
			t.Fatalf("row %d is %v", i, row)
		}
	}
	if s.Drop(); len(s.Result().Rows) != 0 || s.Result().Bytes != 0 {
		t.Error("rows that were dropped are there")
	}
}
