package rank_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/rank"
)

func TestFuse(t *testing.T) {
	item := func(id string, mass float64) rank.Item { return rank.Item{Kind: "table", ID: id, Mass: mass} }
	raw := []rank.Item{item("a", 4), item("b", 2), item("neighbour", 0)}
	for _, test := range []struct {
		name  string
		lanes [][]rank.Item
		want  []string
	}{
		{"one lane keeps its items and their order", [][]rank.Item{raw}, []string{"a 1", "b 0.983871", "neighbour 0.968254"}},
		{"empty lanes do not count", [][]rank.Item{nil, raw, {}}, []string{"a 1", "b 0.983871", "neighbour 0.968254"}},
		{"weak items come last", [][]rank.Item{raw, {item("weak", 0.9)}}, []string{"a 1", "b 0.983871", "weak 0.983871", "neighbour 0.968254"}},
		{"two lanes take turns, equal scores by name", [][]rank.Item{{item("d", 4)}, {item("c", 4)}}, []string{"c 1", "d 1"}},
		{"an item of two lanes is first", [][]rank.Item{{item("a", 4), item("b", 4)}, {item("c", 4), item("b", 4)}}, []string{"b 1", "a 0.508197", "c 0.508197"}},
		{"nothing", nil, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := []string{}
			for _, f := range rank.Fuse(test.lanes...) {
				got = append(got, fmt.Sprint(f.ID, " ", f.Score))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
