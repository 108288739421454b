package scan

import (
	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/research"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
)

// IngestCommand returns the command ktx ingest, another name of ktx scan, and with
// a text of ktx memory ingest.
func IngestCommand(a *console.App) *cobra.Command {
	var o options
	var text research.IngestText
	c := &cobra.Command{
		Use:   "ingest [CONNECTION | -]",
		Short: "The same as `ktx scan`, or with a text as `ktx memory ingest`",
		Long: `Scan a connection: see ktx scan --help.

With --text, --file or - the command remembers a text instead, about the connection
if one is named: see ktx memory ingest --help.`,
		Example: `  ktx ingest warehouse
  ktx ingest warehouse --text "Amounts in orders are in cents."`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: wiring.CompleteConnection(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			text.StandardInput = len(args) == 1 && args[0] == "-"
			if !text.Given(cmd) {
				return run(cmd.Context(), a, o, args)
			}
			if len(args) == 1 && !text.StandardInput {
				text.Connection = args[0]
			}
			return research.RunIngestText(cmd, a, text)
		},
	}
	o.flags(c)
	text.Flags(c)
	return c
}
