package tdsserver

import (
	"encoding/binary"
	"strconv"
)

// The type bytes of [MS-TDS] 2.2.5.4.1 (fixed length) and 2.2.5.4.2 (variable
// length).
const (
	typeNull     = 0x1F
	typeInt1     = 0x30
	typeBit      = 0x32
	typeInt2     = 0x34
	typeInt4     = 0x38
	typeDateTim4 = 0x3A
	typeFlt4     = 0x3B
	typeMoney    = 0x3C
	typeDateTime = 0x3D
	typeFlt8     = 0x3E
	typeMoney4   = 0x7A
	typeInt8     = 0x7F

	typeGUID                  = 0x24
	typeIntN                  = 0x26
	typeDate                  = 0x28
	typeTime                  = 0x29
	typeDateTime2             = 0x2A
	typeDateTimeOffset        = 0x2B
	typeBitN                  = 0x68
	typeDecimal               = 0x6A
	typeNumeric               = 0x6C
	typeFltN                  = 0x6D
	typeMoneyN                = 0x6E
	typeDateTimN              = 0x6F
	typeBigVarBinary          = 0xA5
	typeBigVarChar            = 0xA7
	typeBigBinary             = 0xAD
	typeBigChar               = 0xAF
	typeNVarChar              = 0xE7
	typeNChar                 = 0xEF
	typeUDT                   = 0xF0
	typeXML                   = 0xF1
	typeImage                 = 0x22
	typeText                  = 0x23
	typeVariant               = 0x62
	typeNText                 = 0x63
	sizeMax            uint32 = 0xFFFF // of a type whose values come in chunks
)

// Collation is the collation of a column's character data ([MS-TDS] 2.2.5.1.2).
type Collation struct {
	// Info has the locale in its lowest 20 bits, then the flags.
	Info uint32
	Sort byte
}

// Collations by their code pages.
var (
	// Latin1 is SQL_Latin1_General_CP1_CI_AS: code page 1252.
	Latin1 = Collation{Info: 0x00D00409, Sort: 52}
	// Latin1Windows is Latin1_General_CI_AS: code page 1252 by the locale.
	Latin1Windows = Collation{Info: 0x00D00409}
	// Cyrillic is Cyrillic_General_CI_AS: code page 1251.
	Cyrillic = Collation{Info: 0x00D00419}
	// Greek is Greek_CI_AS: code page 1253.
	Greek = Collation{Info: 0x00D00408}
	// Japanese is Japanese_CI_AS: code page 932.
	Japanese = Collation{Info: 0x00D00411}
	// Thai is Thai_CI_AS: code page 874.
	Thai = Collation{Info: 0x00D0041E}
	// CP437 is SQL_Latin1_General_CP437_CI_AS.
	CP437 = Collation{Info: 0x00D00409, Sort: 32}
	// CP850 is SQL_Latin1_General_CP850_CI_AS.
	CP850 = Collation{Info: 0x00D00409, Sort: 42}
	// UTF8 is Latin1_General_100_CI_AS_SC_UTF8: the flag fUTF8, version 2.
	UTF8 = Collation{Info: 0x24D00409}
	// Assamese is Assamese_100_CI_AS, which has no code page, only Unicode.
	Assamese = Collation{Info: 0x20D0044D}
)

// Type is the TYPE_INFO of a column or a parameter ([MS-TDS] 2.2.5.6).
type Type struct {
	id          byte
	size        uint32
	prec, scale byte
	collation   Collation
	names       [4]string // of a UDT: database, schema, type, assembly
	user        uint32    // UserType of a column ([MS-TDS] 2.2.7.4)
}

// Types of a column that is never NULL. Their values have no length on the
// wire.
var (
	TinyIntFixed       = Type{id: typeInt1}
	BitFixed           = Type{id: typeBit}
	SmallIntFixed      = Type{id: typeInt2}
	IntFixed           = Type{id: typeInt4}
	BigIntFixed        = Type{id: typeInt8}
	RealFixed          = Type{id: typeFlt4}
	FloatFixed         = Type{id: typeFlt8}
	MoneyFixed         = Type{id: typeMoney}
	SmallMoneyFixed    = Type{id: typeMoney4}
	DateTimeFixed      = Type{id: typeDateTime}
	SmallDateTimeFixed = Type{id: typeDateTim4}
)

// Types of a column that may be NULL.
var (
	// Null is the type of NULL itself.
	Null             = Type{id: typeNull}
	TinyInt          = Type{id: typeIntN, size: 1}
	SmallInt         = Type{id: typeIntN, size: 2}
	Int              = Type{id: typeIntN, size: 4}
	BigInt           = Type{id: typeIntN, size: 8}
	Bit              = Type{id: typeBitN, size: 1}
	Real             = Type{id: typeFltN, size: 4}
	Float            = Type{id: typeFltN, size: 8}
	SmallMoney       = Type{id: typeMoneyN, size: 4}
	Money            = Type{id: typeMoneyN, size: 8}
	SmallDateTime    = Type{id: typeDateTimN, size: 4}
	DateTime         = Type{id: typeDateTimN, size: 8}
	Date             = Type{id: typeDate, size: 3}
	UniqueIdentifier = Type{id: typeGUID, size: 16}
	VarCharMax       = Type{id: typeBigVarChar, size: sizeMax, collation: Latin1}
	NVarCharMax      = Type{id: typeNVarChar, size: sizeMax, collation: Latin1}
	VarBinaryMax     = Type{id: typeBigVarBinary, size: sizeMax}
	Text             = Type{id: typeText, size: 0x7FFFFFFF, collation: Latin1}
	NText            = Type{id: typeNText, size: 0x7FFFFFFE, collation: Latin1}
	Image            = Type{id: typeImage, size: 0x7FFFFFFF}
	XML              = Type{id: typeXML}
	Variant          = Type{id: typeVariant, size: 8009}
)

// Decimal is decimal(precision, scale).
func Decimal(precision, scale byte) Type {
	return Type{id: typeDecimal, size: decimalSize(precision), prec: precision, scale: scale}
}

// Numeric is numeric(precision, scale).
func Numeric(precision, scale byte) Type {
	return Type{id: typeNumeric, size: decimalSize(precision), prec: precision, scale: scale}
}

// decimalSize returns the size of a decimal including its sign, in bytes
// ([MS-TDS] 2.2.5.5.1.6).
func decimalSize(precision byte) uint32 {
	switch {
	case precision <= 9:
		return 5
	case precision <= 19:
		return 9
	case precision <= 28:
		return 13
	default:
		return 17
	}
}

// Time is time(scale).
func Time(scale byte) Type { return Type{id: typeTime, size: timeSize(scale), scale: scale} }

// DateTime2 is datetime2(scale).
func DateTime2(scale byte) Type {
	return Type{id: typeDateTime2, size: timeSize(scale) + 3, scale: scale}
}

// DateTimeOffset is datetimeoffset(scale).
func DateTimeOffset(scale byte) Type {
	return Type{id: typeDateTimeOffset, size: timeSize(scale) + 5, scale: scale}
}

// timeSize returns the size of a time of day, in bytes ([MS-TDS] 2.2.5.5.1.8).
func timeSize(scale byte) uint32 {
	switch {
	case scale <= 2:
		return 3
	case scale <= 4:
		return 4
	default:
		return 5
	}
}

// Char is char(n). N counts bytes.
func Char(n uint16) Type { return Type{id: typeBigChar, size: uint32(n), collation: Latin1} }

// VarChar is varchar(n). N counts bytes.
func VarChar(n uint16) Type { return Type{id: typeBigVarChar, size: uint32(n), collation: Latin1} }

// NChar is nchar(n). N counts pairs of bytes.
func NChar(n uint16) Type { return Type{id: typeNChar, size: 2 * uint32(n), collation: Latin1} }

// NVarChar is nvarchar(n). N counts pairs of bytes.
func NVarChar(n uint16) Type { return Type{id: typeNVarChar, size: 2 * uint32(n), collation: Latin1} }

// Binary is binary(n).
func Binary(n uint16) Type { return Type{id: typeBigBinary, size: uint32(n)} }

// VarBinary is varbinary(n).
func VarBinary(n uint16) Type { return Type{id: typeBigVarBinary, size: uint32(n)} }

// RowVersion is rowversion, formerly called timestamp: a binary(8) with a user
// type of its own.
var RowVersion = Type{id: typeBigBinary, size: 8, user: 0x50}

// UDT is a CLR type ([MS-TDS] 2.2.5.5.2).
func UDT(database, schema, name, assembly string) Type {
	return Type{id: typeUDT, size: sizeMax, names: [4]string{database, schema, name, assembly}}
}

// With returns t with another collation.
func (t Type) With(c Collation) Type {
	t.collation = c
	return t
}

// chunked reports whether values come in chunks ([MS-TDS] 2.2.5.2.3).
func (t Type) chunked() bool {
	switch t.id {
	case typeXML, typeUDT:
		return true
	case typeBigVarBinary, typeBigVarChar, typeNVarChar:
		return t.size == sizeMax
	default:
		return false
	}
}

// fixed returns the size of a type without lengths.
func (t Type) fixed() (size int, ok bool) {
	switch t.id {
	case typeNull:
		return 0, true
	case typeInt1, typeBit:
		return 1, true
	case typeInt2:
		return 2, true
	case typeInt4, typeDateTim4, typeFlt4, typeMoney4:
		return 4, true
	case typeInt8, typeMoney, typeDateTime, typeFlt8:
		return 8, true
	default:
		return 0, false
	}
}

func (c Collation) append(b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(b, c.Info), c.Sort)
}

// append writes TYPE_INFO ([MS-TDS] 2.2.5.6).
func (t Type) append(b []byte) []byte {
	b = append(b, t.id)
	if _, ok := t.fixed(); ok {
		return b
	}
	switch t.id {
	case typeDate:
	case typeTime, typeDateTime2, typeDateTimeOffset:
		b = append(b, t.scale)
	case typeDecimal, typeNumeric:
		b = append(b, byte(t.size), t.prec, t.scale)
	case typeGUID, typeIntN, typeBitN, typeFltN, typeMoneyN, typeDateTimN:
		b = append(b, byte(t.size))
	case typeBigVarBinary, typeBigBinary:
		b = binary.LittleEndian.AppendUint16(b, uint16(t.size))
	case typeBigVarChar, typeBigChar, typeNVarChar, typeNChar:
		b = t.collation.append(binary.LittleEndian.AppendUint16(b, uint16(t.size)))
	case typeText, typeNText:
		b = t.collation.append(binary.LittleEndian.AppendUint32(b, t.size))
	case typeImage, typeVariant:
		b = binary.LittleEndian.AppendUint32(b, t.size)
	case typeXML:
		b = append(b, 0) // no schema
	case typeUDT:
		b = binary.LittleEndian.AppendUint16(b, uint16(t.size))
		for _, name := range t.names[:3] {
			b = appendShortText(b, name)
		}
		b = appendLongText(b, t.names[3])
	}
	return b
}

// typeInfo reads the TYPE_INFO of a parameter.
func (r *reader) typeInfo() Type {
	t := Type{id: r.uint8()}
	if _, ok := t.fixed(); ok {
		return t
	}
	switch t.id {
	case typeDate:
		t.size = 3
	case typeTime, typeDateTime2, typeDateTimeOffset:
		t.scale = r.uint8()
		t.size = timeSize(t.scale)
	case typeGUID, typeIntN, typeBitN, typeFltN, typeMoneyN, typeDateTimN:
		t.size = uint32(r.uint8())
	case typeDecimal, typeNumeric:
		t.size = uint32(r.uint8())
		t.prec, t.scale = r.uint8(), r.uint8()
	case typeBigVarBinary, typeBigBinary:
		t.size = uint32(r.uint16())
	case typeBigVarChar, typeBigChar, typeNVarChar, typeNChar:
		t.size = uint32(r.uint16())
		t.collation = Collation{Info: r.uint32(), Sort: r.uint8()}
	case typeXML:
		if r.uint8() != 0 {
			r.fail("a parameter of an XML schema")
		}
	default:
		r.fail("a parameter of type %X", t.id)
	}
	return t
}

// String is the type's name in T-SQL.
func (t Type) String() string {
	length := func(name string, unit uint32) string {
		if t.size == sizeMax {
			return name + "(max)"
		}
		return name + "(" + strconv.Itoa(int(t.size/unit)) + ")"
	}
	switch t.id {
	case typeNull:
		return "null"
	case typeInt1:
		return "tinyint"
	case typeInt2:
		return "smallint"
	case typeInt4:
		return "int"
	case typeInt8:
		return "bigint"
	case typeIntN:
		return map[uint32]string{1: "tinyint", 2: "smallint", 4: "int", 8: "bigint"}[t.size]
	case typeBit, typeBitN:
		return "bit"
	case typeFlt4:
		return "real"
	case typeFlt8:
		return "float"
	case typeFltN:
		return map[uint32]string{4: "real", 8: "float"}[t.size]
	case typeMoney:
		return "money"
	case typeMoney4:
		return "smallmoney"
	case typeMoneyN:
		return map[uint32]string{4: "smallmoney", 8: "money"}[t.size]
	case typeDateTime:
		return "datetime"
	case typeDateTim4:
		return "smalldatetime"
	case typeDateTimN:
		return map[uint32]string{4: "smalldatetime", 8: "datetime"}[t.size]
	case typeDate:
		return "date"
	case typeTime:
		return "time(" + strconv.Itoa(int(t.scale)) + ")"
	case typeDateTime2:
		return "datetime2(" + strconv.Itoa(int(t.scale)) + ")"
	case typeDateTimeOffset:
		return "datetimeoffset(" + strconv.Itoa(int(t.scale)) + ")"
	case typeDecimal, typeNumeric:
		name := map[byte]string{typeDecimal: "decimal", typeNumeric: "numeric"}[t.id]
		return name + "(" + strconv.Itoa(int(t.prec)) + "," + strconv.Itoa(int(t.scale)) + ")"
	case typeGUID:
		return "uniqueidentifier"
	case typeBigChar:
		return length("char", 1)
	case typeBigVarChar:
		return length("varchar", 1)
	case typeNChar:
		return length("nchar", 2)
	case typeNVarChar:
		return length("nvarchar", 2)
	case typeBigBinary:
		if t.user == RowVersion.user {
			return "rowversion"
		}
		return length("binary", 1)
	case typeBigVarBinary:
		return length("varbinary", 1)
	case typeText:
		return "text"
	case typeNText:
		return "ntext"
	case typeImage:
		return "image"
	case typeXML:
		return "xml"
	case typeVariant:
		return "sql_variant"
	case typeUDT:
		return t.names[2]
	default:
		return "type " + strconv.Itoa(int(t.id))
	}
}
