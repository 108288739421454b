package cli_test

import (
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// TestRoleScriptMakesAReader runs what ktx doctor --role-script prints with
// psql, and ktx doctor with the role that it makes: there is no warning from
// version 15 of the server on, and one before, which the script names.
func TestRoleScriptMakesAReader(t *testing.T) {
	server := testdb.StartPostgres(t, testdb.Options{}) // the role's name is the same everywhere
	server.Admin(t, "CREATE DATABASE shop")
	owner := server.URL("shop", "")
	server.Exec(t, owner, "CREATE TABLE orders (id int)", "CREATE SCHEMA hr", "CREATE TABLE hr.people (id int)", "CREATE SCHEMA stock", "CREATE VIEW stock.items AS SELECT 1 AS id")
	dir := t.TempDir()
	t.Setenv("KTX_SCRIPT_URL", owner)
	configure(t, dir, "connections:\n  shop: {driver: postgres, url: env:KTX_SCRIPT_URL}\nguard: {role: refuse}\n")
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
		t.Errorf("a superuser is not refused: %d %s", code, out)
	}
	script, code := ktx("doctor", "--role-script", "--connection", "shop")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, script)
	}
	for range 2 { // it may be run again
		psql := exec.CommandContext(t.Context(), testdb.Tool(t, "psql"), "-X", "-q", "-d", owner)
		psql.Stdin = strings.NewReader(script)
		if out, err := psql.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("psql: %v\n%s\n%s", err, out, script)
		}
	}
	address, err := url.Parse(server.URL("shop", "ktx_reader"))
	if err != nil {
		t.Fatal(err)
	}
	password, _ := address.User.Password()
	server.Admin(t, "ALTER ROLE ktx_reader PASSWORD '"+password+"'") // as \password does
	if server.Version() < 15 {
		server.Exec(t, owner, "REVOKE CREATE ON SCHEMA public FROM PUBLIC") // a line of the script's comments
		if !strings.Contains(script, "\n-- REVOKE CREATE ON SCHEMA public FROM PUBLIC;\n") {
			t.Errorf("the script does not name it:\n%s", script)
		}
	}
	t.Setenv("KTX_SCRIPT_URL", address.String())
	out, code := ktx("doctor")
	if code != 0 || strings.Contains(out, "warning") || !strings.Contains(out, "role ktx_reader") || !strings.Contains(out, "can read 3 of 3") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if out, code := ktx("sql", "SELECT count(*) FROM hr.people, stock.items, orders"); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	t.Log(out)
}
