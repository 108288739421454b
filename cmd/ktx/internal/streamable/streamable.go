// Package streamable carries MCP over HTTP: it makes the handlers of one server
// that [httpapi] puts behind its checks.
//
//	handlers := streamable.New(server, logger, tools)
//	httpapi.Config{Sessions: handlers.Sessions, Stateless: handlers.Stateless, …}
//
// What the SDK refuses with plain text is answered with a JSON-RPC error. An ID
// comes back as the client wrote it, and a request that the client cancelled gets no
// answer.
//
// There are two handlers, because the protocol has sessions up to version
// 2025-11-25 and none from version 2026-07-28 on. The SDK's own checks of the Host
// header, the size of the body and idle sessions are off, because httpapi checks the
// same more strictly, and before.
package streamable

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/rpc"
	"github.com/ktxhq/ktx/httpapi"
)

// Handlers answer MCP requests: Sessions for the versions of the protocol with
// sessions, Stateless for those without.
type Handlers struct {
	Sessions, Stateless http.Handler
}

// New returns the handlers of server. From then on a call of the server is cancelled
// when its session or the server ends. In versions without sessions it is also
// cancelled when its request ends, as the protocol demands; in those with sessions,
// a while after its request ends when the session has no other stream.
//
// In versions with sessions, plain calls of tools do not go through the SDK, unless
// tools is nil.
func New(server *mcp.Server, logger *slog.Logger, tools rpc.Tools) Handlers {
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			var header http.Header
			if extra := req.GetExtra(); extra != nil {
				header = extra.Header
			}
			ctx, cancel := httpapi.Bound(ctx, header)
			defer cancel()
			return next(ctx, method, req)
		}
	})
	writing := &writing{}
	server.AddReceivingMiddleware(rpc.Middleware(writing.to))
	var plain *direct
	if tools != nil {
		plain = &direct{tools: tools, workers: rpc.NewWorkers(), sessions: map[string]*known{}}
		server.AddReceivingMiddleware(plain.middleware)
	}
	handler := func(stateless bool, plain *direct) http.Handler {
		return newAnswerer(writing, plain, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
			Stateless: stateless, Logger: logger,
			DisableLocalhostProtection: true, MaxRequestBodyBytes: -1, PropagateRequestCancellation: true,
		}))
	}
	return Handlers{Sessions: handler(false, plain), Stateless: handler(true, nil)}
}

// answerHeader names the answer in which the result of a request is written. The
// SDK passes the header on, but not the context of the request.
const answerHeader = "Ktx-Answer"

// writing are the answers that are being written.
type writing struct {
	last    atomic.Uint64
	answers sync.Map // of *rpc.Late, by answerHeader
}

// begin names an answer in the header of its request. end must be called when the
// answer is written.
func (w *writing) begin(late *rpc.Late, request http.Header) (end func()) {
	id := strconv.FormatUint(w.last.Add(1), 36)
	w.answers.Store(id, late)
	request.Set(answerHeader, id)
	return func() { w.answers.Delete(id) }
}

// to returns what keeps the content of the answer to a request, or nil when the
// answer is not being written.
func (w *writing) to(req mcp.Request) *rpc.Late {
	extra := req.GetExtra()
	if extra == nil {
		return nil
	}
	late, ok := w.answers.Load(extra.Header.Get(answerHeader))
	if !ok {
		return nil
	}
	l, _ := late.(*rpc.Late)
	return l
}
