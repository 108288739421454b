package sqlitedb_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/sqlguard"
)

// longOpcode returns a statement that calls instr once. The call runs for about
// the given time, because its cost grows with the square of the lengths.
func longOpcode(tb testing.TB, c *client, runs time.Duration) string {
	tb.Helper()
	text := func(n int) string {
		return fmt.Sprintf("SELECT instr(printf('%%.*c', %d, 'a'), printf('%%.*c', %d, 'a') || 'b')", n, n/2)
	}
	const n = 30_000
	once := time.Hour
	for range 4 { // the fastest run is the one that nothing else slowed down
		start := time.Now()
		c.rows(tb, text(n))
		once = min(once, time.Since(start))
	}
	return text(int(n * math.Sqrt(float64(runs)/float64(once))))
}

// SQLite cannot interrupt a single opcode. The caller gets its error in time
// all the same, and the statement ends in the background.
func TestLongOpcode(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t), 2)
	executiontest.Scaled(t, func(scale int) bool {
		long := longOpcode(t, c, time.Duration(scale)*time.Second)
		_, err := c.Try(t.Context(), t, long, execution.Limits{Timeout: 50 * time.Millisecond})
		// The statement still runs when its caller has the error.
		_, abandoned := c.Sessions()
		if e := typed(t, err); e.Code != sqlguard.CodeTimeout {
			t.Fatalf("error %v, want %s", e, sqlguard.CodeTimeout)
		}
		if got := c.rows(t, "SELECT 1"); got[0][0] != "1" {
			t.Errorf("read %v beside an abandoned statement", got)
		}
		settled(t, c)
		return abandoned == 1
	})
}

// Only a few statements may be abandoned at a time. When there are more, the
// database is busy until one has ended.
func TestManyLongOpcodes(t *testing.T) {
	const connections = 4
	c := open(t, testdb.SQLiteFile(t), connections)
	// The first may end before the last is abandoned, or while the last call of
	// the test waits for a connection. So the test sends statements, longer ones
	// each time, until enough run at the same time.
	runs := execution.HeldPatience / 2
	executiontest.Eventually(t, "the database is busy", func() bool {
		runs = min(2*runs, 10*time.Second)
		long := longOpcode(t, c, runs)
		var calls sync.WaitGroup
		for range 3 * connections {
			calls.Go(func() {
				_, err := c.Try(t.Context(), t, long, execution.Limits{Timeout: 30 * time.Millisecond})
				if code := execution.CodeOf(err); code != sqlguard.CodeTimeout && code != sqlguard.CodeBusy {
					t.Errorf("error %v, want a timeout or busy", err)
				}
			})
		}
		calls.Wait()
		if _, abandoned := c.Sessions(); abandoned > sqlitedb.MaxAbandoned+connections-1 {
			t.Errorf("%d statements are abandoned, want at most %d", abandoned, sqlitedb.MaxAbandoned+connections-1)
		}
		_, err := c.Try(t.Context(), t, "SELECT 1", execution.Limits{})
		if err == nil {
			settled(t, c)
			return false
		}
		if e := typed(t, err); e.Code != sqlguard.CodeBusy || !e.Retryable || e.RetryAfter <= 0 {
			t.Errorf("error %+v beside abandoned statements, want busy", e)
		}
		return true
	})
	settled(t, c)
	if got := c.rows(t, "SELECT 1"); got[0][0] != "1" {
		t.Errorf("read %v after the abandoned statements have ended", got)
	}
}

// settled waits until no statement is abandoned.
func settled(t *testing.T, c *client) {
	t.Helper()
	executiontest.Eventually(t, "no statement is abandoned", func() bool {
		_, abandoned := c.Sessions()
		return abandoned == 0
	})
}

// Close does not wait without limit for a statement that cannot be ended. It
// returns an error instead.
func TestCloseBesideLongOpcode(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a statement of several seconds")
	}
	executiontest.Scaled(t, func(scale int) bool {
		c := open(t, testdb.SQLiteFile(t), 1)
		long := longOpcode(t, c, time.Duration(scale)*5*time.Second)
		_, err := c.Try(t.Context(), t, long, execution.Limits{Timeout: 30 * time.Millisecond})
		if e := typed(t, err); e.Code != sqlguard.CodeTimeout {
			t.Fatalf("error %v, want %s", e, sqlguard.CodeTimeout)
		}
		err = c.Close()
		_, abandoned := c.Sessions()
		// The statement still runs when Close returns.
		if abandoned == 1 && (err == nil || !strings.Contains(err.Error(), "1 statements")) {
			t.Errorf("Close gave %v beside an abandoned statement", err)
		}
		settled(t, c)
		return abandoned == 1
	})
}

// Callers that wait for a connection get it in the order of arrival.
func TestOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, testdb.SQLiteFile(t), 1)
		release := c.Hold()
		const waiters = 6
		var calls sync.WaitGroup
		var served []int // written by whoever has the connection
		for i := range waiters {
			calls.Go(func() {
				release, err := c.Acquire(t.Context())
				if err != nil {
					t.Errorf("waiter %d: %v", i, err)
					return
				}
				served = append(served, i)
				release()
			})
			synctest.Wait() // until it waits for the connection
		}
		release()
		calls.Wait()
		if !slices.IsSorted(served) || len(served) != waiters {
			t.Errorf("served in the order %v", served)
		}
	})
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

// Close ends all running queries, at whatever step they are, and leaves nothing
// behind.
func TestCloseAmongQueries(t *testing.T) {
	path := testdb.SQLiteFile(t, "CREATE TABLE t (x)")
	for i := range 30 {
		c := open(t, path, 3)
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				for {
					_, err := c.Try(t.Context(), t, "SELECT count(*) FROM t, generate_series(1, 300)", execution.Limits{})
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
