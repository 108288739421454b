package testdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// cleanupTimeout bounds the clean-up after a test, whose context has ended.
// A database cannot be dropped before every session of its server has noticed, also one
// whose statement does not end for a while.
const cleanupTimeout = 3 * time.Minute

// Options configure a server of a test's own. The zero value gives a server
// like the shared one.
type Options struct {
	// Bin is the directory of the server's programs. If it is empty, [Binaries]
	// and [MariaDBBinaries] choose.
	Bin string
	// Settings are server settings by name, such as "max_connections": "20".
	// They override this package's own.
	Settings map[string]string
	// TLS gives the server a self-signed certificate, see CertificateFile. The
	// server still accepts connections without TLS.
	TLS bool

	pick func(ctx context.Context) (int, error) // instead of a free port
}

// server holds what the servers of all products have in common.
type server struct {
	cluster *cluster // nil for a server that this process did not start
	dir     string   // holds the server's socket and log; "" for a server of the user's own
	private bool     // ends with one test
}

// SocketDir returns the directory of the server's Unix socket, or "" for a
// server of the user's own.
func (s *server) SocketDir() string { return s.dir }

// CertificateFile returns the certificate of a server that was started with
// [Options].TLS, or "" for another server. The certificate is its own
// authority.
func (s *server) CertificateFile() string {
	if s.cluster == nil || !s.cluster.tls {
		return ""
	}
	return s.cluster.certificateFile()
}

// Pid returns the process ID of the server, or 0 when the server is stopped or
// when another process started it.
func (s *server) Pid() int {
	if s.cluster == nil {
		return 0
	}
	return s.cluster.pid()
}

// Log returns the server's log, or "" for a server of the user's own.
func (s *server) Log() string {
	if s.dir == "" {
		return ""
	}
	return logFrom(s.dir, 0)
}

// errNotOwn refuses to stop a server that this process did not start.
var errNotOwn = errors.New("this test binary did not start the server, so it must not stop it")

// Stop ends the server and waits for its process; the data stays for Restart.
// Stopping a stopped server does nothing.
func (s *server) Stop(ctx context.Context, mode StopMode) error {
	if s.cluster == nil {
		return errNotOwn
	}
	return s.cluster.stop(ctx, mode)
}

// Restart stops the server, if it runs, and starts it on the same port.
func (s *server) Restart(ctx context.Context, mode StopMode) error {
	if err := s.Stop(ctx, mode); err != nil {
		return err
	}
	return s.cluster.start(ctx)
}

// Close stops the server and removes its directory. It does nothing to a server
// that another process started.
func (s *server) Close() error {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.close(context.Background())
}

// afterTest runs f when the test ends, on a server that outlives the test.
func (s *server) afterTest(tb testing.TB, f func(context.Context) error) {
	tb.Helper()
	if s.private {
		return
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanupTimeout)
		defer cancel()
		if err := f(ctx); err != nil {
			tb.Errorf("clean up after the test: %v", err)
		}
	})
}

// endWith makes the server one of this test's own, which ends with it.
func (s *server) endWith(tb testing.TB) {
	tb.Helper()
	s.private = true
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("end the server: %v", err)
		}
	})
}

// shared is the one server of a product in this test binary, or the error from
// starting it.
type shared[S interface{ Close() error }] struct {
	sync.Mutex
	started bool
	server  S
	err     error
}

// get starts the server on the first call.
func (s *shared[S]) get(start func() (S, error)) (S, error) {
	s.Lock()
	defer s.Unlock()
	if !s.started {
		s.started = true
		s.server, s.err = start()
	}
	return s.server, s.err
}

// end stops the server. Afterwards there is none.
func (s *shared[S]) end() error {
	s.Lock()
	defer s.Unlock()
	running := s.started && s.err == nil
	s.started, s.err = true, errors.New("the tests are over")
	if !running {
		return nil
	}
	return s.server.Close()
}

// named returns the shared server. It opens the server that the environment
// variable names. Without that variable it opens the server of product that
// [ServersVariable] offers, or else starts one. If none of these works, the
// test fails.
func (s *shared[S]) named(tb testing.TB, product, variable string, open func(context.Context, offer) (S, error), start func(context.Context, Options) (S, error)) S {
	tb.Helper()
	skipShort(tb)
	running, err := s.get(func() (S, error) {
		if own := os.Getenv(variable); own != "" {
			return openNamed(tb.Context(), variable, offer{URL: own}, open)
		}
		offered, err := offers()
		if err != nil {
			var none S
			return none, err
		}
		if o, ok := offered[product]; ok {
			return openNamed(tb.Context(), ServersVariable, o, open)
		}
		return start(tb.Context(), Options{})
	})
	if err != nil {
		tb.Fatalf("a %s server is needed: %v", product, err)
	}
	return running
}

// skipShort skips a test that needs a server when only short tests are asked for
// (go test -short, as make check does). It skips nothing in CI.
func skipShort(tb testing.TB) {
	tb.Helper()
	if testing.Short() && os.Getenv("CI") == "" {
		tb.Skip("short tests use no server")
	}
}

// startFor starts a server for one test. It skips the test only when the
// variable names a server (which a test must not stop), the machine has no
// server programs (which is the error missing), and CI is not set.
func startFor[S interface{ endWith(tb testing.TB) }](tb testing.TB, o Options, product, variable string, missing error, start func(context.Context, Options) (S, error)) S {
	tb.Helper()
	skipShort(tb)
	s, err := start(tb.Context(), o)
	if errors.Is(err, missing) && os.Getenv(variable) != "" && os.Getenv("CI") == "" {
		tb.Skipf("this test stops its server and %s is not its own: %v", variable, err)
	}
	if err != nil {
		tb.Fatalf("a %s server is needed: %v", product, err)
	}
	s.endWith(tb)
	return s
}

// The servers of this test binary.
var (
	sharedPostgres shared[*PostgresServer]
	sharedMariaDB  shared[*MariaDBServer]
)

// Main runs a package's tests, stops the shared servers and ends the process.
// It is the whole body of TestMain.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run runs a package's tests, stops the shared servers and returns the exit
// code, for a TestMain that has more to do. A server that does not stop cleanly
// is a failure.
func Run(m *testing.M) int {
	code := m.Run()
	if err := errors.Join(sharedPostgres.end(), sharedMariaDB.end()); err != nil {
		fmt.Fprintln(os.Stderr, "testdb:", err)
		code = max(code, 1)
	}
	return code
}
