package rowset

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/execution"
)

// Syntax is how a dialect writes a part of a column's value.
type Syntax struct {
	Plain *regexp.Regexp      // names that need no quotes, except keywords
	Quote func(string) string // returns a name as a quoted identifier
	Part  string              // a format for a name and a number of characters
}

// Backquoted returns a name between backquotes, with a backslash before what ends it.
func Backquoted(name string) string {
	return "`" + backslashes.Replace(name) + "`"
}

var backslashes = strings.NewReplacer(`\`, `\\`, "`", "\\`")

// Backquotes is the syntax of engines that quote names so.
func Backquotes(part string) Syntax {
	return Syntax{Plain: plainName, Quote: Backquoted, Part: part}
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Set is the rows of one answer. Limits and Syntax are set before the first
// call; the other fields are read only.
type Set struct {
	Limits  execution.Limits
	Syntax  *Syntax
	Columns []execution.Column // nil before Describe
	Wide    int                // how many columns the server sent

	kinds []Kind
	rows  [][]execution.Value
	bytes int64                   // of the texts
	json  int64                   // what the rows take as JSON, at least
	cut   func(*execution.Result) // says why rows are missing; nil when none are

	text  strings.Builder   // the texts of many rows, in few allocations
	slab  []execution.Value // the values of many rows, in few allocations
	slabs int
}

// Describe sets the number of columns that the server sent and allocates those
// within the limit.
func (s *Set) Describe(wide int) {
	s.Wide = wide
	n := min(wide, s.Limits.Columns)
	s.Columns, s.kinds = make([]execution.Column, n), make([]Kind, n)
}

// Column sets one column and the kind of its texts.
func (s *Set) Column(i int, c execution.Column, k Kind) { s.Columns[i], s.kinds[i] = c, k }

// Full reports whether the set takes no further row.
func (s *Set) Full() bool { return s.cut != nil }

// Room reports whether there is room for one more row. When the limit is
// reached, it ends the rows, and the result says so.
func (s *Set) Room() bool {
	if len(s.rows) < s.Limits.Rows {
		return true
	}
	s.CutRows()
	return false
}

// CutRows ends the rows as a row beyond the limit does.
func (s *Set) CutRows() {
	s.end(func(r *execution.Result) { r.CutRows(s.Limits.Rows) })
}

// Cut ends the rows before a row that is too long. column is the column whose
// value is too long, and size the value's bytes. Column -1 means that the row
// as a whole is too long.
func (s *Set) Cut(column int, size int64) {
	s.end(func(r *execution.Result) {
		if column < 0 {
			r.CutBytes(s.Limits.Bytes)
			return
		}
		name := s.Columns[column].Name
		if !s.Syntax.Plain.MatchString(name) {
			name = s.Syntax.Quote(name)
		}
		r.CutCell(column, size, s.Limits.CellBytes, fmt.Sprintf(s.Syntax.Part, name, max(s.Limits.CellBytes/4, 1)))
	})
}

// end records the first reason why the rows end.
func (s *Set) end(cut func(*execution.Result)) {
	if s.cut == nil {
		s.cut = cut
	}
}

// Fits reports whether a row with texts of size bytes and so many NULLs is within the
// limit. Very many short values or NULLs are not, although their texts are: they take
// much more memory than their texts.
func (s *Set) Fits(size int64, nulls int) bool {
	return s.bytes+size <= s.Limits.Bytes && s.json+s.asJSON(size, nulls) <= s.Limits.Bytes+execution.FreeStructure
}

func (s *Set) asJSON(size int64, nulls int) int64 {
	return execution.RowSize(size, len(s.Columns), nulls)
}

// Add copies the texts of one row, nil for NULL. [Set.Room] must have returned
// true. A text that is not UTF-8 is rendered as bytes.
func (s *Set) Add(texts [][]byte) {
	var size int64
	nulls := 0
	for i, v := range texts {
		n := int64(len(v))
		if v == nil {
			nulls++
		} else if s.asBytes(i, v) {
			if n = 2 + 2*n; n > s.Limits.CellBytes {
				s.Cut(i, n)
				return
			}
		}
		size += n
	}
	if !s.Fits(size, nulls) {
		s.Cut(-1, 0)
		return
	}
	row := s.Row(len(texts), int(size), nulls)
	for i, v := range texts {
		switch {
		case v == nil: // the zero Value is NULL
		case s.asBytes(i, v):
			row[i] = execution.Value{Kind: execution.String, Text: s.hex(v)}
		default:
			row[i] = s.kinds[i].Value(s.Text(v))
		}
	}
}

func (s *Set) asBytes(column int, v []byte) bool { return s.kinds[column] == Bytes || !utf8.Valid(v) }

// Row adds a row of NULLs, makes room for texts of size bytes, and counts them. nulls
// is how many values stay NULL.
func (s *Set) Row(columns, size, nulls int) []execution.Value {
	s.bytes += int64(size)
	s.json += s.asJSON(int64(size), nulls)
	if s.text.Cap()-s.text.Len() < size {
		// Strings that were handed out keep their old buffer.
		next := min(max(2*s.text.Cap(), 1<<10), 64<<10)
		s.text = strings.Builder{}
		s.text.Grow(max(size, next))
	}
	if len(s.slab) < columns {
		s.slabs = min(max(2*s.slabs, 8), 256)
		s.slab = make([]execution.Value, s.slabs*columns)
	}
	row := s.slab[:columns:columns]
	s.slab = s.slab[columns:]
	s.rows = append(s.rows, row)
	return row
}

// Text returns a copy of v in the buffer of a row's texts.
func (s *Set) Text(v []byte) string {
	from := s.text.Len()
	s.text.Write(v)
	return s.text.String()[from:]
}

// hex returns v in the rendering of bytes.
func (s *Set) hex(v []byte) string {
	from := s.text.Len()
	s.text.WriteString(execution.HexText(v))
	return s.text.String()[from:]
}

// Drop removes every row.
func (s *Set) Drop() { s.rows, s.bytes, s.json = nil, 0, 0 }

// Result returns the collected rows.
func (s *Set) Result() *execution.Result {
	r := &execution.Result{Columns: s.Columns, Rows: s.rows, Bytes: s.bytes}
	if s.Wide > len(s.Columns) {
		r.CutColumns(s.Wide - len(s.Columns))
	}
	if s.cut != nil {
		s.cut(r)
	}
	return r
}

// Texts returns the rows as texts; NULL is "".
func (s *Set) Texts() [][]string { return Texts(s.rows) }

// Texts returns rows as texts; NULL is "".
func Texts(rows [][]execution.Value) [][]string {
	texts := make([][]string, len(rows))
	for i, row := range rows {
		texts[i] = make([]string, len(row))
		for k, v := range row {
			texts[i][k] = v.Text
		}
	}
	return texts
}
