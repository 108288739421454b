package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// process is ktx as a process of its own.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	pipe   io.Closer // the reading end of its output
	stderr *strings.Builder
}

// run starts ktx in a folder.
func run(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	return runProgram(t, dir, "ktx", args...)
}

func runProgram(t *testing.T, dir, program string, args ...string) *process {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs signals")
	}
	p := &process{cmd: exec.CommandContext(context.WithoutCancel(t.Context()), program, args...), stderr: &strings.Builder{}}
	p.cmd.Dir, p.cmd.Stderr = dir, p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.out, p.pipe = in, bufio.NewReader(out), out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return p
}

func (p *process) send(t *testing.T, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(p.in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
}

// answer reads messages up to the response with that id.
func (p *process) answer(t *testing.T, id float64) map[string]any {
	t.Helper()
	for {
		line, err := p.out.ReadBytes('\n')
		if err != nil {
			t.Fatalf("no answer to %v: %v; standard error: %s", id, err, p.stderr)
		}
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if m["id"] == id {
			return m
		}
	}
}

func (p *process) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// ends waits for the end within a limit, and wants an exit code.
func (p *process) ends(t *testing.T, code int) {
	t.Helper()
	if got := p.wait(t); got != code {
		t.Fatalf("exit code %d, want %d; standard error: %s", got, code, p.stderr)
	}
	if s := p.stderr.String(); strings.Contains(s, "panic") || strings.Contains(s, "goroutine") {
		t.Errorf("standard error: %s", s)
	}
}

// wait waits for the end, and returns the exit code, -1 where a signal ended the
// process.
func (p *process) wait(t *testing.T) (code int) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err := <-ended:
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			code = exit.ExitCode()
		}
	case <-time.After(hang):
		t.Fatalf("still running after %s", hang)
	}
	return code
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	ready      = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// query is the second request of a session.
func query(sql string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sql_execution","arguments":{"connectionId":"demo","sql":%q}}}`, sql)
}

// counting is a statement that takes a moment for each ten million.
func counting(n int) string {
	return fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d) SELECT count(*) FROM n", n)
}

// shop makes a project with the demo shop, and an audit log that begins with the test.
func shop(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	p := run(t, dir, "init", "--demo")
	p.ends(t, 0)
	if err := os.RemoveAll(filepath.Join(dir, audit.DefaultPath)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// events returns the types of the events in a project's log. It fails the test unless
// the chain is whole and the log ends as after a normal exit.
func events(t *testing.T, dir string) []string {
	t.Helper()
	log := filepath.Join(dir, audit.DefaultPath)
	report, err := audit.Verify(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK || report.Torn != nil || report.Unanchored != 0 {
		t.Errorf("the log is not whole: %+v", report)
	}
	r, err := audit.OpenReader(log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	var types []string
	for rec, err := range r.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, string(rec.Event.Type))
	}
	return types
}

// wantEvents compares the types of all events of a project. It passes over query.ended,
// which stands there only when the engine took longer than usual to end a statement.
func wantEvents(t *testing.T, dir string, want ...string) {
	t.Helper()
	all := slices.DeleteFunc(events(t, dir), func(kind string) bool { return kind == "query.ended" })
	if got := strings.Join(all, " "); got != strings.Join(want, " ") {
		t.Errorf("events %s\nwant   %s", got, strings.Join(want, " "))
	}
}

// TestTerminateLetsStatementsEnd sends SIGTERM while a statement runs. The statement
// is answered, and then the process ends normally.
func TestTerminateLetsStatementsEnd(t *testing.T) {
	dir := shop(t)
	p := run(t, dir, "mcp", "stdio")
	p.send(t, initialize, ready)
	p.answer(t, 1)
	p.send(t, query(counting(7_007)))
	waitFor(t, func() bool { return strings.Contains(strings.Join(eventsNow(dir), " "), "query.decision") })
	p.signal(t, syscall.SIGTERM)
	if r := p.answer(t, 2); !strings.Contains(fmt.Sprint(r), "7007") {
		t.Errorf("answered %v", r)
	}
	p.ends(t, 0)
	wantEvents(t, dir, "gateway.start", "session.open", "query.decision", "query.finished", "session.close", "gateway.stop")
	if s := p.stderr.String(); s != "" {
		t.Errorf("standard error: %s", s)
	}
}

// TestTerminateEndsLongStatements sends SIGTERM while a statement runs that takes
// longer than running statements may.
func TestTerminateEndsLongStatements(t *testing.T) {
	if testing.Short() {
		t.Skip("takes five seconds")
	}
	t.Parallel()
	dir := shop(t)
	p := run(t, dir, "mcp", "stdio")
	p.send(t, initialize, ready, query(counting(2_000_000_000)))
	waitFor(t, func() bool { return strings.Contains(strings.Join(eventsNow(dir), " "), "query.decision") })
	start := time.Now()
	p.signal(t, syscall.SIGTERM)
	p.ends(t, 0)
	if took := time.Since(start); took < 4*time.Second {
		t.Errorf("the statement was cut after %s", took)
	}
	wantEvents(t, dir, "gateway.start", "session.open", "query.decision", "query.cancelled", "session.close", "gateway.stop")
}

// TestClosedInputEndsTheSession closes the client's end while a statement runs,
// which is cancelled soon after.
func TestClosedInputEndsTheSession(t *testing.T) {
	dir := shop(t)
	p := run(t, dir, "mcp", "stdio")
	p.send(t, initialize, ready, query(counting(2_000_000_000)))
	waitFor(t, func() bool { return strings.Contains(strings.Join(eventsNow(dir), " "), "query.decision") })
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	p.ends(t, 0)
	wantEvents(t, dir, "gateway.start", "session.open", "query.decision", "query.cancelled", "session.close", "gateway.stop")
}

// TestBrokenOutputEndsTheSession closes the reader of standard output.
func TestBrokenOutputEndsTheSession(t *testing.T) {
	dir := shop(t)
	p := run(t, dir, "mcp", "stdio")
	p.send(t, initialize, ready)
	p.answer(t, 1)
	if err := p.pipe.Close(); err != nil {
		t.Fatal(err)
	}
	p.send(t, query("SELECT 1"))
	p.ends(t, 0)
	wantEvents(t, dir, "gateway.start", "session.open", "query.decision", "query.finished", "session.close", "gateway.stop")
}

// TestInterruptEndsCommands interrupts commands that wait for input.
func TestInterruptEndsCommands(t *testing.T) {
	dir := shop(t)
	for _, test := range []struct {
		name string
		args []string
		code int
	}{
		{"sql", []string{"sql", "-"}, 3},
		{"check", []string{"sql", "check", "--dialect", "sqlite", "-"}, 3},
		{"corpus", []string{"corpus", "run", "--corpus", "-"}, 3},
		{"statement", []string{"sql", "--timeout", "5m", counting(2_000_000_000)}, 3},
		{"tail", []string{"audit", "tail", "-f"}, 0},
		{"mcp", []string{"mcp", "stdio"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			// If the signal itself ended the process, the process did not yet
			// handle signals. The next try waits longer.
			for rest := 300 * time.Millisecond; ; rest *= 4 {
				p := run(t, dir, test.args...)
				time.Sleep(rest)
				p.signal(t, os.Interrupt)
				code := p.wait(t)
				if code == -1 && rest < time.Minute {
					continue
				}
				s := p.stderr.String()
				if code != test.code || strings.Contains(s, "panic") || strings.Contains(s, "goroutine") {
					t.Errorf("exit code %d, want %d; standard error: %s", code, test.code, s)
				}
				if test.code != 0 && !strings.Contains(s, "cancelled") {
					t.Errorf("standard error: %s", s)
				}
				break
			}
		})
	}
	events(t, dir)
}

// TestInterruptEndsTheStatementAtTheServer checks on the server itself that an
// interrupt ends the statement.
func TestInterruptEndsTheStatementAtTheServer(t *testing.T) {
	server := testdb.Postgres(t)
	address := server.NewDatabase(t)
	dir := t.TempDir()
	config := "connections:\n  pg: {driver: postgres, url: env:KTX_SCRIPT_URL}\n"
	if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KTX_SCRIPT_URL", address)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	running := func() bool {
		var n int
		err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n > 0
	}
	p := run(t, dir, "sql", "-c", "pg", "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b")
	waitFor(t, running)
	p.signal(t, os.Interrupt)
	p.ends(t, 3)
	waitFor(t, func() bool { return !running() })
	if s := p.stderr.String(); !strings.Contains(s, "cancelled") {
		t.Errorf("standard error: %s", s)
	}
}

// eventsNow is events for a log to which a process still writes.
func eventsNow(dir string) []string {
	r, err := audit.OpenReader(filepath.Join(dir, audit.DefaultPath))
	if err != nil {
		return nil
	}
	defer func() { _ = r.Close() }()
	var types []string
	for rec, err := range r.All(context.Background()) {
		if err == nil {
			types = append(types, string(rec.Event.Type))
		}
	}
	return types
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(hang)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("the condition did not hold within %s", hang)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
