package tdsserver

import (
	"bytes"
	"encoding/hex"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// typeName reads the name of a type (T-SQL reference, "Data types").
func (p *parser) typeName() (Type, error) {
	w := p.peek()
	if w.kind != kindName {
		return Type{}, p.syntax()
	}
	p.i++
	var numbers []uint64
	if p.take("(") {
		for {
			n := *p.peek()
			p.i++
			if n.kind == kindName && n.upper == "MAX" {
				numbers = append(numbers, uint64(sizeMax))
			} else {
				i, err := strconv.ParseUint(n.text, 10, 16)
				if err != nil {
					p.i--
					return Type{}, p.syntax()
				}
				numbers = append(numbers, i)
			}
			if !p.take(",") {
				break
			}
		}
		if err := p.want(")"); err != nil {
			return Type{}, err
		}
	}
	t, ok := typeOf(strings.ToUpper(w.text), numbers)
	if !ok {
		return Type{}, unknown("the type "+w.text, w.line)
	}
	return t, nil
}

func typeOf(name string, numbers []uint64) (Type, bool) {
	plain := map[string]Type{
		"BIT": Bit, "TINYINT": TinyInt, "SMALLINT": SmallInt, "INT": Int, "INTEGER": Int, "BIGINT": BigInt, "MONEY": Money, "SMALLMONEY": SmallMoney,
		"REAL": Real, "DATE": Date, "DATETIME": DateTime, "SMALLDATETIME": SmallDateTime, "UNIQUEIDENTIFIER": UniqueIdentifier, "XML": XML,
		"SQL_VARIANT": Variant, "SYSNAME": NVarChar(128), "TEXT": Text, "NTEXT": NText, "IMAGE": Image,
	}
	if t, ok := plain[name]; ok {
		return t, len(numbers) == 0
	}
	number := func(i int, otherwise uint64) uint64 {
		if i < len(numbers) {
			return numbers[i]
		}
		return otherwise
	}
	n := number(0, 30) // the default length in CAST and CONVERT
	limit := func(most uint64, t Type) (Type, bool) { return t, len(numbers) <= 1 && n >= 1 && n <= most }
	switch name {
	case "FLOAT":
		if number(0, 53) <= 24 {
			return Real, len(numbers) <= 1 && number(0, 53) >= 1
		}
		return Float, len(numbers) <= 1 && number(0, 53) <= 53
	case "DECIMAL", "DEC", "NUMERIC":
		prec, scale := number(0, 18), number(1, 0)
		ok := len(numbers) <= 2 && prec >= 1 && prec <= 38 && scale <= prec
		if name == "NUMERIC" {
			return Numeric(byte(prec), byte(scale)), ok
		}
		return Decimal(byte(prec), byte(scale)), ok
	case "TIME", "DATETIME2", "DATETIMEOFFSET":
		scale := number(0, 7)
		make := map[string]func(byte) Type{"TIME": Time, "DATETIME2": DateTime2, "DATETIMEOFFSET": DateTimeOffset}[name]
		return make(byte(scale)), len(numbers) <= 1 && scale <= 7
	case "CHAR":
		return limit(8000, Char(uint16(n)))
	case "NCHAR":
		return limit(4000, NChar(uint16(n)))
	case "BINARY":
		return limit(8000, Binary(uint16(n)))
	case "VARCHAR":
		if n == uint64(sizeMax) {
			return VarCharMax, len(numbers) == 1
		}
		return limit(8000, VarChar(uint16(n)))
	case "NVARCHAR":
		if n == uint64(sizeMax) {
			return NVarCharMax, len(numbers) == 1
		}
		return limit(4000, NVarChar(uint16(n)))
	case "VARBINARY":
		if n == uint64(sizeMax) {
			return VarBinaryMax, len(numbers) == 1
		}
		return limit(8000, VarBinary(uint16(n)))
	default:
		return Type{}, false
	}
}

// convert is CAST (T-SQL reference, "CAST and CONVERT"). With try, a value that
// cannot be converted gives NULL.
func convert(x expr, t Type, try bool) (expr, error) {
	if x.t == t || x.t.nullable() == t {
		x.t = t
		return x, nil
	}
	from, to := x.t, t
	if !convertible(from, to) {
		return expr{}, unknown("a conversion of "+from.String()+" to "+to.String(), 0)
	}
	return expr{t: t, eval: func(e *env) (any, error) {
		v, err := x.eval(e)
		if err != nil || v == nil {
			return nil, err
		}
		v, err = convertValue(e.s, v, from, to)
		if se, ok := err.(*ServerError); ok && try && se.Number != notModelled { //nolint:errorlint // convertValue returns it as it is
			return nil, nil
		}
		return v, err
	}}, nil
}

func convertible(from, to Type) bool {
	if from.id == typeNull || to.id == typeVariant {
		return from.id != typeVariant
	}
	if from.id == typeVariant { // the type of the value inside is only known at run time
		return to.id != typeVariant
	}
	a, b := from.class(), to.class()
	switch a {
	case classInteger, classBit:
		return b == classInteger || b == classBit || b == classFloat || b == classDecimal || b == classMoney || b == classVarChar || b == classNVarChar
	case classDecimal:
		return b == classDecimal || b == classFloat || b == classMoney || b == classVarChar || b == classNVarChar
	case classFloat:
		return b == classFloat
	case classVarChar, classNVarChar:
		return b != classOther || to.id == typeGUID
	case classBinary:
		return b == classBinary || b == classVarChar || b == classNVarChar || to.id == typeGUID
	case classOther, classMoney, classTime:
	}
	return false
}

func convertValue(s *session, v any, from, to Type) (any, error) {
	if to.id == typeVariant {
		return Of{Type: from, Value: wireValue(from, v)}, nil
	}
	switch v := v.(type) {
	case Of:
		if v.Type == to {
			return v.Value, nil
		}
		if !convertible(v.Type, to) {
			return nil, unknown("a conversion of "+v.Type.String()+" to "+to.String(), 0)
		}
		inner := v.Value
		if b, ok := inner.([]byte); ok && v.Type.class() == classVarChar {
			inner = fromCodePage1252(b)
		}
		return convertValue(s, inner, v.Type, to)
	case bool:
		return convertInteger(map[bool]int64{false: 0, true: 1}[v], from, to)
	case int64:
		return convertInteger(v, from, to)
	case float64:
		if to.width() == 4 {
			return float64(float32(v)), nil
		}
		return v, nil
	case *big.Int:
		return convertDecimal(v, from, to)
	case string:
		if to.class() == classTime {
			return parseTime(v, s.options["DATEFORMAT"], to)
		}
		return convertText(v, from, to)
	case []byte:
		switch {
		case to.id == typeGUID:
			if len(v) < 16 {
				return nil, conversionFailed("binary", to)
			}
			return v[:16], nil
		case to.class() == classVarChar:
			return convertText(fromCodePage1252(v), from, to)
		case to.class() == classNVarChar:
			text, err := fromUTF16(v)
			if err != nil {
				return nil, unknown("half a character of nvarchar", 0)
			}
			if !bytes.Equal(UTF16(text), v) { // half a surrogate pair, which no string can hold
				if to.size != sizeMax {
					v = v[:min(len(v), int(to.size))]
				}
				return v, nil
			}
			return convertText(text, from, to)
		default:
			return fitBinary(v, to), nil
		}
	}
	return nil, unknown("a conversion of this value to "+to.String(), 0)
}

func conversionFailed(what string, t Type) *ServerError {
	name, _, _ := strings.Cut(t.String(), "(")
	switch t.class() {
	case classTime:
		return &ServerError{Number: 241, State: 1, Class: 16, Message: "Conversion failed when converting date and/or time from character string."}
	case classDecimal, classFloat, classMoney:
		return &ServerError{Number: 8114, State: 5, Class: 16, Message: "Error converting data type varchar to " + name + "."}
	default:
		if t.id == typeGUID {
			return &ServerError{Number: 8169, State: 2, Class: 16, Message: "Conversion failed when converting from a character string to uniqueidentifier."}
		}
		return &ServerError{Number: 245, State: 1, Class: 16, Message: "Conversion failed when converting the varchar value '" + what + "' to data type " + name + "."}
	}
}

func convertInteger(i int64, from, to Type) (any, error) {
	switch to.class() {
	case classInteger:
		if _, err := encodeInt(to, i); err != nil {
			return nil, overflow(to)
		}
		return i, nil
	case classBit:
		return i != 0, nil
	case classFloat:
		return float64(i), nil
	case classDecimal, classMoney:
		return convertDecimal(big.NewInt(i), Numeric(19, 0), to)
	default:
		return convertText(strconv.FormatInt(i, 10), from, to)
	}
}

// scaleOf returns the number of digits after the decimal point for decimal and
// money types.
func scaleOf(t Type) int {
	if t.class() == classMoney {
		return 4
	}
	return int(t.scale)
}

func convertDecimal(i *big.Int, from, to Type) (any, error) {
	switch to.class() {
	case classDecimal, classMoney:
		i = rescale(i, scaleOf(to)-scaleOf(from))
		limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(to.prec)), nil)
		if to.class() == classMoney {
			limit = new(big.Int).Lsh(big.NewInt(1), uint(8*to.width()-1))
			if i.Cmp(new(big.Int).Neg(limit)) == 0 {
				return i, nil
			}
		}
		if new(big.Int).Abs(i).Cmp(limit) >= 0 {
			return nil, overflow(to)
		}
		return i, nil
	case classFloat:
		f, err := strconv.ParseFloat(decimalText(i, scaleOf(from)), 64)
		return f, err
	default:
		return convertText(decimalText(i, scaleOf(from)), from, to)
	}
}

// rescale multiplies i by a power of ten, and rounds halves away from zero.
func rescale(i *big.Int, by int) *big.Int {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(by, -by))), nil)
	if by >= 0 {
		return new(big.Int).Mul(i, power)
	}
	q, r := new(big.Int).QuoRem(i, power, new(big.Int))
	if new(big.Int).Abs(new(big.Int).Lsh(r, 1)).Cmp(power) >= 0 {
		q.Add(q, big.NewInt(int64(i.Sign())))
	}
	return q
}

// decimalText returns the decimal with its point.
func decimalText(i *big.Int, scale int) string {
	digits := new(big.Int).Abs(i).String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	if scale > 0 {
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if i.Sign() < 0 {
		digits = "-" + digits
	}
	return digits
}

func fitBinary(b []byte, to Type) []byte {
	if to.size == sizeMax || to.id == typeImage {
		return b
	}
	b = b[:min(len(b), int(to.size))]
	if to.id == typeBigBinary {
		b = append(slices.Clip(b), make([]byte, int(to.size)-len(b))...)
	}
	return b
}

func convertText(s string, from, to Type) (any, error) {
	switch to.class() {
	case classVarChar, classNVarChar:
		return fitText(s, from, to)
	case classInteger, classBit:
		i, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		if err != nil {
			return nil, conversionFailed(s, to)
		}
		return convertInteger(i, from, to)
	case classDecimal, classMoney:
		whole, fraction, _ := strings.Cut(strings.TrimSpace(s), ".")
		i, ok := new(big.Int).SetString(whole+fraction, 10)
		if !ok {
			return nil, conversionFailed(s, to)
		}
		return convertDecimal(i, Numeric(38, byte(len(fraction))), to)
	case classFloat:
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return nil, conversionFailed(s, to)
		}
		if to.width() == 4 {
			f = float64(float32(f))
		}
		return f, nil
	case classBinary:
		if from.class() == classNVarChar {
			return fitBinary(UTF16(s), to), nil
		}
		return fitBinary(codePage1252(s), to), nil
	}
	if to.id == typeGUID {
		return parseGUID(s)
	}
	return nil, unknown("a conversion of text to "+to.String(), 0)
}

// fitText cuts or pads a text to the length of the type.
func fitText(s string, from, to Type) (any, error) {
	if to.id == typeXML || to.size == sizeMax || to.id == typeText || to.id == typeNText {
		return s, nil
	}
	length, unit := len(codePage1252(s)), 1
	if to.class() == classNVarChar {
		length, unit = units(s), 2
	}
	most := int(to.size) / unit
	if length > most {
		if c := from.class(); c == classInteger || c == classDecimal || c == classMoney {
			return nil, overflow(to)
		}
		for length > most {
			r := []rune(s)
			length -= len(codePage1252(string(r[len(r)-1:])))
			s = string(r[:len(r)-1])
		}
	}
	if to.id == typeBigChar || to.id == typeNChar {
		s += strings.Repeat(" ", most-length)
	}
	return s, nil
}

// parseGUID parses a uniqueidentifier. Its first three groups are stored in
// little-endian order.
func parseGUID(s string) (any, error) {
	s = strings.Trim(strings.TrimSpace(s), "{}")
	groups := strings.Split(s, "-")
	b, err := hex.DecodeString(strings.Join(groups, ""))
	if err != nil || len(b) != 16 || len(groups) != 5 || len(groups[0]) != 8 || len(groups[1]) != 4 || len(groups[2]) != 4 || len(groups[3]) != 4 {
		return nil, conversionFailed(s, UniqueIdentifier)
	}
	b[0], b[1], b[2], b[3] = b[3], b[2], b[1], b[0]
	b[4], b[5], b[6], b[7] = b[5], b[4], b[7], b[6]
	return b, nil
}

// dateFormats are the orders of year, month and day for SET DATEFORMAT (T-SQL
// reference, "SET DATEFORMAT").
var dateFormats = map[string]string{
	"mdy": "01/02/2006", "dmy": "02/01/2006", "ymd": "2006/01/02", "ydm": "2006/02/01", "myd": "01/2006/02", "dym": "02/2006/01",
}

// parseTime parses the ISO 8601 forms (T-SQL reference, "datetime2"), with a
// space or a T between date and time, and dates with slashes.
func parseTime(s, format string, to Type) (any, error) {
	s = strings.Replace(strings.TrimSpace(s), "T", " ", 1)
	var at time.Time
	var err error
	for _, layout := range []string{
		"2006-01-02 15:04:05.9999999 -07:00", "2006-01-02 15:04:05.9999999-07:00", "2006-01-02 15:04:05.9999999Z",
		"2006-01-02 15:04:05.9999999", "2006-01-02 15:04", "2006-01-02", "15:04:05.9999999", "15:04",
		dateFormats[format],
	} {
		if at, err = time.Parse(layout, s); err == nil {
			break
		}
	}
	if err != nil {
		return nil, conversionFailed(s, to)
	}
	if at.Year() == 0 { // a time of day without a date
		at = at.AddDate(1900, 0, 0)
	}
	switch to.id {
	case typeDateTimeOffset, typeDateTime2, typeTime:
		unit := time.Duration(math.Pow10(9 - int(to.scale)))
		return at.Add(unit / 2).Add(-time.Duration(at.Add(unit/2).Nanosecond()) % unit), nil
	case typeDateTime, typeDateTimN, typeDateTim4:
		if to.width() == 4 {
			if at.Year() < 1900 || at.Year() > 2079 {
				return nil, &ServerError{Number: 242, State: 3, Class: 16, Message: "The conversion of a varchar data type to a smalldatetime data type resulted in an out-of-range value."}
			}
			if at.Second() >= 30 {
				at = at.Add(time.Minute)
			}
			return at.Truncate(time.Minute), nil
		}
		if at.Year() < 1753 {
			return nil, &ServerError{Number: 242, State: 3, Class: 16, Message: "The conversion of a varchar data type to a datetime data type resulted in an out-of-range value."}
		}
	}
	return at, nil
}

// styled is CONVERT of a date or time with style 121: the ODBC canonical
// format, with as many digits of a second as the type has (T-SQL reference,
// "CAST and CONVERT").
func styled(x expr, t Type) expr {
	from := x.t
	digits := int(from.scale)
	if from.id == typeDateTime || from.id == typeDateTimN {
		digits = 3
	}
	clock := "15:04:05"
	if digits > 0 {
		clock += "." + strings.Repeat("0", digits)
	}
	layout := map[byte]string{typeDate: "2006-01-02", typeTime: clock, typeDateTimeOffset: "2006-01-02 " + clock + " -07:00"}[from.id]
	if layout == "" {
		layout = "2006-01-02 " + clock
	}
	return expr{t: t, eval: func(e *env) (any, error) {
		v, err := x.eval(e)
		if err != nil || v == nil {
			return nil, err
		}
		return fitText(v.(time.Time).Format(layout), from, t) //nolint:forcetypeassert // a date's value
	}}
}

// wireValue returns v as a row contains it: a varchar in its code page.
func wireValue(t Type, v any) any {
	if s, ok := v.(string); ok && t.class() == classVarChar && t.collation != UTF8 {
		return codePage1252(s)
	}
	return v
}
