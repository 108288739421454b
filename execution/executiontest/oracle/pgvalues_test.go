package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// values are the values for one type.
type values struct {
	edges       []string                // texts of the type
	since       map[int][]string        // texts that servers support from this version on
	random      func(*rand.Rand) string // more texts
	expressions []string                // for types whose values have no text as input
}

// pgValues are values of the server's own types. The key is the name, in
// pg_catalog unless it has a schema. The test makes arrays, rows, domains and
// ranges over each of them.
var pgValues = map[string]values{
	"bool": {edges: []string{"true", "false"}, random: func(r *rand.Rand) string { return pick(r, "t", "f") }},
	"int2": {edges: []string{"-32768", "32767", "0"}, random: func(r *rand.Rand) string { return randomInteger(r, 16) }},
	"int4": {edges: []string{"-2147483648", "2147483647", "-1", "0"}, random: func(r *rand.Rand) string { return randomInteger(r, 32) }},
	"int8": {
		edges: []string{
			"-9223372036854775808", "9223372036854775807", "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740991", "-9007199254740992", "-9007199254740993",
			"999999999999999", "1000000000000000", "-999999999999999", "-99999999999999", "-100000000000000", "0",
		},
		random: func(r *rand.Rand) string { return randomInteger(r, 64) },
	},
	"oid":  {edges: []string{"0", "4294967295"}, random: func(r *rand.Rand) string { return randomUnsigned(r, 32) }},
	"xid":  {edges: []string{"0", "4294967295"}, random: func(r *rand.Rand) string { return randomUnsigned(r, 32) }},
	"cid":  {edges: []string{"0", "4294967295"}, random: func(r *rand.Rand) string { return randomUnsigned(r, 32) }},
	"xid8": {edges: []string{"0", "18446744073709551615", "9007199254740993"}, random: func(r *rand.Rand) string { return randomUnsigned(r, 64) }},
	"tid": {edges: []string{"(0,0)", "(4294967295,65535)"}, random: func(r *rand.Rand) string {
		return "(" + randomUnsigned(r, 32) + "," + randomUnsigned(r, 16) + ")"
	}},
	"float4": {
		edges:  []string{"0", "-0", "1e38", "1.17549435e-38", "1e-45", "NaN", "Infinity", "-Infinity", "0.1", "3.4028235e38", "16777217", "1e5", "123456", "1234567", "1e-4", "1e-5"},
		random: func(r *rand.Rand) string { return randomFloat(r, 32) },
	},
	"float8": {
		edges: []string{
			"0", "-0", "0.1", "0.30000000000000004", "1e300", "1.7976931348623157e308", "5e-324", "2.2250738585072014e-308", "NaN", "Infinity", "-Infinity",
			"9007199254740992", "9007199254740993", "1e14", "1e15", "1e16", "123456789012345678", "1e-4", "1e-5", "100000",
		},
		random: func(r *rand.Rand) string { return randomFloat(r, 64) },
	},
	"numeric": {
		edges: []string{
			"0", "-0.00", "NaN", "12345678901234567890.123450", "0.000000000000000001", "1e100", "1e-200", "99999999999999999999.999999999999999999",
			"9007199254740993", "1.0", "1.10", "-1e1000", "1e131071", "1e-16383",
		},
		since:  map[int][]string{14: {"Infinity", "-Infinity"}},
		random: randomNumeric,
	},
	"money": {
		edges:  []string{"-92233720368547758.08", "92233720368547758.07", "0", "1.5", "-0.01"},
		random: func(r *rand.Rand) string { return sign(r) + digits(r, 1+r.IntN(16)) + "." + digits(r, 2) },
	},
	"text": {
		edges: []string{
			"", " ", "NULL", "null", `a"b\c`, "line\nbreak\ttab\r\n", "Grüße 世界 😀", "\u2028\u2029\ufeff\ufffd", "\x01\x1f\x7f\u0080", "{a,b}", "'", `\x00ff`, `\N`, "1", "true",
			"e\u0301", "<script>&amp;</script>", strings.Repeat("é", 3000), strings.Repeat("x", 100_000), "\U0010ffff\uffff\ufdd0",
		},
		random: randomText,
	},
	"varchar": {edges: []string{"", "x", " x "}, random: randomText},
	"bpchar":  {edges: []string{"", "x", "x ", "  "}, random: randomText},
	"name":    {edges: []string{"", "x", `"quoted"`, strings.Repeat("ü", 40)}, random: randomText},
	"char": {edges: []string{"", "x", " ", "\x01", "\x7f", "é", "世", `\`, `"`}, random: func(r *rand.Rand) string {
		return pick(r, pieces...)
	}},
	"bytea": {edges: []string{"", `\x00`, `\x00ff10`, `\x5c78`, `\xe4b896`, `\x`}, random: func(r *rand.Rand) string { return `\x` + randomHex(r, 40) }},
	"date": {
		edges:  []string{"2024-02-29", "0044-03-15 BC", "4713-01-01 BC", "4714-11-24 BC", "5874897-12-31", "infinity", "-infinity", "0001-01-01", "0001-12-31 BC", "9999-12-31", "10000-01-01", "1582-10-10", "1970-01-01"},
		random: func(r *rand.Rand) string { return randomDay(r, 5_874_897) },
	},
	"time": {edges: []string{"00:00", "24:00:00", "23:59:60", "23:59:59.999999", "12:00:00.5", "00:00:00.000001"}, random: randomClock},
	"timetz": {
		edges:  []string{"24:00:00+00", "12:00:00-15:59", "12:00:00+15:59:59", "00:00:00.000001+05:30", "23:59:60-00:00:01", "00:00:00-12"},
		random: func(r *rand.Rand) string { return randomClock(r) + randomOffset(r) },
	},
	"timestamp": {
		edges:  []string{"infinity", "-infinity", "294276-12-31 23:59:59.999999", "4714-11-24 00:00:00 BC", "2024-02-29 12:34:56.78", "2016-12-31 23:59:60", "1999-12-31 24:00:00", "0001-01-01", "0001-12-31 23:59:59.999999 BC", "1969-12-31 23:59:59.999999"},
		random: func(r *rand.Rand) string { return randomMoment(r, "") },
	},
	"timestamptz": {
		edges:  []string{"infinity", "-infinity", "2024-03-31 01:30:00+01", "0001-12-31 23:59:59+00 BC", "294276-12-31 23:59:59.999999+00", "4714-11-24 00:00:00+00 BC", "2016-12-31 23:59:60+00", "2024-01-01 00:00 Asia/Kolkata", "1900-01-01 00:00 Europe/Amsterdam"},
		random: func(r *rand.Rand) string { return randomMoment(r, randomOffset(r)) },
	},
	"interval": {
		edges: []string{
			"0", "1 day 2 hours", "-178000000 years", "178000000 years", "1 year -1 day +00:00:00.000001", "-1 mon +3 days -04:05:06.789", "2147483647 days", "-2147483648 days", "1 mon", "-1 year -2 mons -3 days -04:05:06.7",
			"1 week", "P1Y2M3DT4H5M6S", "@ 1 year 2 mons ago", "2147483647:59:59.999999", "-2147483647:59:59.999999", "00:00:00.000001", "-00:00:00.1", "1.5 years 0.5 mon 1.25 days",
		},
		since:  map[int][]string{17: {"infinity", "-infinity"}},
		random: randomInterval,
	},
	"uuid": {edges: []string{"00000000-0000-0000-0000-00000000002a", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"}, random: func(r *rand.Rand) string {
		return fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())
	}},
	"json": {
		edges:  []string{`{"b":1,"b":9007199254740993, "a" : 1.0}`, "null", `"\u00e9"`, "[]", " [ 1 , 2 ] ", `"\u0000 \ud800"`, "1e400", "-0", "1E+2", "{\n\t\"x\" : [ ]\n}"},
		random: func(r *rand.Rand) string { return randomJSON(r, 3, false) },
	},
	"jsonb": {
		edges:  []string{`{"b":1,"b":9007199254740993,"a":1.0}`, "null", "1e400", "12345678901234567890.10", "1E-100", "-0", "-0.00", `"\ud83d\ude00"`, `{"bb":1,"a":2,"c":{"z":[1.10,{"y":null}]}}`, `"</script>\u001f\t\""`, "[]", "{}"},
		random: func(r *rand.Rand) string { return randomJSON(r, 3, true) },
	},
	"jsonpath": {edges: []string{"$", "$.a[*] ? (@ > 1)", `strict $."k \"q\""[0 to last]`, "lax $.**{2}", `$ ? (@.x like_regex "^a\\d" flag "i")`, "1.10 + 2"}, random: func(r *rand.Rand) string {
		return "$." + pick(r, "a", `"é"`, `"\u0041\""`, "*") + pick(r, "", "[*]", "[1,3 to 7]", ".size()", " ? (@ == "+randomJSONString(r, true)+")", " ? (exists(@.b) && @.c <= 1e3)")
	}},
	"xml": {edges: []string{"<a>&lt;</a>", "", "text only", `<?xml version="1.0"?><a b="1&#10;2"/>`, "<a/><b/>", "<![CDATA[<&>]]>"}, random: func(r *rand.Rand) string {
		escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\uffff", "")
		clean := strings.Map(func(c rune) rune {
			if c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
				return -1
			}
			return c
		}, randomText(r))
		return `<a b="` + escape.Replace(clean) + `">` + escape.Replace(clean) + "</a>"
	}},
	"inet":          {edges: []string{"192.168.0.1/24", "::1", "::", "0.0.0.0/0", "2001:db8::/32", "10.0.0.1", "::ffff:1.2.3.4", "255.255.255.255/32", "fe80::1/128", "::10.2.3.4"}, random: func(r *rand.Rand) string { return randomAddress(r, false) }},
	"cidr":          {edges: []string{"10.0.0.0/8", "2001:db8::/32", "0.0.0.0/0", "::/0", "10", "192.168/16", "1.2.3.4"}, random: func(r *rand.Rand) string { return randomAddress(r, true) }},
	"macaddr":       {edges: []string{"08:00:2b:01:02:03", "08002b-010203", "ff:ff:ff:ff:ff:ff"}, random: func(r *rand.Rand) string { return randomMAC(r, 6) }},
	"macaddr8":      {edges: []string{"08:00:2b:01:02:03:04:05", "08:00:2b:01:02:03"}, random: func(r *rand.Rand) string { return randomMAC(r, 8) }},
	"bit":           {edges: []string{"1", "0", "xFf0", "b0101"}, random: func(r *rand.Rand) string { return randomBits(r, 1, 90) }},
	"varbit":        {edges: []string{"", "101", "x1"}, random: func(r *rand.Rand) string { return randomBits(r, 0, 90) }},
	"refcursor":     {edges: []string{"", "<unnamed portal 1>"}, random: randomText},
	"pg_lsn":        {edges: []string{"0/0", "16/B374D848", "FFFFFFFF/FFFFFFFF"}, random: func(r *rand.Rand) string { return fmt.Sprintf("%X/%X", r.Uint32(), r.Uint32()) }},
	"txid_snapshot": {edges: []string{"10:10:", "10:20:10,14,15", "9007199254740993:9007199254740999:9007199254740994"}, random: randomSnapshot},
	"pg_snapshot":   {edges: []string{"10:10:", "10:20:10,14,15"}, random: randomSnapshot},
	"int2vector": {edges: []string{"", "1 2 -3", "32767"}, random: func(r *rand.Rand) string {
		return strings.Join(list(r, 4, func(r *rand.Rand) string { return randomInteger(r, 16) }), " ")
	}},
	"oidvector": {edges: []string{"", "1 2 4294967295"}, random: func(r *rand.Rand) string {
		return strings.Join(list(r, 4, func(r *rand.Rand) string { return randomUnsigned(r, 32) }), " ")
	}},

	// Object identifiers: the server prints an existing object by its name, and
	// any other as a number.
	"regclass":      {edges: []string{"pg_class", `cells."we""ird, Täble"`, "-", "0", "4294967295", "information_schema.tables"}, random: randomObject},
	"regproc":       {edges: []string{"now", "-", "0", "pg_catalog.pg_backend_pid", `cells."we""ird, fünction"`}, random: randomObject},
	"regprocedure":  {edges: []string{"upper(text)", "-", "0", `cells."we""ird, fünction"(int4,numeric)`, "now()"}, random: randomObject},
	"regoper":       {edges: []string{"||/", "0", "pg_catalog.|/"}, random: randomObject},
	"regoperator":   {edges: []string{"=(int4,int4)", "0", "!!(NONE,tsquery)"}, random: randomObject},
	"regtype":       {edges: []string{"int4", "timestamp with time zone", `"char"`, "int4[]", "-", "0", "numeric(38,18)", `cells."we""ird, Täble"`}, random: randomObject},
	"regrole":       {edges: []string{"10", "-", "0", "pg_monitor"}, random: randomObject},
	"regnamespace":  {edges: []string{"pg_catalog", "cells", "-", "0"}, random: randomObject},
	"regconfig":     {edges: []string{"simple", "english", "-", "0"}, random: randomObject},
	"regdictionary": {edges: []string{"simple", "-", "0"}, random: randomObject},
	"regcollation":  {edges: []string{`"C"`, `"POSIX"`, "-", "0"}, random: randomObject},
	"aclitem": {expressions: []string{
		"pg_catalog.makeaclitem(0, 10, 'SELECT', false)", "pg_catalog.makeaclitem(10, 10, 'SELECT', true)", "pg_catalog.makeaclitem(4294967295, 10, 'USAGE', false)", "pg_catalog.makeaclitem('pg_monitor'::regrole, 10, 'INSERT', true)",
	}},

	"information_schema.cardinal_number": {edges: []string{"0", "2147483647"}, random: func(r *rand.Rand) string { return randomUnsigned(r, 31) }},
	"information_schema.character_data":  {edges: []string{"", "x"}, random: randomText},
	"information_schema.sql_identifier":  {edges: []string{"", `"x"`}, random: randomText},
	"information_schema.time_stamp":      {edges: []string{"infinity", "2024-02-29 12:34:56.789+02"}, random: func(r *rand.Rand) string { return randomMoment(r, randomOffset(r)) }},
	"information_schema.yes_or_no":       {edges: []string{"YES", "NO"}},
}

// list makes at most that many values.
func list(r *rand.Rand, most int, one func(*rand.Rand) string) []string {
	out := make([]string, r.IntN(most+1))
	for i := range out {
		out[i] = one(r)
	}
	return out
}

func randomSnapshot(r *rand.Rand) string {
	low := 1 + r.Uint64N(1<<40)
	ids := make([]string, r.IntN(4))
	for i := range ids {
		ids[i] = fmt.Sprint(low + uint64(i)*3)
	}
	return fmt.Sprintf("%d:%d:%s", low, low+100, strings.Join(ids, ","))
}

// randomObject returns the number of an object of the server, or a number
// without an object.
func randomObject(r *rand.Rand) string { return fmt.Sprint(r.IntN(pick(r, 5_000, 100_000))) }
