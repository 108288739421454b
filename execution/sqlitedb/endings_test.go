package sqlitedb_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// endingsVariable holds how many calls the test ends early. Each call must then
// end within the time that the product promises. When it is not set, every case
// runs once, and the bound only finds calls that hang.
const endingsVariable = "KTX_TEST_CANCELLATIONS"

// TestCallsThatEnd ends calls in every way and at every stage. The caller must
// get its error at once, and the statement must be interrupted.
func TestCallsThatEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for statements that cannot be interrupted")
	}
	path := testdb.SQLiteFile(t, "CREATE TABLE t (x)", "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 1000) INSERT INTO t SELECT i FROM s")
	locked := testdb.SQLiteFile(t, "CREATE TABLE t (x)")
	c, waiting := open(t, path, 2), open(t, locked, 2)
	writer, err := sqlite3.Open(locked)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := writer.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := writer.Exec("BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	// The opcode runs for twice as long as a caller may have to wait.
	const opcode, within = 500 * time.Millisecond, 250 * time.Millisecond
	works := []struct {
		name string
		c    *client
		sql  string
	}{
		{"computing", c, "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s) SELECT count(*) FROM s"},
		{"joining", c, "SELECT count(*) FROM t AS a, t AS b, t AS c, t AS d WHERE a.x + b.x + c.x + d.x < 0"},
		{"sorting", c, "SELECT a.x FROM t AS a, t AS b, t AS c ORDER BY a.x * b.x % 1009, c.x"},
		{"returning rows", c, "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s) SELECT i FROM s WHERE i % 50000 = 0"},
		{"waiting for a lock", waiting, "SELECT x FROM t"},
		{"in one long opcode", c, longOpcode(t, c, opcode)},
	}
	calls, bound := 2*len(works), executiontest.Patience
	if v := os.Getenv(endingsVariable); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n <= 0 {
			t.Fatalf("%s=%s is not a number of calls", endingsVariable, v)
		}
		calls, bound = n, within
	}
	var took []time.Duration
	for i := range calls {
		w, cancels := works[i%len(works)], i/len(works)%2 == 0
		wait := time.Duration(30+i*37%100) * time.Millisecond
		lim, code := execution.Limits{Timeout: time.Hour, LockTimeout: time.Hour, Rows: 1 << 30, Bytes: 1 << 40}, sqlguard.CodeCancelled
		ctx, cancel := context.WithCancel(t.Context())
		var end time.Time
		if cancels {
			time.AfterFunc(wait, func() { end = time.Now(); cancel() })
		} else {
			lim.Timeout, code = wait, sqlguard.CodeTimeout
			end = time.Now().Add(wait)
		}
		res, err := w.c.Try(ctx, t, w.sql, lim)
		returned := time.Now()
		cancel()
		name := fmt.Sprintf("%d %s, cancelled %t", i, w.name, cancels)
		if execution.CodeOf(err) != code || res != nil {
			t.Fatalf("%s: %v, %v; want %s", name, res, err, code)
		}
		d := returned.Sub(end)
		took = append(took, d)
		if d > bound {
			t.Errorf("%s: the caller waited %v longer, want at most %v", name, d, bound)
		}
		settled(t, w.c)
	}
	if got := c.rows(t, "SELECT count(*) FROM t"); got[0][0] != "1000" {
		t.Errorf("read %v afterwards", got)
	}
	slices.Sort(took)
	t.Logf("%d calls: p50 %v, p99 %v, max %v", calls, took[calls/2], took[calls*99/100], took[calls-1])
}
