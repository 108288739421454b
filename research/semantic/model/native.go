package model

import (
	"strings"

	"github.com/ktxhq/ktx/execution/clickhousedb/typename"
	"github.com/ktxhq/ktx/research/semantic/expr"
)

// nativeWords are the first words of the engines' types that are not texts.
var nativeWords = func() map[string]expr.Type {
	m := map[string]expr.Type{}
	for t, words := range map[expr.Type]string{
		expr.Boolean: "boolean bool bit",
		expr.Number: "number integer int bigint smallint tinyint mediumint int2 int4 int8 serial bigserial smallserial year oid hugeint " +
			"decimal numeric money smallmoney dec fixed real float double float4 float8 unsigned " +
			"int16 int32 int64 int128 int256 uint8 uint16 uint32 uint64 uint128 uint256 float32 float64 bfloat16 " +
			"decimal32 decimal64 decimal128 decimal256 bignumeric bigdecimal " +
			"utinyint usmallint uinteger ubigint uhugeint bignum",
		expr.Time: "date timestamp timestamptz datetime datetime2 smalldatetime datetimeoffset date32 datetime64 timestamp_ntz timestamp_ltz timestamp_tz timestamp_s timestamp_ms timestamp_ns",
	} {
		for w := range strings.FieldsSeq(words) {
			m[w] = t
		}
	}
	return m
}()

// nativeType returns the type that a column has in the model for its type in the
// database. A time of day is a string, because granularities and dates mean nothing for
// it. What no engine calls a number, a time, or a boolean is a string too.
func nativeType(native string) expr.Type {
	native, _ = typename.Unwrap(native)
	text := strings.ToLower(strings.TrimSpace(native))
	if strings.HasSuffix(text, "]") {
		return expr.String
	}
	word := text
	if i := strings.IndexAny(text, "(< \t"); i >= 0 {
		word = text[:i]
	}
	switch {
	case text == "tinyint(1)": // how MySQL and MariaDB store BOOLEAN
		return expr.Boolean
	case word == "bit" && text != "bit" && text != "bit(1)": // bits of PostgreSQL and MySQL
		return expr.String
	}
	if t, ok := nativeWords[word]; ok {
		return t
	}
	return expr.String
}

// opaqueWords are the first words of types whose values some engine cannot compare or
// order.
var opaqueWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("json jsonb xml array bytea blob tinyblob mediumblob longblob binary varbinary image rowversion " +
		"geometry geography point line lseg box path polygon circle linestring multipoint multilinestring multipolygon " +
		"geometrycollection geomcollection raster tsvector tsquery hstore sql_variant vector text[] ntext " +
		"map tuple struct union nested variant dynamic object ring aggregatefunction bytes range") {
		m[w] = true
	}
	return m
}()

// opaque reports whether the values of a type in the database have no order, as those
// of json or of an array. They can be counted and not be grouped or compared.
func opaque(native string) bool {
	native, _ = typename.Unwrap(native)
	text := strings.ToLower(strings.TrimSpace(native))
	if strings.HasSuffix(text, "]") { // of any length
		return true
	}
	if i := strings.IndexAny(text, "(< \t"); i >= 0 {
		text = text[:i]
	}
	return opaqueWords[text]
}

// fourTypes reports whether a table of a manifest gives the types of the model instead
// of those of a database, as other programs write them. The word time alone does not
// tell, because a time of day is called so too.
func fourTypes(types []string) bool {
	sure := false
	for _, t := range types {
		switch t {
		case "string", "number":
			sure = true
		case "time", "boolean":
		default:
			return false
		}
	}
	return sure
}

func typeNamed(name string) expr.Type {
	switch name {
	case "string":
		return expr.String
	case "number":
		return expr.Number
	case "time":
		return expr.Time
	case "boolean":
		return expr.Boolean
	}
	return expr.Unknown
}
