package streamable

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/rpc"
	"github.com/ktxhq/ktx/httpapi"
)

// direct answers plain calls of tools without the SDK, in sessions whose client is
// known. The answer is one JSON object, which the protocol permits in place of a
// stream.
type direct struct {
	tools   rpc.Tools
	workers *rpc.Workers // of the process: they are not closed

	mu       sync.Mutex
	sessions map[string]*known
}

// known is a session whose client is known.
type known struct {
	ctx   context.Context //nolint:containedctx // that of the session, for its calls
	calls sync.WaitGroup
}

// middleware learns who the client of a session is.
func (d *direct) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if params, ok := req.GetParams().(*mcp.InitializeParams); ok && err == nil && method == methodInitialize && req.GetSession().ID() != "" {
			k := &known{ctx: d.tools.For(context.WithoutCancel(ctx), params.ClientInfo)}
			d.mu.Lock()
			d.sessions[req.GetSession().ID()] = k
			d.mu.Unlock()
		}
		return res, err
	}
}

// enter returns the session of a request that may be answered directly, or nil. The
// caller ends the count of the call.
func (d *direct) enter(h http.Header) *known {
	if !plain(h) {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.sessions[h.Get(sessionHeader)]
	if k != nil {
		k.calls.Add(1)
	}
	return k
}

// forget ends a session. The function that it returns waits for the calls of the
// session, which httpapi has cancelled.
func (d *direct) forget(session string) (wait func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.sessions[session]
	delete(d.sessions, session)
	if k == nil {
		return func() {}
	}
	return k.calls.Wait
}

// plain reports whether a request has the headers of a plain call, as clients send it.
// All others are left to the SDK, which may accept them too.
func plain(h http.Header) bool {
	for name, values := range h {
		switch {
		case len(values) > 1, name == "Last-Event-Id":
			return false
		case strings.HasPrefix(name, "Mcp-") && name != sessionHeader && name != versionHeader:
			return false
		}
	}
	switch h.Get(versionHeader) {
	case "", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25":
	default:
		return false
	}
	return h.Get("Content-Type") == kindJSON && h.Get("Accept") == kindJSON+", "+kindStream
}

const (
	versionHeader = "Mcp-Protocol-Version"
	kindJSON      = "application/json"
	kindStream    = "text/event-stream"
)

// answerDirectly answers a request, and reports whether it did.
func (a *answerer) answerDirectly(out *answer, r *http.Request, m rpc.Members) bool {
	if a.direct == nil {
		return false
	}
	id, ok := rpc.MakeID(m.ID)
	if !ok || !id.IsValid() || string(m.Version) != `"2.0"` {
		return false
	}
	call, ok := rpc.PlainCall(out.method, m.Params)
	if !ok || !a.direct.tools.Has(call.Name) || call.Token != nil { // progress needs a stream
		return false
	}
	k := a.direct.enter(r.Header)
	if k == nil {
		return false
	}
	ctx, leave := httpapi.Bound(k.ctx, r.Header)
	ctx, cancel := context.WithCancel(ctx)
	end := func() {
		cancel()
		leave()
		k.calls.Done()
	}
	if !a.remember(out, key(r.Header.Get(sessionHeader), id), cancel) {
		end()
		out.send(http.StatusBadRequest, rpc.ErrorTo(id, jsonrpc.CodeInvalidRequest, "a request with this ID is not answered yet"))
		return true
	}
	// A client may leave first and cancel the call then.
	forget := out.forgetting
	out.forgetting = nil
	done := make(chan *mcp.CallToolResult, 1)
	a.direct.workers.Go(func() {
		res := a.direct.tools.Call(ctx, call.Name, call.Arguments, nil)
		forget() // before the answer, after which the client may use the ID again
		end()
		done <- res
	})
	select {
	case res := <-done:
		a.answer(out, rpc.AnswerTo(id, res))
	case <-r.Context().Done(): // the call goes on: httpapi decides when it ends
	}
	return true
}

func (*answerer) answer(out *answer, m rpc.Message) {
	h := out.Header()
	h.Set("Cache-Control", "no-cache, no-transform")
	if out.cancelled.Load() {
		h.Set("Content-Type", kindStream)
		out.WriteHeader(http.StatusOK)
		return
	}
	h.Set("Content-Type", kindJSON)
	_, _ = m.WriteTo(out.ResponseWriter) // a client that has left is noticed by the server
}
