package upstream

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/upstream"
	"github.com/ktxhq/ktx/sqlguard"
)

// Command returns the command ktx upstream.
func Command(a *console.App) *cobra.Command {
	c := console.Group("upstream", "Use the tools of other MCP servers, as agents do",
		listCommand(a), checkCommand(a), searchCommand(a), toolsCommand(a), detailsCommand(a), callCommand(a), approveCommand(a), loginCommand(a), logoutCommand(a), importCommand(a))
	c.Long = `Use the tools of the MCP servers that the block upstreams of ktx.yaml names. Agents
reach them with the tools server_list, tool_search, tool_list, tool_details and
tool_call.`
	return c
}

// with opens the project and its servers, and gives errors of servers an exit code.
func with(cmd *cobra.Command, a *console.App, f func(context.Context, *wiring.OpenProject) error) error {
	return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
		if !open.Project.Config.Upstreams.Set() {
			return console.Usage("%s names no servers: add the block upstreams, or see ktx upstream import", open.Project.File)
		}
		if err := open.StartUpstreams(a, false, nil); err != nil {
			return err
		}
		return coded(f(ctx, open))
	})
}

// coded returns an error of a server as one that the console prints, with its exit code.
func coded(err error) error {
	x, ok := errors.AsType[*upstream.Error](err)
	if !ok {
		return err
	}
	e := &execution.Error{Code: sqlguard.Code(x.Code), Message: x.Message, Hint: x.Hint, Retryable: x.Retryable, RetryAfter: x.RetryAfter}
	code := console.ExitFailed
	switch x.Code {
	case upstream.CodeServerNotFound, upstream.CodeToolNotFound, upstream.CodeValidation, upstream.CodeConfiguration:
		code = console.ExitUsage
	case upstream.CodeSQLRejected, upstream.CodeToolDisabled, upstream.CodeToolChanged:
		code = console.ExitFindings
	}
	return &console.ExitError{Code: code, Err: e}
}

// complete completes the name of a server, and then that of a tool whose server was
// connected to before.
func complete(a *console.App, tools bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var out []string
		_ = wiring.WithUpstreams(a, func(m *upstream.Manager) error {
			switch {
			case len(args) == 0:
				for _, s := range m.Servers(context.Background()) {
					out = append(out, cobra.CompletionWithDesc(s.Name, console.EscapeControls(s.Description)))
				}
			case tools:
				out = m.Known(args[0])
			}
			return nil
		})
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

func listCommand(a *console.App) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the servers, with their states and counts of tools",
		Long: `List the servers, with counts of their tools. The counts are those of the last
connection: this command connects to no server. ktx upstream check does.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			format, err := a.OutputFormat(output)
			if err != nil {
				return err
			}
			a.JSON = a.JSON || format == console.FormatJSON
			return with(cmd, a, func(ctx context.Context, open *wiring.OpenProject) error {
				out, err := open.Service.ServerList(ctx, research.ServerListInput{})
				if err != nil {
					return err
				}
				if format == console.FormatJSON {
					a.PrintJSON(console.NewDocument("ktx-upstream-list/1").With("servers", out.Servers))
					return nil
				}
				rows := [][]console.Cell{}
				for _, s := range out.Servers {
					row := console.Texts(s.Name, s.Status)
					for _, n := range []*int{s.Tools, s.Enabled, s.Hidden} {
						cell := console.Cell{Null: n == nil}
						if n != nil {
							cell.Text = strconv.Itoa(*n)
						}
						row = append(row, cell)
					}
					rows = append(rows, append(row, console.Cell{Text: s.Description}, console.Cell{Text: s.LastError, Null: s.LastError == ""}))
				}
				a.Table(format, []string{"server", "status", "tools", "enabled", "hidden", "description", "last error"}, rows)
				return nil
			})
		},
	}
	console.OutputFlag(c, &output)
	return c
}

func checkCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:   "check [SERVER]",
		Short: "Connect to the servers, and report what is wrong with them and their rules",
		Long: `Connect to each server, or to one, and report what does not work, which tools
have changed, which arguments may be SQL that nothing judges, and which rules match
nothing.

Exit codes: 0 nothing worse than a note · 1 warnings · 3 a server cannot be used.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: complete(a, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, a, func(ctx context.Context, open *wiring.OpenProject) error {
				findings, err := open.Upstream.Check(ctx, strings.Join(args, ""))
				if err != nil {
					return err
				}
				code := console.ExitOK
				for _, f := range findings {
					switch f.Level {
					case upstream.LevelError:
						code = console.ExitFailed
					case upstream.LevelWarning:
						code = max(code, console.ExitFindings)
					}
				}
				if a.JSON {
					a.PrintJSON(console.NewDocument("ktx-upstream-check/1").With("findings", findings))
				} else {
					printFindings(a, findings)
				}
				if code != console.ExitOK {
					return &console.ExitError{Code: code}
				}
				return nil
			})
		},
	}
}

func printFindings(a *console.App, findings []upstream.Finding) {
	styles := map[string]string{upstream.LevelNote: console.StyleDim, upstream.LevelWarning: console.StyleYellow, upstream.LevelError: console.StyleRed}
	for _, f := range findings {
		subject := f.Server
		if f.Tool != "" {
			subject += ":" + f.Tool
		}
		if subject == "" {
			subject = "upstreams"
		}
		a.Printf("%s  %s: %s\n", a.Paint(a.Out, styles[f.Level], f.Level+strings.Repeat(" ", 7-len(f.Level))), console.EscapeControls(subject), console.EscapeControls(f.Message))
		if f.Fix != "" {
			a.Printf("         fix: %s\n", console.EscapeControls(f.Fix))
		}
	}
}

// The limits of --limit.
const (
	defaultLimit = 5
	maxLimit     = 20
)

func searchCommand(a *console.App) *cobra.Command {
	var (
		in     = research.ToolSearchInput{}
		output string
	)
	c := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Find tools by words",
		Long: `Find tools by words, best first. Each argument is a query; up to five are
answered with one list. Servers that were never connected to are connected first.`,
		Example: `  ktx upstream search "read a file"
  ktx upstream search --server github "close an issue"`,
		Args:              cobra.RangeArgs(1, 5),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.Limit < 1 || in.Limit > maxLimit {
				return console.Usage("--limit %d: expected 1 to %d", in.Limit, maxLimit)
			}
			format, err := a.OutputFormat(output)
			if err != nil {
				return err
			}
			a.JSON = a.JSON || format == console.FormatJSON
			in.Query = args
			return with(cmd, a, func(ctx context.Context, open *wiring.OpenProject) error {
				out, err := open.Service.ToolSearch(ctx, in)
				if err != nil {
					return err
				}
				if format == console.FormatJSON {
					a.PrintJSON(console.NewDocument("ktx-upstream-search/1").With("answer", out))
					return nil
				}
				rows := [][]console.Cell{}
				for _, r := range out.Results {
					rows = append(rows, console.Texts(r.Server, r.Tool, strconv.FormatFloat(r.Relevance, 'f', -1, 64), r.MatchedOn, strings.Join(r.Tags, " "), r.Summary))
				}
				a.Table(format, []string{"server", "tool", "relevance", "matched on", "tags", "summary"}, rows)
				if len(out.Unsearched) > 0 {
					a.Errorf("note: not searched, because there is no connection: %s\n", console.EscapeControls(strings.Join(out.Unsearched, ", ")))
				}
				if len(out.Suggestions) > 0 {
					a.Errorf("note: nothing was found; similar names: %s\n", console.EscapeControls(strings.Join(out.Suggestions, ", ")))
				}
				if out.Hidden > 0 {
					a.Errorf("note: %s not enabled, and not searched\n", console.Count(out.Hidden, "tool"))
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&in.Server, "server", "", "only this server")
	c.Flags().StringSliceVar(&in.Tags, "tag", nil, "only tools with this tag; may be given several times")
	c.Flags().IntVar(&in.Limit, "limit", defaultLimit, "most results to print, up to 20")
	console.OutputFlag(c, &output)
	_ = c.RegisterFlagCompletionFunc("server", func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return complete(a, false)(cmd, nil, word)
	})
	return c
}

func toolsCommand(a *console.App) *cobra.Command {
	var (
		all    bool
		output string
	)
	c := &cobra.Command{
		Use:               "tools SERVER",
		Short:             "List the tools of a server",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: complete(a, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := a.OutputFormat(output)
			if err != nil {
				return err
			}
			a.JSON = a.JSON || format == console.FormatJSON
			return with(cmd, a, func(ctx context.Context, open *wiring.OpenProject) error {
				whole := research.ToolList{Tools: []upstream.Summary{}}
				for cursor := ""; ; {
					page, err := open.Service.ToolList(ctx, research.ToolListInput{Server: args[0], Cursor: cursor, IncludeDisabled: all})
					if err != nil {
						return err
					}
					whole.Tools, whole.Hidden = append(whole.Tools, page.Tools...), page.Hidden
					if cursor = page.NextCursor; cursor == "" {
						break
					}
				}
				if format == console.FormatJSON {
					a.PrintJSON(console.NewDocument("ktx-upstream-tools/1").With("server", args[0]).With("tools", whole.Tools).With("hidden", whole.Hidden))
					return nil
				}
				rows := [][]console.Cell{}
				for _, t := range whole.Tools {
					state := t.State
					if state == "" {
						state = upstream.StateEnabled
					}
					rows = append(rows, console.Texts(t.Tool, state, map[bool]string{true: "yes", false: "no"}[t.ReadOnly], strings.Join(t.Tags, " "), t.Summary))
				}
				a.Table(format, []string{"tool", "state", "read-only", "tags", "summary"}, rows)
				if !all && whole.Hidden > 0 {
					a.Errorf("note: %s not enabled; --all shows them\n", console.Count(whole.Hidden, "tool"))
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "also list tools that are not enabled")
	console.OutputFlag(c, &output)
	return c
}

func detailsCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:               "details SERVER TOOL",
		Short:             "Show the schemas of a tool, its state, and an example of a call",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: complete(a, true),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, a, func(ctx context.Context, open *wiring.OpenProject) error {
				out, err := open.Service.ToolDetails(ctx, research.ToolDetailsInput{Server: args[0], Tool: args[1]})
				if err != nil {
					return err
				}
				a.PrintJSON(console.NewDocument("ktx-upstream-details/1").With("tool", out))
				return nil
			})
		},
	}
}
