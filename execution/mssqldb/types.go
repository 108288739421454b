package mssqldb

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
)

// The wire has values in binary; the text that stands for each is described by
// [tds.Column.AppendText].

// value returns the value of a text.
func value(kind tds.Kind, text string) execution.Value {
	switch kind {
	case tds.KindBit:
		return execution.Value{Kind: execution.Bool, Text: text}
	case tds.KindInteger:
		if len(text) <= 15 { // exact for every reader
			return execution.Value{Kind: execution.Number, Text: text}
		}
		return execution.IntegerValue(text)
	case tds.KindFloat:
		return execution.FloatValue(text)
	case tds.KindText:
		return execution.Value{Kind: execution.String, Text: text}
	default:
		return execution.Value{Kind: execution.String, Text: text}
	}
}

// rowSet collects rows within limits.
type rowSet struct {
	lim     execution.Limits
	columns []execution.Column
	types   []tds.Column
	wide    int // columns that the server sent
	rows    [][]execution.Value
	bytes   int64

	full bool                    // no further row is wanted
	cut  func(*execution.Result) // says why, when rows are missing

	row   []byte // the texts of one row
	cells []cell
	text  strings.Builder   // the texts of many rows in few pieces
	slab  []execution.Value // the values of many rows in few pieces
	slabs int
}

// cell is where the text of a value ends in a row.
type cell struct {
	end  int
	kind tds.Kind
	null bool
}

// describe takes the columns of the result.
func (s *rowSet) describe(columns []tds.Column) {
	s.wide = len(columns)
	s.types = columns[:min(s.wide, s.lim.Columns)]
	s.columns = make([]execution.Column, len(s.types))
	for i := range s.types {
		s.columns[i] = execution.Column{Name: tds.Text(s.types[i].Name), Type: s.types[i].TypeName()}
	}
}

// add reads one row. A value that is longer than the limit ends the rows before
// it, wherever in the row it stands; else the bytes of the row may.
func (s *rowSet) add(r *tds.Response, enough func(time.Duration)) error {
	if len(s.rows) >= s.lim.Rows {
		s.end(func(res *execution.Result) { res.CutRows(s.lim.Rows) })
		return nil
	}
	if enough != nil {
		r.Over = func() { enough(drainCellFor) }
	}
	s.row, s.cells = s.row[:0], s.cells[:0]
	size, fits := int64(0), true
	for i := range s.types {
		c, err := r.Cell(s.types[i].RawLimit(s.lim.CellBytes))
		if c.Over && (err == nil || errors.Is(err, tds.ErrCut) || !errors.Is(err, tds.ErrMalformed)) {
			s.cutCell(i, max(c.Size, s.lim.CellBytes+1))
			return err
		}
		if err != nil {
			return err
		}
		from := len(s.row)
		var kind tds.Kind
		if !c.Null {
			if s.row, kind, err = s.types[i].AppendText(s.row, c.Raw); err != nil {
				return err
			}
		}
		n := int64(len(s.row) - from)
		if n > s.lim.CellBytes {
			s.cutCell(i, n)
			return nil
		}
		if size += n; s.bytes+size > s.lim.Bytes {
			fits, s.row = false, s.row[:0]
		}
		s.cells = append(s.cells, cell{len(s.row), kind, c.Null})
	}
	if !fits {
		s.end(func(res *execution.Result) { res.CutBytes(s.lim.Bytes) })
		return nil
	}
	s.bytes += size
	s.store()
	return nil
}

// store keeps the row that was read.
func (s *rowSet) store() {
	if s.text.Cap()-s.text.Len() < len(s.row) {
		// Texts handed out keep the piece that they are in.
		next := min(max(2*s.text.Cap(), 1<<10), 64<<10)
		s.text = strings.Builder{}
		s.text.Grow(max(len(s.row), next))
	}
	base := s.text.Len()
	s.text.Write(s.row)
	text := s.text.String()[base:]
	if len(s.slab) < len(s.cells) {
		s.slabs = min(max(2*s.slabs, 8), 256)
		s.slab = make([]execution.Value, s.slabs*len(s.cells))
	}
	row := s.slab[:len(s.cells):len(s.cells)]
	s.slab = s.slab[len(s.cells):]
	from := 0
	for i, c := range s.cells {
		if !c.null { // the zero Value is NULL
			row[i] = value(c.kind, text[from:c.end])
		}
		from = c.end
	}
	s.rows = append(s.rows, row)
}

// plainName matches names that need no quotes, keywords aside.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// cutCell ends the rows before one whose value in a column is too long.
func (s *rowSet) cutCell(column int, size int64) {
	s.end(func(res *execution.Result) {
		name := s.columns[column].Name
		if !plainName.MatchString(name) {
			name = quoteName(name)
		}
		res.CutCell(column, size, s.lim.CellBytes, fmt.Sprintf("substring(%s, 1, %d)", name, max(s.lim.CellBytes/4, 1)))
	})
}

func (s *rowSet) end(cut func(*execution.Result)) {
	if !s.full {
		s.full, s.cut = true, cut
	}
}

// Names of the column of FOR XML and FOR JSON without a name.
const (
	columnXML  = "XML_F52E2B61-18A1-11d1-B105-00805F49916B"
	columnJSON = "JSON_F52E2B61-18A1-11d1-B105-00805F49916B"
)

// result returns what was collected.
//
// The document of FOR XML or FOR JSON comes in rows of about 2,000 characters.
// SET ROWCOUNT ends the rows that it is made of, behind which the server closes
// it as if it were whole: it is returned only where the server counted no more
// rows than the limit.
func (s *rowSet) result(a *answer) *execution.Result {
	r := &execution.Result{Columns: s.columns, Rows: s.rows, Bytes: s.bytes}
	document := len(s.columns) == 1 && (s.columns[0].Name == columnXML || s.columns[0].Name == columnJSON)
	if document && s.cut == nil && (!a.counted || a.count > uint64(s.lim.Rows)) { //nolint:gosec // a limit is not negative
		r.Rows, r.Bytes = nil, 0
		s.end(func(res *execution.Result) { res.CutRows(s.lim.Rows) })
	}
	if s.wide > len(s.columns) {
		r.CutColumns(s.wide - len(s.columns))
	}
	if s.cut != nil {
		s.cut(r)
	}
	return r
}

// texts returns the rows as texts; NULL is "".
func (s *rowSet) texts() [][]string {
	rows := make([][]string, len(s.rows))
	for i, row := range s.rows {
		for _, v := range row {
			rows[i] = append(rows[i], v.Text)
		}
	}
	return rows
}

// quoteName returns name as a quoted identifier.
func quoteName(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }
