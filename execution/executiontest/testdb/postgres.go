package testdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Options say what a cluster of a test's own is like. The zero value is a
// cluster like the shared one.
type Options struct {
	// Bin is the directory of initdb and postgres; empty means what
	// [Binaries] finds.
	Bin string
	// Settings are server settings by name, such as "max_connections": "20".
	// They stand above this package's own.
	Settings map[string]string
	// TLS gives the server a self-signed certificate, see
	// [PostgresServer.CertificateFile]. It still takes connections without TLS.
	TLS bool

	pick func(ctx context.Context) (int, error) // instead of a free port
}

// A PostgresServer is a running PostgreSQL with a superuser's access to it. All
// methods may be called from several goroutines.
type PostgresServer struct {
	base     *url.URL // the superuser's connection to the database for administration
	password string   // of the roles that NewRole makes
	version  int
	cluster  *cluster // nil for a server of the user's own
	private  bool     // ends with one test
}

// shared is the one server of this test binary.
var shared struct {
	sync.Mutex
	server *PostgresServer
	err    error
}

// Postgres returns the test binary's shared server, started by the first call.
// Where none can be had the test fails; it is never skipped.
func Postgres(tb testing.TB) *PostgresServer {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		if own := os.Getenv("KTX_TEST_POSTGRES_URL"); own != "" {
			shared.server, shared.err = open(tb.Context(), own)
		} else {
			shared.server, shared.err = Start(tb.Context(), Options{})
		}
	}
	if shared.err != nil {
		tb.Fatalf("a PostgreSQL server is needed: %v", shared.err)
	}
	return shared.server
}

// Main runs a package's tests, stops the shared server and ends the process.
// It is the whole body of TestMain.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run runs a package's tests, stops the shared server and returns the exit
// code, for a TestMain that has more to do. A server that does not stop cleanly
// is a failure.
func Run(m *testing.M) int {
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		return code
	}
	if err := shared.server.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "testdb:", err)
		code = max(code, 1)
	}
	shared.server, shared.err = nil, errors.New("the tests are over")
	return code
}

// StartPostgres starts a cluster for one test, which may stop and restart it.
// It is gone when the test ends. It is started even where
// KTX_TEST_POSTGRES_URL is set, since a test must not stop a server that is not
// its own; the test is skipped only when that is set, the machine has no server
// programs and CI is not set.
func StartPostgres(tb testing.TB, o Options) *PostgresServer {
	tb.Helper()
	s, err := Start(tb.Context(), o)
	if errors.Is(err, ErrNoBinaries) && os.Getenv("KTX_TEST_POSTGRES_URL") != "" && os.Getenv("CI") == "" {
		tb.Skipf("this test stops its server and KTX_TEST_POSTGRES_URL is not its own: %v", err)
	}
	if err != nil {
		tb.Fatalf("a PostgreSQL server is needed: %v", err)
	}
	s.private = true
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("end the PostgreSQL server: %v", err)
		}
	})
	return s
}

// Start starts a cluster outside a test, for generators and benchmarks. The
// context bounds the start only; the caller ends the cluster with Close.
func Start(ctx context.Context, o Options) (*PostgresServer, error) {
	c, err := newCluster(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.close(ctx))
	}
	major, err := c.major()
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
	return &PostgresServer{base: base, password: c.password, version: major, cluster: c}, nil
}

// open checks a server of the user's own.
func open(ctx context.Context, connection string) (_ *PostgresServer, err error) {
	base, err := url.Parse(connection)
	if err != nil || base.Host == "" || base.User == nil || (base.Scheme != "postgres" && base.Scheme != "postgresql") {
		return nil, errors.New("KTX_TEST_POSTGRES_URL must look like postgres://user:password@host:port/database")
	}
	if query := base.Query(); !query.Has("sslmode") {
		query.Set("sslmode", "prefer") // what the driver takes for granted, said
		base.RawQuery = query.Encode()
	}
	conn, err := pgx.Connect(ctx, connection)
	if err != nil {
		return nil, fmt.Errorf("KTX_TEST_POSTGRES_URL: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	var number int
	var super bool
	const facts = "SELECT current_setting('server_version_num')::int, rolsuper FROM pg_roles WHERE rolname = current_user"
	if err := conn.QueryRow(ctx, facts).Scan(&number, &super); err != nil {
		return nil, fmt.Errorf("KTX_TEST_POSTGRES_URL: %w", err)
	}
	if number < 130000 || !super {
		return nil, fmt.Errorf("KTX_TEST_POSTGRES_URL: a superuser on PostgreSQL 13 or newer is needed, got version %d, superuser %t", number/10000, super)
	}
	password, _ := base.User.Password()
	if password == "" {
		password = "ktx-test"
	}
	return &PostgresServer{base: base, password: password, version: number / 10000}, nil
}

// Version returns the major version, such as 15.
func (s *PostgresServer) Version() int { return s.version }

// Addr returns the host and port that the server listens on.
func (s *PostgresServer) Addr() string { return s.base.Host }

// SocketDir returns the directory of the server's Unix socket, or "" for a
// server of the user's own.
func (s *PostgresServer) SocketDir() string {
	if s.cluster == nil {
		return ""
	}
	return s.cluster.dir
}

// CertificateFile returns the certificate of a server started with
// [Options].TLS, for sslrootcert, or "" without.
func (s *PostgresServer) CertificateFile() string {
	if s.cluster == nil || !s.cluster.tls {
		return ""
	}
	return s.cluster.certificateFile()
}

// Pid returns the process ID of the server, or 0 when it is stopped or a server
// of the user's own.
func (s *PostgresServer) Pid() int {
	if s.cluster == nil {
		return 0
	}
	return s.cluster.pid()
}

// Log returns what the server has logged, or "" for a server of the user's own.
func (s *PostgresServer) Log() string {
	if s.cluster == nil {
		return ""
	}
	return s.cluster.logFrom(0)
}

// errNotOwn refuses to touch what this package did not start.
var errNotOwn = errors.New("the server of KTX_TEST_POSTGRES_URL is not this test's to stop")

// Stop ends the server and waits for its process; the data stays for
// [PostgresServer.Restart]. Stopping a stopped server does nothing.
func (s *PostgresServer) Stop(ctx context.Context, mode StopMode) error {
	if s.cluster == nil {
		return errNotOwn
	}
	return s.cluster.stop(ctx, mode)
}

// Restart stops the server, if it runs, and starts it on the same port.
func (s *PostgresServer) Restart(ctx context.Context, mode StopMode) error {
	if err := s.Stop(ctx, mode); err != nil {
		return err
	}
	return s.cluster.start(ctx)
}

// Close stops the server and removes its directory. A server of the user's own
// is left as it is.
func (s *PostgresServer) Close() error {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.close(context.Background())
}
