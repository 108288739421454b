package index_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/execution/audit/index"
)

// BenchmarkChecksums builds the index of a log of 40,000 statements with checksums of its
// pages and without them, in turns, and asks both the same questions. Each figure is the
// processor time with checksums as a multiple of that without them, the median of the
// turns. KTX_BENCH_CHECKED sets another number of statements.
func BenchmarkChecksums(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("KTX_BENCH_CHECKED"))
	if err != nil || n < 1 {
		n = 40_000
	}
	root := b.TempDir()
	dir := filepath.Join(root, "audit")
	audittest.LargeLog(b, dir, n)
	questions := map[string]func(*index.Index) error{
		"page": func(x *index.Index) error {
			_, err := x.Statements(b.Context(), audit.Filter{Client: "cursor", MinExecMS: 900}, index.Page{Limit: 50})
			return err
		},
		"rare": func(x *index.Index) error {
			_, err := x.Statements(b.Context(), audit.Filter{Code: "table_denied"}, index.Page{Limit: 50})
			return err
		},
		"counts": func(x *index.Index) error {
			_, err := x.Count(b.Context(), audit.Filter{})
			return err
		},
		"text": func(x *index.Index) error {
			_, err := x.Statements(b.Context(), audit.Filter{Text: "customer_id >= ? and b.sku"}, index.Page{Limit: 50})
			return err
		},
	}
	for b.Loop() {
		ratios := map[string][]float64{}
		for turn := range 5 {
			took := map[string][2]time.Duration{}
			for i := range 2 {
				with := i ^ turn&1 // each is first in half of the turns
				back := index.SetChecking(with == 1)
				path := filepath.Join(root, "index-"+strconv.Itoa(turn*2+i)+".db")
				measure := func(name string, do func() error) {
					begun := processor(b)
					if err := do(); err != nil {
						b.Fatal(err)
					}
					t := took[name]
					t[with] += processor(b) - begun
					took[name] = t
				}
				x, err := index.Open(b.Context(), dir, path)
				if err != nil {
					b.Fatal(err)
				}
				measure("build", func() error { return x.Update(b.Context(), nil) })
				if err := x.Close(); err != nil {
					b.Fatal(err)
				}
				for range 10 { // with the caches of connections empty
					x, err := index.Open(b.Context(), dir, path)
					if err != nil {
						b.Fatal(err)
					}
					for name, ask := range questions {
						measure(name, func() error { return ask(x) })
					}
					if err := x.Close(); err != nil {
						b.Fatal(err)
					}
				}
				back()
				if err := os.Remove(path); err != nil {
					b.Fatal(err)
				}
			}
			for name, t := range took {
				ratios[name] = append(ratios[name], t[1].Seconds()/t[0].Seconds())
			}
		}
		for name, list := range ratios {
			slices.Sort(list)
			b.Logf("%s: %.2f – %.2f", name, list[0], list[len(list)-1])
			b.ReportMetric(list[len(list)/2], name+"/unchecked")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// processor is the processor time that this process has used.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
