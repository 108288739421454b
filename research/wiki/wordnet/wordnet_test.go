package wordnet_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/wiki/wordnet"
)

// TestRelated: two words are related to each other to the same degree, and a word not
// to itself.
func TestRelated(t *testing.T) {
	t.Parallel()
	association := func(a, b string) float64 {
		for _, r := range wordnet.Related(a) {
			if r.Word == b {
				return r.Association
			}
		}
		return 0
	}
	for _, pair := range [][2]string{{"salary", "wage"}, {"refund", "repay"}, {"absent", "absence"}} {
		a, b := association(pair[0], pair[1]), association(pair[1], pair[0])
		if a != b || a < 0.1 || a > 1 {
			t.Errorf("%s and %s: %v and %v", pair[0], pair[1], a, b)
		}
	}
	if a := association("salary", "weather"); a != 0 {
		t.Errorf("salary and weather: %v", a)
	}
	if a := association("salary", "salary"); a != 0 {
		t.Errorf("salary and itself: %v", a)
	}
	if wordnet.Known("xyzzy") || len(wordnet.Related("xyzzy")) > 0 {
		t.Error("xyzzy is no word")
	}
}

// TestRarity: a word of many explanations tells less than one of few.
func TestRarity(t *testing.T) {
	t.Parallel()
	common, less, rare := wordnet.Rarity("person"), wordnet.Rarity("money"), wordnet.Rarity("refund")
	if common >= less || less >= rare || rare != 1 || wordnet.Rarity("xyzzy") != 1 {
		t.Errorf("person %v, money %v, refund %v", common, less, rare)
	}
}

// TestLicence: each copy of the table has the licence of WordNet, and LICENSE is the
// same text.
func TestLicence(t *testing.T) {
	t.Parallel()
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	var head strings.Builder
	for line := range strings.Lines(string(wordnet.Table())) {
		text, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		head.WriteString(strings.TrimPrefix(text, " "))
	}
	if !strings.HasSuffix(head.String(), string(licence)) || !strings.Contains(string(licence), "Copyright 2006 by Princeton University") {
		t.Error("the table does not begin with the licence")
	}
}
