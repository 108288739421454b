package skills

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research/skills"
)

func newCommand(a *console.App) *cobra.Command {
	var o skills.NewOptions
	c := &cobra.Command{
		Use:   "new NAME",
		Short: "Write the SKILL.md of a new skill, as a draft",
		Long: `Write skills/NAME/SKILL.md with a head and the parts that instructions need. It is a
draft: nobody sees it until you remove the line status: draft.

Exit codes: 0 written · 2 the name is not valid, or there is such a skill already.`,
		Example:           `  ktx skills new close-books --category finance --description "Closes the books of a month. Use it at the end of a month."`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, a, func(_ context.Context, open *wiring.OpenProject, _ *skills.Store) error {
				o.Name = args[0]
				path, err := skills.New(open.Root(), "skills", o)
				if errors.Is(err, fs.ErrExist) {
					return console.AsUsage(fmt.Errorf("%s is there already", path))
				}
				if _, invalid := errors.AsType[*skills.InvalidError](err); invalid {
					return console.AsUsage(err)
				}
				if err != nil {
					return console.Failed("%w", err)
				}
				if a.JSON {
					a.PrintJSON(console.NewDocument("ktx-skill-new/1").With("name", o.Name).With("path", path))
					return nil
				}
				a.Printf("wrote %s\n", path)
				a.Errorf("next: write the instructions, remove the line status: draft, and run ktx skills check\n")
				return nil
			})
		},
	}
	c.Flags().StringVar(&o.Description, "description", "", "what the skill does and when to use it")
	c.Flags().StringVar(&o.Category, "category", "", "category of the skill")
	return c
}
