package expr_test

import (
	"testing"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// TestNamesRoundTrip: a name as it is written is read as the same name.
func TestNamesRoundTrip(t *testing.T) {
	t.Parallel()
	words := []string{
		"amount", "order", "group", "select", "from", "where", "and", "or", "not", "case", "when", "then", "else", "end", "is", "null", "true", "false", "in",
		"between", "like", "cast", "date", "timestamp", "interval", "filter", "distinct", "as", "extract", "over", "count", "sum", "current_date", "now", "with",
		"Größe", "a b", `a"b`, "a.b", "1st", "", "[x]", "`x`", "-", "数",
	}
	for _, leaf := range words {
		for _, n := range []expr.Name{{Leaf: leaf}, {Qualifier: leaf, Leaf: "x"}, {Qualifier: "x", Leaf: leaf}} {
			if leaf == "" {
				continue // no name is empty
			}
			text := "1 + " + n.String()
			e, err := expr.Parse(text)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			got := e.Args[1]
			if got.Op != expr.OpName || got.Name.Leaf != n.Leaf || got.Name.Qualifier != n.Qualifier {
				t.Errorf("%s is read as %+v", text, got)
			}
		}
	}
}
