package oracle_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlguard"
)

// The tests cannot use SQL Server or its command line. Instead, they compare
// the values of sqlServerTypes with what the T-SQL reference says about their
// text, and random values with the text that they were made from. A stand-in
// sends them. It shares no code with the client that reads them.

// sqlServerService serves a stand-in with the product's guard.
func sqlServerService(t *testing.T, s *tdsserver.Server) *research.Service {
	t.Helper()
	return sqlServerAt(t, s.URL("encrypt", "true", "certificate", s.CertificateFile()))
}

func sqlServerAt(t *testing.T, address string) *research.Service {
	t.Helper()
	return service(t, execution.Connection{
		ID: guarded, Engine: "SQLSERVER", Dialect: sqlserver.Dialect{}, Policy: sqlguard.Policy{MaxBytes: sqlguard.CeilingMaxBytes}, Limits: limits,
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return mssqldb.Open(ctx, mssqldb.Config{URL: execution.NewSecret(address), MaxConnections: 2, Session: sqlserver.Dialect{}.Session()}, guard)
		},
	})
}

// compareColumn reads a table of one column and compares it cell by cell,
// including the JSON kind.
func compareColumn(t *testing.T, f *figure, server *tdsserver.Server, s *research.Service, typ tdsserver.Type, declared, doc string, values []any, want []cell) {
	t.Helper()
	table := tdsserver.Table{Columns: []tdsserver.Column{{Name: "id", Type: tdsserver.IntFixed}, {Name: "v", Type: typ}, {Name: "after", Type: tdsserver.NVarChar(10)}}}
	for i, v := range values {
		table.Rows = append(table.Rows, []any{int64(i), v, "end"})
	}
	server.SetTable("held", table)
	got := ask(t, s, guarded, "SELECT id, v, after FROM dbo.held")
	if len(got.Rows) != len(want) {
		t.Fatalf("%s: %d rows, want %d", typ, len(got.Rows), len(want))
	}
	if got.HeaderTypes[1] != declared {
		t.Errorf("%s: the column has the type %q, want %q", typ, got.HeaderTypes[1], declared)
	}
	for i, row := range got.Rows {
		place := fmt.Sprintf("%s (%s), row %d", typ, doc, i+1)
		if row[0].text != strconv.Itoa(i) || row[2] != textCell("end") {
			t.Errorf("%s: the values before and after it are %s and %s", place, row[0], row[2])
		}
		f.cells++
		if row[1] == want[i] {
			f.equal++
			continue
		}
		if f.cells-f.equal <= maxShown {
			t.Errorf("%s: ktx has %s, want %s", place, shortened(row[1]), shortened(want[i]))
		}
	}
}

func TestSQLServerEdges(t *testing.T) {
	t.Parallel()
	server := tdsserver.Start(t, tdsserver.Config{})
	s := sqlServerService(t, server)
	var f figure
	for _, typ := range sqlServerTypes {
		var values []any
		var want []cell
		for _, v := range typ.values {
			raw, err := hex.DecodeString(v.raw)
			if err != nil {
				t.Fatal(err)
			}
			values, want = append(values, tdsserver.Raw(raw)), append(want, v.want)
		}
		if nullable(typ.typ) {
			values, want = append(values, nil), append(want, cell{})
		}
		t.Run(typ.typ.String(), func(t *testing.T) {
			compareColumn(t, &f, server, s, typ.typ, typ.declared, typ.doc, values, want)
		})
	}
	f.report(t, "SQL Server's documented values", 250)
}

// nullable reports whether a column of the type may hold NULL.
func nullable(typ tdsserver.Type) bool {
	switch typ {
	case tdsserver.TinyIntFixed, tdsserver.SmallIntFixed, tdsserver.IntFixed, tdsserver.BigIntFixed, tdsserver.BitFixed, tdsserver.MoneyFixed,
		tdsserver.SmallMoneyFixed, tdsserver.FloatFixed, tdsserver.RealFixed, tdsserver.DateTimeFixed, tdsserver.SmallDateTimeFixed:
		return false
	default:
		return true
	}
}

// randomType makes values of one type, each with its text.
type randomType struct {
	typ      tdsserver.Type
	declared string
	make     func(r *rand.Rand) (any, cell)
}

func TestSQLServerRandom(t *testing.T) {
	t.Parallel()
	server := tdsserver.Start(t, tdsserver.Config{})
	s := sqlServerService(t, server)
	r := source(t)
	rows := randomRows(t, 1000)
	var f figure
	for _, typ := range sqlServerRandom() {
		var values []any
		var want []cell
		for range rows {
			if r.IntN(20) == 0 {
				values, want = append(values, nil), append(want, cell{})
				continue
			}
			v, c := typ.make(r)
			values, want = append(values, v), append(want, c)
		}
		compareColumn(t, &f, server, s, typ.typ, typ.declared, "random", values, want)
	}
	f.report(t, "SQL Server, random values", least())
}

func sqlServerRandom() []randomType {
	types := []randomType{
		{tdsserver.Bit, "bit", func(r *rand.Rand) (any, cell) {
			if r.IntN(2) == 0 {
				return false, cell{'b', "f"}
			}
			return true, cell{'b', "t"}
		}},
		{tdsserver.TinyInt, "tinyint", randomInt(0, 1<<8)},
		{tdsserver.SmallInt, "smallint", randomInt(-1<<15, 1<<16)},
		{tdsserver.Int, "int", randomInt(-1<<31, 1<<32)},
		{tdsserver.BigInt, "bigint", func(r *rand.Rand) (any, cell) {
			n := int64(r.Uint64()) >> r.IntN(64)
			c := numberCell(strconv.FormatInt(n, 10))
			if n > 1<<53 || n < -1<<53 {
				c.kind = 's'
			}
			return n, c
		}},
		{tdsserver.Money, "money", randomScaled(19, 4, new(big.Int).SetUint64(1<<63))},
		{tdsserver.SmallMoney, "smallmoney", randomScaled(10, 4, big.NewInt(1<<31))},
		{tdsserver.Float, "float", func(r *rand.Rand) (any, cell) {
			for {
				f := pick(r, math.Float64frombits(r.Uint64()), float64(r.IntN(2_000_000)-1_000_000)/pick(r, 1.0, 8, 100, 3), math.Pow10(r.IntN(40)-20))
				if !math.IsInf(f, 0) && !math.IsNaN(f) {
					return f, numberCell(scriptFloat(f, 64))
				}
			}
		}},
		{tdsserver.Real, "real", func(r *rand.Rand) (any, cell) {
			for {
				f := math.Float32frombits(r.Uint32())
				if f64 := float64(f); !math.IsInf(f64, 0) && !math.IsNaN(f64) {
					return f64, numberCell(scriptFloat(f64, 32))
				}
			}
		}},
		{tdsserver.Date, "date", randomStampOf("2006-01-02", 24*time.Hour, 1, 0)},
		{tdsserver.DateTime, "datetime", func(r *rand.Rand) (any, cell) {
			// Ticks are a three-hundredth of a second. They are written as
			// milliseconds that end in 0, 3 or 7.
			at := randomInstant(r, 1753).Truncate(10 * time.Millisecond)
			ms := pick(r, 0, 3, 7)
			at = at.Add(time.Duration(ms) * time.Millisecond)
			return at, textCell(at.Format("2006-01-02 15:04:05.000"))
		}},
		{tdsserver.SmallDateTime, "smalldatetime", func(r *rand.Rand) (any, cell) {
			at := time.Date(1900, 1, 1, 0, r.IntN(65536*1440), 0, 0, time.UTC)
			return at, textCell(at.Format("2006-01-02 15:04:05"))
		}},
		{tdsserver.UniqueIdentifier, "uniqueidentifier", func(r *rand.Rand) (any, cell) {
			b := randomRaw(r, 16)
			order := []int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}
			text := ""
			for i, at := range order {
				if i == 4 || i == 6 || i == 8 || i == 10 {
					text += "-"
				}
				text += fmt.Sprintf("%02X", b[at])
			}
			return b, textCell(text)
		}},
		{tdsserver.VarBinary(8000), "varbinary", randomHexBytes},
		{tdsserver.VarBinaryMax, "varbinary", randomHexBytes},
		{tdsserver.Image, "image", randomHexBytes},
		{tdsserver.NVarCharMax, "nvarchar", randomUnicode},
		{tdsserver.NText, "ntext", randomUnicode},
		{tdsserver.XML, "xml", randomUnicode},
		{tdsserver.VarCharMax.With(tdsserver.UTF8), "varchar", func(r *rand.Rand) (any, cell) {
			v, c := randomUnicode(r)
			return tdsserver.Raw(v.(string)), c //nolint:forcetypeassert // randomUnicode makes strings
		}},
		{tdsserver.NVarChar(100), "nvarchar", func(r *rand.Rand) (any, cell) {
			// Any UTF-16. It is text unless it contains half a surrogate pair.
			b := randomRaw(r, 2*r.IntN(5))
			if text, ok := validUTF16(b); ok {
				return tdsserver.Raw(b), textCell(text)
			}
			return tdsserver.Raw(b), textCell(`\x` + hex.EncodeToString(b))
		}},
	}
	bases := slices.Clone(types[:10]) // the types that a variant may hold
	types = append(types, randomType{tdsserver.Variant, "sql_variant", func(r *rand.Rand) (any, cell) {
		base := bases[r.IntN(len(bases))]
		v, c := base.make(r)
		return tdsserver.Of{Type: base.typ, Value: v}, c
	}}, randomType{tdsserver.VarChar(8000), "varchar", func(r *rand.Rand) (any, cell) {
		// The letters that code page 1252 has in common with Unicode.
		text := make([]rune, r.IntN(50))
		raw := make([]byte, len(text))
		for i := range text {
			raw[i] = pick(r, byte(0x20+r.IntN(0x5F)), byte(0xA0+r.IntN(0x60)))
			text[i] = rune(raw[i])
		}
		return raw, textCell(string(text))
	}}, randomType{tdsserver.RowVersion, "rowversion", func(r *rand.Rand) (any, cell) {
		b := randomRaw(r, 8)
		return b, textCell(`\x` + hex.EncodeToString(b))
	}}, randomType{tdsserver.UDT("shop", "sys", "geography", "Microsoft.SqlServer.Types.SqlGeography"), "geography", randomHexBytes})
	for _, prec := range []int{1, 9, 10, 19, 20, 28, 29, 38} {
		for _, scale := range []int{0, prec / 2, prec} {
			limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(prec)), nil)
			types = append(types, randomType{tdsserver.Decimal(byte(prec), byte(scale)), "decimal", randomScaled(prec, scale, limit)})
		}
	}
	for scale := range 8 {
		unit := time.Duration(math.Pow10(9 - scale))
		clock := "15:04:05"
		if scale > 0 {
			clock += "." + strings.Repeat("0", scale)
		}
		types = append(types,
			randomType{tdsserver.Time(byte(scale)), "time", randomStampOf(clock, unit, 1, 0)},
			randomType{tdsserver.DateTime2(byte(scale)), "datetime2", randomStampOf("2006-01-02 "+clock, unit, 1, 0)},
			randomType{tdsserver.DateTimeOffset(byte(scale)), "datetimeoffset", randomStampOf("2006-01-02 "+clock+" -07:00", unit, 2, 14*60)})
	}
	return types
}

func randomInt(low, count int64) func(*rand.Rand) (any, cell) {
	return func(r *rand.Rand) (any, cell) {
		n := low + r.Int64N(count)
		return n, numberCell(strconv.FormatInt(n, 10))
	}
}

// randomScaled makes numbers below limit, and their digits.
func randomScaled(digits, scale int, limit *big.Int) func(*rand.Rand) (any, cell) {
	return func(r *rand.Rand) (any, cell) {
		for {
			text := strings.Repeat("0", digits)
			for at := r.IntN(digits + 1); at < digits; at++ {
				text = text[:at] + string(rune('0'+r.IntN(10))) + text[at+1:]
			}
			i, ok := new(big.Int).SetString(text, 10)
			if !ok || i.Cmp(limit) >= 0 {
				continue
			}
			whole := strings.TrimLeft(text[:digits-scale], "0")
			if whole == "" {
				whole = "0"
			}
			if scale > 0 {
				whole += "." + text[digits-scale:]
			}
			if r.IntN(2) == 0 && i.Sign() > 0 {
				return i.Neg(i), textCell("-" + whole)
			}
			return i, textCell(whole)
		}
	}
}

// scriptFloat writes a float as ECMAScript does, except that its exponent has
// at least two digits. It is the shortest text that gives the same float.
func scriptFloat(f float64, bits int) string {
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.FormatFloat(f, 'e', -1, bits)
	}
	return strconv.FormatFloat(f, 'f', -1, bits)
}

// randomInstant returns a time between the first day of a year and the end of
// 9999.
func randomInstant(r *rand.Rand, year int) time.Time {
	first, last := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	return time.Unix(first.Unix()+r.Int64N(last.Unix()-first.Unix()), r.Int64N(1e9)).UTC()
}

// randomStampOf makes times that are multiples of unit, with an offset of at
// most that many minutes.
func randomStampOf(layout string, unit time.Duration, year, offset int) func(*rand.Rand) (any, cell) {
	return func(r *rand.Rand) (any, cell) {
		at := randomInstant(r, year)
		if at = at.Truncate(unit); unit == 24*time.Hour {
			at = time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		}
		if offset > 0 {
			if at.Year() == 9999 {
				at = at.AddDate(-1, 0, 0)
			}
			at = at.In(time.FixedZone("", 60*(r.IntN(2*offset+1)-offset)))
		}
		return at, textCell(at.Format(layout))
	}
}

func randomRaw(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func randomHexBytes(r *rand.Rand) (any, cell) {
	b := randomRaw(r, r.IntN(40))
	return b, textCell(`\x` + hex.EncodeToString(b))
}

// randomUnicode makes text with characters of every plane.
func randomUnicode(r *rand.Rand) (any, cell) {
	var b strings.Builder
	for range r.IntN(30) {
		c := rune(r.IntN(pick(r, 0x80, 0x800, 0x10000, 0x110000)))
		if c >= 0xD800 && c < 0xE000 {
			continue
		}
		b.WriteRune(c)
	}
	return b.String(), textCell(b.String())
}

// validUTF16 decodes UTF-16LE. It reports false if b contains half a surrogate
// pair.
func validUTF16(b []byte) (string, bool) {
	var out []rune
	for i := 0; i+1 < len(b); i += 2 {
		u := rune(b[i]) | rune(b[i+1])<<8
		switch {
		case u >= 0xDC00 && u < 0xE000:
			return "", false
		case u >= 0xD800 && u < 0xDC00:
			if i += 2; i+1 >= len(b) {
				return "", false
			}
			low := rune(b[i]) | rune(b[i+1])<<8
			if low < 0xDC00 || low >= 0xE000 {
				return "", false
			}
			u = 0x10000 + (u-0xD800)<<10 + low - 0xDC00
		}
		out = append(out, u)
	}
	return string(out), true
}
