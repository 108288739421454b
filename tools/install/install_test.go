package install_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMain lets the test program start again as a registry: see npm_test.go.
func TestMain(m *testing.M) {
	if dist := os.Getenv(registryEnv); dist != "" {
		os.Exit(withRegistry(dist, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// bench has the release and the programs that the tests use.
type bench struct {
	dist    string // the release
	tools   string // where scripts/test-install installed programs
	version string
}

var archiveName = regexp.MustCompile(`^ktx_(.*)_linux_` + runtime.GOARCH + `\.tar\.gz$`)

func newBench(t *testing.T) bench {
	t.Helper()
	b := bench{tools: os.Getenv("KTX_TEST_INSTALL")}
	if b.tools == "" {
		t.Skip("make test-install runs this")
	}
	var err error
	if b.dist, err = filepath.Abs("../../dist"); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(b.dist)
	if err != nil {
		t.Fatalf("%v (make release-snapshot makes it)", err)
	}
	for _, entry := range entries {
		if match := archiveName.FindStringSubmatch(entry.Name()); match != nil {
			b.version = match[1]
		}
	}
	if b.version == "" {
		t.Fatalf("%s has no archive for this machine", b.dist)
	}
	return b
}

// file returns the path of a file of the release, whose name has %s for the version.
func (b bench) file(format string) string {
	return filepath.Join(b.dist, fmt.Sprintf(format, b.version))
}

// run runs a command and returns what it prints.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	return runIn(t, "", nil, name, args...)
}

func runIn(t *testing.T, dir string, environ []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// cutOff is the start of a command that has no network, not even a loopback device
// that is up.
var cutOff = []string{"unshare", "--net", "--"}

// inside is the start of a command in a root, without network.
func inside(root string, options ...string) []string {
	return slices.Concat(cutOff, []string{"chroot"}, options, []string{root})
}

// answers starts an MCP server by a command, asks it for what the demo database has,
// and has it refuse a statement that changes data. It logs the time from the start to
// the first answer.
func answers(t *testing.T, environ, command []string) {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var complaints bytes.Buffer
	cmd.Env, cmd.Stderr = environ, &complaints
	client := mcp.NewClient(&mcp.Implementation{Name: "install", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, complaints.Bytes())
	}
	ask := func(sql string) *mcp.CallToolResult {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "sql_execution", Arguments: map[string]any{"connectionId": "demo", "sql": sql}})
		if err != nil {
			t.Fatalf("%s: %v\n%s", sql, err, complaints.Bytes())
		}
		return result
	}
	result := ask("SELECT count(*) AS orders FROM orders")
	took := time.Since(began)
	text, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Rows [][]json.Number }
	if err := json.Unmarshal(text, &answer); err != nil || result.IsError || !cmp.Equal(answer.Rows, [][]json.Number{{"900"}}) {
		t.Errorf("the answer is %s (%v), want 900 orders", text, err)
	}
	if refused := ask("DELETE FROM orders"); !refused.IsError {
		t.Error("it ran a DELETE")
	}
	if err := session.Close(); err != nil {
		t.Errorf("end: %v\n%s", err, complaints.Bytes())
	}
	t.Logf("first answer after %d ms", took.Milliseconds())
}

// tree lists what is below a directory, without /proc.
func tree(t *testing.T, root string) map[string]bool {
	t.Helper()
	found := make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if name == "proc" {
			return fs.SkipDir
		}
		found[name] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// left checks that the directory has what it had before, and besides that only what is
// below the permitted names.
func left(t *testing.T, root string, before map[string]bool, permitted ...string) {
	t.Helper()
	after := tree(t, root)
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if !before[name] && !slices.ContainsFunc(permitted, func(p string) bool { return name == p || strings.HasPrefix(name, p+"/") }) {
			t.Errorf("%s is left behind", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if !after[name] {
			t.Errorf("%s is gone", name)
		}
	}
}

// TestArchive: the program runs in a root that has nothing else, so it needs no C
// library, no shell and no certificates.
func TestArchive(t *testing.T) {
	b := newBench(t)
	root := t.TempDir()
	before := tree(t, root)
	archive := b.file("ktx_%s_linux_" + runtime.GOARCH + ".tar.gz")
	names := strings.Fields(run(t, "tar", "-tzf", archive))
	run(t, "tar", "-C", root, "-xzf", archive)

	program, err := os.Stat(filepath.Join(root, "ktx"))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.Stat(archive)
	if err != nil {
		t.Fatal(err)
	}
	const mebibyte = 1 << 20
	if program.Size() > 60_000_000 || packed.Size() > 25_000_000 {
		t.Errorf("the program has %d bytes, want at most 60 MB; the archive %d, want at most 25 MB", program.Size(), packed.Size())
	}
	// The linker keeps every method of ktx, 6 MB, if a template can be executed.
	content, err := os.ReadFile(filepath.Join(root, "ktx"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(content, []byte("text/template.(*state).evalField")) {
		t.Error("the program can execute templates of the standard library")
	}
	says := runCommand(t, append(inside(root), "/ktx", "version"))
	if !strings.HasPrefix(says, "ktx "+b.version+" (") || !strings.Contains(says, "pure Go") {
		t.Errorf("ktx version says %s", says)
	}
	runCommand(t, append(inside(root), "/ktx", "init", "--demo", "/shop"))
	answers(t, nil, append(inside(root), "/ktx", "mcp", "stdio", "--project-dir", "/shop"))
	// The cases of the corpus, of which each has its verdict, are in the program.
	runCommand(t, append(inside(root), "/ktx", "corpus", "run"))

	for _, name := range names {
		if err := os.Remove(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
	left(t, root, before, "shop", "man", "completions")
	t.Logf("the program has %.1f MiB, the archive %.1f MiB", float64(program.Size())/mebibyte, float64(packed.Size())/mebibyte)
}

func runCommand(t *testing.T, command []string) string {
	t.Helper()
	return run(t, command[0], command[1:]...)
}

// TestChecksums: the list names every file of the release, with what it holds.
func TestChecksums(t *testing.T) {
	b := newBench(t)
	out := runIn(t, b.dist, nil, "sha256sum", "--check", "--strict", "checksums.txt")
	entries, err := os.ReadDir(b.dist)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out, ": OK\n"); n != len(entries)-1 {
		t.Errorf("%d checksums of %d files", n, len(entries)-1)
	}
}
