//go:build linux

package faults_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// jumping is a log that takes the time of its events from a clock that jumps.
type jumping struct {
	audit.Log
	offset *atomic.Int64
}

// Append sets the time of e from the clock.
func (j jumping) Append(ctx context.Context, e audit.Event) error {
	e.Time = time.Now().Add(time.Duration(j.offset.Load()))
	return j.Log.Append(ctx, e)
}

var clocks = []scenario{
	{
		name:   "clock set back and forth",
		does:   "The clock that dates the log's events jumps by an hour, a day and decades in both directions, each while a statement with a limit of 0.2 s runs and before one that is answered.",
		codes:  []sqlguard.Code{sqlguard.CodeTimeout},
		passes: "Every limit holds, every other call is right, the log verifies, and its order is that of the events.",
		run: func(s *stand) string {
			s.database()
			var offset atomic.Int64
			s.open(settings{wrap: func(log audit.Log) audit.Log { return jumping{log, &offset} }})
			const year = 365 * 24 * time.Hour
			for _, jump := range []time.Duration{0, time.Hour, -time.Hour, 24 * time.Hour, 30 * year, -50 * year, -290 * year, 0} {
				ended := s.asking(s.Context(), endless(), execution.Limits{Timeout: 200 * time.Millisecond})
				time.Sleep(50 * time.Millisecond)
				offset.Store(int64(jump))
				s.wantCode(ended(), sqlguard.CodeTimeout)
				s.right(one("jumped"))
			}
			offset.Store(0)
			for i, e := range s.events(s.logDir) {
				if e.Seq != int64(i+1) {
					s.Errorf("event %d has the number %d", i+1, e.Seq)
				}
			}
			return "8 jumps"
		},
	},
	{
		name:   "process frozen",
		does:   "The process is stopped (SIGSTOP) for 2 s in a statement with a limit of 1 s, as on a machine that sleeps: its clock jumps.",
		codes:  []sqlguard.Code{sqlguard.CodeTimeout},
		passes: "The statement ends as `timeout`; the next call is right.",
		full:   true,
		run: func(s *stand) string {
			s.database()
			dir := s.project()
			text, err := os.ReadFile(filepath.Join(dir, "ktx.yaml"))
			if err != nil {
				s.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), []byte(strings.Replace(string(text), "timeout: 5m", "timeout: 1s", 1)), 0o600); err != nil {
				s.Fatal(err)
			}
			c := s.serve(dir)
			c.right(one("first"))
			before := s.ended()
			id := c.call(endless().sql)
			s.begun(before)
			c.signal(syscall.SIGSTOP)
			time.Sleep(2 * time.Second)
			c.signal(syscall.SIGCONT)
			s.wantCode(c.judged(endless(), c.answer(id)), sqlguard.CodeTimeout)
			c.right(one("after"))
			c.bye()
			s.recorded(s.logDir, 0)
			return ""
		},
	},
}
