package semantic

import (
	"context"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research/semantic"
)

// initCommand returns ktx sl init.
func initCommand(a *console.App) *cobra.Command {
	var only []string
	var dry bool
	c := &cobra.Command{
		Use:   "init [CONNECTION]",
		Short: "Draft measures for the tables that a scan found",
		Long: `Draft measures for the tables that a scan found: the number of rows, and the sum of
each number that is no key and no rate. Columns, keys and joins come from the scan
itself.

Each source gets a file of its own, with the tag draft. Look at the measures and
correct them. A source that has a file is left alone.`,
		Example: `  ktx scan demo && ktx sl init demo
  ktx sl init demo --source orders --dry-run`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: wiring.CompleteConnection(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			connection := ""
			if len(args) == 1 {
				connection = args[0]
			}
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				info, err := wiring.OneConnection(ctx, open, connection)
				if err != nil {
					return err
				}
				files, err := open.Service.SLInit(ctx, info.ID, only, dry)
				if err != nil {
					return err
				}
				if a.JSON {
					a.PrintJSON(console.NewDocument("ktx-sl-init/1").With("connectionId", info.ID).With("dryRun", dry).With("files", orEmpty(files)))
					return nil
				}
				for _, f := range files {
					name := path.Join(semantic.Folder, info.ID, f.Name)
					if dry {
						a.Printf("# %s\n%s", name, console.EscapeLines(string(f.Content)))
						continue
					}
					a.Printf("wrote %s: %s\n", name, console.EscapeControls(strings.Join(f.Measures, ", ")))
				}
				if len(files) == 0 {
					a.Errorf("note: every source has a file already\n")
				}
				return nil
			})
		},
	}
	c.Flags().StringArrayVar(&only, "source", nil, "only this source; may be given several times")
	c.Flags().BoolVar(&dry, "dry-run", false, "print the files and write nothing")
	return c
}
