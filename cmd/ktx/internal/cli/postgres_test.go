package cli_test

import (
	"net/url"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// TestPostgresScripts runs scripts on a real server. They find in OWNER and
// READER the addresses of a superuser and of a role that may only read.
func TestPostgresScripts(t *testing.T) {
	server := testdb.Postgres(t)
	reader := server.NewRole(t)
	owner := server.NewDatabase(t,
		"CREATE TABLE orders (id int PRIMARY KEY, status text, total numeric(10,2))",
		"INSERT INTO orders SELECT n, CASE WHEN n % 3 = 0 THEN 'late' ELSE 'paid' END, n / 4.0 FROM generate_series(1, 900) n",
		"CREATE TABLE api_keys (id int, key text)",
		"GRANT SELECT ON orders, api_keys TO "+reader,
	)
	address, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := address.User.Password()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/postgres", Cmds: scriptCommands, RequireUniqueNames: true, RequireExplicitExec: true, UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("OWNER", owner)
			e.Setenv("READER", server.URL(address.Path[1:], reader))
			e.Setenv("READER_NAME", reader)
			e.Setenv("PASSWORD", password)
			return nil
		},
	})
}
