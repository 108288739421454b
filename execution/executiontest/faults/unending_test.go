//go:build linux

package faults_test

import (
	"context"
	"fmt"
	"math"
	"slices"
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
		mariadb: "SELECT locate(concat(repeat('a', 60000), 'b'), repeat('a', 120000))",
	}
}

// besideIt is the question of the second connection, of any product.
const besideIt = "SELECT 7 AS n"

// leastPairs is how often the second connection and that of the gateway apart are asked at
// least, see [stand.keptLatency].
const leastPairs = 40

// pairs are how long the second connection took, and how long the same connection of a
// gateway that has no other took right before or after.
type pairs struct {
	mu   sync.Mutex
	took [][2]time.Duration
}

func (p *pairs) add(took [2]time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.took = append(p.took, took)
}

func (p *pairs) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.took)
}

// askBeside asks the second connection, and that of the gateway apart, in turn until stop
// is closed. No call may fail, and none may wait for a turn.
func (s *stand) askBeside(stop <-chan struct{}, asked *pairs) {
	s.Helper()
	gateways := [2]*execution.Gateway{s.gateway, s.apart}
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(10 * time.Millisecond):
		}
		var took [2]time.Duration
		for j := range gateways {
			which := (i + j) % 2
			start := time.Now()
			res, err := gateways[which].Query(s.Context(), execution.Request{ConnectionID: otherID, SQL: besideIt})
			took[which] = time.Since(start)
			switch {
			case err != nil:
				s.Errorf("the second connection: %v", err)
				return
			case len(res.Rows) != 1 || res.Rows[0][0].Text != "7":
				s.Errorf("the second connection: %v", res.Rows)
				return
			}
		}
		if load := s.load(otherID); load.Held > 0 || load.Waiting > 0 {
			s.Errorf("the second connection: %+v", load)
		}
		asked.add(took)
	}
}

// keptLatency compares how long the two took. How busy the server and the machine are
// changes from call to call, but it is the same for both. So when the statements that do
// not end cost the second connection nothing, each of the two takes twice as long as the
// other in about as many pairs. A difference of four standard deviations is no chance, and
// with leastPairs it shows when two pairs of three are slower.
func (s *stand) keptLatency(took [][2]time.Duration) (figures string) {
	s.Helper()
	slower, faster := 0, 0
	for _, pair := range took {
		switch {
		case pair[0] > 2*pair[1]:
			slower++
		case pair[1] > 2*pair[0]:
			faster++
		}
	}
	if len(took) < leastPairs {
		s.Errorf("the second connection and the other gateway were asked only %d times", len(took))
	}
	if float64(slower-faster) > 4*math.Sqrt(float64(slower+faster)) {
		s.Errorf("the second connection took more than twice as long as one of a gateway without the first in %d of %d pairs of calls, and less than half in %d", slower, len(took), faster)
	}
	return fmt.Sprintf("%d right on the second connection, %d of them took twice as long as in a gateway without the first, %d half as long", len(took), slower, faster)
}

// unending sends 200 statements that the server does not end within their limit, and more
// until the second connection was asked often enough. It asks sessions, which may be nil, how many sessions the
// gateway has at the server for them. It returns the figures of the scenario.
func (s *stand) unending(text string, most int, sessions func() int) string {
	s.Helper()
	stop, asked := make(chan struct{}), new(pairs)
	var beside sync.WaitGroup
	beside.Go(func() { s.askBeside(stop, asked) })
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
				if !slices.Contains(s.scenario.codes, code) {
					s.Errorf("a statement that does not end: error %v", err)
				}
			}
		})
	}
	seen := 0
	end := time.After(2 * hang)
	func() {
		defer close(calls)
		for sent := 0; sent < 200 || asked.count() < leastPairs; sent++ {
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
	beside.Wait()
	latency := s.keptLatency(asked.took)
	if seen > most+1 {
		s.Errorf("%d sessions at the server, want at most %d", seen, most+1)
	}
	for _, code := range s.scenario.codes {
		if counts[code] == 0 {
			s.Errorf("ended: %v; want %v", counts, s.scenario.codes)
		}
	}
	s.eventually("no statement is held", func() bool { return s.load(connectionID).Held == 0 })
	s.eventually("the connection answers", func() bool {
		_, err := s.gateway.Query(s.Context(), execution.Request{ConnectionID: connectionID, SQL: besideIt})
		return err == nil
	})
	figures := fmt.Sprintf("%v; %s", counts, latency)
	if sessions != nil {
		figures += fmt.Sprintf("; at most %d sessions at the server for the first", seen)
	}
	s.Log(figures)
	return figures
}

// unendingOnServer is a scenario of a server. The server's other users are the
// connections with which the test counts the sessions.
var unendingOnServer = []scenario{{
	name:   "statements that the server does not end",
	does:   "8 callers send at least 200 statements of one call that the server does not interrupt, each with a limit of 100 ms, over 2 connections. Another connection of ktx to the same server is asked meanwhile.",
	codes:  []sqlguard.Code{sqlguard.CodeTimeout, sqlguard.CodeBusy},
	passes: "Calls end with a time limit or `busy`; the server never has more than 2 sessions and one for ending, and keeps accepting others; every call of the other connection is right, none of them waits for a turn, and they take twice as long as in a gateway that has this connection alone about as often as half as long; afterwards nothing is held.",
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
	passes: "Calls end with a time limit or `busy`; the same holds for the other connection; afterwards nothing is held.",
	full:   true,
	run: func(s *stand) string {
		s.openFileWith(testdb.SQLiteFile(s), settings{beside: true})
		return s.unending("SELECT instr(printf('%.*c', 200000, 'a'), printf('%.*c', 100000, 'a') || 'b')", 0, nil)
	},
}}

// unendingOnDuckDB is the scenario of DuckDB. A build without it, which has no tag duckdb,
// skips the scenario.
var unendingOnDuckDB = []scenario{{
	name:   "statements that the engine does not end (DuckDB)",
	does:   "The same on a DuckDB file, with calls of repeat(). Each statement runs in a process of its own.",
	codes:  []sqlguard.Code{sqlguard.CodeTimeout},
	passes: "Every call ends with a time limit, because its process ends with it, so that none waits for a turn; the same holds for the other connection; afterwards nothing is held.",
	full:   true,
	run: func(s *stand) string {
		s.Skip("this build has no DuckDB; it needs the tag duckdb")
		return ""
	},
}}

// sessionsOfFirst counts the gateways' sessions at the server without those of the second
// connection and of the gateway apart, which have one statement at a time and so one
// session each.
func (s *stand) sessionsOfFirst() int {
	s.Helper()
	return max(s.sessions()-2, 0)
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
		return s.unending(deafSQL, 2, func() int { return max(server.Connections()-2, 0) })
	},
}}
