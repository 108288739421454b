package cli_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/bqserver"
)

// TestBigQueryProject runs a project against a stand-in for BigQuery.
func TestBigQueryProject(t *testing.T) {
	items := bqserver.Query{
		Tables: []string{bqserver.Project + "." + bqserver.Dataset + ".items"}, Bytes: 5 << 20,
		Fields: []bqserver.Field{{Name: "id", Type: "INTEGER"}, {Name: "name", Type: "STRING"}}, Rows: 1, Row: bqserver.Values(`"1"`, `"one"`),
	}
	dir := t.TempDir()
	ktx := func(args ...string) (string, int) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "ktx", args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil && c.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), c.ProcessState.ExitCode()
	}
	use := func(config bqserver.Config) {
		s := bqserver.Start(t, config)
		s.On("SELECT id, name FROM items", items)
		t.Setenv("KTX_LAKE_URL", s.URL())
	}
	use(bqserver.Config{})
	configure(t, dir, "connections:\n  lake: {driver: bigquery, url: env:KTX_LAKE_URL, limits: {scanBytes: 10MiB}}\n")
	if out, code := ktx("sql", "SELECT id, name FROM items"); code != 0 || !strings.Contains(out, "1\tone") && !strings.Contains(out, "1,one") && !strings.Contains(out, `"one"`) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if out, code := ktx("doctor"); code != 0 || !strings.Contains(out, "role reader@ktx-test.iam.gserviceaccount.com") || strings.Contains(out, "warning") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	script, code := ktx("doctor", "--role-script", "--connection", "lake")
	if code != 0 || !strings.Contains(script, "ON SCHEMA `ktx-test`.`shop`") {
		t.Errorf("exit code %d\n%s", code, script)
	}
	shell := exec.CommandContext(t.Context(), "sh", "-n")
	shell.Stdin = strings.NewReader(script)
	if out, err := shell.CombinedOutput(); err != nil {
		t.Errorf("the script is none of a shell: %v\n%s\n%s", err, out, script)
	}

	configure(t, dir, "connections:\n  lake: {driver: bigquery, url: env:KTX_LAKE_URL, limits: {scanBytes: 1MiB}}\n")
	if out, code := ktx("sql", "SELECT id, name FROM items"); code == 0 || !strings.Contains(out, "5242880 bytes (5 MiB), more than the 1048576 bytes (1 MiB) that limits.scanBytes permits") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	use(bqserver.Config{Writes: true})
	if out, code := ktx("sql", "SELECT id, name FROM items"); code == 0 || !strings.Contains(out, "may make tables") {
		t.Errorf("a principal that may write is not refused: exit code %d\n%s", code, out)
	}
}
