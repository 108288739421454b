package cli_test

import (
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// TestMariaDBScripts runs scripts on a real server. OWNER and READER are the addresses
// of a user who may do everything and of one who may only read. OTHER is the name of
// another database that both may read.
func TestMariaDBScripts(t *testing.T) {
	server := testdb.MariaDB(t)
	owner := server.NewDatabase(t,
		"CREATE TABLE orders (id int PRIMARY KEY, status varchar(10), total decimal(10,2))",
		"INSERT INTO orders SELECT seq, IF(seq % 3 = 0, 'late', 'paid'), seq / 4 FROM seq_1_to_900",
		"CREATE TABLE api_keys (id int, secret text)",
		"CREATE FUNCTION twice(n int) RETURNS int DETERMINISTIC RETURN n * 2",
	)
	other := server.NewDatabase(t, "CREATE TABLE rates (day date, rate double)", "INSERT INTO rates VALUES ('2026-01-02', 1.5)")
	own, elsewhere := databaseOf(t, owner), databaseOf(t, other)
	reader := server.NewUser(t, "SELECT, EXECUTE ON `"+own+"`.*", "SELECT ON `"+elsewhere+"`.*")
	viewer := server.NewUser(t, "SELECT ON `"+own+"`.*")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/mariadb", Cmds: scriptCommands, RequireUniqueNames: true, RequireExplicitExec: true, UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("OWNER", owner)
			e.Setenv("READER", server.URL(own, reader))
			e.Setenv("VIEWER", server.URL(own, viewer))
			e.Setenv("OWN", own)
			e.Setenv("OTHER", elsewhere)
			return nil
		},
	})
}

// databaseOf returns the database that an address names.
func databaseOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(u.Path, "/")
}

// TestRoleScriptMakesAMariaDBReader runs what ktx doctor --role-script prints
// with the client, and ktx doctor with the user that it makes: there is no
// warning.
func TestRoleScriptMakesAMariaDBReader(t *testing.T) {
	server := testdb.StartMariaDB(t, testdb.Options{}) // the user's name is the same everywhere
	owner := server.NewDatabase(t, "CREATE TABLE orders (id int)", "INSERT INTO orders VALUES (1), (2)", "CREATE VIEW items AS SELECT 1 AS id")
	name := databaseOf(t, owner)
	dir := t.TempDir()
	t.Setenv("KTX_SCRIPT_URL", owner)
	configure(t, dir, "connections:\n  shop: {driver: mariadb, url: env:KTX_SCRIPT_URL}\nguard: {role: refuse}\n")
	ktx := func(args ...string) (string, int) {
		c := exec.CommandContext(t.Context(), "ktx", args...)
		c.Dir = dir
		out, err := c.Output()
		if err != nil && c.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), c.ProcessState.ExitCode()
	}
	if out, code := ktx("sql", "SELECT count(*) FROM orders"); code != 2 || out != "" {
		t.Errorf("a user who may do everything is not refused: %d %s", code, out)
	}
	script, code := ktx("doctor", "--role-script", "--connection", "shop")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, script)
	}
	address, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := address.User.Password()
	for range 2 { // it may be run again
		client := exec.CommandContext(t.Context(), testdb.Tool(t, "mariadb"), "--no-defaults", "--socket", server.Socket(), "--user", address.User.Username(), "--batch")
		client.Env = append(client.Environ(), "MYSQL_PWD="+password)
		client.Stdin = strings.NewReader(script)
		if out, err := client.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("mariadb: %v\n%s\n%s", err, out, script)
		}
	}
	server.Admin(t, "ALTER USER ktx_reader IDENTIFIED BY '"+password+"' ACCOUNT UNLOCK") // as the script's comment says
	t.Setenv("KTX_SCRIPT_URL", server.URL(name, "ktx_reader"))
	out, code := ktx("doctor")
	if code != 0 || strings.Contains(out, "warning") || !strings.Contains(out, "role ktx_reader") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if out, code := ktx("sql", "SELECT count(*) FROM orders, items"); code != 0 || !strings.Contains(out, "2") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	t.Log(out)
}
