package mysqldb_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// client is a backend with a guard that approves every text.
type client struct {
	*mysqldb.DB
	guard *sqlguard.Guard
}

// open opens a backend; cfg.URL is filled in from url.
func open(tb testing.TB, url string, cfg mysqldb.Config) *client {
	tb.Helper()
	cfg.URL = execution.NewSecret(url)
	g := executiontest.Guard(tb, "mysql", 0)
	db, err := mysqldb.Open(tb.Context(), cfg, g.ID())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &client{db, g}
}

func (c *client) try(ctx context.Context, tb testing.TB, sql string, lim execution.Limits) (*execution.Result, error) {
	tb.Helper()
	a, err := c.guard.Approve(sql)
	if err != nil {
		tb.Fatalf("approve: %v", err)
	}
	return c.Query(ctx, a, lim)
}

func (c *client) get(tb testing.TB, sql string) *execution.Result {
	tb.Helper()
	res, err := c.try(tb.Context(), tb, sql, execution.Limits{})
	if err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
	return res
}

// one returns the only value of a statement.
func (c *client) one(tb testing.TB, sql string) string {
	tb.Helper()
	res := c.get(tb, sql)
	if len(res.Rows) != 1 || len(res.Rows[0]) != 1 {
		tb.Fatalf("%s: %d rows, want one value", sql, len(res.Rows))
	}
	return res.Rows[0][0].Text
}

// fails returns the error of a statement.
func (c *client) fails(tb testing.TB, sql string) *execution.Error {
	tb.Helper()
	res, err := c.try(tb.Context(), tb, sql, execution.Limits{})
	e, ok := errors.AsType[*execution.Error](err)
	if !ok || res != nil {
		tb.Fatalf("%s: %v, %v; want an *execution.Error", sql, res, err)
	}
	return e
}
