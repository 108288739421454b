package mcp_test

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/mcp"
)

func TestPercentFor(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 8 << 20: 400, 16 << 20: 200, 20 << 20: 150, 32 << 20: 100, 1 << 40: 100} {
		if got := mcp.PercentFor(live); got != want {
			t.Errorf("%d bytes in use: %d, want %d", live, got, want)
		}
	}
}

func TestContainerLimit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file, text string
		want       int64
		ok         bool
	}{
		{"memory.max", "536870912\n", 512 << 20, true},
		{"memory.max", "max\n", 0, false},
		{"memory/memory.limit_in_bytes", "1073741824\n", 1 << 30, true},
		{"memory/memory.limit_in_bytes", "9223372036854771712\n", 0, false},
		{"other", "1", 0, false},
	} {
		root := t.TempDir()
		path := filepath.Join(root, test.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := mcp.ContainerLimit(root); got != test.want || ok != test.ok {
			t.Errorf("%s %q: %d, %t", test.file, test.text, got, ok)
		}
	}
}

// TestTuneCollector: the environment overrides the settings of a server, and a heap
// that grows large is collected as usual.
func TestTuneCollector(t *testing.T) {
	before, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(before)
		debug.SetMemoryLimit(limit)
	})
	percent := func() uint64 {
		setting := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(setting)
		return setting[0].Value.Uint64()
	}
	mcp.TuneCollector(func(string) (string, bool) { return "150", true })
	if got := percent(); got != 100 {
		t.Errorf("with GOGC set: %d", got)
	}
	mcp.TuneCollector(func(string) (string, bool) { return "", false })
	if got := percent(); got != 400 {
		t.Errorf("a server: %d", got)
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for range 20 {
		runtime.GC()
		time.Sleep(5 * time.Millisecond) // what runs after a collection
		if metrics.Read(live); percent() == 100 && live[0].Value.Uint64() < 16<<20 {
			t.Fatal("a collection has undone it")
		}
	}
	large := make([]byte, 256<<20)
	for until := time.Now().Add(2 * time.Minute); percent() != 100; runtime.GC() {
		if time.Now().After(until) {
			t.Fatalf("with %d bytes in use: %d", len(large), percent())
		}
	}
	runtime.KeepAlive(large)
}
