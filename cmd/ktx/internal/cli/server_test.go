package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
)

// ktx runs the command line to its end.
func ktx(t *testing.T, dir string, args ...string) (out, errs string, code int) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "ktx", args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), code
}

// want runs the command line, and fails the test unless the exit code and a part of
// the output are as given.
func want(t *testing.T, dir string, code int, text string, args ...string) string {
	t.Helper()
	out, errs, got := ktx(t, dir, args...)
	if got != code || !strings.Contains(out+errs, text) {
		t.Fatalf("ktx %s: exit code %d, want %d and %q\n%s%s", strings.Join(args, " "), got, code, text, out, errs)
	}
	return out
}

// status has members of ktx mcp status --json and of the state file.
type status struct {
	Status, URL, Host, Nonce, LogPath, ProjectDir string
	Port, PID                                     int
	TokenAuth, AlreadyRunning                     bool
}

// serverOf starts a server on a free port, which is stopped with the test.
func serverOf(t *testing.T, dir string, args ...string) (s status) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs signals")
	}
	t.Cleanup(func() {
		if out, errs, code := ktx(t, dir, "mcp", "stop"); code != 0 {
			t.Errorf("ktx mcp stop: exit code %d\n%s%s", code, out, errs)
		}
	})
	out := want(t, dir, 0, "", append([]string{"mcp", "start", "--port", "0", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return s
}

func stateOf(t *testing.T, dir string) (s status) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, ".ktx", "mcp.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestServer starts, inspects and stops a server as users do.
func TestServer(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	want(t, dir, 3, "stopped", "mcp")
	want(t, dir, 3, "stopped", "mcp", "status")
	want(t, dir, 0, "not running", "mcp", "stop")
	want(t, dir, 3, "no log", "mcp", "logs")
	want(t, dir, 2, "did you mean", "mcp", "statsu")
	s := serverOf(t, dir)
	if s.Status != "running" || s.URL != "http://127.0.0.1:"+strconv.Itoa(s.Port)+"/mcp" || s.TokenAuth || s.AlreadyRunning {
		t.Errorf("started %+v", s)
	}
	info, err := os.Stat(filepath.Join(dir, ".ktx", "mcp.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the state file: %v %v", info.Mode(), err)
	}
	want(t, dir, 0, "running: "+s.URL, "mcp", "status")
	want(t, dir, 0, "running: "+s.URL, "mcp")
	want(t, dir, 0, `"status": "running"`, "mcp", "status", "--json")
	want(t, dir, 0, "already running: "+s.URL, "mcp", "start", "--port", "0")
	want(t, dir, 0, "already running: "+s.URL, "mcp", "start", "--port", "0", "--foreground")
	for _, other := range [][]string{{}, {"--port", "1"}, {"--port", "0", "--stateless"}, {"--port", "0", "--token", "x"}, {"--port", "0", "--allowed-host", "a"}, {"--port", "0", "--allowed-origin", "http://a"}} {
		want(t, dir, 3, "run ktx mcp stop first", append([]string{"mcp", "start"}, other...)...)
	}
	want(t, dir, 0, "msg=serving", "mcp", "logs")
	want(t, dir, 0, `"lines": [`, "mcp", "logs", "--json", "-n", "1")
	want(t, dir, 2, "--lines 0", "mcp", "logs", "-n", "0")

	// Another project cannot have its port.
	elsewhere := shop(t)
	want(t, elsewhere, 3, "choose another with --port", "mcp", "start", "--port", strconv.Itoa(s.Port))
	want(t, elsewhere, 3, "stopped", "mcp", "status")

	want(t, dir, 0, "stopped", "mcp", "stop")
	want(t, dir, 3, "stopped", "mcp", "status")
	want(t, dir, 0, "msg=stopped", "mcp", "logs")
	wantEvents(t, dir, "gateway.start", "gateway.stop")
}

func TestServerRefusesToStart(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	for _, test := range []struct {
		text string
		args []string
	}{
		{"needed", []string{"--host", "0.0.0.0"}},
		{"--host is blank", []string{"--host", ""}},
		{"--token is blank", []string{"--token", " "}},
		{"contains white space", []string{"--token", "a b"}},
		{"expected a number", []string{"--port", "70000"}},
		{"expected scheme and host", []string{"--allowed-origin", "example.com"}},
		{"expected a name", []string{"--allowed-host", "*"}},
	} {
		for _, foreground := range []bool{true, false} {
			args := append([]string{"mcp", "start", "--port", "0"}, test.args...)
			if foreground {
				args = append(args, "--foreground")
			}
			want(t, dir, 2, test.text, args...)
		}
	}
	want(t, dir, 3, "stopped", "mcp", "status")
}

// client speaks to a server.
type client struct {
	url, token, session string
}

// request makes a request.
func (c *client) request(ctx context.Context, method, body string, headers ...string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r, nil
}

// do sends a request and returns the status and the answer.
func (c *client) do(ctx context.Context, method, body string, headers ...string) (int, string, error) {
	r, err := c.request(ctx, method, body, headers...)
	if err != nil {
		return 0, "", err
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

func (c *client) post(t *testing.T, status int, body string, headers ...string) string {
	t.Helper()
	got, text, err := c.do(t.Context(), http.MethodPost, body, headers...)
	if err != nil || got != status {
		t.Fatalf("%s: %d %s %v, want %d", body, got, text, err, status)
	}
	return text
}

// begin begins a session.
func (c *client) begin(t *testing.T) {
	t.Helper()
	c.post(t, http.StatusOK, initialize)
	c.post(t, http.StatusAccepted, ready)
}

// modernMeta ends the params of a message in the protocol without sessions.
const modernMeta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"m","version":"2"},"io.modelcontextprotocol/clientCapabilities":{}}`

// modernHeaders are the headers of a query in that protocol.
var modernHeaders = []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "sql_execution"}

// modern returns a query in the protocol without sessions.
func modern(sql string) (body string, headers []string) {
	return strings.TrimSuffix(query(sql), "}}") + modernMeta + "}}", modernHeaders
}

// TestServerSpeaksBothEras makes the same calls in the protocol with and without
// sessions, and finds their principals in the log.
func TestServerSpeaksBothEras(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	c := &client{url: serverOf(t, dir).URL}
	c.begin(t)
	if text := c.post(t, 200, query("SELECT count(*) FROM orders")); !strings.Contains(text, "[[900]]") {
		t.Errorf("older: %s", text)
	}
	old := c.post(t, 200, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, "Mcp-Protocol-Version", "2025-11-25")
	c.session = ""
	body, headers := modern("SELECT count(*) FROM orders")
	if text := c.post(t, 200, body, headers...); !strings.Contains(text, "[[900]]") {
		t.Errorf("newer: %s", text)
	}
	body, headers = modern("DELETE FROM orders")
	if text := c.post(t, 200, body, headers...); !strings.Contains(text, "write_statement") {
		t.Errorf("a write: %s", text)
	}
	list := c.post(t, 200, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"m","version":"2"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
	tools := func(text string) string {
		_, rest, _ := strings.Cut(text, `"tools":[`)
		return rest[:strings.LastIndex(rest, `]`)+1]
	}
	if a, b := tools(old), tools(list); a == "" || a != b {
		t.Errorf("the tools differ:\n%s\n%s", a, b)
	}
	want(t, dir, 0, `"principal":"local"`, "audit", "tail", "--json", "-n", "100")
	want(t, dir, 0, `{"address":"127.0.0.1:`, "audit", "tail", "--json", "-n", "100")
	want(t, dir, 0, `"name":"m","transport":"http"`, "audit", "tail", "--json", "-n", "100")
}

// TestPrincipals: on every route each principal sees its own connections only, and the
// log names the principal.
func TestPrincipals(t *testing.T) {
	dir := shop(t)
	hash := "4bb4f3bd4a4e3b0b3a1a6a1b0b0d5f5d0a0e3e7c3a1d2b5c6f7a8b9c0d1e2f30" // of nothing that is known
	config := fmt.Sprintf(`connections:
  demo: {driver: sqlite, path: shop.db}
  other: {driver: sqlite, path: shop.db}
upstreams: {servers: {notes: {command: misbehaving}, more: {command: misbehaving}}}
server:
  tokens:
    - {name: analyst, token: "env:KTX_TEST_ANALYST", connections: [demo], upstreams: [more], rate: 30/h}
    - {name: admin, token: "file:%s"}
    - {name: absent, token: "sha256:%s"}
`, filepath.Join(dir, "admin.token"), hash)
	for name, text := range map[string]string{"ktx.yaml": config, "admin.token": "admin-secret\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want(t, dir, 2, "KTX_TEST_ANALYST is not set", "mcp", "start")
	t.Setenv("KTX_TEST_ANALYST", "analyst-secret")
	t.Setenv("KTX_MCP_TOKEN", "single-secret")
	s := serverOf(t, dir)
	if !s.TokenAuth {
		t.Error("no token is asked for")
	}
	state, err := os.ReadFile(filepath.Join(dir, ".ktx", "mcp.json"))
	if err != nil || bytes.Contains(state, []byte("secret")) {
		t.Errorf("the state file has a token: %s %v", state, err)
	}
	nobody := &client{url: s.URL}
	nobody.post(t, http.StatusUnauthorized, initialize)
	nobody.token = "${KTX_MCP_TOKEN}"
	if text := nobody.post(t, http.StatusUnauthorized, initialize); !strings.Contains(text, "set the variable KTX_MCP_TOKEN") {
		t.Errorf("a placeholder: %s", text)
	}
	on := func(connection string) string {
		return strings.Replace(query("SELECT 1"), `"demo"`, `"`+connection+`"`, 1)
	}
	analyst := &client{url: s.URL, token: "analyst-secret"}
	analyst.begin(t)
	if text := analyst.post(t, 200, on("demo")); !strings.Contains(text, "[[1]]") {
		t.Errorf("its connection: %s", text)
	}
	if text := analyst.post(t, 200, on("other")); !strings.Contains(text, "unknown_connection") || strings.Contains(text, "demo, other") {
		t.Errorf("another's connection: %s", text)
	}
	if text := analyst.post(t, 200, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"connection_list","arguments":{}}}`); strings.Contains(text, `"other"`) || !strings.Contains(text, `"demo"`) {
		t.Errorf("connection_list: %s", text)
	}
	if text := analyst.post(t, 200, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"server_list","arguments":{}}}`); strings.Contains(text, `"notes"`) || !strings.Contains(text, `"more"`) {
		t.Errorf("server_list: %s", text)
	}
	check := &client{url: strings.TrimSuffix(s.URL, "/mcp") + "/v1/check", token: "analyst-secret"}
	if text := check.post(t, 200, `{"connectionId":"demo","sql":"SELECT 1"}`); !strings.Contains(text, `"allowed":true`) {
		t.Errorf("check: %s", text)
	}
	if text := check.post(t, 400, `{"connectionId":"other","sql":"SELECT 1"}`); !strings.Contains(text, "unknown_connection") {
		t.Errorf("check: %s", text)
	}
	if text := check.post(t, 200, `{"dialect":"postgres","sql":"DROP TABLE t"}`); !strings.Contains(text, "ddl_statement") {
		t.Errorf("check: %s", text)
	}
	if text := check.post(t, 400, `{"dialect":"postgras","sql":"SELECT 1"}`); !strings.Contains(text, "did you mean postgres") {
		t.Errorf("check: %s", text)
	}
	for _, token := range []string{"admin-secret", "single-secret"} {
		c := &client{url: s.URL, token: token}
		c.begin(t)
		if text := c.post(t, 200, on("other")); !strings.Contains(text, "[[1]]") {
			t.Errorf("%s: %s", token, text)
		}
	}
	limited := false
	for range 40 {
		status, _, err := analyst.do(t.Context(), http.MethodPost, ready)
		if err != nil {
			t.Fatal(err)
		}
		limited = limited || status == http.StatusTooManyRequests
	}
	if !limited {
		t.Error("more requests were accepted than the rate permits")
	}
	// A refused call is an event, so its reason lists events without --events.
	want(t, dir, 0, "unknown_connection,127.0.0.1:", "audit", "query", "--reason", "unknown_connection", "--principal", "analyst", "--output", "csv")
	want(t, dir, 0, ",127.0.0.1:", "audit", "query", "--principal", "analyst", "--output", "csv")
	for _, who := range []string{"analyst", "admin", "token"} {
		want(t, dir, 0, `"principal":"`+who+`"`, "audit", "tail", "--json", "-n", "200", "--principal", who)
	}
	metrics := &client{url: strings.TrimSuffix(s.URL, "/mcp") + "/metrics", token: "admin-secret"}
	_, text, err := metrics.do(t.Context(), http.MethodGet, "")
	if err != nil || !strings.Contains(text, `ktx_decisions_total{code="allow",connection="demo"} 1`) || !strings.Contains(text, `ktx_rows_total{connection="other"} 2`) || !strings.Contains(text, `ktx_step_seconds_count{step="run"} 3`) {
		t.Errorf("metrics: %v\n%s", err, text)
	}
}

// TestKilledServer: the state file of a server that was killed is stale, and start
// replaces it. The log is whole and has the statements that did not end.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	s := serverOf(t, dir)
	c := &client{url: s.URL}
	c.begin(t)
	go func() {
		_, _, _ = c.do(context.WithoutCancel(t.Context()), http.MethodPost, query(counting(2_000_000_000)))
	}()
	waitFor(t, func() bool { return slices.Contains(eventsNow(dir), "query.decision") })
	if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { _, _, code := ktx(t, dir, "mcp", "status"); return code == 3 })
	want(t, dir, 3, "stale", "mcp", "status")
	want(t, dir, 3, `"status": "stale"`, "mcp", "status", "--json")
	// The statement has no end until the next start says that the process crashed.
	whole := func(count, status string) {
		t.Helper()
		want(t, dir, 0, "", "audit", "verify")
		want(t, dir, 0, count, "audit", "stats", "--json")
		want(t, dir, 0, "with recursive", "audit", "query", "--status", status, "--json")
	}
	whole(`"unfinished": 1`, "unfinished")
	again := serverOf(t, dir)
	if again.PID == s.PID || again.AlreadyRunning {
		t.Errorf("started %+v", again)
	}
	want(t, dir, 0, "running", "mcp", "status")
	c = &client{url: again.URL}
	c.begin(t)
	if text := c.post(t, http.StatusOK, query("SELECT 1")); !strings.Contains(text, "[[1]]") {
		t.Errorf("the next server: %s", text)
	}
	whole(`"crashed": 1`, "crashed")
	// Nothing says how many rows it had, nor how long it ran.
	if out := want(t, dir, 0, "", "audit", "query", "--status", "crashed", "--json"); strings.Contains(out, "execMs") || strings.Contains(out, `"rows":0`) {
		t.Errorf("the crashed statement has figures: %s", out)
	}
}

// TestStrangersAreNotKilled: the state file names a process that is not the server,
// because it has the id of the server now, or because it answers at its address.
func TestStrangersAreNotKilled(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	s := serverOf(t, dir)
	if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { _, _, code := ktx(t, dir, "mcp", "status"); return code == 3 })
	stranger := exec.CommandContext(context.WithoutCancel(t.Context()), "sleep", "600")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = stranger.Wait(); close(ended) }()
	defer func() {
		_ = stranger.Process.Kill()
		<-ended
	}()
	path := filepath.Join(dir, ".ktx", "mcp.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	state := bytes.Replace(text, []byte(`"pid": `+strconv.Itoa(s.PID)), []byte(`"pid": `+strconv.Itoa(stranger.Process.Pid)), 1)
	// A program that answers with the nonce must also have the process id.
	fake := func(answer string) {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)))
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{ReadHeaderTimeout: hang, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })}
		done := make(chan struct{})
		go func() { _ = server.Serve(l); close(done) }()
		defer func() { _ = server.Close(); <-done }()
		if err := os.WriteFile(path, state, 0o600); err != nil {
			t.Fatal(err)
		}
		want(t, dir, 3, "another program answers", "mcp", "status")
		want(t, dir, 0, "ended no process", "mcp", "stop")
	}
	fake(`{"status":"ok","nonce":"another","pid":` + strconv.Itoa(stranger.Process.Pid) + `}`)
	fake(`{"status":"ok","nonce":"` + stateOfText(t, text).Nonce + `","pid":1}`)
	fake(`not JSON`)
	if err := os.WriteFile(path, state, 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, dir, 3, "nothing listens", "mcp", "status")
	want(t, dir, 0, "ended no process", "mcp", "stop")
	want(t, dir, 3, "stopped", "mcp", "status")
	if err := os.WriteFile(path, state, 0o600); err != nil {
		t.Fatal(err)
	}
	if again := serverOf(t, dir); again.PID == stranger.Process.Pid || again.AlreadyRunning {
		t.Errorf("started %+v", again)
	}
	want(t, dir, 0, "stopped", "mcp", "stop")
	select {
	case <-ended:
		t.Fatalf("the stranger ended: %v", stranger.ProcessState)
	case <-time.After(100 * time.Millisecond):
	}
	// A file that is no state file is replaced too.
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, dir, 3, "stale", "mcp", "status")
	want(t, dir, 3, "remove the file", "mcp", "stop")
	serverOf(t, dir)
}

func stateOfText(t *testing.T, text []byte) (s status) {
	t.Helper()
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestForeground: the server writes the same state file, and removes it at its end.
func TestForeground(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	p := run(t, dir, "mcp", "start", "--foreground", "--port", "0")
	waitFor(t, func() bool { _, err := os.Stat(filepath.Join(dir, ".ktx", "mcp.json")); return err == nil })
	s := stateOf(t, dir)
	waitFor(t, func() bool { _, _, code := ktx(t, dir, "mcp", "status"); return code == 0 })
	if s.PID != p.cmd.Process.Pid {
		t.Errorf("the state is of process %d", s.PID)
	}
	c := &client{url: "http://127.0.0.1:" + strconv.Itoa(s.Port) + "/mcp"}
	c.begin(t)
	p.signal(t, syscall.SIGTERM)
	p.ends(t, 0)
	want(t, dir, 3, "stopped", "mcp", "status")
	wantEvents(t, dir, "gateway.start", "session.open", "session.close", "gateway.stop")
}

// TestTokensReload: after SIGHUP, a token that was removed from ktx.yaml is refused,
// and one that was added is accepted. A file that is not valid changes nothing.
func TestTokensReload(t *testing.T) {
	dir := shop(t)
	t.Setenv("KTX_TEST_OLD", "old-secret")
	t.Setenv("KTX_TEST_NEW", "new-secret")
	reload := func(tokens string, s status, said string) {
		t.Helper()
		text := "connections:\n  demo: {driver: sqlite, path: shop.db}\nserver: {tokens: [" + tokens + "]}\n"
		if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s.PID == 0 {
			return
		}
		before := len(eventsNow(dir))
		if err := syscall.Kill(s.PID, syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { return len(eventsNow(dir)) > before })
		waitFor(t, func() bool { out, _, _ := ktx(t, dir, "mcp", "logs"); return strings.Contains(out, said) })
	}
	was, is := `{name: a, token: "env:KTX_TEST_OLD"}`, `{name: b, token: "env:KTX_TEST_NEW"}`
	reload(was, status{}, "")
	s := serverOf(t, dir)
	older, newer := &client{url: s.URL, token: "old-secret"}, &client{url: s.URL, token: "new-secret"}
	older.begin(t)
	newer.post(t, http.StatusUnauthorized, initialize)
	reload(was+`, {name: c, token: "env:KTX_TEST_ABSENT"}`, s, "KTX_TEST_ABSENT is not set")
	reload(was+`, {name: c, token: "env:KTX_TEST_OLD"}`, s, "the same token as another principal")
	older.post(t, http.StatusOK, query("SELECT 1"))
	reload(is, s, "is reloaded")
	waitFor(t, func() bool {
		code, _, err := older.do(t.Context(), http.MethodPost, query("SELECT 1"))
		return err == nil && code == http.StatusUnauthorized
	})
	newer.begin(t)
	waitFor(t, func() bool { // the state file follows
		_, _, code := ktx(t, dir, "mcp", "start", "--port", "0")
		return code == 0
	})
	reload("", s, "whether requests need a token cannot change")
	newer.post(t, http.StatusOK, query("SELECT 1"))
}

// TestServerReloads: SIGHUP reads ktx.yaml again. Except for the tokens, the block
// server takes effect at the next start, and the server says so.
func TestServerReloads(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	s := serverOf(t, dir)
	path := filepath.Join(dir, "ktx.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, []byte("server: {stateless: true}\nguard: {explainAnalyze: false}\n")...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(s.PID, syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return slices.Contains(eventsNow(dir), "config.reload") })
	waitFor(t, func() bool {
		out, _, _ := ktx(t, dir, "mcp", "logs")
		return strings.Contains(out, "block server changed")
	})
	want(t, dir, 0, "running: "+s.URL, "mcp", "status")
}

// TestStopEndsStatements: a statement that does not end in time is cancelled, with and
// without sessions, and recorded before the server ends.
func TestStopEndsStatements(t *testing.T) {
	if testing.Short() {
		t.Skip("takes five seconds")
	}
	t.Parallel()
	dir := shop(t)
	s := serverOf(t, dir)
	older := &client{url: s.URL}
	older.begin(t)
	answers := make(chan string, 2)
	body, headers := modern(counting(2_000_000_000))
	for _, call := range []func() (int, string, error){
		func() (int, string, error) {
			return older.do(context.WithoutCancel(t.Context()), http.MethodPost, query(counting(2_000_000_000)))
		},
		func() (int, string, error) {
			return (&client{url: s.URL}).do(context.WithoutCancel(t.Context()), http.MethodPost, body, headers...)
		},
	} {
		go func() {
			_, text, err := call()
			answers <- fmt.Sprint(text, err)
		}()
	}
	count := func(event audit.Type) (n int) {
		for _, e := range eventsNow(dir) {
			if e == string(event) {
				n++
			}
		}
		return n
	}
	waitFor(t, func() bool { return count(audit.QueryDecision) == 2 })
	want(t, dir, 0, "stopped", "mcp", "stop")
	for range 2 {
		if text := <-answers; !strings.Contains(text, `"code":"draining"`) {
			t.Errorf("answered %s", text)
		}
	}
	if n := count(audit.QueryCancelled); n != 2 {
		t.Errorf("%d statements are recorded as cancelled, want 2", n)
	}
	if types := events(t, dir); types[len(types)-1] != string(audit.GatewayStop) {
		t.Errorf("the log ends with %s", types[len(types)-1])
	}
}
