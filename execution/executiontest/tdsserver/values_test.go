package tdsserver_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
)

func integer(s string) *big.Int {
	i, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic(s)
	}
	return i
}

// TestValues checks that a client reads back every value of every type. The
// expected values are written as the driver returns them.
func TestValues(t *testing.T) {
	guid := []byte{0xFF, 0x19, 0x96, 0x6F, 0x86, 0x8B, 0x11, 0xD0, 0xB4, 0x2D, 0x00, 0xC0, 0x4F, 0xC9, 0x64, 0xFF}
	at := time.Date(2024, 2, 29, 23, 59, 59, 999_999_900, time.UTC)
	offset := time.Date(2024, 2, 29, 1, 0, 0, 500_000_000, time.FixedZone("", 5*3600+1800))
	for _, c := range []struct {
		typ   tdsserver.Type
		value any
		want  string
	}{
		{tdsserver.Null, nil, "<nil>"},
		{tdsserver.BitFixed, true, "true"},
		{tdsserver.Bit, false, "false"},
		{tdsserver.Bit, nil, "<nil>"},
		{tdsserver.TinyIntFixed, 255, "255"},
		{tdsserver.SmallIntFixed, -32768, "-32768"},
		{tdsserver.IntFixed, math.MinInt32, "-2147483648"},
		{tdsserver.BigIntFixed, math.MinInt64, "-9223372036854775808"},
		{tdsserver.TinyInt, 0, "0"},
		{tdsserver.SmallInt, 32767, "32767"},
		{tdsserver.Int, math.MaxInt32, "2147483647"},
		{tdsserver.BigInt, int64(math.MaxInt64), "9223372036854775807"},
		{tdsserver.Int, nil, "<nil>"},
		{tdsserver.RealFixed, -0.5, "-0.5"},
		{tdsserver.FloatFixed, math.MaxFloat64, "1.7976931348623157e+308"},
		{tdsserver.Real, 0.25, "0.25"},
		{tdsserver.Float, math.SmallestNonzeroFloat64, "5e-324"},
		{tdsserver.MoneyFixed, integer("-9223372036854775808"), "-922337203685477.5808"},
		{tdsserver.SmallMoneyFixed, integer("2147483647"), "214748.3647"},
		{tdsserver.Money, integer("1"), "0.0001"},
		{tdsserver.SmallMoney, integer("-2147483648"), "-214748.3648"},
		{tdsserver.Decimal(5, 2), integer("-12345"), "-123.45"},
		{tdsserver.Decimal(19, 0), integer("9999999999999999999"), "9999999999999999999"},
		{tdsserver.Numeric(28, 28), integer("1"), "0.0000000000000000000000000001"},
		{tdsserver.Numeric(38, 0), integer("-99999999999999999999999999999999999999"), "-99999999999999999999999999999999999999"},
		{tdsserver.Decimal(38, 10), nil, "<nil>"},
		{tdsserver.Date, time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), "0001-01-01 00:00:00 +0000 UTC"},
		{tdsserver.Date, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), "9999-12-31 00:00:00 +0000 UTC"},
		{tdsserver.Time(7), at, "0001-01-01 23:59:59.9999999 +0000 UTC"},
		{tdsserver.Time(0), at, "0001-01-01 23:59:59 +0000 UTC"},
		{tdsserver.DateTime2(7), at, "2024-02-29 23:59:59.9999999 +0000 UTC"},
		{tdsserver.DateTime2(3), at, "2024-02-29 23:59:59.999 +0000 UTC"},
		{tdsserver.DateTimeOffset(1), offset, "2024-02-29 01:00:00.5 +0530 +0530"},
		{tdsserver.DateTime, time.Date(1753, 1, 1, 0, 0, 0, 0, time.UTC), "1753-01-01 00:00:00 +0000 UTC"},
		{tdsserver.DateTimeFixed, time.Date(9999, 12, 31, 23, 59, 59, 997_000_000, time.UTC), "9999-12-31 23:59:59.997 +0000 UTC"},
		{tdsserver.SmallDateTime, time.Date(2079, 6, 6, 23, 59, 0, 0, time.UTC), "2079-06-06 23:59:00 +0000 UTC"},
		{tdsserver.SmallDateTimeFixed, time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), "1900-01-01 00:00:00 +0000 UTC"},
		{tdsserver.DateTime2(7), nil, "<nil>"},
		{tdsserver.Char(5), "ab   ", "ab   "},
		{tdsserver.VarChar(10), []byte{0x80, 0xE4}, "€ä"},
		{tdsserver.VarChar(10).With(tdsserver.Cyrillic), []byte{0xE6}, "ж"},
		{tdsserver.VarChar(10).With(tdsserver.Greek), []byte{0xE1}, "α"},
		{tdsserver.VarChar(10).With(tdsserver.Japanese), []byte{0x93, 0xFA}, "日"},
		{tdsserver.VarChar(10).With(tdsserver.Thai), []byte{0xA1}, "ก"},
		{tdsserver.VarChar(10).With(tdsserver.CP437), []byte{0xE1}, "ß"},
		{tdsserver.VarChar(10).With(tdsserver.CP850), []byte{0xD5}, "ı"},
		{tdsserver.VarCharMax, strings.Repeat("x", 20_000), strings.Repeat("x", 20_000)},
		{tdsserver.VarCharMax, nil, "<nil>"},
		{tdsserver.VarChar(1), "", ""},
		{tdsserver.NChar(3), "ä😀", "ä😀"},
		{tdsserver.NVarChar(4000), strings.Repeat("ä", 4000), strings.Repeat("ä", 4000)},
		{tdsserver.NVarCharMax, "", ""},
		{tdsserver.NVarChar(1), nil, "<nil>"},
		{tdsserver.Text, "text", "text"},
		{tdsserver.NText, "ä😀", "ä😀"},
		{tdsserver.NText, nil, "<nil>"},
		{tdsserver.Image, []byte{0, 1}, "0001"},
		{tdsserver.Binary(3), []byte{1, 2, 0}, "010200"},
		{tdsserver.VarBinary(8000), []byte{}, ""},
		{tdsserver.VarBinaryMax, []byte{0xFF}, "ff"},
		{tdsserver.UniqueIdentifier, guid, hex.EncodeToString(guid)},
		{tdsserver.UniqueIdentifier, nil, "<nil>"},
		{tdsserver.XML, `<a b="ä"/>`, `<a b="ä"/>`},
		{tdsserver.UDT("shop", "sys", "geometry", "Microsoft.SqlServer.Types.SqlGeometry"), []byte{1, 2}, "0102"},
		{tdsserver.Variant, nil, "<nil>"},
		{tdsserver.Variant, tdsserver.Of{Type: tdsserver.Int, Value: 7}, "7"},
		{tdsserver.Variant, tdsserver.Of{Type: tdsserver.Bit, Value: true}, "true"},
		{tdsserver.Variant, tdsserver.Of{Type: tdsserver.Float, Value: 0.1}, "0.1"},
		{tdsserver.Variant, tdsserver.Of{Type: tdsserver.Decimal(5, 2), Value: integer("150")}, "1.50"},
		{tdsserver.Variant, tdsserver.Of{Type: tdsserver.Money, Value: integer("15000")}, "1.5000"},
		{tdsserver.Variant, tdsserver.Of{Type: tdsserver.VarChar(10), Value: []byte{0xE4}}, "ä"},
		{tdsserver.Variant, tdsserver.Of{Type: tdsserver.NVarChar(10), Value: "ä"}, "ä"},
		{tdsserver.Variant, tdsserver.Of{Type: tdsserver.VarBinary(10), Value: []byte{1}}, "01"},
		{tdsserver.Variant, tdsserver.Of{Type: tdsserver.DateTime2(7), Value: at}, "2024-02-29 23:59:59.9999999 +0000 UTC"},
		{tdsserver.Variant, tdsserver.Of{Type: tdsserver.Date, Value: at}, "2024-02-29 00:00:00 +0000 UTC"},
		{tdsserver.Variant, tdsserver.Of{Type: tdsserver.UniqueIdentifier, Value: guid}, hex.EncodeToString(guid)},
		{tdsserver.NVarCharMax, tdsserver.Blob{Size: 100_000, Fill: 'x', Zero: true}, strings.Repeat("x", 50_000)},
		{tdsserver.VarCharMax, tdsserver.Blob{Size: 10, Fill: 'x', Chunk: 3, UnknownSize: true}, strings.Repeat("x", 10)},
		{tdsserver.Int, tdsserver.Raw{1, 0}, "1"},
		{tdsserver.Int, tdsserver.Wire{2, 1, 0}, "1"},
	} {
		t.Run(c.typ.String(), func(t *testing.T) {
			s := tdsserver.Start(t, tdsserver.Config{})
			s.On("SELECT value", func(r *tdsserver.Reply) error {
				if err := r.Columns(tdsserver.Column{Name: "before", Type: tdsserver.Int}, tdsserver.Column{Name: "v", Type: c.typ}, tdsserver.Column{Name: "after", Type: tdsserver.Int}); err != nil {
					return err
				}
				if err := r.Row(1, c.value, 2); err != nil {
					return err
				}
				return r.NBCRow(nil, c.value, 2)
			})
			rows, err := open(t, trusted(s)).QueryContext(t.Context(), "SELECT value")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close() //nolint:errcheck // rows.Err below reports the error of Close
			n := 0
			for ; rows.Next(); n++ {
				var before, v, after any
				if err := rows.Scan(&before, &v, &after); err != nil {
					t.Fatal(err)
				}
				got := fmt.Sprint(v)
				if b, ok := v.([]byte); ok {
					got = hex.EncodeToString(b)
					if id := c.typ.String(); strings.HasPrefix(id, "decimal") || strings.HasPrefix(id, "numeric") || strings.HasSuffix(id, "money") || strings.Contains(c.want, ".") {
						got = string(b)
					}
				}
				if got != c.want || after != int64(2) || n == 0 && before != int64(1) || n == 1 && before != nil {
					t.Errorf("row %d is %v, %q, %v; want %q", n, before, got, after, c.want)
				}
			}
			if err := rows.Err(); err != nil || n != 2 {
				t.Errorf("%d rows, %v", n, err)
			}
		})
	}
}

// TestMismatches checks that a value which its type cannot have is reported as
// an error in the test.
func TestMismatches(t *testing.T) {
	for _, c := range []struct {
		typ   tdsserver.Type
		value any
	}{
		{tdsserver.IntFixed, nil},
		{tdsserver.Int, "one"},
		{tdsserver.TinyInt, 256},
		{tdsserver.Int, int64(math.MaxInt64)},
		{tdsserver.Decimal(5, 0), integer("99999999999999999999")},
		{tdsserver.VarChar(5), "ä"},
		{tdsserver.UniqueIdentifier, []byte{1}},
		{tdsserver.NVarChar(5), tdsserver.Blob{Size: 1}},
	} {
		s := tdsserver.Start(t, tdsserver.Config{Violations: true})
		s.On("SELECT value", func(r *tdsserver.Reply) error {
			if err := r.Columns(tdsserver.Column{Name: "v", Type: c.typ}); err != nil {
				return err
			}
			return r.Row(c.value)
		})
		if _, err := open(t, trusted(s)).ExecContext(t.Context(), "SELECT value"); err == nil {
			t.Errorf("%s: %v was sent", c.typ, c.value)
		}
		s.Stop()
		if n := len(s.Of(tdsserver.KindViolation)); n == 0 {
			t.Errorf("%s: %v is no violation", c.typ, c.value)
		}
	}
}
