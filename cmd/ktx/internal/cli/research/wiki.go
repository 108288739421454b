package research

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/wiki"
)

// WikiCommand returns the command ktx wiki, with read, write and lint below it.
func WikiCommand(a *console.App) *cobra.Command {
	var output string
	var limit int
	c := &cobra.Command{
		Use:   "wiki [QUERY]",
		Short: "Search the project's wiki, or list its pages",
		Long: `Search the pages of the project's wiki. Without QUERY, list all pages.

Pages are Markdown files in wiki/global and wiki/user/NAME, where NAME is the key
user of ktx.yaml (default: local). A query that is the key of a page has that page
first.`,
		Example: `  ktx wiki "how is net revenue defined"
  ktx wiki read net-revenue`,
		Args:              console.OneText("query"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 || limit > 50 {
				return console.Usage("--limit %d: expected 1 to 50", limit)
			}
			format, err := a.OutputFormat(output)
			if err != nil {
				return err
			}
			a.JSON = a.JSON || format == console.FormatJSON
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				if len(args) == 0 {
					return listPages(a, open.Wiki(), format)
				}
				out, err := open.Service.WikiSearch(ctx, research.WikiSearchInput{Query: args[0], Limit: limit})
				if err != nil {
					return err
				}
				showFound(a, out, format)
				return nil
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", research.DefaultWikiLimit, "most pages to print, up to 50")
	console.OutputFlag(c, &output)
	c.AddCommand(wikiReadCommand(a), wikiWriteCommand(a), wikiLintCommand(a))
	return c
}

// showFound prints what a search found.
func showFound(a *console.App, out research.WikiSearch, format string) {
	for _, note := range out.Notes {
		a.Errorf("warning: %s\n", console.EscapeControls(note))
	}
	if format == console.FormatJSON {
		a.PrintJSON(console.NewDocument("ktx-wiki-search/1").With("results", out.Results).With("totalFound", out.TotalFound))
		return
	}
	var rows [][]console.Cell
	for _, r := range out.Results {
		rows = append(rows, console.Texts(r.Key, string(r.Scope), strconv.FormatFloat(r.Score, 'f', -1, 64), strings.Join(r.MatchReasons, ", "), r.Summary))
	}
	a.Table(format, []string{"key", "scope", "score", "found in", "summary"}, rows)
	if out.TotalFound == 0 {
		a.Errorf("note: no page has a word of the question; ktx wiki lists all pages\n")
	}
	if more := out.TotalFound - len(out.Results); more > 0 {
		a.Errorf("note: %s more; --limit shows up to 50\n", console.Count(more, "page"))
	}
}

// pageEntry is a page in the list of all.
type pageEntry struct {
	Key      string     `json:"key"`
	Path     string     `json:"path"`
	Scope    wiki.Scope `json:"scope"`
	Summary  string     `json:"summary"`
	Tags     []string   `json:"tags"`
	Usage    string     `json:"usageMode"`
	Source   string     `json:"source,omitempty"`
	Stale    string     `json:"staleSince,omitempty"`
	Archived string     `json:"archivedSince,omitempty"`
}

// listPages prints all pages.
func listPages(a *console.App, store *wiki.Store, format string) error {
	snapshot, err := store.Snapshot()
	if err != nil {
		return console.Failed("%w", err)
	}
	for _, w := range snapshot.Warnings() {
		a.Errorf("warning: %s\n", console.EscapeControls(w))
	}
	list := []pageEntry{}
	for _, p := range snapshot.Pages() {
		tags := p.Tags
		if tags == nil {
			tags = []string{}
		}
		list = append(list, pageEntry{p.Key, p.Path, p.Scope, p.Summary, tags, string(p.Usage), p.Source, p.StaleSince, p.ArchivedSince})
	}
	if format == console.FormatJSON {
		a.PrintJSON(console.NewDocument("ktx-wiki-pages/1").With("pages", list))
		return nil
	}
	var rows [][]console.Cell
	for _, p := range list {
		state := p.Usage
		switch {
		case p.Archived != "":
			state = "archived"
		case p.Stale != "":
			state = "stale"
		}
		rows = append(rows, console.Texts(p.Key, string(p.Scope), state, p.Summary))
	}
	a.Table(format, []string{"key", "scope", "state", "summary"}, rows)
	if len(list) == 0 {
		a.Errorf("note: the wiki has no page; write one with ktx wiki write KEY\n")
	}
	return nil
}

func wikiReadCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:   "read KEY",
		Short: "Print a page",
		Long: `Print a page of the wiki: that of the user, else the global one.

Exit codes: 0 done · 2 no such page.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeKeys(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				page, err := open.Service.WikiRead(ctx, research.WikiReadInput{Key: args[0]})
				if err != nil {
					return err
				}
				if a.JSON {
					a.PrintJSON(struct {
						Schema string `json:"schema"`
						research.WikiRead
					}{"ktx-wiki-page/1", page})
					return nil
				}
				for _, note := range page.Notes {
					a.Errorf("note: %s\n", console.EscapeControls(note))
				}
				text := page.Content
				if a.Out.Terminal {
					text = console.EscapeLines(text)
				}
				if !strings.HasSuffix(text, "\n") {
					text += "\n"
				}
				a.Printf("%s", text)
				return nil
			})
		},
	}
}

func wikiLintCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:   "lint",
		Short: "Check all pages: heads, links, summaries, names",
		Long: `Check all pages of the wiki: heads that cannot be read, links that lead nowhere,
missing summaries, file names that are no keys.

Exit codes: 0 no errors · 1 errors.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return wiring.WithGateway(cmd.Context(), a, "cli", func(_ context.Context, open *wiring.OpenProject) error {
				problems, err := open.Wiki().Lint()
				if err != nil {
					return console.Failed("%w", err)
				}
				return showProblems(a, problems)
			})
		},
	}
}

// showProblems prints what lint found. The error is an exit code.
func showProblems(a *console.App, problems []wiki.Problem) error {
	errs := 0
	for _, p := range problems {
		if p.Level == wiki.LevelError {
			errs++
		}
	}
	if a.JSON {
		if problems == nil {
			problems = []wiki.Problem{}
		}
		a.PrintJSON(console.NewDocument("ktx-wiki-lint/1").With("errors", errs).With("warnings", len(problems)-errs).With("problems", problems))
	} else {
		for _, p := range problems {
			a.Printf("%s:%d: %s: %s\n", console.EscapeControls(p.Path), p.Line, p.Level, console.EscapeControls(p.Message))
		}
		a.Errorf("%s, %s\n", console.Count(errs, "error"), console.Count(len(problems)-errs, "warning"))
	}
	if errs > 0 {
		return &console.ExitError{Code: console.ExitFindings}
	}
	return nil
}

// completeKeys completes the key of a page.
func completeKeys(a *console.App) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		err := wiring.WithPages(a, func(store *wiki.Store) error {
			snapshot, err := store.Snapshot()
			if err != nil {
				return err
			}
			last := ""
			for _, p := range snapshot.Pages() {
				if p.Key != last {
					out = append(out, cobra.CompletionWithDesc(p.Key, console.EscapeControls(p.Summary)))
				}
				last = p.Key
			}
			return nil
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}
