package pgdb

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/ktxhq/ktx/execution"
)

// kind says how the text of a type becomes a value.
type kind uint8

const (
	asString kind = iota // NUMERIC too: its precision is its own
	asBool
	asInteger
	asFloat
)

// kindOf returns the kind of a type's values. A domain arrives as its base type.
func kindOf(oid uint32) kind {
	switch oid {
	case 16: // bool
		return asBool
	case 20, 21, 23, 26: // int8, int2, int4, oid
		return asInteger
	case 700, 701: // float4, float8
		return asFloat
	default:
		return asString
	}
}

// value renders the server's text of one cell.
func (k kind) value(text string) execution.Value {
	switch k {
	case asBool:
		return execution.Value{Kind: execution.Bool, Text: text}
	case asInteger:
		if len(text) <= 15 { // exact for every reader, and the server's integers have one spelling
			return execution.Value{Kind: execution.Number, Text: text}
		}
		return execution.IntegerValue(text)
	case asFloat:
		return execution.FloatValue(text)
	case asString:
		return execution.Value{Kind: execution.String, Text: text}
	default:
		return execution.Value{Kind: execution.String, Text: text}
	}
}

// rowSet collects rows within limits.
type rowSet struct {
	lim     execution.Limits
	columns []execution.Column
	oids    []uint32
	kinds   []kind
	wide    int // columns that the server sent
	rows    [][]execution.Value
	bytes   int64

	full bool                    // no further row is wanted
	cut  func(*execution.Result) // says why, when rows are missing

	text  strings.Builder   // the texts of many rows in few pieces
	slab  []execution.Value // the values of many rows in few pieces
	slabs int
}

// describe takes the columns of the result.
func (s *rowSet) describe(d *pgproto3.RowDescription) {
	s.wide = len(d.Fields)
	n := min(s.wide, s.lim.Columns)
	s.columns = make([]execution.Column, n)
	s.oids = make([]uint32, n)
	s.kinds = make([]kind, n)
	for i, f := range d.Fields[:n] {
		s.columns[i] = execution.Column{Name: execution.NameText(string(f.Name)), Type: builtinTypes[f.DataTypeOID]}
		s.oids[i] = f.DataTypeOID
		s.kinds[i] = kindOf(f.DataTypeOID)
	}
}

// add takes one row. A row without columns where there are some stands for one
// that was cut.
func (s *rowSet) add(values [][]byte, cut *rowCut) error {
	replaced := len(s.columns) > 0 && len(values) == 0 && cut != nil
	if !replaced && len(values) != s.wide && len(values) != len(s.columns) {
		return fmt.Errorf("%w: a row of %d columns where %d were described", errFrame, len(values), s.wide)
	}
	if len(s.rows) >= s.lim.Rows {
		s.end(func(r *execution.Result) { r.CutRows(s.lim.Rows) })
		return nil
	}
	if replaced {
		s.cutRow(*cut)
		return nil
	}
	var size int64
	for i, v := range values[:len(s.columns)] {
		n := int64(len(v))
		if !utf8.Valid(v) {
			n = 2 + 2*n
			if n > s.lim.CellBytes {
				s.cutRow(rowCut{column: i, size: n})
				return nil
			}
		}
		size += n
	}
	if s.bytes+size > s.lim.Bytes {
		s.cutRow(rowCut{column: -1})
		return nil
	}
	s.bytes += size
	s.store(values[:len(s.columns)], int(size))
	return nil
}

// store copies a row whose texts have size bytes.
func (s *rowSet) store(values [][]byte, size int) {
	if s.text.Cap()-s.text.Len() < size {
		// Texts handed out keep the piece that they are in.
		next := min(max(2*s.text.Cap(), 1<<10), 64<<10)
		s.text = strings.Builder{}
		s.text.Grow(max(size, next))
	}
	if len(s.slab) < len(values) {
		s.slabs = min(max(2*s.slabs, 8), 256)
		s.slab = make([]execution.Value, s.slabs*len(values))
	}
	row := s.slab[:len(values):len(values)]
	s.slab = s.slab[len(values):]
	for i, v := range values {
		if v == nil {
			continue // the zero Value is NULL
		}
		from := s.text.Len()
		if utf8.Valid(v) {
			s.text.Write(v)
			row[i] = s.kinds[i].value(s.text.String()[from:])
			continue
		}
		s.text.WriteString(execution.HexText(v))
		row[i] = execution.Value{Kind: execution.String, Text: s.text.String()[from:]}
	}
	s.rows = append(s.rows, row)
}

// plainName matches names that need no quotes, keywords aside.
var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// cutRow ends the rows before one that does not fit.
func (s *rowSet) cutRow(cut rowCut) {
	s.end(func(r *execution.Result) {
		if cut.column < 0 {
			r.CutBytes(s.lim.Bytes)
			return
		}
		name := s.columns[cut.column].Name
		if !plainName.MatchString(name) {
			name = quoteName(name)
		}
		r.CutCell(cut.column, cut.size, s.lim.CellBytes, fmt.Sprintf("substring(%s for %d)", name, max(s.lim.CellBytes/4, 1)))
	})
}

func (s *rowSet) end(cut func(*execution.Result)) { s.full, s.cut = true, cut }

// result returns what was collected.
func (s *rowSet) result() *execution.Result {
	r := &execution.Result{Columns: s.columns, Rows: s.rows, Bytes: s.bytes}
	if s.wide > len(s.columns) {
		r.CutColumns(s.wide - len(s.columns))
	}
	if s.cut != nil {
		s.cut(r)
	}
	return r
}

// typeNames remembers the names of types that are not built in.
type typeNames struct {
	mu    sync.Mutex
	names map[uint32]string
}

// maxTypeNames bounds what is remembered.
const maxTypeNames = 10_000

// known fills in the names that are remembered and returns the types that are
// not.
func (t *typeNames) known(res *execution.Result, oids []uint32) []uint32 {
	var missing []uint32
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range res.Columns {
		if res.Columns[i].Type != "" {
			continue
		}
		res.Columns[i].Type = t.names[oids[i]]
		if res.Columns[i].Type == "" && !slices.Contains(missing, oids[i]) {
			missing = append(missing, oids[i])
		}
	}
	return missing
}

func (t *typeNames) remember(oid uint32, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names == nil || len(t.names) >= maxTypeNames {
		t.names = map[uint32]string{}
	}
	t.names[oid] = name
}

// nameTypes fills in the names of types that are not built in. A name that
// cannot be found out is "oid" and the number: the rows are what counts.
func (d *DB) nameTypes(ctx context.Context, res *execution.Result, oids []uint32) {
	missing := d.types.known(res, oids)
	if len(missing) > 0 {
		list := make([]string, len(missing))
		for i, oid := range missing {
			list[i] = strconv.FormatUint(uint64(oid), 10)
		}
		s := statement{sql: typeNamesSQL, values: [][]byte{[]byte("{" + strings.Join(list, ",") + "}")}}
		names, _, err := d.run(ctx, s, execution.Limits{Timeout: 2 * time.Second}.WithDefaults())
		if err == nil {
			for _, row := range names.Rows {
				oid, err := strconv.ParseUint(row[0].Text, 10, 32)
				if err == nil {
					d.types.remember(uint32(oid), row[1].Text)
				}
			}
			d.types.known(res, oids)
		}
	}
	for i := range res.Columns {
		if res.Columns[i].Type == "" {
			res.Columns[i].Type = "oid " + strconv.FormatUint(uint64(oids[i]), 10)
		}
	}
}
