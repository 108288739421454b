package testdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// A MariaDBServer is a running MariaDB, or a MySQL if the environment names
// one, with root's access to it. All methods may be called from several
// goroutines.
type MariaDBServer struct {
	server
	base     *url.URL // root's connection, without a database
	password string   // of the users that NewUser makes
	product  string
	version  string
}

// MariaDB returns the shared server, as [Postgres] does for PostgreSQL.
func MariaDB(tb testing.TB) *MariaDBServer {
	tb.Helper()
	return sharedMariaDB.named(tb, mariadbProduct, "KTX_TEST_MARIADB_URL", openMariaDB, LaunchMariaDB)
}

// StartMariaDB starts a server for one test, which may stop, restart and
// reconfigure it. The server ends with the test. StartMariaDB ignores the
// server of KTX_TEST_MARIADB_URL, because a test must not stop a server that it
// does not own. It skips the test only when that variable is set, the machine
// has no server programs, and CI is not set.
func StartMariaDB(tb testing.TB, o Options) *MariaDBServer {
	tb.Helper()
	return startFor(tb, o, mariadbProduct, "KTX_TEST_MARIADB_URL", ErrNoMariaDB, LaunchMariaDB)
}

// LaunchMariaDB starts a server outside a test, for generators and benchmarks.
// The context bounds the start only; the caller ends the server with Close.
func LaunchMariaDB(ctx context.Context, o Options) (*MariaDBServer, error) {
	bin, system, err := mariadbPrograms(ctx, o.Bin)
	if err != nil {
		return nil, err
	}
	c, err := startCluster(ctx, system, bin, o)
	if err != nil {
		return nil, err
	}
	s := &MariaDBServer{server: server{cluster: c, dir: c.dir}, password: c.password, base: &url.URL{
		Scheme:   "mysql",
		User:     url.UserPassword(mariadbRoot, c.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)),
		Path:     "/",
		RawQuery: "ssl-mode=DISABLED",
	}}
	if _, err := s.identify(ctx); err != nil {
		return nil, errors.Join(err, c.close(ctx))
	}
	return s, nil
}

// openMariaDB checks a server that this process did not start.
func openMariaDB(ctx context.Context, o offer) (*MariaDBServer, error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" || base.User == nil || base.Scheme != "mysql" {
		return nil, errors.New("the URL must look like mysql://user:password@host:port/")
	}
	base.Path = "/"
	if query := base.Query(); !query.Has("ssl-mode") {
		query.Set("ssl-mode", "PREFERRED")
		base.RawQuery = query.Encode()
	}
	if base.Port() == "" {
		base.Host = net.JoinHostPort(base.Hostname(), "3306")
	}
	s := &MariaDBServer{server: server{dir: o.Dir}, base: base}
	if s.password, _ = base.User.Password(); s.password == "" {
		s.password = "ktx-Test-1"
	}
	administrator, err := s.identify(ctx)
	if err != nil {
		return nil, err
	}
	if !administrator {
		return nil, errors.New("the user needs ALL PRIVILEGES ON *.* WITH GRANT OPTION")
	}
	return s, nil
}

// identify asks the server for its product and version, and whether this user
// is an administrator.
func (s *MariaDBServer) identify(ctx context.Context) (administrator bool, err error) {
	db, err := OpenMariaDB(s.base.String())
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "SET SESSION sql_mode = ''"); err != nil { // other modes compare texts in other ways
		return false, fmt.Errorf("ask the server for its version: %w", err)
	}
	const facts = "SELECT VERSION(), (SELECT Super_priv = 'Y' AND Grant_priv = 'Y' FROM mysql.user WHERE CONCAT(User, '@', Host) = CURRENT_USER())"
	var version string
	if err := conn.QueryRowContext(ctx, facts).Scan(&version, &administrator); err != nil {
		return false, fmt.Errorf("ask the server for its version: %w", err)
	}
	s.product = "mysql"
	if strings.Contains(version, "MariaDB") {
		s.product = "mariadb"
	}
	s.version, _, _ = strings.Cut(version, "-")
	return administrator, nil
}

// Product returns "mariadb" or "mysql".
func (s *MariaDBServer) Product() string { return s.product }

// Version returns the version in numbers, such as "10.11.6".
func (s *MariaDBServer) Version() string { return s.version }

// Addr returns the host and port that the server listens on.
func (s *MariaDBServer) Addr() string { return s.base.Host }

// Socket returns the path of the server's Unix socket, or "" for a server of
// the user's own.
func (s *MariaDBServer) Socket() string {
	if s.dir == "" {
		return ""
	}
	return mariadbSocket(s.dir)
}
