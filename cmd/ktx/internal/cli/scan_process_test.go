package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// TestInterruptedScanGoesOn interrupts a scan while it reads a view that never ends.
// The next scan goes on with the tables that were not finished.
func TestInterruptedScanGoesOn(t *testing.T) {
	server := testdb.Postgres(t)
	address := server.NewDatabase(t,
		"CREATE TABLE a (id int); INSERT INTO a VALUES (1)",
		"CREATE VIEW slow AS SELECT count(*) FROM generate_series(1, 1000000) x, generate_series(1, 1000000) y",
	)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), []byte("connections:\n  pg: {driver: postgres, url: env:KTX_SCRIPT_URL}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KTX_SCRIPT_URL", address)
	p := run(t, dir, "scan", "pg")
	waitFor(t, func() bool {
		text, err := os.ReadFile(filepath.Join(dir, ".ktx/scan/pg/journal.jsonl"))
		return err == nil && strings.Count(string(text), "\n") == 2 // the header, and the table a
	})
	p.signal(t, os.Interrupt)
	p.ends(t, 3)
	if s := p.stderr.String(); !strings.Contains(s, "it was interrupted; 1 of 2 tables are profiled. Run ktx scan pg again to continue") {
		t.Errorf("standard error: %s", s)
	}
	server.Exec(t, address, "DROP VIEW slow")
	p = run(t, dir, "scan", "pg")
	text, err := p.out.ReadString('\n')
	if p.ends(t, 0); err != nil || text != "pg: 1 table, 1 column, 1 row read (1 table of the run before)\n" {
		t.Errorf("standard output: %q, %v", text, err)
	}
}
