package mcp

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/fresh"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
)

// Command returns the command ktx mcp.
func Command(a *console.App) *cobra.Command {
	c := console.Group("mcp", "Serve the tools to an MCP client",
		startCommand(a), stopCommand(a), statusCommand(a), logsCommand(a), stdioCommand(a))
	c.Long = "Serve the tools to an MCP client. Without a subcommand, show what ktx mcp status\nshows."
	inner := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return showStatus(cmd.Context(), a)
		}
		return inner(cmd, args)
	}
	return c
}

// allowEmptyUsage describes the flag --allow-empty.
const allowEmptyUsage = "let a reload remove every connection, when ktx.yaml has none"

func stdioCommand(a *console.App) *cobra.Command {
	var allowEmpty bool
	var at place
	c := &cobra.Command{
		Use:   "stdio",
		Short: "Serve MCP over standard input and output",
		Long: `Serve the tools over standard input and output, one JSON-RPC message a line. An
MCP client starts this command. Logs go to standard error.

On SIGHUP the command reads ktx.yaml again. Calls that run end under the
configuration under which they began, and connections that did not change stay
open. A file that is not valid changes nothing. Changes in the block audit take
effect at the next start.

Without a project, --demo serves a small shop, and --url one database with the
strictest rules. Its audit log is in the user's folder for state.`,
		Example: `  ktx mcp stdio --demo
  ` + fresh.URLVariable + `=postgres://reader:…@localhost/shop ktx mcp stdio`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			signals, stop := hangups()
			defer stop()
			remove, err := at.settle(cmd.Context(), a, cmd)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, remove()) }()
			return wiring.WithGateway(cmd.Context(), a, "stdio", func(ctx context.Context, open *wiring.OpenProject) error {
				if err := open.StartUpstreams(a, true, nil); err != nil {
					return err
				}
				defer reloadOn(ctx, a, signals, open, allowEmpty, nil)()
				return serveStdio(ctx, a, open)
			})
		},
	}
	c.Flags().BoolVar(&allowEmpty, "allow-empty", false, allowEmptyUsage)
	at.flags(c)
	return c
}
