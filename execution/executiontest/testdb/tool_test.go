package testdb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

func TestTool(t *testing.T) {
	for _, name := range []string{"psql", "mariadb", "sqlite3"} {
		if path := testdb.Tool(t, name); !filepath.IsAbs(path) {
			t.Errorf("%s is found at %q, want an absolute path", name, path)
		}
	}
	own := t.TempDir()
	const name = "ktx-test-tool"
	if path, err := testdb.FindTool(name); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "make test-deps") {
		t.Errorf("a tool that is missing: %q, %v", path, err)
	}
	if err := os.WriteFile(filepath.Join(own, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", own)
	if path, err := testdb.FindTool(name); err != nil || path != filepath.Join(own, name) {
		t.Errorf("a tool in PATH: %q, %v", path, err)
	}
}
