//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package engine

import (
	"regexp"
	"strconv"
	"strings"

	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// typeNames are the types without parameters, as DuckDB spells them.
var typeNames = map[duckdb.Type]string{
	duckdb.TypeBoolean: "BOOLEAN", duckdb.TypeTinyInt: "TINYINT", duckdb.TypeSmallInt: "SMALLINT", duckdb.TypeInteger: "INTEGER",
	duckdb.TypeBigInt: "BIGINT", duckdb.TypeUTinyInt: "UTINYINT", duckdb.TypeUSmallInt: "USMALLINT", duckdb.TypeUInteger: "UINTEGER",
	duckdb.TypeUBigInt: "UBIGINT", duckdb.TypeHugeInt: "HUGEINT", duckdb.TypeUHugeInt: "UHUGEINT", duckdb.TypeBigNum: "BIGNUM",
	duckdb.TypeFloat: "FLOAT", duckdb.TypeDouble: "DOUBLE", duckdb.TypeVarchar: "VARCHAR", duckdb.TypeBlob: "BLOB", duckdb.TypeBit: "BIT",
	duckdb.TypeDate: "DATE", duckdb.TypeTime: "TIME", duckdb.TypeTimeNS: "TIME_NS", duckdb.TypeTimeTZ: "TIME WITH TIME ZONE",
	duckdb.TypeTimestamp: "TIMESTAMP", duckdb.TypeTimestampS: "TIMESTAMP_S", duckdb.TypeTimestampMS: "TIMESTAMP_MS",
	duckdb.TypeTimestampNS: "TIMESTAMP_NS", duckdb.TypeTimestampTZ: "TIMESTAMP WITH TIME ZONE", duckdb.TypeInterval: "INTERVAL",
	duckdb.TypeUUID: "UUID", duckdb.TypeSQLNull: "NULL", duckdb.TypeGeometry: "GEOMETRY", duckdb.TypeVariant: "VARIANT",
}

// maxTypeName bounds the names of types, which can list all columns of a struct.
const maxTypeName = 4 << 10

// typeName returns the engine's name of a type.
func typeName(t duckdb.LogicalType) string {
	var b strings.Builder
	writeType(&b, t)
	if b.Len() <= maxTypeName {
		return b.String()
	}
	name, _, _ := strings.Cut(b.String(), "(")
	return name + "(…)"
}

func writeType(b *strings.Builder, t duckdb.LogicalType) {
	if b.Len() > maxTypeName {
		return
	}
	if alias := duckdb.LogicalTypeGetAlias(t); alias != "" {
		b.WriteString(alias)
		return
	}
	switch id := duckdb.GetTypeId(t); id {
	case duckdb.TypeDecimal:
		b.WriteString("DECIMAL(" + strconv.Itoa(int(duckdb.DecimalWidth(t))) + "," + strconv.Itoa(int(duckdb.DecimalScale(t))) + ")")
	case duckdb.TypeEnum:
		b.WriteString("ENUM(")
		for i := range duckdb.EnumDictionarySize(t) {
			if b.Len() > maxTypeName {
				break
			}
			separate(b, int(i))
			b.WriteString(quoteText(duckdb.EnumDictionaryValue(t, duckdb.IdxT(i))))
		}
		b.WriteByte(')')
	case duckdb.TypeList:
		writePart(b, duckdb.ListTypeChildType(t))
		b.WriteString("[]")
	case duckdb.TypeArray:
		writePart(b, duckdb.ArrayTypeChildType(t))
		b.WriteString("[" + strconv.FormatUint(uint64(duckdb.ArrayTypeArraySize(t)), 10) + "]")
	case duckdb.TypeMap:
		b.WriteString("MAP(")
		writePart(b, duckdb.MapTypeKeyType(t))
		b.WriteString(", ")
		writePart(b, duckdb.MapTypeValueType(t))
		b.WriteByte(')')
	case duckdb.TypeStruct:
		b.WriteString("STRUCT(")
		for i := range duckdb.StructTypeChildCount(t) {
			separate(b, int(i))
			writeMember(b, duckdb.StructTypeChildName(t, i), duckdb.StructTypeChildType(t, i))
		}
		b.WriteByte(')')
	case duckdb.TypeUnion:
		b.WriteString("UNION(")
		for i := range duckdb.UnionTypeMemberCount(t) {
			separate(b, int(i))
			writeMember(b, duckdb.UnionTypeMemberName(t, i), duckdb.UnionTypeMemberType(t, i))
		}
		b.WriteByte(')')
	default:
		name, known := typeNames[id]
		if !known {
			name = "UNKNOWN"
		}
		b.WriteString(name)
	}
}

func separate(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteString(", ")
	}
}

func writePart(b *strings.Builder, t duckdb.LogicalType) {
	defer duckdb.DestroyLogicalType(&t)
	writeType(b, t)
}

// plainName is the form of names that the engine does not quote, except keywords.
var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

func writeMember(b *strings.Builder, name string, t duckdb.LogicalType) {
	if !plainName.MatchString(name) {
		name = quoteName(name)
	}
	b.WriteString(name + " ")
	writePart(b, t)
}
