package pgdb_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestPoolIsFair shows that who waits is served in order of arrival.
func TestPoolIsFair(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 1})
	c.one(t, "SELECT 1")
	var users sync.WaitGroup
	users.Go(func() { c.one(t, "SELECT pg_sleep(0.3)::text || 'x'") })
	time.Sleep(50 * time.Millisecond)
	var served atomic.Int32
	order := make([]int32, 10)
	for i := range order {
		users.Go(func() {
			c.one(t, "SELECT pg_sleep(0.005)::text || 'x'")
			order[i] = served.Add(1)
		})
		time.Sleep(10 * time.Millisecond)
	}
	users.Wait()
	for i, n := range order {
		if n != int32(i+1) {
			t.Fatalf("the order of service is %v", order)
		}
	}
}

// TestPoolWaits shows what becomes of who waits: a turn, an error when its
// caller leaves, and that a turn given to one who leaves is not lost.
func TestPoolWaits(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 2})
	var users sync.WaitGroup
	for range 2 {
		users.Go(func() { c.one(t, "SELECT pg_sleep(0.3)::text || 'x'") })
	}
	time.Sleep(50 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err := c.try(ctx, t, "SELECT 1", execution.Limits{})
	if execution.CodeOf(err) != sqlguard.CodeBusy {
		t.Errorf("error %v, want %s", err, sqlguard.CodeBusy)
	}
	users.Wait()
	for i := range 300 { // callers that leave about when they are served
		for range 3 {
			users.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(200+i*3)*time.Microsecond)
				defer cancel()
				if _, err := c.try(ctx, t, "SELECT 1", execution.Limits{}); err != nil {
					if code := execution.CodeOf(err); code != sqlguard.CodeBusy && code != sqlguard.CodeTimeout {
						t.Error(err)
					}
				}
			})
		}
		users.Wait()
	}
	if n := c.Open(); n > 2 || n != c.Idle() {
		t.Errorf("%d connections, %d of them idle; want at most 2 and all", n, c.Idle())
	}
	for range 2 {
		users.Go(func() { c.one(t, "SELECT pg_sleep(0.05)::text || 'x'") })
	}
	users.Wait()
}

// TestPoolBounds shows that 16 clients never have more than the given number of
// sessions, whatever becomes of their statements.
func TestPoolBounds(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	const most = 3
	c := open(t, url, pgdb.Config{MaxConnections: most})
	texts := []string{"SELECT 1", "SELECT 1/0", "COMMIT", "COPY pg_class TO STDOUT", "SELECT pg_terminate_backend(pg_backend_pid())", "SELECT generate_series(1, 1000000)"}
	var users sync.WaitGroup
	stop := make(chan struct{})
	var watcher sync.WaitGroup
	var seen int
	watcher.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				seen = max(seen, query[int](t, url, "SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'ktx' AND datname = current_database()"))
			}
		}
	})
	for u := range 16 {
		users.Go(func() {
			for i := range 20 {
				res, err := c.try(t.Context(), t, texts[(u+i)%len(texts)], execution.Limits{Rows: 7})
				if err == nil && len(res.Rows) != 1 && len(res.Rows) != 7 || err != nil && execution.CodeOf(err) == "" {
					t.Errorf("%v, %v", res, err)
				}
			}
		})
	}
	users.Wait()
	close(stop)
	watcher.Wait()
	// A session that was told to end may still be there beside its successor.
	if n := c.Open(); n > most || seen > 2*most {
		t.Errorf("%d connections, and %d sessions seen; want at most %d", n, seen, most)
	}
}

// TestResults shows that rows belong to their statements under load.
func TestResults(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 4})
	var users sync.WaitGroup
	for u := range 16 {
		users.Go(func() {
			for i := range 30 {
				n := u*1000 + i
				res := c.get(t, fmt.Sprintf("SELECT %d, repeat('%d ', i) FROM generate_series(0, 40) AS i", n, n))
				for j, row := range res.Rows {
					if row[0].Text != fmt.Sprint(n) || len(row[1].Text) != j*len(fmt.Sprint(n)+" ") {
						t.Errorf("row %d of statement %d is %v", j, n, row)
						return
					}
				}
			}
		})
	}
	users.Wait()
}
