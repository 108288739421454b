package skills

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research/skills"
)

// Command returns the command ktx skills.
func Command(a *console.App) *cobra.Command {
	c := console.Group("skills", "List, search, read, check and rate the project's skills",
		listCommand(a), searchCommand(a), recommendCommand(a), showCommand(a), checkCommand(a), rateCommand(a), backfillCommand(a), newCommand(a))
	c.Long = `A skill is a folder with a file SKILL.md that tells an agent how to do a task. ktx
serves the skills of the folder skills of the project, and of the folders that
ktx.yaml names, once ktx.yaml has the key skills. docs/skills.md has the details.`
	return c
}

// with opens the project, which must have skills.
func with(cmd *cobra.Command, a *console.App, f func(context.Context, *wiring.OpenProject, *skills.Store) error) error {
	return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
		store, err := open.Skills()
		if err != nil {
			return err
		}
		return f(ctx, open, store)
	})
}

// notes prints the notes of an answer.
func notes(a *console.App, list []string) {
	for _, note := range list {
		a.Errorf("note: %s\n", console.EscapeControls(note))
	}
}

// completeSkill completes the name of a skill.
func completeSkill(a *console.App) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		err := wiring.WithSkills(a, func(list []*skills.Skill) error {
			for _, k := range list {
				out = append(out, cobra.CompletionWithDesc(k.Name, console.EscapeControls(k.Description)))
			}
			return nil
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// categoryFlag adds the flag --category, which completes the categories of the skills.
func categoryFlag(a *console.App, c *cobra.Command, category *string) {
	c.Flags().StringVar(category, "category", "", "only skills of this category")
	_ = c.RegisterFlagCompletionFunc("category", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		seen := map[string]bool{}
		var out []string
		err := wiring.WithSkills(a, func(list []*skills.Skill) error {
			for _, k := range list {
				if k.Category != "" && !seen[k.Category] {
					seen[k.Category] = true
					out = append(out, k.Category)
				}
			}
			return nil
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	})
}

// orDash returns a text, or a dash for none.
func orDash[T ~string](text *T) string {
	if text == nil {
		return "–"
	}
	return string(*text)
}
