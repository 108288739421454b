package project

import (
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

// ConfigCommand returns the command ktx config.
func ConfigCommand(a *console.App) *cobra.Command {
	return console.Group("config", "Describe and validate ktx.yaml",
		&cobra.Command{
			Use:   "schema",
			Short: "Print the JSON Schema of ktx.yaml, for editors",
			Args:  cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				text, err := project.Schema()
				if err != nil {
					return err
				}
				a.PrintRawJSON(append(text, '\n'))
				return nil
			},
		},
		&cobra.Command{
			Use:   "validate",
			Short: "Check ktx.yaml and report every error with its line",
			Long: `Check ktx.yaml and report every error with its line, also what would keep a
connection from opening. Nothing is connected to. A secret that this machine does
not have is no error.`,
			Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				dir, err := wiring.FindProject(a)
				if err != nil {
					return err
				}
				p, err := wiring.ReadProject(dir)
				problems, invalid := errors.AsType[*project.InvalidError](err)
				if err != nil && !invalid {
					return console.AsUsage(err)
				}
				file := console.DisplayPath(filepath.Join(dir, project.FileName))
				list := []project.Problem{}
				if invalid {
					list = problems.List
				} else {
					refused := wiring.Refused(cmd.Context(), a, p)
					list = append(append(list, p.Warnings...), refused...)
					invalid = len(refused) > 0
				}
				if a.JSON {
					a.PrintJSON(console.NewDocument("ktx-config/1").With("file", file).With("valid", !invalid).With("problems", list))
				} else {
					for _, problem := range list {
						a.Printf("%s\n", console.EscapeControls(problem.In(file)))
					}
					if !invalid {
						a.Printf("%s is valid\n", file)
					}
				}
				if invalid {
					return &console.ExitError{Code: console.ExitUsage}
				}
				return nil
			},
		})
}
