package pgdb_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// running counts the statements that run in the database of url.
const running = `SELECT count(*)::int FROM pg_stat_activity
	WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle'`

const sessions = `SELECT count(*)::int FROM pg_stat_activity
	WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`

func TestCancellations(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	before := goleak.IgnoreCurrent()
	c := open(t, url, pgdb.Config{MaxConnections: 4})
	texts := []string{
		"SELECT pg_sleep(300)",
		"SELECT count(*) FROM generate_series(1, 1000000000)",
		"SELECT i, repeat('x', 100) FROM generate_series(1, 1000000000) AS i",
		"SELECT 1",
	}
	var users sync.WaitGroup
	for user := range 8 {
		users.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(user)))
			for range 25 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(20_000))*time.Microsecond)
				text := texts[random.IntN(len(texts))]
				_, err := c.Try(ctx, t, text, execution.Limits{Rows: 1 << 30, Bytes: 1 << 40})
				cancel()
				switch code := execution.CodeOf(err); {
				case err == nil && text == "SELECT 1":
				case code == sqlguard.CodeTimeout, code == sqlguard.CodeBusy:
				default:
					t.Errorf("%s: %v", text, err)
				}
			}
		})
	}
	users.Wait()
	executiontest.Eventually(t, "no statement runs", func() bool { return query[int](t, url, running) == 0 })
	if open := c.Open(); open > 4 {
		t.Errorf("%d connections, want at most 4", open)
	}
	executiontest.Eventually(t, "no more sessions than connections", func() bool { return query[int](t, url, sessions) <= c.Open() })
	if got := c.One(t, "SELECT 1"); got != "1" {
		t.Errorf("got %s", got)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	executiontest.Eventually(t, "no session is left", func() bool { return query[int](t, url, sessions) == 0 })
	goleak.VerifyNone(t, before)
}

// TestCancelIsHeard shows that the server ends a statement at once and that the
// connection is used again. A machine that stands still for a moment costs a
// connection, so it may take several rounds to see that.
func TestCancelIsHeard(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 1})
	for range 10 {
		pid := c.One(t, backendPID)
		var slowest time.Duration
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			var at time.Time
			time.AfterFunc(10*time.Millisecond, func() { at = time.Now(); cancel() })
			_, err := c.Try(ctx, t, "SELECT pg_sleep(300)", execution.Limits{})
			slowest = max(slowest, time.Since(at))
			if execution.CodeOf(err) != sqlguard.CodeCancelled {
				t.Fatalf("error %v, want %s", err, sqlguard.CodeCancelled)
			}
		}
		now := c.One(t, backendPID)
		if now == pid {
			return
		}
		t.Logf("the connection of process %s was replaced by %s; the slowest cancel took %v", pid, now, slowest)
	}
	t.Error("the connection was replaced in each round")
}

// TestCancelBeforeStart shows that a statement does not keep running when its
// caller leaves while it is sent. The first cancel may arrive before the
// statement.
func TestCancelBeforeStart(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 1})
	for i := range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(i)*2*time.Microsecond, cancel)
		_, err := c.Try(ctx, t, "SELECT pg_sleep(300)", execution.Limits{})
		if execution.CodeOf(err) != sqlguard.CodeCancelled {
			t.Fatalf("error %v, want %s", err, sqlguard.CodeCancelled)
		}
	}
	executiontest.Eventually(t, "no statement runs", func() bool { return query[int](t, url, running) == 0 })
}

// TestTimeLimitIsTheServers shows that the server keeps the time limit itself.
func TestTimeLimitIsTheServers(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 1})
	pid := c.One(t, backendPID)
	e := c.Fails(t, "SELECT pg_sleep(300)", execution.Limits{Timeout: 50 * time.Millisecond})
	if e.Code != sqlguard.CodeTimeout || e.Retryable || !strings.Contains(e.Message, "50ms") || errors.Is(e, context.DeadlineExceeded) {
		t.Errorf("%v (retryable %t), want %s of the server after 50ms", e, e.Retryable, sqlguard.CodeTimeout)
	}
	if now := c.One(t, backendPID); now != pid {
		t.Errorf("the connection of process %s was replaced by %s", pid, now)
	}
}

// TestCancelledByAnother distinguishes a statement that an administrator
// cancelled from one that its caller cancelled.
func TestCancelledByAnother(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 1})
	done := make(chan error, 1)
	go func() {
		_, err := c.Try(t.Context(), t, "SELECT pg_sleep(301)", execution.Limits{})
		done <- err
	}()
	executiontest.Eventually(t, "the statement is found", func() bool {
		return query[bool](t, url, "SELECT coalesce(bool_or(pg_cancel_backend(pid)), false) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(301)' AND state = 'active'")
	})
	e, ok := errors.AsType[*execution.Error](<-done)
	if !ok {
		t.Fatal("no error")
	}
	if e.Code != sqlguard.CodeCancelled || !strings.Contains(e.Message, "at the server") || e.SQLState != "" {
		t.Errorf("%v", e)
	}
}

// TestLockTimeout shows that a statement waits only briefly for a lock of
// another session.
func TestLockTimeout(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t, "CREATE TABLE t (n int)")
	holder := open(t, url, pgdb.Config{})
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := holder.Try(ctx, t, "SELECT pg_advisory_lock(1), pg_sleep(300)", execution.Limits{})
		done <- err
	}()
	executiontest.Eventually(t, "the lock is held", func() bool {
		return query[int](t, url, "SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory'") == 1
	})
	c := open(t, url, pgdb.Config{})
	e := c.Fails(t, "SELECT pg_advisory_lock(1)", execution.Limits{LockTimeout: 50 * time.Millisecond})
	if e.Code != sqlguard.CodeDatabaseError || e.SQLState != "55P03" || !e.Retryable || e.Hint == "" {
		t.Errorf("%v", e)
	}
	cancel()
	if err := <-done; execution.CodeOf(err) != sqlguard.CodeCancelled {
		t.Error(err)
	}
}

// TestTruncatedIsEnded shows that a cut result ends its statement, and that the
// connection is kept when the rest is short. With a long rest, that depends on
// how fast the server receives the cancel.
func TestTruncatedIsEnded(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 1})
	pid := c.One(t, backendPID)
	for i, q := range []struct {
		sql string
		lim execution.Limits
	}{
		{"SELECT generate_series(1, 11)", execution.Limits{Rows: 10}},
		{"SELECT generate_series(1, 1000000000)", execution.Limits{Rows: 10}},
		// The server sends rows in pieces of 8 KB.
		{"SELECT repeat('x', 1000), CASE WHEN i > 30 THEN pg_sleep(300)::text END FROM generate_series(1, 100) AS i", execution.Limits{Rows: 10}},
		{"SELECT 1 / (20 - i) FROM generate_series(1, 100) AS i", execution.Limits{Rows: 10}},
		{"SELECT repeat('x', 1000), generate_series(1, 1000000000)", execution.Limits{Bytes: 10_011}},
		{"SELECT repeat('x', CASE WHEN i = 11 THEN 1000000 ELSE 1 END) FROM (SELECT generate_series(1, 1000000000) AS i) AS s", execution.Limits{}},
	} {
		res, err := c.Try(t.Context(), t, q.sql, q.lim)
		if err != nil {
			t.Errorf("%s: %v", q.sql, err)
			continue
		}
		if len(res.Rows) != 10 || !res.Truncated || res.Note == "" {
			t.Errorf("%s: %d rows, truncated by %q", q.sql, len(res.Rows), res.TruncatedBy)
		}
		if now := c.One(t, backendPID); now != pid && i == 0 {
			t.Errorf("%s: the connection was replaced", q.sql)
		}
	}
}
