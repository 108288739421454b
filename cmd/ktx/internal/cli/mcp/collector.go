package mcp

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/collector"
)

const (
	// roomy is how much the heap of a server may grow between two collections, in
	// percent of what is in use. A server keeps little and allocates much: at Go's
	// 100 a tenth to a quarter of its time is garbage collection.
	roomy = 400
	// room bounds that growth, in bytes. A server with a large heap, such as one
	// with the index of a large schema, is collected as any Go program is.
	room = 32 << 20
	// usual is Go's own percentage.
	usual = 100
)

// tuneCollector sets the garbage collector for a server. The variables GOGC and
// GOMEMLIMIT override it.
func tuneCollector(lookup func(string) (string, bool)) {
	collector.End() // otherwise it would undo this after the first collection
	if value, _ := lookup("GOMEMLIMIT"); value == "" {
		if limit, ok := containerLimit("/sys/fs/cgroup"); ok {
			debug.SetMemoryLimit(limit / 10 * 9)
		}
	}
	if value, _ := lookup("GOGC"); value == "" {
		debug.SetGCPercent(roomy)
		afterEachCollection(new(tuner))
	}
}

// tuner adjusts the percentage to the memory in use.
type tuner struct{ percent int }

func (t *tuner) adjust() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if live[0].Value.Kind() != metrics.KindUint64 {
		return
	}
	if want := percentFor(live[0].Value.Uint64()); want != t.percent {
		t.percent = want
		debug.SetGCPercent(want)
	}
}

// percentFor returns the percentage for a heap with live bytes in use, in steps of
// 50, so that it seldom changes.
func percentFor(live uint64) int {
	percent := int(min(roomy, 100*room/max(live, 1))) / 50 * 50
	return max(usual, percent)
}

// afterEachCollection calls adjust after each garbage collection, from the goroutine
// of finalizers.
func afterEachCollection(t *tuner) {
	runtime.SetFinalizer(&struct{ t *tuner }{t}, func(mark *struct{ t *tuner }) {
		mark.t.adjust()
		afterEachCollection(mark.t)
	})
}

// containerLimit returns the limit on memory that a container has, in bytes. root is
// where the control groups are mounted.
func containerLimit(root string) (limit int64, ok bool) {
	for _, name := range []string{"memory.max", "memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(filepath.Join(root, name)) //nolint:gosec // a file of the kernel
		if err != nil {
			continue
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		// Without a limit the file says max, or a number near 2^63.
		if err == nil && limit > 0 && limit < 1<<60 {
			return limit, true
		}
	}
	return 0, false
}
