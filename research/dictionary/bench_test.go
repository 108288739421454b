package dictionary_test

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/research/dictionary/dictionarytest"
)

// million is the set that the benchmarks ask: 81 columns with 12,345 values each, which
// are a million.
var million = sync.OnceValues(func() (*dictionary.Set, error) {
	dir, err := os.MkdirTemp("", "ktx-values")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	tables, err := dictionarytest.New(7, 12345).Write(root, "c", "1")
	if err != nil {
		return nil, err
	}
	return dictionary.NewStore(root).Set(&snapshot{id: "c", sync: "1", tables: tables}, rules(false))
})

// BenchmarkSearch looks values up in a million, as people write them. It reports the
// time of the median and of the slowest twentieth, and the memory of the values.
func BenchmarkSearch(b *testing.B) {
	set, err := million()
	if err != nil {
		b.Fatal(err)
	}
	world := dictionarytest.New(7, 12345)
	for _, name := range []string{"exact", "typo"} {
		var questions []string
		for _, h := range dictionarytest.Habits() {
			if name == "exact" && h.Name == "as it is" || name == "typo" && (h.Name == "letter missing" || h.Name == "word left out" || h.Name == "words exchanged") {
				for _, q := range world.Questions(h, 60) {
					questions = append(questions, q.Value)
				}
			}
		}
		if name == "exact" {
			questions = append(questions, "a", "an", "ka", "нов", "京")
		}
		b.Run(name, func(b *testing.B) {
			var times []time.Duration
			n := 0
			for b.Loop() {
				start := time.Now()
				dictionary.Search(questions[n%len(questions):n%len(questions)+1], set)
				times = append(times, time.Since(start))
				n++
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
			b.ReportMetric(float64(set.Size())/(1<<20), "MB")
			b.ReportMetric(float64(set.Len()), "values")
		})
	}
}

// BenchmarkLoad reads a million values from their file.
func BenchmarkLoad(b *testing.B) {
	root, _ := open(b)
	tables, err := dictionarytest.New(7, 12345).Write(root, "c", "1")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		set, err := dictionary.NewStore(root).Set(&snapshot{id: "c", sync: "1", tables: tables}, rules(false))
		if err != nil {
			b.Fatal(err)
		}
		if set.Len() < 900_000 {
			b.Fatal(fmt.Sprint(set.Len(), " values"))
		}
	}
}
