package dictionary

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/catalog"
)

// The format of a values file, which is also the format of the part of one table.
// Numbers of fixed size are little-endian, others are varints of encoding/binary.
//
//	header   magic, fingerprint of the folding, length and CRC-32C of the body, most
//	         values a column, CRC-32C of the header so far
//	body     columns, ascending by table and name, each:
//	         catalog, db, table, column (each with its length), flags, distinct count,
//	         count of values, length of the values, then the values, each:
//	         text, folded text (0 if it is the text in lower case, else its length + 1),
//	         hash of the code form (4 bytes)
const (
	magic      = "ktxval\x00\x01"
	headerSize = 8 + 8 + 8 + 4 + 4 + 4

	flagComplete = 1
	flagDistinct = 2 // the distinct count is known
)

// The limits of a values file. A file that is beyond them is damaged.
const (
	maxFile  = 1 << 30
	maxName  = 1 << 10 // bytes of one name
	maxValue = 1 << 10 // bytes of one text
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errDamaged is the cause of every error about the content of a values file.
var errDamaged = errors.New("the file is damaged")

// header is the beginning of a values file.
type header struct {
	folding   uint64
	body      uint64
	sum       uint32
	perColumn uint32
}

func (h header) append(b []byte) []byte {
	start := len(b)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint64(b, h.folding)
	b = binary.LittleEndian.AppendUint64(b, h.body)
	b = binary.LittleEndian.AppendUint32(b, h.sum)
	b = binary.LittleEndian.AppendUint32(b, h.perColumn)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

func readHeader(b []byte) (header, error) {
	if len(b) < headerSize || string(b[:len(magic)]) != magic {
		return header{}, fmt.Errorf("%w: it is no values file of this version of ktx", errDamaged)
	}
	end := headerSize - 4
	if crc32.Checksum(b[:end], castagnoli) != binary.LittleEndian.Uint32(b[end:]) {
		return header{}, fmt.Errorf("%w: its header has another checksum", errDamaged)
	}
	return header{
		folding:   binary.LittleEndian.Uint64(b[8:]),
		body:      binary.LittleEndian.Uint64(b[16:]),
		sum:       binary.LittleEndian.Uint32(b[24:]),
		perColumn: binary.LittleEndian.Uint32(b[28:]),
	}, nil
}

// readFile checks a whole file and returns its header and body.
func readFile(b []byte) (header, []byte, error) {
	h, err := readHeader(b)
	if err != nil {
		return h, nil, err
	}
	body := b[headerSize:]
	if h.body != uint64(len(body)) {
		return h, nil, fmt.Errorf("%w: its body has %d bytes, not %d", errDamaged, len(body), h.body)
	}
	if crc32.Checksum(body, castagnoli) != h.sum {
		return h, nil, fmt.Errorf("%w: its body has another checksum", errDamaged)
	}
	return h, body, nil
}

// record is a column of a values file.
type record struct {
	table    catalog.Ref
	column   string
	complete bool
	distinct int64 // -1 if it is not known
	count    int
	values   []byte
	at       int // of values in the body
}

func (r *record) append(b []byte) []byte {
	for _, name := range []string{r.table.Catalog, r.table.DB, r.table.Name, r.column} {
		b = binary.AppendUvarint(b, uint64(len(name)))
		b = append(b, name...)
	}
	flags := byte(0)
	if r.complete {
		flags |= flagComplete
	}
	if r.distinct >= 0 {
		flags |= flagDistinct
	}
	b = append(b, flags)
	b = binary.AppendUvarint(b, uint64(max(r.distinct, 0)))
	b = binary.AppendUvarint(b, uint64(r.count)) //nolint:gosec // a count is never negative
	b = binary.AppendUvarint(b, uint64(len(r.values)))
	return append(b, r.values...)
}

// columns returns the records of a body. Their values are not read yet.
func columns(body []byte) ([]record, error) {
	var list []record
	in := input{b: body}
	for len(in.b) > 0 && in.err == nil {
		var r record
		for _, name := range []*string{&r.table.Catalog, &r.table.DB, &r.table.Name, &r.column} {
			*name = string(in.bytes(maxName))
			if !utf8.ValidString(*name) {
				in.fail("a name is not UTF-8")
			}
		}
		flags := in.byte()
		r.complete = flags&flagComplete != 0
		r.distinct = in.int()
		if flags&flagDistinct == 0 {
			r.distinct = -1
		}
		count := in.int()
		r.values = in.bytes(maxFile)
		r.at = len(body) - len(in.b) - len(r.values)
		if count > int64(len(r.values)) {
			in.fail("a column counts more values than it holds")
		}
		r.count = int(count)
		if n := len(list); in.err == nil && n > 0 && compareColumns(list[n-1].table, list[n-1].column, r.table, r.column) >= 0 {
			in.fail("its columns are not in order")
		}
		if in.err == nil {
			list = append(list, r)
		}
	}
	return list, in.err
}

// value is one value of a record. Its slices point into the file.
type value struct {
	text   []byte
	at     int    // of the length of text, from the beginning of the record's values
	folded []byte // nil if it is the text in lower case
	code   uint32
}

// each calls f for each value of the record.
func (r *record) each(f func(value) error) error {
	in := input{b: r.values}
	n := 0
	for ; len(in.b) > 0; n++ {
		v := value{at: len(r.values) - len(in.b)}
		v.text = in.bytes(maxValue)
		if size := in.int(); size > 0 {
			v.folded = in.take(size - 1)
		}
		v.code = in.uint32()
		if in.err == nil && (!utf8.Valid(v.text) || !utf8.Valid(v.folded)) {
			in.fail("a value is not UTF-8")
		}
		if in.err == nil && bytes.IndexByte(v.folded, separator) >= 0 {
			in.fail("a folded value has more than one line")
		}
		if in.err != nil {
			return in.err
		}
		if err := f(v); err != nil {
			return err
		}
	}
	if n != r.count {
		return fmt.Errorf("%w: a column has %d values, not %d", errDamaged, n, r.count)
	}
	return nil
}

// appendValue appends a value of a record.
func appendValue(b []byte, text, folded string, code uint32) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	b = append(b, text...)
	if isLower(folded, text) {
		b = append(b, 0)
	} else {
		b = binary.AppendUvarint(b, uint64(len(folded))+1)
		b = append(b, folded...)
	}
	return binary.LittleEndian.AppendUint32(b, code)
}

// isLower reports whether folded is text with A to Z in lower case.
func isLower(folded, text string) bool {
	if len(folded) != len(text) {
		return false
	}
	for i := range len(text) {
		if lower(text[i]) != folded[i] || text[i] == separator {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// compareColumns orders columns by table and name.
func compareColumns(a catalog.Ref, aColumn string, b catalog.Ref, bColumn string) int {
	return cmp.Or(compareTables(a, b), cmp.Compare(aColumn, bColumn))
}

// compareTables orders tables by catalog, db and name.
func compareTables(a, b catalog.Ref) int {
	return cmp.Or(cmp.Compare(a.Catalog, b.Catalog), cmp.Compare(a.DB, b.DB), cmp.Compare(a.Name, b.Name))
}

// input reads a body from its beginning. After an error it returns zero values.
type input struct {
	b   []byte
	err error
}

func (in *input) fail(why string) {
	if in.err == nil {
		in.err = fmt.Errorf("%w: %s", errDamaged, why)
	}
}

func (in *input) int() int64 {
	v, n := binary.Uvarint(in.b)
	if in.err != nil || n <= 0 || v > 1<<62 {
		in.fail("a number is not readable")
		return 0
	}
	in.b = in.b[n:]
	return int64(v)
}

// take returns the next n bytes.
func (in *input) take(n int64) []byte {
	if in.err != nil || n < 0 || n > int64(len(in.b)) {
		in.fail("it ends too early")
		return nil
	}
	out := in.b[:n:n]
	in.b = in.b[n:]
	return out
}

// bytes returns bytes that have their length before them.
func (in *input) bytes(most int64) []byte {
	n := in.int()
	if n > most {
		in.fail("a text is too long")
		return nil
	}
	return in.take(n)
}

func (in *input) byte() byte {
	if b := in.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (in *input) uint32() uint32 {
	if b := in.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}
