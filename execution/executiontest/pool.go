package executiontest

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// testPool checks that a backend is safe for concurrent use, and never has more
// connections than it was given.
func testPool(t *testing.T, s *suite) {
	t.Helper()
	t.Run("16 users on 4 connections", func(t *testing.T) {
		c, _ := s.open(t, 4)
		var users sync.WaitGroup
		for u := range 16 {
			users.Go(func() {
				for i := range 20 {
					n := 1 + (u*31+i*7)%300
					res, err := c.Try(t.Context(), t, s.Queries.Numbers(n), execution.Limits{})
					if err != nil {
						t.Errorf("user %d: %v", u, err)
						return
					}
					if len(res.Rows) != n || res.Rows[n-1][0].Text != strconv.Itoa(n) {
						t.Errorf("user %d: %d rows, want %d", u, len(res.Rows), n)
						return
					}
					if i%5 == 0 {
						if _, err := c.Try(t.Context(), t, s.Queries.Fails, execution.Limits{}); execution.CodeOf(err) != sqlguard.CodeDatabaseError {
							t.Errorf("user %d: error %v, want %s", u, err, sqlguard.CodeDatabaseError)
						}
					}
				}
			})
		}
		users.Wait()
	})

	t.Run("waiting", func(t *testing.T) {
		c, _ := s.open(t, 1)
		holding, release := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		calls.Go(func() {
			_, err := c.Try(holding, t, s.Queries.Slow[0], execution.Limits{})
			if execution.CodeOf(err) != sqlguard.CodeCancelled {
				t.Errorf("the statement that held the connection: error %v, want %s", err, sqlguard.CodeCancelled)
			}
		})
		defer calls.Wait()
		defer release()

		// A caller that leaves stops waiting. Until the slow statement has the
		// only connection, calls are answered.
		var err error
		Eventually(t, "a caller leaves while it waits", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			_, err = c.Try(ctx, t, s.Queries.One, execution.Limits{})
			return err != nil
		})
		wantCode(t, err, sqlguard.CodeTimeout, sqlguard.CodeBusy)
		Eventually(t, "a caller is cancelled while it waits", func() bool {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(20*time.Millisecond, cancel)
			_, err = c.Try(ctx, t, s.Queries.One, execution.Limits{})
			return err != nil
		})
		wantCode(t, err, sqlguard.CodeCancelled)

		// A caller that keeps waiting gets the connection when it is free.
		for range 5 {
			calls.Go(func() {
				res, err := c.Try(t.Context(), t, s.Queries.One, execution.Limits{})
				if err != nil || len(res.Rows) != 1 {
					t.Errorf("a statement that waited: %v", err)
				}
			})
		}
		time.Sleep(30 * time.Millisecond) // until they wait
		release()
	})
}
