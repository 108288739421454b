package pgdb_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestLateCancelsHitNobodyElse ends statements about when they end
// by themselves, on connections that others use next: whoever is not ended gets
// the answer to its own statement.
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
	var ended, answered atomic.Int64
	pids := sync.Map{}
	innocent := func(name string) {
		res, err := c.Try(t.Context(), t, fmt.Sprintf("SELECT '%s', pg_backend_pid()", name), execution.Limits{})
		if err != nil || len(res.Rows) != 1 || res.Rows[0][0].Text != name {
			t.Errorf("%s: %v, %v", name, res, err)
			return
		}
		pids.Store(res.Rows[0][1].Text, true)
	}
	var users sync.WaitGroup
	for u := range 3 {
		users.Go(func() {
			random := rand.New(rand.NewPCG(3, uint64(u)))
			after := 500 * time.Microsecond // follows the time that a statement takes
			for i := range rounds {
				name := fmt.Sprintf("ended %d %d", u, i)
				sql, lim := fmt.Sprintf("SELECT '%s', count(*) FROM generate_series(1, 500)", name), execution.Limits{}
				cut := i%4 == 3
				if cut { // the gateway cancels this one itself
					sql, lim.Rows = fmt.Sprintf("SELECT '%s' FROM generate_series(1, 3000)", name), 1
				}
				ctx, cancel := context.WithCancel(t.Context())
				timer := time.AfterFunc(after/2+time.Duration(random.Int64N(int64(after))), cancel)
				res, err := c.Try(ctx, t, sql, lim)
				timer.Stop()
				cancel()
				switch {
				case err == nil && len(res.Rows) == 1 && res.Rows[0][0].Text == name:
					answered.Add(1)
					after -= after / 16
				case execution.CodeOf(err) == sqlguard.CodeCancelled:
					ended.Add(1)
					after += after / 16
				default:
					t.Errorf("%s: %v, %v", name, res, err)
				}
				innocent(fmt.Sprintf("behind %d %d", u, i))
			}
		})
		users.Go(func() {
			for i := range rounds {
				innocent(fmt.Sprintf("beside %d %d", u, i))
			}
		})
	}
	users.Wait()
	sessions := 0
	pids.Range(func(any, any) bool { sessions++; return true })
	t.Logf("%d ended early, %d answered, %d not to be ended, on %d sessions", ended.Load(), answered.Load(), 6*rounds, sessions)
	if ended.Load() == 0 || answered.Load() == 0 {
		t.Errorf("%d ended early and %d answered: nothing was close", ended.Load(), answered.Load())
	}
	if n := c.Open(); n > 3 {
		t.Errorf("%d connections, want at most 3", n)
	}
}

// TestRetriedOnce: a statement whose connection was lost while it was idle is
// tried once more, not again; a second loss is told.
func TestRetriedOnce(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t)
	p := newProxy(t, server.Addr())
	c := open(t, p.through(t, url), pgdb.Config{MaxConnections: 1})
	c.One(t, "SELECT 1")
	time.Sleep(1100 * time.Millisecond) // long enough to be taken for lost
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
	// One connection for the second try, and one for the cancel that pgconn
	// sends for a statement that it lost.
	if n := p.accepts.Load() - before; n > 3 {
		t.Errorf("%d new connections", n)
	}
	executiontest.Eventually(t, "no statement runs", func() bool { return query[int](t, url, running) == 0 })
}
