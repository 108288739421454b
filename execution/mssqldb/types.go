package mssqldb

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
)

// The protocol sends values in binary. [tds.Column.AppendText] describes the
// text of each.

// kinds maps the kinds of text to those of a result.
var kinds = [...]rowset.Kind{
	tds.KindText:    rowset.String,
	tds.KindInteger: rowset.Integer,
	tds.KindFloat:   rowset.Float,
	tds.KindBit:     rowset.Bool,
}

// syntax says how to read a part of a column.
var syntax = rowset.Syntax{
	Plain: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`),
	Quote: quoteName,
	Part:  "substring(%s, 1, %d)",
}

// rowSet collects rows within limits.
type rowSet struct {
	rowset.Set
	types []tds.Column
	row   []byte // the texts of one row
	cells []cell
}

func newRowSet(lim execution.Limits) rowSet {
	return rowSet{Set: rowset.Set{Limits: lim, Syntax: &syntax}}
}

// cell holds where the text of a value ends in a row.
type cell struct {
	end  int
	kind tds.Kind
	null bool
}

// describe records the columns of the result.
func (s *rowSet) describe(columns []tds.Column) {
	s.Describe(len(columns))
	s.types = columns[:len(s.Columns)]
	for i := range s.types {
		// In a sql_variant column, each value has its own kind.
		s.Column(i, execution.Column{Name: tds.Text(s.types[i].Name), Type: s.types[i].TypeName()}, rowset.String)
	}
}

// add reads one row. A value that is longer than the limit ends the result
// before this row, wherever in the row the value is. Otherwise the row ends the
// result if it exceeds the limit on bytes.
func (s *rowSet) add(r *tds.Response, enough func(time.Duration)) error {
	if !s.Room() {
		return nil
	}
	if enough != nil {
		r.Over = func() { enough(drainCellFor) }
	}
	s.row, s.cells = s.row[:0], s.cells[:0]
	size, nulls, fits := int64(0), 0, true
	for i := range s.types {
		c, err := r.Cell(s.types[i].RawLimit(s.Limits.CellBytes))
		if c.Over && (err == nil || errors.Is(err, tds.ErrCut) || !errors.Is(err, tds.ErrMalformed)) {
			s.Cut(i, max(c.Size, s.Limits.CellBytes+1))
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
		if n > s.Limits.CellBytes {
			s.Cut(i, n)
			return nil
		}
		if c.Null {
			nulls++
		}
		if size += n; !s.Fits(size, nulls) {
			fits, s.row = false, s.row[:0]
		}
		s.cells = append(s.cells, cell{len(s.row), kind, c.Null})
	}
	if !fits {
		s.Cut(-1, 0)
		return nil
	}
	s.store(nulls)
	return nil
}

// store keeps the row that was read.
func (s *rowSet) store(nulls int) {
	row := s.Row(len(s.cells), len(s.row), nulls)
	text := s.Text(s.row)
	from := 0
	for i, c := range s.cells {
		if !c.null { // the zero Value is NULL
			row[i] = kinds[c.kind].Value(text[from:c.end])
		}
		from = c.end
	}
}

// Column names that FOR XML and FOR JSON give to a column without a name.
const (
	columnXML  = "XML_F52E2B61-18A1-11d1-B105-00805F49916B"
	columnJSON = "JSON_F52E2B61-18A1-11d1-B105-00805F49916B"
)

// result returns the collected rows.
//
// The document of FOR XML or FOR JSON comes in rows of about 2,000 characters.
// SET ROWCOUNT limits the rows from which the server makes the document, and
// the server then closes the document as if it were complete. So result returns
// it only when the server counted no more rows than the limit.
func (s *rowSet) result(a *answer) *execution.Result {
	document := len(s.Columns) == 1 && (s.Columns[0].Name == columnXML || s.Columns[0].Name == columnJSON)
	if document && !s.Full() && (!a.counted || a.count > uint64(s.Limits.Rows)) { //nolint:gosec // a limit is not negative
		s.Drop()
		s.CutRows()
	}
	return s.Result()
}

// quoteName returns name as a quoted identifier.
func quoteName(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }
