package bigquerydb

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution/bigquerydb/wire"
	"github.com/ktxhq/ktx/execution/internal/rowset"
)

// syntax says how to read a part of a column.
var syntax = rowset.Backquotes("substr(%s, 1, %d)")

// The types whose texts are changed, and the names that the API has for some types.
const (
	typeBytes     = "BYTES"
	typeTimestamp = "TIMESTAMP"
	typeStruct    = "STRUCT"
	repeated      = "REPEATED"
)

var typeNames = map[string]string{"INTEGER": "INT64", "FLOAT": "FLOAT64", "BOOLEAN": "BOOL", "RECORD": typeStruct}

// nameOf returns the type of a field as GoogleSQL writes it.
func nameOf(f *wire.Field) string {
	name := f.Type
	if as, known := typeNames[name]; known {
		name = as
	}
	if name == typeStruct {
		parts := make([]string, len(f.Fields))
		for i := range f.Fields {
			parts[i] = strings.TrimSpace(f.Fields[i].Name + " " + nameOf(&f.Fields[i]))
		}
		name += "<" + strings.Join(parts, ", ") + ">"
	}
	if f.Mode == repeated {
		name = "ARRAY<" + name + ">"
	}
	return name
}

// kindOf returns how a value of a field becomes one of the result.
func kindOf(f *wire.Field) rowset.Kind {
	if f.Mode == repeated {
		return rowset.String
	}
	switch f.Type {
	case "INTEGER", "INT64":
		return rowset.Integer
	case "FLOAT", "FLOAT64":
		return rowset.Float
	case "BOOLEAN", "BOOL":
		return rowset.Bool
	case typeBytes:
		return rowset.Bytes
	default:
		return rowset.String
	}
}

// timestamp writes microseconds since 1970 as CAST(x AS STRING) does in UTC: with no, three
// or six digits behind the second. Every other text stays as it is. Reference: Conversion
// functions, CAST AS STRING.
func timestamp(text []byte) []byte {
	micros, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return text
	}
	form := "2006-01-02 15:04:05+00"
	switch {
	case micros%1_000_000 == 0:
	case micros%1000 == 0:
		form = "2006-01-02 15:04:05.000+00"
	default:
		form = "2006-01-02 15:04:05.000000+00"
	}
	return []byte(time.UnixMicro(micros).UTC().Format(form))
}

// decoded returns the bytes of a text in base64.
func decoded(text []byte) ([]byte, error) {
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(out, text)
	return out[:n], err
}
