package rank

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// reciprocal is k of reciprocal rank fusion.
const reciprocal = 60

// An Item is an object that a lane found.
type Item struct {
	Kind       string // such as table
	Connection string // "" for an object of no connection
	ID         string
	Mass       float64 // of the question that it covers, comparable between lanes; see [Query.Within]
	Exact      bool    // the question is its name
	Ref        int     // the caller's own
}

// key orders items of equal scores.
func (i *Item) key() string { return i.Kind + ":" + i.Connection + ":" + i.ID }

// A Fused is an item of the merged list.
type Fused struct {
	Item
	Lane  int     // the lane that ranked it best, or first
	Score float64 // 0 to 1 with six decimals, 1 for the first item
}

// Fuse merges ranked lists of the same objects, whose items are best first, by reciprocal
// rank with equal weights. Items with equal scores are in the order of the bytes of
// kind:connection:id.
func Fuse(lanes ...[]Item) []Fused {
	at := map[string]int{}
	var out []Fused
	var ranks []int
	for n, lane := range lanes {
		rank := 0
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
	if len(out) == 0 {
		return nil
	}
	best := out[0].Score
	for i := range out {
		out[i].Score = math.Round(out[i].Score/best*1e6) / 1e6
	}
	return out
}

// firstPlaces is how many places the quota of a lane is for.
const firstPlaces = 15

// A Lane is a list of objects that no other lane has.
type Lane struct {
	Items []Item // best first
	// Weight is what the masses of this lane count, compared to those of other lanes. A
	// lane whose texts are long covers more of any question.
	Weight float64
	// Least is what the first item covers at least, for lanes that belong together.
	Least float64
	// Quota is how many of the first 15 places the lane has at most, unless other lanes
	// leave some free. 0 is all of them.
	Quota int
}

// Merge merges lanes of different objects. The share that a lane has of the places is the
// square of how much of the question its first item covers, compared to the lane that
// covers most: the n-th item of a lane with half the mass stands about where the 4n-th of
// the other does. So a lane that fits badly takes few places, and none of the first when
// it covers a quarter. The order within a lane stays, and of equal ids the first one
// remains. An exact item that is the first of its lane stands before the others. Of equal
// items, the first by the bytes of kind:connection:id comes first. The scores are those of
// reciprocal rank fusion of one list.
func Merge(lanes ...Lane) []Fused {
	var exact []Fused
	queues := make([][]Item, len(lanes))
	shares := make([]float64, len(lanes))
	most := 0.0
	for n, lane := range lanes {
		if len(lane.Items) == 0 {
			continue
		}
		seen := map[string]bool{}
		queues[n] = slices.DeleteFunc(slices.Clone(lane.Items), func(i Item) bool {
			key := i.key()
			again := seen[key]
			seen[key] = true
			return again
		})
		if shares[n] = max(lane.Weight*lane.Items[0].Mass, lane.Least); lane.Items[0].Exact {
			exact = append(exact, Fused{Item: lane.Items[0], Lane: n})
			queues[n] = queues[n][1:]
		}
		most = max(most, shares[n])
	}
	for n, share := range shares {
		shares[n] = 1
		if most > 0 {
			shares[n] = (share / most) * (share / most)
		}
	}
	slices.SortStableFunc(exact, func(a, b Fused) int { return cmp.Compare(shares[b.Lane], shares[a.Lane]) })
	out := exact
	taken := make([]int, len(lanes))  // places by lane
	passed := make([]int, len(lanes)) // items of queues by lane
	for _, f := range exact {
		taken[f.Lane]++
	}
	// better reports whether the next item of one lane comes before that of another. A lane
	// that has its quota comes last.
	better := func(a, b int) bool {
		full := func(n int) bool {
			return lanes[n].Quota > 0 && taken[n] >= lanes[n].Quota && len(out) < firstPlaces
		}
		if x, y := full(a), full(b); x != y {
			return y
		}
		x, y := shares[a]/float64(passed[a]+1), shares[b]/float64(passed[b]+1)
		return x > y || x == y && queues[a][passed[a]].key() < queues[b][passed[b]].key()
	}
	for {
		next := -1
		for n := range queues {
			if passed[n] < len(queues[n]) && (next < 0 || better(n, next)) {
				next = n
			}
		}
		if next < 0 {
			break
		}
		out = append(out, Fused{Item: queues[next][passed[next]], Lane: next})
		passed[next]++
		taken[next]++
	}
	for i := range out {
		out[i].Score = math.Round(float64(reciprocal+1)/float64(reciprocal+1+i)*1e6) / 1e6
	}
	return out
}
