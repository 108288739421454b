package cli_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// work is what the statement of a call does when the call ends.
type work struct {
	name string
	sql  string
	// event is the server's name of what the statement waits for; "" stands for
	// anything.
	event string
	// via is the network link between ktx and the server; nil for a direct
	// connection.
	via func(t *testing.T, server, letIn string) *link
	// connecting says that the call still waits for its connection, so that the
	// whole session must end.
	connecting bool
}

// stage is a database for the calls, with access to the server's own view of them.
type stage struct {
	driver  string
	version int
	address string // the URL that ktx gets
	server  string // host and port
	letIn   string // what the server says to whom it has let in
	allowed string // the function that the works call
	works   []work
	// count counts the sessions of ktx: all, or those that run a statement.
	count func(t *testing.T, all bool) int
	// began returns when a statement began, if it runs and waits for event.
	began func(t *testing.T, statement, event string) (began time.Time, runs bool)
}

// postgresStage returns a stage on PostgreSQL.
func postgresStage(t *testing.T) *stage {
	t.Helper()
	server := testdb.Postgres(t)
	address := server.NewDatabase(
		t,
		"CREATE FUNCTION public.nap(seconds float8) RETURNS text LANGUAGE sql AS 'SELECT pg_catalog.pg_sleep(seconds)::text'",
		// Compiling a statement just in time cannot be interrupted.
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET jit = off', current_database()); END $$",
		"CREATE TABLE public.held (id int)",
		"CREATE TABLE public.large (cell text)",
		"ALTER TABLE public.large ALTER cell SET STORAGE EXTERNAL",
		"INSERT INTO public.large SELECT repeat('x', 100000000)",
	)
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
		return conn
	}
	watcher, holder := connect(), connect()
	if _, err := holder.Exec(t.Context(), "BEGIN; LOCK TABLE public.held IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	return &stage{
		driver: "postgres", version: server.Version(), address: address, server: server.Addr(), allowed: "public.nap",
		letIn: "R\x00\x00\x00\x08\x00\x00\x00\x00", // AuthenticationOk
		works: []work{
			{name: "sleeping", sql: "SELECT public.nap(600)", event: "PgSleep"},
			{name: "computing", sql: "SELECT count(*) FROM generate_series(1, 1000000) AS a, generate_series(1, 1000000) AS b WHERE a = -b"},
			{name: "waiting for a lock", sql: "SELECT id FROM public.held", event: "relation"},
			{name: "streaming rows", sql: "SELECT i, repeat('x', 1000), public.nap(0.002) FROM generate_series(1, 9000) AS i", event: "PgSleep"},
			{name: "in a cell of 100 MB", sql: "SELECT cell FROM public.large", event: "ClientWrite", via: slowLink},
			{name: "connecting", sql: "SELECT 1", via: silentLink, connecting: true},
		},
		count: func(t *testing.T, all bool) (n int) {
			t.Helper()
			err := watcher.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND application_name = 'ktx' AND ($1 OR state = 'active')`, all).Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			return n
		},
		began: func(t *testing.T, statement, event string) (time.Time, bool) {
			t.Helper()
			var began *time.Time
			err := watcher.QueryRow(t.Context(), `SELECT min(query_start) FROM pg_stat_activity
				WHERE datname = current_database() AND application_name = 'ktx' AND state = 'active'
				AND query = $1 AND ($2 = '' OR wait_event = $2)`, statement, event).Scan(&began)
			if err != nil {
				t.Fatal(err)
			}
			if began == nil {
				return time.Time{}, false
			}
			return *began, true
		},
	}
}

// mariadbStage returns a stage on MariaDB.
func mariadbStage(t *testing.T) *stage {
	t.Helper()
	server := testdb.MariaDB(t)
	owner := server.NewDatabase(
		t,
		// INVOKER, so that the list of processes shows who called it.
		"CREATE FUNCTION nap(seconds double) RETURNS double NO SQL SQL SECURITY INVOKER RETURN SLEEP(seconds)",
		"CREATE TABLE held (id int)",
		"CREATE TABLE large (cell longtext)",
		"INSERT INTO large SELECT REPEAT('x', 10000000) FROM seq_1_to_10",
	)
	name := databaseOf(t, owner)
	user := server.NewUser(t, "SELECT, EXECUTE ON `"+name+"`.*")
	watcher := server.DB(t, owner)
	watcher.SetMaxOpenConns(1)
	holder, err := server.DB(t, owner).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = holder.Close() })
	if _, err := holder.ExecContext(t.Context(), "LOCK TABLES held WRITE"); err != nil {
		t.Fatal(err)
	}
	return &stage{
		driver: "mariadb", address: server.URL(name, user), server: server.Addr(), allowed: name + ".nap",
		letIn: "\x00\x00\x00\x02\x00\x00\x00", // an OK packet: no rows, no id, autocommit, no warnings
		works: []work{
			{name: "sleeping", sql: "SELECT nap(600)", event: "User sleep"},
			{name: "computing", sql: "SELECT COUNT(*) FROM seq_1_to_1000000 AS a, seq_1_to_1000000 AS b WHERE a.seq + b.seq = -1"},
			{name: "waiting for a lock", sql: "SELECT id FROM held", event: "Waiting for table metadata lock"},
			{name: "streaming rows", sql: "SELECT seq, REPEAT('x', 1000), nap(0.002) FROM seq_1_to_9000", event: "User sleep"},
			{name: "in 100 MB of cells", sql: "SELECT cell FROM large", event: "Writing to net", via: slowLink},
			{name: "connecting", sql: "SELECT 1", via: silentLink, connecting: true},
		},
		count: func(t *testing.T, all bool) (n int) {
			t.Helper()
			// A KILL can still run after its statement has ended.
			err := watcher.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM information_schema.processlist
				WHERE user = ? AND COALESCE(info, '') NOT LIKE 'KILL%' AND (? OR command <> 'Sleep')`, user, all).Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			return n
		},
		began: func(t *testing.T, statement, event string) (time.Time, bool) {
			t.Helper()
			var ms sql.NullFloat64
			err := watcher.QueryRowContext(t.Context(), `SELECT MAX(time_ms) FROM information_schema.processlist
				WHERE user = ? AND command <> 'Sleep' AND info = ? AND (? = '' OR state = ?)`, user, statement, event, event).Scan(&ms)
			if err != nil {
				t.Fatal(err)
			}
			return time.Now().Add(-time.Duration(ms.Float64 * float64(time.Millisecond))), ms.Valid
		},
	}
}

// project makes a project with the stage's database, through a link if there is one.
func (s *stage) project(t *testing.T, limit time.Duration, via *link) (dir string) {
	t.Helper()
	address, err := url.Parse(s.address)
	if err != nil {
		t.Fatal(err)
	}
	if via != nil {
		address.Host = via.listener.Addr().String()
	}
	dir = t.TempDir()
	secret := filepath.Join(dir, "url")
	config := fmt.Sprintf(`connections:
  demo:
    driver: %s
    url: file:%s
    functions: {allow: [%s]}
    limits: {timeout: %s, lockTimeout: 5m, bytes: 400MiB, cellBytes: 200MiB}
`, s.driver, secret, s.allowed, limit)
	for path, text := range map[string]string{secret: address.String(), filepath.Join(dir, "ktx.yaml"): config} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// begin has c start ktx and make a call that does w, and waits until the server runs
// the statement. It returns the time at which the statement began, or at which it was
// sent when the call waits for its connection.
func (s *stage) begin(t *testing.T, c *caller, w work, limit time.Duration) (began time.Time) {
	t.Helper()
	var via *link
	if w.via != nil {
		via = w.via(t, s.server, s.letIn)
	}
	c.start(t, s.project(t, limit, via))
	c.connect(t)
	if w.connecting { // the gateway knows the server, and needs a new connection
		via.silence()
		s.gone(t, w)
	}
	began = time.Now()
	c.call(t, strings.Replace(query(w.sql), `"connectionId"`, `"maxRows":9999,"maxBytes":400000000,"connectionId"`, 1))
	s.until(t, func() (runs bool) {
		if w.connecting {
			return s.count(t, true) > 0
		}
		began, runs = s.began(t, w.sql, w.event)
		return runs
	})
	return began
}

// gone waits until the server has ended what w does.
func (s *stage) gone(t *testing.T, w work) {
	t.Helper()
	s.until(t, func() bool { return s.count(t, w.connecting) == 0 })
}

func (s *stage) until(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(hang); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v", hang)
		}
	}
}
