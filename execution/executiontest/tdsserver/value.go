package tdsserver

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
	"time"
)

// The values that a row may have. NULL is nil, for every type.
//
//	bit                                bool
//	tinyint … bigint                   int, int64
//	real, float                        float64
//	decimal, numeric, money            *big.Int: the value without its point
//	char, varchar, text                []byte in the code page, or an ASCII string; any string under [UTF8]
//	nchar, nvarchar, ntext, xml        string, or []byte of UTF-16LE
//	binary, varbinary, image, UDT      []byte
//	uniqueidentifier                   []byte, 16 of them as they are stored
//	date, time, datetime …             time.Time
//	sql_variant                        Of
//
// Raw, Wire and Blob stand for a value of any type that they fit.

// Raw is the bytes of a value. Its length is encoded as the type requires.
type Raw []byte

// Wire is sent unchanged, without a length, for values that no server sends.
type Wire []byte

// Of is a value inside a sql_variant.
type Of struct {
	Type  Type
	Value any
}

// Blob is a value of Size bytes that all equal Fill, for the types that are
// sent in chunks. It is generated while it is sent, and never held.
type Blob struct {
	Size int64
	Fill byte
	// Zero puts a zero byte after each Fill: ASCII as UTF-16LE.
	Zero bool
	// Chunk is the bytes of one chunk; the default is 8,000.
	Chunk int
	// UnknownSize sends the value without its total length.
	UnknownSize bool
}

// The lengths of values in chunks ([MS-TDS] 2.2.5.2.3).
const (
	chunksNull    = math.MaxUint64
	chunksUnknown = math.MaxUint64 - 1
)

// appendValue appends v as a value of type t in a row ([MS-TDS] 2.2.7.20).
func appendValue(b []byte, t Type, v any) ([]byte, error) {
	if w, ok := v.(Wire); ok {
		return append(b, w...), nil
	}
	if v == nil {
		return appendNull(b, t)
	}
	data, err := encode(t, v)
	if err != nil {
		return nil, err
	}
	if size, ok := t.fixed(); ok {
		if len(data) != size {
			return nil, fmt.Errorf("%d bytes for a value of %s", len(data), t)
		}
		return append(b, data...), nil
	}
	switch t.id {
	case typeText, typeNText, typeImage:
		b = append(b, 16) // the text pointer, then a time stamp ([MS-TDS] 2.2.7.20)
		b = append(b, make([]byte, 24)...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
		return append(b, data...), nil
	case typeVariant:
		b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
		return append(b, data...), nil
	}
	if t.chunked() {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(data)))
		if len(data) > 0 {
			b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
			b = append(b, data...)
		}
		return binary.LittleEndian.AppendUint32(b, 0), nil
	}
	if t.wide() {
		if len(data) >= int(sizeMax) {
			return nil, fmt.Errorf("%d bytes for a value of %s", len(data), t)
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(len(data)))
		return append(b, data...), nil
	}
	if len(data) > math.MaxUint8 {
		return nil, fmt.Errorf("%d bytes for a value of %s", len(data), t)
	}
	return append(append(b, byte(len(data))), data...), nil
}

// wide reports whether values have a length of two bytes.
func (t Type) wide() bool {
	switch t.id {
	case typeBigVarBinary, typeBigVarChar, typeBigBinary, typeBigChar, typeNVarChar, typeNChar:
		return true
	default:
		return false
	}
}

func appendNull(b []byte, t Type) ([]byte, error) {
	if size, ok := t.fixed(); ok {
		if size == 0 {
			return b, nil
		}
		return nil, fmt.Errorf("%s cannot be NULL", t)
	}
	switch {
	case t.id == typeVariant:
		return binary.LittleEndian.AppendUint32(b, 0), nil
	case t.chunked():
		return binary.LittleEndian.AppendUint64(b, chunksNull), nil
	case t.wide():
		return binary.LittleEndian.AppendUint16(b, 0xFFFF), nil
	default: // a length, or a text pointer, of nothing
		return append(b, 0), nil
	}
}

// writeBlob sends a value in chunks through a buffer of one chunk. When ctx
// ends, it ends the value early, between two chunks.
func writeBlob(ctx context.Context, w io.Writer, t Type, v Blob) error {
	if !t.chunked() {
		return fmt.Errorf("a value of %s does not come in chunks", t)
	}
	size := v.Chunk
	if size <= 0 {
		size = 8000
	}
	total := uint64(v.Size)
	if v.UnknownSize {
		total = chunksUnknown
	}
	var head [8]byte
	binary.LittleEndian.PutUint64(head[:], total)
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	chunk := make([]byte, size)
	for i := range chunk {
		if chunk[i] = v.Fill; v.Zero && i%2 == 1 {
			chunk[i] = 0
		}
	}
	for left := v.Size; left > 0 && ctx.Err() == nil; {
		n := min(left, int64(size))
		binary.LittleEndian.PutUint32(head[:4], uint32(n))
		if _, err := w.Write(head[:4]); err != nil {
			return err
		}
		if _, err := w.Write(chunk[:n]); err != nil {
			return err
		}
		left -= n
	}
	_, err := w.Write([]byte{0, 0, 0, 0})
	return err
}

// encode returns the bytes of v ([MS-TDS] 2.2.5.5).
func encode(t Type, v any) ([]byte, error) {
	if r, ok := v.(Raw); ok {
		return r, nil
	}
	bad := fmt.Errorf("a %T is not a value of %s", v, t)
	switch t.id {
	case typeBit, typeBitN:
		if v, ok := v.(bool); ok {
			if v {
				return []byte{1}, nil
			}
			return []byte{0}, nil
		}
	case typeInt1, typeInt2, typeInt4, typeInt8, typeIntN:
		if i, ok := v.(int); ok {
			v = int64(i)
		}
		if i, ok := v.(int64); ok {
			return encodeInt(t, i)
		}
	case typeFlt4, typeFlt8, typeFltN:
		if f, ok := v.(float64); ok {
			if t.width() == 4 {
				return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(f))), nil
			}
			return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)), nil
		}
	case typeMoney, typeMoney4, typeMoneyN:
		if i, ok := v.(*big.Int); ok && i.IsInt64() {
			return encodeMoney(t, i.Int64())
		}
	case typeDecimal, typeNumeric:
		if i, ok := v.(*big.Int); ok {
			return encodeDecimal(t, i)
		}
	case typeBigChar, typeBigVarChar, typeText:
		return encodeChar(t, v)
	case typeNChar, typeNVarChar, typeNText, typeXML:
		switch v := v.(type) {
		case string:
			return UTF16(v), nil
		case []byte:
			return v, nil
		}
	case typeBigBinary, typeBigVarBinary, typeImage, typeUDT:
		if b, ok := v.([]byte); ok {
			return b, nil
		}
	case typeGUID:
		if b, ok := v.([]byte); ok && len(b) == 16 {
			return b, nil
		}
	case typeDate, typeTime, typeDateTime2, typeDateTimeOffset, typeDateTime, typeDateTim4, typeDateTimN:
		if at, ok := v.(time.Time); ok {
			return encodeTime(t, at)
		}
	case typeVariant:
		if of, ok := v.(Of); ok {
			return encodeVariant(of)
		}
	}
	return nil, bad
}

// width returns the size of a number in bytes, for types of fixed and of
// variable length.
func (t Type) width() int {
	if n, ok := t.fixed(); ok {
		return n
	}
	return int(t.size)
}

func encodeInt(t Type, i int64) ([]byte, error) {
	n := t.width()
	if n == 1 && (i < 0 || i > math.MaxUint8) || n > 1 && n < 8 && (i < -1<<(8*n-1) || i >= 1<<(8*n-1)) {
		return nil, fmt.Errorf("%d is beyond %s", i, t)
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(i))[:n], nil
}

// encodeMoney writes the upper half first ([MS-TDS] 2.2.5.5.1.4).
func encodeMoney(t Type, i int64) ([]byte, error) {
	if t.width() == 4 {
		return encodeInt(Int, i)
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(i>>32))
	return binary.LittleEndian.AppendUint32(b, uint32(i)), nil
}

// encodeDecimal writes the sign, and then the value in little-endian order
// ([MS-TDS] 2.2.5.5.1.6).
func encodeDecimal(t Type, i *big.Int) ([]byte, error) {
	b := make([]byte, t.size)
	if i.Sign() >= 0 {
		b[0] = 1
	}
	digits := new(big.Int).Abs(i).Bytes()
	if len(digits) > len(b)-1 {
		return nil, fmt.Errorf("%v is beyond %s", i, t)
	}
	for k, d := range digits {
		b[len(digits)-k] = d
	}
	return b, nil
}

func encodeChar(t Type, v any) ([]byte, error) {
	switch v := v.(type) {
	case []byte:
		return v, nil
	case string:
		for i := range len(v) {
			if v[i] >= 0x80 && t.collation != UTF8 {
				return nil, fmt.Errorf("a text beyond ASCII for %s: give its bytes in the code page", t)
			}
		}
		return []byte(v), nil
	default:
		return nil, fmt.Errorf("a %T is not a value of %s", v, t)
	}
}

// daysSince counts days of the proleptic Gregorian calendar.
func daysSince(base, t time.Time) int64 {
	_, offset := t.Zone()
	return int64(math.Floor(float64(t.Unix()+int64(offset)-base.Unix()) / 86400))
}

var (
	year1    = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	year1900 = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
)

// encodeTime writes dates and times ([MS-TDS] 2.2.5.5.1.8). A time with an
// offset is written in UTC.
func encodeTime(t Type, at time.Time) ([]byte, error) {
	ofDay := func(at time.Time) int64 {
		return int64(at.Hour()*3600+at.Minute()*60+at.Second())*1e9 + int64(at.Nanosecond())
	}
	ticks := func(b []byte, at time.Time) []byte {
		n := ofDay(at) / int64(math.Pow10(9-int(t.scale)))
		return append(b, binary.LittleEndian.AppendUint64(nil, uint64(n))[:timeSize(t.scale)]...)
	}
	days := func(b []byte, at time.Time) []byte {
		return append(b, binary.LittleEndian.AppendUint32(nil, uint32(daysSince(year1, at)))[:3]...)
	}
	switch t.id {
	case typeDate:
		return days(nil, at), nil
	case typeTime:
		return ticks(nil, at), nil
	case typeDateTime2:
		return days(ticks(nil, at), at), nil
	case typeDateTimeOffset:
		_, offset := at.Zone()
		utc := at.UTC()
		return binary.LittleEndian.AppendUint16(days(ticks(nil, utc), utc), uint16(int16(offset/60))), nil
	}
	since := daysSince(year1900, at)
	if t.width() == 4 {
		b := binary.LittleEndian.AppendUint16(nil, uint16(since))
		return binary.LittleEndian.AppendUint16(b, uint16(at.Hour()*60+at.Minute())), nil
	}
	// Ticks are a three-hundredth of a second.
	n := (ofDay(at)*3 + 5e6) / 1e7
	b := binary.LittleEndian.AppendUint32(nil, uint32(int32(since)))
	return binary.LittleEndian.AppendUint32(b, uint32(n)), nil
}

// encodeVariant writes the base type, its properties and the value
// ([MS-TDS] 2.2.5.5.4).
func encodeVariant(of Of) ([]byte, error) {
	data, err := encode(of.Type, of.Value)
	if err != nil {
		return nil, err
	}
	var properties []byte
	id := of.Type.id
	switch id {
	case typeIntN:
		id = map[uint32]byte{1: typeInt1, 2: typeInt2, 4: typeInt4, 8: typeInt8}[of.Type.size]
	case typeBitN:
		id = typeBit
	case typeFltN:
		id = map[uint32]byte{4: typeFlt4, 8: typeFlt8}[of.Type.size]
	case typeMoneyN:
		id = map[uint32]byte{4: typeMoney4, 8: typeMoney}[of.Type.size]
	case typeDateTimN:
		id = map[uint32]byte{4: typeDateTim4, 8: typeDateTime}[of.Type.size]
	case typeTime, typeDateTime2, typeDateTimeOffset:
		properties = []byte{of.Type.scale}
	case typeDecimal, typeNumeric:
		properties = []byte{of.Type.prec, of.Type.scale}
	case typeBigBinary, typeBigVarBinary:
		properties = binary.LittleEndian.AppendUint16(nil, uint16(of.Type.size))
	case typeBigChar, typeBigVarChar, typeNChar, typeNVarChar:
		properties = binary.LittleEndian.AppendUint16(of.Type.collation.append(nil), uint16(of.Type.size))
	}
	b := append([]byte{id, byte(len(properties))}, properties...)
	return append(b, data...), nil
}

// value reads the value of a parameter.
func (r *reader) value(t Type) any {
	var data []byte
	if n, ok := t.fixed(); ok {
		data = r.take(n)
		if n == 0 {
			return nil
		}
	} else {
		var null bool
		if data, null = r.lengthValue(t); null {
			return nil
		}
	}
	if r.err != nil {
		return nil
	}
	switch t.id {
	case typeBit, typeBitN:
		return len(data) == 1 && data[0] != 0
	case typeInt1, typeInt2, typeInt4, typeInt8, typeIntN:
		switch len(data) {
		case 1:
			return int64(data[0])
		case 2:
			return int64(int16(binary.LittleEndian.Uint16(data)))
		case 4:
			return int64(int32(binary.LittleEndian.Uint32(data)))
		case 8:
			return int64(binary.LittleEndian.Uint64(data))
		}
	case typeFlt4, typeFlt8, typeFltN:
		switch len(data) {
		case 4:
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
		case 8:
			return math.Float64frombits(binary.LittleEndian.Uint64(data))
		}
	case typeNVarChar, typeNChar, typeXML:
		s, err := fromUTF16(data)
		if err != nil {
			r.err = err
		}
		return s
	default:
		return data
	}
	r.fail("a value of %d bytes for a parameter of %s", len(data), t)
	return nil
}

// lengthValue reads a value that begins with its length.
func (r *reader) lengthValue(t Type) (data []byte, null bool) {
	switch {
	case t.chunked():
		total := r.uint64()
		if total == chunksNull {
			return nil, true
		}
		for r.err == nil {
			n := r.uint32()
			if n == 0 {
				break
			}
			data = append(data, r.take(int(n))...)
		}
		if r.err == nil && total != chunksUnknown && total != uint64(len(data)) {
			r.fail("%d bytes in chunks instead of %d", len(data), total)
		}
		return data, false
	case t.wide():
		n := r.uint16()
		if n == 0xFFFF {
			return nil, true
		}
		return r.take(int(n)), false
	default:
		n := r.uint8()
		if n == 0 {
			return nil, true
		}
		return r.take(int(n)), false
	}
}
