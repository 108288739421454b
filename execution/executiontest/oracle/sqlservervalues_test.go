package oracle_test

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
)

// A wireValue is what SQL Server sends for a value, and the text that its
// documentation gives for the value.
type wireValue struct {
	raw  string // in hexadecimal, without a length
	want cell
}

// wireType is a type with values, and the page of the T-SQL reference that says
// how to write them.
type wireType struct {
	typ      tdsserver.Type
	declared string
	doc      string
	values   []wireValue
}

func textCell(s string) cell   { return cell{'s', s} }
func numberCell(s string) cell { return cell{'n', s} }

// texts returns values whose text is a JSON string, and numbers returns values
// that are JSON numbers.
func texts(pairs ...string) []wireValue   { return wireValues(textCell, pairs) }
func numbers(pairs ...string) []wireValue { return wireValues(numberCell, pairs) }

func wireValues(of func(string) cell, pairs []string) (list []wireValue) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, wireValue{pairs[i], of(pairs[i+1])})
	}
	return list
}

// Pages of the T-SQL reference.
const (
	pageInt      = "int, bigint, smallint, and tinyint"
	pageBit      = "bit"
	pageDecimal  = "decimal and numeric"
	pageMoney    = "CAST and CONVERT, money and smallmoney styles: 2"
	pageFloat    = "float and real; of CAST and CONVERT, float and real styles: 3, lossless, here with the fewest digits"
	pageDate     = "date, Default string literal format"
	pageTime     = "time, Default string literal format"
	pageDT2      = "datetime2, Default string literal format"
	pageDTO      = "datetimeoffset, Default string literal formats"
	pageDateTime = "CAST and CONVERT, date and time styles: 121; datetime, Rounding of datetime fractional second precision"
	pageSmallDT  = "smalldatetime; date, Examples: A, whose seconds are 00"
	pageGUID     = "uniqueidentifier, Examples"
	pageBinary   = `binary and varbinary, written as ktx writes bytes: \x and hex`
	pageChar     = "char and varchar; Collation and Unicode support, Code pages"
	pageNChar    = "nchar and nvarchar"
	pageLOB      = "ntext, text, and image"
	pageXML      = "xml"
	pageVariant  = "sql_variant: the value of its base type"
	pageUDT      = `CLR types, written as ktx writes bytes: \x and hex`
)

// sqlServerTypes are values at the edges of the types. The bytes follow
// [MS-TDS] 2.2.5.5. They do not come from the stand-in that sends them.
var sqlServerTypes = []wireType{
	{tdsserver.TinyInt, "tinyint", pageInt, numbers("00", "0", "01", "1", "7f", "127", "80", "128", "ff", "255")},
	{tdsserver.TinyIntFixed, "tinyint", pageInt, numbers("00", "0", "ff", "255")},
	{tdsserver.SmallInt, "smallint", pageInt, numbers("0000", "0", "ffff", "-1", "ff7f", "32767", "0080", "-32768")},
	{tdsserver.SmallIntFixed, "smallint", pageInt, numbers("0080", "-32768")},
	{tdsserver.Int, "int", pageInt, numbers("00000000", "0", "ffffffff", "-1", "ffffff7f", "2147483647", "00000080", "-2147483648")},
	{tdsserver.IntFixed, "int", pageInt, numbers("00000080", "-2147483648")},
	{tdsserver.BigInt, "bigint", pageInt, append(
		numbers("0000000000000000", "0", "ffffffffffffffff", "-1", "0000000000002000", "9007199254740992", "000000000000e0ff", "-9007199254740992"),
		texts("0100000000002000", "9007199254740993", "ffffffffffffdfff", "-9007199254740993", "ffffffffffffff7f", "9223372036854775807", "0000000000000080", "-9223372036854775808")...)},
	{tdsserver.BigIntFixed, "bigint", pageInt, texts("0000000000000080", "-9223372036854775808")},
	{tdsserver.Bit, "bit", pageBit, []wireValue{{"00", cell{'b', "f"}}, {"01", cell{'b', "t"}}}},
	{tdsserver.BitFixed, "bit", pageBit, []wireValue{{"01", cell{'b', "t"}}}},

	{tdsserver.Decimal(5, 2), "decimal", pageDecimal, texts("0139300000", "123.45", "0001000000", "-0.01", "0100000000", "0.00", "0000000000", "0.00")},
	{tdsserver.Decimal(9, 0), "decimal", pageDecimal, texts("01ffc99a3b", "999999999")},
	{tdsserver.Numeric(10, 0), "numeric", pageDecimal, texts("01ffe30b5402000000", "9999999999")},
	{tdsserver.Numeric(19, 0), "numeric", pageDecimal, texts("00ffffe7890423c78a", "-9999999999999999999")},
	{tdsserver.Decimal(20, 20), "decimal", pageDecimal, texts("01ffff0f632d5ec76b05000000", "0.99999999999999999999")},
	{tdsserver.Decimal(28, 14), "decimal", pageDecimal, texts("01ffffff0f6102253e5ece4f20", "99999999999999.99999999999999")},
	{tdsserver.Decimal(29, 1), "decimal", pageDecimal, texts("011581396eb1c9be46321be42700000000", "1234567890123456789012345678.9")},
	{tdsserver.Decimal(38, 38), "decimal", pageDecimal, texts("0001000000000000000000000000000000", "-0."+strings.Repeat("0", 37)+"1")},
	{tdsserver.Numeric(38, 0), "numeric", pageDecimal, texts("01ffffffff3f228a097ac4865aa84c3b4b", strings.Repeat("9", 38))},
	{tdsserver.Decimal(38, 18), "decimal", pageDecimal, texts("004ef338de509049c4133302f0f6b04909", "-12345678901234567890.123456789012345678")},

	{tdsserver.Money, "money", pageMoney, texts(
		"0000000000000000", "0.0000", "0000000001000000", "0.0001", "ffffffffffffffff", "-0.0001", "000000004e61bc00", "1234.5678",
		"1027000000000000", "4294967296.0000", "efd8fffff0d8ffff", "-4294967297.0000",
		"0000008000000000", "-922337203685477.5808", "ffffff7fffffffff", "922337203685477.5807")},
	{tdsserver.MoneyFixed, "money", pageMoney, texts("0000008000000000", "-922337203685477.5808")},
	{tdsserver.SmallMoney, "smallmoney", pageMoney, texts("00000000", "0.0000", "00000080", "-214748.3648", "ffffff7f", "214748.3647")},
	{tdsserver.SmallMoneyFixed, "smallmoney", pageMoney, texts("ffffffff", "-0.0001")},

	{tdsserver.Float, "float", pageFloat, append(
		numbers("0000000000000000", "0", "0000000000005940", "100", "000000000000f8bf", "-1.5", "9a9999999999b93f", "0.1", "555555555555d53f", "0.3333333333333333",
			"8dedb5a0f7c6b03e", "0.000001", "252b9084f7c6b03e", "9.999999e-07", "350f63bab4697b43", "123456789012345680", "9e1b897bf4134b44", "999000000000000000000",
			"50efe2d6e41a4b44", "1e+21", "ffffffffffffef7f", "1.7976931348623157e+308", "0000000000001000", "2.2250738585072014e-308", "0100000000000000", "5e-324"),
		// SQL Server has no such floats. If a server sends one, the product
		// returns a string and not a number.
		texts("000000000000f07f", "+Inf", "000000000000f0ff", "-Inf", "000000000000f87f", "NaN")...)},
	{tdsserver.FloatFixed, "float", pageFloat, numbers("000000000000f8bf", "-1.5")},
	{tdsserver.Real, "real", pageFloat, numbers("cdcccc3d", "0.1", "ffff7f7f", "3.4028235e+38", "01000000", "1e-45", "0000804b", "16777216", "f9021550", "10000000000", "aaaaaa3e", "0.3333333", "0000c0bf", "-1.5")},
	{tdsserver.RealFixed, "real", pageFloat, numbers("cdcccc3d", "0.1")},

	{tdsserver.Date, "date", pageDate, texts(
		"000000", "0001-01-01", "bcd008", "1582-10-04", "c7d008", "1582-10-15", "34c309", "1752-09-14", "5b950a", "1900-01-01", "95950a", "1900-02-28",
		"42240b", "2000-02-29", "832e0b", "2007-05-08", "80460b", "2024-02-29", "dab937", "9999-12-31")},
	{tdsserver.Time(0), "time", pageTime, texts("000000", "00:00:00", "7f5101", "23:59:59")},
	{tdsserver.Time(1), "time", pageTime, texts("4de906", "12:34:54.1")},
	{tdsserver.Time(2), "time", pageTime, texts("041d45", "12:34:54.12")},
	{tdsserver.Time(3), "time", pageTime, texts("2b22b302", "12:34:54.123")},
	{tdsserver.Time(4), "time", pageTime, texts("b255ff1a", "12:34:54.1234")},
	{tdsserver.Time(5), "time", pageTime, texts("f958f90d01", "12:34:54.12345")},
	{tdsserver.Time(6), "time", pageTime, texts("c079bd8b0a", "12:34:54.123456")},
	{tdsserver.Time(7), "time", pageTime, texts("87c1667569", "12:34:54.1234567", "0100000000", "00:00:00.0000001", "ffbf692ac9", "23:59:59.9999999")},
	{tdsserver.DateTime2(0), "datetime2", pageDT2, texts("7f5101dab937", "9999-12-31 23:59:59", "000000000000", "0001-01-01 00:00:00")},
	{tdsserver.DateTime2(3), "datetime2", pageDT2, texts("2b22b30280460b", "2024-02-29 12:34:54.123")},
	{tdsserver.DateTime2(7), "datetime2", pageDT2, texts("0755438a69832e0b", "2007-05-08 12:35:29.1234567", "ffbf692ac9dab937", "9999-12-31 23:59:59.9999999", "0100000000000000", "0001-01-01 00:00:00.0000001")},
	{tdsserver.DateTimeOffset(0), "datetimeoffset", pageDTO, texts("784a0180460b3c00", "2024-03-01 00:30:00 +01:00", "08070081460bc4ff", "2024-02-29 23:30:00 -01:00")},
	{tdsserver.DateTimeOffset(1), "datetimeoffset", pageDTO, texts("f5d20080460be2ff", "2024-02-29 01:00:00.5 -00:30")},
	{tdsserver.DateTimeOffset(3), "datetimeoffset", pageDTO, texts("7b2e930280460b0000", "2024-02-29 12:00:00.123 +00:00")},
	{tdsserver.DateTimeOffset(7), "datetimeoffset", pageDTO, texts(
		"075b9ddc02832e0bdf02", "2007-05-08 12:35:29.1234567 +12:15", "00000000000000004803", "0001-01-01 14:00:00.0000000 +14:00",
		"ffbf692ac9dab937b8fc", "9999-12-31 09:59:59.9999999 -14:00")},
	{tdsserver.DateTime, "datetime", pageDateTime, texts(
		"462effff00000000", "1753-01-01 00:00:00.000", "ffffffff01000000", "1899-12-31 00:00:00.003", "0000000000000000", "1900-01-01 00:00:00.000",
		"d28b000001000000", "1998-01-01 00:00:00.003", "d28b000002000000", "1998-01-01 00:00:00.007", "d28b000003000000", "1998-01-01 00:00:00.010",
		"d28b00002a010000", "1998-01-01 00:00:00.993", "d28b00002b010000", "1998-01-01 00:00:00.997", "d38b0000fd818b01", "1998-01-02 23:59:59.990",
		"289900001180cf00", "2007-05-08 12:35:29.123", "7f242d00ff818b01", "9999-12-31 23:59:59.997")},
	{tdsserver.DateTimeFixed, "datetime", pageDateTime, texts("289900001180cf00", "2007-05-08 12:35:29.123")},
	{tdsserver.SmallDateTime, "smalldatetime", pageSmallDT, texts("00000000", "1900-01-01 00:00:00", "2899f302", "2007-05-08 12:35:00", "ffff9f05", "2079-06-06 23:59:00")},
	{tdsserver.SmallDateTimeFixed, "smalldatetime", pageSmallDT, texts("2899f302", "2007-05-08 12:35:00")},

	{tdsserver.UniqueIdentifier, "uniqueidentifier", pageGUID, texts(
		"ff19966f868b11d0b42d00c04fc964ff", "6F9619FF-8B86-D011-B42D-00C04FC964FF", strings.Repeat("00", 16), "00000000-0000-0000-0000-000000000000",
		"000102030405060708090a0b0c0d0e0f", "03020100-0504-0706-0809-0A0B0C0D0E0F")},
	{tdsserver.Binary(3), "binary", pageBinary, texts("000000", `\x000000`, "616263", `\x616263`)},
	{tdsserver.VarBinary(8000), "varbinary", pageBinary, texts("", `\x`, "00ff10", `\x00ff10`, strings.Repeat("ab", 8000), `\x`+strings.Repeat("ab", 8000))},
	{tdsserver.VarBinaryMax, "varbinary", pageBinary, texts("", `\x`, strings.Repeat("00", 100_000), `\x`+strings.Repeat("00", 100_000))},
	{tdsserver.RowVersion, "rowversion", pageBinary, texts("00000000000007d1", `\x00000000000007d1`)},
	{tdsserver.Image, "image", pageLOB, texts("", `\x`, "ffd8", `\xffd8`)},
	{tdsserver.UDT("shop", "sys", "hierarchyid", "Microsoft.SqlServer.Types.SqlHierarchyId"), "hierarchyid", pageUDT, texts("", `\x`, "5ac0", `\x5ac0`)},
	{tdsserver.UDT("shop", "sys", "geometry", "Microsoft.SqlServer.Types.SqlGeometry"), "geometry", pageUDT, texts("00000000010c00000000000000000000000000000000", `\x00000000010c00000000000000000000000000000000`)},

	// A byte that is not in the code page, or half a character, is no text.
	{tdsserver.VarChar(50), "varchar", pageChar, texts("", "", "20", " ", "4e554c4c", "NULL", "4772fcdf652c209c757672652080", "Grüße, œuvre €", "3100", "1\x00")},
	{tdsserver.Char(5), "char", pageChar, texts("6162202020", "ab   ")},
	codePage(0x0415, 0, "5a61bff3b3e62067ea9c6cb9206a619ff1", "Zażółć gęślą jaźń"),
	codePage(0x0419, 0, "d1fae5f8fc20e6e520e5f9b8", "Съешь же ещё"),
	codePage(0x0409, 0, "4772fcdf652c209c757672652080", "Grüße, œuvre €"),
	codePage(0x0408, 0, "cee5f3eae5f0dce6f9", "Ξεσκεπάζω"),
	codePage(0x041F, 0, "fdfefd6b20ddd0", "ışık İĞ"),
	codePage(0x040D, 0, "f9ece5ed", "שלום"),
	codePage(0x0401, 0, "e3d1cdc8c72081", "مرحبا پ"),
	codePage(0x0427, 0, "dee073f820e7ed", "Žąsų ēķ"),
	codePage(0x042A, 0, "f5fdfee3", "ơư₫ă"),
	codePage(0x0409, 32, "a4a5abb0e1", "ñÑ½░ß"),
	codePage(0x0409, 42, "a4a5abd5e1", "ñÑ½ıß"),
	codePage(0x041E, 0, "c0d2c9d2e4b7c2", "ภาษาไทย"),
	codePage(0x0411, 0, "93fa967b8ceab6c5", "日本語ｶﾅ", "93fa96", `\x93fa96`),
	codePage(0x0804, 0, "d6d0cec4babad7d6", "中文汉字", "d6", `\xd6`),
	codePage(0x0412, 0, "c7d1b1b9beee", "한국어", "c7", `\xc7`),
	codePage(0x0404, 0, "c163c5e9a4a4a4e5", "繁體中文", "c1", `\xc1`),
	codePage(0x0439, 0, "6869", "hi", "e0a485", `\xe0a485`), // Indic_General has only Unicode
	{tdsserver.VarChar(50).With(tdsserver.UTF8), "varchar", pageChar, texts("4772c3bcc39f6520f09f9880", "Grüße 😀", "ff", `\xff`, "eda080", `\xeda080`, "c3", `\xc3`)},
	// A server sends these as nvarchar to a client that does not request UTF-8
	// ([MS-TDS] 2.2.6.4, UTF8_SUPPORT). The text is the same in both cases. It
	// sends json and vector as strings to a client that does not support them.
	{tdsserver.NVarChar(50).With(tdsserver.UTF8), "nvarchar", pageNChar, texts(hexUTF16("Grüße 😀"), "Grüße 😀", "3dd8", `\x3dd8`)},
	{tdsserver.VarCharMax.With(tdsserver.UTF8), "varchar", "JSON data type; Vector data type", texts(
		hexOf(`{"b":1,"b":9007199254740993,"ä":"😀"}`), `{"b":1,"b":9007199254740993,"ä":"😀"}`, hexOf("[1.0000000e+000,-2.5000000e-001]"), "[1.0000000e+000,-2.5000000e-001]")},
	{tdsserver.VarCharMax, "varchar", pageChar, texts("", "", strings.Repeat("78", 100_000), strings.Repeat("x", 100_000))},
	{tdsserver.Text, "text", pageLOB, texts("", "", "e4f6fc80", "äöü€")},

	// Half a surrogate pair is no text.
	{tdsserver.NVarChar(50), "nvarchar", pageNChar, texts("", "", hexUTF16("Grüße, 世界 😀"), "Grüße, 世界 😀", "fdff", "\uFFFD", "3dd8", `\x3dd8`, "00de", `\x00de`, "61003dd86200", `\x61003dd86200`, "00de3dd8", `\x00de3dd8`, "6100000062", `\x6100000062`, "fffe", "\uFEFF", "feff", "\uFFFE", "31000000", "1\x00")},
	{tdsserver.NChar(3), "nchar", pageNChar, texts("610020002000", "a  ")},
	{tdsserver.NVarCharMax, "nvarchar", pageNChar, texts("", "", hexUTF16(strings.Repeat("é", 50_000)), strings.Repeat("é", 50_000))},
	{tdsserver.NText, "ntext", pageLOB, texts("", "", hexUTF16("ä😀"), "ä😀")},
	{tdsserver.XML, "xml", pageXML, texts("", "", hexUTF16(`<a b="ä">😀</a>`), `<a b="ä">😀</a>`)},

	{tdsserver.Variant, "sql_variant", pageVariant, append(append(
		numbers("3000"+"ff", "255", "3400"+"0080", "-32768", "3800"+"00000080", "-2147483648", "7f00"+"0000000000002000", "9007199254740992",
			"3e00"+"9a9999999999b93f", "0.1", "3b00"+"cdcccc3d", "0.1"),
		texts("7f00"+"0100000000002000", "9007199254740993", "3c00"+"0000008000000000", "-922337203685477.5808", "7a00"+"ffffff7f", "214748.3647",
			"6a02"+"0502"+"0139300000", "123.45", "6c02"+"2612"+"004ef338de509049c4133302f0f6b04909", "-12345678901234567890.123456789012345678",
			"2800"+"80460b", "2024-02-29", "2901"+"07"+"87c1667569", "12:34:54.1234567", "2a01"+"03"+"2b22b30280460b", "2024-02-29 12:34:54.123",
			"2b01"+"00"+"784a0180460b3c00", "2024-03-01 00:30:00 +01:00", "3d00"+"289900001180cf00", "2007-05-08 12:35:29.123", "3a00"+"2899f302", "2007-05-08 12:35:00",
			"2400"+"ff19966f868b11d0b42d00c04fc964ff", "6F9619FF-8B86-D011-B42D-00C04FC964FF",
			"a502"+"0800", `\x`, "a502"+"0800"+"00ff10", `\x00ff10`, "ad02"+"0200"+"3132", `\x3132`,
			"a707"+"0904d000340a00"+"e480", "ä€", "af07"+"1904d000000200"+"e6e6", "жж",
			"e707"+"0904d000340a00"+hexUTF16("ä😀"), "ä😀", "ef07"+"0904d000340a00"+"3dd8", `\x3dd8`)...,
	), wireValue{"3200" + "01", cell{'b', "t"}})},
}

// codePage returns a varchar under the collation of a locale and, for
// collations named SQL_…, a sort order.
func codePage(locale uint32, sort byte, pairs ...string) wireType {
	return wireType{tdsserver.VarChar(50).With(tdsserver.Collation{Info: 0x00D00000 | locale, Sort: sort}), "varchar", pageChar, texts(pairs...)}
}

func hexOf(s string) string { return hex.EncodeToString([]byte(s)) }

// hexUTF16 is s in UTF-16LE.
func hexUTF16(s string) string {
	var b []byte
	for _, r := range s {
		if r > 0xFFFF {
			r -= 0x10000
			b = binary.LittleEndian.AppendUint16(b, uint16(0xD800+r>>10))
			r = 0xDC00 + r&0x3FF
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(r))
	}
	return hex.EncodeToString(b)
}
