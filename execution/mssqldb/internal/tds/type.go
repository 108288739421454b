package tds

import "encoding/binary"

// Types of values (MS-TDS 2.2.5.4).
const (
	typeNull      = 0x1F
	typeTinyInt   = 0x30
	typeBit       = 0x32
	typeSmallInt  = 0x34
	typeInt       = 0x38
	typeSmallDate = 0x3A
	typeReal      = 0x3B
	typeMoney     = 0x3C
	typeDateTime  = 0x3D
	typeFloat     = 0x3E
	typeSmallMny  = 0x7A
	typeBigInt    = 0x7F

	typeGUID      = 0x24
	typeIntN      = 0x26
	typeDate      = 0x28
	typeTime      = 0x29
	typeDateTime2 = 0x2A
	typeOffset    = 0x2B
	typeBitN      = 0x68
	typeDecimal   = 0x6A
	typeNumeric   = 0x6C
	typeFloatN    = 0x6D
	typeMoneyN    = 0x6E
	typeDateTimeN = 0x6F

	typeVarBinary = 0xA5
	typeVarChar   = 0xA7
	typeBinary    = 0xAD
	typeChar      = 0xAF
	typeNVarChar  = 0xE7
	typeNChar     = 0xEF
	typeUDT       = 0xF0
	typeXML       = 0xF1

	typeImage   = 0x22
	typeText    = 0x23
	typeVariant = 0x62
	typeNText   = 0x63
)

// userTypeRowVersion marks a binary(8) as a rowversion (MS-TDS 2.2.5.4.2).
const userTypeRowVersion = 0x50

// layout says how a value of a type is encoded in a row.
type layout uint8

const (
	layoutFixed   layout = iota // size bytes
	layoutByte                  // a length of one byte; 0 is NULL
	layoutShort                 // a length of two bytes; 65,535 is NULL
	layoutChunks                // chunks up to an empty one (MS-TDS 2.2.5.2.3)
	layoutPointer               // a text pointer, a time stamp and a length of four bytes
	layoutVariant               // a length of four bytes; 0 is NULL
)

// Column is one column of a result.
type Column struct {
	// Name is the column's name in UTF-16, little-endian; see [Text].
	Name []byte
	kind
	layout layout
}

// kind is the type of a value.
type kind struct {
	id        byte
	size      int // the largest size, if the type states one
	precision byte
	scale     byte
	collation collation
	user      uint32
	udt       string // the name of a user-defined type
}

// maxColumns is how many columns a SELECT may have.
const maxColumns = 4096

// columns reads COLMETADATA after its token (MS-TDS 2.2.7.4). It keeps the
// names of the first named columns.
func (r *Response) columns(named int) []Column {
	n := int(r.u16())
	if n == 0xFFFF { // no metadata
		n = 0
	}
	if n > maxColumns {
		r.fail(malformed("a result of %d columns", n))
		return nil
	}
	list := make([]Column, n)
	for i := range list {
		c := &list[i]
		c.user = r.u32()
		if flags := r.u16(); flags&0x0800 != 0 {
			r.fail(malformed("an encrypted column where none was asked for"))
		}
		c.id = r.u8()
		r.typeInfo(c)
		if r.err != nil {
			return nil
		}
		if name := r.take(2 * int(r.u8())); i < named {
			c.Name = append([]byte(nil), name...)
		}
	}
	return list
}

// fixedSize returns the size of a type whose values all have the same size.
func fixedSize(id byte) (int, bool) {
	switch id {
	case typeNull:
		return 0, true
	case typeTinyInt, typeBit:
		return 1, true
	case typeSmallInt:
		return 2, true
	case typeInt, typeSmallDate, typeReal, typeSmallMny:
		return 4, true
	case typeMoney, typeDateTime, typeFloat, typeBigInt:
		return 8, true
	default:
		return 0, false
	}
}

// typeInfo reads TYPE_INFO after the type (MS-TDS 2.2.5.6).
func (r *Response) typeInfo(c *Column) {
	if size, ok := fixedSize(c.id); ok {
		c.size, c.layout = size, layoutFixed
		return
	}
	switch c.id {
	case typeDate:
		c.layout, c.size = layoutByte, 3
	case typeTime, typeDateTime2, typeOffset:
		c.layout, c.scale = layoutByte, r.u8()
	case typeGUID, typeIntN, typeBitN, typeFloatN, typeMoneyN, typeDateTimeN:
		c.layout, c.size = layoutByte, int(r.u8())
	case typeDecimal, typeNumeric:
		c.layout, c.size, c.precision, c.scale = layoutByte, int(r.u8()), r.u8(), r.u8()
	case typeVarBinary, typeBinary, typeVarChar, typeChar, typeNVarChar, typeNChar:
		c.layout, c.size = layoutShort, int(r.u16())
		if c.size == 0xFFFF {
			c.layout = layoutChunks
		}
		if c.id != typeVarBinary && c.id != typeBinary {
			c.collation = r.collation()
		}
	case typeXML:
		c.layout = layoutChunks
		if r.u8() != 0 { // there is a schema: database, owner, collection
			r.skip(2 * int64(r.u8()))
			r.skip(2 * int64(r.u8()))
			r.skip(2 * int64(r.u16()))
		}
	case typeUDT:
		c.layout, c.size = layoutChunks, int(r.u16())
		r.skip(2 * int64(r.u8())) // database
		r.skip(2 * int64(r.u8())) // schema
		c.udt = nameText(r.take(2 * int(r.u8())))
		r.skip(2 * int64(r.u16())) // assembly
	case typeText, typeNText, typeImage:
		c.layout = layoutPointer
		r.u32()
		if c.id != typeImage {
			c.collation = r.collation()
		}
		for range r.u8() { // the table's name
			r.skip(2 * int64(r.u16()))
		}
	case typeVariant:
		c.layout = layoutVariant
		r.u32()
	default:
		r.fail(malformed("a column of the unknown type %#x", c.id))
	}
	switch {
	case r.err != nil:
	case c.scale > 38, c.scale > 7 && (c.id == typeTime || c.id == typeDateTime2 || c.id == typeOffset):
		r.fail(malformed("a column of type %#x and scale %d", c.id, c.scale))
	}
}

// collation reads COLLATION (MS-TDS 2.2.5.1.2).
func (r *Response) collation() collation {
	b := r.take(5)
	if len(b) < 5 {
		return collation{}
	}
	return collation{bits: binary.LittleEndian.Uint32(b), sort: b[4]}
}

// TypeName returns the server's name of the column's type, without length,
// precision or scale.
func (c *Column) TypeName() string {
	switch c.id {
	case typeNull:
		return ""
	case typeTinyInt:
		return "tinyint"
	case typeSmallInt:
		return "smallint"
	case typeInt:
		return "int"
	case typeBigInt:
		return "bigint"
	case typeBit, typeBitN:
		return "bit"
	case typeReal:
		return "real"
	case typeFloat:
		return "float"
	case typeMoney:
		return "money"
	case typeSmallMny:
		return "smallmoney"
	case typeSmallDate:
		return "smalldatetime"
	case typeDateTime:
		return "datetime"
	case typeIntN:
		return bySize(c.size, "tinyint", "smallint", "int", "bigint")
	case typeFloatN:
		return bySize(c.size, "", "", "real", "float")
	case typeMoneyN:
		return bySize(c.size, "", "", "smallmoney", "money")
	case typeDateTimeN:
		return bySize(c.size, "", "", "smalldatetime", "datetime")
	case typeGUID:
		return "uniqueidentifier"
	case typeDate:
		return "date"
	case typeTime:
		return "time"
	case typeDateTime2:
		return "datetime2"
	case typeOffset:
		return "datetimeoffset"
	case typeDecimal:
		return "decimal"
	case typeNumeric:
		return "numeric"
	case typeVarBinary:
		return "varbinary"
	case typeBinary:
		if c.user == userTypeRowVersion {
			return "rowversion"
		}
		return "binary"
	case typeVarChar:
		return "varchar"
	case typeChar:
		return "char"
	case typeNVarChar:
		return "nvarchar"
	case typeNChar:
		return "nchar"
	case typeXML:
		return "xml"
	case typeUDT:
		return c.udt
	case typeText:
		return "text"
	case typeNText:
		return "ntext"
	case typeImage:
		return "image"
	case typeVariant:
		return "sql_variant"
	default:
		return ""
	}
}

// bySize chooses the name of a type by the size of its values.
func bySize(size int, one, two, four, eight string) string {
	switch size {
	case 1:
		return one
	case 2:
		return two
	case 4:
		return four
	case 8:
		return eight
	default:
		return ""
	}
}

// wide reports whether the values are UTF-16.
func (k *kind) wide() bool {
	return k.id == typeNVarChar || k.id == typeNChar || k.id == typeNText || k.id == typeXML
}

// binary reports whether the values are bytes and not text.
func (k *kind) binary() bool {
	return k.id == typeVarBinary || k.id == typeBinary || k.id == typeImage || k.id == typeUDT
}

// RawLimit returns how many bytes a value may have on the wire so that its text
// has at most most bytes. Values of types that are never long are always held,
// so that the size of their text can be computed.
func (c *Column) RawLimit(most int64) int64 {
	switch {
	case c.layout != layoutChunks && c.layout != layoutPointer:
		return 1<<16 - 1
	case c.wide():
		return 2 * most // an ASCII character has two bytes on the wire
	case c.binary():
		return max(most-2, 0) / 2 // \x and two digits a byte
	default:
		return most
	}
}
