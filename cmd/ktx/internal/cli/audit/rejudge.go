package audit

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
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

// changed is a form of statements whose verdict would change.
type changed struct {
	Outcome     audit.Outcome `json:"outcome"`
	Connection  string        `json:"connection"`
	Statements  int           `json:"statements"`
	Then        []string      `json:"then"` // codes; none when it was allowed
	Now         []string      `json:"now"`
	SQL         string        `json:"sql"`
	LastQueryID string        `json:"lastQueryId"` // of the newest
	Principals  []string      `json:"principals"`
}

// rejudged is the result under --json.
type rejudged struct {
	Schema     string    `json:"schema"`
	Since      time.Time `json:"since"`
	Statements int       `json:"statements"`
	Same       int       `json:"same"`
	NowRefused int       `json:"nowRefused"`
	NowAllowed int       `json:"nowAllowed"`
	Unknown    int       `json:"unknown"`
	Changed    []changed `json:"changed"`
}

// formKey is what statements have in common that get the same verdict.
type formKey struct{ connection, text, verdict string }

func rejudge(ctx context.Context, a *console.App, cmd *cobra.Command, p *project.Project, dir string, f audit.Filter) error {
	out := rejudged{Schema: "ktx-audit-rejudge/1", Since: f.Since.UTC(), Changed: []changed{}}
	guards := map[string]*sqlguard.Guard{}
	known := map[formKey]audit.Again{}
	groups := map[formKey]*changed{}
	progress := a.Progress("statements", 0)
	take := func(s audit.Statement) error {
		d := s.Decision
		if d.Seq == 0 {
			return nil // its decision is in an archive
		}
		out.Statements++
		progress.Set(int64(out.Statements))
		key := formKey{d.Connection.ID, cmp.Or(d.SQL.Text, d.SQL.Normalized), d.Decision.Verdict + " " + strings.Join(d.Decision.Codes, " ")}
		again, have := known[key]
		if !have {
			guard, err := guardOf(p, guards, d)
			if err != nil {
				return err
			}
			again = audit.Again{Outcome: audit.Unknown}
			if guard != nil {
				again, err = audit.Rejudge(d, func(sql string) (sqlguard.Verdict, error) { return guard.Check(sql), nil })
				if err != nil {
					return err
				}
			}
			known[key] = again
		}
		switch again.Outcome {
		case audit.Same:
			out.Same++
			return nil
		case audit.Unknown:
			out.Unknown++
			return nil
		case audit.NowRefused:
			out.NowRefused++
		case audit.NowAllowed:
			out.NowAllowed++
		}
		g := groups[key]
		if g == nil {
			g = &changed{
				Outcome: again.Outcome, Connection: d.Connection.ID, Then: append([]string{}, d.Decision.Codes...), Now: []string{},
				SQL: d.SQL.Normalized, LastQueryID: d.QueryID, Principals: []string{},
			}
			for _, finding := range again.Verdict.Findings {
				if !slices.Contains(g.Now, string(finding.Code)) {
					g.Now = append(g.Now, string(finding.Code))
				}
			}
			groups[key] = g
		}
		g.Statements++
		if !slices.Contains(g.Principals, d.Principal) {
			g.Principals = append(g.Principals, d.Principal)
		}
		return nil
	}
	err := eachStatement(ctx, a, cmd, dir, f, take)
	progress.Stop()
	if err != nil {
		return notYet(dir, err)
	}
	for _, g := range slices.SortedFunc(maps.Values(groups), func(a, b *changed) int {
		return cmp.Or(cmp.Compare(b.Statements, a.Statements), cmp.Compare(a.SQL, b.SQL), cmp.Compare(a.Connection, b.Connection))
	}) {
		out.Changed = append(out.Changed, *g)
	}
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

// guardOf returns the guard of a decision's connection by ktx.yaml, nil when the project
// has no such connection or no reader for it.
func guardOf(p *project.Project, made map[string]*sqlguard.Guard, d audit.Event) (*sqlguard.Guard, error) {
	id := d.Connection.ID
	if g, have := made[id]; have {
		return g, nil
	}
	made[id] = nil
	if _, known := p.Config.Connections[id]; !known {
		return nil, nil //nolint:nilnil // there is none
	}
	dialect, err := wiring.LookupDialect(d.Connection.Dialect)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // a dialect of another version
	}
	g, err := wiring.DialectGuard(p, id, "", dialect)
	made[id] = g
	return g, err
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
