package sql

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research"
)

// The file format is that of github.com/apache/parquet-format: the magic number, column
// chunks, the metadata of the file in Thrift's compact protocol, its length, and the
// magic number. Values are written plain and without compression, in one page a chunk.

// rowGroup is how many rows stand together in a file.
const rowGroup = 65536

const parquetMagic = "PAR1"

// parquetType is the physical type of a column, by the number of the format.
type parquetType int64

const (
	parquetBool    parquetType = 0
	parquetInteger parquetType = 2
	parquetDouble  parquetType = 5
	parquetText    parquetType = 6 // a byte array, with the logical type of a text
)

// Numbers of the format's enumerations.
const (
	repetitionOptional = 1
	convertedUTF8      = 0
	encodingPlain      = 0
	encodingRLE        = 3
	codecUncompressed  = 0
	pageData           = 0
)

// parquetTypeOf returns the type that holds every value of a column exactly: whole
// numbers, doubles that print as the server wrote them, truth values, or text.
func parquetTypeOf(rows [][]execution.Value, column int) parquetType {
	kind := execution.Null
	integers, doubles := true, true
	for _, row := range rows {
		v := row[column]
		if v.Kind == execution.Null {
			continue
		}
		if kind != execution.Null && kind != v.Kind {
			return parquetText
		}
		kind = v.Kind
		if kind == execution.Number {
			_, err := strconv.ParseInt(v.Text, 10, 64)
			integers = integers && err == nil
			doubles = doubles && exactDouble(v.Text)
		}
	}
	switch {
	case kind == execution.Bool:
		return parquetBool
	case kind == execution.Number && integers:
		return parquetInteger
	case kind == execution.Number && doubles:
		return parquetDouble
	default:
		return parquetText
	}
}

// chunk is where a column of a row group stands in the file.
type chunk struct{ offset, size, values int64 }

// writeParquet writes an Apache Parquet file. All columns may be NULL. Columns with
// equal names, which readers do not expect, get a number behind them.
func writeParquet(b *bytes.Buffer, out *research.SQLExecutionOutput) error {
	names := uniqueNames(out.Headers)
	types := make([]parquetType, len(names))
	for i := range names {
		types[i] = parquetTypeOf(out.Rows, i)
	}
	b.WriteString(parquetMagic)
	var groups [][]chunk
	for from := 0; from < len(out.Rows); from += rowGroup {
		rows := out.Rows[from:min(from+rowGroup, len(out.Rows))]
		chunks := make([]chunk, len(names))
		for i := range names {
			page, err := parquetPage(types[i], rows, i)
			if err != nil {
				return err
			}
			var h thrift
			h.integer(1, pageData)
			h.integer(2, int64(len(page))) // uncompressed
			h.integer(3, int64(len(page))) // compressed
			h.structure(5, func() {
				h.integer(1, int64(len(rows)))
				h.integer(2, encodingPlain)
				h.integer(3, encodingRLE) // definition levels
				h.integer(4, encodingRLE) // repetition levels, of which there are none
			})
			h.stop()
			chunks[i] = chunk{int64(b.Len()), int64(h.b.Len() + len(page)), int64(len(rows))}
			b.Write(h.b.Bytes())
			b.Write(page)
		}
		groups = append(groups, chunks)
	}
	footer := parquetFooter(names, types, groups, int64(len(out.Rows)))
	b.Write(footer)
	b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer)))) //nolint:gosec // a few bytes a column and row group
	b.WriteString(parquetMagic)
	return nil
}

// parquetPage returns the content of a data page: the definition levels, which say what
// is NULL, and the other values.
func parquetPage(t parquetType, rows [][]execution.Value, column int) ([]byte, error) {
	levels := make([]byte, (len(rows)+7)/8) // one bit a row, in groups of eight
	var values []byte
	bits := 0
	for n, row := range rows {
		v := row[column]
		if v.Kind == execution.Null {
			continue
		}
		levels[n/8] |= 1 << (n % 8)
		switch t {
		case parquetInteger:
			i, err := strconv.ParseInt(v.Text, 10, 64)
			if err != nil {
				return nil, err //nolint:wrapcheck // parquetTypeOf has parsed it
			}
			values = binary.LittleEndian.AppendUint64(values, uint64(i)) //nolint:gosec // the bits are meant
		case parquetDouble:
			f, err := strconv.ParseFloat(v.Text, 64)
			if err != nil {
				return nil, err //nolint:wrapcheck // parquetTypeOf has parsed it
			}
			values = binary.LittleEndian.AppendUint64(values, math.Float64bits(f))
		case parquetBool:
			if bits%8 == 0 {
				values = append(values, 0)
			}
			if v.Text == "t" || v.Text == "true" || v.Text == "1" {
				values[bits/8] |= 1 << (bits % 8)
			}
			bits++
		case parquetText:
			values = binary.LittleEndian.AppendUint32(values, uint32(len(v.Text))) //nolint:gosec // limits.cellBytes is far below
			values = append(values, v.Text...)
		}
	}
	// One run of bit-packed groups: its header is their number, with the lowest bit set.
	run := append(binary.AppendUvarint(nil, uint64(len(levels))<<1|1), levels...)
	page := binary.LittleEndian.AppendUint32(nil, uint32(len(run))) //nolint:gosec // at most 8 KiB
	return append(append(page, run...), values...), nil
}

// parquetFooter returns the metadata of the file (FileMetaData of the format).
func parquetFooter(names []string, types []parquetType, groups [][]chunk, rows int64) []byte {
	var m thrift
	m.integer(1, 1) // version of the format
	m.list(2, typeStruct, len(names)+1)
	m.element(func() {
		m.text(4, "rows")
		m.integer(5, int64(len(names)))
	})
	for i, name := range names {
		m.element(func() {
			m.integer(1, int64(types[i]))
			m.integer(3, repetitionOptional)
			m.text(4, name)
			if types[i] == parquetText {
				m.integer(6, convertedUTF8)
				m.structure(10, func() { m.structure(1, func() {}) }) // the logical type STRING
			}
		})
	}
	m.long(3, rows)
	m.list(4, typeStruct, len(groups))
	for _, chunks := range groups {
		m.element(func() {
			total := int64(0)
			m.list(1, typeStruct, len(chunks))
			for i, c := range chunks {
				total += c.size
				m.element(func() {
					m.long(2, c.offset)
					m.structure(3, func() {
						m.integer(1, int64(types[i]))
						m.list(2, typeInteger, 2)
						m.zigzag(encodingPlain)
						m.zigzag(encodingRLE)
						m.list(3, typeBinary, 1)
						m.bytes(names[i])
						m.integer(4, codecUncompressed)
						m.long(5, c.values)
						m.long(6, c.size)
						m.long(7, c.size)
						m.long(9, c.offset)
					})
				})
			}
			m.long(2, total)
			m.long(3, chunks[0].values)
		})
	}
	m.text(6, "ktx")
	m.stop()
	return m.b.Bytes()
}

// thrift writes a struct in Thrift's compact protocol.
type thrift struct {
	b    bytes.Buffer
	last int // the id of the field before, in the struct that is open
}

// The types of the protocol.
const (
	typeInteger = 5 // i32
	typeLong    = 6 // i64
	typeBinary  = 8
	typeList    = 9
	typeStruct  = 12
)

// field begins a field. Ids grow by less than 16 in all structs of the format.
func (t *thrift) field(id, kind int) {
	t.b.WriteByte(byte((id-t.last)<<4 | kind)) //nolint:gosec // less than 256
	t.last = id
}

func (t *thrift) zigzag(v int64) {
	t.b.Write(binary.AppendUvarint(nil, uint64(v<<1)^uint64(v>>63))) //nolint:gosec // the bits are meant
}

func (t *thrift) integer(id int, v int64) {
	t.field(id, typeInteger)
	t.zigzag(v)
}

func (t *thrift) long(id int, v int64) {
	t.field(id, typeLong)
	t.zigzag(v)
}

func (t *thrift) bytes(s string) {
	t.b.Write(binary.AppendUvarint(nil, uint64(len(s))))
	t.b.WriteString(s)
}

func (t *thrift) text(id int, s string) {
	t.field(id, typeBinary)
	t.bytes(s)
}

// list begins a list; its elements follow.
func (t *thrift) list(id, kind, size int) {
	t.field(id, typeList)
	if size < 15 {
		t.b.WriteByte(byte(size<<4 | kind)) //nolint:gosec // less than 256
		return
	}
	t.b.WriteByte(byte(0xf0 | kind)) //nolint:gosec // less than 256
	t.b.Write(binary.AppendUvarint(nil, uint64(size)))
}

// element writes a struct that is an element of a list.
func (t *thrift) element(fields func()) {
	last := t.last
	t.last = 0
	fields()
	t.stop()
	t.last = last
}

func (t *thrift) structure(id int, fields func()) {
	t.field(id, typeStruct)
	t.element(fields)
}

// stop ends the struct that is open.
func (t *thrift) stop() { t.b.WriteByte(0) }
