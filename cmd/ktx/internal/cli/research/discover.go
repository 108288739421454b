package research

import (
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research"
)

// maxDiscoverLimit is the maximum of limit in the schema of discover_data.
const maxDiscoverLimit = 50

// DiscoverCommand returns the command ktx discover.
func DiscoverCommand(a *console.App) *cobra.Command {
	var connection, output string
	var kinds []string
	var limit int
	c := &cobra.Command{
		Use:   "discover QUERY",
		Short: "Find tables, columns and wiki pages by a question",
		Long: `Find the tables, columns and wiki pages that a question is about. No database is
asked: tables and columns are those of the latest scan of each connection (ktx scan).

The best results come first. The column "matched on" names the field that holds a
word of the question.`,
		Example: `  ktx discover "net revenue per customer"
  ktx discover -c demo --kind table orders`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return console.Usage("expected the question as one argument, got %d: put it in quotes", len(args))
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 || limit > maxDiscoverLimit {
				return console.Usage("--limit %d: expected 1 to %d", limit, maxDiscoverLimit)
			}
			in := research.DiscoverDataInput{Query: args[0], ConnectionID: connection, Limit: limit}
			for _, k := range kinds {
				if err := console.OneOf("--kind", k, kindNames()); err != nil {
					return err
				}
				in.Kinds = append(in.Kinds, research.Kind(k))
			}
			format, err := a.OutputFormat(output)
			if err != nil {
				return err
			}
			a.JSON = a.JSON || format == console.FormatJSON
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				out, err := open.Service.DiscoverData(ctx, in)
				if err != nil {
					return err
				}
				showDiscovered(a, out, format)
				return nil
			})
		},
	}
	flags := c.Flags()
	flags.StringVarP(&connection, "connection", "c", "", "connection id (default: all)")
	flags.StringSliceVar(&kinds, "kind", nil, "only this kind, such as table; may be given several times")
	flags.IntVar(&limit, "limit", research.DefaultDiscoverLimit, "most results to print, up to 50")
	console.OutputFlag(c, &output)
	_ = c.RegisterFlagCompletionFunc("connection", wiring.CompleteConnections(a))
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func kindNames() []string {
	var names []string
	for _, k := range research.Kinds {
		names = append(names, string(k))
	}
	return slices.Clip(names)
}

// showDiscovered prints what was found.
func showDiscovered(a *console.App, out research.DiscoverData, format string) {
	if format == console.FormatJSON {
		doc := console.NewDocument("ktx-discover/1").With("refs", out.Refs)
		if len(out.Notes) > 0 {
			doc = doc.With("notes", out.Notes)
		}
		a.PrintJSON(doc)
		return
	}
	rows := [][]console.Cell{}
	for _, r := range out.Refs {
		row := console.Texts(string(r.Kind), r.ID, r.ConnectionID, strconv.FormatFloat(r.Score, 'f', -1, 64), r.MatchedOn)
		rows = append(rows, append(row, optional(r.Summary), optional(r.Snippet)))
	}
	if a.Table(format, []string{"kind", "id", "connection", "score", "matched on", "summary", "snippet"}, rows) {
		a.Errorf("note: long values are shown shortened; --output json, csv or plain shows them whole\n")
	}
	for _, note := range out.Notes {
		a.Errorf("note: %s\n", console.EscapeControls(note))
	}
}

// optional returns a cell that is NULL for nil.
func optional(s *string) console.Cell {
	if s == nil {
		return console.Cell{Null: true}
	}
	return console.Cell{Text: *s}
}
