//go:build linux

package faults_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// sessionsAtOnce opens n sessions at once. Each asks its own question. It
// counts how they end.
func (s *stand) sessionsAtOnce(n int, leaving bool) tally {
	s.Helper()
	var mu sync.Mutex
	var work sync.WaitGroup
	counts := tally{}
	start := make(chan struct{})
	for i := range n {
		work.Go(func() {
			ctx := s.Context()
			if leaving && i%3 == 0 {
				var leave context.CancelFunc
				ctx, leave = context.WithTimeoutCause(ctx, hang, nil)
				wait := time.Duration(rand.IntN(200)) * time.Millisecond
				timer := time.AfterFunc(wait, leave)
				defer timer.Stop()
				defer leave()
			}
			<-start
			e, code := s.asked(ctx, numbered(fmt.Sprintf("s%d", i), 5), execution.Limits{Timeout: hang})
			if code == sqlguard.CodeBusy {
				s.wantBusy(e)
			}
			mu.Lock()
			counts[code]++
			mu.Unlock()
		})
	}
	close(start)
	work.Wait()
	if sessions := s.sessions(); sessions > 10 {
		s.Errorf("%d sessions at the server, want at most 10", sessions)
	}
	return counts
}

// clearPeak sets the process's peak memory to its current memory (proc(5)).
func (c *command) clearPeak() {
	c.s.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", c.cmd.Process.Pid), []byte("5"), 0o600); err != nil {
		c.s.Fatal(err)
	}
}

// within fails the scenario if the process's peak memory was more than three
// times its idle memory plus 50 MB.
func (c *command) within(idle int) {
	c.s.Helper()
	if peak := c.memory("VmHWM"); peak > 3*idle+50 {
		c.s.Errorf("%d MB at the peak, %d MB idle", peak, idle)
	}
}

var load = []scenario{
	{
		name:   "1,000 sessions on a pool of 10, room to wait",
		does:   "1,000 sessions ask at once, each its own question; 10 statements may run and 1,000 wait.",
		passes: "All 1,000 get their own right answer, over at most 10 sessions at the server.",
		run: func(s *stand) string {
			s.database()
			s.open(settings{connections: 10, concurrency: 10, queue: 1000})
			counts := s.sessionsAtOnce(1000, false)
			return counts.String()
		},
	},
	{
		name:   "1,000 sessions on a pool of 10, little room",
		does:   "The same, where 50 may wait.",
		codes:  []sqlguard.Code{sqlguard.CodeBusy},
		passes: "Every session gets its own right answer or `busy` with a time to wait; at least 60 are answered.",
		run: func(s *stand) string {
			s.database()
			s.open(settings{connections: 10, concurrency: 10, queue: 50})
			s.right(one("first"))
			counts := s.sessionsAtOnce(1000, false)
			if counts[""] < 60 {
				s.Errorf("ended: %v", counts)
			}
			s.recovers()
			return "1,000 of 1,000 right or `busy`"
		},
	},
	{
		name:   "1,000 sessions, a third of which leave",
		does:   "The same with room for all, where every third session leaves at some moment of its call.",
		codes:  []sqlguard.Code{sqlguard.CodeCancelled},
		passes: "All others get their own right answer.",
		full:   true,
		run: func(s *stand) string {
			s.database()
			s.open(settings{connections: 10, concurrency: 10, queue: 1000})
			counts := s.sessionsAtOnce(1000, true)
			if counts[""] < 666 || counts[""]+counts[sqlguard.CodeCancelled] != 1000 {
				s.Errorf("ended: %v", counts)
			}
			s.recovers()
			return "1,000 of 1,000 right or `cancelled`"
		},
	},
	{
		name:   "ten million rows",
		does:   "The command is asked for a stream of ten million rows, 5 times.",
		passes: "Every answer has the 1,000 rows of the limit and says that it was cut; the process's memory stays below three times its idle memory and 50 MB; the server stops.",
		run: func(s *stand) string {
			c := s.commandOn(0)
			idle := c.memory("VmRSS")
			c.clearPeak()
			for range 5 {
				a := c.answer(c.call("SELECT generate_series(1, 10000000) AS n, 'a text of some length' AS t"))
				if content := a.Result.Content; content.RowCount != 1000 || content.TruncatedBy != "rows" || fmt.Sprint(content.Rows[999][0]) != "1000" {
					s.Errorf("%d rows, cut by %q, code %q", content.RowCount, content.TruncatedBy, a.code())
				}
			}
			s.gone()
			c.within(idle)
			c.right(one("after"))
			c.bye()
			s.recorded(s.logDir, 0)
			return ""
		},
	},
	{
		name:   "a cell of 250 MB",
		does:   "The command is asked for a row with a cell of 250 MB, after one row without.",
		passes: "The answer has the row before it and says which cell ended it; the memory stays below three times the idle memory and 50 MB.",
		full:   true,
		run: func(s *stand) string {
			c := s.commandOn(0)
			idle := c.memory("VmRSS")
			c.clearPeak()
			a := c.answer(c.call("SELECT n, repeat('ktx ', n * 62500000) AS cell FROM generate_series(0, 1) AS n"))
			if content := a.Result.Content; content.RowCount != 1 || content.TruncatedBy != "cell" {
				s.Errorf("%d rows, cut by %q, code %q", content.RowCount, content.TruncatedBy, a.code())
			}
			s.gone()
			c.within(idle)
			c.right(one("after"))
			c.bye()
			s.recorded(s.logDir, 0)
			return ""
		},
	},
	{
		name:   "1,600 columns",
		does:   "A table of 1,600 columns is read whole.",
		passes: "The answer keeps the first 1,000 columns and says so; every value is right.",
		run: func(s *stand) string {
			s.database()
			var columns, values []string
			for i := range 1600 {
				columns = append(columns, fmt.Sprintf("c%d int", i))
				values = append(values, fmt.Sprint(i*7))
			}
			s.server.Exec(s, s.url, "CREATE TABLE columns ("+strings.Join(columns, ", ")+")",
				"INSERT INTO columns VALUES ("+strings.Join(values, ", ")+")", "GRANT SELECT ON columns TO "+s.role)
			s.open(settings{})
			res, err := s.gateway.Query(s.Context(), execution.Request{ConnectionID: connectionID, SQL: "SELECT * FROM columns"})
			if err != nil {
				s.Fatal(err)
			}
			if len(res.Columns) != 1000 || len(res.Rows) != 1 || len(res.Rows[0]) != 1000 || res.TruncatedBy != execution.TruncatedByColumns || !res.Truncated {
				s.Fatalf("%d columns, %d rows, cut by %q", len(res.Columns), len(res.Rows), res.TruncatedBy)
			}
			for i, v := range res.Rows[0] {
				if v.Text != values[i] {
					s.Errorf("column %d is %q, want %q", i, v.Text, values[i])
				}
			}
			s.right(one("after"))
			return "1,000 of 1,000 values right"
		},
	},
}
