// Package typename reads the names of ClickHouse's types.
package typename

import "strings"

// Unwrap returns a type without what ClickHouse writes around types whose values are the
// same, and whether its values can be null. Other types are returned as they are.
func Unwrap(native string) (inner string, nullable bool) {
	for {
		var found bool
		if inner, found = strings.CutPrefix(native, "Nullable("); found {
			nullable = true
		} else if inner, found = strings.CutPrefix(native, "SimpleAggregateFunction("); found {
			if _, inner, found = strings.Cut(inner, ", "); !found {
				return native, nullable
			}
		} else if inner, found = strings.CutPrefix(native, "LowCardinality("); !found {
			return native, nullable
		}
		native = strings.TrimSuffix(inner, ")")
	}
}
