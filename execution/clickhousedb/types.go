package clickhousedb

import (
	"regexp"
	"strings"

	"github.com/ktxhq/ktx/execution/internal/rowset"
)

// syntax says how to read a part of a column.
var syntax = rowset.Syntax{
	Plain: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`),
	Quote: quoteName,
	Part:  "substring(%s, 1, %d)",
}

// quoteName returns name as a quoted identifier.
func quoteName(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}

// wrappers are types whose values are written as those of the type that they contain.
var wrappers = []string{"Nullable(", "LowCardinality("}

// kindOf returns how a value of a type becomes one of the result.
func kindOf(name string) rowset.Kind {
	for again := true; again; {
		again = false
		for _, w := range wrappers {
			if inner, found := strings.CutPrefix(name, w); found {
				name, again = strings.TrimSuffix(inner, ")"), true
			}
		}
		if inner, found := strings.CutPrefix(name, "SimpleAggregateFunction("); found {
			if _, inner, found = strings.Cut(inner, ", "); found {
				name, again = strings.TrimSuffix(inner, ")"), true
			}
		}
	}
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
