package rank_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/rank"
)

func item(id string, mass float64) rank.Item { return rank.Item{Kind: "table", ID: id, Mass: mass} }

func TestFuse(t *testing.T) {
	raw := []rank.Item{item("a", 4), item("b", 2), item("neighbour", 0)}
	for _, test := range []struct {
		name  string
		lanes [][]rank.Item
		want  []string
	}{
		{"one list keeps its items and their order", [][]rank.Item{raw}, []string{"a 1", "b 0.983871", "neighbour 0.968254"}},
		{"empty lists do not count", [][]rank.Item{nil, raw, {}}, []string{"a 1", "b 0.983871", "neighbour 0.968254"}},
		{"two lists take turns, equal scores by name", [][]rank.Item{{item("d", 4)}, {item("c", 4)}}, []string{"c 1", "d 1"}},
		{"an item of two lists is first", [][]rank.Item{{item("a", 4), item("b", 4)}, {item("c", 4), item("b", 4)}}, []string{"b 1", "a 0.508197", "c 0.508197"}},
		{"nothing", nil, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, scored(rank.Fuse(test.lanes...))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func scored(list []rank.Fused) []string {
	got := []string{}
	for _, f := range list {
		got = append(got, fmt.Sprint(f.ID, " ", f.Score))
	}
	return got
}

func TestMerge(t *testing.T) {
	lane := func(weight float64, quota int, items ...rank.Item) rank.Lane {
		return rank.Lane{Items: items, Weight: weight, Quota: quota}
	}
	// many is a lane of n items, the first of which covers mass.
	many := func(prefix string, n int, mass, weight float64, quota int) rank.Lane {
		l := lane(weight, quota)
		for i := range n {
			l.Items = append(l.Items, item(fmt.Sprintf("%s%02d", prefix, i+1), mass))
		}
		return l
	}
	exact := item("exact", 1)
	exact.Exact = true
	also := exact
	also.ID = "also"
	for _, test := range []struct {
		name  string
		lanes []rank.Lane
		first int // of the items that are compared; 0 is all
		want  string
	}{
		{"one lane keeps its order", []rank.Lane{lane(1, 0, item("b", 4), item("a", 2), item("neighbour", 0))}, 0, "b a neighbour"},
		{"equal lanes take turns, by name", []rank.Lane{many("b", 3, 4, 1, 0), many("a", 2, 4, 1, 0)}, 0, "a01 b01 a02 b02 b03"},
		{"half the mass is every fourth place", []rank.Lane{many("a", 9, 4, 1, 0), many("p", 2, 2, 1, 0)}, 10, "a01 a02 a03 a04 p01 a05 a06 a07 a08 p02"},
		{"half the weight is too", []rank.Lane{many("a", 9, 4, 1, 0), many("p", 2, 4, 0.5, 0)}, 5, "a01 a02 a03 a04 p01"},
		{"a quarter of the mass is none of the first", []rank.Lane{many("a", 20, 4, 1, 0), many("p", 2, 1, 1, 0)}, 17, "a01 a02 a03 a04 a05 a06 a07 a08 a09 a10 a11 a12 a13 a14 a15 a16 p01"},
		{"a lane with its quota waits", []rank.Lane{many("a", 20, 1, 1, 0), many("p", 9, 4, 1, 2)}, 18, "p01 p02 a01 a02 a03 a04 a05 a06 a07 a08 a09 a10 a11 a12 a13 p03 p04 p05"},
		{"a lane with its quota has what is left", []rank.Lane{many("a", 2, 1, 1, 0), many("p", 5, 4, 1, 2)}, 0, "p01 p02 a01 a02 p03 p04 p05"},
		{"an exact item is first", []rank.Lane{many("a", 2, 4, 1, 0), lane(1, 0, exact, item("p", 1))}, 0, "exact a01 a02 p"},
		{"one exact item", []rank.Lane{many("a", 2, 4, 1, 0), lane(1, 0, exact, also)}, 0, "exact a01 a02 also"},
		{"an id twice", []rank.Lane{lane(1, 0, item("a", 4), item("b", 3), item("a", 2))}, 0, "a b"},
		{"lanes without mass come last", []rank.Lane{lane(1, 0, item("a", 0)), many("p", 2, 1, 1, 0)}, 0, "p01 p02 a"},
		{"lanes without mass alone", []rank.Lane{lane(1, 0, item("b", 0)), lane(1, 0, item("a", 0))}, 0, "a b"},
		{"nothing", []rank.Lane{{}, {}}, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			last := 1.0
			for i, f := range rank.Merge(test.lanes...) {
				got = append(got, f.ID)
				if i == 0 && f.Score != 1 || i > 0 && (f.Score >= last || f.Score <= 0) {
					t.Errorf("%s has the score %v after %v", f.ID, f.Score, last)
				}
				last = f.Score
				if source := test.lanes[f.Lane].Items; !slices.ContainsFunc(source, func(i rank.Item) bool { return i.ID == f.ID }) {
					t.Errorf("%s is not of lane %d", f.ID, f.Lane)
				}
			}
			if test.first > 0 {
				got = got[:test.first]
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
