package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestInitKilled: wherever ktx init --demo is killed, the folder is no project or a
// whole one, and the same command completes it.
func TestInitKilled(t *testing.T) {
	t.Parallel()
	completed := 0
	for i := range 12 {
		dir := t.TempDir()
		p := run(t, dir, "init", "--demo")
		time.Sleep(time.Duration(i) * 12 * time.Millisecond) // wherever it is then
		_ = p.cmd.Process.Kill()
		p.wait(t)
		again := run(t, dir, "init", "--demo")
		switch code := again.wait(t); {
		case code == 0:
			completed++
		case code != 2 || !strings.Contains(again.stderr.String(), "ktx.yaml exists already"):
			t.Fatalf("killed after %d steps, the next call ends with %d: %s", i, code, again.stderr)
		}
		for _, name := range []string{"ktx.yaml", "shop.db", "wiki/global/revenue.md", "semantic-layer/demo/_schema/main.yaml"} {
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				t.Error(err)
			}
		}
		found := run(t, dir, "discover", "--kind", "table", "customers")
		found.ends(t, 0)
		verified := run(t, dir, "audit", "verify")
		verified.ends(t, 0)
	}
	if completed == 0 {
		t.Error("no run was killed before its end")
	}
}
