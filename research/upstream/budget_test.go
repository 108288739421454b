package upstream_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ktxhq/ktx/research/upstream"
)

func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spent := 0
		b := upstream.NewBudget(func() { spent++ })
		took := func(ctx context.Context, n int) time.Duration {
			start := time.Now()
			b.Wait(ctx, n)
			return time.Since(start).Round(time.Second)
		}
		if got := took(t.Context(), 1<<20); got != 0 || spent != 0 {
			t.Errorf("a first MiB takes %s, spent %d times", got, spent)
		}
		if got := took(t.Context(), 5<<20); got != 5*time.Second || spent != 1 {
			t.Errorf("five more take %s, spent %d times", got, spent)
		}
		start := time.Now()
		for range 2 << 10 {
			b.Wait(t.Context(), 1)
		}
		if got := time.Since(start).Round(time.Second); got != 2*time.Second || spent != 1 {
			t.Errorf("2,048 small lines take %s, spent %d times", got, spent)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if got := took(ended, 100<<20); got != 0 {
			t.Errorf("after the end of the process it takes %s", got)
		}
	})
}
