package report_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/sqlcheck/report"
)

// The indenter writes what that of encoding/json writes.
func TestIndent(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", `"`, `\\`, `\\"`, "{", "}", "[]", ",", ":", "\n", "\u2028", "<a>", "\xff"}))
	rapid.Check(t, func(t *rapid.T) {
		var value func(depth int) any
		value = func(depth int) any {
			switch rapid.IntRange(0, 5+min(2, 2*depth)).Draw(t, "kind") {
			case 0:
				return nil
			case 1:
				return rapid.Bool().Draw(t, "bool")
			case 2:
				return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
			case 6:
				return rapid.SliceOfN(rapid.Custom(func(*rapid.T) any { return value(depth - 1) }), 0, 3).Draw(t, "list")
			case 7:
				return rapid.MapOfN(text, rapid.Custom(func(*rapid.T) any { return value(depth - 1) }), 0, 3).Draw(t, "object")
			default:
				return text.Draw(t, "text")
			}
		}
		v := value(4)
		got, err := report.Indented(v, "    ")
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		e.SetIndent("    ", "  ")
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		if string(got)+"\n" != want.String() {
			t.Fatalf("got\n%s\nwant\n%s", got, want.String())
		}
	})
}
