package conformance_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// programTime is the time that a program may take.
const programTime = 3 * time.Minute

// programs are the programs that scripts/conformance has installed.
type programs struct{ dir string }

// installed returns the programs. It skips the test unless make conformance has
// set the variable.
func installed(t *testing.T) programs {
	t.Helper()
	dir := os.Getenv("KTX_TEST_CONFORMANCE")
	if dir == "" {
		t.Skip("KTX_TEST_CONFORMANCE is not set; make conformance sets it")
	}
	return programs{dir}
}

func (p programs) ktx() string { return filepath.Join(p.dir, "ktx") }

// script returns the path of a file in a package.
func (p programs) script(path string) string {
	return filepath.Join(p.dir, "node_modules", filepath.FromSlash(path))
}

// node runs a script to its end, with its own home folder.
func (p programs) node(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	home := t.TempDir()
	return p.run(t, home, []string{"HOME=" + home, "PATH=" + filepath.Join(p.dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"), "NO_COLOR=1"},
		filepath.Join(p.dir, "bin", "node"), args...)
}

// run runs a program to its end.
func (p programs) run(t *testing.T, dir string, env []string, name string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	// A clean-up may run programs after the context of the test has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), programTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s %q did not end within %s\n%s%s", name, args, programTime, out.String(), errs.String())
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), errs.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out.String(), errs.String(), 0
}

// must runs a program that must succeed.
func (p programs) must(t *testing.T, dir string, env []string, name string, args ...string) (stdout string) {
	t.Helper()
	out, errs, code := p.run(t, dir, env, name, args...)
	if code != 0 {
		t.Fatalf("%s %q: exit code %d\n%s%s", name, args, code, out, errs)
	}
	return out
}

// project creates a project with the demo's database.
func (p programs) project(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	p.must(t, dir, nil, p.ktx(), "init", "--demo")
	return dir
}

// serve starts the shipped server for a project, with a token if there is one,
// and stops it when the test ends.
func (p programs) serve(t *testing.T, dir, token string) (url string) {
	t.Helper()
	var env []string
	if token != "" {
		env = append(env, "KTX_MCP_TOKEN="+token)
	}
	out := p.must(t, dir, env, p.ktx(), "mcp", "start", "--port", "0", "--json")
	t.Cleanup(func() { p.must(t, dir, nil, p.ktx(), "mcp", "stop") })
	var started struct {
		URL       string
		TokenAuth bool
	}
	if err := json.Unmarshal([]byte(out), &started); err != nil || started.URL == "" || started.TokenAuth != (token != "") {
		t.Fatalf("ktx mcp start: %v\n%s", err, out)
	}
	return started.URL
}

// everything builds our server with the suite's fixture, as the SDK has it, and
// starts it on a free port.
func everything(t *testing.T, program, token string) (url string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "-http", "127.0.0.1:0")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Env = append(os.Environ(), "KTX_MCP_TOKEN="+token)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	serving, ended := make(chan string, 1), make(chan string, 1)
	go func() {
		var said strings.Builder
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			said.WriteString(lines.Text() + "\n")
			if _, url, found := strings.Cut(lines.Text(), "serving "); found && len(serving) == 0 {
				serving <- url
			}
		}
		ended <- said.String()
	}()
	t.Cleanup(func() { // the context of the test has ended, so the server is stopped explicitly
		said := <-ended
		if err := cmd.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the fixture ended with %v\n%s", err, said)
		}
	})
	select {
	case url := <-serving:
		return url
	case said := <-ended:
		ended <- said
		t.Fatalf("the fixture does not serve:\n%s", said)
	case <-time.After(programTime):
		t.Fatal("the fixture did not say where it serves")
	}
	return ""
}

// fixture builds cmd/ktx/internal/streamable/everything with the SDK's fixture.
// The fixture is a separate program: its main becomes a function that gets our
// handler and our server instead of its own.
func fixture(t *testing.T, p programs) (program string) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	sdk := strings.TrimSpace(p.must(t, root, nil, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/modelcontextprotocol/go-sdk"))
	source, err := os.ReadFile(filepath.Join(sdk, "conformance", "everything-server", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(source)
	for _, change := range []struct{ from, to string }{
		{"\nfunc main() {", "\nfunc init() { fixture = everything }\n\nfunc everything(newHandler newHandler, listen listen) {"},
		{"mcp.NewStreamableHTTPHandler(", "newHandler("},
		{"http.ListenAndServe(", "listen("},
	} {
		if n := strings.Count(text, change.from); n != 1 {
			t.Fatalf("the fixture has %q %d times, not once: it is another than this test knows", change.from, n)
		}
		text = strings.Replace(text, change.from, change.to, 1)
	}
	dir := t.TempDir()
	const command = "cmd/ktx/internal/streamable/everything"
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(root, filepath.FromSlash(command), "fixture.go"): write("fixture.go", []byte(text)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "everything")
	p.must(t, root, nil, "go", "build", "-overlay", write("overlay.json", overlay), "-o", program, "./"+command)
	return program
}
