package ktx_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

const unitFile = "packaging/systemd/ktx@.service"

// TestUnit verifies the unit with systemd-analyze, and limits its exposure score.
func TestUnit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("systemd runs only on Linux")
	}
	text := read(t, unitFile)
	program, err := os.Executable() // replaces ktx in the unit: systemd requires that the program exists, and ktx is not installed
	if err != nil {
		t.Fatal(err)
	}
	const installed = "/usr/local/bin/ktx"
	if !strings.Contains(text, "ExecStart="+installed+" ") {
		t.Fatalf("%s does not start %s", unitFile, installed)
	}
	unit := filepath.Join(t.TempDir(), "ktx@shop.service")
	if err := os.WriteFile(unit, []byte(strings.ReplaceAll(text, "="+installed+" ", "="+program+" ")), 0o600); err != nil {
		t.Fatal(err)
	}
	analyze := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "systemd-analyze", append(args, "--no-pager", unit)...).CombinedOutput()
		if err != nil {
			t.Fatalf("systemd-analyze %s: %v (scripts/test-deps installs it)\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if out := analyze("verify", "--man=no"); out != "" {
		t.Errorf("systemd-analyze verify: %s", out)
	}
	analyze("security", "--offline=true", "--threshold=15") // an exposure of 1.5 of 10
}

// TestPackagedCommands: the commands in the unit and the image exist in ktx, and the
// image is built with the Go version that go.mod names.
func TestPackagedCommands(t *testing.T) {
	dockerfile := read(t, "Dockerfile")
	started := regexp.MustCompile(`(?m)^ExecStart=\S*/ktx (.*)$`).FindStringSubmatch(read(t, unitFile))
	checked := regexp.MustCompile(`(?m)^HEALTHCHECK .*CMD \[".*/ktx", (.*)\]$`).FindStringSubmatch(dockerfile)
	served := regexp.MustCompile(`(?m)^CMD \[(.*)\]$`).FindStringSubmatch(dockerfile)
	if started == nil || checked == nil || served == nil {
		t.Fatal("a command of the unit or the Dockerfile was not found")
	}
	c := newCommandLine(t)
	words := strings.NewReplacer(`"`, "", ",", "")
	for _, args := range []string{started[1], words.Replace(checked[1]), words.Replace(served[1])} {
		if out, code := c.shell(t, t.TempDir(), "ktx "+args+" --help"); code != 0 || !strings.Contains(out, "Usage:") {
			t.Errorf("ktx %s: exit code %d\n%s", args, code, out)
		}
	}
	image := regexp.MustCompile(`(?m)^FROM golang:([0-9.]+)-`).FindStringSubmatch(dockerfile)
	if image == nil || !strings.Contains(read(t, "go.mod"), "\ngo "+image[1]+".") {
		t.Errorf("the image is built by Go %v, and go.mod names another version", image)
	}
}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
