//go:build linux

package faults_test

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// ownServer gives the scenario a server of its own, which it may break, and a
// gateway that has answered once.
func (s *stand) ownServer(options testdb.Options, set settings) {
	s.Helper()
	if s.scenario.mariadb {
		s.mariadbOn(testdb.StartMariaDB(s, options))
	} else {
		s.databaseOn(testdb.StartPostgres(s, options))
	}
	s.open(set)
	s.right(one("first"))
}

// sleepers starts n endless statements. The function that it returns waits for
// them and returns how they ended.
func (s *stand) sleepers(n int) func() tally {
	s.Helper()
	var ended []func() sqlguard.Code
	for range n {
		ended = append(ended, s.asking(s.Context(), endless(), execution.Limits{Timeout: 5 * time.Minute}))
	}
	s.eventually("the statements run", func() bool { return s.running() == n })
	return func() tally {
		s.Helper()
		counts := tally{}
		for _, end := range ended {
			counts[end()]++
		}
		return counts
	}
}

// restart stops the server while 3 statements run and 2 connections are idle,
// asks while the server is stopped, and starts it again.
func (s *stand) restart(mode testdb.StopMode) string {
	s.Helper()
	s.ownServer(testdb.Options{}, settings{connections: 6})
	s.crowd(5, 2)
	ended := s.sleepers(3)
	if err := s.bench.Stop(s.Context(), mode); err != nil {
		s.Fatal(err)
	}
	// A server that stops at once may not send a message to its clients.
	if counts := ended(); counts[""] != 0 {
		s.Errorf("statements that ran: %v", counts)
	}
	s.wantCode(s.ask(s.Context(), one("down"), execution.Limits{}), sqlguard.CodeConnectionLost)
	if err := s.bench.Restart(s.Context(), mode); err != nil {
		s.Fatal(err)
	}
	counts := s.crowd(6, 2)
	if counts[""] != 12 {
		s.Errorf("after the start: %v", counts)
	}
	return counts.String() + " after the start"
}

// kill sends a signal to a process of the server.
func (s *stand) kill(pid int, signal syscall.Signal) {
	s.Helper()
	if err := syscall.Kill(pid, signal); err != nil {
		s.Fatal(err)
	}
}

var server = []scenario{
	{
		name:   "fast restart",
		does:   "The server is stopped in fast mode under 3 statements and 3 idle connections, asked while it is down, and started.",
		codes:  []sqlguard.Code{sqlguard.CodeServerRestarted, sqlguard.CodeConnectionLost},
		passes: "The statements end with one of these codes, a call while it is down as `connection_lost`; all 12 calls after the start are right.",
		run:    func(s *stand) string { return s.restart(testdb.Fast) },
	},
	{
		name:   "immediate restart",
		does:   "The same in immediate mode: the server recovers as after a crash.",
		codes:  []sqlguard.Code{sqlguard.CodeServerRestarted, sqlguard.CodeConnectionLost},
		passes: "The same.",
		run:    func(s *stand) string { return s.restart(testdb.Immediate) },
	},
	{
		name:   "restart under load",
		does:   "The server is restarted twice while 6 callers ask without pause.",
		codes:  []sqlguard.Code{sqlguard.CodeServerRestarted, sqlguard.CodeConnectionLost},
		passes: "Every caller is answered again after each start.",
		full:   true,
		run: func(s *stand) string {
			s.ownServer(testdb.Options{}, settings{connections: 6})
			ctx, stop := context.WithCancel(s.Context())
			var work sync.WaitGroup
			for c := range 6 {
				work.Go(func() {
					for i := 0; ctx.Err() == nil; i++ {
						s.ask(s.Context(), numbered(fmt.Sprintf("r%d-%d", c, i), 200), execution.Limits{})
					}
				})
			}
			for _, mode := range []testdb.StopMode{testdb.Fast, testdb.Immediate} {
				time.Sleep(500 * time.Millisecond)
				if err := s.bench.Restart(s.Context(), mode); err != nil {
					s.Error(err)
				}
				s.recovers()
			}
			stop()
			work.Wait()
			return ""
		},
	},
	{
		name:   "restart while idle",
		does:   "The server is restarted in fast mode while the gateway's 4 connections are idle.",
		passes: "No call notices: all 8 are right.",
		full:   true,
		run: func(s *stand) string {
			s.ownServer(testdb.Options{}, settings{connections: 4})
			s.crowd(4, 2)
			if err := s.bench.Restart(s.Context(), testdb.Fast); err != nil {
				s.Fatal(err)
			}
			counts := s.crowd(4, 2)
			return counts.String()
		},
	},
	{
		name:   "shutdown that waits",
		does:   "The server is told to stop when its clients have left (smart), while a statement runs.",
		codes:  []sqlguard.Code{sqlguard.CodeServerRestarted, sqlguard.CodeConnectionLost},
		passes: "The statement is answered; a call that needs a new connection ends as `server_restarted`; the end of the gateway lets the server stop.",
		full:   true,
		run: func(s *stand) string {
			s.ownServer(testdb.Options{}, settings{connections: 2})
			before := s.ended()
			ended := s.asking(s.Context(), napping("smart", 1.5), execution.Limits{})
			s.begun(before)
			s.kill(s.server.Pid(), syscall.SIGTERM)
			s.eventually("the server takes no connections", func() bool {
				conn, err := pgx.Connect(s.Context(), s.url)
				if err == nil {
					_ = conn.Close(s.Context())
				}
				return err != nil
			})
			s.wantCode(s.ask(s.Context(), one("refused"), execution.Limits{}), sqlguard.CodeServerRestarted)
			s.wantCode(ended(), "")
			if err := s.gateway.Close(s.Context()); err != nil {
				s.Error(err)
			}
			s.gateway = nil // its sessions ended with the server
			s.eventually("the server has stopped", func() bool { return syscall.Kill(s.server.Pid(), 0) != nil || s.server.Pid() == 0 })
			return ""
		},
	},
	{
		name:   "server that is starting up",
		does:   "A server that replays its log takes connections only to say so (57P03).",
		codes:  []sqlguard.Code{sqlguard.CodeServerRestarted, sqlguard.CodeConnectionLost},
		passes: "Calls end as `server_restarted`, which may be tried again, until the server is up.",
		full:   true,
		run: func(s *stand) string {
			s.ownServer(testdb.Options{Settings: map[string]string{"restore_command": "sleep 1; false"}}, settings{})
			dir := outside[string](s, s.server.URL("", ""), "SHOW data_directory")
			if err := s.server.Stop(s.Context(), testdb.Fast); err != nil {
				s.Fatal(err)
			}
			if err := s.fileOfServer(filepath.Join(dir, "recovery.signal")); err != nil {
				s.Fatal(err)
			}
			started := make(chan error, 1)
			go func() { started <- s.server.Restart(context.WithoutCancel(s.Context()), testdb.Fast) }()
			seen := false
			s.eventually("the server says that it is starting up", func() bool {
				e, code := s.asked(s.Context(), one("early"), execution.Limits{})
				if code == sqlguard.CodeServerRestarted {
					seen = e.SQLState == "57P03" && e.Retryable
				}
				return seen || code == ""
			})
			if !seen {
				s.Error("no call met the server while it was starting up")
			}
			s.recovers()
			if err := <-started; err != nil {
				s.Error(err)
			}
			return ""
		},
	},
	{
		name:   "too many clients",
		does:   "Other clients hold every connection that the server gives to its role; then they leave.",
		codes:  []sqlguard.Code{sqlguard.CodeBusy},
		passes: "Calls end as `busy` with a time to wait; the gateway answers when there is room.",
		run: func(s *stand) string {
			s.databaseOn(testdb.StartPostgres(s, testdb.Options{Settings: map[string]string{"max_connections": "12", "superuser_reserved_connections": "3", "max_wal_senders": "0"}}))
			s.open(settings{})
			var held []*pgx.Conn
			for len(held) < 20 {
				conn, err := pgx.Connect(s.Context(), s.roleURL(""))
				if err != nil {
					break
				}
				held = append(held, conn)
			}
			if len(held) == 20 {
				s.Error("the server does not end")
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
	{
		name:   "session terminated",
		does:   "An administrator terminates the sessions of 2 running statements (pg_terminate_backend).",
		codes:  []sqlguard.Code{sqlguard.CodeServerRestarted},
		passes: "They end as `server_restarted` and are not tried again by the gateway; the next calls are right.",
		run: func(s *stand) string {
			s.database()
			s.open(settings{})
			ended := s.sleepers(2)
			for _, pid := range s.pids() {
				outside[bool](s, s.url, "SELECT pg_terminate_backend($1)", pid)
			}
			counts := ended()
			s.crowd(2, 2)
			return counts.String()
		},
	},
	{
		name:   "idle sessions terminated",
		does:   "An administrator terminates all idle sessions, 5 times.",
		passes: "No call notices: all 20 are right.",
		run: func(s *stand) string {
			s.database()
			s.open(settings{connections: 4})
			counts := tally{}
			for i := range 5 {
				for code, n := range s.crowd(4, 1) {
					counts[code] += n
				}
				for _, pid := range s.pids() {
					outside[bool](s, s.url, "SELECT pg_terminate_backend($1)", pid)
				}
				s.eventually("the sessions are gone", func() bool { return s.sessions() == 0 })
				s.right(one(fmt.Sprint("after", i)))
			}
			return counts.String()
		},
	},
	{
		name:   "statement cancelled from outside",
		does:   "An administrator cancels a running statement (pg_cancel_backend), 5 times.",
		codes:  []sqlguard.Code{sqlguard.CodeCancelled},
		passes: "It ends as `cancelled`; the next call, on the same connection, is right.",
		run: func(s *stand) string {
			s.database()
			s.open(settings{connections: 1})
			s.right(one("first"))
			first := s.pids()
			counts := tally{}
			for i := range 5 {
				ended := s.sleepers(1)
				for _, pid := range s.pids() {
					outside[bool](s, s.url, "SELECT pg_cancel_backend($1)", pid)
				}
				for code, n := range ended() {
					counts[code] += n
				}
				s.right(one(fmt.Sprint("after", i)))
			}
			if now := s.pids(); len(now) != 1 || now[0] != first[0] {
				s.Errorf("sessions %v, before %v", now, first)
			}
			return fmt.Sprintf("%d `cancelled`", counts[sqlguard.CodeCancelled])
		},
	},
	{
		name:   "crash of a server process",
		does:   "The server's process of one statement is killed with SIGKILL while 2 others run, so that the server ends all sessions and recovers.",
		codes:  []sqlguard.Code{sqlguard.CodeServerRestarted, sqlguard.CodeConnectionLost},
		passes: "All 3 end as `server_restarted` or `connection_lost`; the gateway answers when the server is back.",
		run: func(s *stand) string {
			s.ownServer(testdb.Options{}, settings{})
			ended := s.sleepers(3)
			s.kill(int(s.pids()[0]), syscall.SIGKILL)
			counts := ended()
			if counts[sqlguard.CodeServerRestarted]+counts[sqlguard.CodeConnectionLost] != 3 {
				s.Errorf("ended: %v", counts)
			}
			s.recovers()
			return ""
		},
	},
	{
		name:   "frozen server process",
		does:   "The server's process of a statement is stopped (SIGSTOP) before the statement's limit of 1 s, so that neither the server's own limit nor a cancel has an effect; it is continued afterwards.",
		codes:  []sqlguard.Code{sqlguard.CodeTimeout},
		passes: "The call ends as `timeout`; another call meanwhile is right; the frozen session ends when it can.",
		full:   true,
		run: func(s *stand) string {
			s.ownServer(testdb.Options{}, settings{})
			ended := s.asking(s.Context(), endless(), execution.Limits{Timeout: time.Second})
			s.eventually("the statement runs", func() bool { return s.running() == 1 })
			pid := int(s.pids()[0])
			s.kill(pid, syscall.SIGSTOP)
			s.right(one("meanwhile"))
			code := ended()
			s.kill(pid, syscall.SIGCONT)
			s.wantCode(code, sqlguard.CodeTimeout)
			s.right(one("after"))
			return ""
		},
	},
	{
		name:   "lock held by a writer",
		does:   "A writer holds a table; 3 statements on it have a lock limit of 0.2 s.",
		codes:  []sqlguard.Code{sqlguard.CodeDatabaseError},
		passes: "They end as `database_error` with SQLSTATE 55P03, and read the table when the writer has left.",
		run: func(s *stand) string {
			s.database()
			s.open(settings{})
			conn, err := pgx.Connect(s.Context(), s.url)
			if err != nil {
				s.Fatal(err)
			}
			defer conn.Close(context.WithoutCancel(s.Context())) //nolint:errcheck // it only holds a lock
			if _, err := conn.Exec(s.Context(), "BEGIN; LOCK TABLE held IN ACCESS EXCLUSIVE MODE"); err != nil {
				s.Fatal(err)
			}
			count := question{sql: "SELECT count(*) FROM public.held", rows: [][]string{{"0"}}}
			for range 3 {
				if e, _ := s.asked(s.Context(), count, execution.Limits{LockTimeout: 200 * time.Millisecond}); e == nil || e.SQLState != "55P03" {
					s.Errorf("ended with %v", e)
				}
			}
			if _, err := conn.Exec(s.Context(), "ROLLBACK"); err != nil {
				s.Fatal(err)
			}
			s.right(count)
			return ""
		},
	},
	{
		name:   "server out of temporary space",
		does:   "A sort needs more temporary space than the server gives (temp_file_limit).",
		codes:  []sqlguard.Code{sqlguard.CodeDatabaseError},
		passes: "It ends as `database_error`; the next call is right.",
		run: func(s *stand) string {
			s.database()
			s.server.Admin(s, "ALTER ROLE "+s.role+" SET temp_file_limit = '64kB'", "ALTER ROLE "+s.role+" SET work_mem = '64kB'")
			s.open(settings{})
			sort := question{sql: "SELECT max(h) FROM (SELECT md5(i::text) AS h FROM generate_series(1, 200000) AS i ORDER BY 1 OFFSET 0) AS s"}
			if e, _ := s.asked(s.Context(), sort, execution.Limits{}); e == nil || e.SQLState != "53400" {
				s.Errorf("ended with %+v", e)
			}
			s.right(one("after"))
			return ""
		},
	},
	{
		name:   "idle sessions ended by the server",
		does:   "The server ends sessions that are idle for 0.3 s (idle_session_timeout), 3 times.",
		passes: "No call notices: all are right.",
		full:   true,
		run: func(s *stand) string {
			s.database()
			if s.server.Version() < 14 {
				return "the server has no such setting"
			}
			s.server.Admin(s, "ALTER ROLE "+s.role+" SET idle_session_timeout = '300ms'")
			s.open(settings{connections: 2})
			for i := range 3 {
				s.right(one(fmt.Sprint("round", i)))
				s.eventually("the sessions are gone", func() bool { return s.sessions() == 0 })
			}
			s.right(one("last"))
			return ""
		},
	},
}

// fileOfServer makes an empty file that belongs to the server's user.
func (s *stand) fileOfServer(path string) error {
	s.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	uid, gid := s.serverAccount()
	return os.Lchown(path, uid, gid)
}

// serverAccount returns the user that servers run as. PostgreSQL and PgBouncer
// refuse to run as root. So when root runs the tests, they run as postgres, or
// as nobody, as in package testdb.
func (s *stand) serverAccount() (uid, gid int) {
	s.Helper()
	if os.Geteuid() != 0 {
		return os.Getuid(), os.Getgid()
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			s.Fatal(err)
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			s.Fatal(err)
		}
		return uid, gid
	}
	s.Fatal("there is no user postgres or nobody to run a server as")
	return 0, 0
}

// owner returns the user and group of a file.
func (s *stand) owner(path string) (uid, gid int) {
	s.Helper()
	info, err := os.Stat(path)
	if err != nil {
		s.Fatal(err)
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		s.Fatalf("the system does not report the owner of %s", path)
	}
	return int(sys.Uid), int(sys.Gid)
}
