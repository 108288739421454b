package tds_test

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	mssql "github.com/microsoft/go-mssqldb"

	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
)

func bigInt(s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic(s)
	}
	return n
}

func at(s string) time.Time {
	for _, layout := range []string{"2006-01-02 15:04:05.9999999 -07:00", "2006-01-02 15:04:05.9999999", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	panic(s)
}

var guid = []byte{0xFF, 0x19, 0x96, 0x6F, 0x86, 0x8B, 0x11, 0xD0, 0xB4, 0x2D, 0x00, 0xC0, 0x4F, 0xC9, 0x64, 0xFF}

// lossy says what the driver's value loses, and so why the test does not
// compare it.
type lossy string

var values = []struct {
	t     tdsserver.Type
	value any
	name  string // of the type
	kind  tds.Kind
	text  string
	lossy lossy
}{
	{tdsserver.Null, nil, "", 0, "", ""},
	{tdsserver.TinyInt, int64(255), "tinyint", tds.KindInteger, "255", ""},
	{tdsserver.TinyIntFixed, int64(0), "tinyint", tds.KindInteger, "0", ""},
	{tdsserver.SmallInt, int64(-32768), "smallint", tds.KindInteger, "-32768", ""},
	{tdsserver.SmallIntFixed, int64(32767), "smallint", tds.KindInteger, "32767", ""},
	{tdsserver.Int, int64(-2147483648), "int", tds.KindInteger, "-2147483648", ""},
	{tdsserver.IntFixed, int64(2147483647), "int", tds.KindInteger, "2147483647", ""},
	{tdsserver.BigInt, int64(math.MinInt64), "bigint", tds.KindInteger, "-9223372036854775808", ""},
	{tdsserver.BigIntFixed, int64(math.MaxInt64), "bigint", tds.KindInteger, "9223372036854775807", ""},
	{tdsserver.Bit, true, "bit", tds.KindBit, "1", ""},
	{tdsserver.BitFixed, false, "bit", tds.KindBit, "0", ""},

	{tdsserver.Float, 0.30000000000000004, "float", tds.KindFloat, "0.30000000000000004", ""},
	{tdsserver.FloatFixed, -2.0, "float", tds.KindFloat, "-2", ""},
	{tdsserver.Float, math.Copysign(0, -1), "float", tds.KindFloat, "-0", ""},
	{tdsserver.Float, 1e21, "float", tds.KindFloat, "1e+21", ""},
	{tdsserver.Float, 123456789012345680000.0, "float", tds.KindFloat, "123456789012345680000", ""},
	{tdsserver.Float, 1e-7, "float", tds.KindFloat, "1e-07", ""},
	{tdsserver.Float, math.MaxFloat64, "float", tds.KindFloat, "1.7976931348623157e+308", ""},
	{tdsserver.Float, math.SmallestNonzeroFloat64, "float", tds.KindFloat, "5e-324", ""},
	{tdsserver.Float, math.Inf(1), "float", tds.KindFloat, "+Inf", ""},
	{tdsserver.Real, 0.1, "real", tds.KindFloat, "0.1", "widened"},
	{tdsserver.RealFixed, math.MaxFloat32, "real", tds.KindFloat, "3.4028235e+38", "widened"},

	{tdsserver.Decimal(38, 0), bigInt("99999999999999999999999999999999999999"), "decimal", tds.KindText, "99999999999999999999999999999999999999", ""},
	{tdsserver.Decimal(38, 38), bigInt("-1"), "decimal", tds.KindText, "-0.00000000000000000000000000000000000001", ""},
	{tdsserver.Numeric(9, 2), bigInt("-50"), "numeric", tds.KindText, "-0.50", ""},
	{tdsserver.Numeric(19, 4), bigInt("12345000"), "numeric", tds.KindText, "1234.5000", ""},
	{tdsserver.Decimal(28, 10), bigInt("0"), "decimal", tds.KindText, "0.0000000000", ""},
	{tdsserver.Money, bigInt("-9223372036854775808"), "money", tds.KindText, "-922337203685477.5808", ""},
	{tdsserver.MoneyFixed, bigInt("9223372036854775807"), "money", tds.KindText, "922337203685477.5807", ""},
	{tdsserver.Money, bigInt("-1"), "money", tds.KindText, "-0.0001", ""},
	{tdsserver.SmallMoney, bigInt("-2147483648"), "smallmoney", tds.KindText, "-214748.3648", ""},
	{tdsserver.SmallMoneyFixed, bigInt("100"), "smallmoney", tds.KindText, "0.0100", ""},

	{tdsserver.Date, at("0001-01-01"), "date", tds.KindText, "0001-01-01", ""},
	{tdsserver.Date, at("9999-12-31"), "date", tds.KindText, "9999-12-31", ""},
	{tdsserver.Date, at("1582-10-15"), "date", tds.KindText, "1582-10-15", ""},
	{tdsserver.Date, at("1900-02-28"), "date", tds.KindText, "1900-02-28", ""},
	{tdsserver.Time(0), at("0001-01-01 23:59:59"), "time", tds.KindText, "23:59:59", ""},
	{tdsserver.Time(1), at("0001-01-01 00:00:00.9"), "time", tds.KindText, "00:00:00.9", ""},
	{tdsserver.Time(4), at("0001-01-01 01:02:03.0001"), "time", tds.KindText, "01:02:03.0001", ""},
	{tdsserver.Time(7), at("0001-01-01 23:59:59.9999999"), "time", tds.KindText, "23:59:59.9999999", ""},
	{tdsserver.DateTime2(0), at("0001-01-01 00:00:00"), "datetime2", tds.KindText, "0001-01-01 00:00:00", ""},
	{tdsserver.DateTime2(3), at("2024-02-29 12:34:56.12"), "datetime2", tds.KindText, "2024-02-29 12:34:56.120", ""},
	{tdsserver.DateTime2(7), at("9999-12-31 23:59:59.9999999"), "datetime2", tds.KindText, "9999-12-31 23:59:59.9999999", ""},
	{tdsserver.DateTimeOffset(7), at("2024-03-01 00:30:00.0000001 +14:00"), "datetimeoffset", tds.KindText, "2024-03-01 00:30:00.0000001 +14:00", ""},
	{tdsserver.DateTimeOffset(0), at("2024-02-29 23:30:00 -13:59"), "datetimeoffset", tds.KindText, "2024-02-29 23:30:00 -13:59", ""},
	{tdsserver.DateTimeOffset(2), at("2024-02-29 12:00:00.5 +00:00"), "datetimeoffset", tds.KindText, "2024-02-29 12:00:00.50 +00:00", ""},
	{tdsserver.DateTime, at("1753-01-01 00:00:00"), "datetime", tds.KindText, "1753-01-01 00:00:00.000", ""},
	{tdsserver.DateTime, at("9999-12-31 23:59:59.997"), "datetime", tds.KindText, "9999-12-31 23:59:59.997", ""},
	{tdsserver.DateTimeFixed, at("1899-12-31 12:00:00.003"), "datetime", tds.KindText, "1899-12-31 12:00:00.003", ""},
	{tdsserver.SmallDateTime, at("2079-06-06 23:59:00"), "smalldatetime", tds.KindText, "2079-06-06 23:59:00", ""},
	{tdsserver.SmallDateTimeFixed, at("1900-01-01 00:01:00"), "smalldatetime", tds.KindText, "1900-01-01 00:01:00", ""},

	{tdsserver.UniqueIdentifier, guid, "uniqueidentifier", tds.KindText, "6F9619FF-8B86-D011-B42D-00C04FC964FF", ""},
	{tdsserver.Binary(4), []byte{0, 1, 0xFE, 0xFF}, "binary", tds.KindText, `\x0001feff`, ""},
	{tdsserver.VarBinary(10), []byte{}, "varbinary", tds.KindText, `\x`, ""},
	{tdsserver.VarBinaryMax, []byte("abc"), "varbinary", tds.KindText, `\x616263`, ""},
	{tdsserver.Image, []byte("abc"), "image", tds.KindText, `\x616263`, ""},
	{tdsserver.UDT("shop", "sys", "hierarchyid", "x"), []byte{0x58}, "hierarchyid", tds.KindText, `\x58`, ""},

	{tdsserver.NVarChar(50), "Grüße, 世界 😀", "nvarchar", tds.KindText, "Grüße, 世界 😀", ""},
	{tdsserver.NVarChar(50), "", "nvarchar", tds.KindText, "", ""},
	{tdsserver.NVarChar(50), "a\x00b", "nvarchar", tds.KindText, "a\x00b", ""},
	{tdsserver.NVarChar(50), "\uFFFD", "nvarchar", tds.KindText, "\uFFFD", ""},
	{tdsserver.NVarChar(50), []byte{0x3D, 0xD8}, "nvarchar", tds.KindText, `\x3dd8`, "half a pair"},
	{tdsserver.NVarChar(50), []byte{0x00, 0xDE, 0x3D, 0xD8}, "nvarchar", tds.KindText, `\x00de3dd8`, "halves in the wrong order"},
	{tdsserver.NVarChar(50), []byte{0x3D, 0xD8, 0x61, 0x00}, "nvarchar", tds.KindText, `\x3dd86100`, "half a pair"},
	{tdsserver.NChar(3), "a  ", "nchar", tds.KindText, "a  ", ""},
	{tdsserver.NVarCharMax, strings.Repeat("ä😀", 20_000), "nvarchar", tds.KindText, strings.Repeat("ä😀", 20_000), ""},
	{tdsserver.NText, "ä", "ntext", tds.KindText, "ä", ""},
	{tdsserver.XML, `<a b="1">ä</a>`, "xml", tds.KindText, `<a b="1">ä</a>`, ""},

	{tdsserver.VarChar(50), []byte("Gr\xfc\xdfe \x80"), "varchar", tds.KindText, "Grüße €", ""},
	{tdsserver.VarChar(50).With(tdsserver.Latin1Windows), []byte("Gr\xfc\xdfe \x80"), "varchar", tds.KindText, "Grüße €", ""},
	{tdsserver.Char(4), []byte("a   "), "char", tds.KindText, "a   ", ""},
	{tdsserver.Text, []byte("\xe4"), "text", tds.KindText, "ä", ""},
	{tdsserver.VarCharMax, []byte(strings.Repeat("\xe4", 20_000)), "varchar", tds.KindText, strings.Repeat("ä", 20_000), ""},
	{tdsserver.VarChar(50).With(tdsserver.Cyrillic), []byte("\xcf\xf0\xe8\xe2\xe5\xf2"), "varchar", tds.KindText, "Привет", ""},
	{tdsserver.VarChar(50).With(tdsserver.Greek), []byte("\xe1\xe2\xe3"), "varchar", tds.KindText, "αβγ", ""},
	{tdsserver.VarChar(50).With(tdsserver.Japanese), []byte("\x93\xfa\x96\x7b"), "varchar", tds.KindText, "日本", ""},
	{tdsserver.VarChar(50).With(tdsserver.Japanese), []byte("\x93"), "varchar", tds.KindText, `\x93`, "half a character"},
	{tdsserver.VarChar(50).With(tdsserver.Thai), []byte("\xa1\xa2"), "varchar", tds.KindText, "กข", ""},
	{tdsserver.VarChar(50).With(tdsserver.Thai), []byte("a\xfc"), "varchar", tds.KindText, `\x61fc`, "a byte that is not there"},
	{tdsserver.VarChar(50).With(tdsserver.CP437), []byte("\x81\xe1"), "varchar", tds.KindText, "üß", ""},
	{tdsserver.VarChar(50).With(tdsserver.CP850), []byte("\x81\xe1"), "varchar", tds.KindText, "üß", ""},
	{tdsserver.VarChar(50).With(tdsserver.UTF8), []byte("ä😀"), "varchar", tds.KindText, "ä😀", "read as code page 1252"},
	{tdsserver.VarChar(50).With(tdsserver.UTF8), []byte("a\xff"), "varchar", tds.KindText, `\x61ff`, "read as code page 1252"},
	{tdsserver.VarChar(50).With(tdsserver.Assamese), []byte("abc"), "varchar", tds.KindText, "abc", ""},
	{tdsserver.VarChar(50).With(tdsserver.Assamese), []byte("\xe4"), "varchar", tds.KindText, `\xe4`, "no code page"},

	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.IntFixed, Value: int64(-7)}, "sql_variant", tds.KindInteger, "-7", ""},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.BitFixed, Value: true}, "sql_variant", tds.KindBit, "1", ""},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.FloatFixed, Value: 0.5}, "sql_variant", tds.KindFloat, "0.5", ""},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.RealFixed, Value: 0.1}, "sql_variant", tds.KindFloat, "0.1", "widened"},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.Decimal(38, 2), Value: bigInt("-150")}, "sql_variant", tds.KindText, "-1.50", "as a decimal's text"},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.MoneyFixed, Value: bigInt("15000")}, "sql_variant", tds.KindText, "1.5000", "as a decimal's text"},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.VarBinary(10), Value: []byte("1.50")}, "sql_variant", tds.KindText, `\x312e3530`, "as a decimal's text"},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.UniqueIdentifier, Value: guid}, "sql_variant", tds.KindText, "6F9619FF-8B86-D011-B42D-00C04FC964FF", "as bytes"},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.NVarChar(20), Value: "ä😀"}, "sql_variant", tds.KindText, "ä😀", ""},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.VarChar(20).With(tdsserver.Cyrillic), Value: []byte("\xcf")}, "sql_variant", tds.KindText, "П", ""},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.Date, Value: at("2024-02-29")}, "sql_variant", tds.KindText, "2024-02-29", ""},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.Time(3), Value: at("0001-01-01 01:02:03.004")}, "sql_variant", tds.KindText, "01:02:03.004", "the year"},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.DateTime2(1), Value: at("2024-02-29 01:02:03.4")}, "sql_variant", tds.KindText, "2024-02-29 01:02:03.4", ""},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.DateTimeOffset(0), Value: at("2024-02-29 01:02:03 +02:00")}, "sql_variant", tds.KindText, "2024-02-29 01:02:03 +02:00", ""},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.DateTimeFixed, Value: at("2024-02-29 01:02:03.007")}, "sql_variant", tds.KindText, "2024-02-29 01:02:03.007", ""},
	{tdsserver.Variant, tdsserver.Of{Type: tdsserver.SmallDateTimeFixed, Value: at("2024-02-29 01:02:00")}, "sql_variant", tds.KindText, "2024-02-29 01:02:00", ""},
}

// For every type, and in both kinds of rows, each value has its text. It also
// means the same as the value that the driver reads from the same bytes, if the
// driver keeps the meaning.
func TestValues(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	c := dial(t, s)
	driver, err := sql.Open("sqlserver", s.URL("encrypt", "true", "certificate", s.CertificateFile()))
	if err != nil {
		t.Fatal(err)
	}
	defer driver.Close() //nolint:errcheck // it only reads
	compared := 0
	for i, v := range values {
		query := fmt.Sprintf("SELECT value %d", i)
		all := []any{v.value}
		if v.value != nil && v.name != "" && !strings.Contains(v.t.String(), "fixed") {
			all = append(all, v.value)
		}
		s.On(query, one("ä", v.t, all...))
		columns, rows := read(t, c, query)
		if got := columns[0].TypeName(); got != v.name {
			t.Errorf("%s: the type's name is %q, want %q", v.t, got, v.name)
		}
		if got := tds.Text(columns[0].Name); got != "ä" {
			t.Errorf("%s: the column's name is %q", v.t, got)
		}
		want := value{v.text, v.kind, v.value == nil}
		for _, row := range rows {
			if row[0] != want {
				t.Errorf("%s: %.60v, want %.60v", v.t, row[0], want)
			}
		}
		var got any
		if err := driver.QueryRowContext(t.Context(), query).Scan(&got); err != nil {
			t.Errorf("%s: the driver: %v", v.t, err)
			continue
		}
		if v.lossy != "" {
			continue
		}
		compared++
		if same := meaning(t, v.name, v.text, got); !same {
			t.Errorf("%s: %.60q, and the driver read %.60v (%T)", v.t, v.text, got, got)
		}
	}
	t.Logf("%d values, %d compared with the driver", len(values), compared)
}

// meaning reports whether a text means the same as the value that the driver
// read.
func meaning(t *testing.T, typ, text string, got any) bool {
	t.Helper()
	switch got := got.(type) {
	case nil:
		return text == ""
	case int64:
		return text == strconv.FormatInt(got, 10)
	case bool:
		return text == map[bool]string{true: "1", false: "0"}[got]
	case float64:
		f, err := strconv.ParseFloat(text, 64)
		return err == nil && math.Float64bits(f) == math.Float64bits(got)
	case string:
		return text == got
	case []byte:
		switch typ {
		case "uniqueidentifier":
			var u mssql.UniqueIdentifier
			return u.Scan(got) == nil && u.String() == text
		case "decimal", "numeric", "money", "smallmoney":
			return text == string(got)
		default:
			return text == `\x`+hex.EncodeToString(got)
		}
	case time.Time:
		for _, layout := range []string{"2006-01-02 15:04:05.9999999 -07:00", "2006-01-02 15:04:05.9999999", "2006-01-02", "15:04:05.9999999"} {
			read, err := time.Parse(layout, text)
			if err != nil {
				continue
			}
			if typ == "time" {
				read = read.AddDate(1, 0, 0)
			}
			_, offset := read.Zone()
			_, its := got.Zone()
			return read.Equal(got) && offset == its
		}
		return false
	default:
		return false
	}
}

// TestNulls checks that a NULL of every type is read as NULL.
func TestNulls(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	c := dial(t, s)
	for i, typ := range []tdsserver.Type{
		tdsserver.TinyInt, tdsserver.Int, tdsserver.BigInt, tdsserver.Bit, tdsserver.Float, tdsserver.Decimal(38, 4), tdsserver.Money, tdsserver.Date,
		tdsserver.Time(7), tdsserver.DateTime2(7), tdsserver.DateTimeOffset(7), tdsserver.DateTime, tdsserver.SmallDateTime, tdsserver.UniqueIdentifier,
		tdsserver.VarBinary(9), tdsserver.VarBinaryMax, tdsserver.NVarChar(9), tdsserver.NVarCharMax, tdsserver.VarChar(9), tdsserver.VarCharMax,
		tdsserver.Text, tdsserver.NText, tdsserver.Image, tdsserver.XML, tdsserver.Variant, tdsserver.UDT("d", "s", "t", "a"),
	} {
		query := fmt.Sprintf("SELECT null %d", i)
		s.On(query, one("v", typ, nil))
		_, rows := read(t, c, query)
		if len(rows) != 2 || !rows[0][0].null || !rows[1][0].null {
			t.Errorf("%s: %v", typ, rows)
		}
	}
}

// Every character of every code page is read as the driver reads it, because
// the driver has the server's own tables. A character that the driver does not
// know is read as hexadecimal digits.
func TestCodePages(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	c := dial(t, s)
	driver, err := sql.Open("sqlserver", s.URL("encrypt", "true", "certificate", s.CertificateFile()))
	if err != nil {
		t.Fatal(err)
	}
	defer driver.Close() //nolint:errcheck // it only reads
	for _, page := range []struct {
		name      string
		collation tdsserver.Collation
		double    bool
	}{
		{"437", tdsserver.CP437, false},
		{"850", tdsserver.CP850, false},
		{"874", tdsserver.Thai, false},
		{"1250", tdsserver.Collation{Info: 0x00D00405}, false},
		{"1251", tdsserver.Cyrillic, false},
		{"1252", tdsserver.Latin1, false},
		{"1253", tdsserver.Greek, false},
		{"1254", tdsserver.Collation{Info: 0x00D0041F}, false},
		{"1255", tdsserver.Collation{Info: 0x00D0040D}, false},
		{"1256", tdsserver.Collation{Info: 0x00D00401}, false},
		{"1257", tdsserver.Collation{Info: 0x00D00425}, false},
		{"1258", tdsserver.Collation{Info: 0x00D0042A}, false},
		{"932", tdsserver.Japanese, true},
		{"936", tdsserver.Collation{Info: 0x00D00804}, true},
		{"949", tdsserver.Collation{Info: 0x00D00412}, true},
		{"950", tdsserver.Collation{Info: 0x00D00404}, true},
	} {
		var texts []any
		for b := 0x80; b <= 0xFF; b++ {
			texts = append(texts, []byte{byte(b)})
			for low := 0x30; page.double && low <= 0xFF; low++ {
				texts = append(texts, []byte{byte(b), byte(low)})
			}
		}
		query := "SELECT page " + page.name
		s.On(query, one("v", tdsserver.VarChar(2).With(page.collation), texts...))
		_, rows := read(t, c, query)
		theirs := driverTexts(t, driver, query)
		same, unknown, other := 0, 0, 0
		var examples []string
		for i, theirs := range theirs {
			raw := texts[i/2].([]byte) //nolint:forcetypeassert // filled above
			switch ours := rows[i][0].text; {
			case ours == theirs:
				same++
			case ours == `\x`+hex.EncodeToString(raw):
				unknown++
				if !strings.Contains(theirs, "\uFFFD") && len(examples) < 5 {
					examples = append(examples, fmt.Sprintf("%x is %q for the driver", raw, theirs))
				}
			default:
				other++
				if len(examples) < 5 {
					examples = append(examples, fmt.Sprintf("%x is %q, for the driver %q", raw, ours, theirs))
				}
			}
		}
		t.Logf("code page %s: %d alike, %d in hexadecimal, %d otherwise; %s", page.name, same/2, unknown/2, other/2, strings.Join(examples, "; "))
		if other > 0 {
			t.Errorf("code page %s: %d characters differ from what the driver reads", page.name, other/2)
		}
	}
}

// driverTexts returns the strings of one column as the driver reads them.
func driverTexts(t *testing.T, driver *sql.DB, query string) []string {
	t.Helper()
	result, err := driver.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close() //nolint:errcheck // result.Err below reports the error of Close
	var texts []string
	for result.Next() {
		var text string
		if err := result.Scan(&text); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if err := result.Err(); err != nil {
		t.Fatal(err)
	}
	return texts
}

// The borders of packets have no effect. Values of all types in one row are the
// same in small and in large packets, and so is a string of many packets.
func TestPacketBorders(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	var columns []tdsserver.Column
	var row []any
	for i, v := range values {
		if v.t != tdsserver.Null {
			columns, row = append(columns, tdsserver.Column{Name: fmt.Sprint("c", i), Type: v.t}), append(row, v.value)
		}
	}
	query := "SELECT borders -- " + strings.Repeat("ä", 10_000)
	s.On(query, func(r *tdsserver.Reply) error {
		if err := r.Columns(columns...); err != nil {
			return err
		}
		for range 3 {
			if err := r.Row(row...); err != nil {
				return err
			}
			if err := r.NBCRow(row...); err != nil {
				return err
			}
		}
		return nil
	})
	_, want := read(t, dial(t, s), query)
	if len(want) != 6 || len(want[0]) != len(columns) {
		t.Fatalf("%d rows", len(want))
	}
	for size := 512; size < 600; size += 7 {
		_, got := read(t, dialWith(t, s, size), query)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(value{})); diff != "" {
			t.Errorf("packets of %d bytes (-want +got):\n%.2000s", size, diff)
		}
	}
	if _, got := read(t, dialWith(t, s, 16_000), query); !cmp.Equal(want, got, cmp.AllowUnexported(value{})) {
		t.Error("large packets give other values")
	}
}
