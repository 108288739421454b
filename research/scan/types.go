package scan

import (
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// The normalized types.
const (
	typeBoolean   = "boolean"
	typeInteger   = "integer"
	typeDecimal   = "decimal"
	typeFloat     = "float"
	typeString    = "string"
	typeEnum      = "enum"
	typeDate      = "date"
	typeTime      = "time"
	typeTimestamp = "timestamp"
	typeInterval  = "interval"
	typeUUID      = "uuid"
	typeJSON      = "json"
	typeXML       = "xml"
	typeBinary    = "binary"
	typeArray     = "array"
	typeGeometry  = "geometry"
	typeOther     = "other"
)

// typeNames maps the first words of the engines' types to normalized types.
var typeNames = wordMap(map[string]string{
	typeBoolean: "boolean bool",
	typeInteger: "integer int bigint smallint tinyint mediumint int2 int4 int8 serial bigserial smallserial year oid hugeint utinyint usmallint uinteger ubigint uhugeint bignum",
	typeDecimal: "decimal numeric number money smallmoney dec fixed",
	typeFloat:   "real float double float4 float8",
	typeString: "char character varchar varchar2 nvarchar nvarchar2 nchar native text ntext citext name bpchar tinytext mediumtext longtext " +
		"clob string sysname inet cidr macaddr macaddr8 inet4 inet6 hierarchyid ltree",
	typeEnum:      "enum set",
	typeDate:      "date",
	typeTime:      "time timetz time_ns",
	typeTimestamp: "timestamp timestamptz datetime datetime2 smalldatetime datetimeoffset timestamp_s timestamp_ms timestamp_ns",
	typeInterval:  "interval",
	typeUUID:      "uuid uniqueidentifier",
	typeJSON:      "json jsonb",
	typeXML:       "xml",
	typeBinary:    "bytea blob tinyblob mediumblob longblob binary varbinary image rowversion",
	typeGeometry: "geometry geography point line lseg box path polygon circle linestring multipoint multilinestring multipolygon " +
		"geometrycollection geomcollection raster",
	typeOther: "bit varbit tsvector tsquery hstore sql_variant vector",
})

// wordMap turns lists of words by value into a map by word.
func wordMap(lists map[string]string) map[string]string {
	m := map[string]string{}
	for value, words := range lists {
		for word := range strings.FieldsSeq(words) {
			m[word] = value
		}
	}
	return m
}

// normalize returns the normalized type of a native type, such as "decimal" for
// "numeric(10,2)".
func normalize(native string) string {
	text := strings.ToLower(strings.TrimSpace(native))
	if strings.HasSuffix(text, "[]") || text == "array" {
		return typeArray
	}
	if text == "tinyint(1)" { // how MySQL and MariaDB store BOOLEAN
		return typeBoolean
	}
	word := text
	if i := strings.IndexAny(text, "( \t"); i >= 0 {
		word = text[:i]
	}
	word = strings.Trim(word, `"`)
	if i := strings.LastIndexByte(word, '.'); i >= 0 { // a type of an extension in a schema
		word = strings.Trim(word[i+1:], `"`)
	}
	if t, ok := typeNames[word]; ok {
		return t
	}
	return typeOther
}

// dimension returns what a column of a normalized type is used for.
func dimension(normalized string) catalog.DimensionType {
	switch normalized {
	case typeBoolean:
		return catalog.DimensionBoolean
	case typeInteger, typeDecimal, typeFloat:
		return catalog.DimensionNumber
	case typeDate, typeTime, typeTimestamp:
		return catalog.DimensionTime
	default:
		return catalog.DimensionString
	}
}

// classOf says how values of a normalized type are read.
func classOf(normalized string) class {
	switch normalized {
	case typeString, typeEnum:
		return classText
	case typeBoolean, typeInteger, typeDecimal, typeFloat, typeDate, typeTime, typeTimestamp, typeInterval, typeUUID:
		return classPlain
	default:
		return classOpaque
	}
}

// declaredLength returns the length in a type such as "character varying(50)", or 0.
func declaredLength(native string) int {
	open, end := strings.IndexByte(native, '('), strings.IndexByte(native, ')')
	if open < 0 || end < open {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(native[open+1 : end]))
	if err != nil || n < 0 {
		return 0
	}
	return n
}
