package audit_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/audit"
)

func TestConfigValidate(t *testing.T) {
	t.Parallel()
	for _, cfg := range []audit.Config{
		{},
		{Path: "logs", SQL: audit.SQLNormalized, OnFailure: audit.FailReject, Sync: audit.SyncInterval, RotateBytes: 1 << 20},
		{SQL: audit.SQLFull, OnFailure: audit.FailDegrade, Sync: audit.SyncAlways},
		{Sync: audit.SyncOff, RotateBytes: 4 << 10},
	} {
		if err := cfg.Validate(); err != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	bad := audit.Config{SQL: "raw", OnFailure: "ignore", Sync: "never", RotateBytes: -1}
	err := bad.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, key := range []string{`sql: "raw"`, `onFailure: "ignore"`, `sync: "never"`, "rotateBytes: -1"} {
		if !strings.Contains(err.Error(), key) {
			t.Errorf("%q does not name %s", err, key)
		}
	}
}

func TestConfigDir(t *testing.T) {
	t.Parallel()
	project, abs := t.TempDir(), t.TempDir()
	for path, want := range map[string]string{
		"":        filepath.Join(project, ".ktx", "audit"),
		"logs/a":  filepath.Join(project, "logs", "a"),
		abs + "/": abs + "/",
	} {
		if got := (audit.Config{Path: path}).Dir(project); got != want {
			t.Errorf("path %q: %s, want %s", path, got, want)
		}
	}
}
