package execution

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// Result is the answer to one statement. Rows are positional: columns with the
// same name keep their own values.
type Result struct {
	Columns []Column
	Rows    [][]Value
	// Truncated says that the statement has more rows or columns than the
	// result. TruncatedBy says which limit cut it: the limit that ended the
	// rows, otherwise the limit on columns. Note says what to do next, for each
	// limit that applied. A value is never cut. The methods whose names begin
	// with Cut set all three fields.
	Truncated   bool
	TruncatedBy TruncatedBy
	Note        string
	// OmittedColumns counts the columns after those that are returned.
	OmittedColumns int
	// Bytes counts the text of all values returned.
	Bytes int64
	// Elapsed is the time from sending the statement to its last row.
	Elapsed time.Duration
	// Held is set when the server may still be running the statement, because it
	// has not stopped sending rows that are not wanted.
	Held *Held
}

// Column is one output column.
type Column struct {
	Name string
	Type string // the server's name of the type; "" when each value has its own type
}

// ValueKind says how a value is rendered as JSON.
type ValueKind uint8

// The kinds of value. The zero value is NULL.
const (
	Null   ValueKind = iota
	String           // Text as a JSON string
	Number           // Text is a JSON number that every JSON reader reads exactly
	Bool             // Text is the server's spelling; JSON true when it is "t", "true" or "1"
)

// Value is one cell. Text is the server's own text, "" for NULL. Bytes that are
// not text are rendered as \x and lower-case hex.
type Value struct {
	Kind ValueKind
	Text string
}

// AppendJSON appends the value as JSON.
func (v Value) AppendJSON(b []byte) []byte {
	switch v.Kind {
	case Null:
		return append(b, "null"...)
	case Number:
		return append(b, v.Text...)
	case Bool:
		return strconv.AppendBool(b, v.Text == "t" || v.Text == "true" || v.Text == "1")
	case String:
		return appendJSONString(b, v.Text)
	default:
		return append(b, "null"...)
	}
}

// FreeStructure is how many bytes of JSON the commas, brackets and NULLs of a result
// may take beyond [Limits.Bytes].
const FreeStructure = 64 << 10

// RowSize returns the least that a row takes as JSON: size bytes of texts, in so many
// columns, of which some are NULL.
func RowSize(size int64, columns, nulls int) int64 {
	return size + int64(columns) + int64(nulls)*int64(len("null")) + int64(len("[]"))
}

const hexDigits = "0123456789abcdef"

// appendJSONString appends s quoted by RFC 8259. It escapes only what RFC 8259
// requires, so that the text a model reads stays short.
func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 { // backends hand over valid UTF-8; a stray byte must not break the document
				b = append(append(b, s[from:i]...), `\ufffd`...)
				from = i + 1
			}
			i += n
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// HexText returns bytes that are not text, as \x and lower-case hex.
func HexText(raw []byte) string {
	b := make([]byte, 0, 2+2*len(raw))
	b = append(b, '\\', 'x')
	for _, c := range raw {
		b = append(b, hexDigits[c>>4], hexDigits[c&15])
	}
	return string(b)
}

// NameText returns the name of a column or type as text: unchanged, or as
// [HexText] when it is not UTF-8.
func NameText(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return HexText([]byte(name))
}

// IntegerValue returns a Number when text is an integer that every JSON
// reader reads exactly (at most 2^53 in magnitude), a String otherwise.
func IntegerValue(text string) Value {
	if len(text) <= 15 && plainInteger(text) {
		return Value{Kind: Number, Text: text}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > 1<<53 || n < -(1<<53) || strconv.FormatInt(n, 10) != text {
		return Value{Kind: String, Text: text}
	}
	return Value{Kind: Number, Text: text}
}

// plainInteger reports whether text consists of digits, with a minus sign when
// it is negative, and without redundant zeros.
func plainInteger(text string) bool {
	digits := text
	if text != "" && text[0] == '-' {
		digits = text[1:]
	}
	if digits == "" || digits[0] == '0' {
		return text == "0"
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// FloatValue returns a Number when text is a finite float in JSON syntax that
// readers turn back into the same float64. Otherwise it returns a String.
func FloatValue(text string) Value {
	if !jsonNumber(text) {
		return Value{Kind: String, Text: text}
	}
	return Value{Kind: Number, Text: text}
}

// jsonNumber reports whether s is a number by RFC 8259, section 6, and within
// the range of float64.
func jsonNumber(s string) bool {
	rest := s
	if rest != "" && rest[0] == '-' {
		rest = rest[1:]
	}
	digits := func() int {
		n := 0
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		rest = rest[n:]
		return n
	}
	leadingZero := len(rest) > 0 && rest[0] == '0'
	if n := digits(); n == 0 || leadingZero && n > 1 {
		return false
	}
	if rest != "" && rest[0] == '.' {
		rest = rest[1:]
		if digits() == 0 {
			return false
		}
	}
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		rest = rest[1:]
		if rest != "" && (rest[0] == '+' || rest[0] == '-') {
			rest = rest[1:]
		}
		if digits() == 0 {
			return false
		}
	}
	if rest != "" {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}
