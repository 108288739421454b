//go:build linux

package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// withoutDescriptors lets the command open no further file while do runs.
func (c *command) withoutDescriptors(do func()) {
	c.s.Helper()
	limit := func(to *unix.Rlimit) (old unix.Rlimit) {
		c.s.Helper()
		if err := unix.Prlimit(c.cmd.Process.Pid, unix.RLIMIT_NOFILE, to, &old); err != nil {
			c.s.Fatal(err)
		}
		return old
	}
	old := limit(nil)
	limit(&unix.Rlimit{Cur: 3, Max: old.Max}) // 0, 1 and 2 are in use
	do()
	limit(&old)
}

// saysDescriptors asks one more question, and wants an error that names descriptors. It may
// be tried again unless it is the log that needs one, which the operator has to see to.
func (c *command) saysDescriptors(q question, code sqlguard.Code) {
	c.s.Helper()
	a := c.answer(c.call(c.s.text(q)))
	failed := a.Result.Meta.Error
	c.s.wantCode(failed.Code, code)
	if !strings.Contains(failed.Message, "no file descriptor left") || failed.Retryable != (code != sqlguard.CodeAuditUnavailable) {
		c.s.Errorf("it says %q, retryable: %t; want an error that names descriptors", failed.Message, failed.Retryable)
	}
}

// used returns the processor time of the command, in hundredths of a second (proc(5)).
func (c *command) used() (n int) {
	c.s.Helper()
	stat := string(c.s.read(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid)))
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	for _, field := range fields[11:13] { // utime and stime
		ticks, err := strconv.Atoi(field)
		if err != nil {
			c.s.Fatal(err)
		}
		n += ticks
	}
	return n
}

// connectionWithout runs one statement, so that the next one needs another connection,
// while the command has no descriptor for it.
func (s *stand) connectionWithout(c *command, running, next question, code sqlguard.Code) {
	s.Helper()
	c.right(next)
	known, _ := s.decisions(s.logDir)
	before := c.call(s.text(running))
	if s.bench == nil {
		// Other work of the process counts as well, so the time is taken when the statement is
		// allowed, and its connection is the one that the statement before has left.
		s.eventually("the statement is allowed", func() bool { open, _ := s.decisions(s.logDir); return open > known })
		used := c.used()
		s.eventually("the statement computes", func() bool { return c.used() > used+50 })
	} else {
		s.eventually("the statement runs", func() bool { return s.running() == 1 })
	}
	c.withoutDescriptors(func() {
		for range 3 {
			c.saysDescriptors(next, code)
		}
	})
	c.right(next)
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, before))
	c.bye()
	s.recorded(s.logDir, 0)
	s.wantOutcomes(map[string]int{"ok": 2, "error": 3, "cancelled": 1})
}

// httpClient is a client of ktx mcp start, with a connection of its own.
type httpClient struct {
	s       *stand
	url     string
	http    http.Client
	session string
}

// client returns a client of a server that was started in a project. It has said nothing.
func (s *stand) client(dir string) *httpClient {
	s.Helper()
	var state struct{ Port int }
	s.eventually("the server has written its state", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, ".ktx", "mcp.json"))
		return err == nil && json.Unmarshal(text, &state) == nil
	})
	return &httpClient{s: s, url: fmt.Sprintf("http://127.0.0.1:%d/mcp", state.Port), http: http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: hang}}
}

// post sends a message and returns the answer.
func (c *httpClient) post(message string) ([]byte, error) {
	r, err := http.NewRequestWithContext(c.s.Context(), http.MethodPost, c.url, strings.NewReader(message))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if c.session == "" {
		c.session = res.Header.Get("Mcp-Session-Id")
	}
	if _, data, ok := bytes.Cut(text, []byte("data: ")); ok { // of a stream with one event
		text = data
	}
	return bytes.TrimSpace(text), err
}

// ask opens a session unless there is one, and asks a question.
func (c *httpClient) ask(q question) (a answer, err error) {
	if c.session == "" {
		if _, err := c.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"faults","version":"1"}}}`); err != nil {
			return a, err
		}
		if _, err := c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
			return a, err
		}
	}
	sql, err := json.Marshal(c.s.text(q))
	if err != nil {
		return a, err
	}
	text, err := c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sql_execution","arguments":{"connectionId":%q,"sql":%s}}}`, connectionID, sql))
	if err != nil {
		return a, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&a); err != nil {
		return a, fmt.Errorf("%.200s: %w", text, err)
	}
	return a, nil
}

// clientsWithout asks a server that can accept no connection. The client that has one is
// answered meanwhile, and another one when the server has descriptors again.
func (s *stand) clientsWithout() {
	s.Helper()
	dir := s.project()
	c := s.startAs(dir, []string{"start", "--foreground", "--port", "0"})
	first, second := s.client(dir), s.client(dir)
	right := func(a answer, err error, q question) {
		s.Helper()
		if err != nil {
			s.Fatalf("%v; the server said: %s", err, c.said())
		}
		if code := c.judged(q, a); code != "" {
			s.Errorf("ended as %s", code)
		}
	}
	s.eventually("the server answers", func() bool {
		a, err := first.ask(one("first"))
		return err == nil && a.code() == ""
	})
	type answered struct {
		a   answer
		err error
	}
	waits := make(chan answered, 1)
	c.withoutDescriptors(func() {
		go func() {
			a, err := second.ask(one("second"))
			waits <- answered{a, err}
		}()
		s.eventually("the server says that it cannot accept a connection", func() bool { return strings.Contains(c.said(), "too many open files") })
		for i := range 3 {
			q := one(fmt.Sprintf("meanwhile%d", i))
			a, err := first.ask(q)
			right(a, err, q)
		}
		select {
		case got := <-waits:
			s.Errorf("a client without a connection got %v, %v", got.a, got.err)
		default:
		}
	})
	got := <-waits
	right(got.a, got.err, one("second"))
	first.http.CloseIdleConnections()
	second.http.CloseIdleConnections()
	c.signal(syscall.SIGTERM)
	c.ends(0)
	s.recorded(s.logDir, 0)
	s.wantStop()
}

// noDescriptorsOnServer is the scenario of a server.
var noDescriptorsOnServer = []scenario{{
	name:   "no file descriptor for a connection",
	full:   true, // it failed once on MariaDB, whose first statement ended early
	does:   "`ktx mcp stdio` may open no further file (RLIMIT_NOFILE) when a second statement needs a second connection; then it may again.",
	codes:  []sqlguard.Code{sqlguard.CodeConnectionLost},
	passes: "Calls end as `connection_lost`, say that the process has no file descriptor left, and may be tried again; the statement that runs goes on; the next call is right.",
	run: func(s *stand) string {
		s.database()
		s.connectionWithout(s.serve(s.project()), endless(), one("next"), sqlguard.CodeConnectionLost)
		return ""
	},
}}

var noDescriptors = []scenario{
	{
		name:   "no file descriptor for a connection (SQLite)",
		does:   "The same with a file.",
		codes:  []sqlguard.Code{sqlguard.CodeBusy},
		passes: "The same, with `busy`.",
		run: func(s *stand) string {
			dir := s.TempDir()
			path := testdb.SQLiteFile(s, itemsSQL("file"))
			s.becomes(dir, "connections:\n  "+connectionID+": {driver: sqlite, path: "+path+", limits: {timeout: 5m}}\n")
			s.logDir = filepath.Join(dir, ".ktx", "audit")
			c := s.serve(dir)
			s.connectionWithout(c, question{sql: "SELECT count(*) FROM items AS a, items AS b, items AS c, items AS d WHERE a.pad < b.name AND c.pad < d.name"}, question{sql: "SELECT name FROM items WHERE id = 1", rows: [][]string{{"file-1"}}}, sqlguard.CodeBusy)
			return ""
		},
	},
	{
		name:   "no file descriptor for a client",
		does:   "`ktx mcp start` may open no further file when a second client connects over HTTP; then it may again.",
		passes: "The client that is connected gets its right answers meanwhile; the log says why the other one waits; it gets its right answer when there are descriptors again.",
		run: func(s *stand) string {
			s.database()
			s.clientsWithout()
			return ""
		},
	},
	{
		name:   "no file descriptor for the log",
		does:   "`ktx mcp stdio` may open no further file when its log, which begins a new file after 4 KiB, needs one; then it may again.",
		codes:  []sqlguard.Code{sqlguard.CodeAuditUnavailable},
		passes: "Calls end as `audit_unavailable` and say that the process has no file descriptor left; none of them ran; the next call is right, and the log is whole.",
		run: func(s *stand) string {
			s.database()
			c := s.serve(s.project("audit: {rotateBytes: 4096}"))
			c.right(one("first"))
			c.withoutDescriptors(func() {
				c.untilRefused(1)
				for range 3 {
					c.saysDescriptors(one("refused"), sqlguard.CodeAuditUnavailable)
				}
			})
			c.right(one("next"))
			c.bye()
			s.recorded(s.logDir, 1)
			return ""
		},
	},
}
