package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/stdio"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
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
		return execution.NewError(sqlguard.CodeAuditUnavailable, "the audit log cannot be written, so no statement can run", err)
	}
	err = serveSession(ctx, server, stdio.New(a.Stdin, a.Out))
	if ended := open.Log.Append(context.WithoutCancel(ctx), audit.Event{Type: audit.SessionClose}); ended != nil {
		return execution.NewError(sqlguard.CodeAuditUnavailable, "the end of the session could not be recorded", ended)
	}
	return err
}

// serveSession serves one session. When ctx ends, running calls get
// [wiring.DrainTime] to end, and are then cancelled.
func serveSession(ctx context.Context, server *mcp.Server, transport *stdio.Transport) error {
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
	transport.Stop(wiring.DrainTime)
	<-ended
	return nil
}
