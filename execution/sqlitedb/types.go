package sqlitedb

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/sqlitedb/engine"
)

// Sizes of the blocks that hold the values. They keep a result of few rows
// small, and need few allocations for a result of many rows.
const (
	firstTextPiece, lastTextPiece   = 512, 64 << 10
	firstValuePiece, lastValuePiece = 16, 4096
)

// reader reads the rows of a statement within limits. It copies each value out
// of the engine's memory once.
type reader struct {
	stmt    *engine.Stmt
	lim     execution.Limits
	result  *execution.Result
	columns int     // how many columns are read
	classes []uint8 // what the values of each column are: bits of classNames
	size    int64   // bytes read of the current row
	json    int64   // what the rows take as JSON, at least

	text      *strings.Builder // the block to which texts are appended
	textPiece int
	values    []execution.Value // the unused rest of the block of values
	piece     int
}

func newReader(stmt *engine.Stmt, lim execution.Limits) *reader {
	r := &reader{stmt: stmt, lim: lim, result: &execution.Result{}, text: new(strings.Builder), textPiece: firstTextPiece, piece: firstValuePiece}
	all := stmt.ColumnCount()
	r.columns = min(all, lim.Columns)
	r.result.Columns = make([]execution.Column, r.columns)
	r.classes = make([]uint8, r.columns)
	for i := range r.result.Columns {
		r.result.Columns[i] = execution.Column{
			Name: execution.NameText(stmt.ColumnName(i)),
			Type: execution.NameText(stmt.ColumnDeclType(i)),
		}
	}
	if all > r.columns {
		r.result.CutColumns(all - r.columns)
	}
	return r
}

// more reads one row. It returns false when there is none, when a limit is
// reached, and after an error. The statement holds the error.
func (r *reader) more() bool {
	if !r.stmt.Step() {
		return false
	}
	if len(r.result.Rows) == r.lim.Rows {
		r.result.CutRows(r.lim.Rows)
		return false
	}
	row := r.row()
	r.size = 0
	nulls := 0
	for i := range row {
		v, length := r.value(i)
		if length > r.lim.CellBytes {
			name := quoteName(r.result.Columns[i].Name)
			r.result.CutCell(i, length, r.lim.CellBytes, fmt.Sprintf("substr(%s, 1, %d)", name, max(r.lim.CellBytes/4, 1)))
			return false
		}
		row[i] = v
		r.size += length
		if v.Kind == execution.Null {
			nulls++
		}
	}
	size := execution.RowSize(r.size, r.columns, nulls)
	if r.result.Bytes+r.size > r.lim.Bytes || r.json+size > r.lim.Bytes+execution.FreeStructure {
		r.result.CutBytes(r.lim.Bytes)
		return false
	}
	r.json += size
	r.result.Bytes += r.size
	r.result.Rows = append(r.result.Rows, row)
	return true
}

// row returns a row of NULLs.
func (r *reader) row() []execution.Value {
	if len(r.values) < r.columns {
		r.values = make([]execution.Value, max(r.piece, r.columns))
		r.piece = min(r.piece*2, lastValuePiece)
	}
	row := r.values[:r.columns:r.columns]
	r.values = r.values[r.columns:]
	return row
}

// The storage classes of values, and what a column of such values is called.
const (
	classInteger = 1 << iota
	classReal
	classText
	classBlob
)

var classNames = []string{"INTEGER", "REAL", "TEXT", "BLOB"}

// tellBytes makes the types of the columns tell which has bytes, when one has: in the
// answer bytes look like a text of hexadecimal digits. A column without a declared type
// gets the storage classes of its values. To a declared type that is not BLOB, BLOB is
// added.
func (r *reader) tellBytes() {
	if !slices.ContainsFunc(r.classes, func(c uint8) bool { return c&classBlob != 0 }) {
		return
	}
	for i, c := range r.classes {
		column := &r.result.Columns[i]
		switch {
		case column.Type == "":
			var names []string
			for bit, name := range classNames {
				if c&(1<<bit) != 0 {
					names = append(names, name)
				}
			}
			column.Type = cmp.Or(strings.Join(names, " or "), "NULL")
		case c&classBlob != 0 && !strings.Contains(strings.ToUpper(column.Type), "BLOB"):
			column.Type += " or BLOB"
		}
	}
}

// value reads one cell and the length of its text. For a cell above the limit,
// or one that does not fit into the result, it returns the length only.
func (r *reader) value(i int) (v execution.Value, length int64) {
	switch r.stmt.ColumnType(i) {
	case sqlite3.INTEGER:
		r.classes[i] |= classInteger
		n := r.stmt.ColumnInt64(i)
		var buf [20]byte
		text := strconv.AppendInt(buf[:0], n, 10)
		v.Kind = execution.Number
		if n > 1<<53 || n < -(1<<53) { // as execution.IntegerValue does
			v.Kind = execution.String
		}
		v.Text = r.keep(text)
		return v, int64(len(text))
	case sqlite3.FLOAT:
		r.classes[i] |= classReal
		v = execution.FloatValue(r.keep(r.stmt.ColumnRawText(i)))
		return v, int64(len(v.Text))
	case sqlite3.TEXT:
		raw := r.stmt.ColumnRawText(i)
		length = int64(len(raw))
		if r.tooLong(length) {
			return v, length
		}
		if !utf8.Valid(raw) {
			r.classes[i] |= classBlob
			return r.hex(raw)
		}
		r.classes[i] |= classText
		return execution.Value{Kind: execution.String, Text: r.keep(raw)}, length
	case sqlite3.BLOB:
		r.classes[i] |= classBlob
		return r.hex(r.stmt.ColumnRawBlob(i))
	case sqlite3.NULL:
		return v, 0
	default:
		return v, 0
	}
}

// hex returns the value of bytes that are not text.
func (r *reader) hex(raw []byte) (v execution.Value, length int64) {
	length = 2 + 2*int64(len(raw))
	if r.tooLong(length) {
		return v, length
	}
	return execution.Value{Kind: execution.String, Text: execution.HexText(raw)}, length
}

// tooLong reports whether a value of that length will not be returned, and so
// need not be copied.
func (r *reader) tooLong(length int64) bool {
	return length > r.lim.CellBytes || r.result.Bytes+r.size+length > r.lim.Bytes
}

// keep copies b into the current block of text and returns it as a string.
func (r *reader) keep(b []byte) string {
	if r.text.Cap()-r.text.Len() < len(b) {
		r.text = new(strings.Builder) // the strings in the old block keep it alive
		r.text.Grow(max(r.textPiece, len(b)))
		r.textPiece = min(r.textPiece*2, lastTextPiece)
	}
	start := r.text.Len()
	r.text.Write(b)
	return r.text.String()[start:]
}

// quoteName quotes a name for a note.
func quoteName(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
