package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedGuard runs the guard that corpus/GUARD.md prints.
func TestDocumentedGuard(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no Python: scripts/test-deps installs it")
		}
		t.Skip("no Python (an error where CI is set)")
	}
	page, err := os.ReadFile("../../../../corpus/GUARD.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(page)
	if code == nil {
		t.Fatal("corpus/GUARD.md prints no guard")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "guard.py"), code[1], 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "ktx", "corpus", "run", "--dialect", "sqlite", "--guard", "exec:python3 guard.py", "--failures=false")
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput() // it lets some pass: exit code 1
	if cmd.ProcessState.ExitCode() != 1 || !regexp.MustCompile(`sqlite\t[1-9][0-9]*/[0-9]+ .*\t[1-9][0-9]*/[0-9]+ .*\t0/[0-9]+ .*\t0/`).Match(out) {
		t.Errorf("exit code %d: %s", cmd.ProcessState.ExitCode(), strings.TrimSpace(string(out)))
	}
}
