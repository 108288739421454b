//go:build linux

package faults_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// counting returns a question that computes until it is ended.
func counting() question {
	return question{mariadb: "SELECT COUNT(*) FROM numbers AS a, numbers AS b, numbers AS c WHERE a.i + b.i = -c.i", rows: [][]string{{"0"}}}
}

// counters starts n statements that compute. The function that it returns waits
// for them and returns how they ended.
func (s *stand) counters(n int) func() tally {
	s.Helper()
	var ended []func() sqlguard.Code
	for range n {
		ended = append(ended, s.asking(s.Context(), counting(), execution.Limits{Timeout: 5 * time.Minute}))
	}
	// A KILL that arrives while the server begins a statement is lost.
	s.eventually("the statements compute", func() bool {
		return len(s.mariadb().ids("AND COMMAND = 'Query' AND INFO LIKE 'SELECT COUNT(*)%' AND TIME_MS > 50")) == n
	})
	return func() tally {
		s.Helper()
		counts := tally{}
		for _, end := range ended {
			counts[end()]++
		}
		return counts
	}
}

// held opens connections to an address until the server accepts no more, but at
// most that many. It returns how many it opened, and a function that closes
// them.
func (b *mariadbBench) held(address string, most int) (n int, leave func()) {
	b.s.Helper()
	db, err := testdb.OpenMariaDB(address)
	if err != nil {
		b.s.Fatal(err)
	}
	var conns []*sql.Conn
	for len(conns) < most {
		conn, err := db.Conn(b.s.Context())
		if err != nil {
			break
		}
		conns = append(conns, conn)
	}
	return len(conns), func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
		if err := db.Close(); err != nil {
			b.s.Error(err)
		}
	}
}

var mariadbServer = append(onMariaDB(only(server, "fast restart", "immediate restart", "restart under load", "restart while idle")...), onMariaDB([]scenario{
	{
		name:   "too many connections",
		does:   "Other clients hold every connection of the server (max_connections); then they leave.",
		codes:  []sqlguard.Code{sqlguard.CodeBusy},
		passes: "Calls end as `busy` with a time to wait; the gateway answers when there is room.",
		run: func(s *stand) string {
			s.mariadbOn(testdb.StartMariaDB(s, testdb.Options{Settings: map[string]string{"max_connections": "12"}}))
			b := s.mariadb()
			s.open(settings{})
			n, leave := b.held(b.roleURL(""), 40)
			if n == 40 {
				s.Error("the server does not end")
			}
			e, _ := s.asked(s.Context(), one("full"), execution.Limits{})
			s.wantBusy(e)
			leave()
			s.recovers()
			return ""
		},
	},
	{
		name:   "too many connections of one user",
		does:   "Other clients hold every connection that the gateway's user may have (MAX_USER_CONNECTIONS 3); then they leave.",
		codes:  []sqlguard.Code{sqlguard.CodeBusy},
		passes: "Calls end as `busy` with a time to wait; the gateway answers when there is room.",
		run: func(s *stand) string {
			s.database()
			b := s.mariadb()
			b.Admin(s, "ALTER USER '"+b.user+"'@'%' WITH MAX_USER_CONNECTIONS 3")
			s.open(settings{})
			n, leave := b.held(b.roleURL(""), 40)
			if n != 3 {
				s.Errorf("%d connections, want 3", n)
			}
			e, _ := s.asked(s.Context(), one("full"), execution.Limits{})
			s.wantBusy(e)
			leave()
			s.recovers()
			return ""
		},
	},
	{
		name:   "connections killed",
		does:   "An administrator kills the connections of 2 running statements (KILL CONNECTION).",
		codes:  []sqlguard.Code{sqlguard.CodeServerRestarted, sqlguard.CodeConnectionLost},
		passes: "They end with one of these codes and are not tried again by the gateway; the next calls are right.",
		run: func(s *stand) string {
			s.database()
			s.open(settings{})
			ended := s.counters(2)
			s.mariadb().kill("CONNECTION")
			counts := ended()
			if counts[""] != 0 {
				s.Errorf("ended: %v", counts)
			}
			s.crowd(2, 2)
			return ""
		},
	},
	{
		name:   "idle connections killed",
		does:   "An administrator kills all idle connections, 5 times.",
		passes: "No call notices: all 20 are right.",
		run: func(s *stand) string {
			s.database()
			s.open(settings{connections: 4})
			counts := tally{}
			for i := range 5 {
				for code, n := range s.crowd(4, 1) {
					counts[code] += n
				}
				s.mariadb().kill("CONNECTION")
				s.eventually("the connections are gone", func() bool { return s.sessions() == 0 })
				s.right(one(fmt.Sprint("after", i)))
			}
			return counts.String()
		},
	},
	{
		name:   "statement killed from outside",
		does:   "An administrator kills a running statement (KILL QUERY), 5 times.",
		codes:  []sqlguard.Code{sqlguard.CodeCancelled},
		passes: "It ends as `cancelled`; the next call, on the same connection, is right.",
		run: func(s *stand) string {
			s.database()
			s.open(settings{connections: 1})
			s.right(one("first"))
			first := s.mariadb().ids("")
			counts := tally{}
			for i := range 5 {
				ended := s.counters(1)
				s.mariadb().kill("QUERY")
				for code, n := range ended() {
					counts[code] += n
				}
				s.right(one(fmt.Sprint("after", i)))
			}
			if now := s.mariadb().ids(""); len(now) != 1 || now[0] != first[0] {
				s.Errorf("sessions %v, before %v", now, first)
			}
			return fmt.Sprintf("%d `cancelled`", counts[sqlguard.CodeCancelled])
		},
	},
	{
		name:   "frozen server",
		does:   "The server is stopped (SIGSTOP) while a statement with a limit of 1 s runs, so that neither the server's own limit nor a KILL has an effect; it is continued afterwards.",
		codes:  []sqlguard.Code{sqlguard.CodeTimeout},
		passes: "The call ends as `timeout`; the gateway answers when the server goes on.",
		full:   true,
		run: func(s *stand) string {
			s.ownServer(testdb.Options{}, settings{})
			ended := s.asking(s.Context(), counting(), execution.Limits{Timeout: time.Second})
			s.eventually("the statement runs", func() bool { return s.running() == 1 })
			s.kill(s.mariadb().Pid(), syscall.SIGSTOP)
			code := ended()
			s.kill(s.mariadb().Pid(), syscall.SIGCONT)
			s.wantCode(code, sqlguard.CodeTimeout)
			s.recovers()
			return ""
		},
	},
	{
		name:   "lock held by a change of a table",
		does:   "A session that changes a table (ALTER TABLE) waits for another's transaction, and holds up all that come behind it; 3 statements on the table have a lock limit of 1 s.",
		codes:  []sqlguard.Code{sqlguard.CodeDatabaseError},
		passes: "They end as `database_error` with the server's error 1205 and may be tried again; they read the table when the lock is gone.",
		run:    metadataLock,
	},
	{
		name:   "no temporary space",
		does:   "A query needs a larger temporary table than the server makes on disk (tmp_disk_table_size).",
		codes:  []sqlguard.Code{sqlguard.CodeDatabaseError},
		passes: "It ends as `database_error` with the server's error 1114; the next call is right.",
		run: func(s *stand) string {
			s.ownServer(testdb.Options{Settings: map[string]string{"tmp_disk_table_size": "64K", "tmp_memory_table_size": "16K", "max_heap_table_size": "16K"}}, settings{})
			distinct := question{mariadb: "SELECT COUNT(*) FROM (SELECT DISTINCT MD5(i) AS h, REPEAT(i, 100) AS r FROM numbers) AS d"}
			if e, _ := s.asked(s.Context(), distinct, execution.Limits{}); e == nil || !strings.Contains(e.Message, "1114") {
				s.Errorf("ended with %+v", e)
			}
			s.right(one("after"))
			return ""
		},
	},
	{
		name:   "idle connections ended by the server",
		does:   "The server ends connections that are idle for 1 s (wait_timeout), 3 times.",
		passes: "No call notices: all are right.",
		run: func(s *stand) string {
			s.ownServer(testdb.Options{Settings: map[string]string{"wait_timeout": "1"}}, settings{connections: 2})
			for i := range 3 {
				s.right(one(fmt.Sprint("round", i)))
				s.eventually("the connections are gone", func() bool { return s.sessions() == 0 })
			}
			s.right(one("last"))
			return ""
		},
	},
	{
		name:   "server that becomes read-only and back",
		does:   "The server is made read-only and writable again 5 times (read_only), as in a switch between a primary and its replica, while 4 callers ask.",
		passes: "No call notices: all are right.",
		run: func(s *stand) string {
			s.ownServer(testdb.Options{}, settings{connections: 4})
			counts := tally{}
			for i := range 5 {
				if err := s.mariadb().command(fmt.Sprintf("SET GLOBAL read_only = %d", 1-i%2)); err != nil {
					s.Fatal(err)
				}
				for code, n := range s.crowd(4, 2) {
					counts[code] += n
				}
			}
			return counts.String()
		},
	},
	{
		name:   "settings changed behind the gateway",
		does:   "An administrator changes the server's sql_mode, time zone, character set and limits of rows for new sessions, while the gateway has connections; every one is then killed.",
		passes: "No call notices: all are right, on old connections and new ones.",
		run: func(s *stand) string {
			s.ownServer(testdb.Options{}, settings{connections: 2})
			for _, set := range []string{"sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'", "time_zone = '+05:45'", "character_set_server = 'ucs2'", "sql_select_limit = 1", "autocommit = 0", "tx_isolation = 'SERIALIZABLE'"} {
				if err := s.mariadb().command("SET GLOBAL " + set); err != nil {
					s.Fatal(err)
				}
			}
			s.crowd(2, 3)
			s.mariadb().kill("CONNECTION")
			counts := s.crowd(2, 3)
			return counts.String() + " on new connections"
		},
	},
}...)...)

// metadataLock blocks statements with ALTER TABLE.
func metadataLock(s *stand) string {
	s.database()
	s.open(settings{})
	b := s.mariadb()
	db := b.root()
	defer func() { _ = db.Close() }()
	reader, err := db.Conn(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	if _, err := reader.ExecContext(s.Context(), "BEGIN; SELECT COUNT(*) FROM held"); err != nil {
		s.Fatal(err)
	}
	altered := make(chan error, 1)
	go func() {
		_, err := db.ExecContext(context.WithoutCancel(s.Context()), "ALTER TABLE held ADD COLUMN n int")
		altered <- err
	}()
	s.eventually("the change of the table waits", func() bool {
		return len(asAdmin[int64](b, "SELECT ID FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table metadata lock'")) > 0
	})
	count := question{mariadb: "SELECT COUNT(*) FROM held", rows: [][]string{{"0"}}}
	for range 3 {
		if e, _ := s.asked(s.Context(), count, execution.Limits{LockTimeout: time.Second}); e == nil || !strings.Contains(e.Message, "1205") || !e.Retryable {
			s.Errorf("ended with %+v", e)
		}
	}
	if _, err := reader.ExecContext(s.Context(), "ROLLBACK"); err != nil {
		s.Fatal(err)
	}
	if err := <-altered; err != nil {
		s.Error(err)
	}
	s.right(count)
	return ""
}
