package scan

import (
	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
)

// IngestCommand returns the command ktx ingest, another name of ktx scan.
func IngestCommand(a *console.App) *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:               "ingest [CONNECTION]",
		Short:             "The same as `ktx scan`",
		Long:              "Scan a connection. See ktx scan --help.",
		Example:           "  ktx ingest warehouse",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: wiring.CompleteConnection(a),
		RunE:              func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), a, o, args) },
	}
	o.flags(c)
	return c
}
