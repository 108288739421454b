package report_test

import (
	"testing"

	"github.com/ktxhq/ktx/sqlcheck/report"
)

func TestWidth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "日本": 4, "ｱ": 1, "Ａ": 2, "한": 2, "😀": 2, "⌚": 2, "—": 1, "𠀀": 2, "a\u200db": 2, "Ω": 1, "　": 2,
	} {
		if got := report.Width(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}
