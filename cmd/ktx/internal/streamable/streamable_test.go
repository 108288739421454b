package streamable_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/streamable"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"3"}}}`
	ready      = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	list       = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	wait       = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait","arguments":{}}}`
	modernWait = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait","arguments":{},"_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
)

// longAnswer is the length of the answer of the tool long.
const longAnswer = 4 << 20

// desk is a server whose tool wait ends only when it is cancelled, and whose
// tool who says who asks.
type desk struct {
	server    *httpapi.Server
	url       string
	log       *audittest.Log
	called    chan string // the principal of each call of wait
	cancelled chan struct{}
	stop      context.CancelFunc
	ended     chan error
}

type judge struct{}

func (judge) Check(context.Context, httpapi.CheckRequest) (sqlguard.Verdict, error) {
	return sqlguard.Verdict{}, nil
}

func newDesk(t *testing.T, change func(*httpapi.Config)) *desk {
	t.Helper()
	d := &desk{log: &audittest.Log{}, called: make(chan string, 100), cancelled: make(chan struct{}, 100), ended: make(chan error, 1)}
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		actor, _ := audit.ActorFrom(ctx)
		d.called <- actor.Principal
		if token := req.Params.GetProgressToken(); token != nil {
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Message: "waiting"})
		}
		<-ctx.Done()
		d.cancelled <- struct{}{}
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "cancelled"}}}, nil
	})
	server.AddTool(&mcp.Tool{Name: "long", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if err := execution.ShareFrom(ctx).Take(ctx, longAnswer); err != nil {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(execution.CodeOf(err))}}}, nil
		}
		text := json.RawMessage(`{"text":"` + strings.Repeat("x", longAnswer) + `"}`)
		execution.ShareFrom(ctx).Keep(int64(len(text)))
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, StructuredContent: text}, nil
	})
	log := slog.New(slog.DiscardHandler)
	handlers := streamable.New(server, log, waiting{d})
	c := httpapi.Config{
		Host: "127.0.0.1", Sessions: handlers.Sessions, Stateless: handlers.Stateless, Checker: judge{}, Log: d.log, Logger: log,
		Metrics: httpapi.NewMetrics(func() []httpapi.Queue { return nil }, func() audit.Health { return audit.Health{} }),
		Grace:   100 * time.Millisecond,
	}
	if change != nil {
		change(&c)
	}
	s, err := httpapi.New(c)
	if err != nil {
		t.Fatal(err)
	}
	d.server = s
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.url = "http://" + l.Addr().String() + "/mcp"
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	d.stop = stop
	go func() { d.ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-d.ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return d
}

// waiting has the tool wait without the SDK, for plain calls of it.
type waiting struct{ desk *desk }

func (waiting) Has(name string) bool { return name == "wait" }

func (waiting) For(ctx context.Context, client *mcp.Implementation) context.Context {
	actor, _ := audit.ActorFrom(ctx)
	actor.Client.Name = client.Name
	return audit.WithActor(ctx, actor)
}

func (w waiting) Call(ctx context.Context, _ string, _ json.RawMessage, _ func(float64, string)) *mcp.CallToolResult {
	actor, _ := audit.ActorFrom(ctx)
	w.desk.called <- actor.Principal
	<-ctx.Done()
	w.desk.cancelled <- struct{}{}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "cancelled"}}}
}

// request makes a request of MCP.
func (d *desk) request(ctx context.Context, t *testing.T, method, session, body string, headers ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, d.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// answer is one whose body is still to be read. It is closed with the test.
type answer struct {
	status int
	header http.Header
	body   io.Reader
}

// send sends a request and returns when the header of its answer is there.
func (d *desk) send(ctx context.Context, t *testing.T, method, session, body string, headers ...string) answer {
	t.Helper()
	res, err := http.DefaultClient.Do(d.request(ctx, t, method, session, body, headers...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return answer{res.StatusCode, res.Header, res.Body}
}

// call calls the tool wait and returns the principal that it was called by.
// Nothing is answered before the call ends.
func (d *desk) call(ctx context.Context, t *testing.T, session, body string, headers ...string) string {
	t.Helper()
	r := d.request(ctx, t, "POST", session, body, headers...)
	go func() {
		if res, err := http.DefaultClient.Do(r); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
	}()
	select {
	case who := <-d.called:
		return who
	case <-time.After(patience):
		t.Fatal("the tool was not called")
		return ""
	}
}

// ask sends a request and returns the status and the whole answer.
func (d *desk) ask(t *testing.T, method, session, body string, headers ...string) (int, string) {
	t.Helper()
	res := d.send(t.Context(), t, method, session, body, headers...)
	text, err := io.ReadAll(res.body)
	if err != nil {
		t.Fatal(err)
	}
	return res.status, string(text)
}

// begin begins a session and returns its id.
func (d *desk) begin(t *testing.T, headers ...string) string {
	t.Helper()
	res := d.send(t.Context(), t, "POST", "", initialize, headers...)
	id := res.header.Get("Mcp-Session-Id")
	text, err := io.ReadAll(res.body)
	if err != nil || res.status != http.StatusOK || id == "" {
		t.Fatalf("initialize: %d %s %v", res.status, text, err)
	}
	if status, text := d.ask(t, "POST", id, ready, headers...); status != http.StatusAccepted {
		t.Fatalf("initialized: %d %s", status, text)
	}
	return id
}

// taken returns how much memory is set aside for answers.
func (d *desk) taken(t *testing.T) (bytes int64) {
	t.Helper()
	url := strings.TrimSuffix(d.url, "/mcp") + "/metrics"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "ktx_http_answer_bytes "); ok {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return int64(value)
		}
	}
	t.Fatal("the metrics have no ktx_http_answer_bytes")
	return 0
}

func (d *desk) isCancelled(t *testing.T) {
	t.Helper()
	select {
	case <-d.cancelled:
	case <-time.After(patience):
		t.Fatal("the call was not cancelled")
	}
}

// ends returns the reasons with which sessions ended.
func (d *desk) ends() (reasons []string) {
	for _, e := range d.log.Events(audit.SessionClose) {
		reasons = append(reasons, e.Reason)
	}
	return reasons
}

// patience is far above what anything takes on a busy machine.
const patience = 2 * time.Minute

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func TestSessionRules(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for _, body := range []string{list, ready, wait, `[` + initialize + `]`, `{"method":7}`, `{}`, `[]`, `1`, `nonsense`, `{"jsonrpc":"2.0","method":"initialize`} {
		if status, text := d.ask(t, "POST", "", body); status != http.StatusBadRequest || !strings.Contains(text, `"jsonrpc":"2.0"`) {
			t.Errorf("%s without a session: %d %s", body, status, text)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		if status, text := d.ask(t, method, "", ""); status != http.StatusBadRequest {
			t.Errorf("%s without a session: %d %s", method, status, text)
		}
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if status, text := d.ask(t, method, "no-such-session", list); status != http.StatusNotFound {
			t.Errorf("%s of an unknown session: %d %s", method, status, text)
		}
	}
	if status, text := d.ask(t, "PUT", "", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("PUT: %d %s", status, text)
	}
	id := d.begin(t)
	if status, text := d.ask(t, "POST", id, list); status != http.StatusOK || !strings.Contains(text, `"wait"`) {
		t.Errorf("tools/list: %d %s", status, text)
	}
	if status, text := d.ask(t, "DELETE", id, ""); status != http.StatusNoContent {
		t.Errorf("DELETE: %d %s", status, text)
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if status, text := d.ask(t, method, id, list); status != http.StatusNotFound {
			t.Errorf("%s of a deleted session: %d %s", method, status, text)
		}
	}
	opened := d.log.Events(audit.SessionOpen)
	if len(opened) != 1 || opened[0].Principal != "local" || opened[0].Client.Name != "tester" || opened[0].Client.Transport != "http" || opened[0].Session == "" || opened[0].Session == id {
		t.Errorf("opened %+v", opened)
	}
	if closed := d.log.Events(audit.SessionClose); len(closed) != 1 || closed[0].Reason != "deleted" || closed[0].Session != opened[0].Session {
		t.Errorf("closed %+v", closed)
	}
}

// TestFailedInitialize: one that the SDK refuses leaves no session behind.
func TestFailedInitialize(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for range 3 {
		status, text := d.ask(t, "POST", "", `{"jsonrpc":"2.0","method":"initialize","params":{}}`) // a notification
		if status == http.StatusOK {
			t.Errorf("%d %s", status, text)
		}
	}
	if got := d.ends(); len(got) != 3 || got[0] != "refused" {
		t.Errorf("ended %v", got)
	}
}

// TestWithoutTheLogNoSession: what cannot be recorded does not happen.
func TestWithoutTheLogNoSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.log.Fail(io.ErrShortWrite)
	if status, text := d.ask(t, "POST", "", initialize); status != http.StatusServiceUnavailable || !strings.Contains(text, "audit_unavailable") {
		t.Errorf("%d %s", status, text)
	}
	d.log.Fail(nil)
	d.begin(t)
}

// TestSessionsBelongToTheirPrincipal: to all others they are unknown, and the
// calls of each run under its own name.
func TestSessionsBelongToTheirPrincipal(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) {
		c.Tokens = []httpapi.Token{{Principal: "ann", Sum: httpapi.Sum("a")}, {Principal: "bob", Sum: httpapi.Sum("b")}}
	})
	ann, bob := []string{"Authorization", "Bearer a"}, []string{"Authorization", "Bearer b"}
	id := d.begin(t, ann...)
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if status, text := d.ask(t, method, id, list, bob...); status != http.StatusNotFound {
			t.Errorf("%s of another's session: %d %s", method, status, text)
		}
	}
	if status, _ := d.ask(t, "POST", id, list, ann...); status != http.StatusOK {
		t.Errorf("the session is gone: %d", status)
	}
	if who := d.call(t.Context(), t, id, wait, ann...); who != "ann" {
		t.Errorf("called by %q", who)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if who := d.call(ctx, t, "", modernWait, append([]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "wait"}, bob...)...); who != "bob" {
		t.Errorf("called by %q", who)
	}
	cancel()
	d.isCancelled(t)
}

// TestTokensChange: a token that is taken away lets nobody in, and ends what its
// principal's sessions run; other sessions stay.
func TestTokensChange(t *testing.T) {
	t.Parallel()
	ann, bob := httpapi.Token{Principal: "ann", Sum: httpapi.Sum("a")}, httpapi.Token{Principal: "bob", Sum: httpapi.Sum("b"), Requests: 5, Per: time.Hour}
	d := newDesk(t, func(c *httpapi.Config) { c.Tokens = []httpapi.Token{ann, bob} })
	as := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	anns, bobs := d.begin(t, as("a")...), d.begin(t, as("b")...) // two requests of five
	d.call(t.Context(), t, anns, wait, as("a")...)
	for _, wrong := range [][]httpapi.Token{nil, {bob, {Principal: "eve", Sum: bob.Sum}}} {
		if err := d.server.SetTokens(wrong); err == nil {
			t.Errorf("took %v", wrong)
		}
	}
	bob.Sum = httpapi.Sum("new")
	if err := d.server.SetTokens([]httpapi.Token{bob}); err != nil {
		t.Fatal(err)
	}
	d.isCancelled(t)
	for _, token := range []string{"a", "b"} {
		if status, text := d.ask(t, "POST", bobs, list, as(token)...); status != http.StatusUnauthorized {
			t.Errorf("the token that was taken away: %d %s", status, text)
		}
	}
	if status, text := d.ask(t, "POST", anns, list, as("new")...); status != http.StatusNotFound {
		t.Errorf("the session of who was taken away: %d %s", status, text)
	}
	if status, text := d.ask(t, "POST", bobs, list, as("new")...); status != http.StatusOK {
		t.Errorf("the other session: %d %s", status, text)
	}
	until(t, "the session's end is recorded", func() bool { return slices.Equal(d.ends(), []string{"revoked"}) })
	d.ask(t, "POST", bobs, list, as("new")...)
	if status, text := d.ask(t, "POST", bobs, list, as("new")...); status != http.StatusTooManyRequests {
		t.Errorf("the rate began anew: %d %s", status, text)
	}
}

// TestCallsEnd: a cancel notification, the end of the session and that of the
// server end a call; in the era without sessions the end of its stream does.
func TestCallsEnd(t *testing.T) {
	t.Parallel()
	modern := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "wait"}
	for _, test := range []struct {
		name string
		end  func(t *testing.T, d *desk, id string)
	}{
		{"a cancel notification", func(t *testing.T, d *desk, id string) {
			t.Helper()
			if status, text := d.ask(t, "POST", id, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`); status != http.StatusAccepted {
				t.Fatalf("%d %s", status, text)
			}
		}},
		{"DELETE", func(t *testing.T, d *desk, id string) {
			t.Helper()
			if status, text := d.ask(t, "DELETE", id, ""); status != http.StatusNoContent {
				t.Fatalf("%d %s", status, text)
			}
		}},
		{"the end of the server", func(t *testing.T, d *desk, _ string) {
			t.Helper()
			d.stop()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			id := d.begin(t)
			d.call(t.Context(), t, id, wait)
			test.end(t, d, id)
			d.isCancelled(t)
		})
	}
	t.Run("a closed stream", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		res := d.send(ctx, t, "POST", "", modernWait, modern...)
		line, err := bufio.NewReader(res.body).ReadString('\n')
		if err != nil || res.header.Get("Mcp-Session-Id") != "" {
			t.Fatalf("%s %v %v", line, err, res.header)
		}
		<-d.called
		cancel()
		d.isCancelled(t)
		if opened := d.log.Events(audit.SessionOpen); len(opened) != 0 {
			t.Errorf("opened %+v", opened)
		}
	})
	t.Run("the end of the server, without sessions", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, func(c *httpapi.Config) { c.Sessions = nil })
		d.call(t.Context(), t, "", modernWait, modern...)
		d.stop()
		d.isCancelled(t)
	})
}

// TestCancelOfTheSDK: what its client does when a call is cancelled ends the call
// in both eras.
func TestCancelOfTheSDK(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: d.url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "wait"})
				ended <- err
			}()
			<-d.called
			cancel()
			d.isCancelled(t)
			if err := <-ended; err == nil {
				t.Error("the call was answered")
			}
			if opened := d.log.Events(audit.SessionOpen); len(opened) == 0 != (version == "2026-07-28") {
				t.Errorf("opened %+v", opened)
			}
			if err := session.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDroppedConnectionOfTheOlderEra: it cancels nothing, as the protocol says.
func TestDroppedConnectionOfTheOlderEra(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.begin(t)
	ctx, cancel := context.WithCancel(t.Context())
	d.call(ctx, t, id, wait)
	cancel()
	select {
	case <-d.cancelled:
		t.Fatal("the call was cancelled")
	case <-time.After(300 * time.Millisecond):
	}
	if status, _ := d.ask(t, "POST", id, list); status != http.StatusOK {
		t.Errorf("the session is gone: %d", status)
	}
}

// TestStateless: with --stateless the older versions work too, without ids.
func TestStateless(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) { c.Sessions = nil })
	res := d.send(t.Context(), t, "POST", "", initialize)
	if res.status != http.StatusOK || res.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("initialize: %d %v", res.status, res.header)
	}
	if status, text := d.ask(t, "POST", "", list, "Mcp-Protocol-Version", "2025-11-25"); status != http.StatusOK || !strings.Contains(text, `"wait"`) {
		t.Errorf("tools/list: %d %s", status, text)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if status, _ := d.ask(t, method, "", ""); status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, status)
		}
	}
}

// TestTooManySessions: those that nobody uses make room, of the principal with
// the most; those in use do not.
func TestTooManySessions(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) {
		c.MaxSessions = 4
		c.Tokens = []httpapi.Token{{Principal: "ann", Sum: httpapi.Sum("a")}, {Principal: "flood", Sum: httpapi.Sum("f")}}
	})
	ann, flood := []string{"Authorization", "Bearer a"}, []string{"Authorization", "Bearer f"}
	idle := d.begin(t, ann...)
	busy := d.begin(t, flood...)
	d.call(t.Context(), t, busy, wait, flood...)
	for range 20 {
		d.begin(t, flood...)
	}
	if status, _ := d.ask(t, "POST", idle, list, ann...); status != http.StatusOK {
		t.Errorf("the session of another principal made room: %d", status)
	}
	if status, _ := d.ask(t, "POST", busy, list, flood...); status != http.StatusOK {
		t.Errorf("a session in use made room: %d", status)
	}
	until(t, "the ends", func() bool { return len(d.ends()) == 18 })
	for range 3 { // now all are in use
		d.call(t.Context(), t, d.begin(t, flood...), wait, flood...)
	}
	if status, text := d.ask(t, "POST", "", initialize, ann...); status != http.StatusServiceUnavailable || !strings.Contains(text, "too_many_sessions") {
		t.Errorf("%d %s", status, text)
	}
}

// TestIdleSessionsEnd: but not those that are in use, for however long.
func TestIdleSessionsEnd(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) { c.SessionTimeout = 15 * time.Second }) // enough for each to be in use in time
	calling := d.begin(t)
	d.call(t.Context(), t, calling, wait)
	listening := d.begin(t)
	d.send(t.Context(), t, "GET", listening, "")
	// The idle session begins last: when it ends, the others are older than the
	// timeout too.
	idle := d.begin(t)
	until(t, "the end of the idle session", func() bool { return len(d.ends()) == 1 })
	if got := d.ends(); len(got) != 1 || got[0] != "idle" {
		t.Errorf("ended %v", got)
	}
	if status, _ := d.ask(t, "POST", idle, list); status != http.StatusNotFound {
		t.Errorf("the idle session answers: %d", status)
	}
	if status, _ := d.ask(t, "POST", calling, list); status != http.StatusOK {
		t.Errorf("the session with a call: %d", status)
	}
}

// TestAbandonedSessionsReturnTheirMemory begins 1,000 sessions that nobody uses,
// twice.
func TestAbandonedSessionsReturnTheirMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("begins a thousand sessions")
	}
	var log countingLog
	d := newDesk(t, func(c *httpapi.Config) { c.SessionTimeout, c.Log = time.Second, &log })
	heap := func() uint64 {
		var m runtime.MemStats
		for range 3 {
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	abandon := func(n int) {
		for range n {
			res, err := http.DefaultClient.Do(d.request(t.Context(), t, "POST", "", initialize))
			if err != nil || res.StatusCode != http.StatusOK {
				t.Fatalf("%v %v", res, err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
	}
	ended := func(n int64) {
		until(t, "the ends", func() bool { return log.closed.Load() == n })
		http.DefaultClient.CloseIdleConnections()
	}
	abandon(1000) // tables are as large as they become
	ended(1000)
	goroutines, before := runtime.NumGoroutine(), heap()
	abandon(1000)
	full := heap() // on a slow machine without those that have ended already
	ended(2000)
	until(t, "the end of their goroutines", func() bool { return runtime.NumGoroutine() <= goroutines+20 })
	var after uint64
	until(t, "their memory", func() bool { // connections end a little later
		after = heap()
		return after <= before+512<<10 // half a KiB of each, and a session takes 6
	})
	t.Logf("heap before %d KiB, with 1,000 sessions %d KiB, after %d KiB", before>>10, full>>10, after>>10)
}

// countingLog keeps no event.
type countingLog struct {
	audittest.Log
	closed atomic.Int64
}

func (l *countingLog) Append(_ context.Context, e audit.Event) error {
	if e.Type == audit.SessionClose {
		l.closed.Add(1)
	}
	return nil
}

// TestManyClients: 10 clients at once make 500 calls.
func TestManyClients(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	failures := make(chan error, 10)
	for range 10 {
		go func() {
			failures <- func() error {
				client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
				session, err := client.Connect(context.WithoutCancel(t.Context()), &mcp.StreamableClientTransport{Endpoint: d.url}, nil)
				if err != nil {
					return fmt.Errorf("connect: %w", err)
				}
				for range 50 {
					if tools, err := session.ListTools(context.WithoutCancel(t.Context()), nil); err != nil || len(tools.Tools) != 2 {
						return fmt.Errorf("list: %w", err)
					}
				}
				return session.Close()
			}()
		}()
	}
	for range 10 {
		if err := <-failures; err != nil {
			t.Error(err)
		}
	}
}

// TestStopsInOrder: streams that only wait do not hold up the end, and the
// sessions are recorded as ended.
func TestStopsInOrder(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) { c.Grace = time.Hour })
	id := d.begin(t)
	d.send(t.Context(), t, "GET", id, "")
	d.stop()
	select {
	case err := <-d.ended:
		d.ended <- err
	case <-time.After(patience):
		t.Fatal("the server does not end")
	}
	if got := d.ends(); len(got) != 1 || got[0] != "stopping" {
		t.Errorf("ended %v", got)
	}
}
