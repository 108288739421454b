package testdb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// URL returns a connection URL. An empty database means the one for
// administration, and an empty user means the superuser. Another user is a role
// of [PostgresServer.NewRole]. The URL always has an sslmode, so that a test
// may append another parameter with &.
func (s *PostgresServer) URL(database, user string) string {
	u := *s.base
	if database != "" {
		u.Path = "/" + database
	}
	if user != "" && user != s.base.User.Username() {
		u.User = url.UserPassword(user, s.password)
	}
	return u.String()
}

// NewDatabase makes an empty database, runs the statements in it and returns
// the superuser's URL to it. One string may hold several statements.
// NewDatabase drops the database when the test ends, even if someone is still
// connected.
func (s *PostgresServer) NewDatabase(tb testing.TB, sql ...string) string {
	tb.Helper()
	return s.NewDatabaseWith(tb, "", sql...)
}

// NewDatabaseWith is NewDatabase with options of CREATE DATABASE ("ENCODING
// 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'").
func (s *PostgresServer) NewDatabaseWith(tb testing.TB, options string, sql ...string) string {
	tb.Helper()
	name := "ktx_test_" + strings.ToLower(rand.Text())
	s.Admin(tb, "CREATE DATABASE "+name+" TEMPLATE template0 "+options)
	s.afterTest(tb, func(ctx context.Context) error {
		return run(ctx, s.URL("", ""), "DROP DATABASE "+name+" WITH (FORCE)")
	})
	connection := s.URL(name, "")
	s.exec(tb, connection, sql...)
	return connection
}

// NewRole makes a role that can log in, with attributes of CREATE ROLE
// ("NOINHERIT", "SUPERUSER"), and returns its name, which needs no quotes. When
// the test ends, NewRole drops the role and everything that it owns.
func (s *PostgresServer) NewRole(tb testing.TB, attributes ...string) string {
	tb.Helper()
	name := "ktx_role_" + strings.ToLower(rand.Text())
	s.Admin(tb, fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s' %s",
		name, strings.ReplaceAll(s.password, "'", "''"), strings.Join(attributes, " ")))
	s.afterTest(tb, func(ctx context.Context) error { return s.dropRole(ctx, name) })
	return name
}

// Admin runs statements as superuser in the database for administration.
func (s *PostgresServer) Admin(tb testing.TB, sql ...string) {
	tb.Helper()
	s.exec(tb, s.URL("", ""), sql...)
}

// Exec runs statements as superuser in the database of a URL that NewDatabase
// returned. One string may hold several statements.
func (s *PostgresServer) Exec(tb testing.TB, connection string, sql ...string) {
	tb.Helper()
	s.exec(tb, connection, sql...)
}

func (s *PostgresServer) exec(tb testing.TB, connection string, sql ...string) {
	tb.Helper()
	if len(sql) == 0 {
		return
	}
	if err := run(tb.Context(), connection, sql...); err != nil {
		tb.Fatal(err)
	}
}

// dropRole drops a role and, in every database, its objects and its rights.
func (s *PostgresServer) dropRole(ctx context.Context, name string) (err error) {
	conn, err := pgx.Connect(ctx, s.URL("", ""))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	rows, err := conn.Query(ctx, `SELECT DISTINCT datname FROM pg_database
		JOIN pg_shdepend ON dbid = pg_database.oid OR dbid = 0 AND datname = current_database()
		WHERE refclassid = 'pg_authid'::regclass AND refobjid = $1::regrole`, name)
	if err != nil {
		return err
	}
	databases, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, database := range databases {
		if err := run(ctx, s.URL(database, ""), "DROP OWNED BY "+name+" CASCADE"); err != nil {
			return err
		}
	}
	return run(ctx, s.URL("", ""), "DROP ROLE "+name)
}

// run sends statements over one connection, each string in one message.
func run(ctx context.Context, connection string, sql ...string) (err error) {
	conn, err := pgx.Connect(ctx, connection)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	for _, text := range sql {
		if _, err := conn.PgConn().Exec(ctx, text).ReadAll(); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
