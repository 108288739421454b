package dictionary_test

import (
	"fmt"
	"testing"

	"github.com/ktxhq/ktx/research/dictionary/dictionarytest"
)

// TestQuality asks for values in the ways in which people write them. The bars are
// those of all habits together, of those that settings were chosen on and of those
// that were held out.
func TestQuality(t *testing.T) {
	t.Parallel()
	root, _ := open(t)
	for _, seed := range []uint64{1, 2} {
		world := dictionarytest.New(seed, 60)
		id := fmt.Sprintf("c%d", seed)
		tables, err := world.Write(root, id, "1")
		if err != nil {
			t.Fatal(err)
		}
		set := setOf(t, root, &snapshot{id: id, sync: "1", tables: tables})
		type sum struct{ asked, found, first int }
		var sums [2]sum
		for _, f := range dictionarytest.Measure(world, 40, set) {
			t.Logf("seed %d held %-5v %-26s %3d asked, found %.3f, first %.3f", seed, f.Held, f.Habit, f.Asked, share(f.Found, f.Asked), share(f.First, f.Asked))
			for _, q := range f.Missed {
				t.Logf("    missed %q of %s.%s", q.Value, q.Column.Table.Name, q.Column.Name)
			}
			for _, q := range f.NotFirst {
				t.Logf("    not first %q of %s.%s: %v", q.Value, q.Column.Table.Name, q.Column.Name, found(q.Value, set)[:1])
			}
			held := 0
			if f.Held {
				held = 1
			}
			sums[held] = sum{sums[held].asked + f.Asked, sums[held].found + f.Found, sums[held].first + f.First}
			if f.Asked < 20 {
				t.Errorf("%s: only %d questions", f.Habit, f.Asked)
			}
		}
		for held, s := range sums {
			t.Logf("seed %d, held %d: %d asked, found %.4f, first %.4f", seed, held, s.asked, share(s.found, s.asked), share(s.first, s.asked))
			if share(s.found, s.asked) < 0.95 || share(s.first, s.asked) < 0.93 {
				t.Errorf("seed %d, held %d: found %.3f, want 0.95; first %.3f, want 0.93", seed, held, share(s.found, s.asked), share(s.first, s.asked))
			}
		}
	}
}

func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }
