package mcp

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
)

func Command(a *console.App) *cobra.Command {
	c := console.Group("mcp", "Serve the tools to an MCP client",
		startCommand(a), stopCommand(a), statusCommand(a), logsCommand(a),
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
				return wiring.WithGateway(cmd.Context(), a, "stdio", func(ctx context.Context, open *wiring.OpenProject) error {
					defer reloadOn(ctx, a, signals, open, nil)()
					return serveStdio(ctx, a, open)
				})
			},
		})
	c.Long = "Serve the tools to an MCP client. Without a command it is ktx mcp status."
	inner := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return showStatus(cmd.Context(), a)
		}
		return inner(cmd, args)
	}
	return c
}
