package clickhouse

import (
	"regexp"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
)

// wholeTypes are the types of whole numbers, which have at most a width in brackets.
var wholeTypes = regexp.MustCompile(`^(u?int[0-9]*|bigint|integer|mediumint|smallint|tinyint)$`)

// typeNames are the types of the server, in lower case (system.data_type_families of
// ClickHouse 26.7). longTypes are the words that can follow the first one of a name.
var (
	typeNames = lexical.Set(`
		aggregatefunction array bfloat16 bigint binary bit blob bool boolean byte bytea char character clob date date32 datetime datetime32
		datetime64 dec decimal decimal128 decimal256 decimal32 decimal64 double dynamic enum enum16 enum8 fixed fixedstring float
		float32 float64 geometry inet4 inet6 int int1 int128 int16 int256 int32 int64 int8 integer intervalday intervalhour
		intervalmicrosecond intervalmillisecond intervalminute intervalmonth intervalnanosecond intervalquarter intervalsecond
		intervalweek intervalyear ipv4 ipv6 json linestring longblob longtext lowcardinality map mediumblob mediumint mediumtext
		multilinestring multipolygon national nchar nested nothing nullable numeric nvarchar point polygon qbit real ring set signed
		simpleaggregatefunction single smallint string text time time64 timestamp tinyblob tinyint tinytext tuple uint128 uint16
		uint256 uint32 uint64 uint8 unsigned uuid varbinary varchar varchar2 variant year`)
	longTypes = map[string][]string{
		"bigint": {"signed", "unsigned"}, "int": {"signed", "unsigned"}, "int1": {"signed", "unsigned"}, "integer": {"signed", "unsigned"},
		"mediumint": {"signed", "unsigned"}, "smallint": {"signed", "unsigned"}, "tinyint": {"signed", "unsigned"},
		"binary": {"large object", "varying"}, "char": {"large object", "varying"}, "character": {"large object", "varying"},
		"double": {"precision"}, "national": {"char varying", "character large object", "character varying", "char", "character"},
		"nchar": {"large object", "varying"},
	}
)
