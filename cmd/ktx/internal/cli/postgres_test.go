package cli_test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// TestPostgresScripts runs scripts on a real server. OWNER and READER are the addresses
// of a superuser and of a role that may only read. SILENT is the address of a server
// that does not answer.
func TestPostgresScripts(t *testing.T) {
	server := testdb.Postgres(t)
	reader := server.NewRole(t)
	owner := server.NewDatabase(t,
		"CREATE TABLE orders (id int PRIMARY KEY, status text, total numeric(10,2))",
		"INSERT INTO orders SELECT n, CASE WHEN n % 3 = 0 THEN 'late' ELSE 'paid' END, n / 4.0 FROM generate_series(1, 900) n",
		"CREATE TABLE api_keys (id int, key text)",
		"CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n * 2'",
		"CREATE FUNCTION anything(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN n; END'",
		"GRANT SELECT ON orders, api_keys TO "+reader,
	)
	address, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	silent := silentServer(t)
	password, _ := address.User.Password()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/postgres", Cmds: scriptCommands, RequireUniqueNames: true, RequireExplicitExec: true, UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("OWNER", owner)
			e.Setenv("READER", server.URL(address.Path[1:], reader))
			e.Setenv("READER_NAME", reader)
			e.Setenv("SILENT", "postgres://u@"+silent+"/db?sslmode=disable")
			e.Setenv("PASSWORD", password)
			config := fmt.Sprintf("connections:\n  parts: {driver: postgres, host: %q, port: %s, database: %q, user: %q, password: env:PASSWORD}\n",
				address.Hostname(), address.Port(), address.Path[1:], address.User.Username())
			if err := os.Mkdir(filepath.Join(e.WorkDir, "parts"), 0o750); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(e.WorkDir, "parts", "ktx.yaml"), []byte(config), 0o600)
		},
	})
}

// silentServer accepts connections and sends nothing.
func silentServer(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open []net.Conn
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open = append(open, c)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
		for _, c := range open {
			_ = c.Close()
		}
	})
	return l.Addr().String()
}
