package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// TestManyCallsAtOnce: 10 clients, half of each protocol version, make 500
// calls, on PostgreSQL and SQLite. Each gets its own answer, and the log has all of
// them.
func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	secret := filepath.Join(dir, "url")
	configure(t, dir, "connections:\n  demo: {driver: sqlite, path: shop.db}\n  pg: {driver: postgres, url: 'file:"+secret+"'}\n")
	if err := os.WriteFile(secret, []byte(testdb.Postgres(t).NewDatabase(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serverOf(t, dir)
	failures := make(chan error, 10)
	for n := range 10 {
		go func() {
			failures <- fiftyCalls(context.WithoutCancel(t.Context()), s.URL, n)
		}()
	}
	for range 10 {
		if err := <-failures; err != nil {
			t.Error(err)
		}
	}
	want(t, dir, 0, "stopped", "mcp", "stop")
	counts := map[string]int{}
	for _, e := range events(t, dir) {
		counts[e]++
	}
	if counts[string(audit.QueryDecision)] != 500 || counts[string(audit.QueryFinished)] != 500 {
		t.Errorf("the log has %v, want 500 decisions and as many ends", counts)
	}
}

// fiftyCalls is what client n of [TestManyCallsAtOnce] does.
func fiftyCalls(ctx context.Context, url string, n int) error {
	version := []string{"2025-11-25", "2026-07-28"}[n%2]
	session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return fmt.Errorf("client %d: %w", n, err)
	}
	for i := range 50 {
		own := n*50 + i
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "sql_execution", Arguments: map[string]any{
			"connectionId": []string{"demo", "pg"}[i%2], "sql": fmt.Sprintf("SELECT %d AS own", own),
		}})
		if err != nil {
			return fmt.Errorf("client %d: %w", n, err)
		}
		if text, err := json.Marshal(res); err != nil || res.IsError || !strings.Contains(string(text), fmt.Sprintf(`"rows":[[%d]]`, own)) {
			return fmt.Errorf("client %d, call %d: %s %w", n, i, text, err)
		}
	}
	return session.Close()
}

// TestHostileClients attacks a server that may open few files only. During and after
// each attack the server must answer other clients.
func TestHostileClients(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	dir := shop(t)
	configure(t, dir, `connections:
  demo: {driver: sqlite, path: shop.db, limits: {bytes: 100MiB, cellBytes: 50MiB}}
server:
  tokens:
    - {name: honest, token: "env:KTX_TEST_HONEST"}
    - {name: hostile, token: "env:KTX_TEST_HOSTILE"}
`)
	t.Setenv("KTX_TEST_HONEST", "honest-token")
	t.Setenv("KTX_TEST_HOSTILE", "hostile-token")
	p := runUnder(t, dir, "ulimit -n 512", "mcp", "start", "--foreground", "--port", "0")
	url := foreground(t, dir)
	honest := &client{url: url, token: "honest-token"}
	honest.begin(t)
	answers := func(t *testing.T) {
		t.Helper()
		health := &client{url: strings.TrimSuffix(url, "/mcp") + "/health"}
		if status, text, err := health.do(t.Context(), http.MethodGet, ""); err != nil || status != http.StatusOK || !strings.Contains(text, `"status":"ok"`) {
			t.Fatalf("/health: %d %s %v", status, text, err)
		}
		body, headers := modern("SELECT 1")
		for range 3 {
			if text := honest.post(t, http.StatusOK, query("SELECT 1")); !strings.Contains(text, "[[1]]") {
				t.Fatalf("in the session: %s", text)
			}
			if text := (&client{url: url, token: honest.token}).post(t, http.StatusOK, body, headers...); !strings.Contains(text, "[[1]]") {
				t.Fatalf("without a session: %s", text)
			}
		}
	}
	answers(t)
	const head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer hostile-token\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	request := func(sql string) string {
		body, headers := modern(sql)
		body = strings.Replace(body, `"connectionId"`, `"maxBytes":50000000,"maxRows":10000,"connectionId"`, 1)
		text := head
		for i := 0; i < len(headers); i += 2 {
			text += headers[i] + ": " + headers[i+1] + "\r\n"
		}
		return text + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	for _, test := range []struct {
		name string
		do   func(t *testing.T)
	}{
		{"1,000 connections that say nothing", func(t *testing.T) {
			t.Helper()
			many(t, url, 1000, "")
		}},
		{"1,000 headers without an end", func(t *testing.T) {
			t.Helper()
			many(t, url, 1000, "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Drip: ")
		}},
		{"1,000 bodies without an end", func(t *testing.T) {
			t.Helper()
			many(t, url, 1000, head+"Content-Length: 1000\r\n\r\n{")
		}},
		{"100 long bodies without an end", func(t *testing.T) {
			t.Helper()
			many(t, url, 100, head+"Content-Length: 4000000\r\n\r\n"+strings.Repeat(" ", 100_000))
		}},
		{"20 bodies of 100 MB by their length", func(t *testing.T) {
			t.Helper()
			for _, conn := range many(t, url, 20, head+"Content-Length: 104857600\r\n\r\n") {
				wantStatus(t, conn, "413")
			}
		}},
		{"20 bodies of 100 MB in chunks", func(t *testing.T) {
			t.Helper()
			conns := many(t, url, 20, head+"Transfer-Encoding: chunked\r\n\r\n")
			chunk := "100000\r\n" + strings.Repeat(" ", 0x100000) + "\r\n"
			for _, conn := range conns {
				go func() {
					for range 100 {
						if _, err := io.WriteString(conn, chunk); err != nil {
							return
						}
					}
				}()
			}
			for _, conn := range conns {
				wantStatus(t, conn, "413")
			}
			peak, known := peakMemory(t, p.cmd.Process.Pid)
			t.Logf("the process took %d MB at most", peak>>20)
			if known && peak > memoryFactor*400<<20 {
				t.Errorf("the process took %d MB", peak>>20)
			}
		}},
		{"100 clients that close their half", func(t *testing.T) {
			t.Helper()
			for _, conn := range many(t, url, 100, request(counting(2_000_000_000))) {
				_ = conn.CloseWrite()
			}
		}},
		{"8 clients that do not read 20 MB", func(t *testing.T) {
			t.Helper()
			many(t, url, 8, request("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 10000) SELECT i, hex(zeroblob(1000)) FROM n"))
		}},
		{"2,100 sessions", func(t *testing.T) {
			t.Helper()
			hostile := &http.Client{}
			defer hostile.CloseIdleConnections()
			c := &client{url: url, token: "hostile-token"}
			for range 2100 {
				r, err := c.request(t.Context(), http.MethodPost, initialize)
				if err != nil {
					t.Fatal(err)
				}
				res, err := hostile.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				if res.StatusCode != http.StatusOK {
					t.Fatalf("initialize: %d", res.StatusCode)
				}
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.do(t)
			answers(t)
		})
		answers(t) // the connections are closed now
	}
}

// runUnder is run with a command of the shell before it, such as a limit.
func runUnder(t *testing.T, dir, setting string, args ...string) *process {
	t.Helper()
	return runProgram(t, dir, "sh", append([]string{"-c", setting + ` && exec ktx "$@"`, "sh"}, args...)...)
}

// many makes connections that send a text, and keeps them until the test ends.
func many(t *testing.T, url string, n int, text string) (conns []*net.TCPConn) {
	t.Helper()
	for range n {
		conn := dial(t, url)
		if err := conn.SetWriteDeadline(time.Now().Add(hang)); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, text) // the server may have closed it
		conns = append(conns, conn)
	}
	return conns
}

// wantStatus reads the first line of an answer.
func wantStatus(t *testing.T, conn net.Conn, status string) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(hang)); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, status) {
		t.Errorf("answered %q %v, want %s", line, err, status)
	}
}

// peakMemory returns the greatest resident size of a process, if the system reports
// it.
func peakMemory(t *testing.T, pid int) (bytes int, ok bool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "VmHWM:"); found {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return n << 10, true
		}
	}
	return 0, false
}
