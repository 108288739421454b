package execution

import "fmt"

// TruncatedBy names the limit that cut a result.
type TruncatedBy string

// The limits that cut a result.
const (
	TruncatedByRows    TruncatedBy = "rows"
	TruncatedByBytes   TruncatedBy = "bytes"
	TruncatedByCell    TruncatedBy = "cell"
	TruncatedByColumns TruncatedBy = "columns"
)

// CutRows says that the statement has more rows than limit, and that r has
// limit rows.
func (r *Result) CutRows(limit int) {
	r.cut(TruncatedByRows, fmt.Sprintf("there are more rows than the %d that are returned: aggregate, narrow the query with WHERE, or page through it: ORDER BY a key, and WHERE the key is greater than the last one", limit))
}

// CutBytes says that the next row did not fit into the limit of all bytes.
func (r *Result) CutBytes(limit int64) {
	r.cut(TruncatedByBytes, fmt.Sprintf("the rows end before row %d, with which they would have more than %d bytes: select fewer or narrower columns, or fewer rows", len(r.Rows)+1, limit))
}

// CutCell says that the next row has a value of size bytes, more than limit, in
// the column with that index. part is an expression that returns a part of the
// value.
func (r *Result) CutCell(column int, size, limit int64, part string) {
	r.cut(TruncatedByCell, fmt.Sprintf("the rows end before row %d, whose value of column %q has %d bytes, more than the %d that a value may have: select a part of it, such as %s, or leave it out", len(r.Rows)+1, r.Columns[column].Name, size, limit, part))
}

// CutColumns says that r has only the first of its columns.
func (r *Result) CutColumns(omitted int) {
	r.OmittedColumns = omitted
	if r.TruncatedBy == "" {
		r.cut(TruncatedByColumns, "")
	}
}

// cut records the limit. A limit that ended the rows replaces the limit on
// columns as TruncatedBy.
func (r *Result) cut(by TruncatedBy, note string) {
	r.Truncated, r.TruncatedBy, r.Note = true, by, note
	if r.OmittedColumns == 0 {
		return
	}
	if note != "" {
		r.Note += "; "
	}
	r.Note += fmt.Sprintf("only the first %d of %d columns are returned: name the columns that you need", len(r.Columns), len(r.Columns)+r.OmittedColumns)
}
