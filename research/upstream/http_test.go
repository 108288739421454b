package upstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/research/upstream"
)

// remote is an MCP server by HTTP, made with the SDK.
type remote struct {
	handler   atomic.Pointer[http.Handler]
	cancelled chan struct{}
	progress  chan struct{} // the notification has arrived
	posts     atomic.Int32
}

func (r *remote) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Header.Get("Authorization") != "Bearer secret-of-headers" {
		http.Error(w, "who are you", http.StatusUnauthorized)
		return
	}
	if req.Method == http.MethodPost {
		r.posts.Add(1)
	}
	(*r.handler.Load()).ServeHTTP(w, req)
}

// restart forgets all sessions.
func (r *remote) restart(sse bool) {
	s := mcp.NewServer(&mcp.Implementation{Name: "remote", Version: "1"}, nil)
	add := func(name string, handle mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, handle)
	}
	add("precise", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "x"}}, StructuredContent: json.RawMessage(`{"n":9007199254740993}`)}, nil
	})
	add("big", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("b", 9<<20)}}}, nil
	})
	add("hang", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r.cancelled <- struct{}{} // it began
		<-ctx.Done()
		r.cancelled <- struct{}{}
		return nil, ctx.Err()
	})
	add("progress", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: 1, Message: "half"})
		<-r.progress // the SDK does not keep an answer behind a notification
		return &mcp.CallToolResult{}, nil
	})
	var h http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	if sse {
		h = mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil)
	}
	r.handler.Store(&h)
}

func TestHTTP(t *testing.T) {
	for _, sse := range []bool{false, true} {
		t.Run(map[bool]string{false: "streamable", true: "sse"}[sse], func(t *testing.T) {
			r := &remote{cancelled: make(chan struct{}, 2), progress: make(chan struct{}, 1)}
			r.restart(sse)
			web := httptest.NewServer(r)
			t.Cleanup(web.Close)
			s := upstream.Server{
				Name: "bad", URL: value(web.URL + "/mcp?key=secret-of-url"), Headers: map[string]upstream.Value{"Authorization": value("Bearer secret-of-headers")}, Timeout: time.Minute,
			}
			w := manage(t, one(s))
			w.works("precise", "", `"structuredContent":{"n":9007199254740993}`)
			var got []string
			if _, err := w.Call(t.Context(), upstream.Request{Server: "bad", Tool: "progress", Progress: func(_ float64, message string) {
				got = append(got, message)
				r.progress <- struct{}{}
			}}); err != nil || len(got) != 1 || got[0] != "half" {
				t.Errorf("got %q, %v", got, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-r.cancelled
				cancel()
			}()
			if _, err := w.Call(ctx, upstream.Request{Server: "bad", Tool: "hang"}); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			<-r.cancelled
			for range 2 { // the call that follows finds no connection that the long answer broke
				w.fails(upstream.CodeResultTooLarge, "big", "")
				w.works("precise", "", "9007199254740993")
			}
			if !sse { // the server forgets the session, and answers 404
				r.restart(sse)
				w.works("precise", "", "9007199254740993")
			}
			if !sse {
				broken := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusServiceUnavailable) }))
				works := r.handler.Swap(&broken)
				if e := w.failure(upstream.CodeServerConnection, "precise", ""); !e.Retryable || !strings.Contains(e.Message, "HTTP status 503") {
					t.Errorf("got %+v", e)
				}
				r.handler.Store(works)
				w.works("precise", "", "9007199254740993")
			}
			web.CloseClientConnections()
			web.Close()
			until(t, "the server is missed", func() bool {
				_, err := w.call("precise", "")
				if err == nil {
					return false
				}
				if strings.Contains(err.Error(), "rejected by transport") {
					t.Error(err)
				}
				for _, secret := range []string{"secret-of-url", "secret-of-headers"} {
					if all := err.Error() + w.text.String(); strings.Contains(all, secret) {
						t.Fatalf("%s is shown: %s", secret, all)
					}
				}
				own, ok := errors.AsType[*upstream.Error](err)
				return ok && own.Code == upstream.CodeServerConnection
			})
		})
	}
}

func TestHTTPRefusals(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		t.Errorf("another host got %s %s with %v", req.Method, req.URL, req.Header)
	}))
	t.Cleanup(other.Close)
	for name, handle := range map[string]http.HandlerFunc{
		"redirect": func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, other.URL+"/mcp", http.StatusTemporaryRedirect)
		},
		"endpoint": func(w http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodPost {
				http.Error(w, "", http.StatusMethodNotAllowed)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("event: endpoint\ndata: " + other.URL + "/messages\n\n"))
		},
		"unauthorized": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusUnauthorized) },
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for {
				if _, err := w.Write([]byte(strings.Repeat(" ", 1<<20))); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(handle)
			t.Cleanup(web.Close)
			t.Cleanup(web.CloseClientConnections)
			s := upstream.Server{Name: "bad", URL: value(web.URL), Headers: map[string]upstream.Value{"Authorization": value("Bearer secret-of-headers")}, Timeout: 5 * time.Second}
			w := manage(t, one(s))
			w.fails(upstream.CodeServerConnection, "x", "")
		})
	}
	w := manage(t, one(upstream.Server{Name: "bad", URL: func() (string, error) { return "", errors.New("environment variable X is not set") }}))
	w.fails(upstream.CodeConfiguration, "x", "")
}

// TestHTTPFlood: a server that answers with events without end is read slowly.
func TestHTTPFlood(t *testing.T) {
	var wrote atomic.Int64
	event := "data: " + `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + strings.Repeat("flood ", 10_000) + `"}}` + "\n\n"
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodPost {
			http.Error(w, "", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			n, err := w.Write([]byte(event))
			wrote.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	t.Cleanup(web.Close)
	start := time.Now()
	w := manage(t, one(upstream.Server{Name: "bad", URL: value(web.URL), Transport: upstream.TransportStreamable, Timeout: time.Second}))
	w.fails(upstream.CodeServerConnection, "x", "")
	w.Close()
	// The buffers of both ends hold some of it.
	if most := 24<<20 + time.Since(start).Milliseconds()<<20/1000; wrote.Load() > most {
		t.Errorf("ktx read about %d bytes of it, more than %d", wrote.Load(), most)
	}
}
