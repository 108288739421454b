package mysqldb

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/mysqldb/wire"
)

// kind says how the text of a type becomes a value.
type kind uint8

const (
	asString kind = iota // DECIMAL too: its precision is its own
	asInteger
	asFloat
	asBytes
)

// kindOf returns the kind of a column's values.
func kindOf(c wire.Column) kind {
	switch c.Type {
	case wire.TypeTiny, wire.TypeShort, wire.TypeLong, wire.TypeInt24, wire.TypeLongLong, wire.TypeYear:
		return asInteger
	case wire.TypeFloat, wire.TypeDouble:
		return asFloat
	case wire.TypeBit, wire.TypeGeometry, wire.TypeVector:
		return asBytes
	case wire.TypeVarchar, wire.TypeTinyBlob, wire.TypeMediumBlob, wire.TypeLongBlob, wire.TypeBlob, wire.TypeVarString, wire.TypeString:
		if c.Charset == wire.Binary && c.Format != "json" && !textual(c.Extended) {
			return asBytes
		}
		return asString
	case wire.TypeDecimal, wire.TypeNewDecimal, wire.TypeNull, wire.TypeDate, wire.TypeNewDate, wire.TypeTime, wire.TypeDatetime, wire.TypeTimestamp,
		wire.TypeEnum, wire.TypeSet, wire.TypeJSON:
		return asString
	default:
		return asString
	}
}

// textual reports whether a type of MariaDB's own arrives as text, whatever its
// character set is said to be.
func textual(extended string) bool {
	switch extended {
	case "uuid", "inet4", "inet6":
		return true
	default:
		return false
	}
}

// value renders the server's text of one cell.
func (k kind) value(text string) execution.Value {
	switch k {
	case asInteger:
		return execution.IntegerValue(text)
	case asFloat:
		return execution.FloatValue(text)
	case asString, asBytes:
		return execution.Value{Kind: execution.String, Text: text}
	default:
		return execution.Value{Kind: execution.String, Text: text}
	}
}

// isBytes reports whether a cell is rendered as bytes.
func (k kind) isBytes(v []byte) bool { return k == asBytes || !utf8.Valid(v) }

// typeName returns the server's name of a column's type.
func typeName(c wire.Column) string {
	if c.Extended != "" {
		return c.Extended
	}
	if c.Format != "" {
		return c.Format
	}
	switch c.Type {
	case wire.TypeTiny:
		return numericName("tinyint", c)
	case wire.TypeShort:
		return numericName("smallint", c)
	case wire.TypeInt24:
		return numericName("mediumint", c)
	case wire.TypeLong:
		return numericName("int", c)
	case wire.TypeLongLong:
		return numericName("bigint", c)
	case wire.TypeFloat:
		return numericName("float", c)
	case wire.TypeDouble:
		return numericName("double", c)
	case wire.TypeDecimal, wire.TypeNewDecimal:
		return numericName("decimal", c)
	case wire.TypeYear:
		return "year"
	case wire.TypeNull:
		return "null"
	case wire.TypeDate, wire.TypeNewDate:
		return "date"
	case wire.TypeTime:
		return "time"
	case wire.TypeDatetime:
		return "datetime"
	case wire.TypeTimestamp:
		return "timestamp"
	case wire.TypeBit:
		return "bit"
	case wire.TypeJSON:
		return "json"
	case wire.TypeGeometry:
		return "geometry"
	case wire.TypeVector:
		return "vector"
	case wire.TypeEnum:
		return "enum"
	case wire.TypeSet:
		return "set"
	case wire.TypeTinyBlob, wire.TypeBlob, wire.TypeMediumBlob, wire.TypeLongBlob:
		return blobName(c)
	case wire.TypeVarchar, wire.TypeVarString:
		return stringName(c, "varchar", "varbinary")
	case wire.TypeString:
		return stringName(c, "char", "binary")
	default:
		return fmt.Sprintf("type %d", c.Type)
	}
}

func numericName(name string, c wire.Column) string {
	if c.Flags&wire.FlagUnsigned != 0 {
		name += " unsigned"
	}
	if c.Flags&wire.FlagZerofill != 0 {
		name += " zerofill"
	}
	return name
}

// blobName tells the four blobs and texts apart by the length of their longest
// value. A text's is given in bytes, four for each that it may have.
func blobName(c wire.Column) string {
	name, most := "blob", c.Length
	if c.Charset != wire.Binary {
		name = "text"
		if most < 1<<32-1 {
			most /= 4
		}
	}
	switch {
	case most <= 1<<8-1:
		return "tiny" + name
	case most <= 1<<16-1:
		return name
	case most <= 1<<24-1:
		return "medium" + name
	default:
		return "long" + name
	}
}

func stringName(c wire.Column, text, bytes string) string {
	switch {
	case c.Flags&wire.FlagEnum != 0:
		return "enum"
	case c.Flags&wire.FlagSet != 0:
		return "set"
	case c.Charset == wire.Binary:
		return bytes
	default:
		return text
	}
}

// rowSet collects rows within limits.
type rowSet struct {
	lim     execution.Limits
	columns []execution.Column
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
func (s *rowSet) describe(columns []wire.Column) {
	s.wide = len(columns)
	n := min(s.wide, s.lim.Columns)
	s.columns = make([]execution.Column, n)
	s.kinds = make([]kind, n)
	for i, c := range columns[:n] {
		s.columns[i] = execution.Column{Name: execution.NameText(c.Name), Type: execution.NameText(typeName(c))}
		s.kinds[i] = kindOf(c)
	}
}

// add takes one row, or what was cut of one.
func (s *rowSet) add(values [][]byte, cut *wire.Cut) {
	if len(s.rows) >= s.lim.Rows {
		s.end(func(r *execution.Result) { r.CutRows(s.lim.Rows) })
		return
	}
	if cut != nil {
		s.cutRow(*cut)
		return
	}
	var size int64
	for i, v := range values {
		n := int64(len(v))
		if v != nil && s.kinds[i].isBytes(v) {
			if n = 2 + 2*n; n > s.lim.CellBytes {
				s.cutRow(wire.Cut{Column: i, Size: n})
				return
			}
		}
		size += n
	}
	if s.bytes+size > s.lim.Bytes {
		s.cutRow(wire.Cut{Column: -1})
		return
	}
	s.bytes += size
	s.store(values, int(size))
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
		if s.kinds[i].isBytes(v) {
			s.text.WriteString(execution.HexText(v))
			row[i] = execution.Value{Kind: execution.String, Text: s.text.String()[from:]}
			continue
		}
		s.text.Write(v)
		row[i] = s.kinds[i].value(s.text.String()[from:])
	}
	s.rows = append(s.rows, row)
}

// plainName matches names that need no quotes, keywords aside.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// cutRow ends the rows before one that does not fit.
func (s *rowSet) cutRow(cut wire.Cut) {
	s.end(func(r *execution.Result) {
		if cut.Column < 0 {
			r.CutBytes(s.lim.Bytes)
			return
		}
		name := s.columns[cut.Column].Name
		if !plainName.MatchString(name) {
			name = quoteName(name)
		}
		r.CutCell(cut.Column, cut.Size, s.lim.CellBytes, fmt.Sprintf("substring(%s, 1, %d)", name, max(s.lim.CellBytes/4, 1)))
	})
}

// quoteName quotes an identifier.
func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

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
