package semantic

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research"
)

// Command returns the command ktx sl, with its commands below it.
func Command(a *console.App) *cobra.Command {
	c := finder(a, &cobra.Command{
		Use:   "sl [QUERY]",
		Short: "Ask the semantic layer: measures by dimensions, with correct joins",
		Long: `List the sources of the semantic layer, or find sources, measures and dimensions by
a question.

The files lie in semantic-layer/<connection>/. A scan writes what it found to
_schema/ there; measures, segments and joins that a person writes lie beside it.`,
		Example: `  ktx sl list
  ktx sl search "revenue by country"
  ktx sl query --measure orders.revenue --dimension customers.country`,
		Args: console.OneText("question"),
	})
	c.AddCommand(
		finder(a, &cobra.Command{
			Use:     "list",
			Short:   "List the sources",
			Example: `  ktx sl list -c demo`,
			Args:    cobra.NoArgs,
		}),
		finder(a, &cobra.Command{
			Use:     "search QUERY",
			Short:   "Find sources, measures and dimensions by a question",
			Example: `  ktx sl search "revenue by country"`,
			Args:    cobra.MatchAll(console.OneText("question"), cobra.ExactArgs(1)),
		}),
		readCommand(a), validateCommand(a), queryCommand(a), explainCommand(a), initCommand(a), importCommand(a), schemaCommand(a),
	)
	return c
}

// finder completes a command that lists sources, or searches for its argument.
func finder(a *console.App, c *cobra.Command) *cobra.Command {
	var connection, output string
	c.ValidArgsFunction = cobra.NoFileCompletions
	c.RunE = func(cmd *cobra.Command, args []string) error {
		format, err := a.OutputFormat(output)
		if err != nil {
			return err
		}
		a.JSON = a.JSON || format == console.FormatJSON
		return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
			if len(args) == 1 && strings.TrimSpace(args[0]) != "" {
				return search(ctx, a, open, connection, args[0], format)
			}
			return list(ctx, a, open, connection, format)
		})
	}
	c.Flags().StringVarP(&connection, "connection", "c", "", "connection id (default: all)")
	console.OutputFlag(c, &output)
	_ = c.RegisterFlagCompletionFunc("connection", wiring.CompleteConnections(a))
	return c
}

func list(ctx context.Context, a *console.App, open *wiring.OpenProject, connection, format string) error {
	sources, err := open.Service.SLSources(ctx, connection)
	if err != nil {
		return err
	}
	if format == console.FormatJSON {
		a.PrintJSON(console.NewDocument("ktx-sl-sources/1").With("sources", sources))
		return nil
	}
	var rows [][]console.Cell
	for _, s := range sources {
		valid := "yes"
		if !s.Valid {
			valid = "no"
		}
		rows = append(rows, console.Texts(s.ConnectionID, s.Name, s.Origin, valid, strconv.Itoa(s.Columns), strconv.Itoa(s.Measures), strconv.Itoa(s.Segments), s.Description))
	}
	a.Table(format, []string{"connection", "source", "from", "valid", "columns", "measures", "segments", "description"}, rows)
	if len(sources) == 0 {
		a.Errorf("note: there are no sources; `ktx scan CONNECTION` finds tables and keys, and `ktx sl init CONNECTION` drafts measures\n")
	}
	return nil
}

func search(ctx context.Context, a *console.App, open *wiring.OpenProject, connection, text, format string) error {
	out, err := open.Service.DiscoverData(ctx, research.DiscoverDataInput{
		Query: text, ConnectionID: connection, Kinds: []research.Kind{research.KindSource, research.KindMeasure, research.KindDimension},
	})
	if err != nil {
		return err
	}
	if format == console.FormatJSON {
		a.PrintJSON(console.NewDocument("ktx-discover/1").With("refs", out.Refs))
		return nil
	}
	rows := [][]console.Cell{}
	for _, r := range out.Refs {
		row := console.Texts(strings.TrimPrefix(string(r.Kind), "sl_"), r.ID, r.ConnectionID, strconv.FormatFloat(r.Score, 'f', -1, 64))
		for _, text := range []*string{r.Summary, r.Snippet} {
			cell := console.Cell{Null: true}
			if text != nil {
				cell = console.Cell{Text: *text}
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	if a.Table(format, []string{"kind", "name", "connection", "score", "summary", "snippet"}, rows) {
		a.Errorf("note: long values are shown shortened; --output json, csv or plain shows them whole\n")
	}
	if len(rows) == 0 {
		a.Errorf("note: nothing was found; ktx sl list shows all sources\n")
	}
	return nil
}

// readCommand returns ktx sl read.
func readCommand(a *console.App) *cobra.Command {
	var connection string
	c := &cobra.Command{
		Use:   "read SOURCE",
		Short: "Print a source as YAML",
		Long: `Print a source as YAML: a file as it is, or what a scan and its overlay make
together. Its problems go to standard error.`,
		Example:           `  ktx sl read orders -c demo`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeSources(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				info, err := wiring.OneConnection(ctx, open, connection)
				if err != nil {
					return err
				}
				out, err := open.Service.SLReadSource(ctx, research.SLReadSourceInput{ConnectionID: info.ID, SourceName: args[0]})
				if err != nil {
					return err
				}
				if a.JSON {
					doc := console.NewDocument("ktx-sl-source/1").With("sourceName", out.SourceName).With("yaml", out.YAML).With("valid", out.Valid)
					a.PrintJSON(doc.With("problems", orEmpty(out.Problems)).With("measures", orEmpty(out.Measures)))
					return nil
				}
				a.Printf("%s", strings.TrimRight(console.EscapeLines(out.YAML), "\n")+"\n")
				for _, p := range out.Problems {
					a.Errorf("%s\n", console.EscapeControls(problemLine(p)))
				}
				return nil
			})
		},
	}
	c.Flags().StringVarP(&connection, "connection", "c", "", "connection id (default: the only one)")
	_ = c.RegisterFlagCompletionFunc("connection", wiring.CompleteConnections(a))
	return c
}

// orEmpty returns a list that is never nil, which JSON writes as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// completeSources completes the names of sources of the connection that the command line
// names.
func completeSources(a *console.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		connection, _ := cmd.Flags().GetString("connection")
		var names []string
		_ = wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
			sources, err := open.Service.SLSources(ctx, connection)
			for _, s := range sources {
				names = append(names, s.Name)
			}
			return err
		})
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
