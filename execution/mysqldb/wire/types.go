package wire

// Type is the type of a column on the wire (include/field_types.h).
type Type byte

// The types.
const (
	TypeDecimal    Type = 0
	TypeTiny       Type = 1
	TypeShort      Type = 2
	TypeLong       Type = 3
	TypeFloat      Type = 4
	TypeDouble     Type = 5
	TypeNull       Type = 6
	TypeTimestamp  Type = 7
	TypeLongLong   Type = 8
	TypeInt24      Type = 9
	TypeDate       Type = 10
	TypeTime       Type = 11
	TypeDatetime   Type = 12
	TypeYear       Type = 13
	TypeNewDate    Type = 14
	TypeVarchar    Type = 15
	TypeBit        Type = 16
	TypeVector     Type = 242
	TypeJSON       Type = 245
	TypeNewDecimal Type = 246
	TypeEnum       Type = 247
	TypeSet        Type = 248
	TypeTinyBlob   Type = 249
	TypeMediumBlob Type = 250
	TypeLongBlob   Type = 251
	TypeBlob       Type = 252
	TypeVarString  Type = 253
	TypeString     Type = 254
	TypeGeometry   Type = 255
)

// Flags describe a column further (include/mysql_com.h).
type Flags uint16

// The flags that affect the type.
const (
	FlagUnsigned Flags = 1 << 5
	FlagZerofill Flags = 1 << 6
	FlagEnum     Flags = 1 << 8
	FlagSet      Flags = 1 << 11
)
