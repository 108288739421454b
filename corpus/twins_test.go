package corpus_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/corpus"
)

// The least part of their tokens that a case and its benign twin share, and that
// half of all twins share with their cases.
const (
	leastShared  = 0.2
	medianShared = 0.45
)

// apart are the cases to which no query is near, each with the reason.
var apart = map[string]string{
	"KTX-PG-RAW-0001":   "the text is empty",
	"KTX-PG-RAW-0002":   "the text is white space",
	"KTX-MY-RAW-0001":   "the text is empty",
	"KTX-MY-RAW-0002":   "the text is white space",
	"KTX-MS-RAW-0001":   "the text is empty",
	"KTX-LITE-RAW-0001": "the text is empty",
	"KTX-CH-RAW-0001":   "the text is empty",
	"KTX-DUCK-RAW-0001": "the text is empty",
}

// TestTwinsAreNear checks that a benign twin is a small change of its case. A guard
// that tells two distant texts apart has shown little.
func TestTwinsAreNear(t *testing.T) {
	t.Parallel()
	byID := map[string]corpus.Case{}
	for _, c := range embedded(t) {
		byID[c.ID] = c
	}
	var all []float64
	for id, c := range byID {
		if c.BenignTwin == "" {
			continue
		}
		got := shared(c.SQL, byID[c.BenignTwin].SQL)
		all = append(all, got)
		if reason := apart[id]; (got < leastShared) != (reason != "") {
			t.Errorf("%s: its twin shares %.2f of the tokens, at least %.2f must be; reason for less: %q\n%s\n%s",
				id, got, leastShared, reason, c.SQL, byID[c.BenignTwin].SQL)
		}
	}
	slices.Sort(all)
	if median := all[len(all)/2]; median < medianShared {
		t.Errorf("half of the twins share less than %.2f of the tokens with their cases; %.2f must be", median, medianShared)
	}
}

var token = regexp.MustCompile(`[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]`)

// shared returns which part of the different tokens of two texts is in both. A token
// is a word in any letter case, or a sign.
func shared(a, b string) float64 {
	in := map[string]int{}
	for side, text := range []string{a, b} {
		for _, word := range token.FindAllString(strings.ToLower(text), -1) {
			in[word] |= 1 << side
		}
	}
	both := 0
	for _, sides := range in {
		if sides == 3 {
			both++
		}
	}
	if len(in) == 0 {
		return 0
	}
	return float64(both) / float64(len(in))
}
