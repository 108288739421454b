package skills

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research/skills"
)

func backfillCommand(a *console.App) *cobra.Command {
	dry := false
	c := &cobra.Command{
		Use:   "backfill",
		Short: "Make the vectors that skills lack, so that they are found by meaning",
		Long: `Make the vectors of the skills that have none of the configured model, in batches of
16. A skill that has changed, and all skills after a change of the model, need new
vectors. Until they are made, these skills are found by their words. A back-fill that
ends early goes on where it was when it is run again.

Exit codes: 0 done · 2 no embedding server is configured · 3 it could not be done.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(cmd, a, func(ctx context.Context, _ *wiring.OpenProject, store *skills.Store) error {
				var bar *console.Progress
				out, err := store.Backfill(ctx, dry, func(n int) { bar = a.Progress("skills", n) }, func(n int) { bar.Set(int64(n)) })
				if bar != nil {
					bar.Stop()
				}
				if none, ok := errors.AsType[*skills.NoEmbedderError](err); ok {
					return console.AsUsage(none)
				}
				if err != nil {
					if out.Made > 0 {
						a.Errorf("note: %s of %d made; run the command again to go on\n", console.Count(out.Made, "vector"), out.Missing)
					}
					return console.Failed("%w", err)
				}
				if a.JSON {
					a.PrintJSON(console.NewDocument("ktx-skills-backfill/1").With("model", out.Model.Name).With("dimensions", out.Model.Dimensions).
						With("skills", out.Skills).With("missing", out.Missing).With("made", out.Made).With("dryRun", dry))
					return nil
				}
				if dry {
					a.Printf("%d of %s need a vector of %s\n", out.Missing, console.Count(out.Skills, "skill"), out.Model)
				} else {
					a.Printf("made %s of %s; %s have one\n", console.Count(out.Made, "vector"), out.Model, console.Count(out.Skills-out.Missing+out.Made, "skill"))
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "say how many vectors are missing, and make none")
	return c
}
