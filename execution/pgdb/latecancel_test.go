package pgdb_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestLateCancelsHitNobodyElse cancels statements about when they end by
// themselves, on connections that other statements use next. Every statement
// that is not cancelled gets its own answer.
func TestLateCancelsHitNobodyElse(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 3})
	rounds := 100
	switch {
	case testing.Short():
		rounds = 50
	case executiontest.Full():
		rounds = 400
	}
	executiontest.LateCancels{
		Session: func(name string) string { return fmt.Sprintf("SELECT '%s', pg_backend_pid()", name) },
		Computes: func(name string) string {
			return fmt.Sprintf("SELECT '%s', count(*) FROM generate_series(1, 500)", name)
		},
		Rows: func(name string) string { return fmt.Sprintf("SELECT '%s' FROM generate_series(1, 3000)", name) },
	}.Run(t, c.Client, rounds)
	if n := c.Open(); n > 3 {
		t.Errorf("%d connections, want at most 3", n)
	}
}

// TestRetriedOnce: when a connection was lost while it was idle, its next
// statement is tried once more. A second loss is returned as an error.
func TestRetriedOnce(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t)
	p := newProxy(t, server.Addr())
	c := open(t, p.through(t, url), pgdb.Config{MaxConnections: 1})
	c.One(t, "SELECT 1")
	time.Sleep(1100 * time.Millisecond) // long enough for the loss to count as one while idle
	before := p.accepts.Load()
	p.hole.Store(true)
	done := make(chan error, 1)
	go func() {
		_, err := c.Try(t.Context(), t, "SELECT pg_sleep(303)", execution.Limits{})
		done <- err
	}()
	executiontest.Eventually(t, "the statement is in the hole", func() bool { return p.held.Load() > 0 })
	p.hole.Store(false)
	p.cut()
	executiontest.Eventually(t, "the statement runs on another connection", func() bool { return query[int](t, url, running) == 1 })
	p.cut()
	if err := <-done; execution.CodeOf(err) != sqlguard.CodeConnectionLost {
		t.Errorf("error %v, want %s", err, sqlguard.CodeConnectionLost)
	}
	// One connection is for the second try, and one for the cancel that pgconn
	// sends for a statement whose connection broke.
	if n := p.accepts.Load() - before; n > 3 {
		t.Errorf("%d new connections", n)
	}
	executiontest.Eventually(t, "no statement runs", func() bool { return query[int](t, url, running) == 0 })
}
