package executiontest

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ktxhq/ktx/execution"
)

// testClosing checks that Close ends what runs and leaves nothing behind.
func testClosing(t *testing.T, s *suite) {
	t.Helper()
	t.Run("while statements run", func(t *testing.T) {
		db := s.NewDatabase(t)
		before := goleak.IgnoreCurrent()
		c := s.openAt(t, db.Address(), 2)
		const users = 4 // two run, two wait
		ended := make(chan error, users)
		for range users {
			go func() {
				res, err := c.Try(t.Context(), t, s.Queries.Slow[0], execution.Limits{})
				if res != nil {
					t.Error("a statement that was ended returned rows")
				}
				ended <- err
			}()
		}
		Eventually(t, "two statements run", func() bool {
			n, ok := db.Running(t)
			return n == 2 || !ok
		})
		start := time.Now()
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		for range users {
			if e := wantError(t, <-ended, executionCodes()...); e.Message == "" {
				t.Error("an error without a message")
			}
		}
		if took := time.Since(start); took > endWithin() {
			t.Errorf("Close took %v", took)
		}
		s.idle(t, db)
		_, err := c.Try(t.Context(), t, s.Queries.One, execution.Limits{})
		wantCode(t, err, executionCodes()...)
		if _, err := c.Catalog(t.Context()); err == nil {
			t.Error("a closed backend gave a catalogue")
		}
		if _, err := c.Probe(t.Context()); err == nil {
			t.Error("a closed backend gave a probe report")
		}
		if err := c.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
		goleak.VerifyNone(t, before)
	})

	t.Run("after use", func(t *testing.T) {
		db := s.NewDatabase(t)
		before := goleak.IgnoreCurrent()
		c := s.openAt(t, db.Address(), 3)
		for range 5 {
			s.answers(t, c)
			if _, err := c.Try(t.Context(), t, s.Queries.Fails, execution.Limits{}); err == nil {
				t.Error("no error")
			}
			if _, err := c.Try(t.Context(), t, s.Queries.Slow[0], execution.Limits{Timeout: 30 * time.Millisecond}); err == nil {
				t.Error("no error")
			}
			c.Get(t, s.Queries.Numbers(5000), execution.Limits{Rows: 10})
		}
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		goleak.VerifyNone(t, before)
	})
}
