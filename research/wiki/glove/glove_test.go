package glove_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/wiki/glove"
)

// TestOf: words of one trade are nearer to each other than to those of another.
func TestOf(t *testing.T) {
	t.Parallel()
	near := func(a, b string) float64 {
		v, known := glove.Of(a)
		w, alsoKnown := glove.Of(b)
		if !known || !alsoKnown {
			t.Fatalf("%s or %s has no vector", a, b)
		}
		return v.Dot(w)
	}
	for _, words := range [][3]string{{"wage", "salari", "weather"}, {"refund", "reimburs", "hospit"}, {"ill", "diseas", "shop"}} {
		if same, other := near(words[0], words[1]), near(words[0], words[2]); same < other+0.3 {
			t.Errorf("%s: %s %.2f, %s %.2f", words[0], words[1], same, words[2], other)
		}
	}
	if self := near("wage", "wage"); self < 0.999 || self > 1.001 {
		t.Errorf("wage and itself: %v", self)
	}
	if _, known := glove.Of("xyzzy"); known {
		t.Error("xyzzy is no word")
	}
}

// TestLicence: each copy of the table has the licence, and LICENSE is the same text.
func TestLicence(t *testing.T) {
	t.Parallel()
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	var head strings.Builder
	for line := range strings.Lines(string(glove.Table())) {
		text, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		head.WriteString(strings.TrimPrefix(text, " "))
	}
	if !strings.HasSuffix(head.String(), string(licence)) || !strings.Contains(string(licence), "GRAYPE Systems") || !strings.Contains(string(licence), "Public Domain Dedication") {
		t.Error("the table does not begin with the licence")
	}
}
