package dictionary_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research/dictionary"
)

// slowDistance is the distance by its definition.
func slowDistance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = d[i-1][j-1] + 1
			}
			d[i][j] = min(d[i][j], d[i-1][j]+1, d[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

func TestDistance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.SampledFrom([]rune("abcé")), 0, 10, -1)
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		for most := range 4 {
			want := min(slowDistance([]rune(a), []rune(b)), most+1)
			if got := dictionary.Distance(a, b, most); got != want {
				t.Fatalf("%q and %q within %d: %d, want %d", a, b, most, got, want)
			}
		}
	})
}
