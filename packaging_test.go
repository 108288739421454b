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

// TestReleaseFiles: the files that a release is made from agree with ktx, with the
// Dockerfile and with each other. Those that are made from templates are compared in
// tools/release.
func TestReleaseFiles(t *testing.T) {
	c := newCommandLine(t)
	dir := t.TempDir()
	if out, code := c.shell(t, dir, "SOURCE_DATE_EPOCH=0 ktx man pages && grep -l 'Jan 1970' pages/*.1 | wc -l && ls pages | wc -l"); code != 0 {
		t.Errorf("ktx man: %s", out)
	} else if counts := strings.Fields(out); len(counts) != 2 || counts[0] != counts[1] || counts[0] == "0" {
		t.Errorf("of the man pages, %v have the date that SOURCE_DATE_EPOCH says", counts)
	}
	for _, page := range []string{"ktx.1", "ktx-sql-check.1", "ktx-mcp-stdio.1"} {
		if _, err := os.Stat(filepath.Join(dir, "pages", page)); err != nil {
			t.Error(err)
		}
	}
	build := read(t, "tools/release/build.go")
	for _, match := range regexp.MustCompile(`\{"(\w+)", "\S*ktx\S*"\},`).FindAllStringSubmatch(build, -1) {
		if out, code := c.shell(t, dir, "ktx completion "+match[1]); code != 0 || !strings.Contains(out, "ktx") {
			t.Errorf("ktx completion %s: exit code %d\n%s", match[1], code, out)
		}
	}

	// The image of a release has what the Dockerfile makes.
	dockerfile, image := read(t, "Dockerfile"), read(t, "tools/release/image.go")
	for _, c := range []struct{ docker, release string }{
		{`(?m)^USER (\d+):`, `imageUser = (\d+)`},
		{`(?m)^EXPOSE (\d+)$`, `"(\d+)/tcp"`},
		{`(?m)^VOLUME (.*)$`, `Volumes: map\[string\]struct\{\}\{"([^"]*)"`},
		{`(?m)^WORKDIR (/project)$`, `WorkingDir: "([^"]*)"`},
		{`(?m)^STOPSIGNAL (.*)$`, `StopSignal: "([^"]*)"`},
		{`(?m)^ENTRYPOINT \[(.*)\]$`, `Entrypoint: \[\]string\{([^}]*)\}`},
		{`(?m)^CMD \[(.*)\]$`, `Cmd: \[\]string\{([^}]*)\}`},
		{`(?m)^HEALTHCHECK .*CMD \[(.*)\]$`, `Healthcheck: +healthcheck\{\[\]string\{"CMD", ([^}]*)\}`},
	} {
		docker, release := regexp.MustCompile(c.docker).FindStringSubmatch(dockerfile), regexp.MustCompile(c.release).FindStringSubmatch(image)
		if docker == nil || release == nil || docker[1] != release[1] {
			t.Errorf("the Dockerfile has %q, and the image of a release %q", docker, release)
		}
	}

	// The program of a release and that of the Dockerfile are built alike.
	for _, file := range []string{"Dockerfile", "tools/release/build.go"} {
		for _, want := range []string{"CGO_ENABLED=0", "-trimpath", "-s -w", "-X github.com/ktxhq/ktx/cmd/ktx/internal/cli.version="} {
			if !strings.Contains(read(t, file), want) {
				t.Errorf("%s does not build with %s", file, want)
			}
		}
	}
	for _, script := range []string{"postinstall.sh", "preremove.sh", "postremove.sh"} {
		if name := strings.TrimSuffix(script, ".sh"); !strings.Contains(read(t, "tools/release/linux.go"), `"`+name+`"`) {
			t.Errorf("no package has %s", script)
		}
		if out, code := c.shell(t, ".", "sh -n packaging/linux/"+script); code != 0 {
			t.Errorf("%s: %s", script, out)
		}
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
