package clickhousedb

import (
	"regexp"
	"strings"

	"github.com/ktxhq/ktx/execution/clickhousedb/typename"
	"github.com/ktxhq/ktx/execution/internal/rowset"
)

// syntax says how to read a part of a column.
var syntax = rowset.Backquotes("substring(%s, 1, %d)")

// kindOf returns how a value of a type becomes one of the result.
func kindOf(name string) rowset.Kind {
	name, _ = typename.Unwrap(name)
	switch {
	case name == "Bool":
		return rowset.Bool
	case name == "Float32", name == "Float64", name == "BFloat16":
		return rowset.Float
	case integers.MatchString(name):
		return rowset.Integer
	case strings.HasPrefix(name, "AggregateFunction("):
		return rowset.Bytes
	default:
		return rowset.String
	}
}

var integers = regexp.MustCompile(`^(U?Int(8|16|32|64|128|256)|Interval[A-Z][a-z]+)$`)
