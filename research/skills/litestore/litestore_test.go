package litestore_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/skills"
	"github.com/ktxhq/ktx/research/skills/litestore"
	"github.com/ktxhq/ktx/research/skills/skillstest"
)

// -update rewrites the transcript of the contract suite.
var _ = flag.Bool("update", false, "rewrite the golden files")

func TestState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	skillstest.RunState(t, func(t *testing.T, tenant string) skills.State {
		t.Helper()
		s := litestore.New(filepath.Join(dir, tenant, "state.db"))
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	})
}

// TestFile: reading makes no file, and the file is the user's alone.
func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "state.db")
	s := litestore.New(path)
	if c, err := s.Counts(t.Context(), nil); err != nil || len(c) != 0 {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("reading has made the file")
	}
	if err := s.Use(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("a second close: %v", err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := litestore.New(path).Counts(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "state.db: ") {
		t.Errorf("a file that is no database: %v", err)
	}
}
