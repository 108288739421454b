package executiontest

import (
	"sync"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// testApproval checks that the backend runs only statements that its guard
// approved.
func testApproval(t *testing.T, s *suite) {
	t.Helper()
	t.Run("zero value", func(t *testing.T) {
		c, _ := s.open(t, 1)
		res, err := c.Query(t.Context(), sqlguard.Approved{}, execution.Limits{})
		if err == nil || res != nil {
			t.Fatalf("the zero Approved gave result %v, error %v", res, err)
		}
		s.answers(t, c)
	})
	t.Run("another guard", func(t *testing.T) {
		c, _ := s.open(t, 1)
		for _, g := range []*sqlguard.Guard{
			Guard(t, s.Dialect, 1),            // another policy
			Guard(t, s.Dialect+"-foreign", 0), // another dialect
		} {
			res, err := c.Query(t.Context(), approve(t, g, s.Queries.One), execution.Limits{})
			if err == nil || res != nil {
				t.Fatalf("a statement that another guard approved gave result %v, error %v", res, err)
			}
		}
		s.answers(t, c)
	})
	t.Run("swapped guard", func(t *testing.T) {
		c, _ := s.open(t, 1)
		old, next := c.guard, Guard(t, s.Dialect, 1)
		c.SetGuard(next.ID())
		if _, err := c.Query(t.Context(), approve(t, old, s.Queries.One), execution.Limits{}); err == nil {
			t.Error("a statement that the guard before the swap approved was run")
		}
		if _, err := c.Query(t.Context(), approve(t, next, s.Queries.One), execution.Limits{}); err != nil {
			t.Errorf("a statement that the new guard approved was not run: %v", err)
		}
		c.SetGuard(sqlguard.ID{})
		for _, g := range []*sqlguard.Guard{old, next} {
			if _, err := c.Query(t.Context(), approve(t, g, s.Queries.One), execution.Limits{}); err == nil {
				t.Error("a backend without a guard ran a statement")
			}
		}
		if _, err := c.Query(t.Context(), sqlguard.Approved{}, execution.Limits{}); err == nil {
			t.Error("a backend without a guard ran the zero Approved")
		}
		c.SetGuard(old.ID())
		s.answers(t, c)
	})
	t.Run("swaps among queries", func(t *testing.T) {
		c, _ := s.open(t, 4)
		guards := []*sqlguard.Guard{c.guard, Guard(t, s.Dialect, 1)}
		stmts := []sqlguard.Approved{approve(t, guards[0], s.Queries.One), approve(t, guards[1], s.Queries.One)}
		var users sync.WaitGroup
		for i := range 8 {
			users.Go(func() {
				for range 25 {
					// Either guard may be the current one. A statement that
					// runs must be answered in full.
					res, err := c.Query(t.Context(), stmts[i%2], execution.Limits{})
					if err == nil && (len(res.Rows) != 1 || res.Rows[0][0].Text != "1") {
						t.Errorf("rows are %v, want one of value 1", res.Rows)
					}
				}
			})
		}
		for i := range 200 {
			c.SetGuard(guards[(i+1)%2].ID())
		}
		users.Wait()
		c.SetGuard(guards[0].ID())
		s.answers(t, c)
	})
}

// answers fails the test unless the backend still answers a simple query.
func (s *suite) answers(tb testing.TB, c *Client) {
	tb.Helper()
	res := c.Get(tb, s.Queries.One, execution.Limits{})
	if len(res.Rows) != 1 || len(res.Rows[0]) != 1 || res.Rows[0][0].Text != "1" {
		tb.Fatalf("%s gave %v, want one row of value 1", shorten(s.Queries.One), res.Rows)
	}
}
