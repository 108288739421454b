package pgdb_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// bouncer starts PgBouncer in front of a server and returns address with the
// host and port of PgBouncer.
func bouncer(t *testing.T, address, mode string, size int) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	u := mustParse(t, address)
	password, _ := u.User.Password()
	dir, err := os.MkdirTemp("", "ktx-bouncer-") //nolint:usetesting // another user has to reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	users, config := filepath.Join(dir, "users.txt"), filepath.Join(dir, "pgbouncer.ini")
	for path, text := range map[string]string{
		users: fmt.Sprintf("%q %q\n", u.User.Username(), password),
		config: fmt.Sprintf("[databases]\n* = host=%s port=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %s\nunix_socket_dir =\nauth_type = scram-sha-256\nauth_file = %s\npool_mode = %s\ndefault_pool_size = %d\n",
			u.Hostname(), u.Port(), port, users, mode, size),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	args := []string{config}
	if os.Geteuid() == 0 { // PgBouncer refuses to run as root
		args = []string{"-u", "nobody", config}
	}
	c := exec.CommandContext(context.WithoutCancel(t.Context()), testdb.Tool(t, "pgbouncer"), args...)
	var log strings.Builder
	c.Stdout, c.Stderr, c.Dir = &log, &log, "/"
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if t.Failed() {
			t.Logf("PgBouncer said:\n%s", log.String())
		}
	})
	u.Host = net.JoinHostPort("127.0.0.1", port)
	executiontest.Eventually(t, "PgBouncer listens", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", u.Host)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return u.String()
}

// TestProbeOfPooler checks that the probe finds out how a pooler assigns
// connections, and that it reports the same about the role as without a pooler.
func TestProbeOfPooler(t *testing.T) {
	server := testdb.Postgres(t)
	address := server.NewDatabase(t, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	role := server.NewRole(t)
	reader := server.URL(query[string](t, address, "SELECT current_database()"), role)
	for _, v := range []struct {
		mode string
		size int
	}{{"transaction", 1}, {"transaction", 5}, {"session", 5}, {"session", 1}} {
		t.Run(fmt.Sprintf("%s of %d", v.mode, v.size), func(t *testing.T) {
			start := time.Now()
			got, report := warnings(t, open(t, bouncer(t, reader, v.mode, v.size), pgdb.Config{MaxConnections: 1}))
			if len(got) > 0 || report.Pooler != v.mode || report.Role != role {
				t.Errorf("warnings %q, %+v", got, report)
			}
			if want := "a connection pooler is in front of the server, in " + v.mode + " mode"; !strings.Contains(notes(report), want) {
				t.Errorf("notes %s", notes(report))
			}
			t.Logf("took %s", time.Since(start))
		})
	}
	if _, report := warnings(t, open(t, reader, pgdb.Config{})); report.Pooler != "" {
		t.Errorf("the probe reports a pooler, but there is none: %+v", report)
	}
}

func TestProbeOfTLS(t *testing.T) {
	server := testdb.StartPostgres(t, testdb.Options{TLS: true})
	address := mustParse(t, server.URL("", ""))
	q := address.Query()
	q.Set("sslmode", "verify-full")
	q.Set("sslrootcert", server.CertificateFile())
	address.RawQuery = q.Encode()
	_, report := warnings(t, open(t, address.String(), pgdb.Config{}))
	if !report.TLS || report.TLSVersion != "TLS 1.3" {
		t.Errorf("%+v", report)
	}
}

// TestProbeOfReplica probes a server that only replays the log of another
// server.
func TestProbeOfReplica(t *testing.T) {
	server := testdb.StartPostgres(t, testdb.Options{})
	server.Admin(t, "CREATE TABLE a (n int)")
	signal := filepath.Join(query[string](t, server.URL("", ""), "SHOW data_directory"), "standby.signal")
	if err := os.WriteFile(signal, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(signal, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(t.Context(), testdb.Fast); err != nil {
		t.Fatal(err)
	}
	_, report := warnings(t, open(t, server.URL("", ""), pgdb.Config{}))
	if !report.Replica || !strings.Contains(notes(report), "the server is a replica") || !strings.Contains(report.RoleScript, "-- This server is a replica") {
		t.Errorf("%+v", report)
	}
}

// TestProbeEndsInSilence makes the network go silent at some time during a
// probe. The probe ends when its caller's time is over.
func TestProbeEndsInSilence(t *testing.T) {
	server := testdb.Postgres(t)
	address := server.NewDatabase(t)
	silenced := 0
	for _, pooler := range []bool{false, true} {
		for _, after := range []time.Duration{0, 5, 20} {
			p := newProxy(t, server.Addr())
			p.pooler.Store(pooler)
			c := open(t, p.through(t, address), pgdb.Config{MaxConnections: 1})
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			p.hole.Store(after == 0)
			timer := time.AfterFunc(after*time.Millisecond, func() { p.hole.Store(true) })
			_, err := c.Probe(ctx)
			if err != nil {
				silenced++
				if e, ok := errors.AsType[*execution.Error](err); !ok || e.Code != sqlguard.CodeTimeout && e.Code != sqlguard.CodeConnectionLost {
					t.Errorf("silent after %d ms: %v", after, err)
				}
			}
			timer.Stop()
			cancel()
		}
	}
	if silenced == 0 {
		t.Error("no probe was interrupted")
	}
	t.Logf("%d probes were interrupted", silenced)
}
