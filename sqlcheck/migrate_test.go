package sqlcheck_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlcheck/migration"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestMigrations: the profile reports what a migration does, keeps what cannot be
// read, takes suppressions, and leaves other files to the guard.
func TestMigrations(t *testing.T) {
	t.Parallel()
	d, _ := dialects.Lookup("postgres")
	guard, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "1.sql")
	const text = "SET lock_timeout = '5s';\nCREATE INDEX i ON t (a);\n" +
		"-- ktx:allow migration_breaks_programs until=2026-12-31 reason=\"nothing reads it\"\nALTER TABLE t DROP COLUMN old;\nALTER TABLE t ADD;\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, profile := range []bool{true, false} {
		c := sqlcheck.Checker{
			Choose:     func(string, string, sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding) { return guard, nil },
			Migrations: func(string) (migration.Options, bool) { return migration.Options{}, profile },
			Today:      time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
		}
		files, err := c.Run(t.Context(), []sqlcheck.Input{{Path: path, Named: true}})
		if err != nil {
			t.Fatal(err)
		}
		var got []sqlguard.Code
		for _, f := range files[0].Findings {
			if f.Counts() {
				got = append(got, f.Code)
			}
		}
		want := []sqlguard.Code{migration.CodeIndexBlocksWrites, sqlguard.CodeParseError}
		if !profile {
			want = []sqlguard.Code{sqlguard.CodeSessionChange, sqlguard.CodeDDLStatement, sqlguard.CodeSuppressionUnused, sqlguard.CodeDDLStatement, sqlguard.CodeParseError}
		}
		if !slices.Equal(got, want) {
			t.Errorf("profile %t: %v, want %v", profile, got, want)
		}
	}
	if s := report.DefaultSeverity(migration.CodeBreaksPrograms); s != report.SeverityWarning {
		t.Error(s)
	}
}
