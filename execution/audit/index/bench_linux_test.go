package index_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/execution/audit/index"
)

// BenchmarkIndex builds the index of a log of 1,000,000 statements and asks it questions,
// each twenty times. KTX_BENCH_STATEMENTS sets another number of statements, and
// KTX_BENCH_DIR a folder that keeps the log for the next run. The figures of pages, counts
// and texts are those of the filter that takes longest. The processor time is that of the
// whole process for one question.
func BenchmarkIndex(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("KTX_BENCH_STATEMENTS"))
	if err != nil || n < 1 {
		n = 1_000_000
	}
	root := os.Getenv("KTX_BENCH_DIR")
	if root == "" {
		root = b.TempDir()
	}
	dir, path := filepath.Join(root, "audit"), filepath.Join(root, "index.db")
	if _, err := os.Stat(dir); err != nil {
		audittest.LargeLog(b, dir, n)
	}
	x, err := index.Open(b.Context(), dir, path)
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close() //nolint:errcheck // a temporary file
	before := processor(b)
	for b.Loop() {
		if err := x.Rebuild(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	work := processor(b) - before
	s, err := x.State(b.Context())
	if err != nil || !s.Report.OK {
		b.Fatal(s.Report.Problems, err)
	}
	b.ReportMetric(float64(s.Events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(s.Events)*float64(b.N)/work.Seconds(), "cpu-events/s")
	size := int64(0)
	for _, name := range []string{path, path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		}
	}
	b.ReportMetric(float64(size)/float64(index.Size(dir)), "of-the-log")

	middle := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 1250 * time.Millisecond)
	texts := []audit.Filter{{Text: "customer_id >= ? and b.sku"}, {Text: "as n1777 from"}, {Text: "select"}, {Text: "nothing has this"}}
	filters := append([]audit.Filter{
		{},
		{Principal: "analyst-3"},
		{Code: "table_denied"},
		{Table: "t007"},
		{Session: "s-000000000011"},
		{Address: "10.0.0.7"},
		{Status: audit.StatusOK},
		{Client: "cursor"},
		{Since: middle, Until: middle.Add(time.Minute)},
		{Since: middle, Until: middle.Add(7 * 24 * time.Hour)},
		{MinExecMS: 999.9},
		{Connection: "warehouse-1", Status: audit.StatusOK, MinRows: 100000},
		{QueryID: "q-none"},
	}, texts...)
	page := func(f audit.Filter) error {
		_, err := x.Statements(b.Context(), f, index.Page{Limit: 50})
		return err
	}
	count := func(f audit.Filter) error {
		_, err := x.Count(b.Context(), f)
		return err
	}
	for _, ask := range []struct {
		name    string
		do      func(audit.Filter) error
		filters []audit.Filter
		p50     bool
	}{{"page", page, filters, true}, {"counts", count, filters, false}, {"text", page, texts, false}} {
		var p50, p95, most float64
		for _, f := range ask.filters {
			var took, worked []float64
			for range 20 {
				begun, before := time.Now(), processor(b)
				if err := ask.do(f); err != nil {
					b.Fatal(err)
				}
				took = append(took, float64(time.Since(begun).Microseconds())/1000)
				worked = append(worked, float64((processor(b)-before).Microseconds())/1000)
			}
			slices.Sort(took)
			slices.Sort(worked)
			b.Logf("%s %+v: p50 %.1f ms, p95 %.1f ms, processor time p95 %.1f ms", ask.name, f, took[9], took[18], worked[18])
			p50, p95, most = max(p50, took[9]), max(p95, took[18]), max(most, worked[18])
		}
		if ask.p50 {
			b.ReportMetric(p50, ask.name+"-p50-ms")
		}
		b.ReportMetric(p95, ask.name+"-p95-ms")
		b.ReportMetric(most, ask.name+"-cpu-ms")
	}
	b.ReportMetric(0, "ns/op")
}
