package skills

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research/skills"
)

func rateCommand(a *console.App) *cobra.Command {
	comment := ""
	c := &cobra.Command{
		Use:   "rate NAME STARS",
		Short: "Rate a skill with 1 to 5 stars",
		Long: `Rate a skill with 1 to 5 stars, in the name of the system's user. Another rating of the
same user replaces the one before. Ratings and uses give a skill its quality:
gold (4.0 and 10 uses), silver (3.0 and 5 uses) or bronze (2.0).`,
		Example: `  ktx skills rate ktx-analytics 5 --comment "Asks before it guesses."`,
		Args:    cobra.ExactArgs(2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return []string{"1", "2", "3", "4", "5"}, cobra.ShellCompDirectiveNoFileComp
			}
			return completeSkill(a)(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			stars, err := strconv.Atoi(args[1])
			if err != nil || stars < 1 || stars > 5 {
				return console.Usage("%q stars: expected 1 to 5", args[1])
			}
			return with(cmd, a, func(ctx context.Context, open *wiring.OpenProject, store *skills.Store) error {
				if _, err := open.Service.SkillText(args[0], skills.Main); err != nil {
					return err // no such skill
				}
				r := skills.Rating{Skill: args[0], Rater: wiring.SystemUser(), Stars: stars, Comment: comment, Time: time.Now()}
				if err := r.Validate(); err != nil {
					return console.AsUsage(err)
				}
				if err := store.Rate(ctx, r); err != nil {
					return console.Failed("keep the rating: %w", err)
				}
				counts, _, err := store.Ratings(ctx, r.Skill, 1)
				if err != nil {
					return console.Failed("read the ratings: %w", err)
				}
				average := skills.ShowAverage(counts.Average())
				if a.JSON {
					a.PrintJSON(console.NewDocument("ktx-skill-rate/1").With("name", r.Skill).With("stars", stars).With("rating", average).With("ratings", counts.Ratings()))
					return nil
				}
				a.Printf("rated %s with %s; its rating is %s from %s\n", r.Skill, console.Count(stars, "star"), average, console.Count(counts.Ratings(), "rating"))
				return nil
			})
		},
	}
	c.Flags().StringVar(&comment, "comment", "", "what you think of it, for those who read the skill's description")
	return c
}
