//go:build linux

package faults_test

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// connectionID is the gateway's connection. Some scenarios have another one.
const (
	connectionID = "warehouse"
	otherID      = "beside"
)

// schema is part of every PostgreSQL database of a scenario. public.nap is a
// user-defined function that the policy allows. A statement that calls it runs
// without doing any work.
const schema = `
CREATE FUNCTION public.nap(seconds float8) RETURNS text LANGUAGE sql AS 'SELECT pg_catalog.pg_sleep(seconds)::text';
CREATE TABLE public.held (id int PRIMARY KEY);
GRANT SELECT ON public.held TO PUBLIC`

// A stand is the environment of one scenario: a database, a gateway on it with
// a log on disk, and connections that do not use the gateway.
type stand struct {
	*testing.T
	scenario *scenario

	bench  bench                  // the database; nil in a scenario of files
	server *testdb.PostgresServer // set for a PostgreSQL database
	url    string                 // of that database, as superuser
	role   string                 // the gateway's role, which may only read
	logDir string

	log     *audit.Writer
	gateway *execution.Gateway
	// apart is a gateway whose only connection is the second one of the first.
	apart    *execution.Gateway
	apartLog *audit.Writer
	behind   []func() // end sessions of the gateway's role that the scenario holds
	damaged  bool     // the scenario removed events from the log, and the log must report it
}

// A bench is the database of a scenario, of any product.
type bench interface {
	// addr is where the server listens.
	addr() string
	// roleURL is the gateway's URL of the database. If through is not empty,
	// the URL goes through the proxy or pooler with that address.
	roleURL(through string) string
	// connection is the gateway's connection to an address.
	connection(address string, set settings) execution.Connection
	// text returns a question's statement for the product.
	text(q question) string
	// driver and napName are the names of the product and of nap in a project.
	driver() string
	napName() string
	// sessions counts the gateway's sessions on the server. Running counts
	// those that run a statement, and sending those that wait for their client
	// to read.
	sessions() int
	running() int
	sending() int
	// Stop and Restart work only on a server of the scenario's own.
	Stop(ctx context.Context, mode testdb.StopMode) error
	Restart(ctx context.Context, mode testdb.StopMode) error
}

// database makes the scenario's database on the shared server.
func (s *stand) database() {
	s.Helper()
	if s.scenario.mariadb {
		s.mariadbOn(testdb.MariaDB(s))
		return
	}
	s.databaseOn(testdb.Postgres(s))
}

// databaseOn makes the scenario's database on a server.
func (s *stand) databaseOn(server *testdb.PostgresServer) {
	s.Helper()
	s.server = server
	s.url = server.NewDatabase(s, schema)
	s.role = server.NewRole(s)
	s.bench = &postgresBench{PostgresServer: server, s: s}
}

// postgresBench is the PostgreSQL database in the stand's fields.
type postgresBench struct {
	*testdb.PostgresServer
	s *stand
}

func (b *postgresBench) addr() string           { return b.Addr() }
func (b *postgresBench) text(q question) string { return q.sql }
func (b *postgresBench) driver() string         { return "postgres" }
func (b *postgresBench) napName() string        { return "public.nap" }
func (b *postgresBench) sending() int           { return b.s.waiting("ClientWrite") }

func (b *postgresBench) sessions() int {
	b.s.Helper()
	return outside[int](b.s, b.URL("", ""), "SELECT count(*) FROM pg_stat_activity WHERE usename = $1", b.s.role)
}

func (b *postgresBench) running() int {
	b.s.Helper()
	return outside[int](b.s, b.URL("", ""), "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND state = 'active'", b.s.role)
}

func (b *postgresBench) connection(address string, set settings) execution.Connection {
	return execution.Connection{
		Engine: "POSTGRESQL", Dialect: postgres.Dialect{},
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return pgdb.Open(ctx, pgdb.Config{URL: execution.NewSecret(address), MaxConnections: set.connections, Session: postgres.Dialect{}.Session()}, guard)
		},
	}
}

func (b *postgresBench) roleURL(through string) string {
	s := b.s
	s.Helper()
	u, err := url.Parse(s.url)
	if err != nil {
		s.Fatal(err)
	}
	own, err := url.Parse(b.URL(strings.TrimPrefix(u.Path, "/"), s.role))
	if err != nil {
		s.Fatal(err)
	}
	if through != "" {
		own.Host = through
	}
	query := own.Query()
	query.Set("connect_timeout", "10")
	own.RawQuery = query.Encode()
	return own.String()
}

// roleURL is the gateway's URL of the database. If through is not empty, the
// URL goes through the proxy or pooler with that address.
func (s *stand) roleURL(through string) string {
	s.Helper()
	return s.bench.roleURL(through)
}

// settings are what a scenario may set for its gateway.
type settings struct {
	through     string // the address of a proxy or pooler
	connections int
	concurrency int
	queue       int
	limits      execution.Limits
	audit       audit.Config
	wrap        func(audit.Log) audit.Log
	// beside asks for a second connection of the gateway to the same database, otherID,
	// and for a gateway that has this one alone.
	beside bool
}

// open opens the scenario's gateway on its database.
func (s *stand) open(set settings) {
	s.Helper()
	c := s.bench.connection(s.roleURL(set.through), set)
	c.ID, c.Limits, c.Concurrency, c.Queue = connectionID, set.limits, set.concurrency, set.queue
	c.Policy = sqlguard.DefaultPolicy()
	c.Policy.MaxConstant = longConstants
	c.Policy.Functions.Allow = []string{s.bench.napName()}
	s.openConnection(c, set)
}

// others returns the second connection that the settings ask for.
func (set settings) others(c execution.Connection) []execution.Connection {
	if !set.beside {
		return nil
	}
	c.ID = otherID
	return []execution.Connection{c}
}

// load is how busy a connection of the gateway is.
func (s *stand) load(id string) execution.Load {
	for _, load := range s.gateway.Loads() {
		if load.ConnectionID == id {
			return load
		}
	}
	return execution.Load{}
}

// openConnection opens the scenario's gateway on a connection.
func (s *stand) openConnection(c execution.Connection, set settings) {
	s.Helper()
	if s.logDir == "" {
		s.logDir = filepath.Join(s.TempDir(), "audit")
	}
	var err error
	if s.log, err = audit.Open(s.logDir, set.audit, nil); err != nil {
		s.Fatal(err)
	}
	var log audit.Log = s.log
	if set.wrap != nil {
		log = set.wrap(log)
	}
	others := set.others(c)
	if s.gateway, err = execution.NewGateway(s.Context(), log, append(others, c)...); err != nil {
		s.Fatal(err)
	}
	if len(others) == 0 {
		return
	}
	if s.apartLog, err = audit.Open(filepath.Join(s.TempDir(), "audit"), set.audit, nil); err != nil {
		s.Fatal(err)
	}
	if s.apart, err = execution.NewGateway(s.Context(), s.apartLog, others...); err != nil {
		s.Fatal(err)
	}
}

// close ends the gateway and checks what must hold after every scenario.
func (s *stand) close() {
	s.Helper()
	if s.apart != nil {
		if err := errors.Join(s.apart.Close(context.WithoutCancel(s.Context())), s.apartLog.Close()); err != nil {
			s.Errorf("close the gateway apart: %v", err)
		}
	}
	if s.gateway != nil {
		if s.bench != nil {
			s.eventually("no statement of the gateway runs at the server", func() bool { return s.running() == 0 })
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context()), hang)
		defer cancel()
		if err := s.gateway.Close(ctx); err != nil {
			s.Errorf("close the gateway: %v", err)
		}
		for _, end := range s.behind {
			end()
		}
		if s.bench != nil {
			s.eventually("no session of the gateway is left at the server", func() bool { return s.sessions() == 0 })
		}
	}
	if s.log != nil {
		if err := s.log.Close(); err != nil {
			s.Errorf("close the log: %v", err)
		}
		if s.damaged {
			s.tellsOfDamage(s.logDir)
		} else {
			s.recorded(s.logDir, 0)
		}
	}
}

// noticesClients skips the scenario on a server before version 14, because such
// a server does not check whether the client of a statement is still connected.
// ARCHITECTURE.md says so. The scenario must call it first.
func (s *stand) noticesClients() {
	s.Helper()
	if !s.scenario.mariadb && testdb.Postgres(s).Version() < 14 {
		s.Skip("the server does not notice that a client is gone (it does from version 14 on)")
	}
}

// The gateway's sessions are those of its role. A session that runs a statement
// is not idle.
func (s *stand) sessions() int { s.Helper(); return s.bench.sessions() }
func (s *stand) running() int  { s.Helper(); return s.bench.running() }
func (s *stand) sending() int  { s.Helper(); return s.bench.sending() }

// waiting counts the gateway's statements that the server has blocked, for a
// reason as pg_stat_activity names it.
func (s *stand) waiting(event string) int {
	s.Helper()
	return outside[int](s, s.server.URL("", ""), "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND state = 'active' AND wait_event = $2", s.role, event)
}

// pids returns the process IDs of the gateway's sessions on the server.
func (s *stand) pids() []int32 {
	s.Helper()
	return outside[[]int32](s, s.server.URL("", ""), "SELECT coalesce(array_agg(pid), '{}') FROM pg_stat_activity WHERE usename = $1", s.role)
}

// outside runs a query on the server without the gateway.
func outside[T any](s *stand, address, sql string, args ...any) T {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context()), hang)
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		s.Fatal(err)
	}
	defer conn.Close(ctx) //nolint:errcheck // it has only read
	var v T
	if err := conn.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
		s.Fatalf("%s: %v", sql, err)
	}
	return v
}

// ended counts the statements whose end is in the log.
func (s *stand) ended() (n int) {
	s.Helper()
	for _, count := range s.outcomes(s.logDir) {
		n += count
	}
	return n
}

// begun waits until the gateway's only statement runs on the server. On a busy
// machine a short statement may end before the test sees it. So one more end in
// the log than before counts as well.
func (s *stand) begun(before int) {
	s.Helper()
	s.eventually("the statement runs", func() bool { return s.running() == 1 || s.ended() > before })
}

// eventually waits for a condition, for far longer than it takes.
func (s *stand) eventually(what string, holds func() bool) {
	s.Helper()
	for end := time.Now().Add(hang); !holds(); time.Sleep(30 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("not within %v: %s", hang, what)
		}
	}
}
