package streamable

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/ktxhq/ktx/cmd/ktx/internal/rpc"
)

const (
	sessionHeader    = "Mcp-Session-Id"
	methodInitialize = "initialize"
	methodCancelled  = "notifications/cancelled"
	// codeNoSession is the code for a session that does not exist.
	codeNoSession = -32001
)

// answerer stands before a handler of the SDK. It turns the SDK's refusals, which
// are plain text, into JSON-RPC errors, keeps the form of IDs, and holds back the
// answer to a request that the client cancelled.
type answerer struct {
	next    http.Handler
	writing *writing
	direct  *direct // nil: every call goes through the SDK

	mu      sync.Mutex
	pending map[string]*request // by session and ID, the requests of sessions without an answer
}

// request is a request without an answer.
type request struct {
	cancelled atomic.Bool
	cancel    context.CancelFunc // nil for a request that the SDK has
}

func newAnswerer(writing *writing, direct *direct, next http.Handler) *answerer {
	return &answerer{next: next, writing: writing, direct: direct, pending: map[string]*request{}}
}

// ServeHTTP implements http.Handler.
func (a *answerer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &answer{ResponseWriter: w}
	defer out.finish()
	r.Header.Del(answerHeader)
	if r.Method != http.MethodPost {
		if r.Method == http.MethodDelete && a.direct != nil {
			defer a.direct.forget(r.Header.Get(sessionHeader))()
		}
		a.next.ServeHTTP(out, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
		a.next.ServeHTTP(out, r)
		return
	}
	if text := bytes.TrimSpace(body); len(text) > 0 && json.Valid(text) {
		if m, ok := rpc.Split(text); ok {
			out.method, _ = rpc.Unquote(m.Method)
			defer out.forget()
			if a.answerDirectly(out, r, m) {
				return
			}
			body = a.note(out, r.Header.Get(sessionHeader), m, body)
		}
	} else {
		out.notJSON = true
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	defer a.writing.begin(&out.late, r.Header)()
	a.next.ServeHTTP(out, r)
}

// failing fails to be read.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// note prepares out for a message, and returns the body that the SDK reads in place
// of body.
func (a *answerer) note(out *answer, session string, m rpc.Members, body []byte) []byte {
	id, ok := rpc.MakeID(m.ID)
	if !ok || out.method == "" {
		return body
	}
	if !id.IsValid() {
		if out.method == methodCancelled && session != "" {
			return a.cancel(session, m, body)
		}
		return body
	}
	out.id = append(json.RawMessage(nil), m.ID...)
	if session != "" && out.method != methodInitialize { // which cannot be cancelled
		a.remember(out, key(session, id), nil)
	}
	if text, ok := id.Raw().(string); !ok || !strings.HasPrefix(text, "\x00") {
		return body // the SDK keeps it
	}
	known, err := rpc.Compact(id.Raw())
	if err != nil {
		return body
	}
	out.known = append([]byte(`{"jsonrpc":"2.0","id":`), known...)
	return message(m, known, m.Params)
}

// message returns a message with another ID and other parameters.
func message(m rpc.Members, id, params []byte) []byte {
	b := append([]byte(`{"jsonrpc":`), m.Version...)
	if len(id) > 0 {
		b = append(append(b, `,"id":`...), id...)
	}
	b = append(append(b, `,"method":`...), m.Method...)
	if len(params) > 0 {
		b = append(append(b, `,"params":`...), params...)
	}
	return append(b, '}')
}

// remember keeps the request of out until it is answered, unless one with its ID is
// kept: the second of two requests with one ID is refused.
func (a *answerer) remember(out *answer, key string, cancel context.CancelFunc) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pending[key] != nil {
		return false
	}
	kept := &request{cancel: cancel}
	a.pending[key], out.cancelled = kept, &kept.cancelled
	out.forgetting = func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.pending, key)
	}
	return true
}

// cancel marks the request that a notification cancels, and returns the notification
// with the ID by which the SDK knows the request.
func (a *answerer) cancel(session string, m rpc.Members, body []byte) []byte {
	id, ok := rpc.MakeID(rpc.Member(m.Params, "requestId"))
	if !ok || !id.IsValid() {
		return body
	}
	a.mu.Lock()
	kept := a.pending[key(session, id)]
	a.mu.Unlock()
	params, err := rpc.Compact(map[string]any{"requestId": id.Raw()})
	if kept == nil || err != nil {
		return body
	}
	kept.cancelled.Store(true)
	if kept.cancel != nil {
		kept.cancel()
	}
	return message(m, nil, params)
}

func key(session string, id jsonrpc.ID) string {
	if n, ok := id.Raw().(int64); ok {
		return session + " " + strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%s %T %v", session, id.Raw(), id.Raw())
}

// answer is the answer to one request.
type answer struct {
	http.ResponseWriter
	method     string          // of the request; "" when it could not be read
	id         json.RawMessage // of the request; nil for a notification
	known      []byte          // how an answer of the SDK begins when it has another ID
	notJSON    bool            // the body of the request is not JSON
	late       rpc.Late        // the content of the response, until it is written
	cancelled  *atomic.Bool    // nil for what cannot be cancelled
	forgetting func()
	responded  bool // the response is written

	status  int // of a refusal in plain text
	refusal bytes.Buffer
}

// Unwrap lets http.ResponseController find the connection.
func (w *answer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter. It holds back a refusal in plain text.
func (w *answer) WriteHeader(status int) {
	if kind, _, err := mime.ParseMediaType(w.Header().Get("Content-Type")); status >= http.StatusBadRequest && err == nil && kind == "text/plain" {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// FlushError implements what http.ResponseController uses. After the response to the
// request nothing follows, so the end of the stream sends both at once.
func (w *answer) FlushError() error {
	if w.responded {
		return nil
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// isResponse reports whether an event of a stream holds a JSON-RPC response, as the
// SDK writes it.
func isResponse(event []byte) bool {
	_, data, ok := bytes.Cut(event, []byte("data: "))
	if !ok {
		return false
	}
	id, ok := bytes.CutPrefix(data, []byte(`{"jsonrpc":"2.0","id":`))
	if !ok {
		return false
	}
	var end int
	if len(id) > 0 && id[0] == '"' {
		for end = 1; end < len(id) && id[end] != '"'; end++ {
			if id[end] == '\\' {
				end++
			}
		}
		end++
	} else {
		end = bytes.IndexByte(id, ',')
	}
	if end < 0 || end > len(id) {
		return false
	}
	rest := id[end:]
	return bytes.HasPrefix(rest, []byte(`,"result":`)) || bytes.HasPrefix(rest, []byte(`,"error":`))
}

// Write implements http.ResponseWriter.
func (w *answer) Write(p []byte) (int, error) {
	w.responded = w.responded || w.id != nil && isResponse(p)
	text := p
	switch {
	case w.status != 0:
		return w.refusal.Write(p)
	case w.cancelled != nil && w.cancelled.Load():
		return len(p), nil
	case w.known != nil:
		text = bytes.Replace(p, w.known, append([]byte(`{"jsonrpc":"2.0","id":`), w.id...), 1)
	}
	if _, err := w.late.Message(text).WriteTo(w.ResponseWriter); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *answer) forget() {
	if w.forgetting != nil {
		w.forgetting()
	}
}

// finish sends a refusal that was held back, as JSON.
func (w *answer) finish() {
	if w.status == 0 {
		return
	}
	text := strings.TrimSpace(w.refusal.String())
	problem := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: text}
	status := w.status
	switch {
	case status == http.StatusBadRequest && w.method != "" && strings.HasSuffix(text, strconv.Quote(w.method)+" unsupported"):
		if w.id == nil { // a notification is not answered
			w.send(http.StatusAccepted, nil)
			return
		}
		// Clients take another status than 200 for a fault of the transport.
		status, problem = http.StatusOK, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + strconv.Quote(w.method)}
	case status == http.StatusBadRequest && w.notJSON:
		problem = &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "Parse error: the body is not JSON"}
	case status == http.StatusNotFound:
		problem.Code = codeNoSession
	case status >= http.StatusInternalServerError:
		problem.Code = jsonrpc.CodeInternalError
	}
	line, err := rpc.Encode(&jsonrpc.Response{Error: problem})
	if err == nil && w.id != nil {
		line = bytes.Replace(line, []byte(`"id":null`), append([]byte(`"id":`), w.id...), 1)
	}
	w.send(status, line)
}

func (w *answer) send(status int, body []byte) {
	h := w.Header()
	h.Del("Content-Length")
	h.Del("Content-Type")
	if body != nil {
		h.Set("Content-Type", "application/json")
	}
	w.ResponseWriter.WriteHeader(status)
	_, _ = w.ResponseWriter.Write(body)
}
