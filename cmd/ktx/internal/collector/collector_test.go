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
