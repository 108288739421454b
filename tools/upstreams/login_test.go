package upstreams_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/executiontest/executable"
)

// freePort returns a port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // it is one
}

// TestUpstreamLogin logs in at the example server of the TypeScript SDK, which registers
// clients and checks the challenge of PKCE, and whose page lets everybody in.
func TestUpstreamLogin(t *testing.T) {
	p := publishedServers(t)
	mcpPort, authPort := freePort(t), freePort(t)
	node := exec.CommandContext(t.Context(), "node", filepath.Join(p.dir, "node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js"), "--oauth")
	node.Env = append(os.Environ(), fmt.Sprintf("MCP_PORT=%d", mcpPort), fmt.Sprintf("MCP_AUTH_PORT=%d", authPort))
	var said bytes.Buffer
	node.Stdout, node.Stderr = &said, &said
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = node.Process.Kill()
		_ = node.Wait()
		if t.Failed() {
			t.Logf("the server says:\n%s", said.String())
		}
	})
	for _, port := range []int{mcpPort, authPort} {
		for address, end := fmt.Sprintf("localhost:%d", port), time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
			if err == nil {
				_ = c.Close()
				break
			}
			if time.Now().After(end) {
				t.Fatalf("the server does not listen: %v", err)
			}
		}
	}
	dir := t.TempDir()
	config := fmt.Sprintf("upstreams:\n  servers:\n    demo: {url: \"http://localhost:%d/mcp\"}\n  rules: [{match: [greet], enabled: true}]\n", mcpPort)
	if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	ktx := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), executable.KTX(t), args...)
		c.Dir = dir
		return c
	}
	greet := func() (string, error) {
		out, err := ktx("upstream", "call", "--write", "demo", "greet", `{"name": "ktx"}`).CombinedOutput()
		return string(out), err
	}
	if out, err := greet(); err == nil || !strings.Contains(out, "the server asks for a login") || !strings.Contains(out, "ktx upstream login demo") {
		t.Fatalf("without a login: %s, %v", out, err)
	}
	login := ktx("upstream", "login", "demo", "--no-browser")
	var stdout bytes.Buffer
	login.Stdout = &stdout
	stderr, err := login.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := login.Start(); err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		errs.WriteString(lines.Text() + "\n")
		if address := strings.TrimSpace(lines.Text()); strings.HasPrefix(address, "http://localhost") {
			browse(t, address)
		}
	}
	if err := login.Wait(); err != nil || !strings.HasPrefix(stdout.String(), "logged in to demo: ") {
		t.Fatalf("ktx upstream login: %v\n%s%s", err, errs.String(), stdout.String())
	}
	if out, err := greet(); err != nil || !strings.Contains(out, "Hello, ktx!") {
		t.Errorf("after the login: %s, %v", out, err)
	}
	file := filepath.Join(dir, ".ktx/upstreams/logins.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if out, err := ktx("upstream", "logout", "demo").CombinedOutput(); err != nil || string(out) != "logged out of demo\n" {
		t.Errorf("ktx upstream logout: %s, %v", out, err)
	}
	if out, err := greet(); err == nil {
		t.Errorf("after the logout: %s", out)
	}
	t.Log("logged in, called and logged out")
}

// browse opens a page as a browser does.
func browse(t *testing.T, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(text), "ktx has what it needs") {
		t.Errorf("the browser ends at %d %s: %v", res.StatusCode, text, err)
	}
}
