package install_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// registryEnv names the directory with packages, when the test program is a registry.
const registryEnv = "KTX_TEST_INSTALL_PACKAGES"

// withRegistry serves the npm packages of a release on the loopback device of a new
// network namespace, which reaches nothing else, and runs a command that takes packages
// from there. It returns the command's exit code.
func withRegistry(dist string, command []string) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, "registry:", err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if out, err := exec.CommandContext(ctx, "ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		return fail(fmt.Errorf("ip link: %w\n%s", err, out))
	}
	packages, err := readPackages(dist)
	if err != nil {
		return fail(err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fail(err)
	}
	address := "http://" + listener.Addr().String()
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, err := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), "/"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if file, ok := strings.CutPrefix(name, "files/"); ok {
			http.ServeFile(w, r, filepath.Join(dist, filepath.Base(file)))
			return
		}
		p, ok := packages[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		p.manifest["dist"] = map[string]string{"tarball": address + "/files/" + p.file, "integrity": p.integrity}
		version, _ := p.manifest["version"].(string)
		_ = json.NewEncoder(w).Encode(map[string]any{"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: p.manifest}})
	})}
	go func() { _ = server.Serve(listener) }()
	run := exec.CommandContext(ctx, command[0], command[1:]...)
	run.Stdin, run.Stdout, run.Stderr = os.Stdin, os.Stdout, os.Stderr
	run.Env = append(os.Environ(), registryEnv+"=")
	// Clients give the servers that they start few variables, so npm reads a file.
	settings := filepath.Join(os.Getenv("HOME"), ".npmrc")
	if err := os.WriteFile(settings, []byte("registry="+address+"/\n"), 0o600); err != nil {
		return fail(err)
	}
	defer func() { _ = os.Remove(settings) }()
	err = run.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		return fail(err)
	}
	return 0
}

// npmPackage is a package of the release.
type npmPackage struct {
	file      string
	integrity string
	manifest  map[string]any
}

func readPackages(dist string) (map[string]npmPackage, error) {
	paths, err := filepath.Glob(filepath.Join(dist, "*.tgz"))
	if err != nil {
		return nil, err
	}
	packages := make(map[string]npmPackage)
	for _, path := range paths {
		p, err := readPackage(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		name, _ := p.manifest["name"].(string)
		packages[name] = p
	}
	return packages, nil
}

func readPackage(path string) (npmPackage, error) {
	p := npmPackage{file: filepath.Base(path)}
	f, err := os.Open(path)
	if err != nil {
		return p, err
	}
	defer func() { _ = f.Close() }()
	sum := sha512.New()
	zr, err := gzip.NewReader(io.TeeReader(f, sum))
	if err != nil {
		return p, err
	}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return p, err
		}
		if h.Name == "package/package.json" {
			if err := json.NewDecoder(tr).Decode(&p.manifest); err != nil {
				return p, err
			}
		}
	}
	if p.manifest == nil {
		return p, errors.New("no package.json")
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return p, err
	}
	sum.Reset()
	if _, err := io.Copy(sum, f); err != nil {
		return p, err
	}
	p.integrity = "sha512-" + base64.StdEncoding.EncodeToString(sum.Sum(nil))
	return p, nil
}

// TestNPX: npx installs ktx into an empty home and starts it.
func TestNPX(t *testing.T) {
	b := newBench(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	environ := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), registryEnv + "=" + b.dist}
	npx := slices.Concat(cutOff, []string{self, "npx", "-y", "@ktxhq/ktx"})

	before := tree(t, home)
	shop := filepath.Join(home, "shop")
	run := func(args ...string) string {
		return runIn(t, home, environ, npx[0], slices.Concat(npx[1:], args)...)
	}
	if says := run("version"); !strings.Contains(says, "ktx "+b.version+" (") {
		t.Errorf("ktx version says %s", says)
	}
	run("init", "--demo", shop)
	if err := os.RemoveAll(filepath.Join(home, ".npm")); err != nil { // as if it was never there
		t.Fatal(err)
	}
	server := []string{"npx", "-y", "@ktxhq/ktx", "mcp", "stdio", "--project-dir", shop}
	answers(t, environ, slices.Concat(cutOff, []string{self}, server))
	for _, name := range []string{".npm", "shop"} {
		if err := os.RemoveAll(filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	// The line of the README, in an empty home and without a project.
	demo := []string{"npx", "-y", "@ktxhq/ktx", "mcp", "stdio", "--demo"}
	answers(t, environ, slices.Concat(cutOff, []string{self}, demo))

	inspector := filepath.Join(b.tools, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
	out := runIn(t, home, environ, cutOff[0], slices.Concat(cutOff[1:], []string{
		self, filepath.Join(b.tools, "bin/node"), inspector, "--cli", "--transport", "stdio", "--format", "json", "--method", "tools/call", "--tool-name", "sql_execution",
		"--tool-args-json", `{"connectionId":"demo","sql":"SELECT count(*) AS orders FROM orders"}`, "--",
	}, demo)...)
	if !strings.Contains(out, "900") || strings.Contains(out, `"isError":true`) {
		t.Errorf("the inspector says %s", out)
	}

	for _, name := range []string{".npm", ".mcp-inspector"} {
		if err := os.RemoveAll(filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	left(t, home, before)
}

// TestNPMWithoutItsProgram: the package says what to do when npm left out the program.
func TestNPMWithoutItsProgram(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	run(t, "tar", "-C", dir, "-xzf", b.file("ktxhq-ktx-%s.tgz"))
	out, err := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "package/ktx.js"), "version").CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 3 || !strings.Contains(string(out), "--omit=optional") {
		t.Errorf("%v: %s", err, out)
	}
}
