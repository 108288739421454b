package install_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestWindows: the program for Windows runs under Wine, which stands for Windows. It makes
// the demo project, serves it to an MCP client, and several processes write one audit log
// at the same time. Wine cannot prove what the real system does with a file that another
// program, such as a virus scanner, has open, nor its permissions, console and services.
func TestWindows(t *testing.T) {
	b := newBench(t)
	root := filepath.Join(t.TempDir(), "debian")
	run(t, "cp", "-a", filepath.Join(b.tools, "wine"), root)
	runIn(t, "../..", append(os.Environ(), "CGO_ENABLED=0", "GOOS=windows", "GOARCH="+runtime.GOARCH), "go", "build", "-buildvcs=false", "-o", filepath.Join(root, "ktx.exe"), "./cmd/ktx")

	// The namespace ends Wine's own server with the command.
	within := []string{
		"unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc=" + filepath.Join(root, "proc"), "--",
		"chroot", root, "env", "-i", "PATH=/usr/bin:/bin", "HOME=/root", "XDG_RUNTIME_DIR=/run", "WINEDEBUG=-all",
	}
	script := func(text string) string {
		t.Helper()
		return runCommand(t, append(slices.Clone(within), "sh", "-euc", text))
	}
	ktx := slices.Concat(within, []string{"wine", "/ktx.exe"})
	script("wine wineboot --init")
	runCommand(t, append(slices.Clone(ktx), "init", "--demo", `Z:\shop`))
	answers(t, nil, append(slices.Clone(ktx), "mcp", "stdio", "--project-dir", `Z:\shop`))
	script(`cd /shop
for process in 1 2 3 4; do
	(for statement in 1 2 3; do wine /ktx.exe sql "SELECT $process, $statement"; done) &
	all="${all:-} $!"
done
for one in $all; do wait $one; done`)
	log := script("cd /shop; wine /ktx.exe audit verify")
	if !strings.HasPrefix(log, "whole") || strings.Contains(log, "crashed") {
		t.Errorf("the log after 12 processes: %s", log)
	}
	if decisions := strings.Count(script("cd /shop; wine /ktx.exe audit tail --lines 100 --event query.decision"), "query.decision"); decisions < 14 {
		t.Errorf("the log has %d decisions, want the two of the client and 12", decisions)
	}
	if doctor := script("cd /shop; wine /ktx.exe doctor"); strings.Contains(doctor, "chmod") {
		t.Errorf("advice for other systems: %s", doctor)
	}
}
