package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
)

// The headers that decide which handler answers an MCP request.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
)

// firstStateless is the first protocol version without sessions. Versions are
// dates, so later ones compare greater.
const firstStateless = "2026-07-28"

// mcp hands a request to the handler of its protocol version.
func (s *Server) mcp(w http.ResponseWriter, r *http.Request) {
	if s.draining.ctx.Err() != nil {
		s.refuseStopping(w, r)
		return
	}
	if r.Method == http.MethodGet {
		// A stream that only waits for messages must not delay the server's
		// stop.
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.draining.ctx, cancel)()
		r = r.WithContext(ctx)
	}
	r.Header.Del(callHeader)
	stateless := r.Header.Get(sessionHeader) == "" && r.Header.Get(versionHeader) >= firstStateless
	if s.config.Sessions == nil || stateless {
		s.stateless(w, r)
		return
	}
	s.sessions.serve(w, r)
}

// headerWriter calls onHeader before the header of an answer is sent.
type headerWriter struct {
	http.ResponseWriter
	onHeader func(h http.Header, status int) // nil after the call
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

// rpcError answers with a JSON-RPC error that belongs to the request with this ID, or to none.
func rpcError(w http.ResponseWriter, status, code int, id json.RawMessage, message string) {
	type object struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	respond(w, status, struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   object          `json:"error"`
	}{"2.0", id, object{code, message}})
}

// requestID returns the ID of the request in a body as it was written, or null: of a
// notification, of an answer, and of what is no request.
func requestID(body []byte) json.RawMessage {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := json.Unmarshal(body, &m); err == nil && m.Method != "" && len(m.ID) > 0 {
		if c := m.ID[0]; c == '"' || c == '-' || c >= '0' && c <= '9' {
			return m.ID
		}
	}
	return json.RawMessage("null")
}

// The codes of [rpcError].
const (
	rpcParse          = -32700
	rpcInvalidRequest = -32600
	rpcNoSession      = -32001
)
