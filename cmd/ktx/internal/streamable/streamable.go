// Package streamable carries MCP over HTTP: it makes the handlers of one server
// that [httpapi] puts behind its checks.
//
//	handlers := streamable.New(server, logger)
//	httpapi.Config{Sessions: handlers.Sessions, Stateless: handlers.Stateless, …}
//
// Two handlers stand for the two eras of the protocol: up to 2025-11-25 with
// sessions, from 2026-07-28 without. The checks of the SDK that come before its
// handlers (Host, body size, idle sessions) are off: those of httpapi are
// stricter and come first.
package streamable

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/httpapi"
)

// Handlers answer requests of MCP.
type Handlers struct {
	Sessions, Stateless http.Handler
}

// New returns the handlers of server, whose calls from then on end with the
// session or the server that they belong to. In the era without sessions they
// end with the request too, as the protocol demands.
func New(server *mcp.Server, logger *slog.Logger) Handlers {
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			ctx, cancel := httpapi.Bound(ctx)
			defer cancel()
			return next(ctx, method, req)
		}
	})
	handler := func(stateless bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
			Stateless: stateless, Logger: logger,
			DisableLocalhostProtection: true, MaxRequestBodyBytes: -1, PropagateRequestCancellation: true,
		})
	}
	return Handlers{Sessions: handler(false), Stateless: handler(true)}
}
