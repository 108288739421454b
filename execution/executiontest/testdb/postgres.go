package testdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A PostgresServer is a running PostgreSQL with a superuser's access to it. All
// methods may be called from several goroutines.
type PostgresServer struct {
	server
	base     *url.URL // the superuser's connection to the database for administration
	password string   // of the roles that NewRole makes
	version  int
}

// Postgres returns the shared server. That is the server of the whole run
// ([RunWithServers]), or else a server of this test binary, which the first
// call starts. A test fails when there is no server; it is never skipped.
func Postgres(tb testing.TB) *PostgresServer {
	tb.Helper()
	return sharedPostgres.named(tb, postgresProduct, "KTX_TEST_POSTGRES_URL", openPostgres, Start)
}

// StartPostgres starts a cluster for one test, which may stop and restart it.
// The cluster ends with the test. StartPostgres ignores the server of
// KTX_TEST_POSTGRES_URL, because a test must not stop a server that it does not
// own. It skips the test only when that variable is set, the machine has no
// server programs, and CI is not set.
func StartPostgres(tb testing.TB, o Options) *PostgresServer {
	tb.Helper()
	return startFor(tb, o, postgresProduct, "KTX_TEST_POSTGRES_URL", ErrNoBinaries, Start)
}

// Start starts a PostgreSQL cluster outside a test, for generators and
// benchmarks. The context bounds the start only; the caller ends the cluster
// with Close.
func Start(ctx context.Context, o Options) (*PostgresServer, error) {
	bin, err := postgresPrograms(o.Bin)
	if err != nil {
		return nil, err
	}
	c, err := startCluster(ctx, postgresSystem{}, bin, o)
	if err != nil {
		return nil, err
	}
	major, err := postgresMajor(c)
	if err != nil {
		return nil, errors.Join(err, c.close(ctx))
	}
	base := &url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(superuser, c.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}
	return &PostgresServer{server: server{cluster: c, dir: c.dir}, base: base, password: c.password, version: major}, nil
}

// openPostgres checks a server that this process did not start.
func openPostgres(ctx context.Context, o offer) (_ *PostgresServer, err error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" || base.User == nil || (base.Scheme != "postgres" && base.Scheme != "postgresql") {
		return nil, errors.New("the URL must look like postgres://user:password@host:port/database")
	}
	if query := base.Query(); !query.Has("sslmode") {
		query.Set("sslmode", "prefer") // the driver's default, made explicit
		base.RawQuery = query.Encode()
	}
	conn, err := pgx.Connect(ctx, o.URL)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	var number int
	var super bool
	const facts = "SELECT current_setting('server_version_num')::int, rolsuper FROM pg_roles WHERE rolname = current_user"
	if err := conn.QueryRow(ctx, facts).Scan(&number, &super); err != nil {
		return nil, err
	}
	if number < 130000 || !super {
		return nil, fmt.Errorf("a superuser on PostgreSQL 13 or newer is needed, got version %d, superuser %t", number/10000, super)
	}
	password, _ := base.User.Password()
	if password == "" {
		password = "ktx-test"
	}
	return &PostgresServer{server: server{dir: o.Dir}, base: base, password: password, version: number / 10000}, nil
}

// Version returns the major version, such as 15.
func (s *PostgresServer) Version() int { return s.version }

// Addr returns the host and port that the server listens on.
func (s *PostgresServer) Addr() string { return s.base.Host }
