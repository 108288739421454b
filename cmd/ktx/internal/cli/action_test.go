package cli_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestActionDownloads runs the step of action.yml that downloads the program of a
// release, with a server on this machine in the place of GitHub: a right file is taken,
// one with another checksum ends the job, and without a release ktx is built.
func TestActionDownloads(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Runs struct{ Steps []struct{ ID, Run string } }
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	script := ""
	for _, s := range action.Runs.Steps {
		if s.ID == "release" {
			script = s.Run
		}
	}
	if script == "" {
		t.Fatal("action.yml has no step release")
	}

	const name = "ktx_1.2.3_linux_amd64.tar.gz"
	var archive bytes.Buffer
	zw := gzip.NewWriter(&archive)
	tw := tar.NewWriter(zw)
	program := "#!/bin/sh\necho the program of the release\n"
	if err := tw.WriteHeader(&tar.Header{Name: "ktx", Mode: 0o755, Size: int64(len(program))}); err != nil {
		t.Fatal(err)
	}
	if _, err := tw.Write([]byte(program)); err != nil {
		t.Fatal(err)
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(archive.Bytes())
	line := hex.EncodeToString(sum[:]) + "  " + name + "\n"

	for _, c := range []struct {
		name, version, ref, arch string
		files                    map[string]string
		fails, taken             bool
		said                     string
	}{
		{name: "a release", version: "v1.2.3", arch: "X64", files: map[string]string{"checksums.txt": "00  other.tar.gz\n" + line, name: archive.String()}, taken: true},
		{name: "the release of the action", ref: "v1.2.3", arch: "X64", files: map[string]string{"checksums.txt": line, name: archive.String()}, taken: true},
		{name: "another file", version: "v1.2.3", arch: "X64", files: map[string]string{"checksums.txt": line, name: archive.String() + "x"}, fails: true, said: "::error::" + name + " of v1.2.3 is not the file"},
		{name: "a file that is not listed", version: "v1.2.3", arch: "X64", files: map[string]string{"checksums.txt": strings.Replace(line, name, "x"+name, 1), name: archive.String()}, fails: true, said: "is not the file"},
		{name: "no checksums", version: "v1.2.3", arch: "X64", files: map[string]string{name: archive.String()}, said: "there is no checksums.txt of v1.2.3"},
		{name: "no release", version: "v1.2.3", arch: "X64", said: "so ktx is built"},
		{name: "a branch", ref: "main", arch: "X64", files: map[string]string{"checksums.txt": line, name: archive.String()}},
		{name: "a version that is a path", version: "v1.2.3/../x", arch: "X64"},
		{name: "another processor", version: "v1.2.3", arch: "ARM", files: map[string]string{"checksums.txt": line, name: archive.String()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				content, ok := c.files[strings.TrimPrefix(r.URL.Path, "/v1.2.3/")]
				if !ok {
					w.WriteHeader(http.StatusNotFound)
				}
				_, _ = w.Write([]byte(content))
			}))
			defer server.Close()
			dir := t.TempDir()
			output := filepath.Join(dir, "output")
			put(t, output, "")
			cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-c", script)
			cmd.Env = append(os.Environ(), "KTX_DOWNLOAD_URL="+server.URL, "KTX_INPUT_VERSION="+c.version, "KTX_ACTION_REF="+c.ref,
				"RUNNER_OS=Linux", "RUNNER_ARCH="+c.arch, "RUNNER_TEMP="+dir, "GITHUB_OUTPUT="+output)
			log, err := cmd.CombinedOutput()
			if (err != nil) != c.fails || !strings.Contains(string(log), c.said) {
				t.Errorf("%v, want a failure %t and %q:\n%s", err, c.fails, c.said, log)
			}
			got, err := os.ReadFile(output)
			if err != nil {
				t.Fatal(err)
			}
			path, taken := strings.CutPrefix(strings.TrimSpace(string(got)), "ktx=")
			if taken != c.taken {
				t.Fatalf("taken %t, want %t: %q\n%s", taken, c.taken, got, log)
			}
			if !taken {
				return
			}
			if said, err := exec.CommandContext(t.Context(), path).Output(); err != nil || string(said) != "the program of the release\n" {
				t.Errorf("%s %v", said, err)
			}
		})
	}
}
