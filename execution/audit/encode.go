package audit

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// maxInteger is the largest integer that every JSON reader keeps exactly.
const maxInteger = 1<<53 - 1

// timeLayout is RFC 3339 with all nine digits, so that times of equal length
// sort as strings.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// field is one member of an object as written. Members are in the order of RFC
// 8785, without those that are never written.
type field struct {
	index     int
	key       string // `"name":`
	omitEmpty bool
	class     Class
	members   []field // of a struct
	write     func(buf []byte, v reflect.Value) []byte
}

// eventFields are the members of a written Event, except its chain, which comes
// first and is written by seal.
var eventFields = slices.DeleteFunc(fieldsOf(reflect.TypeFor[Event]()), func(f field) bool {
	return f.key == `"chain":`
})

// fieldsOf reads the tags of t. A field without a known class or without a JSON
// name counts as secret, and so does a field of a type that has no canonical
// form here.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		sf := t.Field(i)
		name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
		f := field{index: i, key: `"` + name + `":`, omitEmpty: options != "", class: classOf(sf)}
		if f.class == ClassSecret {
			continue
		}
		switch {
		case !sf.IsExported() || name == "" || name == "-":
			continue
		case sf.Type == reflect.TypeFor[time.Time]():
			f.write = appendTime
		case sf.Type.Kind() == reflect.Struct:
			f.members = fieldsOf(sf.Type)
		case sf.Type.Kind() == reflect.String:
			f.write = func(buf []byte, v reflect.Value) []byte { return appendString(buf, v.String()) }
		case sf.Type.Kind() == reflect.Int64:
			f.write = func(buf []byte, v reflect.Value) []byte { return appendInteger(buf, v.Int()) }
		case sf.Type.Kind() == reflect.Float64:
			f.write = func(buf []byte, v reflect.Value) []byte { return appendFloat(buf, v.Float()) }
		case sf.Type == reflect.TypeFor[[]string]():
			f.write = appendStrings
		default:
			continue
		}
		fields = append(fields, f)
	}
	// Names are ASCII, so byte order is the order of UTF-16 units.
	slices.SortFunc(fields, func(a, b field) int { return cmp.Compare(a.key, b.key) })
	return fields
}

// appendMembers writes the members of v whose class is not withheld, each
// followed by a comma.
func appendMembers(buf []byte, v reflect.Value, fields []field, withheld []Class) []byte {
	for i := range fields {
		f := &fields[i]
		fv := v.Field(f.index)
		if slices.Contains(withheld, f.class) || f.omitEmpty && isEmpty(fv) {
			continue
		}
		buf = append(buf, f.key...)
		if f.write != nil {
			buf = f.write(buf, fv)
		} else {
			buf = append(buf, '{')
			buf = appendMembers(buf, fv, f.members, withheld)
			buf = closeObject(buf)
		}
		buf = append(buf, ',')
	}
	return buf
}

// closeObject turns the comma after the last member into the closing brace.
func closeObject(buf []byte) []byte {
	if last := len(buf) - 1; buf[last] == ',' {
		buf[last] = '}'
		return buf
	}
	return append(buf, '}')
}

func isEmpty(v reflect.Value) bool {
	if v.Kind() == reflect.Slice {
		return v.Len() == 0
	}
	return v.IsZero()
}

func appendTime(buf []byte, v reflect.Value) []byte {
	t, _ := reflect.TypeAssert[time.Time](v)
	buf = append(buf, '"')
	buf = t.UTC().AppendFormat(buf, timeLayout)
	return append(buf, '"')
}

func appendStrings(buf []byte, v reflect.Value) []byte {
	buf = append(buf, '[')
	for i := range v.Len() {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = appendString(buf, v.Index(i).String())
	}
	return append(buf, ']')
}

func appendInteger(buf []byte, n int64) []byte {
	return strconv.AppendInt(buf, max(-maxInteger, min(n, maxInteger)), 10)
}

// appendFloat writes f as ECMAScript does. It writes NaN and infinities as
// null.
func appendFloat(buf []byte, f float64) []byte {
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(buf, f, 'f', -1, 64)
	}
	s, err := jcs.NumberToJSON(f)
	if err != nil {
		s = "null"
	}
	return append(buf, s...)
}

// appendString writes s with the escapes of RFC 8785 and no others.
func appendString(buf []byte, s string) []byte {
	buf = append(buf, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		buf = append(buf, s[start:i]...)
		i += size
		start = i
		switch c {
		case '"', '\\':
			buf = append(buf, '\\', c)
		case '\b':
			buf = append(buf, `\b`...)
		case '\f':
			buf = append(buf, `\f`...)
		case '\n':
			buf = append(buf, `\n`...)
		case '\r':
			buf = append(buf, `\r`...)
		case '\t':
			buf = append(buf, `\t`...)
		default:
			if c >= utf8.RuneSelf {
				buf = utf8.AppendRune(buf, utf8.RuneError)
				continue
			}
			buf = append(buf, `\u00`...)
			buf = hex.AppendEncode(buf, []byte{c})
		}
	}
	buf = append(buf, s[start:]...)
	return append(buf, '"')
}

// withoutText are the classes that are withheld unless SQLFull is configured.
var withoutText = []Class{ClassSensitive}

// appendEvent appends the line of e, including the newline, and returns it with
// the event's hash. It links e to the event whose hash is prev, and ignores the
// chain that e has.
func appendEvent(buf []byte, e *Event, prev Hash, full bool) ([]byte, Hash, error) {
	start := len(buf)
	buf = append(buf, blankPrefix[:]...)
	buf = append(buf, prefixPrev...)
	buf = hex.AppendEncode(buf, prev[:])
	buf = append(buf, prefixEnd...)
	withheld := withoutText
	if full {
		withheld = nil
	}
	buf = appendMembers(buf, reflect.ValueOf(e).Elem(), eventFields, withheld)
	buf = closeObject(buf)
	line := buf[start:]
	if len(line) >= maxLine {
		return buf[:start], Hash{}, fmt.Errorf("event of %d bytes is longer than %d", len(line), maxLine)
	}
	hash := seal(line)
	return append(buf, '\n'), hash, nil
}
