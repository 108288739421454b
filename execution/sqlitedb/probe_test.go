package sqlitedb_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/sqlitedb/engine"
	"github.com/ktxhq/ktx/sqlguard"
)

// has reports whether a finding of that level contains the words.
func has(report execution.ProbeReport, level execution.ProbeLevel, words string) bool {
	for _, f := range report.Findings {
		if f.Level == level && strings.Contains(f.Message, words) {
			return true
		}
	}
	return false
}

func TestProbe(t *testing.T) {
	path := testdb.SQLiteFile(t, "PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
	c := open(t, path, 1)
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	report, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !report.ReadOnly || !strings.HasPrefix(report.Server, "SQLite 3.") || report.TLS || report.RoleScript != "" {
		t.Errorf("report %+v", report)
	}
	if !has(report, "warning", "every user") || !has(report, "note", "writable by the user") || !has(report, "note", "WAL mode") {
		t.Errorf("findings %+v", report.Findings)
	}
	if !has(report, "note", "refused by the engine: a write, ATTACH, load_extension, a function that is not listed, PRAGMA query_only = 0, a write without the authorizer") {
		t.Errorf("findings %+v", report.Findings)
	}
	if got := c.rows(t, "SELECT count(*) FROM sqlite_schema"); got[0][0] != "1" {
		t.Errorf("%v objects after a probe, want the one table", got)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if report, err = c.Probe(t.Context()); err != nil || has(report, "warning", "") {
		t.Errorf("findings %+v, error %v", report.Findings, err)
	}
}

// The probe warns about a folder in which every user may replace the database
// file.
func TestProbeOfFolder(t *testing.T) {
	path := testdb.SQLiteFile(t, "CREATE TABLE t (x)")
	if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	report, err := open(t, path, 1).Probe(t.Context())
	if err != nil || !has(report, "warning", "may replace") {
		t.Errorf("findings %+v, error %v", report.Findings, err)
	}
	for _, f := range report.Findings {
		if f.Topic == "" {
			t.Errorf("%+v has no topic", f)
		}
	}
}

// The probe reports what the engine did, not what the settings say.
func TestProbeOfWritableSession(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t, "CREATE TABLE t (x)"), 1)
	c.Tamper(func(conn *engine.Conn) {
		if err := conn.SetAuthorizer(nil); err != nil {
			t.Fatal(err)
		}
		if err := conn.Exec("PRAGMA query_only = 0"); err != nil {
			t.Fatal(err)
		}
	})
	_, err := c.Probe(t.Context())
	if e := typed(t, err); e.Code != sqlguard.CodeSessionModeMismatch {
		t.Errorf("error %v, want %s", e, sqlguard.CodeSessionModeMismatch)
	}
	if report, err := c.Probe(t.Context()); err != nil || !report.ReadOnly {
		t.Errorf("report %+v, error %v after the session was replaced", report, err)
	}
}

func TestProbeEnds(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t), 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Probe(ctx)
	if e := typed(t, err); e.Code != sqlguard.CodeCancelled {
		t.Errorf("error %v, want %s", e, sqlguard.CodeCancelled)
	}
}
