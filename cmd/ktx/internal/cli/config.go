package cli

import (
	"errors"
	"path/filepath"

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
				a.printRawJSON(append(text, '\n'))
				return nil
			},
		},
		&cobra.Command{
			Use:   "validate",
			Short: "Check ktx.yaml and report every fault with its line",
			Args:  cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				dir, err := a.findProject()
				if err != nil {
					return err
				}
				p, err := loadProject(dir)
				problems, invalid := errors.AsType[*project.InvalidError](err)
				if err != nil && !invalid {
					return asUsage(err)
				}
				file := display(filepath.Join(dir, project.FileName))
				list := []project.Problem{}
				if invalid {
					list = problems.List
				} else {
					list = append(list, p.Warnings...)
				}
				if a.json {
					a.printJSON(newDocument("ktx-config/1").with("file", file).with("valid", !invalid).with("problems", list))
				} else {
					for _, problem := range list {
						a.printf("%s\n", escapeControls(problem.In(file)))
					}
					if !invalid {
						a.printf("%s is valid\n", file)
					}
				}
				if invalid {
					return &exitError{code: exitUsage}
				}
				return nil
			},
		})
}
