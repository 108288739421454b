package mysqldb

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/rowset"
	"github.com/ktxhq/ktx/execution/mysqldb/wire"
)

// kindOf returns the kind of a column's values. DECIMAL is text, because a float
// would lose digits.
func kindOf(c wire.Column) rowset.Kind {
	switch c.Type {
	case wire.TypeTiny, wire.TypeShort, wire.TypeLong, wire.TypeInt24, wire.TypeLongLong, wire.TypeYear:
		return rowset.Integer
	case wire.TypeFloat, wire.TypeDouble:
		return rowset.Float
	case wire.TypeBit, wire.TypeGeometry, wire.TypeVector:
		return rowset.Bytes
	case wire.TypeVarchar, wire.TypeTinyBlob, wire.TypeMediumBlob, wire.TypeLongBlob, wire.TypeBlob, wire.TypeVarString, wire.TypeString:
		if c.Charset == wire.Binary && c.Format != "json" && !textual(c.Extended) {
			return rowset.Bytes
		}
		return rowset.String
	case wire.TypeDecimal, wire.TypeNewDecimal, wire.TypeNull, wire.TypeDate, wire.TypeNewDate, wire.TypeTime, wire.TypeDatetime, wire.TypeTimestamp,
		wire.TypeEnum, wire.TypeSet, wire.TypeJSON:
		return rowset.String
	default:
		return rowset.String
	}
}

// textual reports whether a type of MariaDB's own is sent as text, whatever
// character set the column states.
func textual(extended string) bool {
	switch extended {
	case "uuid", "inet4", "inet6":
		return true
	default:
		return false
	}
}

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

// blobName tells the four BLOB and four TEXT types apart by the length of their
// longest value. The length of a TEXT is given in bytes, four for each
// character.
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

// syntax says how to read a part of a column.
var syntax = rowset.Syntax{
	Plain: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`),
	Quote: quoteName,
	Part:  "substring(%s, 1, %d)",
}

// quoteName quotes an identifier.
func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// describe records the columns of the result.
func describe(s *rowset.Set, columns []wire.Column) {
	s.Describe(len(columns))
	for i, c := range columns[:len(s.Columns)] {
		s.Column(i, execution.Column{Name: execution.NameText(c.Name), Type: execution.NameText(typeName(c))}, kindOf(c))
	}
}

// add records one row, or says which value of it was cut.
func add(s *rowset.Set, values [][]byte, cut *wire.Cut) {
	switch {
	case !s.Room():
	case cut != nil:
		s.Cut(cut.Column, cut.Size)
	default:
		s.Add(values)
	}
}
