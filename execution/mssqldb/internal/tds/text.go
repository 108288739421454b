package tds

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Kind says what the text of a value contains.
type Kind uint8

// The kinds of text.
const (
	KindText    Kind = iota // characters, or \x and hexadecimal digits
	KindInteger             // a whole number
	KindFloat               // a float in JSON syntax, or +Inf, -Inf or NaN
	KindBit                 // 0 or 1
)

// AppendText appends the text of a value that is not NULL.
//
//   - decimal and numeric: all digits of the scale. money and smallmoney: four
//     digits.
//   - float and real: the shortest digits that give the same float again.
//   - date, time, datetime2: as CONVERT gives them with style 121, with as many
//     digits of a second as the column has; datetime three, smalldatetime none.
//     datetimeoffset: the time at its offset, then the offset.
//   - uniqueidentifier: in upper case, as the server prints it.
//   - binary, varbinary, image, rowversion and CLR types: \x and hexadecimal
//     digits.
//   - char, varchar and text: decoded by their collation. nchar, nvarchar,
//     ntext and xml: decoded from UTF-16. An invalid value, or one in an
//     unknown code page, is \x and the hexadecimal digits of its bytes.
//   - sql_variant: as the type inside.
//
// It returns an error for bytes that no value of the type can have.
func (c *Column) AppendText(dst, raw []byte) ([]byte, Kind, error) {
	return c.appendText(dst, raw)
}

func (k *kind) appendText(dst, raw []byte) ([]byte, Kind, error) {
	switch k.id {
	case typeTinyInt, typeSmallInt, typeInt, typeBigInt, typeIntN:
		return appendInteger(dst, raw)
	case typeBit, typeBitN:
		if len(raw) != 1 {
			return dst, 0, k.misfit(raw)
		}
		if raw[0] != 0 {
			return append(dst, '1'), KindBit, nil
		}
		return append(dst, '0'), KindBit, nil
	case typeReal, typeFloat, typeFloatN:
		return appendFloat(dst, raw)
	case typeMoney, typeSmallMny, typeMoneyN:
		return k.appendMoney(dst, raw)
	case typeDecimal, typeNumeric:
		return k.appendDecimal(dst, raw)
	case typeSmallDate, typeDateTime, typeDateTimeN:
		return k.appendDateTime(dst, raw)
	case typeDate, typeTime, typeDateTime2, typeOffset:
		return k.appendTime(dst, raw)
	case typeGUID:
		return appendGUID(dst, raw)
	case typeVarBinary, typeBinary, typeImage, typeUDT:
		return appendHex(dst, raw), KindText, nil
	case typeNVarChar, typeNChar, typeNText, typeXML:
		if out, ok := appendUTF16(dst, raw); ok {
			return out, KindText, nil
		}
		return appendHex(dst, raw), KindText, nil
	case typeVarChar, typeChar, typeText:
		if out, ok := k.collation.appendText(dst, raw); ok {
			return out, KindText, nil
		}
		return appendHex(dst, raw), KindText, nil
	case typeVariant:
		return appendVariant(dst, raw)
	default:
		return dst, 0, malformed("a value of the unknown type %#x", k.id)
	}
}

func (k *kind) misfit(raw []byte) error {
	return malformed("a value of type %#x and %d bytes", k.id, len(raw))
}

func appendHex(dst, raw []byte) []byte {
	return hex.AppendEncode(append(dst, '\\', 'x'), raw)
}

func appendInteger(dst, raw []byte) ([]byte, Kind, error) {
	var n int64
	switch len(raw) {
	case 1: // tinyint has no sign
		n = int64(raw[0])
	case 2:
		n = int64(int16(binary.LittleEndian.Uint16(raw))) //nolint:gosec // two's complement
	case 4:
		n = int64(int32(binary.LittleEndian.Uint32(raw))) //nolint:gosec // two's complement
	case 8:
		n = int64(binary.LittleEndian.Uint64(raw)) //nolint:gosec // two's complement
	default:
		return dst, 0, malformed("an integer of %d bytes", len(raw))
	}
	return strconv.AppendInt(dst, n, 10), KindInteger, nil
}

// appendFloat writes floats as JSON and ECMAScript do: without an exponent from
// 1e-6 up to 1e21.
func appendFloat(dst, raw []byte) ([]byte, Kind, error) {
	var f float64
	bits := 64
	switch len(raw) {
	case 4:
		f, bits = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))), 32
	case 8:
		f = math.Float64frombits(binary.LittleEndian.Uint64(raw))
	default:
		return dst, 0, malformed("a float of %d bytes", len(raw))
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, bits), KindFloat, nil
}

func (k *kind) appendMoney(dst, raw []byte) ([]byte, Kind, error) {
	var n int64
	switch len(raw) {
	case 4:
		n = int64(int32(binary.LittleEndian.Uint32(raw))) //nolint:gosec // two's complement
	case 8: // the upper half comes first
		n = int64(int32(binary.LittleEndian.Uint32(raw)))<<32 | int64(binary.LittleEndian.Uint32(raw[4:])) //nolint:gosec // two's complement
	default:
		return dst, 0, k.misfit(raw)
	}
	digits := strconv.AppendUint(nil, magnitude(n), 10)
	return appendScaled(dst, n < 0, digits, 4), KindText, nil
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n) //nolint:gosec // two's complement
	}
	return uint64(n)
}

// appendScaled writes digits, with scale of them after the decimal point.
func appendScaled(dst []byte, negative bool, digits []byte, scale int) []byte {
	if negative {
		dst = append(dst, '-')
	}
	for range scale + 1 - len(digits) {
		digits = append([]byte{'0'}, digits...)
	}
	dst = append(dst, digits[:len(digits)-scale]...)
	if scale > 0 {
		dst = append(append(dst, '.'), digits[len(digits)-scale:]...)
	}
	return dst
}

func (k *kind) appendDecimal(dst, raw []byte) ([]byte, Kind, error) {
	if len(raw) < 2 || len(raw) > 17 {
		return dst, 0, k.misfit(raw)
	}
	sign, raw := raw[0], raw[1:]
	var digits []byte
	if len(raw) <= 8 {
		var n uint64
		for _, b := range slices.Backward(raw) {
			n = n<<8 | uint64(b)
		}
		digits = strconv.AppendUint(nil, n, 10)
	} else {
		var n big.Int
		big16 := make([]byte, len(raw))
		for i, b := range raw {
			big16[len(raw)-1-i] = b
		}
		digits = n.SetBytes(big16).Append(nil, 10)
	}
	negative := sign == 0 && string(digits) != "0"
	return appendScaled(dst, negative, digits, int(k.scale)), KindText, nil
}

// The number of days between the first days of the calendars, and in years.
const (
	days1900 = 693_595 // from 0001-01-01 to 1900-01-01
	daysMax  = 3_652_058
	daySecs  = 86_400
)

// appendDateTime writes datetime and smalldatetime.
func (k *kind) appendDateTime(dst, raw []byte) ([]byte, Kind, error) {
	switch len(raw) {
	case 4:
		days, minutes := int(binary.LittleEndian.Uint16(raw)), int64(binary.LittleEndian.Uint16(raw[2:]))
		if minutes >= daySecs/60 {
			return dst, 0, malformed("a smalldatetime behind its day")
		}
		dst = append(appendDate(dst, days1900+days), ' ')
		return appendClock(dst, minutes*60, 0, 0), KindText, nil
	case 8:
		days, ticks := days1900+int(int32(binary.LittleEndian.Uint32(raw))), int64(binary.LittleEndian.Uint32(raw[4:])) //nolint:gosec // two's complement
		if days < 0 || days > daysMax || ticks >= 300*daySecs {
			return dst, 0, malformed("a datetime beyond the calendar")
		}
		dst = append(appendDate(dst, days), ' ')
		// A tick is a 300th of a second. The server rounds it to milliseconds.
		return appendClock(dst, ticks/300, (ticks%300*10+1)/3, 3), KindText, nil
	default:
		return dst, 0, k.misfit(raw)
	}
}

// appendTime writes date, time, datetime2 and datetimeoffset.
func (k *kind) appendTime(dst, raw []byte) ([]byte, Kind, error) {
	var clock, date, zone []byte
	rest := raw
	cut := func(n int) (b []byte) {
		if len(rest) < n {
			n = len(rest)
		}
		b, rest = rest[:n], rest[n:]
		return b
	}
	if k.id != typeDate {
		clock = cut([...]int{3, 3, 3, 4, 4, 5, 5, 5}[k.scale&7])
	}
	if k.id != typeTime {
		date = cut(3)
	}
	if k.id == typeOffset {
		zone = cut(2)
	}
	if len(rest) > 0 || k.id != typeDate && len(clock) < 3 || k.id != typeTime && len(date) != 3 || k.id == typeOffset && len(zone) != 2 {
		return dst, 0, k.misfit(raw)
	}
	unit := int64(1)
	for range k.scale {
		unit *= 10
	}
	ticks, days, minutes := littleEndian(clock), int(littleEndian(date)), 0
	if ticks >= daySecs*unit {
		return dst, 0, malformed("a time behind its day")
	}
	if zone != nil {
		minutes = int(int16(binary.LittleEndian.Uint16(zone))) //nolint:gosec // two's complement
		if minutes < -14*60 || minutes > 14*60 {
			return dst, 0, malformed("an offset of %d minutes", minutes)
		}
		// The server sends the time in UTC.
		ticks += int64(minutes) * 60 * unit
		switch {
		case ticks < 0:
			ticks, days = ticks+daySecs*unit, days-1
		case ticks >= daySecs*unit:
			ticks, days = ticks-daySecs*unit, days+1
		}
	}
	if date != nil {
		if days < 0 || days > daysMax {
			return dst, 0, malformed("a date beyond the calendar")
		}
		dst = appendDate(dst, days)
	}
	if clock != nil {
		if date != nil {
			dst = append(dst, ' ')
		}
		dst = appendClock(dst, ticks/unit, ticks%unit, int(k.scale))
	}
	if zone != nil {
		sign := byte('+')
		if minutes < 0 {
			sign, minutes = '-', -minutes
		}
		dst = append(dst, ' ', sign)
		dst = append(appendDigits(dst, int64(minutes/60), 2), ':')
		dst = appendDigits(dst, int64(minutes%60), 2)
	}
	return dst, KindText, nil
}

func littleEndian(b []byte) (n int64) {
	for _, d := range slices.Backward(b) {
		n = n<<8 | int64(d)
	}
	return n
}

// appendDate writes the date that is days after 0001-01-01.
func appendDate(dst []byte, days int) []byte {
	year, month, day := time.Date(1, 1, 1+days, 0, 0, 0, 0, time.UTC).Date()
	dst = append(appendDigits(dst, int64(year), 4), '-')
	dst = append(appendDigits(dst, int64(month), 2), '-')
	return appendDigits(dst, int64(day), 2)
}

// appendClock writes a time of day, with scale digits of the second's fraction.
func appendClock(dst []byte, seconds, fraction int64, scale int) []byte {
	dst = append(appendDigits(dst, seconds/3600, 2), ':')
	dst = append(appendDigits(dst, seconds/60%60, 2), ':')
	dst = appendDigits(dst, seconds%60, 2)
	if scale > 0 {
		dst = appendDigits(append(dst, '.'), fraction, scale)
	}
	return dst
}

// appendDigits writes n, padded with zeros to width digits.
func appendDigits(dst []byte, n int64, width int) []byte {
	from := len(dst)
	for range width {
		dst = append(dst, '0')
	}
	for i := len(dst) - 1; i >= from; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}

// appendGUID writes the groups as the server does. The first three are numbers
// in little-endian order.
func appendGUID(dst, raw []byte) ([]byte, Kind, error) {
	if len(raw) != 16 {
		return dst, 0, malformed("a uniqueidentifier of %d bytes", len(raw))
	}
	const digits = "0123456789ABCDEF"
	for i, at := range [...]int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15} {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, digits[raw[at]>>4], digits[raw[at]&15])
	}
	return dst, KindText, nil
}

// appendUTF16 decodes little-endian UTF-16. It reports false if the bytes are
// not valid.
func appendUTF16(dst, raw []byte) (out []byte, ok bool) {
	if len(raw)%2 != 0 {
		return dst, false
	}
	for ; len(raw) >= 2; raw = raw[2:] {
		u := rune(binary.LittleEndian.Uint16(raw))
		if u < utf8.RuneSelf {
			dst = append(dst, byte(u))
			continue
		}
		if utf16.IsSurrogate(u) {
			if len(raw) < 4 {
				return dst, false
			}
			raw = raw[2:]
			if u = utf16.DecodeRune(u, rune(binary.LittleEndian.Uint16(raw))); u == utf8.RuneError {
				return dst, false
			}
		}
		dst = utf8.AppendRune(dst, u)
	}
	return dst, true
}

// appendVariant writes a sql_variant (MS-TDS 2.2.5.5.4).
func appendVariant(dst, raw []byte) ([]byte, Kind, error) {
	if len(raw) < 2 {
		return dst, 0, malformed("a variant without a type")
	}
	k := kind{id: raw[0]}
	n := int(raw[1])
	properties := raw[2:]
	if len(properties) < n {
		return dst, 0, malformed("a variant without properties")
	}
	properties, raw = properties[:n], properties[n:]
	wanted := 0
	switch k.id {
	case typeDecimal, typeNumeric: // precision and scale
		if wanted = 2; n == wanted {
			k.scale = properties[1]
		}
	case typeTime, typeDateTime2, typeOffset:
		if wanted = 1; n == wanted {
			k.scale = properties[0]
		}
	case typeVarBinary, typeBinary: // the largest size
		wanted = 2
	case typeVarChar, typeChar, typeNVarChar, typeNChar: // collation, the largest size
		if wanted = 7; n == wanted {
			k.collation = collation{bits: binary.LittleEndian.Uint32(properties), sort: properties[4]}
		}
	case typeGUID, typeDate:
	default:
		if size, ok := fixedSize(k.id); !ok || size != len(raw) || size == 0 {
			return dst, 0, malformed("a variant of the type %#x", k.id)
		}
	}
	if n != wanted || k.scale > 38 || k.scale > 7 && k.id != typeDecimal && k.id != typeNumeric {
		return dst, 0, malformed("a variant of the type %#x", k.id)
	}
	return k.appendText(dst, raw)
}

// Text returns a name that the server sent. If it is not valid UTF-16, Text
// returns \x and hexadecimal digits.
func Text(name []byte) string { return nameText(name) }

func nameText(name []byte) string {
	if out, ok := appendUTF16(nil, name); ok {
		return string(out)
	}
	return string(appendHex(nil, name))
}

// messageText decodes a message of the server. A message is not data, so
// invalid parts are replaced.
func messageText(raw []byte) string {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(raw[2*i:])
	}
	return string(utf16.Decode(units))
}
