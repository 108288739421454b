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
	usual(t)
	collector.StartAgain()
	if percent := debug.SetGCPercent(-1); percent != -1 {
		t.Errorf("before the first collection the percentage is %d", percent)
	}
	runtime.GC()
	for range 200 {
		if percent := debug.SetGCPercent(-1); percent != -1 {
			debug.SetGCPercent(percent)
			if percent != 100 {
				t.Errorf("afterwards the percentage is %d", percent)
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the collector stays off")
}

// A command that keeps within a size collects at it, and takes more when more is in use.
// Afterwards the limit is as it was.
func TestWithin(t *testing.T) {
	usual(t)
	for _, late := range []bool{false, true} {
		collector.StartAgain()
		if late {
			collector.End()
		}
		const size = 16 << 20
		restore := collector.Within(size)
		if limit := debug.SetMemoryLimit(-1); limit != size {
			t.Errorf("late %t: the limit is %d bytes", late, limit)
		}
		used := make([]byte, 64<<20)
		deadline := time.Now().Add(time.Minute)
		for debug.SetMemoryLimit(-1) < 84<<20 && time.Now().Before(deadline) {
			runtime.GC()
			time.Sleep(time.Millisecond) // what runs after a collection
		}
		if limit := debug.SetMemoryLimit(-1); limit < 84<<20 || limit > 1<<30 {
			t.Errorf("late %t: with %d bytes in use the limit is %d", late, len(used), limit)
		}
		runtime.KeepAlive(used)
		restore()
		runtime.GC()
		time.Sleep(20 * time.Millisecond)
		if limit := debug.SetMemoryLimit(-1); limit != 1<<40 {
			t.Errorf("late %t: afterwards the limit is %d", late, limit)
		}
	}
	t.Setenv("GOMEMLIMIT", "1GiB")
	collector.Within(1 << 20)
	if limit := debug.SetMemoryLimit(-1); limit != 1<<40 {
		t.Errorf("GOMEMLIMIT is set, and the limit becomes %d", limit)
	}
}

// A command that collects often leaves the collector as it was.
func TestOften(t *testing.T) {
	usual(t)
	for _, set := range []bool{false, true} {
		want := 50
		if set {
			t.Setenv("GOGC", "70")
			want = 100
		}
		collector.StartAgain()
		collector.End()
		restore := collector.Often()
		within := debug.SetGCPercent(100)
		debug.SetGCPercent(within)
		restore()
		if after := debug.SetGCPercent(100); within != want || after != 100 {
			t.Errorf("GOGC is set: %t; the percentage is %d, and %d afterwards", set, within, after)
		}
	}
}

// What a server sets after the delay has ended is not undone by the first collection.
func TestEndedDelay(t *testing.T) {
	usual(t)
	for _, ended := range []bool{true, false} {
		collector.StartAgain()
		if ended {
			collector.End()
		}
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(1 << 41)
		for range 20 {
			runtime.GC()
			time.Sleep(5 * time.Millisecond) // what runs after a collection
		}
		now, bound := debug.SetGCPercent(100), debug.SetMemoryLimit(1<<40)
		if stays := now == 400 && bound == 1<<41; stays != ended {
			t.Errorf("ended %t: afterwards the percentage is %d and the limit %d", ended, now, bound)
		}
	}
}

// usual sets the collector as it is when nobody sets it, and afterwards as it was.
func usual(t *testing.T) {
	t.Helper()
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(1<<40)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}
