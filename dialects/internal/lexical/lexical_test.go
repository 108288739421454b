package lexical_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
)

func TestLower(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "", "orders": "orders", "Orders": "orders", "aZ[@`{1": "az[@`{1", "ÄÖ": "ÄÖ", "Ä_X": "Ä_x", "\u212a": "\u212a", "\xffA": "\xffa",
	} {
		if got := lexical.Lower(name); got != want {
			t.Errorf("Lower(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(map[string]bool{"a": true, "b": true, "c": true}, lexical.Set(" a b\n\tc", "", "b")); diff != "" {
		t.Error(diff)
	}
}
