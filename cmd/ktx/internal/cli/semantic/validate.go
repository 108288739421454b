package semantic

import (
	"context"
	"fmt"
	"path"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// validateCommand returns ktx sl validate.
func validateCommand(a *console.App) *cobra.Command {
	var connection string
	var data bool
	c := &cobra.Command{
		Use:   "validate [SOURCE]",
		Short: "Check the files of the semantic layer",
		Long: `Check the files of the semantic layer. No database is asked without --data.

With --data, the tables are asked through the gateway whether they are what the files
say: whether the grain is unique, and how many rows of each join have no key or no
partner. The answers are kept below .ktx/, and plans name the joins that were found
right, until a file changes.

Exit codes: 0 valid · 1 problems · 2 wrong usage · 3 it could not be done.`,
		Example: `  ktx sl validate
  ktx sl validate orders -c demo --data`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeSources(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			source := ""
			if len(args) == 1 {
				source = args[0]
			}
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				out, err := open.Service.SLValidate(ctx, connection, source)
				if err != nil {
					return err
				}
				var checks []research.SLDataCheck
				if data {
					progress := a.Progress("checks", 0)
					checks, err = open.Service.SLValidateData(ctx, connection, source, progress.Step)
					progress.Stop()
					if err != nil {
						return err
					}
					for _, check := range checks {
						if p := check.Problem(); p != nil {
							out.Problems = append(out.Problems, *p)
							out.Valid = false
						}
					}
				}
				showValidation(a, out, checks, data)
				if !out.Valid {
					return &console.ExitError{Code: console.ExitFindings}
				}
				return nil
			})
		},
	}
	c.Flags().StringVarP(&connection, "connection", "c", "", "connection id (default: all)")
	c.Flags().BoolVar(&data, "data", false, "also ask the tables")
	_ = c.RegisterFlagCompletionFunc("connection", wiring.CompleteConnections(a))
	return c
}

func showValidation(a *console.App, out research.SLValidation, checks []research.SLDataCheck, data bool) {
	if a.JSON {
		doc := console.NewDocument("ktx-sl-validation/1").With("valid", out.Valid).With("sources", out.Sources).With("problems", out.Problems)
		if data {
			doc = doc.With("checks", orEmpty(checks))
		}
		a.PrintJSON(doc)
		return
	}
	for _, p := range out.Problems {
		a.Printf("%s\n", console.EscapeControls(path.Join(semantic.Folder, p.ConnectionID)+"/"+problemLine(p.Problem)))
	}
	for _, c := range checks {
		a.Printf("%s\n", console.EscapeControls(c.String()))
	}
	if out.Valid {
		a.Printf("%s, no problems\n", console.Count(out.Sources, "source"))
	}
}

// problemLine returns a problem as one line: place, class, what, and what to write.
func problemLine(p model.Problem) string {
	place := p.File
	if p.Line > 0 {
		place += fmt.Sprintf(":%d", p.Line)
	}
	if p.Path != "" {
		place += " " + p.Path
	}
	line := fmt.Sprintf("%s: %s: %s", place, p.Class, p.Message)
	if p.Warning {
		line = fmt.Sprintf("%s: warning: %s: %s", place, p.Class, p.Message)
	}
	if p.Hint != "" {
		line += " (" + p.Hint + ")"
	}
	return line
}

// schemaCommand returns ktx sl schema.
func schemaCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a source file",
		Long: `Print the JSON Schema of a source file, by which editors complete and check it.
In an editor with the YAML language server, write this in the first line of a file:
  # yaml-language-server: $schema=../source.schema.json`,
		Example:           `  ktx sl schema > semantic-layer/source.schema.json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			a.PrintRawJSON(append(model.Schema(), '\n'))
			return nil
		},
	}
}
