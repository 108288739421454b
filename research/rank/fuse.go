package rank

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

const (
	// reciprocal is k of reciprocal rank fusion.
	reciprocal = 60
	// gate is the share of the greatest mass of other lanes that an item must have.
	gate = 0.25
)

// An Item is an object that a lane found.
type Item struct {
	Kind       string // such as table
	Connection string // "" for an object of no connection
	ID         string
	Mass       float64 // of the question that it covers, comparable between lanes; see [Query.Within]
	Ref        int     // the caller's own
}

// key orders items of equal scores.
func (i *Item) key() string { return i.Kind + ":" + i.Connection + ":" + i.ID }

// A Fused is an item of the merged list.
type Fused struct {
	Item
	Lane  int     // the lane that ranked it best
	Score float64 // 0 to 1 with six decimals, 1 for the first item
}

// Fuse merges ranked lists, whose items are best first, by reciprocal rank with equal
// weights. Items that cover less than a quarter of what the best item of another lane
// covers come after all others, so that a weak lane does not come before a strong one.
// Items with equal scores are in the order of the bytes of kind:connection:id.
func Fuse(lanes ...[]Item) []Fused {
	most := make([]float64, len(lanes)) // the greatest mass of other lanes
	for n, lane := range lanes {
		for i := range lane {
			for other := range lanes {
				if other != n {
					most[other] = max(most[other], lane[i].Mass)
				}
			}
		}
	}
	strong, weak := make([][]Item, len(lanes)), make([][]Item, len(lanes))
	taken := map[string]bool{}
	for n, lane := range lanes {
		for _, item := range lane {
			if item.Mass >= gate*most[n] {
				strong[n] = append(strong[n], item)
				taken[item.key()] = true
			}
		}
	}
	for n, lane := range lanes {
		for _, item := range lane {
			if item.Mass < gate*most[n] && !taken[item.key()] {
				weak[n] = append(weak[n], item)
			}
		}
	}
	out := byRank(strong, nil)
	behind := make([]int, len(lanes))
	for n := range strong {
		behind[n] = len(strong[n])
	}
	out = append(out, byRank(weak, behind)...)
	if len(out) == 0 {
		return nil
	}
	best, last := out[0].Score, math.Inf(1)
	for i := range out {
		last = min(last, out[i].Score) // a weak item never has more than a strong one
		out[i].Score = math.Round(last/best*1e6) / 1e6
	}
	return out
}

// byRank merges lists by reciprocal rank. Behind is how many items of each lane come
// before those of the list; nil is none.
func byRank(lanes [][]Item, behind []int) []Fused {
	at := map[string]int{}
	var out []Fused
	var ranks []int
	for n, lane := range lanes {
		rank := 0
		if behind != nil {
			rank = behind[n]
		}
		seen := map[string]bool{}
		for _, item := range lane {
			key := item.key()
			if seen[key] {
				continue
			}
			seen[key] = true
			rank++
			share := 1 / float64(reciprocal+rank)
			i, ok := at[key]
			if !ok {
				at[key] = len(out)
				out = append(out, Fused{Item: item, Lane: n, Score: share})
				ranks = append(ranks, rank)
				continue
			}
			out[i].Score += share
			if rank < ranks[i] {
				out[i].Item, out[i].Lane, ranks[i] = item, n, rank
			}
		}
	}
	slices.SortFunc(out, func(a, b Fused) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.key(), b.key()))
	})
	return out
}
