package pgdb_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestPoolWaits shows what happens to waiting callers: a caller gets a
// connection in turn, a caller that leaves gets an error, and a connection
// granted to a caller that leaves is not lost.
func TestPoolWaits(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 2})
	var users sync.WaitGroup
	holding, release := context.WithCancel(t.Context())
	for range 2 {
		users.Go(func() {
			if _, err := c.Try(holding, t, "SELECT pg_sleep(300)", execution.Limits{}); execution.CodeOf(err) != sqlguard.CodeCancelled {
				t.Errorf("error %v, want %s", err, sqlguard.CodeCancelled)
			}
		})
	}
	executiontest.Eventually(t, "both connections are in use", func() bool { return query[int](t, url, running) == 2 })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err := c.Try(ctx, t, "SELECT 1", execution.Limits{})
	if execution.CodeOf(err) != sqlguard.CodeBusy {
		t.Errorf("error %v, want %s", err, sqlguard.CodeBusy)
	}
	release()
	users.Wait()
	rounds := 100
	if executiontest.Full() {
		rounds = 300
	}
	for i := range rounds { // callers that leave about when they get a connection
		for range 3 {
			users.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(200+i*900/rounds)*time.Microsecond)
				defer cancel()
				if _, err := c.Try(ctx, t, "SELECT 1", execution.Limits{}); err != nil {
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
		users.Go(func() { c.One(t, "SELECT pg_sleep(0.05)::text || 'x'") })
	}
	users.Wait()
}

// TestPoolBounds shows that 16 clients never have more than the given number of
// sessions, no matter how their statements end.
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
			case <-time.After(time.Millisecond):
				seen = max(seen, c.Open())
			}
		}
	})
	for u := range 16 {
		users.Go(func() {
			for i := range 20 {
				res, err := c.Try(t.Context(), t, texts[(u+i)%len(texts)], execution.Limits{Rows: 7})
				if err == nil && len(res.Rows) != 1 && len(res.Rows) != 7 || err != nil && execution.CodeOf(err) == "" {
					t.Errorf("%v, %v", res, err)
				}
			}
		})
	}
	users.Wait()
	close(stop)
	watcher.Wait()
	if n := c.Open(); n > most || seen > most {
		t.Errorf("%d connections, and %d seen; want at most %d", n, seen, most)
	}
	// A session that was told to end may still exist beside its successor.
	executiontest.Eventually(t, "no more sessions than connections", func() bool { return query[int](t, url, sessions) <= most })
}

// TestResults shows that every statement gets its own rows under load.
func TestResults(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 4})
	var users sync.WaitGroup
	for u := range 16 {
		users.Go(func() {
			for i := range 30 {
				n := u*1000 + i
				res := c.Get(t, fmt.Sprintf("SELECT %d, repeat('%d ', i) FROM generate_series(0, 40) AS i", n, n), execution.Limits{})
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
