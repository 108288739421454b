package alarm_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ktxhq/ktx/execution/alarm"
)

// TestClock: each function runs at its time, in any order of times, unless it was stopped.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a alarm.Clock
		start := time.Now()
		var ran [8]atomic.Int64
		for i, seconds := range []int{30, 10, 20, 5, 10} {
			a.After(time.Duration(seconds)*time.Second, func() { ran[i].Store(int64(time.Since(start) / time.Second)) })
		}
		stopped := a.After(15*time.Second, func() { ran[5].Store(-1) })
		time.Sleep(12 * time.Second)
		stopped()
		a.After(time.Second, func() { ran[6].Store(int64(time.Since(start) / time.Second)) })
		time.Sleep(time.Minute)
		a.After(time.Second, func() { ran[7].Store(int64(time.Since(start) / time.Second)) })
		time.Sleep(2 * time.Second)
		for i, want := range []int64{30, 10, 20, 5, 10, 0, 13, 73} {
			if got := ran[i].Load(); got != want {
				t.Errorf("function %d ran at %d s, want %d", i, got, want)
			}
		}
	})
}
