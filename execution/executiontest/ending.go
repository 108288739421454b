package executiontest

import (
	"context"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// testEnding checks that a statement ends at its time limit or when its caller
// leaves, on the server too, and that the error says which.
func testEnding(t *testing.T, s *suite) {
	t.Helper()
	const wait = 150 * time.Millisecond
	for _, slow := range s.Queries.Slow {
		t.Run(shorten(slow), func(t *testing.T) {
			c, db := s.open(t, 1)
			// The pool has one connection. So each case also shows that the one
			// before has returned it.
			for _, e := range []struct {
				name  string
				limit time.Duration
				ctx   func() (context.Context, context.CancelFunc)
				code  sqlguard.Code
			}{
				{"limit", wait, func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) }, sqlguard.CodeTimeout},
				{"deadline", 0, func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), wait) }, sqlguard.CodeTimeout},
				{"cancel", 0, func() (context.Context, context.CancelFunc) {
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(wait, cancel)
					return ctx, cancel
				}, sqlguard.CodeCancelled},
			} {
				ctx, cancel := e.ctx()
				start := time.Now()
				res, err := c.Try(ctx, t, slow, execution.Limits{Timeout: e.limit})
				took := time.Since(start)
				cancel()
				wantCode(t, err, e.code)
				if res != nil {
					t.Errorf("%s: a statement that was ended returned rows", e.name)
				}
				if took < wait*9/10 || took > wait+endWithin() {
					t.Errorf("%s: took %v, want about %v", e.name, took, wait)
				}
				s.idle(t, db)
				s.answers(t, c)
			}
		})
	}
	t.Run("ended before", func(t *testing.T) {
		c, _ := s.open(t, 1)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := c.Try(ctx, t, s.Queries.One, execution.Limits{})
		wantCode(t, err, sqlguard.CodeCancelled)
		ctx, cancel = context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		_, err = c.Try(ctx, t, s.Queries.One, execution.Limits{})
		wantCode(t, err, sqlguard.CodeTimeout)
		s.answers(t, c)
	})
	t.Run("cancel races with the end", func(t *testing.T) {
		// A cancel that comes too late must not hit the next statement.
		c, _ := s.open(t, 1)
		for i := range 60 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Duration(i*25)*time.Microsecond, cancel)
			if _, err := c.Try(ctx, t, s.Queries.Numbers(300), execution.Limits{}); err != nil {
				wantCode(t, err, sqlguard.CodeCancelled)
			}
			cancel()
			s.answers(t, c)
		}
	})
}
