package testdb_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

func TestMain(m *testing.M) {
	if product := os.Getenv(childMark); product != "" {
		child(product)
	}
	testdb.Main(m)
}

func TestPostgresIsShared(t *testing.T) {
	a, b := testdb.Postgres(t), testdb.Postgres(t)
	if a != b {
		t.Fatal("two calls gave two servers")
	}
	if a.Version() < 13 {
		t.Errorf("version %d, want at least 13", a.Version())
	}
	number := scan[int](t, a.URL("", ""), "SELECT current_setting('server_version_num')::int / 10000")
	if number != a.Version() {
		t.Errorf("Version() = %d, the server says %d", a.Version(), number)
	}
}

func TestDatabasesAreIsolated(t *testing.T) {
	s := testdb.Postgres(t)
	one := s.NewDatabase(t, "CREATE TABLE only_here (n int); INSERT INTO only_here VALUES (7)")
	two := s.NewDatabase(t)
	if n := scan[int](t, one, "SELECT n FROM only_here"); n != 7 {
		t.Errorf("got %d, want 7", n)
	}
	const count = "SELECT count(*)::int FROM pg_class WHERE relname = 'only_here'"
	if n := scan[int](t, two, count); n != 0 {
		t.Errorf("the second database sees %d tables of the first", n)
	}
}

func TestDatabaseAndRoleEndWithTheTest(t *testing.T) {
	s := testdb.Postgres(t)
	var database, role string
	t.Run("inner", func(t *testing.T) {
		// The role outlives the first database and owns an object in the
		// second.
		first := s.NewDatabase(t, "CREATE TABLE t (n int)")
		role = s.NewRole(t, "NOINHERIT")
		second := s.NewDatabase(t, "GRANT ALL ON SCHEMA public TO "+role)
		s.Exec(t, first, "GRANT SELECT ON t TO "+role, "INSERT INTO t VALUES (1)")
		database = name(t, first)
		if got := scan[string](t, s.URL(database, role), "SELECT current_user::text || sum(n) FROM t"); got != role+"1" {
			t.Errorf("got %q, want %q", got, role+"1")
		}
		s.Exec(t, s.URL(name(t, second), role), "CREATE TABLE mine ()")
		// A connection left open must not keep the database alive.
		conn, err := pgx.Connect(t.Context(), first)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
	})
	const left = "SELECT (SELECT count(*) FROM pg_database WHERE datname = '%s') + (SELECT count(*) FROM pg_roles WHERE rolname = '%s')"
	if n := scan[int](t, s.URL("", ""), fmt.Sprintf(left, database, role)); n != 0 {
		t.Errorf("%d objects of the test still exist", n)
	}
}

func TestPasswordIsWanted(t *testing.T) {
	s := testdb.StartPostgres(t, testdb.Options{})
	for _, host := range []string{"127.0.0.1", s.SocketDir()} {
		config, err := pgx.ParseConfig(s.URL("", ""))
		if err != nil {
			t.Fatal(err)
		}
		config.Host, config.Password = host, "wrong"
		conn, err := pgx.ConnectConfig(t.Context(), config)
		if err == nil {
			_ = conn.Close(t.Context())
			t.Fatalf("%s: logged in with a wrong password", host)
		}
		if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "28P01" {
			t.Errorf("%s: got %v, want 28P01", host, err)
		}
	}
}

func TestParallelUse(t *testing.T) {
	s := testdb.Postgres(t)
	for i := range 6 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			url := s.NewDatabase(t, fmt.Sprintf("CREATE TABLE t AS SELECT %d AS n", i))
			if n := scan[int](t, url, "SELECT n FROM t"); n != i {
				t.Errorf("got %d, want %d", n, i)
			}
		})
	}
}

func TestClustersSideBySide(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			s, err := testdb.Start(t.Context(), testdb.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestTakenPort(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	taken, free := ports(t)
	tries := 0
	s := testdb.StartPostgres(t, testdb.Options{}.Picking(func(ctx context.Context) (int, error) {
		if tries++; tries < 3 {
			return taken, nil
		}
		return free(ctx)
	}))
	if tries != 3 || scan[int](t, s.URL("", ""), "SELECT 1") != 1 {
		t.Errorf("%d tries, want 3", tries)
	}

	tries = 0
	_, err := testdb.Start(t.Context(), testdb.Options{}.Picking(func(context.Context) (int, error) {
		tries++
		return taken, nil
	}))
	if err == nil || tries < 2 || tries > 20 {
		t.Errorf("a port that is never free: %d tries, %v", tries, err)
	}
}

func TestSettings(t *testing.T) {
	s := testdb.StartPostgres(t, testdb.Options{
		Settings: map[string]string{"max_connections": "20", "application_name": "it's set"},
	})
	const both = "SELECT current_setting('max_connections') || ' ' || current_setting('application_name')"
	if got := scan[string](t, s.URL("", ""), both); got != "20 it's set" {
		t.Errorf("got %q", got)
	}
}

func TestTLS(t *testing.T) {
	s := testdb.StartPostgres(t, testdb.Options{TLS: true})
	config, err := pgx.ParseConfig("postgres://" + s.Addr() + "/postgres?sslmode=verify-full&sslrootcert=" + s.CertificateFile())
	if err != nil {
		t.Fatal(err)
	}
	plain, err := pgx.ParseConfig(s.URL("", ""))
	if err != nil {
		t.Fatal(err)
	}
	config.User, config.Password = plain.User, plain.Password
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var encrypted bool
	if err := conn.QueryRow(t.Context(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&encrypted); err != nil || !encrypted {
		t.Errorf("encrypted = %t, %v", encrypted, err)
	}
}

func TestBinaries(t *testing.T) {
	own, err := testdb.Binaries()
	if err != nil {
		t.Fatal(err)
	}
	links := t.TempDir()
	for _, program := range []string{"initdb", "postgres"} {
		if err := os.Symlink(filepath.Join(own, program), filepath.Join(links, program)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KTX_TEST_POSTGRES_BIN", links)
	if got, err := testdb.Binaries(); got != own || err != nil {
		t.Errorf("through links: %q, %v; want %q", got, err, own)
	}
	t.Setenv("KTX_TEST_POSTGRES_BIN", t.TempDir())
	if got, err := testdb.Binaries(); err == nil {
		t.Errorf("an empty directory gave %q", got)
	}
	t.Setenv("KTX_TEST_POSTGRES_BIN", "")
	t.Setenv("PATH", links)
	if got, err := testdb.Binaries(); got != own || err != nil {
		t.Errorf("through PATH: %q, %v; want %q", got, err, own)
	}
}

func TestSQLiteFile(t *testing.T) {
	path := testdb.SQLiteFile(t, "CREATE TABLE t (n); INSERT INTO t VALUES (1), (2)", "CREATE VIRTUAL TABLE words USING fts5(text)")
	conn, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	stmt, _, err := conn.Prepare("SELECT sum(n) FROM t")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stmt.Close() }()
	if !stmt.Step() || stmt.ColumnInt(0) != 3 {
		t.Errorf("got %d, %v; want 3", stmt.ColumnInt(0), stmt.Err())
	}
	if _, err := os.Stat(testdb.SQLiteFile(t)); err != nil {
		t.Errorf("an empty database: %v", err)
	}
}

// ports returns a port that is taken until the test ends, and a way to free
// ones.
func ports(t *testing.T) (taken int, free func(context.Context) (int, error)) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("no port: %v", l.Addr())
	}
	return addr.Port, testdb.FreePort
}

// scan returns the one value of a query.
func scan[T any](t *testing.T, url, sql string) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var value T
	if err := conn.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// name returns the database of a URL.
func name(t *testing.T, url string) string {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	return config.Database
}

// alive reports whether there is a process of this ID that is not just waiting
// for its parent to notice its end.
func alive(pid int) bool { return pid > 0 && syscall.Kill(pid, 0) == nil }

// eventually waits for a condition.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
