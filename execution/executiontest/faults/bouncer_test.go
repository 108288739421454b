//go:build linux

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// tool returns the path of a program. If the program is missing, the scenario
// fails when CI is set or all scenarios were requested, and is skipped
// otherwise.
func (s *stand) tool(name string) string {
	s.Helper()
	for _, candidate := range []string{name, filepath.Join("/usr/sbin", name), filepath.Join("/sbin", name)} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" || full() {
		s.Fatalf("%s is needed and neither on PATH nor in /usr/sbin", name)
	}
	s.Skipf("%s is neither on PATH nor in /usr/sbin (an error where CI is set)", name)
	return ""
}

// bouncer is a PgBouncer in transaction mode in front of the scenario's server.
type bouncer struct {
	s       *stand
	address string
	config  string
	program string
	cmd     *exec.Cmd
	log     *os.File
}

// startBouncer starts PgBouncer with the scenario's settings in addition to
// those that it needs. It ends with the scenario. PgBouncer refuses to run as
// root, so it runs as the server's user.
func (s *stand) startBouncer(own map[string]string) *bouncer {
	s.Helper()
	b := &bouncer{s: s, program: s.tool("pgbouncer")}
	dir, err := os.MkdirTemp("", "ktx-bouncer-")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = os.RemoveAll(dir) })
	uid, gid := s.serverAccount()

	u, err := url.Parse(s.roleURL(""))
	if err != nil {
		s.Fatal(err)
	}
	password, _ := u.User.Password()
	users := filepath.Join(dir, "users.txt")
	b.address = freeAddress(s)
	_, port, err := net.SplitHostPort(b.address)
	if err != nil {
		s.Fatal(err)
	}
	settings := map[string]string{
		"listen_addr": "127.0.0.1", "listen_port": port, "unix_socket_dir": "",
		"auth_type": "scram-sha-256", "auth_file": users, "pool_mode": "transaction",
		"default_pool_size": "1", "max_client_conn": "200", "server_login_retry": "1",
		"log_connections": "0", "log_disconnections": "0",
	}
	maps.Copy(settings, own)
	text := fmt.Sprintf("[databases]\n* = host=%s port=%s\n[pgbouncer]\n", u.Hostname(), u.Port())
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		text += name + " = " + settings[name] + "\n"
	}
	b.config = filepath.Join(dir, "pgbouncer.ini")
	for path, content := range map[string]string{
		users:    fmt.Sprintf("%q %q\n", u.User.Username(), password),
		b.config: text,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			s.Fatal(err)
		}
		if err := os.Lchown(path, uid, gid); err != nil {
			s.Fatal(err)
		}
	}
	if err := os.Lchown(dir, uid, gid); err != nil {
		s.Fatal(err)
	}
	if b.log, err = os.CreateTemp(s.TempDir(), "log"); err != nil {
		s.Fatal(err)
	}
	s.behind = append(s.behind, func() { b.stop(syscall.SIGQUIT) })
	s.Cleanup(func() {
		b.stop(syscall.SIGQUIT)
		_ = b.log.Close()
		if text, err := os.ReadFile(b.log.Name()); err == nil && s.Failed() {
			s.Logf("PgBouncer said:\n%s", text)
		}
	})
	b.start()
	return b
}

func (b *bouncer) start() {
	b.s.Helper()
	uid, gid := b.s.serverAccount()
	b.cmd = exec.CommandContext(context.WithoutCancel(b.s.Context()), b.program, b.config)
	b.cmd.Stdout, b.cmd.Stderr = b.log, b.log
	b.cmd.Dir = "/"
	if os.Geteuid() == 0 {
		b.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	if err := b.cmd.Start(); err != nil {
		b.s.Fatal(err)
	}
	b.s.eventually("PgBouncer listens", func() bool {
		conn, err := (&net.Dialer{}).DialContext(b.s.Context(), "tcp", b.address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// stop sends a signal to PgBouncer and waits until it has ended.
func (b *bouncer) stop(signal syscall.Signal) {
	if b.cmd == nil {
		return
	}
	_ = b.cmd.Process.Signal(signal)
	if err := b.cmd.Wait(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			b.s.Errorf("PgBouncer: %v", err)
		}
	}
	b.cmd = nil
}

// other connects a second client through the pooler, as the gateway's role, so
// that both share the pooler's connections to the server. The client prepares
// no statements.
func (b *bouncer) other() *pgx.Conn {
	b.s.Helper()
	config, err := pgx.ParseConfig(b.s.roleURL(b.address))
	if err != nil {
		b.s.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	// PgBouncer sets this setting for each client that has it. A client without
	// it gets the value of the last client.
	config.RuntimeParams["application_name"] = "second"
	conn, err := pgx.ConnectConfig(b.s.Context(), config)
	if err != nil {
		b.s.Fatal(err)
	}
	b.s.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// freeAddress returns an address of this machine that nobody listens on.
func freeAddress(s *stand) string {
	s.Helper()
	l, err := (&net.ListenConfig{}).Listen(s.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nobody has connected
	return l.Addr().String()
}

// sessionState asks a client's session for everything that outlives a
// transaction, and returns it as one string.
func (s *stand) sessionState(conn *pgx.Conn) (pid int32, state string) {
	s.Helper()
	const sql = `SELECT pg_backend_pid(), concat_ws(E'\n',
		'user ' || session_user || ' ' || current_user,
		(SELECT string_agg(name || ' = ' || setting, E'\n' ORDER BY name) FROM pg_settings),
		(SELECT 'prepared ' || string_agg(name, ' ') FROM pg_prepared_statements),
		(SELECT 'advisory ' || count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()),
		(SELECT 'channels ' || string_agg(c, ' ') FROM pg_listening_channels() AS c),
		(SELECT 'cursors ' || string_agg(name, ' ') FROM pg_cursors WHERE name <> ''),
		'temporary ' || pg_my_temp_schema()::regnamespace::text || (SELECT ' ' || string_agg(relname, ' ') FROM pg_class WHERE relnamespace = pg_my_temp_schema()))`
	if err := conn.QueryRow(s.Context(), sql).Scan(&pid, &state); err != nil {
		s.Fatalf("the second client: %v", err)
	}
	return pid, state
}

// newLines returns the lines of b that a does not have.
func newLines(a, b string) []string {
	old := strings.Split(a, "\n")
	return slices.DeleteFunc(strings.Split(b, "\n"), func(line string) bool { return slices.Contains(old, line) })
}
