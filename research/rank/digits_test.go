package rank_test

import (
	"testing"
	"unicode"

	"github.com/ktxhq/ktx/research/rank"
)

// TestFoldWritings: what is only another way to write a character is equal.
func TestFoldWritings(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"٣٤٥", "345"},
		{"۰۱۲", "012"},
		{"१२/३", "12/3"},
		{"カタカナ", "かたかな"},
		{"ガス", "がす"},
		{"ﾃﾞｰﾀ", "でーた"},
		{"یک", "يك"},
		{"محـــمد", "محمد"},
	} {
		if got, want := rank.Fold(c[0]), rank.Fold(c[1]); got != want {
			t.Errorf("%s is %q, %s is %q", c[0], got, c[1], want)
		}
	}
}

// TestFoldDigits: every decimal digit is that of ASCII, in the order of its script.
func TestFoldDigits(t *testing.T) {
	t.Parallel()
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.IsDigit(r) {
			continue
		}
		if got, want := rank.Fold(string(r)), string(rune('0'+n%10)); got != want {
			t.Errorf("%U is %q, want %q", r, got, want)
		}
		n++
	}
	if n < 600 {
		t.Errorf("only %d digits", n)
	}
}
