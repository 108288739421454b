package relate_test

import (
	"testing"

	"github.com/ktxhq/ktx/research/scan/relate"
	"github.com/ktxhq/ktx/research/scan/relate/relatetest"
)

// TestQuality holds the finder to its bars, on databases with undeclared keys. The
// habits that are held out were not looked at while its constants were chosen.
func TestQuality(t *testing.T) {
	scores := map[bool]*relatetest.Score{false: {}, true: {}}
	for _, h := range relatetest.Habits() {
		sample := relatetest.Generate(h, 99)
		got := find(t, relate.Input{Tables: sample.Tables, Profile: sample.Profile()}, &relatetest.Memory{Sample: sample})
		score, _, missed := relatetest.Compare(sample.Truth, got)
		scores[h.Held].Add(score)
		if score.RecallWithReview() < 0.5 {
			t.Errorf("%s: of %d relationships %d are missed: %q", h.Name, score.Truth, len(missed), arrows(missed))
		}
	}
	for held, s := range scores {
		if s.Precision() < 0.97 || s.Recall() < 0.85 || s.PrecisionWithReview() < 0.80 || s.RecallWithReview() < 0.95 {
			t.Errorf("held out %t: precision %.3f, recall %.3f; with review %.3f, %.3f", held, s.Precision(), s.Recall(), s.PrecisionWithReview(), s.RecallWithReview())
		}
	}
}

// TestProbesAreFew holds the finder to about one probe for each relationship.
func TestProbesAreFew(t *testing.T) {
	sample := relatetest.Generate(relatetest.Habits()[0], 1)
	p := &relatetest.Memory{Sample: sample}
	find(t, relate.Input{Tables: sample.Tables, Profile: sample.Profile()}, p)
	if p.Probes > 2*len(sample.Truth) {
		t.Errorf("%d probes for %d relationships", p.Probes, len(sample.Truth))
	}
}
