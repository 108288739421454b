//go:build linux

package faults_test

import (
	"fmt"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// unended calls one function that the server does not interrupt. It runs for a few
// seconds.
func unended() question {
	return question{
		sql:     "SELECT length(translate(repeat('b', 25000), repeat('a', 25000), ''))",
		mariadb: "SELECT locate(concat(repeat('a', 30000), 'b'), repeat('a', 60000))",
	}
}

// unending sends 200 statements that the server does not end within their limit,
// for at most a minute, and asks sessions, which may be nil, how many sessions the
// gateway has at the server. It returns the figures of the scenario.
func (s *stand) unending(text string, most int, sessions func() int) string {
	s.Helper()
	var mu sync.Mutex
	counts := tally{}
	var work sync.WaitGroup
	calls := make(chan struct{})
	for range 8 {
		work.Go(func() {
			for range calls {
				_, err := s.gateway.Query(s.Context(), execution.Request{ConnectionID: connectionID, SQL: text, Limits: execution.Limits{Timeout: 100 * time.Millisecond}})
				code := execution.CodeOf(err)
				mu.Lock()
				counts[code]++
				mu.Unlock()
				if code != sqlguard.CodeTimeout && code != sqlguard.CodeBusy {
					s.Errorf("a statement that does not end: error %v", err)
				}
			}
		})
	}
	seen := 0
	end := time.After(time.Minute)
	func() {
		defer close(calls)
		for range 200 {
			for sent := false; !sent; {
				select {
				case calls <- struct{}{}:
					sent = true
				case <-end:
					return
				case <-time.After(50 * time.Millisecond):
				}
				if sessions != nil {
					seen = max(seen, sessions())
				}
			}
		}
	}()
	work.Wait()
	if seen > most+1 {
		s.Errorf("%d sessions at the server, want at most %d", seen, most+1)
	}
	if counts[sqlguard.CodeTimeout] == 0 || counts[sqlguard.CodeBusy] == 0 {
		s.Errorf("ended: %v; want time limits and `busy`", counts)
	}
	s.eventually("no statement is held", func() bool { return s.gateway.Loads()[0].Held == 0 })
	s.eventually("the connection answers", func() bool {
		_, err := s.gateway.Query(s.Context(), execution.Request{ConnectionID: connectionID, SQL: "SELECT 1"})
		return err == nil
	})
	if sessions == nil {
		return counts.String()
	}
	return fmt.Sprintf("%v; at most %d sessions at the server", counts, seen)
}

// unendingOnServer is a scenario of a server. The server's other users are the
// connections with which the test counts the sessions.
var unendingOnServer = []scenario{{
	name:   "statements that the server does not end",
	does:   "For up to a minute, 8 callers send 200 statements of one call that the server does not interrupt, each with a limit of 100 ms, over 2 connections.",
	codes:  []sqlguard.Code{sqlguard.CodeTimeout, sqlguard.CodeBusy},
	passes: "Calls end with a time limit or `busy`; the server never has more than 2 sessions and one for ending, and keeps accepting others; afterwards nothing is held.",
	full:   true,
	run: func(s *stand) string {
		s.database()
		s.open(settings{connections: 2, concurrency: 2})
		return s.unending(s.bench.text(unended()), 2, s.sessions)
	},
}}

// unendingOnFile is the scenario of SQLite.
var unendingOnFile = []scenario{{
	name:   "statements that the engine does not end (SQLite)",
	does:   "The same on a file, with calls of instr().",
	codes:  []sqlguard.Code{sqlguard.CodeTimeout, sqlguard.CodeBusy},
	passes: "Calls end with a time limit or `busy`; afterwards nothing is held.",
	full:   true,
	run: func(s *stand) string {
		s.openFile(testdb.SQLiteFile(s))
		return s.unending("SELECT instr(printf('%.*c', 200000, 'a'), printf('%.*c', 100000, 'a') || 'b')", 0, nil)
	},
}}
