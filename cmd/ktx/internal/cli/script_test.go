package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli"
	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/research/upstream/upstreamtest"
)

// servers runs the tests and then stops the database server that they started.
type servers struct{ m *testing.M }

func (s servers) Run() int { return testdb.Run(s.m) }

func TestMain(m *testing.M) {
	systemFreeSpace = cli.SetFreeSpace(64 << 30)
	testscript.Main(servers{m}, map[string]func(){
		"ktx": func() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"ktx-released": func() {
			cli.SetVersion("1.2.0")
			os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
		"ktx-on-500-MiB": func() {
			cli.SetFreeSpace(500 << 20)
			os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
		"ktx-on-1-MiB": func() {
			cli.SetFreeSpace(1 << 20)
			os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
		"converse": converse,
		"misbehaving": func() {
			os.Args = append([]string{os.Args[0], upstreamtest.Argument}, os.Args[1:]...)
			upstreamtest.Run()
		},
	})
}

// systemFreeSpace is what the program asks for the space on a disk outside of tests.
var systemFreeSpace func(path string) (uint64, bool)

func TestTheSystemTellsTheSpaceOnADisk(t *testing.T) {
	free, ok := systemFreeSpace(t.TempDir())
	switch runtime.GOOS {
	case "linux", "darwin":
		if !ok || free == 0 {
			t.Errorf("%d bytes free, known: %t, although the test could make a folder", free, ok)
		}
	default:
		if ok {
			t.Errorf("%d bytes are said to be free", free)
		}
	}
}

// converse runs a program as a client does that waits for its answers before it
// closes its end: converse LINES PROGRAM ARGS... It hands its standard input to
// the program, and closes the program's input once the program has written LINES
// lines. A busy machine may take any time for them.
func converse() {
	lines, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	cmd := exec.CommandContext(context.Background(), os.Args[2], os.Args[3:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	if _, err := io.Copy(in, os.Stdin); err != nil {
		panic(err)
	}
	answers := bufio.NewReader(out)
	for range lines {
		line, err := answers.ReadString('\n')
		_, _ = os.Stdout.WriteString(line)
		if err != nil {
			break // the script sees what is missing
		}
	}
	_ = in.Close()
	_, _ = io.Copy(os.Stdout, answers)
	if err := cmd.Wait(); err != nil {
		os.Exit(cmd.ProcessState.ExitCode())
	}
}

// TestScripts runs the command line as users do, in a folder of its own for each
// script. Every call of ktx states its exit code: "exits 2 ktx …".
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Cmds: scriptCommands, RequireUniqueNames: true, RequireExplicitExec: true, UpdateScripts: *update,
		Condition: func(name string) (bool, error) {
			if name != "duckdb" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return duckdbdb.Built, nil
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("ESC", "\x1b")
			e.Setenv("LONG", strings.Repeat("long ", 100))
			e.Setenv("NEXT_MONTH", time.Now().AddDate(0, 0, 30).Format(time.DateOnly))
			return nil
		},
	})
}

var update = flag.Bool("update", false, "rewrite what scripts compare output with")

var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"exits":   exits,
	"json":    checkJSON,
	"bytes":   writeBytes,
	"sparse":  writeSparse,
	"replace": replaceIn,
	"damage":  damage,
}

// exits runs a program, and fails unless it has the exit code: exits CODE PROGRAM
// ARGS...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGS...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		code = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// checkJSON checks a JSON document: json FILE PATH..., where a PATH is
// dotted, with numbers for elements, and length for the length of a list or object.
// PATH must exist, PATH=VALUE must have the value, and !PATH must not exist.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: json FILE [PATH | PATH=VALUE | !PATH]...")
	}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		ts.Fatalf("%s is not JSON: %v", args[0], err)
	}
	for _, arg := range args[1:] {
		path, want, compared := strings.Cut(arg, "=")
		path, absent := strings.CutPrefix(path, "!")
		value, found := lookup(doc, strings.Split(path, "."))
		switch got := text(value); {
		case found == absent:
			ts.Fatalf("%s: found is %t", path, found)
		case compared && got != want:
			ts.Fatalf("%s is %s, want %s", path, got, want)
		}
	}
}

func lookup(v any, path []string) (any, bool) {
	for _, key := range path {
		switch node := v.(type) {
		case map[string]any:
			if key == "length" {
				return len(node), true
			}
			next, ok := node[key]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			if key == "length" {
				return len(node), true
			}
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(node) {
				return nil, false
			}
			v = node[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// text returns a string as it is, and every other value as compact JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

// writeBytes writes a file: bytes FILE TEXT, with Go's escapes in TEXT.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bytes FILE TEXT")
	}
	content, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(content), 0o600))
}

// writeSparse makes a file of a size that takes no space on the disk: sparse FILE
// BYTES
func writeSparse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sparse FILE BYTES")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	name := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(name, nil, 0o600))
	ts.Check(os.Truncate(name, size))
}

// replaceIn replaces one occurrence of a text in a file: replace FILE OLD NEW
func replaceIn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	content := ts.ReadFile(args[0])
	if strings.Count(content, args[1]) != 1 {
		ts.Fatalf("%s holds %q %d times", args[0], args[1], strings.Count(content, args[1]))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(content, args[1], args[2], 1)), 0o600))
}

// damage changes one byte in each 4,096 of a file: damage FILE
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage FILE")
	}
	content := []byte(ts.ReadFile(args[0]))
	for i := 4000; i < len(content); i += 4096 {
		content[i] ^= 1
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), content, 0o600))
}
