//go:build linux

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// dirt are statements that change the state of a session. The guard refuses all
// of them. The scenarios use a guard that approves everything.
var dirt = []string{
	"SET work_mem = '77MB'",
	"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
	"SET default_transaction_read_only = on",
	"SET search_path = pg_temp, public",
	"SET TimeZone = 'Asia/Tokyo'",
	"SET statement_timeout = '1h'",
	"SET standard_conforming_strings = off",
	"SELECT set_config('search_path', 'nowhere', false)",
	"SELECT set_config('ktx.own', 'left', false)",
	"SET ROLE NONE",
	"SET SESSION AUTHORIZATION DEFAULT",
	"SELECT pg_advisory_lock(42)",
	"SELECT pg_advisory_lock_shared(43)",
	"SELECT pg_try_advisory_lock(g) FROM generate_series(1, 20) AS g",
	"LISTEN secrets",
	"PREPARE left_behind AS SELECT 1",
	"DECLARE left_open CURSOR WITH HOLD FOR SELECT 1",
	"CREATE TEMP TABLE left_table AS SELECT 1",
	"COMMIT",
	"ROLLBACK",
	"COMMIT AND CHAIN",
	"SET LOCAL lock_timeout = '1h'",
	"SELECT pg_notify('secrets', 'x')",
	"SELECT setseed(0.5)",
	"LOAD 'auto_explain'",
	"SELECT 1/0",
	"SELECT no_such_column",
	"SELECT pg_advisory_lock(44), 1/0",
	"SELECT generate_series(1, 10000000)",
}

var pooler = []scenario{
	{
		name: "nothing is left for a second client",
		does: fmt.Sprintf("A backend whose guard approves everything sends %d texts that change a session (settings, roles, prepared statements, advisory locks, LISTEN, temporary tables, cursors, the end of its own transaction). "+
			"After each, a second client looks at the same session of the server.", len(dirt)),
		passes: "All settings of the session, its users, prepared statements, advisory locks, channels, cursors and temporary tables are as before the first text.",
		run:    nothingLeft,
	},
	{
		name:   "a second client can write",
		does:   "The gateway answers 20 questions, fails once and cancels once; then a second client writes on the same session of the server.",
		codes:  []sqlguard.Code{sqlguard.CodeDatabaseError, sqlguard.CodeCancelled},
		passes: "The second client's transaction is not read-only, and its session is as before.",
		run: func(s *stand) string {
			s.database()
			s.server.Exec(s, s.url, "CREATE TABLE written (n int)", "GRANT INSERT ON written TO "+s.role)
			b := s.startBouncer(nil)
			second := b.other()
			first, before := s.sessionState(second)
			s.open(settings{through: b.address})
			s.crowd(4, 5)
			s.wantCode(s.ask(s.Context(), question{sql: "SELECT 1/0"}, execution.Limits{}), sqlguard.CodeDatabaseError)
			pid, after := s.sessionState(second)
			if pid != first {
				s.Errorf("the sessions are not the same: %d, %d", first, pid)
			}
			for _, line := range newLines(before, after) {
				s.Errorf("left behind: %s", line)
			}
			if _, err := second.Exec(s.Context(), "INSERT INTO written VALUES (1)"); err != nil {
				s.Errorf("the second client: %v", err)
			}
			ctx, leave := context.WithCancel(s.Context())
			ended := s.asking(ctx, endless(), execution.Limits{})
			s.eventually("the statement runs", func() bool { return s.running() == 1 })
			leave()
			s.wantCode(ended(), sqlguard.CodeCancelled)
			if _, err := second.Exec(s.Context(), "INSERT INTO written VALUES (2)"); err != nil {
				s.Errorf("the second client after a cancel: %v", err)
			}
			s.right(one("last"))
			return ""
		},
	},
	{
		name:   "a cancel never hits another client",
		does:   "The gateway's callers leave their statements 25 times, at moments that differ and over a network that is 0 to 40 ms late, while a second client asks without pause; the pooler has 2 connections for all.",
		codes:  []sqlguard.Code{sqlguard.CodeCancelled},
		passes: "No statement of the second client is cancelled, and the next call of the gateway is right.",
		run:    func(s *stand) string { return s.strayCancels(25) },
	},
	{
		name:   "a cancel never hits another client, 100 times",
		does:   "The same 100 times.",
		codes:  []sqlguard.Code{sqlguard.CodeCancelled},
		passes: "The same.",
		full:   true,
		run:    func(s *stand) string { return s.strayCancels(100) },
	},
	{
		name:   "one connection for all",
		does:   "The pooler has one connection to the server; 8 callers of the gateway ask 10 questions each, and a second client asks beside them.",
		passes: "All answers are right.",
		run: func(s *stand) string {
			s.database()
			b := s.startBouncer(nil)
			s.open(settings{through: b.address, connections: 8, concurrency: 8})
			s.right(one("first"))
			stop := s.beside(b)
			counts := s.crowd(8, 10)
			stop()
			return counts.String()
		},
	},
	{
		name:   "no connection to be had",
		does:   "A second client holds the pooler's only connection in a transaction; a call has a limit of 0.5 s, another waits until the pooler ends it (query_wait_timeout of 1 s).",
		codes:  []sqlguard.Code{sqlguard.CodeTimeout, sqlguard.CodeBusy},
		passes: "The first ends as `timeout`, the second as `busy` with a time to wait; the gateway answers when the connection is free.",
		full:   true,
		run: func(s *stand) string {
			s.database()
			b := s.startBouncer(map[string]string{"query_wait_timeout": "1"})
			s.open(settings{through: b.address})
			s.right(one("first"))
			second := b.other()
			if _, err := second.Exec(s.Context(), "BEGIN"); err != nil {
				s.Fatal(err)
			}
			s.wantCode(s.ask(s.Context(), one("a"), execution.Limits{Timeout: 500 * time.Millisecond}), sqlguard.CodeTimeout)
			e, _ := s.asked(s.Context(), one("b"), execution.Limits{})
			s.wantBusy(e)
			if _, err := second.Exec(s.Context(), "ROLLBACK"); err != nil {
				s.Fatal(err)
			}
			s.recovers()
			return ""
		},
	},
	{
		name:   "pooler restarted",
		does:   "PgBouncer is ended at once under 2 statements and 2 idle connections, asked while it is down, and started.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost, sqlguard.CodeServerRestarted},
		passes: "The statements end with one of these codes and do not run on; calls after the start are right.",
		run: func(s *stand) string {
			s.noticesClients()
			s.database()
			b := s.startBouncer(map[string]string{"default_pool_size": "4"})
			s.open(settings{through: b.address, connections: 4})
			s.crowd(4, 2)
			ended := s.sleepers(2)
			b.stop(syscall.SIGTERM)
			ended()
			s.eventually("the statements have ended", func() bool { return s.running() == 0 })
			s.wantCode(s.ask(s.Context(), one("down"), execution.Limits{}), sqlguard.CodeConnectionLost)
			b.start()
			s.recovers()
			counts := s.crowd(4, 2)
			if counts[""] != 8 {
				s.Errorf("after the start: %v", counts)
			}
			return ""
		},
	},
	{
		name:   "server restarted behind the pooler",
		does:   "The server is restarted in fast mode under a statement, while the pooler stays.",
		codes:  []sqlguard.Code{sqlguard.CodeConnectionLost, sqlguard.CodeServerRestarted, sqlguard.CodeDatabaseError},
		passes: "The statement ends with an error that may be tried again; the gateway answers when the server is back.",
		run: func(s *stand) string {
			s.databaseOn(testdb.StartPostgres(s, testdb.Options{}))
			b := s.startBouncer(map[string]string{"default_pool_size": "4"})
			s.open(settings{through: b.address})
			s.right(one("first"))
			ended := make(chan *execution.Error, 1)
			go func() {
				e, _ := s.asked(s.Context(), endless(), execution.Limits{})
				ended <- e
			}()
			s.eventually("the statement runs", func() bool { return s.running() == 1 })
			if err := s.server.Restart(s.Context(), testdb.Fast); err != nil {
				s.Fatal(err)
			}
			if e := <-ended; e == nil || !e.Retryable {
				s.Errorf("ended with %+v", e)
			}
			s.recovers()
			return ""
		},
	},
	{
		name:   "pooler that is full",
		does:   "Other clients hold all connections that the pooler takes (max_client_conn); then they leave.",
		codes:  []sqlguard.Code{sqlguard.CodeBusy},
		passes: "Calls end as `busy` with a time to wait; the gateway answers when there is room.",
		run: func(s *stand) string {
			s.database()
			b := s.startBouncer(map[string]string{"max_client_conn": "4"})
			s.open(settings{through: b.address})
			held := make([]interface{ Close(context.Context) error }, 0, 4)
			for range 4 {
				held = append(held, b.other())
			}
			e, _ := s.asked(s.Context(), one("full"), execution.Limits{})
			s.wantBusy(e)
			for _, conn := range held {
				if err := conn.Close(s.Context()); err != nil {
					s.Error(err)
				}
			}
			s.recovers()
			return ""
		},
	},
}

// nothingLeft sends every statement of dirt, and checks that the session is
// clean afterwards.
func nothingLeft(s *stand) string {
	s.database()
	b := s.startBouncer(nil)
	guard := executiontest.Guard(s, "postgres", 0)
	db, err := pgdb.Open(s.Context(), pgdb.Config{URL: execution.NewSecret(s.roleURL(b.address)), MaxConnections: 1}, guard.ID())
	if err != nil {
		s.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			s.Error(err)
		}
	}()
	second := b.other()
	last, before := s.sessionState(second)
	same := 0
	for _, sql := range dirt {
		approved, err := guard.Approve(sql)
		if err != nil {
			s.Fatal(err)
		}
		res, err := db.Query(s.Context(), approved, execution.Limits{Rows: 100})
		if (res == nil) == (err == nil) {
			s.Errorf("%s: %v, %v", sql, res, err)
		}
		pid, after := s.sessionState(second)
		if pid == last {
			same++
		}
		last = pid
		for _, line := range newLines(before, after) {
			s.Errorf("after %s: %s", sql, line)
		}
	}
	// The backend closes the session after a statement that it takes for dirt.
	if same < 5 {
		s.Errorf("of %d statements only %d were checked on the same session", len(dirt), same)
	}
	s.Logf("same session: %d of %d", same, len(dirt))
	return fmt.Sprintf("nothing left by %d texts", len(dirt))
}

// strayCancels cancels statements of the gateway while a second client asks.
func (s *stand) strayCancels(rounds int) string {
	s.Helper()
	s.database()
	b := s.startBouncer(map[string]string{"default_pool_size": "2"})
	p := s.proxyTo(b.address)
	p.poison("latency", toServer, map[string]int{"latency": 20, "jitter": 20})
	s.open(settings{through: p.Listen, connections: 2})
	s.right(one("first"))
	stop := s.beside(b)
	for i := range rounds {
		ctx, leave := context.WithCancel(s.Context())
		ended := s.asking(ctx, endless(), execution.Limits{})
		time.Sleep(time.Duration(i%12) * 5 * time.Millisecond)
		leave()
		s.wantCode(ended(), sqlguard.CodeCancelled)
		s.rightAfterCancel(one(fmt.Sprint("after", i)))
	}
	stop()
	return fmt.Sprintf("%d of %d", rounds, rounds)
}

// rightAfterCancel is like right, but allows for a fault of PgBouncer before
// 1.25. When that gives up the cancel of one client, it may refuse another
// client that is logging in (its issue 1376). The caller then gets an error
// that permits a retry, and the retry is answered.
func (s *stand) rightAfterCancel(q question) {
	s.Helper()
	res, err := s.gateway.Query(s.Context(), execution.Request{ConnectionID: connectionID, SQL: s.text(q)})
	if e, ok := errors.AsType[*execution.Error](err); ok && e.Code == sqlguard.CodeConnectionLost && e.Retryable && strings.Contains(e.Message, "bouncer config error") {
		s.Logf("PgBouncer turned a client away: %s", e.Message)
		s.right(q)
		return
	}
	s.answered(q, res, err)
}

// beside makes a second client ask without a pause until stop is called. It
// fails the scenario when the client gets an error or a wrong answer.
func (s *stand) beside(b *bouncer) (stop func()) {
	s.Helper()
	conn := b.other()
	ctx, cancel := context.WithCancel(s.Context())
	var work sync.WaitGroup
	work.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			var got int
			if err := conn.QueryRow(context.WithoutCancel(ctx), fmt.Sprintf("SELECT %d FROM public.nap(0.003)", i)).Scan(&got); err != nil || got != i {
				s.Errorf("the second client asked for %d and got %d: %v", i, got, err)
				return
			}
		}
	})
	return func() {
		cancel()
		work.Wait()
	}
}
