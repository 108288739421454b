package skills

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/skills"
)

func showCommand(a *console.App) *cobra.Command {
	file := ""
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "Show what is known of a skill, or one of its files",
		Long: `Show what is known of a skill: its metadata, files with digests, ratings, and similar
skills. With --file, print a file of it. Reading here does not count as a use.

Exit codes: 0 done · 2 no such skill or file.`,
		Example: `  ktx skills show ktx-analytics
  ktx skills show ktx-analytics --file SKILL.md`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeSkill(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, a, func(ctx context.Context, open *wiring.OpenProject, _ *skills.Store) error {
				if file != "" {
					text, err := open.Service.SkillText(args[0], file)
					if err != nil {
						return err
					}
					return printFile(a, args[0], file, text)
				}
				out, err := open.Service.DescribeSkill(ctx, research.DescribeSkillInput{Name: args[0]})
				if err != nil {
					return err
				}
				notes(a, out.Notes)
				if a.JSON {
					a.PrintJSON(struct {
						Schema string `json:"schema"`
						research.DescribeSkill
					}{"ktx-skill/1", out})
					return nil
				}
				a.Printf("%s", describe(out))
				return nil
			})
		},
	}
	c.Flags().StringVar(&file, "file", "", "print this file of the skill, such as SKILL.md")
	return c
}

func printFile(a *console.App, name, file, text string) error {
	if a.JSON {
		a.PrintJSON(console.NewDocument("ktx-skill-file/1").With("name", name).With("file", file).With("content", text))
		return nil
	}
	if a.Out.Terminal {
		text = console.EscapeLines(text)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	a.Printf("%s", text)
	return nil
}

// describe writes a description for people.
func describe(k research.DescribeSkill) string {
	var b strings.Builder
	line := func(key, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			_, _ = fmt.Fprintf(&b, "%-14s %s\n", key, console.EscapeControls(text))
		}
	}
	value := func(text *string) string {
		if text == nil {
			return ""
		}
		return *text
	}
	line("name", "%s", k.Name)
	line("description", "%s", k.Description)
	line("category", "%s", value(k.Category))
	line("tags", "%s", strings.Join(k.Tags, ", "))
	line("author", "%s", value(k.Author))
	line("license", "%s", value(k.License))
	line("compatibility", "%s", value(k.Compatibility))
	line("forked from", "%s", value(k.ForkedFrom))
	line("allowed tools", "%s", strings.Join(k.AllowedTools, ", "))
	line("resource", "%s", k.URI)
	rating := "no ratings"
	if k.Rating != nil {
		n := 0
		for _, c := range k.Ratings {
			n += c
		}
		rating = *k.Rating + " from " + console.Count(n, "rating")
	}
	if k.Tier != nil {
		rating += ", " + string(*k.Tier)
	}
	line("quality", "%s, %s", rating, console.Count(k.Uses, "use"))
	if k.Forks > 0 {
		line("forks", "%s", strconv.Itoa(k.Forks))
	}
	for _, r := range k.Reviews {
		line("review", "%s by %s on %s: %s", strings.Repeat("*", r.Stars), r.By, r.At[:10], strings.Join(strings.Fields(r.Comment), " "))
	}
	for _, f := range k.Files {
		line("file", "%s  %d bytes  %s", f.Path, f.Size, f.Digest)
	}
	for _, s := range k.Similar {
		line("similar", "%s: %s", s.Name, s.Description)
	}
	return b.String()
}
