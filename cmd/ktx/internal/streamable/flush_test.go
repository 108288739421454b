package streamable_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/streamable"
)

// flushed is an answer that keeps what was written before each flush.
type flushed struct {
	*httptest.ResponseRecorder
	before []string
}

// FlushError implements what http.ResponseController uses.
func (f *flushed) FlushError() error {
	f.before = append(f.before, f.Body.String())
	return nil
}

// TestOnlyNotificationsAreFlushed: a notification is sent at once, and the response
// with the end of its stream.
func TestOnlyNotificationsAreFlushed(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "step", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if token := req.Params.GetProgressToken(); token != nil {
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Message: "result"})
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "data: over"}}}, nil
	})
	handler := streamable.New(server, slog.New(slog.DiscardHandler), nil).Stateless
	for _, id := range []string{`7`, `"x"`, `"a\",\"b"`, `1.5`} {
		for _, c := range []struct {
			call    string
			flushes int
		}{
			{`"method":"tools/list"`, 0},
			{`"method":"no/such"`, 0},
			{`"method":"tools/call","params":{"name":"step"}`, 0},
			{`"method":"tools/call","params":{"name":"step","_meta":{"progressToken":"p"}}`, 1},
		} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":`+id+`,`+c.call+`}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			w := &flushed{ResponseRecorder: httptest.NewRecorder()}
			handler.ServeHTTP(w, r)
			if len(w.before) != c.flushes || c.flushes > 0 && (!strings.Contains(w.before[0], "notifications/progress") || strings.Contains(w.before[0], "over")) {
				t.Errorf("%s, %s: flushed after %q", id, c.call, w.before)
			}
			if !strings.Contains(w.Body.String(), `"id":`+id) {
				t.Errorf("%s, %s answered %s", id, c.call, w.Body)
			}
		}
	}
}
