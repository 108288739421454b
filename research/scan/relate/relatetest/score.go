package relatetest

import (
	"hash/fnv"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// Key returns a string for the ends of a relationship. Relationships with the same
// pairs of columns in another order have equal keys.
func Key(from, to catalog.EndPoint) string {
	pairs := make([]string, len(from.Columns))
	for i := range from.Columns {
		pairs[i] = from.Columns[i] + "=" + to.Columns[i]
	}
	slices.Sort(pairs)
	end := func(r catalog.Ref) string { return r.Catalog + "\x00" + r.DB + "\x00" + r.Name }
	return strings.ToLower(end(from.Table) + "\x00" + end(to.Table) + "\x00" + strings.Join(pairs, "\x00"))
}

// Score counts how a result compares with the truth.
type Score struct {
	Truth         int // relationships that there are
	Accepted      int // accepted ones, declared keys left out
	AcceptedRight int
	Review        int
	ReviewRight   int
}

// Add adds the counts of another score.
func (s *Score) Add(o Score) {
	s.Truth += o.Truth
	s.Accepted += o.Accepted
	s.AcceptedRight += o.AcceptedRight
	s.Review += o.Review
	s.ReviewRight += o.ReviewRight
}

// Precision is the share of the accepted that is right.
func (s Score) Precision() float64 { return share(s.AcceptedRight, s.Accepted) }

// Recall is the share of the truth that is accepted.
func (s Score) Recall() float64 { return share(s.AcceptedRight, s.Truth) }

// PrecisionWithReview is the share of the accepted and reviewed that is right.
func (s Score) PrecisionWithReview() float64 {
	return share(s.AcceptedRight+s.ReviewRight, s.Accepted+s.Review)
}

// RecallWithReview is the share of the truth that is accepted or reviewed.
func (s Score) RecallWithReview() float64 { return share(s.AcceptedRight+s.ReviewRight, s.Truth) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// Compare scores a result. Wrong are the keys of accepted and reviewed relationships
// that are not in the truth, missed those of the truth that are in neither list.
func Compare(truth []catalog.Relationship, got catalog.Relationships) (s Score, wrong, missed []catalog.Relationship) {
	right := map[string]bool{}
	for _, r := range truth {
		right[Key(r.From, r.To)] = true
	}
	s.Truth = len(right)
	seen := map[string]bool{}
	count := func(list []catalog.Relationship, all, hits *int) {
		for _, r := range list {
			if r.Source == "formal" {
				continue
			}
			*all++
			key := Key(r.From, r.To)
			if right[key] && !seen[key] {
				*hits++
				seen[key] = true
			} else {
				wrong = append(wrong, r)
			}
		}
	}
	count(got.Accepted, &s.Accepted, &s.AcceptedRight)
	count(got.Review, &s.Review, &s.ReviewRight)
	for _, r := range truth {
		if key := Key(r.From, r.To); !seen[key] {
			missed = append(missed, r)
			seen[key] = true
		}
	}
	return s, wrong, missed
}

// Held reports whether a database of others belongs to the half on which no constant of
// the finder was chosen. Its name decides.
func Held(name string) bool {
	h := fnv.New32a()
	h.Write([]byte("relations/" + name))
	return h.Sum32()>>7&1 == 1
}
