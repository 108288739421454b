package duckdbdb

import (
	"regexp"
	"strings"

	"github.com/ktxhq/ktx/execution/internal/rowset"
)

// syntax says how to read a part of a column.
var syntax = rowset.Syntax{
	Plain: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`),
	Quote: func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` },
	Part:  "substr(%s, 1, %d)",
}

// kindOf returns the kind of a column's values. DECIMAL is text, because a float would
// lose digits.
func kindOf(name string) rowset.Kind {
	switch name {
	case "BOOLEAN":
		return rowset.Bool
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT", "BIGNUM":
		return rowset.Integer
	case "FLOAT", "DOUBLE":
		return rowset.Float
	case "BLOB":
		return rowset.Bytes
	default:
		return rowset.String
	}
}
