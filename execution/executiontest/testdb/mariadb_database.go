package testdb

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// URL returns a connection URL over TCP. An empty database means no database,
// and an empty user means root. Another user is one of [MariaDBServer.NewUser].
// The URL always has the parameter ssl-mode, so that a test may append another
// one with &.
func (s *MariaDBServer) URL(database, user string) string {
	u := *s.base
	u.Path = "/" + database
	if user != "" && user != s.base.User.Username() {
		u.User = url.UserPassword(user, s.password)
	}
	return u.String()
}

// SocketURL is URL over the server's Unix socket.
func (s *MariaDBServer) SocketURL(database, user string) string {
	return strings.Replace(s.URL(database, user), s.Addr(), "localhost", 1) + "&socket=" + url.QueryEscape(s.Socket())
}

// NewDatabase makes an empty database, runs the statements in it and returns
// root's URL to it. One string may hold several statements. NewDatabase drops
// the database when the test ends, even if someone is still connected.
func (s *MariaDBServer) NewDatabase(tb testing.TB, sql ...string) string {
	tb.Helper()
	return s.NewDatabaseWith(tb, "CHARACTER SET utf8mb4", sql...)
}

// NewDatabaseWith is NewDatabase with options of CREATE DATABASE ("CHARACTER
// SET latin1 COLLATE latin1_bin").
func (s *MariaDBServer) NewDatabaseWith(tb testing.TB, options string, sql ...string) string {
	tb.Helper()
	name := "ktx_test_" + strings.ToLower(rand.Text())
	s.Admin(tb, "CREATE DATABASE "+name+" "+options)
	s.afterTest(tb, func(ctx context.Context) error { return s.dropDatabase(ctx, name) })
	connection := s.URL(name, "")
	s.Exec(tb, connection, sql...)
	return connection
}

// NewUser makes a user who can log in from every host and returns its name,
// which needs no quotes. A grant is the part of the statement between GRANT and
// TO ("SELECT ON shop.*"). Without any grant the user can only connect. NewUser
// drops the user when the test ends.
func (s *MariaDBServer) NewUser(tb testing.TB, grants ...string) string {
	tb.Helper()
	name := "ktx_" + strings.ToLower(rand.Text())
	s.Admin(tb, fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s'", name, quoted(s.password)))
	s.afterTest(tb, func(ctx context.Context) error { return runMariaDB(ctx, s.URL("", ""), "DROP USER '"+name+"'@'%'") })
	s.Grant(tb, name, grants...)
	return name
}

// Grant gives a user of NewUser more rights, written as in NewUser. The part of
// GRANT after the user's name may follow after a | ("ALL ON shop.*|WITH GRANT
// OPTION").
func (s *MariaDBServer) Grant(tb testing.TB, user string, grants ...string) {
	tb.Helper()
	for _, grant := range grants {
		what, with, _ := strings.Cut(grant, "|")
		s.Admin(tb, fmt.Sprintf("GRANT %s TO '%s'@'%%' %s", what, user, with))
	}
}

// Admin runs statements as root, without a database.
func (s *MariaDBServer) Admin(tb testing.TB, sql ...string) {
	tb.Helper()
	s.Exec(tb, s.URL("", ""), sql...)
}

// Exec runs statements over one connection to a URL of this server. One string
// may hold several statements.
func (s *MariaDBServer) Exec(tb testing.TB, connection string, sql ...string) {
	tb.Helper()
	if len(sql) == 0 {
		return
	}
	if err := runMariaDB(tb.Context(), connection, sql...); err != nil {
		tb.Fatal(err)
	}
}

// DB returns a pool of connections to a URL of this server, which is closed when
// the test ends. A query may hold several statements.
func (s *MariaDBServer) DB(tb testing.TB, connection string) *sql.DB {
	tb.Helper()
	db, err := OpenMariaDB(connection)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("close the connections: %v", err)
		}
	})
	return db
}

// dropDatabase drops a database. It first ends the sessions that use it,
// because their locks would block the drop.
func (s *MariaDBServer) dropDatabase(ctx context.Context, name string) (err error) {
	db, err := OpenMariaDB(s.URL("", ""))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ids, err := sessions(ctx, db, name)
	if err != nil {
		return err
	}
	for _, id := range ids {
		const gone = 1094 // ER_NO_SUCH_THREAD
		if _, err := db.ExecContext(ctx, fmt.Sprintf("KILL %d", id)); err != nil {
			if e, ok := errors.AsType[*mysql.MySQLError](err); !ok || e.Number != gone {
				return fmt.Errorf("end the sessions of %s: %w", name, err)
			}
		}
	}
	if _, err := db.ExecContext(ctx, "SET lock_wait_timeout = 20; DROP DATABASE "+name); err != nil {
		return fmt.Errorf("drop %s: %w", name, err)
	}
	return nil
}

// sessions returns the connection IDs of the sessions that use a database.
func sessions(ctx context.Context, db *sql.DB, database string) (ids []int64, err error) {
	rows, err := db.QueryContext(ctx, "SELECT id FROM information_schema.processlist WHERE db = '"+database+"'")
	if err != nil {
		return nil, fmt.Errorf("list the sessions of %s: %w", database, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("list the sessions of %s: %w", database, err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// runMariaDB sends statements over one connection, each string in one message.
func runMariaDB(ctx context.Context, connection string, sql ...string) (err error) {
	db, err := OpenMariaDB(connection)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for _, text := range sql {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// OpenMariaDB makes a pool of connections for a URL of this package. A query
// may hold several statements. The caller closes the pool.
func OpenMariaDB(connection string) (*sql.DB, error) {
	u, err := url.Parse(connection)
	if err != nil {
		return nil, errors.New("read a connection URL: it does not parse")
	}
	password, _ := u.User.Password()
	config := newConfig(u.User.Username(), password)
	config.Net, config.Addr, config.DBName = "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	query := u.Query()
	if socket := query.Get("socket"); socket != "" {
		config.Net, config.Addr = "unix", socket
	}
	switch mode := query.Get("ssl-mode"); mode {
	case "DISABLED":
	case "PREFERRED":
		config.TLSConfig = "preferred"
	case "REQUIRED":
		config.TLSConfig = "skip-verify"
	case "VERIFY_IDENTITY":
		config.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname()}
		if file := query.Get("ssl-ca"); file != "" {
			pem, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("read a certificate: %w", err)
			}
			config.TLS.RootCAs = x509.NewCertPool()
			config.TLS.RootCAs.AppendCertsFromPEM(pem)
		}
	default:
		return nil, fmt.Errorf("a connection URL with ssl-mode %q is none of this package's", mode)
	}
	return openPool(config)
}

// quiet discards the driver's log, which repeats the errors that the driver
// returns.
type quiet struct{}

func (quiet) Print(...any) {}

// newConfig returns a configuration of connections that accept several
// statements in one query.
func newConfig(user, password string) *mysql.Config {
	config := mysql.NewConfig()
	config.User, config.Passwd = user, password
	config.MultiStatements = true
	config.Logger = quiet{}
	return config
}

func openPool(config *mysql.Config) (*sql.DB, error) {
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("configure a connection: %w", err)
	}
	return sql.OpenDB(connector), nil
}

// quoted escapes text for a literal in single quotes.
func quoted(text string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(text)
}
