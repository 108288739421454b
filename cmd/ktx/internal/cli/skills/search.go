package skills

import (
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/skills"
)

// tiers are the values of --tier.
var tiers = []string{string(skills.TierGold), string(skills.TierSilver), string(skills.TierBronze)}

// searchOptions are the flags of ktx skills list and search.
type searchOptions struct {
	category, tier, output string
	limit                  int
}

func (o *searchOptions) flags(a *console.App, c *cobra.Command) {
	categoryFlag(a, c, &o.category)
	c.Flags().StringVar(&o.tier, "tier", "", "only skills of this quality: gold, silver or bronze")
	_ = c.RegisterFlagCompletionFunc("tier", cobra.FixedCompletions(tiers, cobra.ShellCompDirectiveNoFileComp))
	console.OutputFlag(c, &o.output)
}

func listCommand(a *console.App) *cobra.Command {
	o := &searchOptions{limit: skills.MaxSkills}
	c := &cobra.Command{
		Use:   "list",
		Short: "List the published skills",
		Long: `List the published skills by name. A draft, and a skill that breaks a rule, are not in
the list; ktx skills check says why.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return search(cmd, a, "", o) },
	}
	o.flags(a, c)
	return c
}

func searchCommand(a *console.App) *cobra.Command {
	o := &searchOptions{}
	c := &cobra.Command{
		Use:               "search QUERY",
		Short:             "Search skills by words, category and quality",
		Example:           `  ktx skills search "invoice" --tier gold`,
		Args:              console.OneText("query"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Usage("give the query, or list all with ktx skills list")
			}
			if o.limit < 1 || o.limit > 50 {
				return console.Usage("--limit %d: expected 1 to 50", o.limit)
			}
			return search(cmd, a, args[0], o)
		},
	}
	o.flags(a, c)
	c.Flags().IntVar(&o.limit, "limit", research.DefaultSkillsLimit, "most skills to print, up to 50")
	return c
}

func search(cmd *cobra.Command, a *console.App, query string, o *searchOptions) error {
	if o.tier != "" && !slices.Contains(tiers, o.tier) {
		return console.Usage("--tier %s: expected gold, silver or bronze", o.tier)
	}
	format, err := a.OutputFormat(o.output)
	if err != nil {
		return err
	}
	a.JSON = a.JSON || format == console.FormatJSON
	return with(cmd, a, func(ctx context.Context, open *wiring.OpenProject, _ *skills.Store) error {
		out, err := open.Service.SearchSkills(ctx, research.SearchSkillsInput{Query: query, Category: o.category, Tier: skills.Tier(o.tier), Limit: o.limit})
		if err != nil {
			return err
		}
		notes(a, out.Notes)
		if format == console.FormatJSON {
			a.PrintJSON(console.NewDocument("ktx-skills/1").With("searchMethod", out.SearchMethod).With("count", out.Count).With("skills", out.Skills).With("omitted", out.Omitted))
			return nil
		}
		var rows [][]console.Cell
		for _, k := range out.Skills {
			rows = append(rows, console.Texts(k.Name, orDash(k.Category), orDash(k.Tier), orDash(k.Rating), strconv.Itoa(k.Uses), k.Description))
		}
		a.Table(format, []string{"name", "category", "tier", "rating", "uses", "description"}, rows)
		return nil
	})
}

func recommendCommand(a *console.App) *cobra.Command {
	var category, output string
	limit := 0
	c := &cobra.Command{
		Use:   "recommend TASK",
		Short: "Find the skills that fit a task, and say why",
		Long: `Find the skills that fit a task. Without embeddings, skills are found by their words.
With embeddings (the key embeddings of ktx.yaml), they are also found by meaning.`,
		Example:           `  ktx skills recommend "check a supplier's invoice"`,
		Args:              console.OneText("task"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Usage("give the task")
			}
			if limit < 1 || limit > 20 {
				return console.Usage("--limit %d: expected 1 to 20", limit)
			}
			format, err := a.OutputFormat(output)
			if err != nil {
				return err
			}
			a.JSON = a.JSON || format == console.FormatJSON
			return with(cmd, a, func(ctx context.Context, open *wiring.OpenProject, _ *skills.Store) error {
				out, err := open.Service.RecommendSkills(ctx, research.RecommendSkillsInput{Query: args[0], Category: category, Limit: limit})
				if err != nil {
					return err
				}
				notes(a, out.Notes)
				if format == console.FormatJSON {
					a.PrintJSON(struct {
						Schema string `json:"schema"`
						research.RecommendSkills
					}{"ktx-skills-recommend/1", out})
					return nil
				}
				var rows [][]console.Cell
				for _, k := range out.Skills {
					rows = append(rows, console.Texts(k.Name, orDash(k.Category), orDash(k.Tier), strconv.Itoa(k.Uses), k.Why, k.Description))
				}
				a.Table(format, []string{"name", "category", "tier", "uses", "why", "description"}, rows)
				return nil
			})
		},
	}
	categoryFlag(a, c, &category)
	c.Flags().IntVar(&limit, "limit", research.DefaultRecommendLimit, "most skills to print, up to 20")
	console.OutputFlag(c, &output)
	return c
}
