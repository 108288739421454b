package oracle_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// myValues are the values for one column type of MariaDB or MySQL, as SQL.
type myValues struct {
	products string   // the one product that has the type; "" for both
	declared string   // the type that the product must show; "" if it is the declaration without lengths
	mariadb  string   // the type in MariaDB's protocol, if it is another
	edges    []string // literals and expressions
	random   func(*rand.Rand) string
}

// literal writes text as a literal for any character set of a column.
func literal(text string) string {
	if text == "" {
		return "''"
	}
	return "_utf8mb4 x'" + hex.EncodeToString([]byte(text)) + "'"
}

func blob(raw string) string {
	if raw == "" {
		return "''"
	}
	return "x'" + hex.EncodeToString([]byte(raw)) + "'"
}

func quotedAll(texts ...string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = "'" + s + "'"
	}
	return out
}

func literals(render func(string) string, texts ...string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = render(s)
	}
	return out
}

func signed(bits int) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return randomInteger(r, bits) }
}

func unsigned(bits int) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return randomUnsigned(r, bits) }
}

// myTexts are strings that quoting, terminals and encodings often break.
var myTexts = []string{
	"", " ", "x ", "  ", "NULL", "null", `\N`, `a"b\c`, `\0\t\n`, "line\nbreak\ttab\r\n", "\x00", "a\x00b", "Grüße 世界 😀", "\u2028\u2029\ufeff\ufffd", "\x01\x1f\x7f\u0080", "'", "`", `\x00ff`,
	"1", "1.0", "true", "e\u0301", "<script>&amp;</script>", "<field name=\"x\" xsi:nil=\"true\" />", "\U0010ffff\uffff\ufdd0", "0000-00-00",
}

func randomDateText(r *rand.Rand) string {
	return fmt.Sprintf("%04d-%02d-%02d", r.IntN(10_000), r.IntN(13), r.IntN(32))
}

func randomMomentText(r *rand.Rand) string {
	s := fmt.Sprintf("%s %02d:%02d:%02d", randomDateText(r), r.IntN(24), r.IntN(60), r.IntN(60))
	if r.IntN(2) == 0 {
		s += "." + digits(r, 1+r.IntN(6))
	}
	return "'" + s + "'"
}

func randomSpan(r *rand.Rand) string {
	s := fmt.Sprintf("%s%d:%02d:%02d", sign(r), r.IntN(839), r.IntN(60), r.IntN(60))
	if r.IntN(2) == 0 {
		s += "." + digits(r, 1+r.IntN(6))
	}
	return "'" + s + "'"
}

func randomStamp(r *rand.Rand) string {
	return fmt.Sprintf("FROM_UNIXTIME(%d.%s)", 1+r.Int64N(1<<31-2), digits(r, 6))
}

func randomReal(bits int) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		for {
			if s := randomFloat(r, bits); !strings.ContainsAny(s, "NI") {
				if !strings.Contains(s, "e") {
					s += "e0"
				}
				return s
			}
		}
	}
}

func randomDecimal(whole, fraction int) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		return sign(r) + digits(r, 1+r.IntN(max(whole, 1))) + "." + digits(r, 1+r.IntN(fraction+2))
	}
}

func randomPosition(r *rand.Rand) string {
	return fmt.Sprintf("%.*f %.*f", r.IntN(9), (r.Float64()-0.5)*180, r.IntN(9), (r.Float64()-0.5)*180)
}

// geometries are values of the geometry types, by type.
var geometries = map[string][]string{
	"point":              {"POINT(0 0)", "POINT(-1.5 2.25)", "POINT(1e80 -1e-80)"},
	"linestring":         {"LINESTRING(0 0,1 1)", "LINESTRING(0 0,1.5 1,2 -2)"},
	"polygon":            {"POLYGON((0 0,4 0,4 4,0 0))", "POLYGON((0 0,9 0,9 9,0 9,0 0),(1 1,2 1,2 2,1 1))"},
	"multipoint":         {"MULTIPOINT(0 0,1 1)"},
	"multilinestring":    {"MULTILINESTRING((0 0,1 1),(2 2,3 3,4 5))"},
	"multipolygon":       {"MULTIPOLYGON(((0 0,4 0,4 4,0 0)),((5 5,6 5,6 6,5 5)))"},
	"geometrycollection": {"GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,1 1))", "GEOMETRYCOLLECTION EMPTY"},
}

func geometryEdges(kinds ...string) (out []string) {
	for _, kind := range kinds {
		for _, text := range geometries[kind] {
			out = append(out, "ST_GeomFromText('"+text+"')")
		}
	}
	return out
}

var (
	integerEdges = []string{"0", "1", "-1"}
	realEdges    = []string{
		"0", "-0e0", "0.1", "0.30000000000000004", "1e5", "123456", "1234567", "12345678", "16777217", "1e-4", "1e-5", "1e14", "1e15", "1e16", "1e17", "1e20", "1e21", "100000",
		"3.402823466e38", "-3.402823466e38", "1.175494351e-38", "1e-30", "123456.789", "0.000123456789",
	}
	dateEdges = quotedAll("0000-00-00", "2024-00-00", "2024-02-00", "2024-02-31", "0000-01-01", "0001-01-01", "9999-12-31", "2024-02-29", "1582-10-10", "1970-01-01")
	timeEdges = quotedAll("00:00:00", "838:59:59", "-838:59:59", "24:00:00", "-00:00:01", "100:00:00.5", "-00:00:00.000001", "838:59:58.999999", "23:59:59.999999")
	whenEdges = quotedAll("0000-00-00 00:00:00", "2024-00-00 12:00:00", "2024-02-31 23:59:59", "0000-00-00 00:00:01.5", "9999-12-31 23:59:59", "9999-12-31 23:59:58.999999", "1000-01-01 00:00:00", "0001-01-01 00:00:00.000001", "2024-02-29 12:34:56.789")
)

// mariadbValues are the column types of both products. If the declaration has
// attributes, the type is the first word.
var mariadbValues = map[string]myValues{
	"tinyint":                             {edges: []string{"-128", "127", "0"}, random: signed(8)},
	"tinyint unsigned":                    {edges: []string{"255", "0"}, random: unsigned(8)},
	"tinyint(1)":                          {edges: []string{"TRUE", "FALSE", "-1", "127"}},
	"smallint":                            {edges: []string{"-32768", "32767", "0"}, random: signed(16)},
	"smallint unsigned":                   {edges: []string{"65535"}, random: unsigned(16)},
	"mediumint":                           {edges: []string{"-8388608", "8388607"}, random: signed(24)},
	"mediumint unsigned":                  {edges: []string{"16777215"}, random: unsigned(24)},
	"int":                                 {edges: []string{"-2147483648", "2147483647", "0"}, random: signed(32)},
	"int unsigned":                        {edges: []string{"4294967295"}, random: unsigned(32)},
	"int(10) unsigned zerofill":           {edges: []string{"0", "42", "4294967295"}, random: unsigned(32)},
	"bigint":                              {edges: append([]string{"-9223372036854775808", "9223372036854775807", "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740991", "-9007199254740992", "-9007199254740993"}, integerEdges...), random: signed(64)},
	"bigint unsigned":                     {edges: []string{"18446744073709551615", "9223372036854775808", "9007199254740993", "0"}, random: unsigned(64)},
	"bigint(20) unsigned zerofill":        {edges: []string{"0", "18446744073709551615", "7"}, random: unsigned(64)},
	"decimal(65,30)":                      {edges: []string{"0", "-0.0", "99999999999999999999999999999999999.999999999999999999999999999999", "-99999999999999999999999999999999999.999999999999999999999999999999", "0.000000000000000000000000000001", "1.10", "9007199254740993"}, random: randomDecimal(35, 30)},
	"decimal(65,0)":                       {edges: []string{"99999999999999999999999999999999999999999999999999999999999999999", "-1", "0"}, random: randomDecimal(65, 1)},
	"decimal(5,2)":                        {edges: []string{"-999.99", "0.005", "1"}, random: randomDecimal(3, 2)},
	"decimal(10,4) unsigned":              {edges: []string{"0", "999999.9999"}},
	"decimal(8,3) zerofill":               {declared: "decimal unsigned zerofill", edges: []string{"0", "1.5"}},
	"float":                               {edges: append([]string{"1.4e-45"}, realEdges...), random: randomReal(32)},
	"float unsigned":                      {edges: []string{"0", "1.5", "3.402823466e38"}},
	"float(10,3)":                         {edges: []string{"0", "1.0005", "-1234567.891", "0.1"}, random: randomReal(32)},
	"double":                              {edges: append([]string{"1.7976931348623157e308", "-1.7976931348623157e308", "2.2250738585072014e-308", "5e-324", "9007199254740992e0", "9007199254740993e0", "123456789012345678e0"}, realEdges...), random: randomReal(64)},
	"double unsigned":                     {edges: []string{"0", "1.7976931348623157e308"}},
	"double(20,5)":                        {edges: []string{"0", "-123456789012345.12345", "0.000005"}, random: randomReal(64)},
	"double zerofill":                     {declared: "double unsigned zerofill", edges: []string{"0", "1.5", "1e300"}},
	"bit(1)":                              {edges: []string{"b'0'", "b'1'"}},
	"bit(8)":                              {edges: []string{"0", "255", "65", "92", "9"}},
	"bit(17)":                             {edges: []string{"0", "131071", "1"}, random: unsigned(17)},
	"bit(64)":                             {edges: []string{"0", "18446744073709551615", "1"}, random: unsigned(64)},
	"year":                                {edges: []string{"0", "1901", "2155", "1970", "'00'"}, random: func(r *rand.Rand) string { return strconv.Itoa(1901 + r.IntN(255)) }},
	"date":                                {edges: dateEdges, random: func(r *rand.Rand) string { return "'" + randomDateText(r) + "'" }},
	"time":                                {edges: timeEdges, random: randomSpan},
	"time(6)":                             {edges: timeEdges, random: randomSpan},
	"time(3)":                             {edges: timeEdges, random: randomSpan},
	"datetime":                            {edges: whenEdges, random: randomMomentText},
	"datetime(6)":                         {edges: whenEdges, random: randomMomentText},
	"datetime(1)":                         {edges: whenEdges, random: randomMomentText},
	"timestamp null":                      {declared: "timestamp", edges: quotedAll("0000-00-00 00:00:00", "1970-01-01 00:00:01", "2038-01-19 03:14:07", "2024-03-31 02:30:00"), random: randomStamp},
	"timestamp(6) null":                   {declared: "timestamp", edges: quotedAll("0000-00-00 00:00:00", "1970-01-01 00:00:01.000001", "2038-01-19 03:14:07.999999"), random: randomStamp},
	"char(10)":                            {edges: append(literals(literal, "", "x ", "1234567890", "é世😀"), "' '"), random: func(r *rand.Rand) string { return "LEFT(" + literal(randomText(r)) + ", 10)" }},
	"char(0)":                             {edges: []string{"''"}},
	"varchar(2000)":                       {edges: literals(literal, myTexts...), random: func(r *rand.Rand) string { return literal(randomText(r)) }},
	"varchar(60)":                         {edges: literals(literal, "", "é", "😀")},
	"tinytext":                            {edges: literals(literal, "", "x", strings.Repeat("é", 127)), random: func(r *rand.Rand) string { return "LEFT(" + literal(randomText(r)) + ", 60)" }},
	"text":                                {edges: append(literals(literal, myTexts...), "REPEAT('é', 30000)"), random: func(r *rand.Rand) string { return literal(randomText(r)) }},
	"mediumtext":                          {edges: []string{"REPEAT('\\n\\\\', 40000)", "''"}, random: func(r *rand.Rand) string { return literal(randomText(r)) }},
	"longtext":                            {edges: []string{"REPEAT('世界😀\\t', 20000)", "''"}, random: func(r *rand.Rand) string { return literal(randomText(r)) }},
	"binary(6)":                           {edges: literals(blob, "", "\x00", "text", "123456", "\xff\xfe"), random: func(r *rand.Rand) string { return "LEFT(x'00" + randomHex(r, 6) + "', 6)" }},
	"varbinary(3000)":                     {edges: append(literals(blob, myTexts...), "x'ff'"), random: func(r *rand.Rand) string { return "CONCAT('', x'00" + randomHex(r, 40) + "')" }},
	"tinyblob":                            {edges: literals(blob, "", "text", "\xff", "\x00")},
	"blob":                                {edges: append(literals(blob, myTexts...), "REPEAT(x'00ff', 30000)"), random: func(r *rand.Rand) string { return "CONCAT('', x'00" + randomHex(r, 40) + "')" }},
	"mediumblob":                          {edges: []string{"REPEAT(x'0a5c00', 40000)", "''"}},
	"longblob":                            {edges: []string{"REPEAT('text', 50000)", "''"}},
	"enum('a','','b c','''','größe',',')": {declared: "enum", edges: append(literals(literal, "a", "", "b c", "'", "größe", ","), "0", "3")},
	"set('a','b c','größe','','x')":       {declared: "set", edges: append(literals(literal, "", "a", "a,b c", "größe,x", "a,"), "0", "31")},
	"geometry":                            {edges: append(geometryEdges("point", "linestring", "polygon", "geometrycollection"), "ST_GeomFromText('POINT(1 2)', 4326)"), random: func(r *rand.Rand) string { return "ST_GeomFromText('POINT(" + randomPosition(r) + ")')" }},
	"point":                               {edges: geometryEdges("point"), random: func(r *rand.Rand) string { return "ST_GeomFromText('POINT(" + randomPosition(r) + ")')" }},
	"linestring":                          {edges: geometryEdges("linestring")},
	"polygon":                             {edges: geometryEdges("polygon")},
	"multipoint":                          {edges: geometryEdges("multipoint")},
	"multilinestring":                     {edges: geometryEdges("multilinestring")},
	"multipolygon":                        {edges: geometryEdges("multipolygon")},
	"geometrycollection":                  {edges: geometryEdges("geometrycollection")},
	"json": {
		edges:  literals(literal, `{"b":1,"b":9007199254740993, "a" : 1.0}`, `[]`, `null`, `"é\u00e9"`, `[1,2.50,1e2,-0]`, `{"a":{"b":[true,false,null]}}`, "\n{\t}", `"😀"`, `[1.7976931348623157e308]`),
		random: func(r *rand.Rand) string { return literal(randomJSON(r, 3, true)) },
	},
	"inet6":     {products: "mariadb", edges: quotedAll("::", "::1", "::ffff:192.0.2.1", "::192.0.2.1", "2001:db8::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "1:0:0:2::3"), random: func(r *rand.Rand) string { return "x'" + hex.EncodeToString(randomBytes(r, 16)) + "'" }},
	"inet4":     {products: "mariadb", edges: quotedAll("0.0.0.0", "255.255.255.255", "127.0.0.1"), random: func(r *rand.Rand) string { return "x'" + hex.EncodeToString(randomBytes(r, 4)) + "'" }},
	"uuid":      {products: "mariadb", edges: quotedAll("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "123e4567-e89b-12d3-a456-426655440000"), random: func(r *rand.Rand) string { return "x'" + hex.EncodeToString(randomBytes(r, 16)) + "'" }},
	"year(2)":   {products: "mariadb", edges: []string{"0", "7", "69", "99"}},
	"vector(3)": {mariadb: "varbinary", edges: []string{"x'000000000000803f00000040'", "x'0000000000000080ffff7f7f'"}, random: func(r *rand.Rand) string { return "x'" + hex.EncodeToString(vector(r, 3)) + "'" }},
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32()) * byte(r.IntN(2))
	}
	return b
}

// vector returns the bytes of n finite floats of 32 bits.
func vector(r *rand.Rand, n int) (out []byte) {
	for range n {
		out = append(out, byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), byte(r.IntN(0x70)))
	}
	// The client's description does not say of every expression over a vector that
	// it has bytes. A value that is not valid UTF-8 can only be bytes.
	out[2], out[3], out[4] = out[2]&0x7f, out[3]|0x80, 0
	return out
}
