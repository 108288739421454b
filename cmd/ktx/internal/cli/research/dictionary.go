package research

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
)

// mostDictionaryValues is the maximum of values in the schema of dictionary_search.
const mostDictionaryValues = 20

// dictionaryBytes is how long the answer for people may be. The shorter default is
// for the context of a model.
const dictionaryBytes = 1 << 20

// DictionaryCommand returns the command ktx dictionary.
func DictionaryCommand(a *console.App) *cobra.Command {
	var connection, output string
	c := &cobra.Command{
		Use:   "dictionary VALUE...",
		Short: "Find the columns that hold a value, and how the database spells it",
		Long: `Find the columns that hold a value, and how the database spells it. The search
ignores case, accents, and kinds of dashes and spaces.

The values are those that ktx scan has kept. No database is asked, so a value that
is not found may still exist. Values are looked up in all connections unless
--connection names one.

Best matches come first: exact, code (equal without punctuation), prefix, word,
substring. A fuzzy match is only shown if there is no other.`,
		Example: `  ktx dictionary "ivory coast"
  ktx dictionary -c demo paid AB-1204`,
		Args: func(_ *cobra.Command, args []string) error {
			if n := len(args); n < 1 || n > mostDictionaryValues {
				return console.Usage("expected 1 to %d values, got %d", mostDictionaryValues, n)
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := a.OutputFormat(output)
			if err != nil {
				return err
			}
			a.JSON = a.JSON || format == console.FormatJSON
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				out, err := open.Service.DictionarySearch(ctx, research.DictionarySearchInput{Values: args, ConnectionID: connection, MaxBytes: dictionaryBytes})
				if err != nil {
					return err
				}
				showDictionary(a, out, format)
				return nil
			})
		},
	}
	c.Flags().StringVarP(&connection, "connection", "c", "", "connection id (default: all)")
	console.OutputFlag(c, &output)
	_ = c.RegisterFlagCompletionFunc("connection", wiring.CompleteConnections(a))
	return c
}

// showDictionary prints the matches, and notes about what has none.
func showDictionary(a *console.App, out research.DictionarySearch, format string) {
	for _, note := range out.Notes {
		a.Errorf("warning: %s\n", console.EscapeControls(note))
	}
	if format == console.FormatJSON {
		doc := console.NewDocument("ktx-dictionary/1").With("searched", out.Searched)
		if out.OmittedConnections > 0 {
			doc = doc.With("omittedConnections", out.OmittedConnections)
		}
		a.PrintJSON(doc.With("results", out.Results))
		return
	}
	rows := [][]console.Cell{}
	for _, r := range out.Results {
		for _, m := range r.Matches {
			row := console.Texts(r.Value, m.MatchedValue, string(m.MatchType), m.ConnectionID, tableName(m.TableRef), m.ColumnName)
			distinct := console.Cell{Null: true}
			if m.Cardinality != nil {
				distinct = console.Cell{Text: strconv.FormatInt(*m.Cardinality, 10)}
			}
			rows = append(rows, append(row, distinct))
		}
	}
	shortened := a.Table(format, []string{"value", "match", "type", "connection", "table", "column", "distinct"}, rows)
	for _, r := range out.Results {
		switch {
		case len(r.Matches) == 0:
			a.Errorf("note: %q was not found among the values that are known; it may still exist\n", r.Value)
		case r.Omitted > 0:
			a.Errorf("note: %q resembles %s more; give a longer value, or a connection with -c\n", r.Value, console.Count(r.Omitted, "value"))
		}
	}
	for _, s := range out.Searched {
		if s.Status != dictionary.StatusReady {
			a.Errorf("note: %s: %s\n", s.ConnectionID, s.Hint)
		}
	}
	if shortened {
		a.Errorf("note: long values are shown shortened; --output json, csv or plain shows them whole\n")
	}
}

// tableName returns the name of a table with the parts that it has.
func tableName(r catalog.Ref) string {
	var parts []string
	for _, part := range []string{r.Catalog, r.DB, r.Name} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ".")
}
