//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package duckdbdb_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/duckfile"
	"github.com/ktxhq/ktx/sqlguard"
)

// endingsVariable holds how many calls the test ends early. Each call must then end within
// the time that the product promises. When it is not set, every case runs once in each way,
// and the bound only finds calls that hang.
const endingsVariable = "KTX_TEST_CANCELLATIONS"

// TestCallsThatEnd ends calls in every way and in every kind of work. The process of the
// statement must be gone when the caller gets its error.
func TestCallsThatEnd(t *testing.T) {
	g := executiontest.Guard(t, "duckdb", 0)
	db, err := duckdbdb.Open(t.Context(), duckdbdb.Config{Path: duckfile.New(t, "CREATE TABLE t AS SELECT i AS x FROM range(1000) r(i)"), MaxConnections: 2}, g.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it returns nil
	c := executiontest.NewClient(db, g)
	works := []struct{ name, sql string }{
		{"computing", "SELECT count(*) FROM range(9000000000000) r(i) WHERE hash(i) = 42"},
		{"joining", "SELECT count(*) FROM t a, t b, t c, t d WHERE a.x + b.x + c.x + d.x < 0"},
		{"sorting", "SELECT i FROM range(900000000) r(i) ORDER BY hash(i), i"},
		{"returning rows", "SELECT i FROM range(9000000000000) r(i)"},
		{"recursion", "WITH RECURSIVE s(i) AS (SELECT 1::HUGEINT UNION ALL SELECT i + 1 FROM s) SELECT count(*) FROM s"},
		{"in one long call", "SELECT length(repeat('x' || x, 800000000)) FROM t"},
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
	var took []time.Duration
	for i := range calls {
		w, cancels := works[i%len(works)], i/len(works)%2 == 0
		c.Get(t, "SELECT 1", execution.Limits{}) // so that a process is there
		wait := time.Duration(30+i*37%100) * time.Millisecond
		lim, code := execution.Limits{Timeout: time.Hour, Rows: 1 << 30, Bytes: 1 << 40}, sqlguard.CodeCancelled
		ctx, cancel := context.WithCancel(t.Context())
		end := time.Now().Add(wait)
		if cancels {
			time.AfterFunc(wait, cancel)
		} else {
			lim.Timeout, code = wait, sqlguard.CodeTimeout
		}
		pids := db.Processes()
		res, err := c.Try(ctx, t, w.sql, lim)
		d := time.Since(end)
		cancel()
		name := fmt.Sprintf("%d %s, cancelled %t", i, w.name, cancels)
		if execution.CodeOf(err) != code || res != nil {
			t.Fatalf("%s: %v, %v; want %s", name, res, err, code)
		}
		took = append(took, d)
		if d > bound {
			t.Errorf("%s: the caller waited %v longer, want at most %v", name, d, bound)
		}
		for _, pid := range pids {
			if running(pid) {
				t.Errorf("%s: process %d still runs", name, pid)
			}
		}
	}
	slices.Sort(took)
	t.Logf("%d calls: p50 %v, p99 %v, max %v", calls, took[calls/2], took[calls*99/100], took[calls-1])
}

// running reports whether a process is there.
func running(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}
