//go:build linux

package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// busyLoop is a statement that computes until it is ended.
const busyLoop = "SELECT count(*) FROM generate_series(1, 1000000) AS a, generate_series(1, 1000000) AS b WHERE a = -b"

// gone waits until the server runs no statement of the gateway.
func (s *stand) gone() {
	s.Helper()
	s.eventually("no statement runs", func() bool { return s.running() == 0 })
}

// commandOn gives the scenario a database and the command on it, with that many
// endless statements running.
func (s *stand) commandOn(statements int) *command {
	s.Helper()
	s.database()
	c := s.serve(s.project())
	c.right(one("first"))
	for range statements {
		c.call(s.text(endless()))
	}
	s.eventually("the statements run", func() bool { return s.running() == statements })
	return c
}

var process = []scenario{
	{
		name:   "client closes its end",
		does:   "The client of `ktx mcp stdio` closes the command's input while a statement runs.",
		passes: "The statement ends at the server, the process with exit code 0, and the log has the outcome as cancelled and the orderly end.",
		run: func(s *stand) string {
			c := s.commandOn(1)
			_ = c.in.Close()
			c.ends(0)
			s.gone()
			s.recorded(s.logDir, 0)
			s.wantOutcomes(map[string]int{"ok": 1, "cancelled": 1})
			s.wantStop()
			return ""
		},
	},
	{
		name:   "client dies",
		does:   "Both ends of the client vanish at once while 3 statements run.",
		passes: "The same.",
		run: func(s *stand) string {
			c := s.commandOn(3)
			c.leave()
			c.ends(0)
			s.gone()
			s.recorded(s.logDir, 0)
			s.wantOutcomes(map[string]int{"ok": 1, "cancelled": 3})
			s.wantStop()
			return ""
		},
	},
	{
		name:   "client dies in the middle of an answer",
		does:   "The client reads 1,000 bytes of an answer of a megabyte and vanishes.",
		passes: "The process ends with exit code 0; the log has every outcome and the orderly end.",
		full:   true,
		run: func(s *stand) string {
			c := s.commandOn(0)
			c.call(s.text(wide("half", 1000)), `,"maxBytes":2000000`)
			if _, err := c.lines.ReadByte(); err != nil {
				s.Fatal(err)
			}
			c.leave()
			c.ends(0)
			s.recorded(s.logDir, 0)
			s.wantOutcomes(map[string]int{"ok": 2})
			s.wantStop()
			return ""
		},
	},
	{
		name:   "SIGTERM lets statements end",
		does:   "SIGTERM, while a statement of 1 s runs.",
		passes: "The statement is answered, then the process ends with exit code 0.",
		run: func(s *stand) string {
			c := s.commandOn(0)
			q := napping("drained", 1)
			before := s.ended()
			id := c.call(s.text(q))
			s.begun(before)
			c.signal(syscall.SIGTERM)
			if code := c.judged(q, c.answer(id)); code != "" {
				s.Errorf("ended as %s", code)
			}
			c.ends(0)
			s.recorded(s.logDir, 0)
			s.wantOutcomes(map[string]int{"ok": 2})
			s.wantStop()
			return ""
		},
	},
	{
		name:   "SIGTERM ends what takes too long",
		does:   "SIGTERM, while 2 statements run that would take an hour.",
		passes: "A further call ends as `draining` at once. The statements are ended when the time for it is over, their calls end as `draining`, and the process ends with exit code 0.",
		full:   true,
		codes:  []sqlguard.Code{sqlguard.CodeDraining},
		run: func(s *stand) string {
			c := s.commandOn(2)
			running := c.next
			c.signal(syscall.SIGTERM)
			answered := 1
			s.eventually("new calls are refused", func() bool {
				if c.answer(c.call("SELECT 1")).code() == sqlguard.CodeDraining {
					return true
				}
				answered++ // the signal has not arrived yet
				return false
			})
			for _, id := range []int{running - 1, running} {
				if code := c.answer(id).code(); code != sqlguard.CodeDraining {
					s.Errorf("a call that was cut ended as %q", code)
				}
			}
			c.ends(0)
			s.gone()
			s.recorded(s.logDir, 0)
			s.wantOutcomes(map[string]int{"ok": answered, "cancelled": 2})
			s.wantStop()
			return ""
		},
	},
	{
		name:   "second signal",
		does:   "SIGTERM twice while a statement runs, in another process SIGINT twice.",
		passes: "The second ends the process at once, and the server the statement; the log verifies and shows the statement without an outcome.",
		run: func(s *stand) string {
			s.noticesClients()
			s.database()
			dir := s.project()
			for i, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
				open := i
				for try := 0; open == i && try < 5; try++ { // the first signal may have ended the statement in order already
					c := s.serve(dir)
					c.call(s.text(endless()))
					s.eventually("the statement runs", func() bool { return s.running() == 1 })
					c.signal(sig)
					c.signalUntilItEnds(sig)
					c.ends(-1)
					s.gone()
					open = s.recorded(s.logDir, i+1)
				}
				if open != i+1 {
					s.Errorf("%d statements without an outcome, want %d", open, i+1)
				}
			}
			return ""
		},
	},
	{
		name:   "SIGKILL",
		does:   "The process is killed while one statement sleeps, one computes and one sends rows; then another process is started.",
		passes: "The server ends all 3 by itself; the log verifies and shows them without an outcome; the next process goes on with the log.",
		run: func(s *stand) string {
			s.noticesClients()
			c := s.commandOn(1)
			c.call(busyLoop)
			c.call("SELECT repeat('x', 10000), public.nap(0.1) FROM generate_series(1, 9000)")
			s.eventually("the statements run", func() bool { return s.running() == 3 })
			c.signal(syscall.SIGKILL)
			c.ends(-1)
			s.gone()
			if open := s.recorded(s.logDir, 3); open != 3 {
				s.Errorf("%d statements without an outcome, want 3", open)
			}
			next := s.serve(strings.TrimSuffix(s.logDir, "/.ktx/audit"))
			next.right(one("next"))
			next.bye()
			s.recorded(s.logDir, 3)
			return "3 statements ended by the server"
		},
	},
	{
		name:   "SIGKILL of one of two",
		does:   "Two processes write one log under load; one is killed.",
		passes: "The other goes on; the log verifies; at most the statements of the killed one have no outcome.",
		full:   true,
		run: func(s *stand) string {
			s.database()
			dir := s.project()
			a, b := s.serve(dir), s.serve(dir)
			for i := range 60 {
				a.call(s.text(one(fmt.Sprint("a", i))))
				b.right(one(fmt.Sprint("b", i)))
				if i == 30 {
					a.signal(syscall.SIGKILL)
					a.ends(-1)
					break
				}
			}
			for i := range 20 {
				b.right(one(fmt.Sprint("alone", i)))
			}
			b.bye()
			s.recorded(s.logDir, 31)
			s.wantStop()
			return ""
		},
	},
	{
		name: "SIGHUP under load",
		does: "12 reloads with calls under way and behind them: the configuration allows a function, then does not, then is not valid.",
		// The second configuration refuses the function.
		codes:  []sqlguard.Code{sqlguard.CodeFunctionNotAllowed},
		passes: "Every call on what all configurations allow is right; a statement that ran before a reload is answered; a call after it is judged by the new configuration, or by the last valid one; the log has every reload.",
		run:    reloads,
	},
	{
		name:   "client that does not read",
		does:   "The client sends 40 calls whose answers are 250 KB each, and reads none of them until all statements have ended.",
		passes: "The server is done with all of them meanwhile; the process's memory stays below its idle memory and 150 MB; when the client reads, all 40 answers are right.",
		run: func(s *stand) string {
			c := s.commandOn(0)
			idle := c.memory("VmRSS")
			q := wide("unread", 200)
			var ids []int
			for range 40 {
				ids = append(ids, c.call(s.text(q), `,"maxBytes":1000000`))
			}
			s.eventually("all statements are on record", func() bool { return s.outcomes(s.logDir)["ok"] == 41 })
			s.eventually("the server is idle", func() bool { return s.running() == 0 })
			if peak := c.memory("VmHWM"); peak > idle+150 {
				s.Errorf("%d MB at the peak, %d MB idle", peak, idle)
			}
			for _, id := range ids {
				if code := c.judged(q, c.answer(id)); code != "" {
					s.Errorf("ended as %s", code)
				}
			}
			c.bye()
			s.recorded(s.logDir, 0)
			return "40 of 40 right"
		},
	},
}

// reloads changes the configuration of a command that is under load.
func reloads(s *stand) string {
	s.database()
	dir := s.project()
	c := s.serve(dir)
	c.right(one("first"))
	allowing := string(s.read(filepath.Join(dir, "ktx.yaml")))
	configurations := []string{allowing, strings.Replace(allowing, "functions: {allow: [public.nap]}", "functions: {allow: []}", 1), "connections: ["}
	allowed := true
	const rounds = 12
	for i := range rounds {
		slow := napping(fmt.Sprint("slow", i), 0.3)
		under := 0
		if allowed {
			before := s.ended()
			under = c.call(s.text(slow))
			s.begun(before)
		}
		questions := map[int]question{}
		burst := func(when string) {
			for j := range 6 {
				q := one(fmt.Sprintf("%s%d-%d", when, i, j))
				questions[c.call(s.text(q))] = q
			}
		}
		burst("before")
		s.place(filepath.Join(dir, "ktx.yaml"), []byte(configurations[(i+1)%3]))
		c.signal(syscall.SIGHUP)
		burst("during")
		s.eventually("the reload is on record", func() bool { return s.counted(s.logDir, audit.ConfigReload) == i+1 })
		if (i+1)%3 != 2 {
			allowed = (i+1)%3 == 0
		}
		burst("after")
		code := c.ask(napping(fmt.Sprint("quick", i), 0))
		if refused := code == sqlguard.CodeFunctionNotAllowed; refused == allowed {
			s.Errorf("reload %d: a call of the function ended as %q, allowed %t", i+1, code, allowed)
		}
		if under != 0 {
			if code := c.judged(slow, c.answer(under)); code != "" {
				s.Errorf("a statement that ran before reload %d ended as %s", i+1, code)
			}
		}
		for id, q := range questions {
			if code := c.judged(q, c.answer(id)); code != "" {
				s.Errorf("reload %d: %s ended as %s", i+1, shorten(s.text(q)), code)
			}
		}
	}
	c.bye()
	s.recorded(s.logDir, 0)
	s.wantStop()
	return fmt.Sprintf("%d reloads, %d calls right", rounds, rounds*18)
}
