package sqlitedb_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/sqlguard"
)

// longOpcode returns a text whose one call of instr runs for about as long as
// is asked for: its cost grows with the square of the lengths.
func longOpcode(tb testing.TB, c *client, runs time.Duration) string {
	tb.Helper()
	text := func(n int) string {
		return fmt.Sprintf("SELECT instr(printf('%%.*c', %d, 'a'), printf('%%.*c', %d, 'a') || 'b')", n, n/2)
	}
	const n = 30_000
	once := time.Hour
	for range 4 { // the quickest is the one that nothing else has slowed down
		start := time.Now()
		c.rows(tb, text(n))
		once = min(once, time.Since(start))
	}
	return text(int(n * math.Sqrt(float64(runs)/float64(once))))
}

// One opcode cannot be interrupted: the caller has its answer in time all the
// same, and the statement is ended behind it.
func TestLongOpcode(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t), 2)
	const runs, limit = time.Second, 50 * time.Millisecond
	long := longOpcode(t, c, runs)
	start := time.Now()
	_, err := c.try(t.Context(), t, long, execution.Limits{Timeout: limit})
	took := time.Since(start)
	if e := typed(t, err); e.Code != sqlguard.CodeTimeout {
		t.Fatalf("error %v, want %s", e, sqlguard.CodeTimeout)
	}
	if took > runs/2 {
		t.Errorf("the answer came after %v, with a limit of %v", took, limit)
	}
	if _, abandoned := c.Sessions(); abandoned != 1 {
		t.Errorf("%d statements are abandoned, want 1", abandoned)
	}
	if got := c.rows(t, "SELECT 1"); got[0][0] != "1" {
		t.Errorf("read %v beside an abandoned statement", got)
	}
	settled(t, c)
}

// Only a few statements may be abandoned at a time; then the database is busy
// until one has ended.
func TestManyLongOpcodes(t *testing.T) {
	const connections = 4
	c := open(t, testdb.SQLiteFile(t), connections)
	long := longOpcode(t, c, 300*time.Millisecond)
	var calls sync.WaitGroup
	for range 3 * connections {
		calls.Go(func() {
			_, err := c.try(t.Context(), t, long, execution.Limits{Timeout: 30 * time.Millisecond})
			if code := execution.CodeOf(err); code != sqlguard.CodeTimeout && code != sqlguard.CodeBusy {
				t.Errorf("error %v, want a timeout or busy", err)
			}
		})
	}
	calls.Wait()
	_, abandoned := c.Sessions()
	if abandoned < connections || abandoned > sqlitedb.MaxAbandoned+connections-1 {
		t.Errorf("%d statements are abandoned, want %d to %d", abandoned, connections, sqlitedb.MaxAbandoned+connections-1)
	}
	e := c.fails(t, "SELECT 1")
	if e.Code != sqlguard.CodeBusy || !e.Retryable || e.RetryAfter <= 0 {
		t.Errorf("error %+v beside %d abandoned statements, want busy", e, abandoned)
	}
	settled(t, c)
	if got := c.rows(t, "SELECT 1"); got[0][0] != "1" {
		t.Errorf("read %v after the abandoned statements have ended", got)
	}
}

// settled waits until no statement is abandoned and no more connections are
// open than may be idle.
func settled(t *testing.T, c *client) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		open, abandoned := c.Sessions()
		if abandoned == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d connections are open, %d statements abandoned", open, abandoned)
		}
	}
}

// Close does not wait for ever for what cannot be ended, and says so.
func TestCloseBesideLongOpcode(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a statement of several seconds")
	}
	c := open(t, testdb.SQLiteFile(t), 1)
	long := longOpcode(t, c, 5*time.Second)
	_, err := c.try(t.Context(), t, long, execution.Limits{Timeout: 30 * time.Millisecond})
	if e := typed(t, err); e.Code != sqlguard.CodeTimeout {
		t.Fatalf("error %v, want %s", e, sqlguard.CodeTimeout)
	}
	start := time.Now()
	err = c.Close()
	if took := time.Since(start); err == nil || took > 4*time.Second || !strings.Contains(err.Error(), "1 statements") {
		t.Errorf("Close gave %v after %v", err, took)
	}
	settled(t, c)
}

// Who waits for a connection gets it in the order of arrival.
func TestOrderOfArrival(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t), 1)
	holding, release := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	calls.Go(func() {
		_, _ = c.try(holding, t, "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s) SELECT count(*) FROM s", execution.Limits{})
	})
	time.Sleep(50 * time.Millisecond)
	const waiters = 6
	var mu sync.Mutex
	var served []int
	for i := range waiters {
		calls.Go(func() {
			if _, err := c.try(t.Context(), t, "SELECT 1", execution.Limits{}); err != nil {
				t.Errorf("waiter %d: %v", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			served = append(served, i)
		})
		time.Sleep(25 * time.Millisecond)
	}
	release()
	calls.Wait()
	// Two that were served in turn may note it in the other order.
	for at, i := range served {
		if i < at-1 || i > at+1 {
			t.Fatalf("served in the order %v", served)
		}
	}
}

// A statement that needs more memory than a connection has is an error, and
// the next one runs.
func TestMemory(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t), 1)
	for _, q := range []struct{ sql, state string }{
		{"SELECT length(printf('%.*c', 100000000, 'x'))", "SQLITE_TOOBIG"},
		{"SELECT length(hex(zeroblob(60000000)))", "SQLITE_TOOBIG"},
		{"SELECT length(a || b || c || d || e) FROM (SELECT hex(zeroblob(30000000)) AS a, hex(zeroblob(30000001)) AS b, hex(zeroblob(30000002)) AS c, hex(zeroblob(30000003)) AS d, hex(zeroblob(30000004)) AS e)", "SQLITE_NOMEM"},
	} {
		e := c.fails(t, q.sql)
		if e.Code != sqlguard.CodeDatabaseError || e.SQLState != q.state || e.Hint == "" {
			t.Errorf("%s: error %+v, want %s with a hint", q.sql, e, q.state)
		}
		if got := c.rows(t, "SELECT 1"); got[0][0] != "1" {
			t.Errorf("read %v after %s", got, q.state)
		}
	}
}

// Close among queries ends them all and leaves nothing, whatever they are at.
func TestCloseAmongQueries(t *testing.T) {
	path := testdb.SQLiteFile(t, "CREATE TABLE t (x)")
	for i := range 30 {
		c := open(t, path, 3)
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				for {
					_, err := c.try(t.Context(), t, "SELECT count(*) FROM t, generate_series(1, 300)", execution.Limits{})
					if err == nil {
						continue
					}
					if e := typed(t, err); e.Code != sqlguard.CodeDraining {
						t.Errorf("error %v, want %s", e, sqlguard.CodeDraining)
					}
					return
				}
			})
		}
		time.Sleep(time.Duration(i*100) * time.Microsecond)
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		calls.Wait()
		if sessions, abandoned := c.Sessions(); sessions != 0 || abandoned != 0 {
			t.Errorf("%d connections are open, %d statements abandoned", sessions, abandoned)
		}
	}
}
