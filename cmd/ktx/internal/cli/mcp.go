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
	return group("mcp", "Serve the tools to an MCP client",
		&cobra.Command{
			Use:   "stdio",
			Short: "Serve MCP over standard input and output",
			Long: `Serve the tools over standard input and output, one JSON-RPC message a line.
An MCP client starts this command; standard error carries logs.`,
			Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return a.withGateway(cmd.Context(), "stdio", a.serveStdio)
			},
		})
}

// serveStdio serves one client until it closes its end or ctx ends.
func (a *app) serveStdio(ctx context.Context, d *door) error {
	server, err := research.New(d.gateway, a.logger()).Server(productVersion())
	if err != nil {
		return err
	}
	actor, _ := audit.ActorFrom(ctx)
	actor.Principal, actor.Client, actor.Session = "stdio", audit.Client{Transport: "stdio"}, rand.Text()
	ctx = audit.WithActor(ctx, actor)
	if err := d.log.Append(ctx, audit.Event{Type: audit.SessionOpen}); err != nil {
		return execution.NewError(sqlguard.CodeAuditUnavailable, "the audit log cannot be written, so nothing runs", err)
	}
	err = server.Run(ctx, stdio.Transport(a.in, a.out))
	ended := d.log.Append(context.WithoutCancel(ctx), audit.Event{Type: audit.SessionClose})
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, mcp.ErrConnectionClosed) && ctx.Err() == nil {
		return &exitError{code: exitFailed, err: err}
	}
	if ended != nil {
		return execution.NewError(sqlguard.CodeAuditUnavailable, "the end of the session could not be recorded", ended)
	}
	return nil
}
