package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/stdio"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
)

// serveStdio serves one client until it closes its end or ctx ends.
func serveStdio(ctx context.Context, a *console.App, open *wiring.OpenProject) error {
	tuneCollector(a.Lookup)
	server, err := open.Service.Server(a.Version)
	if err != nil {
		return err
	}
	actor, _ := audit.ActorFrom(ctx)
	actor.Principal, actor.Client, actor.Session = "stdio", audit.Client{Transport: "stdio", User: actor.Client.User}, rand.Text()
	ctx = audit.WithActor(ctx, actor)
	if err := open.Log.Append(ctx, audit.Event{Type: audit.SessionOpen}); err != nil {
		return execution.AuditUnavailable("the audit log cannot be written, so no statement can run", err)
	}
	running, endCalls := context.WithCancel(context.WithoutCancel(ctx))
	defer endCalls()
	server.AddReceivingMiddleware(cancelledWith(running))
	defer context.AfterFunc(ctx, open.Service.Drain)()
	direct, err := open.Service.Direct()
	if err != nil {
		return err
	}
	transport := stdio.New(a.Stdin, a.Out)
	transport.Serve(running, direct)
	server.AddReceivingMiddleware(transport.Middleware())
	err = serveSession(ctx, server, transport, endCalls)
	if ended := open.Log.Append(context.WithoutCancel(ctx), audit.Event{Type: audit.SessionClose}); ended != nil {
		return execution.AuditUnavailable("the end of the session could not be recorded", ended)
	}
	return err
}

// cancelledWith cancels every call of a server when a context ends.
func cancelledWith(end context.Context) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(end, cancel)()
			return next(ctx, method, req)
		}
	}
}

// answerTime is how long calls that were cancelled may take to answer.
const answerTime = 3 * time.Second

// serveSession serves one session. When ctx ends, running calls get
// [wiring.DrainTime] to end. Then endCalls cancels them, and they are answered with
// errors.
func serveSession(ctx context.Context, server *mcp.Server, transport *stdio.Transport, endCalls func()) error {
	// If the transport ended with ctx, the SDK would cancel the running calls at
	// once.
	session, err := server.Connect(context.WithoutCancel(ctx), transport, nil)
	if err != nil {
		return console.Failed("serve MCP: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		err = session.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, mcp.ErrConnectionClosed) && ctx.Err() == nil {
			return console.Failed("serve MCP: %w", err)
		}
		return nil
	case <-ctx.Done():
	}
	transport.Wait(wiring.DrainTime)
	endCalls()
	transport.Stop(answerTime)
	<-ended
	return nil
}
