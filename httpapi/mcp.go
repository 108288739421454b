package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
)

// The headers that decide who answers a request of MCP.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
)

// firstStateless is the first protocol version without sessions. Versions are
// dates, so that later ones sort behind it.
const firstStateless = "2026-07-28"

// mcp hands a request to the handler of its protocol version.
func (s *Server) mcp(w http.ResponseWriter, r *http.Request) {
	if s.draining.ctx.Err() != nil {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, Problem{Code: "draining", Message: "the server is stopping"})
		return
	}
	if r.Method == http.MethodGet {
		// A stream that only waits for what may come does not hold up a stop.
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.draining.ctx, cancel)()
		r = r.WithContext(ctx)
	}
	stateless := r.Header.Get(sessionHeader) == "" && r.Header.Get(versionHeader) >= firstStateless
	if s.config.Sessions == nil || stateless {
		s.config.Stateless.ServeHTTP(w, r.WithContext(until(r.Context(), s.ending.ctx)))
		return
	}
	s.sessions.serve(w, r)
}

type endKey struct{}

// until returns a context that carries the one that [Bound] goes by.
func until(ctx, end context.Context) context.Context { return context.WithValue(ctx, endKey{}, end) }

// Bound returns a context that ends with ctx, and when the session or the
// server that ctx belongs to ends. Handlers of MCP work under it: the context
// that they get of the SDK outlives the request, so that a dropped connection
// cancels nothing, and would outlive the session as well.
func Bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	end, ok := ctx.Value(endKey{}).(context.Context)
	if !ok {
		return ctx, cancel
	}
	stop := context.AfterFunc(end, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// headerWriter tells of an answer's header before it goes out.
type headerWriter struct {
	http.ResponseWriter
	onHeader func(h http.Header, status int) // nil once it was told
}

// Unwrap lets http.ResponseController find the connection.
func (w *headerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *headerWriter) WriteHeader(status int) {
	w.tell(status)
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *headerWriter) Write(p []byte) (int, error) {
	w.tell(http.StatusOK)
	return w.ResponseWriter.Write(p)
}

func (w *headerWriter) tell(status int) {
	if w.onHeader != nil {
		w.onHeader(w.Header(), status)
		w.onHeader = nil
	}
}

// rpcError answers with an error of JSON-RPC that belongs to no request.
func rpcError(w http.ResponseWriter, status, code int, message string) {
	type object struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	respond(w, status, struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   object          `json:"error"`
	}{"2.0", json.RawMessage("null"), object{code, message}})
}

// The codes of [rpcError].
const (
	rpcParse          = -32700
	rpcInvalidRequest = -32600
	rpcNoSession      = -32001
)
