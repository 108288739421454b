//go:build linux

package faults_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// mariadbSchema is part of every MariaDB database of a scenario: nap, as in
// schema, and the numbers that questions use. Nap returns whether it was cut
// short. It runs with the rights of its caller, because the server otherwise
// lists its session as the owner's.
const mariadbSchema = `
CREATE FUNCTION nap(seconds double) RETURNS varchar(40) NO SQL SQL SECURITY INVOKER RETURN IF(SLEEP(seconds), 'was woken', '');
CREATE TABLE held (id int PRIMARY KEY);
CREATE TABLE numbers (i int PRIMARY KEY);
INSERT INTO numbers WITH d AS (SELECT 0 AS n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)
	SELECT 1 + a.n + 10 * b.n + 100 * c.n + 1000 * e.n + 10000 * f.n FROM d AS a, d AS b, d AS c, d AS e, d AS f WHERE f.n < 2`

// napMark is replaced in a question by the name of nap, which contains the
// database's name.
const napMark = "{nap}"

// mariadbBench is a MariaDB database.
type mariadbBench struct {
	*testdb.MariaDBServer
	s              *stand
	database, user string
}

// mariadbOn makes the scenario's database on a server.
func (s *stand) mariadbOn(server *testdb.MariaDBServer) {
	s.Helper()
	u, err := url.Parse(server.NewDatabase(s, mariadbSchema))
	if err != nil {
		s.Fatal(err)
	}
	b := &mariadbBench{MariaDBServer: server, s: s, database: strings.TrimPrefix(u.Path, "/")}
	b.user = server.NewUser(s, "SELECT ON "+b.database+".*", "EXECUTE ON FUNCTION "+b.database+".nap")
	s.bench = b
}

// mariadb returns the scenario's MariaDB database.
func (s *stand) mariadb() *mariadbBench {
	s.Helper()
	b, ok := s.bench.(*mariadbBench)
	if !ok {
		s.Fatal("the scenario has no MariaDB database")
	}
	return b
}

func (b *mariadbBench) addr() string    { return b.Addr() }
func (b *mariadbBench) driver() string  { return b.Product() }
func (b *mariadbBench) napName() string { return b.database + ".nap" }

func (b *mariadbBench) text(q question) string {
	if q.mariadb == "" {
		b.s.Fatalf("%s has no statement for MariaDB", shorten(q.sql))
	}
	return strings.ReplaceAll(q.mariadb, napMark, b.napName())
}

func (b *mariadbBench) roleURL(through string) string {
	b.s.Helper()
	u, err := url.Parse(b.URL(b.database, b.user))
	if err != nil {
		b.s.Fatal(err)
	}
	if through != "" {
		u.Host = through
	}
	query := u.Query()
	query.Set("connect-timeout", "10")
	u.RawQuery = query.Encode()
	return u.String()
}

func (b *mariadbBench) connection(address string, set settings) execution.Connection {
	return execution.Connection{
		Engine: "MARIADB", Dialect: mysql.Dialect{},
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return mysqldb.Open(ctx, mysqldb.Config{URL: execution.NewSecret(address), MaxConnections: set.connections, Session: mysql.Dialect{}.Session()}, guard)
		},
	}
}

func (b *mariadbBench) sessions() int { b.s.Helper(); return len(b.ids("")) }

// running does not count the statements that the gateway sends before and after
// its own.
func (b *mariadbBench) running() int {
	b.s.Helper()
	return len(b.ids("AND COMMAND = 'Query' AND INFO NOT RLIKE '^(SET|START|ROLLBACK|KILL|SELECT VERSION)'"))
}

func (b *mariadbBench) sending() int {
	b.s.Helper()
	return len(b.ids("AND COMMAND = 'Query' AND STATE IN ('Writing to net', 'Sending data', 'Sending to client', 'executing')"))
}

// ids returns the server's numbers of the gateway's sessions.
func (b *mariadbBench) ids(condition string) []int64 {
	b.s.Helper()
	return asAdmin[int64](b, "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = '"+b.user+"' "+condition)
}

// kill kills every session of the gateway (CONNECTION) or its statement
// (QUERY).
func (b *mariadbBench) kill(what string) {
	b.s.Helper()
	for _, id := range b.ids("") {
		if err := b.command(fmt.Sprintf("KILL %s %d", what, id)); err != nil {
			b.s.Error(err)
		}
	}
}

// command runs a statement as root.
func (b *mariadbBench) command(text string) (err error) {
	db := b.root()
	defer func() { _ = db.Close() }()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.s.Context()), hang)
	defer cancel()
	_, err = db.ExecContext(ctx, text)
	return err
}

// root returns a pool of root's connections. The caller closes it.
func (b *mariadbBench) root() *sql.DB {
	b.s.Helper()
	db, err := testdb.OpenMariaDB(b.URL(b.database, ""))
	if err != nil {
		b.s.Fatal(err)
	}
	return db
}

// asAdmin returns the only column of a query that root runs.
func asAdmin[T any](b *mariadbBench, text string) (out []T) {
	b.s.Helper()
	db := b.root()
	defer func() { _ = db.Close() }()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.s.Context()), hang)
	defer cancel()
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		b.s.Fatalf("%s: %v", text, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			b.s.Fatalf("%s: %v", text, err)
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		b.s.Fatalf("%s: %v", text, err)
	}
	return out
}

// onMariaDB returns scenarios that use a MariaDB database.
func onMariaDB(list ...scenario) []scenario {
	out := slices.Clone(list)
	for i := range out {
		out[i].name += " (MariaDB)"
		out[i].mariadb = true
	}
	return out
}

// without returns the scenarios except those with these names.
func without(list []scenario, names ...string) []scenario {
	return slices.DeleteFunc(slices.Clone(list), func(sc scenario) bool { return slices.Contains(names, sc.name) })
}

// only returns the scenarios with these names.
func only(list []scenario, names ...string) []scenario {
	return slices.DeleteFunc(slices.Clone(list), func(sc scenario) bool { return !slices.Contains(names, sc.name) })
}
