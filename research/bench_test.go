package research_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/sqlguard"
)

// scaleResult is what a process reports that BenchmarkScale started.
type scaleResult struct {
	First     float64   // seconds from the making of the stores to the first answer
	Questions []float64 // seconds of each further answer
	Files     []float64 // seconds of each look at all files
	Peak      float64   // MB, the greatest resident size
	Heap      float64   // MB that are in use after a collection
}

// The variables by which BenchmarkScale tells a process what to do.
const (
	scaleProject = "KTX_TEST_SCALE_PROJECT" // the folder
	scaleResults = "KTX_TEST_SCALE_RESULTS" // the file for the scaleResult
)

// BenchmarkScale asks projects of 100,000 and 500,000 columns, over all that a call of
// discover_data does: comparing the files, ranking, and rendering. Each start is that of
// a process of its own: cold without caches below .ktx/, warm with those of the process
// before. The files are in the page cache.
func BenchmarkScale(b *testing.B) {
	if dir := os.Getenv(scaleProject); dir != "" {
		scaleProcess(b, dir, os.Getenv(scaleResults))
		return
	}
	for _, columns := range []int{100_000, 500_000} {
		b.Run(fmt.Sprintf("%dk", columns/1000), func(b *testing.B) {
			dir := b.TempDir()
			writeScale(b, dir, columns)
			var cold, warm scaleResult
			var colds, warms []float64
			for b.Loop() {
				for _, cache := range []string{"catalog", "search"} {
					if err := os.RemoveAll(filepath.Join(dir, ".ktx", cache)); err != nil {
						b.Fatal(err)
					}
				}
				cold, warm = startScale(b, dir), startScale(b, dir)
				colds, warms = append(colds, cold.First), append(warms, warm.First)
			}
			at := func(values []float64, share float64) float64 {
				slices.Sort(values)
				return values[int(share*float64(len(values)-1))]
			}
			b.ReportMetric(at(colds, 0.5), "cold-s")
			b.ReportMetric(at(warms, 0.5), "warm-s")
			b.ReportMetric(at(warms, 0.5)/at(colds, 0.5), "warm/cold")
			b.ReportMetric(at(warm.Questions, 0.5)*1000, "p50-ms")
			b.ReportMetric(at(warm.Questions, 0.95)*1000, "p95-ms")
			b.ReportMetric(at(warm.Files, 0.5)*1000, "files-ms")
			b.ReportMetric(max(cold.Peak, warm.Peak), "MB-peak")
			b.ReportMetric(warm.Peak, "MB-peak-warm")
			b.ReportMetric(warm.Heap, "MB-heap")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// startScale runs scaleProcess in a process of its own.
func startScale(b *testing.B, dir string) scaleResult {
	b.Helper()
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	results := filepath.Join(b.TempDir(), "results")
	arguments := []string{"-test.run", "^$", "-test.bench", "^BenchmarkScale$", "-test.benchtime", "1x"}
	if profile := os.Getenv("KTX_TEST_SCALE_PROFILE"); profile != "" {
		arguments = append(arguments, "-test.cpuprofile", profile)
	}
	cmd := exec.CommandContext(b.Context(), program, arguments...)
	cmd.Env = append(os.Environ(), scaleProject+"="+dir, scaleResults+"="+results)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(results)
	if err != nil {
		b.Fatal(err)
	}
	var out scaleResult
	if err := json.Unmarshal(text, &out); err != nil {
		b.Fatal(err)
	}
	return out
}

// scaleProcess asks a project questions and writes how long the answers took.
func scaleProcess(b *testing.B, dir, results string) {
	b.Helper()
	var connections []execution.Connection
	for i := range scaleConnections {
		connections = append(connections, artifactOnly(scaleConnection(i), sqlguard.Policy{}))
	}
	gateway, err := execution.NewGateway(b.Context(), &audittest.Log{}, connections...)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = gateway.Close(b.Context()) }()
	var out scaleResult
	b.Run("process", func(b *testing.B) {
		for b.Loop() {
			began := time.Now()
			stores := storesIn(b, dir)
			s := research.New(gateway, slog.New(slog.DiscardHandler), stores)
			ask := func(query string) {
				if _, err := s.DiscoverData(b.Context(), research.DiscoverDataInput{Query: query}); err != nil {
					b.Fatal(err)
				}
			}
			ask("which customers ordered the most")
			out.First = time.Since(began).Seconds()
			questions := newScale(99)
			for range 20 {
				ask(questions.question())
			}
			for range 200 {
				began := time.Now()
				ask(questions.question())
				out.Questions = append(out.Questions, time.Since(began).Seconds())
			}
			out.Peak = peakMemory(b)
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			out.Heap = float64(m.HeapAlloc) / (1 << 20)
			runtime.KeepAlive(s)
			store := storesIn(b, dir).Catalog
			for range 20 {
				began := time.Now()
				var wait sync.WaitGroup
				for i := range scaleConnections {
					wait.Go(func() {
						if _, err := store.Snapshot(b.Context(), scaleConnection(i), catalogtest.All{}); err != nil {
							b.Error(err)
						}
					})
				}
				wait.Wait()
				out.Files = append(out.Files, time.Since(began).Seconds())
			}
		}
	})
	text, err := json.Marshal(out)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(results, text, 0o600); err != nil {
		b.Fatal(err)
	}
}

// peakMemory returns the greatest resident size of this process in MB, or 0 where /proc
// does not say it.
func peakMemory(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			if err != nil {
				b.Fatal(err)
			}
			return kilobytes / 1024
		}
	}
	return 0
}
