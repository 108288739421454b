package semantic_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// tree writes n sources of twenty columns; every one joins the one with half its number.
func tree(b *testing.B, n int) *project {
	b.Helper()
	p := newProject(b)
	for i := range n {
		var text strings.Builder
		fmt.Fprintf(&text, "name: s%d\ntable: main.s%d\ndescriptions: {user: The table of number %d}\ngrain: [id]\ncolumns:\n  - {name: id, type: number}\n  - {name: parent, type: number}\n  - {name: day, type: time}\n", i, i, i)
		for c := range 15 {
			fmt.Fprintf(&text, "  - {name: c%d, type: %s, descriptions: {ai: Column %d}}\n", c, []string{"number", "string", "boolean"}[c%3], c)
		}
		text.WriteString("  - {name: net, type: number, expr: \"c0 * (1 - c3) - coalesce(c6, 0)\"}\n  - {name: label, type: string, expr: \"upper(c1) || '-' || lower(c4)\"}\n")
		if i > 0 {
			fmt.Fprintf(&text, "joins: [{to: s%d, on: s%d.parent = s%d.id, relationship: many_to_one}]\n", i/2, i, i/2)
		}
		text.WriteString("measures:\n  - {name: lines, expr: count(*)}\n  - {name: total, expr: sum(net), filter: c1 <> 'x'}\n  - {name: each, expr: total / lines}\nsegments: [{name: recent, expr: \"day >= '2024-01-01'\"}]\n")
		name := fmt.Sprintf("s%d.yaml", i)
		p.put(name, text.String())
		p.age(name)
	}
	return p
}

// texts returns the files that were written, by name.
func (p *project) texts() map[string][]byte {
	p.t.Helper()
	out := map[string][]byte{}
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range entries {
		if out[e.Name()], err = os.ReadFile(filepath.Join(p.dir, e.Name())); err != nil {
			p.t.Fatal(err)
		}
	}
	return out
}

// restart makes the store one that has read nothing.
func (p *project) restart() {
	p.t.Helper()
	root, err := os.OpenRoot(filepath.Dir(filepath.Dir(p.dir)))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = root.Close() })
	p.store = semantic.NewStore(root, time.Now)
}

// BenchmarkFresh is the check at each call that no file has changed.
func BenchmarkFresh(b *testing.B) {
	for _, n := range []int{16, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := tree(b, n)
			first := p.snapshot(allPermitted)
			for b.Loop() {
				if p.snapshot(allPermitted) != first {
					b.Fatal("the snapshot was built again")
				}
			}
		})
	}
}

// BenchmarkSnapshot reads and validates all files, as a process does once. The ratio
// divides its time by that of the YAML library alone for the same files, one by one.
func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{16, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := tree(b, n)
			texts := p.texts()
			var own, library []time.Duration
			for b.Loop() {
				p.restart()
				start := time.Now()
				m := p.snapshot(allPermitted).Model()
				own = append(own, time.Since(start))
				if len(m.Sources) != n || len(m.Problems) > 0 {
					b.Fatal(len(m.Sources), m.Problems)
				}
				start = time.Now()
				for _, text := range texts {
					var document yaml.Node
					if err := yaml.Unmarshal(text, &document); err != nil {
						b.Fatal(err)
					}
				}
				library = append(library, time.Since(start))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(median(own).Microseconds())/1000, "ms/median")
			b.ReportMetric(float64(median(own))/float64(median(library)), "ratio")
		})
	}
}

// BenchmarkChanged reads and validates the files after one of them changed.
func BenchmarkChanged(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := tree(b, n)
			p.snapshot(allPermitted)
			text := string(p.texts()["s1.yaml"])
			var times []time.Duration
			for i := 0; b.Loop(); i++ {
				p.put("s1.yaml", fmt.Sprintf("%s# %d\n", text, i))
				start := time.Now()
				if m := p.snapshot(allPermitted).Model(); len(m.Sources) != n || len(m.Problems) > 0 {
					b.Fatal(len(m.Sources), m.Problems)
				}
				times = append(times, time.Since(start))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(median(times).Microseconds())/1000, "ms/median")
		})
	}
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkCompile turns requests into SQL: one base, two bases, an expression with a
// segment, and a path through the whole model.
func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{16, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			found := tree(b, n).snapshot(allPermitted)
			last := fmt.Sprintf("s%d", n-1)
			requests := []plan.Request{
				{Measures: []plan.MeasureRequest{{Expr: "s3.total"}}, Dimensions: []plan.DimensionRequest{{Field: "s1.label"}}},
				{Measures: []plan.MeasureRequest{{Expr: "s4.total"}, {Expr: "s6.each"}}, Dimensions: []plan.DimensionRequest{{Field: "s1.c1"}, {Field: "s1.day", Granularity: "month"}}, Filters: []string{"s1.c0 > 5"}},
				{Measures: []plan.MeasureRequest{{Expr: "sum(s7.net) / count(s7.id)", Name: "mean"}, {Expr: "s7.total"}}, Dimensions: []plan.DimensionRequest{{Field: "s3.label"}}, Segments: []string{"s7.recent"}, OrderBy: []plan.OrderRequest{{Field: "mean", Desc: true}}},
				{Measures: []plan.MeasureRequest{{Expr: last + ".each"}}, Dimensions: []plan.DimensionRequest{{Field: "s0.label"}, {Field: last + ".day", Granularity: "week"}}, Filters: []string{last + ".total > 0"}},
			}
			var times []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				if _, refused := found.Compile(requests[i%len(requests)], emit.Postgres); refused != nil {
					b.Fatal(i%len(requests), refused)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(times[len(times)*95/100].Microseconds()), "p95-µs")
		})
	}
}
