package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/stdio"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlguard"
)

func (a *app) mcpCommand() *cobra.Command {
	c := group("mcp", "Serve the tools to an MCP client",
		a.mcpStart(), a.mcpStop(), a.mcpStatus(), a.mcpLogs(),
		&cobra.Command{
			Use:   "stdio",
			Short: "Serve MCP over standard input and output",
			Long: `Serve the tools over standard input and output, one JSON-RPC message a line.
An MCP client starts this command; standard error carries logs.

SIGHUP reads ktx.yaml again. Calls that run end under the configuration they
began with, and connections that did not change stay open. A file that is not
valid changes nothing. Of the block audit nothing changes before the next start.`,
			Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				signals, stop := hangups()
				defer stop()
				return a.withGateway(cmd.Context(), "stdio", func(ctx context.Context, d *door) error {
					defer a.reloadOn(ctx, signals, d, nil)()
					return a.serveStdio(ctx, d)
				})
			},
		})
	c.Long = "Serve the tools to an MCP client. Without a command it is ktx mcp status."
	inner := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return a.mcpServerStatus(cmd.Context())
		}
		return inner(cmd, args)
	}
	return c
}

// serveStdio serves one client until it closes its end or ctx ends.
func (a *app) serveStdio(ctx context.Context, d *door) error {
	server, err := research.New(d.gateway, a.logger()).Server(a.version)
	if err != nil {
		return err
	}
	actor, _ := audit.ActorFrom(ctx)
	actor.Principal, actor.Client, actor.Session = "stdio", audit.Client{Transport: "stdio"}, rand.Text()
	ctx = audit.WithActor(ctx, actor)
	if err := d.log.Append(ctx, audit.Event{Type: audit.SessionOpen}); err != nil {
		return execution.NewError(sqlguard.CodeAuditUnavailable, "the audit log cannot be written, so nothing runs", err)
	}
	err = serveSession(ctx, server, stdio.New(a.stdin, a.out))
	if ended := d.log.Append(context.WithoutCancel(ctx), audit.Event{Type: audit.SessionClose}); ended != nil {
		return execution.NewError(sqlguard.CodeAuditUnavailable, "the end of the session could not be recorded", ended)
	}
	return err
}

// serveSession serves one session. When ctx ends, what runs may end within
// drainTime; what still runs then is cancelled.
func serveSession(ctx context.Context, server *mcp.Server, transport *stdio.Transport) error {
	// The transport would stop reading with ctx, and that cancels what runs.
	session, err := server.Connect(context.WithoutCancel(ctx), transport, nil)
	if err != nil {
		return failed("serve MCP: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		err = session.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, mcp.ErrConnectionClosed) && ctx.Err() == nil {
			return failed("serve MCP: %w", err)
		}
		return nil
	case <-ctx.Done():
	}
	transport.Stop(drainTime)
	<-ended
	return nil
}
