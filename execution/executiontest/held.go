package executiontest

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// Scaled calls try with the scales 1, 2, 4 and so on, until try reports that it saw what it
// judges. On a busy machine a time limit may pass before the statement begins, and a
// statement may end before the next step. Then try needs longer ones.
func Scaled(tb testing.TB, try func(scale int) bool) {
	tb.Helper()
	for scale := 1; !try(scale) && !tb.Failed(); scale *= 2 {
		if scale == 64 {
			tb.Fatal("not seen, however long the time was")
		}
	}
}

// Hold sends n statements at once that the server does not end within their limit, and
// returns what keeps their places. It reports whether all of them keep one: a statement
// may not have begun within its limit, or may have ended.
func Hold(tb testing.TB, c *Client, n int, sql string, limit time.Duration) (held []*execution.Held, all bool) {
	tb.Helper()
	var mu sync.Mutex
	var calls sync.WaitGroup
	for range n {
		calls.Go(func() {
			_, err := c.Try(tb.Context(), tb, sql, execution.Limits{Timeout: limit})
			e, ok := errors.AsType[*execution.Error](err)
			if !ok || e.Held == nil {
				return
			}
			if e.Code != sqlguard.CodeTimeout || !strings.Contains(e.Message, "not confirmed") || e.Elapsed < limit {
				tb.Errorf("%+v, want a time limit of %v whose end is not confirmed", e, limit)
			}
			mu.Lock()
			defer mu.Unlock()
			held = append(held, e.Held)
		})
	}
	calls.Wait()
	return held, len(held) == n
}

// Over waits until the servers' statements have ended. The server has to say so.
func Over(tb testing.TB, held []*execution.Held) {
	tb.Helper()
	for _, h := range held {
		select {
		case <-h.Over():
			if !h.Confirmed() {
				tb.Error("the end of the statement was not confirmed")
			}
		case <-time.After(Patience):
			tb.Fatalf("the statement is held for %v", Patience)
		}
	}
}
