package pgdb_test

import (
	"context"
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
		// With the search path, sessions are sealed, as those of a gateway are.
		return pgdb.Open(ctx, pgdb.Config{URL: execution.NewSecret(address), MaxConnections: connections, SearchPath: []string{"$user", "public"}}, guard)
	})
	target.Update = *update
	target.Reader = postgres.Dialect{}
	executiontest.RunBackend(t, target)
}

// client is a backend, with methods that send it statements without a guard's
// check.
type client struct {
	*pgdb.DB
	*executiontest.Client
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
	return &client{db, executiontest.NewClient(db, g)}
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

// connect makes c open n connections, by running n statements at a time.
func (c *client) connect(tb testing.TB, n int) {
	tb.Helper()
	executiontest.Eventually(tb, "every connection is open", func() bool {
		var users sync.WaitGroup
		for range n {
			users.Go(func() { c.One(tb, "SELECT pg_sleep(0.05)::text || 'x'") })
		}
		users.Wait()
		return c.Open() == n
	})
}
