package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/execution/executiontest/browser"
)

// pages starts a server over a log of n statements. It returns its address and the id of
// its process.
func pages(b *testing.B, n int) (origin string, pid int) {
	b.Helper()
	dir := project(b)
	log := filepath.Join(dir, ".ktx", "audit")
	if err := os.RemoveAll(log); err != nil {
		b.Fatal(err)
	}
	audittest.LargeLog(b, log, n)
	ktx := func(args ...string) []byte {
		cmd := exec.Command(binary(b), append(args, "--project-dir", dir)...) //nolint:noctx // it also runs when the benchmark has ended
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("ktx %v: %v %s", args, err, out)
		}
		return out
	}
	ktx("audit", "index")
	var started struct {
		URL string
		PID int
	}
	b.Cleanup(func() { ktx("mcp", "stop") })
	if err := json.Unmarshal(ktx("mcp", "start", "--port", "0", "--json"), &started); err != nil {
		b.Fatal(err)
	}
	return strings.TrimSuffix(started.URL, "/mcp"), started.PID
}

// BenchmarkPages asks a server over a log of 1,000,000 statements for its pages, each
// twenty times. The time is from the request to the end of the answer; the processor time
// is that of the server for one request, the mean; the memory is the greatest resident size
// of the process, then and after sixteen readers at a time.
func BenchmarkPages(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("KTX_BENCH_STATEMENTS"))
	if err != nil || n < 1 {
		n = 1_000_000
	}
	origin, pid := pages(b, n)
	get := func(path string) (took, kb float64) {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, origin+path, nil)
		if err != nil {
			b.Error(err)
			return 0, 0
		}
		begun := time.Now()
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Error(err)
			return 0, 0
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK {
			b.Errorf("%s: %d %v %.300s", path, res.StatusCode, err, body)
		}
		return float64(time.Since(begun).Microseconds()) / 1000, float64(len(body)) / 1000
	}
	often := func(path string) (p50, p95, work float64) {
		var took []float64
		before := processorTime(b, pid)
		for range 20 {
			ms, _ := get(path)
			took = append(took, ms)
		}
		work = (processorTime(b, pid) - before) / 20
		slices.Sort(took)
		b.Logf("%s: p50 %.1f ms, p95 %.1f ms, processor time %.1f ms", path, took[9], took[18], work)
		return took[9], took[18], work
	}
	end := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 2500 * time.Millisecond) // about when the log ends
	for b.Loop() {
		_, overview, overviewWork := often("/?since=2026-01-01")
		first, _, firstWork := often("/?since=" + end.Add(-7*24*time.Hour).Format(time.RFC3339)) // as "/" of that day
		list, _, listWork := often("/audit?principal=analyst-3")
		b.ReportMetric(overview, "overview-p95-ms")
		b.ReportMetric(first, "first-p50-ms")
		b.ReportMetric(list, "list-p50-ms")
		b.ReportMetric(overviewWork, "overview-cpu-ms")
		b.ReportMetric(firstWork, "first-cpu-ms")
		b.ReportMetric(listWork, "list-cpu-ms")
		b.ReportMetric(memory(b, pid, "VmHWM"), "rss-MB")
		var readers sync.WaitGroup
		for range 16 {
			readers.Go(func() {
				for _, path := range []string{"/?since=2026-01-01", "/audit?text=select", "/audit?principal=analyst-3", "/corpus"} {
					get(path)
				}
			})
		}
		readers.Wait()
		b.ReportMetric(memory(b, pid, "VmHWM"), "crowd-MB")
		kb := 0.0
		for _, path := range []string{"/?since=2026-01-01", "/static/style.css", "/static/ktx.js"} {
			_, more := get(path)
			kb += more
		}
		b.ReportMetric(kb, "page-KB")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkLighthouse has Lighthouse rate the pages of a server. KTX_BENCH_LIGHTHOUSE names
// the folder in which npm has installed it.
func BenchmarkLighthouse(b *testing.B) {
	where := os.Getenv("KTX_BENCH_LIGHTHOUSE")
	if where == "" {
		b.Skip("KTX_BENCH_LIGHTHOUSE is not set")
	}
	chromium := browser.Program()
	if chromium == "" {
		b.Fatal("no Chromium: scripts/test-deps installs it")
	}
	origin, _ := pages(b, 2000)
	for b.Loop() {
		worst := map[string]float64{"performance": 100, "accessibility": 100}
		for _, path := range []string{"/?since=2026-01-01", "/audit", "/corpus", "/playground", "/explore?connection=demo", "/query"} {
			cmd := exec.CommandContext(b.Context(), filepath.Join(where, "node_modules", ".bin", "lighthouse"), origin+path,
				"--only-categories=performance,accessibility", "--output=json", "--quiet", "--chrome-flags=--headless=new --no-sandbox --disable-dev-shm-usage")
			cmd.Env = append(os.Environ(), "CHROME_PATH="+chromium, "HOME="+b.TempDir(), "CI=1")
			out, err := cmd.Output()
			if err != nil {
				b.Fatalf("%s: %v", path, err)
			}
			var report struct {
				Categories map[string]struct{ Score *float64 }
			}
			if err := json.Unmarshal(out, &report); err != nil {
				b.Fatal(err)
			}
			for name := range worst {
				score := report.Categories[name].Score
				if score == nil {
					b.Fatalf("%s: no %s", path, name)
				}
				b.Logf("%s: %s %.0f", path, name, 100**score)
				worst[name] = min(worst[name], 100**score)
			}
		}
		for name, score := range worst {
			b.ReportMetric(score, name)
		}
	}
	b.ReportMetric(0, "ns/op")
}
