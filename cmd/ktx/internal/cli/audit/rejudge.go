package audit

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution/audit"
)

// rejudgeDefault is the age of the statements that are judged unless --since says another.
const rejudgeDefault = "30d"

func rejudgeCommand(a *console.App) *cobra.Command {
	var filter conditions
	c := &cobra.Command{
		Use:   "rejudge",
		Short: "Judge statements of the log again, by the policy of ktx.yaml",
		Long: `Judge the statements of the last 30 days again, by the policy that ktx.yaml has now,
and list those whose verdict would change. Try a new policy on what agents really
send before a server takes it.

The command asks no database, so it judges without the catalogue of a server. The
log has no literals unless audit.sql is full. A constant then stands for each, and
a statement whose verdict a literal could decide is counted as unknown.

Exit codes: 0 no verdict would change · 1 some would · 2 wrong usage or configuration ·
3 the log could not be read.`,
		Example: `  ktx audit rejudge
  ktx audit rejudge --since 7d --verdict allow --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := wiring.LoadProject(a)
			if err != nil {
				return err
			}
			dir, err := logDir(a, cmd)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("since") {
				if err := cmd.Flags().Set("since", rejudgeDefault); err != nil {
					return console.AsUsage(err)
				}
			}
			if err := filter.resolve(cmd, time.Now()); err != nil {
				return err
			}
			return rejudge(cmd.Context(), a, cmd, p, dir, filter.Filter)
		},
	}
	filter.addAll(a, c)
	indexFlag(c)
	return c
}

// rejudged is the result under --json.
type rejudged struct {
	Schema string    `json:"schema"`
	Since  time.Time `json:"since"`
	audit.Review
}

func rejudge(ctx context.Context, a *console.App, cmd *cobra.Command, p *project.Project, dir string, f audit.Filter) error {
	reviewer := audit.NewReviewer(wiring.LogGuards(p))
	progress := a.Progress("statements", 0)
	err := eachStatement(ctx, a, cmd, dir, f, func(s audit.Statement) error {
		progress.Set(int64(reviewer.Statements()))
		return reviewer.Take(s)
	})
	progress.Stop()
	if err != nil {
		return notYet(dir, err)
	}
	out := rejudged{Schema: "ktx-audit-rejudge/1", Since: f.Since.UTC(), Review: reviewer.Review()}
	printRejudged(a, out)
	if len(out.Changed) > 0 {
		return &console.ExitError{Code: console.ExitFindings}
	}
	return nil
}

// eachStatement calls take for every statement that meets f: by the index if there is one.
func eachStatement(ctx context.Context, a *console.App, cmd *cobra.Command, dir string, f audit.Filter, take func(audit.Statement) error) error {
	r, err := openLog(dir)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	all := audit.NewestStatements(r.Newest(ctx))
	if x := openIndex(a, cmd, dir); x != nil {
		defer func() { _ = x.Close() }() // it was only read
		all = x.All(ctx, f, false)
	}
	for s, err := range all {
		if err := noteBadLine(a, err); err != nil {
			return err
		}
		if err != nil || !f.MatchStatement(s) {
			continue
		}
		if err := take(s); err != nil {
			return err
		}
	}
	return nil
}

func printRejudged(a *console.App, r rejudged) {
	if a.JSON {
		a.PrintJSON(r)
		return
	}
	for _, c := range r.Changed {
		word, style := "now refused", console.StyleRed
		codes := c.Now
		if c.Outcome == audit.NowAllowed {
			word, style, codes = "now allowed", console.StyleGreen, c.Then
		}
		a.Printf("%s  %d×  %s  %s  (%s)\n  %s\n", a.Paint(a.Out, style, word), c.Statements, console.EscapeControls(c.Connection), strings.Join(codes, " "),
			console.EscapeControls(strings.Join(c.Principals, ", ")), console.EscapeControls(c.SQL))
	}
	a.Printf("%s since %s: %d the same, %d now refused, %d now allowed, %d unknown\n", console.Count(r.Statements, "statement"), r.Since.Format(time.DateOnly), r.Same, r.NowRefused, r.NowAllowed, r.Unknown)
}
