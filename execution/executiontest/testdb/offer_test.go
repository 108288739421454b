package testdb_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// inner is set in the test binaries that TestRunWithServers starts.
const inner = "KTX_TEST_INNER"

// TestRunWithServers starts this test binary twice with the same two servers.
func TestRunWithServers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	// Servers of the user's own are not started to be shared, so this test does not
	// see them.
	t.Setenv("KTX_TEST_POSTGRES_URL", "")
	t.Setenv("KTX_TEST_MARIADB_URL", "")
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := `"$0" -test.run '^TestOfferedServers$' -test.v && "$0" -test.run '^TestOfferedServers$' -test.v`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script, self)
	cmd.Env = append(os.Environ(), inner+"="+dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := testdb.RunWithServers(t.Context(), cmd); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	seen, err := os.ReadFile(filepath.Join(dir, "seen"))
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	lines := strings.Split(strings.TrimSpace(string(seen)), "\n")
	if len(lines) != 2 || lines[0] != lines[1] {
		t.Errorf("the two runs used these servers, want the same two:\n%s", seen)
	}
	for socket := range strings.FieldsSeq(lines[0]) {
		if _, err := os.Stat(socket); !os.IsNotExist(err) {
			t.Errorf("%s still exists after the command has ended: %v", socket, err)
		}
	}
}

// TestOfferedServers uses the servers that ServersVariable names.
// TestRunWithServers runs it in a process of its own.
func TestOfferedServers(t *testing.T) {
	dir := os.Getenv(inner)
	if dir == "" {
		return
	}
	pg, maria := testdb.Postgres(t), testdb.MariaDB(t)
	if n := scan[int](t, pg.NewDatabase(t, "CREATE TABLE t AS SELECT 1 AS n"), "SELECT n FROM t"); n != 1 {
		t.Errorf("PostgreSQL answers %d, want 1", n)
	}
	if n := ask[int](t, maria.DB(t, maria.SocketURL("", "")), "SELECT 1"); n != 1 {
		t.Errorf("MariaDB answers %d over its socket, want 1", n)
	}
	if pg.Log() == "" || maria.Log() == "" || pg.Pid() != 0 {
		t.Errorf("logs of %d and %d bytes, process ID %d; want logs and no process ID", len(pg.Log()), len(maria.Log()), pg.Pid())
	}
	if pg.Stop(t.Context(), testdb.Fast) == nil || maria.Stop(t.Context(), testdb.Fast) == nil {
		t.Error("a test binary stopped a server that it did not start")
	}
	file, err := os.OpenFile(filepath.Join(dir, "seen"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(pg.SocketDir() + " " + maria.Socket() + "\n"); err != nil {
		t.Error(err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
}
