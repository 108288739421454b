//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package audit_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/audit"
)

// TestSecondProcessIsRefused: without flock only one process can open the log,
// and the error says which file to remove after a crash.
func TestSecondProcessIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := openLog(t, dir, audit.Config{})
	if second, err := audit.Open(dir, audit.Config{}, nil); err == nil {
		t.Error("a second writer opened the log")
		closeLog(t, second)
	} else if !strings.Contains(err.Error(), filepath.Join(dir, audit.LockName)) {
		t.Errorf("%v does not name the lock file", err)
	}
	closeLog(t, log)
	fill(t, dir, audit.Config{}, 1)
	sound(t, dir)
}
