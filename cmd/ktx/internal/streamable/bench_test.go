package streamable_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/streamable"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/httpapi"
)

// nothing is a server of the SDK with the tool sql_execution as agents see it,
// which does nothing.
func nothing(b *testing.B) *mcp.Server {
	b.Helper()
	text, err := os.ReadFile(filepath.FromSlash("../../../../research/testdata/tools.golden.json"))
	if err != nil {
		b.Fatal(err)
	}
	var tools []*mcp.Tool
	if err := json.Unmarshal(text, &tools); err != nil {
		b.Fatal(err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	for _, tool := range tools {
		if tool.Name == "sql_execution" {
			tool.OutputSchema = nil // nothing has none
			server.AddTool(tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "nothing"}}}, nil
			})
			return server
		}
	}
	b.Fatal("there is no tool sql_execution")
	return nil
}

// listen returns a free port of this machine.
func listen(b *testing.B) net.Listener {
	b.Helper()
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	return l
}

// throughSDK serves the SDK's handler with its own settings and nothing before
// it, and returns its address.
func throughSDK(b *testing.B, stateless bool) string {
	b.Helper()
	tools := nothing(b)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &mcp.StreamableHTTPOptions{Stateless: stateless})
	l, server := listen(b), &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	b.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			b.Error(err)
		}
	})
	return "http://" + l.Addr().String() + "/mcp"
}

// throughDesk serves the same tool behind everything that ktx mcp start has
// before its tools, and returns its address.
func throughDesk(b *testing.B) string {
	b.Helper()
	log := slog.New(slog.DiscardHandler)
	handlers := streamable.New(nothing(b), log, nil)
	s, err := httpapi.New(httpapi.Config{
		Host: "127.0.0.1", Sessions: handlers.Sessions, Stateless: handlers.Stateless, Checker: judge{}, Log: &audittest.Log{}, Logger: log,
		Tokens:  []httpapi.Token{{Principal: "analyst", Sum: httpapi.Sum("secret"), Connections: []string{"shop"}, Requests: 1 << 30, Per: time.Second}},
		Metrics: httpapi.NewMetrics(func() []httpapi.Queue { return nil }, func() audit.Health { return audit.Health{} }),
	})
	if err != nil {
		b.Fatal(err)
	}
	l := listen(b)
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	b.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	return "http://" + l.Addr().String() + "/mcp"
}

// caller makes the same call again and again on one connection.
type caller struct {
	client http.Client
	call   *http.Request
	body   []byte
}

// newCaller shakes hands, where the version does.
func newCaller(b *testing.B, url, version string) *caller {
	b.Helper()
	c := &caller{client: http.Client{Transport: &http.Transport{}}}
	b.Cleanup(c.client.CloseIdleConnections)
	request := func(body, session string, headers ...string) *http.Request {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer secret", "Mcp-Session-Id": session} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return r
	}
	const arguments = `{"connectionId":"shop","sql":"SELECT status, count(*) FROM orders GROUP BY status"}`
	if version == "2026-07-28" {
		c.body = []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sql_execution","arguments":` + arguments + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
		c.call = request("", "", "Mcp-Protocol-Version", version, "Mcp-Method", "tools/call", "Mcp-Name", "sql_execution")
		return c
	}
	res, err := c.client.Do(request(initialize, ""))
	if err != nil || res.StatusCode != http.StatusOK {
		b.Fatalf("initialize: %v %v", res, err)
	}
	id := res.Header.Get("Mcp-Session-Id")
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if res, err = c.client.Do(request(ready, id)); err != nil || res.StatusCode != http.StatusAccepted {
		b.Fatalf("initialized: %v %v", res, err)
	}
	_ = res.Body.Close()
	c.body = []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sql_execution","arguments":` + arguments + `}}`)
	c.call = request("", id, "Mcp-Protocol-Version", version)
	return c
}

// took makes a call and returns how long it took.
func (c *caller) took(b *testing.B) time.Duration {
	b.Helper()
	c.call.Body, c.call.ContentLength = io.NopCloser(bytes.NewReader(c.body)), int64(len(c.body))
	start := time.Now()
	res, err := c.client.Do(c.call)
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	took := time.Since(start)
	_ = res.Body.Close()
	if err != nil || !bytes.Contains(text, []byte(`"nothing"`)) {
		b.Fatalf("%d %s %v", res.StatusCode, text, err)
	}
	return took
}

// BenchmarkLatency reports the time of a call that does nothing, behind the
// front desk, as a multiple of the same with the SDK's handler alone, in turns.
func BenchmarkLatency(b *testing.B) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		b.Run(version, func(b *testing.B) {
			bare := newCaller(b, throughSDK(b, version == "2026-07-28"), version)
			desk := newCaller(b, throughDesk(b), version)
			for range 200 { // both are warm
				bare.took(b)
				desk.took(b)
			}
			var with, without []time.Duration
			for b.Loop() {
				without = append(without, bare.took(b))
				with = append(with, desk.took(b))
			}
			slices.Sort(with)
			slices.Sort(without)
			for name, at := range map[string]int{"p50": 50, "p99": 99} {
				w, o := with[len(with)*at/100], without[len(without)*at/100]
				b.ReportMetric(float64(o.Nanoseconds()), "sdk-ns-"+name)
				b.ReportMetric(float64(w)/float64(o), name)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
