package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/sqlguard"
)

// desk is a server on a free port. Its handlers answer with the actor of the
// request.
type desk struct {
	server  *httpapi.Server
	addr    string
	log     *audittest.Log
	metrics *httpapi.Metrics
	stop    context.CancelFunc
	ended   chan error
}

// echo answers with the actor's name.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	actor, _ := audit.ActorFrom(r.Context())
	_, _ = io.WriteString(w, "handled for "+actor.Principal)
})

// judge refuses every statement but SELECT 1.
type judge struct{}

func (judge) Check(ctx context.Context, req httpapi.CheckRequest) (sqlguard.Verdict, error) {
	actor, _ := audit.ActorFrom(ctx)
	switch req.ConnectionID {
	case "unknown":
		return sqlguard.Verdict{}, &httpapi.CheckError{Problem: httpapi.Problem{Code: "unknown_connection", Message: "for " + actor.Principal}}
	case "faulty":
		return sqlguard.Verdict{}, errors.New("a secret detail")
	}
	return sqlguard.Verdict{Dialect: "test", Allowed: req.SQL == "SELECT 1"}, nil
}

func newDesk(t *testing.T, change func(*httpapi.Config)) *desk {
	t.Helper()
	d := &desk{log: &audittest.Log{}, ended: make(chan error, 1)}
	d.metrics = httpapi.NewMetrics(
		func() []httpapi.Queue { return []httpapi.Queue{{ConnectionID: "shop", Running: 2, Waiting: 3}} },
		func() audit.Health { return audit.Health{Seq: 9, Synced: 5, Lost: 1} },
	)
	c := httpapi.Config{
		Host: "127.0.0.1", Sessions: echo, Stateless: echo, Checker: judge{}, Log: d.log,
		Logger: slog.New(slog.DiscardHandler), Metrics: d.metrics,
		About: httpapi.About{Version: "v1", ProjectDir: "/project", Nonce: "nonce", PID: 7},
		// No client of a test is too slow, unless change makes it so.
		HeaderTime: hang, BodyTime: hang, WriteTime: hang, IdleTime: hang,
	}
	if change != nil {
		change(&c)
	}
	s, err := httpapi.New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(c.Host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	d.server, d.addr = s, l.Addr().String()
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

// answer is the response to a request.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request; header values that begin with "Host:" set the host.
func (d *desk) ask(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+d.addr+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		} else {
			r.Header[http.CanonicalHeaderKey(name)] = append(r.Header[http.CanonicalHeaderKey(name)], value)
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(text)}
}

type request struct{ method, path, body string }

// requests contains requests to every route, with methods that the route has
// and does not have, and requests to paths without a route.
var requests = []request{
	{"GET", "/health", ""},
	{"GET", "/metrics", ""},
	{"POST", "/v1/check", `{"dialect":"postgres","sql":"SELECT 1"}`},
	{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`},
	{"GET", "/mcp", ""},
	{"DELETE", "/mcp", ""},
	{"PUT", "/mcp", ""},
	{"OPTIONS", "/mcp", ""},
	{"GET", "/nothing", ""},
	{"POST", "/health", "{}"},
	{"PATCH", "/nothing", "{}"},
	{"GET", "/mcp/", ""},
	{"GET", "//mcp", ""},
	{"BREW", "/metrics", ""},
}

// TestRequestsAreOfEveryRoute checks that requests contains every route, so
// that the tests which use requests cover all of them.
func TestRequestsAreOfEveryRoute(t *testing.T) {
	t.Parallel()
	paths, err := newDesk(t, nil).server.Paths()
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		if !slices.ContainsFunc(requests, func(q request) bool { return q.path == path }) {
			t.Errorf("no request uses the route %s", path)
		}
	}
}

// TestHostOnEveryRoute checks that every route refuses a page whose host name
// resolves to this machine, and names that only look like an allowed one.
func TestHostOnEveryRoute(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) { c.AllowedHosts = []string{"KTX.example.com:8443", "[2001:db8::1]"} })
	start := time.Now()
	refused := 0
	for _, q := range requests {
		for _, host := range []string{
			"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost.", "127.0.0.2", "0.0.0.0", "ktx.example.com.", "ktx.example.com:x",
			"[::1", "[::1]x", "::1:80:", "user@localhost", "localhost:80:80", "2130706433", "0x7f.1",
		} {
			refused++
			if got := d.ask(t, q.method, q.path, q.body, "Host: "+host); got.status != http.StatusForbidden || !strings.Contains(got.body, "host_not_allowed") {
				t.Errorf("%s %s with Host %s: %d %s", q.method, q.path, host, got.status, got.body)
			}
		}
	}
	for _, host := range []string{"localhost", "LOCALHOST:1", "127.0.0.1:99", "[::1]:7878", "[::1]", "ktx.example.com", "KTX.Example.com:1", "[2001:DB8::1]:9"} {
		if got := d.ask(t, "GET", "/health", "", "Host: "+host); got.status != http.StatusOK {
			t.Errorf("Host %s: %d %s", host, got.status, got.body)
		}
	}
	// The log records the first 100, and then ten a second.
	if n, most := len(d.log.Events(audit.AuthDenied)), 101+10*int(time.Since(start).Seconds()+1); n == 0 || n > most {
		t.Errorf("%d refusals recorded, want 1 to %d", n, most)
	}
	// At the end the events count all of them.
	d.stop()
	d.ended <- <-d.ended
	counted := 0
	for _, e := range d.log.Events(audit.AuthDenied) {
		if e.Reason != "unrecorded" {
			counted++
		}
		counted += int(e.Unrecorded)
	}
	if counted != refused {
		t.Errorf("the events count %d refusals of %d", counted, refused)
	}
}

// TestHostOfHTTP10 checks that the server refuses a request without a Host
// header.
func TestHostOfHTTP10(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET /health HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, "403") {
		t.Errorf("answered %q", line)
	}
}

func TestOriginOnEveryRoute(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) {
		c.AllowedOrigins = []string{"https://app.example.com", "http://Tools.example.com:8080", "https://default.example.com:443"}
		c.AllowedHosts = []string{"ktx.example.com"}
	})
	own := "http://" + d.addr
	for _, q := range requests {
		for _, headers := range [][]string{
			{"Origin: https://evil.example"},
			{"Origin: null"},
			{"Origin: "},
			{"Origin: http://app.example.com"},
			{"Origin: https://app.example.com:8443"},
			{"Origin: https://app.example.com.evil.example"},
			{"Origin: https://app.example.com/"},
			{"Origin: http://localhost"}, // another port, so another page
			{"Origin: https://" + d.addr},
			{"Origin: " + own, "Origin: https://evil.example"},
			{"Origin: http://ktx.example.com", "Host: ktx.example.com"}, // same origin, but not loopback
		} {
			if got := d.ask(t, q.method, q.path, q.body, headers...); got.status != http.StatusForbidden || !strings.Contains(got.body, "origin_not_allowed") {
				t.Errorf("%s %s with %v: %d %s", q.method, q.path, headers, got.status, got.body)
			}
		}
	}
	for _, headers := range [][]string{
		nil,
		{"Origin: " + own},
		{"Origin: http://localhost:5", "Host: localhost:5"},
		{"Origin: https://app.example.com"},
		{"Origin: http://tools.example.com:8080"},
		{"Origin: https://default.example.com"},
	} {
		if got := d.ask(t, "GET", "/health", "", headers...); got.status != http.StatusOK {
			t.Errorf("with %v: %d %s", headers, got.status, got.body)
		}
	}
}

// TestPagesOfAllowedOrigins checks the answers to allowed origins. A browser
// asks before it sends a token, and the answer must say that the page may read
// the response.
func TestPagesOfAllowedOrigins(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) {
		c.AllowedOrigins = []string{"https://app.example.com"}
		c.Tokens = []httpapi.Token{{Principal: "token", Sum: httpapi.Sum("secret")}}
	})
	got := d.ask(t, "OPTIONS", "/mcp", "", "Origin: https://app.example.com", "Access-Control-Request-Method: POST")
	if got.status != http.StatusNoContent || got.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" || !strings.Contains(got.header.Get("Access-Control-Allow-Headers"), "Mcp-Session-Id") {
		t.Errorf("preflight: %d %v", got.status, got.header)
	}
	got = d.ask(t, "POST", "/mcp", "{}", "Origin: https://app.example.com")
	if got.status != http.StatusUnauthorized || got.header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("without a token: %d %v", got.status, got.header)
	}
	got = d.ask(t, "OPTIONS", "/mcp", "", "Origin: http://"+d.addr, "Access-Control-Request-Method: POST")
	if got.status != http.StatusUnauthorized || got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("own origin: %d %v", got.status, got.header)
	}
}

func TestBearerOnEveryRoute(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) {
		c.Tokens = []httpapi.Token{
			{Principal: "token", Sum: httpapi.Sum("secret")},
			{Principal: "analyst", Sum: httpapi.Sum("other"), Connections: []string{"shop"}},
		}
	})
	for _, q := range requests {
		if q.path == "/health" {
			continue
		}
		for _, test := range []struct{ header, hint string }{
			{"", "Authorization: Bearer TOKEN"},
			{"Authorization: Basic c2VjcmV0", "Authorization: Bearer TOKEN"},
			{"Authorization: Bearer", "environment of the client"},
			{"Authorization: Bearer  ", "environment of the client"},
			{"Authorization: Bearer wrong", "started with"},
			{"Authorization: Bearer secret2", "started with"},
			{"Authorization: Bearer Secret", "started with"},
			{"Authorization: Bearer ${KTX_MCP_TOKEN}", "set the variable KTX_MCP_TOKEN in"},
			{"Authorization: Bearer ${env:MY_TOKEN}", "set the variable MY_TOKEN in"},
			{"Authorization: Bearer ${KTX_MCP_TOKEN:-none}", "set the variable KTX_MCP_TOKEN in"},
			{"Authorization: Bearer {env:KTX_MCP_TOKEN}", "set the variable KTX_MCP_TOKEN in"},
			{"Authorization: Bearer $KTX_MCP_TOKEN", "set the variable KTX_MCP_TOKEN in"},
			{"Authorization: Bearer %KTX_MCP_TOKEN%", "set the variable KTX_MCP_TOKEN in"},
		} {
			var headers []string
			if test.header != "" {
				headers = append(headers, test.header)
			}
			got := d.ask(t, q.method, q.path, q.body, headers...)
			if got.status != http.StatusUnauthorized || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer ") || !strings.Contains(got.body, test.hint) {
				t.Errorf("%s %s with %q: %d %s", q.method, q.path, test.header, got.status, got.body)
			}
			if strings.Contains(got.body, "wrong") || strings.Contains(got.body, "secret") {
				t.Errorf("the answer repeats a token: %s", got.body)
			}
		}
		if got := d.ask(t, q.method, q.path, q.body, "Authorization: bearer secret"); got.status == http.StatusUnauthorized {
			t.Errorf("%s %s with the token: %d", q.method, q.path, got.status)
		}
	}
	got := d.ask(t, "POST", "/mcp", "{}", "Authorization: Bearer other", "Mcp-Protocol-Version: 2026-07-28")
	if got.body != "handled for analyst" {
		t.Errorf("handled as %q", got.body)
	}
	if got := d.ask(t, "GET", "/metrics", "", "Authorization: Bearer other"); got.status != http.StatusForbidden {
		t.Errorf("metrics for a principal of some connections: %d", got.status)
	}
	reasons := map[string]bool{}
	for _, e := range d.log.Events(audit.AuthDenied) {
		reasons[e.Reason] = true
		if e.Client.Transport != "http" || e.Client.Address == "" {
			t.Errorf("a refusal without an address: %+v", e)
		}
	}
	for _, want := range []string{"no_token", "wrong_token", "placeholder"} {
		if !reasons[want] {
			t.Errorf("no refusal is recorded as %s: %v", want, reasons)
		}
	}
}

// TestOrderOfChecks checks that each check comes before the next, so that a
// refused client learns nothing from later checks.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) {
		c.Tokens = []httpapi.Token{{Principal: "token", Sum: httpapi.Sum("secret")}}
		c.MaxBody = 100
	})
	long := strings.Repeat("x", 200)
	headers := []string{"Host: evil.example", "Origin: https://evil.example", "Authorization: Bearer wrong"}
	for _, test := range []struct {
		headers []string
		want    string
	}{
		{headers, "host_not_allowed"},
		{headers[1:], "origin_not_allowed"},
		{headers[2:], "unauthorized"},
		{[]string{"Authorization: Bearer secret"}, "body_too_large"},
	} {
		if got := d.ask(t, "POST", "/nothing", long, test.headers...); !strings.Contains(got.body, test.want) {
			t.Errorf("with %v: %d %s, want %s", test.headers, got.status, got.body, test.want)
		}
	}
	if got := d.ask(t, "POST", "/nothing", "short", "Authorization: Bearer secret"); got.status != http.StatusNotFound {
		t.Errorf("the route: %d", got.status)
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) {
		c.Tokens = []httpapi.Token{
			{Principal: "slow", Sum: httpapi.Sum("slow"), Requests: 3, Per: time.Hour},
			{Principal: "fast", Sum: httpapi.Sum("fast")},
		}
	})
	for i := range 4 {
		got := d.ask(t, "POST", "/v1/check", requests[2].body, "Authorization: Bearer slow", "Content-Type: application/json")
		if limited := got.status == http.StatusTooManyRequests; limited != (i == 3) || limited && got.header.Get("Retry-After") == "" {
			t.Errorf("request %d: %d %v", i, got.status, got.header)
		}
	}
	if got := d.ask(t, "DELETE", "/mcp", "", "Authorization: Bearer slow"); got.status == http.StatusTooManyRequests {
		t.Error("the request to end a session is refused")
	}
	if got := d.ask(t, "GET", "/metrics", "", "Authorization: Bearer fast"); got.status != http.StatusOK {
		t.Errorf("another principal: %d", got.status)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	const kind = "Content-Type: application/json; charset=utf-8"
	for _, test := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"dialect":"postgres","sql":"SELECT 1"}`, 200, `"allowed":true`},
		{`{"connectionId":"shop","sql":"DROP TABLE t"}`, 200, `"allowed":false`},
		{`{"connectionId":"unknown","sql":"x"}`, 400, `for local`},
		{`{"connectionId":"faulty","sql":"x"}`, 500, `internal_error`},
		{`{"sql":"SELECT 1"}`, 400, "dialect or connectionId is missing"},
		{`{"dialect":"postgres","connectionId":"shop","sql":"SELECT 1"}`, 400, "one of dialect and connectionId"},
		{`{"dialect":"postgres"}`, 400, "sql is missing"},
		{`{"dialect":"postgres","sql":"SELECT 1","policy":{}}`, 400, "policy"},
		{`{"dialect":"postgres","sql":"SELECT 1"} {}`, 400, "something follows"},
		{`[]`, 400, "not the JSON object"},
		{`nonsense`, 400, "not the JSON object"},
	} {
		got := d.ask(t, "POST", "/v1/check", test.body, kind)
		if got.status != test.status || !strings.Contains(got.body, test.want) || strings.Contains(got.body, "secret detail") {
			t.Errorf("%s: %d %s", test.body, got.status, got.body)
		}
	}
	if got := d.ask(t, "POST", "/v1/check", requests[2].body, "Content-Type: text/plain"); got.status != http.StatusUnsupportedMediaType {
		t.Errorf("as text: %d", got.status)
	}
	if got := d.ask(t, "GET", "/v1/check", ""); got.status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", got.status)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) { c.AllowedHosts = []string{"ktx.example.com"} })
	read := func(headers ...string) (h httpapi.Health) {
		got := d.ask(t, "GET", "/health", "", headers...)
		if err := json.Unmarshal([]byte(got.body), &h); err != nil || got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return h
	}
	if h := read(); h.Nonce != "nonce" || h.ProjectDir != "/project" || h.PID != 7 || h.Port == 0 || h.Status != "ok" || h.TokenAuth {
		t.Errorf("on this machine: %+v", h)
	}
	for _, far := range []string{"X-Forwarded-For: 203.0.113.1", "Forwarded: for=203.0.113.1", "Host: ktx.example.com"} {
		if h := read(far); h.Nonce != "" || h.ProjectDir != "" || h.PID != 0 || h.Port == 0 {
			t.Errorf("with %s: %+v", far, h)
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.metrics.Decided("shop", "")
	d.metrics.Decided("shop", sqlguard.CodeWriteStatement)
	d.metrics.Took("shop", "judge", time.Millisecond)
	d.metrics.Finished("shop", "", 5, 70)
	d.metrics.Finished("shop", sqlguard.CodeCancelled, 0, 0)
	d.ask(t, "GET", "/health", "", "Host: evil.example")
	got := d.ask(t, "GET", "/metrics", "")
	for _, want := range []string{
		`ktx_decisions_total{code="allow",connection="shop"} 1`,
		`ktx_decisions_total{code="write_statement",connection="shop"} 1`,
		`ktx_step_seconds_count{step="judge"} 1`,
		`ktx_statements_total{connection="shop",outcome="ok"} 1`,
		`ktx_statements_total{connection="shop",outcome="cancelled"} 1`,
		`ktx_cancels_total{connection="shop"} 1`,
		`ktx_rows_total{connection="shop"} 5`,
		`ktx_bytes_total{connection="shop"} 70`,
		`ktx_queue_running{connection="shop"} 2`,
		`ktx_queue_waiting{connection="shop"} 3`,
		`ktx_audit_unflushed_events 4`,
		`ktx_audit_lost_events 1`,
		`ktx_http_sessions 0`,
		`ktx_http_denied_total{reason="host"} 1`,
		`go_goroutines`,
	} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	token := httpapi.Token{Principal: "a", Sum: httpapi.Sum("x")}
	for name, change := range map[string]func(*httpapi.Config){
		"every address without a token": func(c *httpapi.Config) { c.Host = "0.0.0.0" },
		"no host without a token":       func(c *httpapi.Config) { c.Host = "" },
		"a name without a token":        func(c *httpapi.Config) { c.Host = "ktx.example.com" },
		"an origin with a path":         func(c *httpapi.Config) { c.AllowedOrigins = []string{"https://a.example/x"} },
		"any origin":                    func(c *httpapi.Config) { c.AllowedOrigins = []string{"*"} },
		"origins by pattern":            func(c *httpapi.Config) { c.AllowedOrigins = []string{"https://*.example.com"} },
		"an origin without a scheme":    func(c *httpapi.Config) { c.AllowedOrigins = []string{"app.example.com"} },
		"the origin null":               func(c *httpapi.Config) { c.AllowedOrigins = []string{"null"} },
		"any host":                      func(c *httpapi.Config) { c.AllowedHosts = []string{"*"} },
		"a host with a scheme":          func(c *httpapi.Config) { c.AllowedHosts = []string{"https://a.example"} },
		"an empty host":                 func(c *httpapi.Config) { c.AllowedHosts = []string{""} },
		"one token for two": func(c *httpapi.Config) {
			c.Tokens = []httpapi.Token{token, {Principal: "b", Sum: token.Sum}}
		},
		"a token of nobody": func(c *httpapi.Config) { c.Tokens = []httpapi.Token{{Sum: token.Sum}} },
		"no log":            func(c *httpapi.Config) { c.Log = nil },
	} {
		c := httpapi.Config{
			Host: "127.0.0.1", Stateless: echo, Checker: judge{}, Log: &audittest.Log{}, Logger: slog.New(slog.DiscardHandler),
			Metrics: httpapi.NewMetrics(func() []httpapi.Queue { return nil }, func() audit.Health { return audit.Health{} }),
		}
		change(&c)
		if _, err := httpapi.New(c); err == nil {
			t.Errorf("%s is served", name)
		}
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.8.9.1": true, "::1": true, "[::1]": true, "localhost": true, "LocalHost": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "localhost.example.com": false, "10.0.0.1": false, "127.0.0.1.example.com": false,
	} {
		if got := httpapi.Loopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

// TestStoppingIsRecorded: a request that the server refuses because it stops leaves an
// event that says who sent it.
func TestStoppingIsRecorded(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) {
		c.Tokens = []httpapi.Token{{Principal: "analyst", Sum: httpapi.Sum("secret")}}
		c.Routes = []httpapi.Route{{Method: http.MethodPost, Path: "/v1/tools", Handler: echo, Runs: true}}
	})
	d.stop()
	d.ended <- <-d.ended
	for _, path := range []string{"/mcp", "/v1/tools"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1"+path, strings.NewReader("{}"))
		r.Header.Set("Authorization", "Bearer secret")
		w := httptest.NewRecorder()
		d.server.ServeHTTP(w, r)
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "draining") || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	list := d.log.Events(audit.AuthDenied)
	if len(list) != 2 {
		t.Fatalf("%d events, want 2: %+v", len(list), list)
	}
	for _, e := range list {
		if e.Reason != "draining" || e.Principal != "analyst" || e.Client.Address == "" {
			t.Errorf("event %+v", e)
		}
	}
}

// TestAnswersAboutSessionsHaveTheID: an answer about a session belongs to the request that was
// sent, and has its ID as it was written. A notification has none.
func TestAnswersAboutSessionsHaveTheID(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) {
		c.Tokens = []httpapi.Token{{Principal: "analyst", Sum: httpapi.Sum("secret")}}
		c.Sessions = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request without a session arrived") })
	})
	for _, session := range []string{"", "unknown"} {
		for id, want := range map[string]string{
			`"id":7,`: "7", `"id":"a b",`: `"a b"`, `"id":1.50,`: "1.50", `"id":-3,`: "-3", `"id":null,`: "null", "": "null", `"id":[1],`: "null", `"id":{"a":1},`: "null", `"id":true,`: "null",
		} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(`{"jsonrpc":"2.0",`+id+`"method":"tools/list"}`))
			r.Header.Set("Authorization", "Bearer secret")
			r.Header.Set("Content-Type", "application/json")
			status := http.StatusBadRequest
			if session != "" {
				r.Header.Set("Mcp-Session-Id", session)
				status = http.StatusNotFound
			}
			w := httptest.NewRecorder()
			d.server.ServeHTTP(w, r)
			if w.Code != status || !strings.Contains(w.Body.String(), `"id":`+want+`,`) {
				t.Errorf("session %q, %s: %d %s", session, id, w.Code, w.Body)
			}
		}
	}
}

// TestTooManySessions: a client that finds every session in use is told to come back, and
// the log has that it was refused.
func TestTooManySessions(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}), make(chan struct{})
	d := newDesk(t, func(c *httpapi.Config) {
		c.Tokens = []httpapi.Token{{Principal: "analyst", Sum: httpapi.Sum("secret")}}
		c.MaxSessions = 1
		c.Sessions = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				return // the end of the session
			}
			begun <- struct{}{}
			<-end
			w.Header().Set("Mcp-Session-Id", "one")
			w.WriteHeader(http.StatusOK)
		})
	})
	initialize := func() *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`))
		r.Header.Set("Authorization", "Bearer secret")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		d.server.ServeHTTP(w, r)
		return w
	}
	first := make(chan *httptest.ResponseRecorder)
	go func() { first <- initialize() }()
	<-begun
	if w := initialize(); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "too_many_sessions") || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	close(end)
	if w := <-first; w.Code != http.StatusOK {
		t.Errorf("the first session: %d %s", w.Code, w.Body)
	}
	list := d.log.Events(audit.AuthDenied)
	if len(list) != 1 || list[0].Reason != "sessions" || list[0].Principal != "analyst" {
		t.Errorf("events %+v", list)
	}
}
