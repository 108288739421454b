//go:build linux

package faults_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/executiontest/executable"
	"github.com/ktxhq/ktx/sqlguard"
)

// urlVariable is the environment variable from which the scenarios' projects
// read the address.
const urlVariable = "KTX_FAULTS_URL"

// project makes a project on the scenario's database and sets logDir to its
// log. It adds lines to the configuration, and ignores an empty line.
func (s *stand) project(lines ...string) (dir string) {
	s.Helper()
	dir = s.TempDir()
	s.writeProject(dir, lines...)
	s.logDir = filepath.Join(dir, filepath.FromSlash(audit.DefaultPath))
	return dir
}

// longConstants lets the scenarios make long values without tables.
const longConstants = 1 << 30

func (s *stand) writeProject(dir string, lines ...string) {
	s.Helper()
	driver, nap := "postgres", "public.nap"
	if s.bench != nil {
		driver, nap = s.bench.driver(), s.bench.napName()
	}
	s.becomes(dir, "connections:\n  "+connectionID+":\n    driver: "+driver+"\n    url: env:"+urlVariable+"\n"+
		"    functions: {allow: ["+nap+"]}\n    limits: {timeout: 5m, concurrency: 8}\n    guard: {maxConstant: 1GiB}\n"+strings.Join(append(lines, ""), "\n"))
}

// becomes writes a new configuration for a project.
func (s *stand) becomes(dir, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

// environment adds variables to a command's environment.
func environment(variables ...string) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, variables...) }
}

// command is ktx mcp stdio in a process of its own, and the client of that
// process.
type command struct {
	s      *stand
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	lines  *bufio.Reader
	stderr string // the path of the file
	next   int    // the id of the next request
	others map[int]answer
	ended  chan struct{} // closed when Wait has returned
	err    error         // the error of Wait; read it after ended is closed
}

// answer is the answer to one call.
type answer struct {
	ID     int `json:"id"`
	Result struct {
		Meta struct {
			Error struct {
				Code      sqlguard.Code `json:"code"`
				Message   string        `json:"message"`
				Retryable bool          `json:"retryable"`
			} `json:"ktx/error"`
		} `json:"_meta"`
		Content struct {
			Rows        [][]any `json:"rows"`
			RowCount    int     `json:"rowCount"`
			Truncated   bool    `json:"truncated"`
			TruncatedBy string  `json:"truncatedBy"`
			Headers     []string
		} `json:"structuredContent"`
	} `json:"result"`
}

func (a answer) code() sqlguard.Code { return a.Result.Meta.Error.Code }

// serve starts the command in a project and sends initialize. Change may change
// the process before it starts.
func (s *stand) serve(dir string, change ...func(*exec.Cmd)) *command {
	s.Helper()
	c := s.start(dir, change...)
	c.hello()
	return c
}

// start starts the command in a project.
func (s *stand) start(dir string, change ...func(*exec.Cmd)) *command {
	s.Helper()
	return s.startAs(dir, []string{"stdio"}, change...)
}

// startAs starts another one of the commands of ktx mcp.
func (s *stand) startAs(dir string, args []string, change ...func(*exec.Cmd)) *command {
	s.Helper()
	c := &command{s: s, next: 10, others: map[int]answer{}, ended: make(chan struct{})}
	c.cmd = exec.CommandContext(context.WithoutCancel(s.Context()), executable.KTX(s), slices.Concat([]string{"mcp"}, args, []string{"--project-dir", dir})...)
	c.cmd.Dir = "/"
	c.cmd.Env = os.Environ()
	if s.bench != nil {
		c.cmd.Env = append(c.cmd.Env, urlVariable+"="+s.roleURL(""))
	}
	for _, f := range change {
		f(c.cmd)
	}
	childIn, in, err := os.Pipe()
	if err != nil {
		s.Fatal(err)
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		s.Fatal(err)
	}
	stderr, err := os.CreateTemp(s.TempDir(), "stderr")
	if err != nil {
		s.Fatal(err)
	}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = childIn, childOut, stderr
	c.in, c.out, c.stderr = in, out, stderr.Name()
	if signal.Ignored(os.Interrupt) {
		// A shell without job control ignores SIGINT in the processes that it
		// starts in the background, and the command would inherit that. A
		// signal that this process handles is not inherited as ignored.
		handled := make(chan os.Signal, 1)
		signal.Notify(handled, os.Interrupt)
		defer signal.Stop(handled)
	}
	err = c.cmd.Start()
	for _, f := range []*os.File{childIn, childOut, stderr} {
		_ = f.Close()
	}
	if err != nil {
		s.Fatal(err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.ended)
	}()
	c.lines = bufio.NewReaderSize(out, 64<<10)
	s.Cleanup(func() {
		_ = c.cmd.Process.Signal(syscall.SIGCONT)
		_ = c.cmd.Process.Kill()
		_, _ = c.in.Close(), c.out.Close()
		<-c.ended
	})
	return c
}

func (c *command) hello() {
	c.s.Helper()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"faults","version":"1"}}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.answer(1)
}

func (c *command) send(line string) {
	c.s.Helper()
	if err := c.in.SetWriteDeadline(time.Now().Add(hang)); err != nil {
		c.s.Fatal(err)
	}
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.s.Fatalf("write to the command: %v; it said: %s", err, c.said())
	}
}

// call sends a statement and returns the request's id.
func (c *command) call(sql string, more ...string) int {
	c.s.Helper()
	text, err := json.Marshal(sql)
	if err != nil {
		c.s.Fatal(err)
	}
	c.next++
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"sql_execution","arguments":{"connectionId":%q,"sql":%s%s}}}`,
		c.next, connectionID, text, strings.Join(more, "")))
	return c.next
}

// answer returns the answer with an id, and keeps those that come before it.
func (c *command) answer(id int) answer {
	c.s.Helper()
	for {
		if a, ok := c.others[id]; ok {
			delete(c.others, id)
			return a
		}
		a, err := c.read()
		if err != nil {
			c.s.Fatalf("no answer to %d: %v; it said: %s", id, err, c.said())
		}
		c.others[a.ID] = a
	}
}

func (c *command) read() (a answer, err error) {
	if err := c.out.SetReadDeadline(time.Now().Add(hang)); err != nil {
		return a, err
	}
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		return a, err
	}
	decoder := json.NewDecoder(strings.NewReader(string(line)))
	decoder.UseNumber()
	if err := decoder.Decode(&a); err != nil {
		return a, fmt.Errorf("%.200s: %w", line, err)
	}
	return a, nil
}

// judged compares an answer with its question, and returns its code.
func (c *command) judged(q question, a answer) sqlguard.Code {
	c.s.Helper()
	if code := a.code(); code != "" {
		if !slices.Contains(c.s.scenario.codes, code) {
			c.s.Errorf("%s: ended as %s: %s", shorten(c.s.text(q)), code, a.Result.Meta.Error.Message)
		}
		return code
	}
	content := a.Result.Content
	if content.Truncated || len(content.Rows) != len(q.rows) {
		c.s.Errorf("%s: %d rows, truncated %t, want %d rows", shorten(c.s.text(q)), len(content.Rows), content.Truncated, len(q.rows))
		return ""
	}
	for i, row := range content.Rows {
		for j, v := range row {
			if fmt.Sprint(v) != q.rows[i][j] {
				c.s.Errorf("%s: row %d is %v, want %q", shorten(c.s.text(q)), i, row, q.rows[i])
				return ""
			}
		}
	}
	return ""
}

// ask sends a question and returns how it ended.
func (c *command) ask(q question) sqlguard.Code {
	c.s.Helper()
	return c.judged(q, c.answer(c.call(c.s.text(q))))
}

// right asks a question that must get its right answer.
func (c *command) right(q question) {
	c.s.Helper()
	if code := c.ask(q); code != "" {
		c.s.Errorf("%s: ended as %s", shorten(c.s.text(q)), code)
	}
}

func (c *command) signal(sig os.Signal) {
	c.s.Helper()
	if err := c.cmd.Process.Signal(sig); err != nil {
		c.s.Fatal(err)
	}
}

// signalUntilItEnds sends a signal every 300 ms. A command that has not yet
// handled the previous signal merges two signals into one.
func (c *command) signalUntilItEnds(sig os.Signal) {
	for {
		select {
		case <-c.ended:
			return
		case <-time.After(300 * time.Millisecond):
			_ = c.cmd.Process.Signal(sig) // it may have ended already
		}
	}
}

// leave closes the client's ends of both pipes, as the death of a client does.
func (c *command) leave() {
	_, _ = c.in.Close(), c.out.Close()
}

// ends waits for the end of the process and checks its exit code. A code of -1
// means that a signal ended it.
func (c *command) ends(code int) {
	c.s.Helper()
	select {
	case <-c.ended:
	case <-time.After(hang):
		c.s.Fatalf("the command does not end; it said: %s", c.said())
	}
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](c.err); ok {
		got = exit.ExitCode()
	} else if c.err != nil {
		c.s.Fatal(c.err)
	}
	if got != code {
		c.s.Errorf("exit code %d, want %d; it said: %s", got, code, c.said())
	}
	if said := c.said(); strings.Contains(said, "panic") || strings.Contains(said, "goroutine ") {
		c.s.Errorf("it said: %s", said)
	}
}

// bye ends the session as a client does. The process then ends.
func (c *command) bye() {
	c.s.Helper()
	_ = c.in.Close()
	c.ends(0)
}

func (c *command) said() string {
	text, err := os.ReadFile(c.stderr)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// memory returns a memory figure of the process in MB (proc(5)), or 0 if the
// system does not have it.
func (c *command) memory(name string) int {
	c.s.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				c.s.Fatal(err)
			}
			return kb / 1024
		}
	}
	c.s.Fatalf("no %s", name)
	return 0
}

// outcomes lists how the statements of a log ended, with their counts.
func (s *stand) outcomes(dir string) map[string]int {
	s.Helper()
	counts := map[string]int{}
	for _, e := range s.events(dir) {
		if e.Result.Status != "" {
			counts[e.Result.Status]++
		}
	}
	return counts
}

// wantOutcomes fails the scenario unless the statements in its log have these
// outcomes.
func (s *stand) wantOutcomes(want map[string]int) {
	s.Helper()
	if got := s.outcomes(s.logDir); !maps.Equal(got, want) {
		s.Errorf("outcomes on record %v, want %v", got, want)
	}
}

// wantStop fails the scenario unless its log records exactly one orderly end.
func (s *stand) wantStop() {
	s.Helper()
	if got := s.counted(s.logDir, audit.GatewayStop); got != 1 {
		s.Errorf("%d orderly ends on record, want 1", got)
	}
}
