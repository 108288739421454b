//go:build linux

package faults_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mssqldb"
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

// besideIt is the question of the second connection, of any product.
const besideIt = "SELECT 7 AS n"

// askBeside asks the second connection without a pause until stop is closed. No call may
// fail, and none may wait for a turn. It returns how many were answered.
func (s *stand) askBeside(stop <-chan struct{}) (answered int) {
	s.Helper()
	for {
		select {
		case <-stop:
			return answered
		case <-time.After(20 * time.Millisecond):
		}
		res, err := s.gateway.Query(s.Context(), execution.Request{ConnectionID: otherID, SQL: besideIt})
		switch {
		case err != nil:
			s.Errorf("the second connection: %v", err)
			return answered
		case len(res.Rows) != 1 || res.Rows[0][0].Text != "7":
			s.Errorf("the second connection: %v", res.Rows)
			return answered
		}
		if load := s.load(otherID); load.Held > 0 || load.Waiting > 0 {
			s.Errorf("the second connection: %+v", load)
		}
		answered++
	}
}

// unending sends 200 statements that the server does not end within their limit,
// for at most a minute, and asks sessions, which may be nil, how many sessions the
// gateway has at the server for them. The second connection is asked meanwhile. It
// returns the figures of the scenario.
func (s *stand) unending(text string, most int, sessions func() int) string {
	s.Helper()
	stop, answered := make(chan struct{}), make(chan int, 1)
	go func() { answered <- s.askBeside(stop) }()
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
	close(stop)
	counted := <-answered
	if counted == 0 {
		s.Error("the second connection was never answered")
	}
	if seen > most+1 {
		s.Errorf("%d sessions at the server, want at most %d", seen, most+1)
	}
	if counts[sqlguard.CodeTimeout] == 0 || counts[sqlguard.CodeBusy] == 0 {
		s.Errorf("ended: %v; want time limits and `busy`", counts)
	}
	s.eventually("no statement is held", func() bool { return s.load(connectionID).Held == 0 })
	s.eventually("the connection answers", func() bool {
		_, err := s.gateway.Query(s.Context(), execution.Request{ConnectionID: connectionID, SQL: besideIt})
		return err == nil
	})
	figures := fmt.Sprintf("%v; %d right on the second connection", counts, counted)
	if sessions != nil {
		figures += fmt.Sprintf("; at most %d sessions at the server for the first", seen)
	}
	return figures
}

// unendingOnServer is a scenario of a server. The server's other users are the
// connections with which the test counts the sessions.
var unendingOnServer = []scenario{{
	name:   "statements that the server does not end",
	does:   "For up to a minute, 8 callers send 200 statements of one call that the server does not interrupt, each with a limit of 100 ms, over 2 connections. Another connection of ktx to the same server is asked meanwhile.",
	codes:  []sqlguard.Code{sqlguard.CodeTimeout, sqlguard.CodeBusy},
	passes: "Calls end with a time limit or `busy`; the server never has more than 2 sessions and one for ending, and keeps accepting others; every call of the other connection is right and none of them waits for a turn; afterwards nothing is held.",
	full:   true,
	run: func(s *stand) string {
		s.database()
		s.open(settings{connections: 2, concurrency: 2, beside: true})
		return s.unending(s.bench.text(unended()), 2, s.sessionsOfFirst)
	},
}}

// unendingOnFile is the scenario of SQLite.
var unendingOnFile = []scenario{{
	name:   "statements that the engine does not end (SQLite)",
	does:   "The same on a file, with calls of instr().",
	codes:  []sqlguard.Code{sqlguard.CodeTimeout, sqlguard.CodeBusy},
	passes: "Calls end with a time limit or `busy`; every call of the other connection is right; afterwards nothing is held.",
	full:   true,
	run: func(s *stand) string {
		s.openFileWith(testdb.SQLiteFile(s), settings{beside: true})
		return s.unending("SELECT instr(printf('%.*c', 200000, 'a'), printf('%.*c', 100000, 'a') || 'b')", 0, nil)
	},
}}

// sessionsOfFirst counts the gateway's sessions at the server without those of the second
// connection, which has one statement at a time and so one session.
func (s *stand) sessionsOfFirst() int {
	s.Helper()
	return max(s.sessions()-1, 0)
}

// deafSQL is a statement that the stand-in for SQL Server does not end before its time.
const deafSQL = "SELECT CHARINDEX('ab', 'aab') AS n"

// unendingOnStandIn is the scenario of SQL Server.
var unendingOnStandIn = []scenario{{
	name:   "statements that the server does not end (SQL Server's stand-in)",
	does:   "The same on the stand-in for SQL Server, which acknowledges an attention only after 5 seconds, and every fifth time cuts the connection instead.",
	codes:  []sqlguard.Code{sqlguard.CodeTimeout, sqlguard.CodeBusy},
	passes: "The same as for PostgreSQL.",
	full:   true,
	run: func(s *stand) string {
		account := tdsserver.Reader
		account.ServerPermissions = []string{"VIEW SERVER STATE"}
		server := tdsserver.Start(s, tdsserver.Config{Accounts: []tdsserver.Account{account}})
		var calls atomic.Int64
		server.On(deafSQL, func(r *tdsserver.Reply) error {
			cut := calls.Add(1)%5 == 0
			time.Sleep(5 * time.Second)
			if cut {
				return r.Drop(true)
			}
			return nil
		})
		address := server.URL("encrypt", "true", "certificate", server.CertificateFile())
		s.openConnection(execution.Connection{
			ID: connectionID, Engine: "SQLSERVER", Dialect: sqlserver.Dialect{}, Policy: sqlguard.DefaultPolicy(), Concurrency: 2,
			Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
				return mssqldb.Open(ctx, mssqldb.Config{URL: execution.NewSecret(address), MaxConnections: 2, Session: sqlserver.Dialect{}.Session()}, guard)
			},
		}, settings{beside: true})
		return s.unending(deafSQL, 2, func() int { return max(server.Connections()-1, 0) })
	},
}}
