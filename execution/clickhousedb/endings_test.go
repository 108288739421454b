package clickhousedb_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/chengine"
	"github.com/ktxhq/ktx/sqlguard"
)

// endingsVariable holds how many calls the test ends early. Each call must then end within
// the time that the product promises. When it is not set, every case runs once in each way,
// and the bound only finds calls that hang.
const endingsVariable = "KTX_TEST_CANCELLATIONS"

// TestCallsThatEndOnTheEngine ends calls in every way and in every kind of work. The caller
// must get its error in time, and the engine must run nothing for it afterwards.
func TestCallsThatEndOnTheEngine(t *testing.T) {
	e := chengine.Start(t, chengine.Config{})
	e.Exec(t, "CREATE DATABASE ends", "CREATE TABLE ends.t (x Int64) ENGINE = MergeTree ORDER BY x", "INSERT INTO ends.t SELECT number FROM numbers(1000)")
	g := executiontest.Guard(t, "clickhouse", 0)
	db, err := openBackend(t.Context(), e.Serve(t, chengine.Door{}).URL("ends"), 2, g.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it returns nil
	c := executiontest.NewClient(db, g)
	works := []struct{ name, sql string }{
		{"computing", "SELECT count() FROM system.numbers WHERE cityHash64(number) = 42"},
		{"joining", "SELECT count() FROM t AS a, t AS b, t AS c, t AS d WHERE a.x + b.x + c.x + d.x < 0"},
		{"sorting", "SELECT number FROM system.numbers WHERE number < 900000000000 ORDER BY cityHash64(number), number"},
		{"grouping", "SELECT cityHash64(number) % 1000 AS g, count() FROM system.numbers GROUP BY g"},
		{"returning rows", "SELECT number FROM system.numbers"},
		{"recursion", "WITH RECURSIVE s AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM s WHERE i < 900000000) SELECT count() FROM s"},
	}
	const within = 250 * time.Millisecond
	calls, bound := 2*len(works), executiontest.Patience
	if v := os.Getenv(endingsVariable); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n <= 0 {
			t.Fatalf("%s=%s is not a number of calls", endingsVariable, v)
		}
		calls, bound = n, within
	}
	running := func() int {
		return len(e.Lines(t, "SELECT query FROM system.processes WHERE current_database = 'ends'"))
	}
	var took, gone []time.Duration
	for i := range calls {
		w, cancels := works[i%len(works)], i/len(works)%2 == 0
		wait := time.Duration(30+i*37%100) * time.Millisecond
		lim, code := execution.Limits{Timeout: time.Hour, Rows: 1 << 30, Bytes: 1 << 40}, sqlguard.CodeCancelled
		ctx, cancel := context.WithCancel(t.Context())
		end := time.Now().Add(wait)
		if cancels {
			time.AfterFunc(wait, cancel)
		} else {
			lim.Timeout, code = wait, sqlguard.CodeTimeout
		}
		res, err := c.Try(ctx, t, w.sql, lim)
		took = append(took, time.Since(end))
		cancel()
		name := fmt.Sprintf("%d %s, cancelled %t", i, w.name, cancels)
		if execution.CodeOf(err) != code || res != nil {
			t.Fatalf("%s: %v, %v; want %s", name, res, err, code)
		}
		if d := took[i]; d > bound {
			t.Errorf("%s: the caller waited %v longer, want at most %v", name, d, bound)
		}
		for running() > 0 {
			if time.Since(end) > executiontest.Patience {
				t.Fatalf("%s: the engine still runs it", name)
			}
			time.Sleep(2 * time.Millisecond)
		}
		gone = append(gone, time.Since(end))
	}
	for what, all := range map[string][]time.Duration{"the callers": took, "the engine": gone} {
		slices.Sort(all)
		t.Logf("%d calls, %s: p50 %v, p99 %v, max %v", calls, what, all[calls/2], all[calls*99/100], all[calls-1])
	}
}
