package pgdb_test

import (
	"context"
	"flag"
	"testing"

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
		return pgdb.Open(ctx, pgdb.Config{URL: pgdb.NewSecret(address), MaxConnections: connections}, guard)
	})
	target.Update = *update
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
	cfg.URL = pgdb.NewSecret(url)
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

func TestFirst(t *testing.T) {
	c := open(t, "postgres://postgres@127.0.0.1:54399/postgres", pgdb.Config{})
	for range 3 {
		t.Logf("%+v", c.get(t, "SELECT 1 AS a, 'x' AS b, now(), null, 1.5::numeric, array[1,2] FROM generate_series(1,2)"))
	}
	r, err := c.Probe(t.Context())
	t.Logf("%+v %v", r, err)
	cat, err := c.Catalog(t.Context())
	t.Logf("%+v %v", cat, err)
}
