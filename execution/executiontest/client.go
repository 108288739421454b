package executiontest

import (
	"context"
	"errors"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// Client sends statements to a backend without a real guard.
type Client struct {
	execution.Backend
	guard *sqlguard.Guard
}

// NewClient returns a client of b, which accepts the approvals of guard. The
// guard must approve every statement, as those of [Guard] do.
func NewClient(b execution.Backend, guard *sqlguard.Guard) *Client { return &Client{b, guard} }

// Try sends sql and returns the result or the error.
func (c *Client) Try(ctx context.Context, tb testing.TB, sql string, lim execution.Limits) (*execution.Result, error) {
	tb.Helper()
	return c.Query(ctx, approve(tb, c.guard, sql), lim)
}

// Get returns the result of a statement that must succeed.
func (c *Client) Get(tb testing.TB, sql string, lim execution.Limits) *execution.Result {
	tb.Helper()
	res, err := c.Try(tb.Context(), tb, sql, lim)
	if err != nil {
		tb.Fatalf("%s: %v (%v)", shorten(sql), err, errors.Unwrap(err))
	}
	if res == nil {
		tb.Fatalf("%s: neither a result nor an error", shorten(sql))
	}
	return res
}

// One returns the only value of a statement.
func (c *Client) One(tb testing.TB, sql string) string {
	tb.Helper()
	res := c.Get(tb, sql, execution.Limits{})
	if len(res.Rows) != 1 || len(res.Rows[0]) != 1 {
		tb.Fatalf("%s: %d rows, want one value", shorten(sql), len(res.Rows))
	}
	return res.Rows[0][0].Text
}

// Fails returns the error of a statement that must fail.
func (c *Client) Fails(tb testing.TB, sql string, lim execution.Limits) *execution.Error {
	tb.Helper()
	res, err := c.Try(tb.Context(), tb, sql, lim)
	e, ok := errors.AsType[*execution.Error](err)
	if !ok || res != nil {
		tb.Fatalf("%s: %v, %v; want an *execution.Error", shorten(sql), res, err)
	}
	return e
}
