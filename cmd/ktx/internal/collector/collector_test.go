package collector_test

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/collector"
)

// The collector is off until the first collection, and works as usual after it.
func TestFirstCollection(t *testing.T) {
	t.Setenv("GOGC", "") // the test sets neither, but whoever runs it may
	if debug.SetGCPercent(-1) != -1 {
		t.Skip("GOGC or GOMEMLIMIT is set, or a collection came first")
	}
	collector.Until(1 << 30)
	if limit := debug.SetMemoryLimit(-1); limit != 1<<30 {
		t.Errorf("the first collection is at %d bytes", limit)
	}
	runtime.GC()
	for range 200 {
		if percent := debug.SetGCPercent(-1); percent != -1 {
			debug.SetGCPercent(percent)
			if percent != 100 {
				t.Errorf("afterwards the percentage is %d", percent)
			}
			collector.Until(1 << 20)
			if limit := debug.SetMemoryLimit(-1); limit == 1<<20 {
				t.Error("a later call sets a limit")
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the collector stays off")
}
