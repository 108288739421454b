package typename_test

import (
	"testing"

	"github.com/ktxhq/ktx/execution/clickhousedb/typename"
)

func TestUnwrap(t *testing.T) {
	for _, c := range []struct {
		native, inner string
		nullable      bool
	}{
		{"String", "String", false},
		{"Nullable(Decimal(10, 2))", "Decimal(10, 2)", true},
		{"LowCardinality(Nullable(String))", "String", true},
		{"SimpleAggregateFunction(sum, Nullable(UInt64))", "UInt64", true},
		{"LowCardinality(FixedString(2))", "FixedString(2)", false},
		{"Array(Nullable(String))", "Array(Nullable(String))", false},
		{"AggregateFunction(uniq, Nullable(String))", "AggregateFunction(uniq, Nullable(String))", false},
		{"SimpleAggregateFunction(any)", "SimpleAggregateFunction(any)", false},
		{"nullable", "nullable", false},
		{"", "", false},
	} {
		if inner, nullable := typename.Unwrap(c.native); inner != c.inner || nullable != c.nullable {
			t.Errorf("%s: %s, %t; want %s, %t", c.native, inner, nullable, c.inner, c.nullable)
		}
	}
}
