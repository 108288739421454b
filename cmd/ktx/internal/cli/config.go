package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

func (a *app) configCommand() *cobra.Command {
	return group("config", "Describe and validate ktx.yaml",
		&cobra.Command{
			Use:   "schema",
			Short: "Print the JSON Schema of ktx.yaml, for editors",
			Args:  cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				text, err := project.Schema()
				if err != nil {
					return err
				}
				a.printf("%s\n", text)
				return nil
			},
		},
		&cobra.Command{
			Use:   "validate",
			Short: "Check ktx.yaml and report every fault with its line",
			Args:  cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				dir, err := project.Find(a.projectDir, a.lookup)
				if err != nil {
					return asUsage(err)
				}
				p, err := project.Load(dir)
				problems, invalid := errors.AsType[*project.Problems](err)
				if err != nil && !invalid {
					return asUsage(err)
				}
				list := []project.Problem{}
				if invalid {
					list = problems.List
				} else {
					list = append(list, p.Warnings...)
				}
				if a.json {
					a.printJSON(map[string]any{"schema": "ktx-config/1", "valid": !invalid, "problems": list})
				} else {
					for _, problem := range list {
						a.printf("%s\n", problem)
					}
					if !invalid {
						a.printf("%s is valid\n", project.FileName)
					}
				}
				if invalid {
					return &exitError{code: exitUsage}
				}
				return nil
			},
		})
}
