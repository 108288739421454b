package skills

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research/skills"
)

func checkCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check all skills, and say why one is not published",
		Long: `Check all skills, drafts included. Each line names the file, the line in it, what is
wrong, and the rule. A skill with an error is not published; a warning does not keep
it from being published.

Exit codes: 0 no errors · 1 errors.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(cmd, a, func(_ context.Context, _ *wiring.OpenProject, store *skills.Store) error {
				problems, published, err := store.Catalog().Check()
				if err != nil {
					return console.Failed("%w", err)
				}
				return showProblems(a, problems, published)
			})
		},
	}
}

// showProblems prints what is wrong. The error is an exit code.
func showProblems(a *console.App, problems []skills.Problem, published int) error {
	errs := 0
	for _, p := range problems {
		if p.Level == skills.LevelError {
			errs++
		}
	}
	if a.JSON {
		if problems == nil {
			problems = []skills.Problem{}
		}
		a.PrintJSON(console.NewDocument("ktx-skills-check/1").With("published", published).With("errors", errs).With("warnings", len(problems)-errs).With("problems", problems))
	} else {
		for _, p := range problems {
			a.Printf("%s\n", console.EscapeControls(p.String()))
		}
		a.Errorf("%s published; %s, %s\n", console.Count(published, "skill"), console.Count(errs, "error"), console.Count(len(problems)-errs, "warning"))
	}
	if errs > 0 {
		return &console.ExitError{Code: console.ExitFindings}
	}
	return nil
}
