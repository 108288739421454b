package pgdb_test

import (
	"context"
	"errors"
	"flag"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

var update = flag.Bool("update", false, "rewrite what the tests compare with")

func TestMain(m *testing.M) { testdb.Main(m) }

func TestBackend(t *testing.T) {
	target := executiontest.PostgreSQL(func(ctx context.Context, address string, connections int, guard sqlguard.ID) (execution.Backend, error) {
		return pgdb.Open(ctx, pgdb.Config{URL: execution.NewSecret(address), MaxConnections: connections}, guard)
	})
	target.Update = *update
	target.Reader = postgres.Dialect{}
	executiontest.RunBackend(t, target)
}

// client is a backend with a guard that approves every text.
type client struct {
	*pgdb.DB
	guard *sqlguard.Guard
}

// open opens a backend; cfg.URL is filled in from url.
func open(tb testing.TB, url string, cfg pgdb.Config) *client {
	tb.Helper()
	cfg.URL = execution.NewSecret(url)
	g := executiontest.Guard(tb, "postgres", 0)
	db, err := pgdb.Open(tb.Context(), cfg, g.ID())
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
func (c *client) fails(tb testing.TB, sql string, lim execution.Limits) *execution.Error {
	tb.Helper()
	res, err := c.try(tb.Context(), tb, sql, lim)
	e, ok := errors.AsType[*execution.Error](err)
	if !ok || res != nil {
		tb.Fatalf("%s: %v, %v; want an *execution.Error", sql, res, err)
	}
	return e
}

const backendPID = "SELECT pg_backend_pid()"

// query runs a query outside of the backend under test.
func query[T any](tb testing.TB, url, sql string) T {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), url)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(tb.Context()) //nolint:errcheck // the connection has only read
	var v T
	if err := conn.QueryRow(tb.Context(), sql).Scan(&v); err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
	return v
}

// connect makes c open n connections, by n statements at a time.
func (c *client) connect(tb testing.TB, n int) {
	tb.Helper()
	executiontest.Eventually(tb, "every connection is open", func() bool {
		var users sync.WaitGroup
		for range n {
			users.Go(func() { c.one(tb, "SELECT pg_sleep(0.05)::text || 'x'") })
		}
		users.Wait()
		return c.Open() == n
	})
}
