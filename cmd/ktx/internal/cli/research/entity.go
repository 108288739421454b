package research

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research"
)

// maxEntities is the maximum of entities in the schema of entity_details.
const maxEntities = 20

// EntityCommand returns the command ktx entity.
func EntityCommand(a *console.App) *cobra.Command {
	var connection, output string
	var columns []string
	c := &cobra.Command{
		Use:   "entity TABLE...",
		Short: "Describe tables: columns, types, keys and comments",
		Long: `Describe tables as the latest scan of their connection found them (ktx scan). No
database is asked.

A name may lack its schema, and case does not matter. The id of a column describes
the table with this column.

Exit codes: 0 all are described · 2 a name fits no table, or several · 3 no scan.`,
		Example: `  ktx entity orders
  ktx entity -c demo main.orders --column status`,
		Args: func(_ *cobra.Command, args []string) error {
			if n := len(args); n < 1 || n > maxEntities {
				return console.Usage("expected 1 to %d tables, got %d", maxEntities, n)
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
				info, err := wiring.OneConnection(ctx, open, connection)
				if err != nil {
					return err
				}
				in := research.EntityDetailsInput{ConnectionID: info.ID}
				for _, name := range args {
					in.Entities = append(in.Entities, research.EntityInput{Table: name, Columns: columns})
				}
				out, err := open.Service.EntityDetails(ctx, in)
				if err != nil {
					return err
				}
				return showEntities(a, out, format)
			})
		},
	}
	flags := c.Flags()
	flags.StringVarP(&connection, "connection", "c", "", "connection id (default: the only one)")
	flags.StringSliceVar(&columns, "column", nil, "only this column; may be given several times")
	console.OutputFlag(c, &output)
	_ = c.RegisterFlagCompletionFunc("connection", wiring.CompleteConnections(a))
	return c
}

// showEntities prints tables, and what is wrong with those that cannot be described.
func showEntities(a *console.App, out research.EntityDetails, format string) error {
	code := console.ExitOK
	rows := [][]console.Cell{}
	var notes []string
	for _, r := range out.Results {
		if f := r.Failure; f != nil {
			code = max(code, failureCode(f.Error.Code))
			notes = append(notes, failureNote(f))
			continue
		}
		e := r.Entity
		for _, c := range e.Columns {
			key, null := "", ""
			if c.PrimaryKey {
				key = "primary"
			}
			if c.Nullable {
				null = "yes"
			}
			rows = append(rows, append(console.Texts(e.Display, c.Name, c.NativeType, null, key, pointsTo(e, c.Name)), optional(c.Comment)))
		}
		about := string(e.Kind)
		if e.EstimatedRows != nil {
			about += fmt.Sprintf(", about %s", console.Count(int(*e.EstimatedRows), "row"))
		}
		if e.Usage != nil {
			about += fmt.Sprintf(", read by %s, last at %s", console.Count(int(e.Usage.Statements), "statement"), e.Usage.LastUsed)
		}
		if e.Comment != nil {
			about += ": " + *e.Comment
		}
		notes = append(notes, e.Display+" ("+e.Snapshot.SyncID+"): "+about)
		if e.OmittedColumns > 0 {
			notes = append(notes, fmt.Sprintf("%s has %s more; name those you need with --column", e.Display, console.Count(e.OmittedColumns, "column")))
		}
	}
	if format == console.FormatJSON {
		a.PrintJSON(console.NewDocument("ktx-entity/1").With("results", out.Results))
	} else {
		if len(rows) > 0 {
			a.Table(format, []string{"table", "column", "type", "null", "key", "references", "comment"}, rows)
		}
		for _, n := range notes {
			a.Errorf("note: %s\n", console.EscapeControls(n))
		}
	}
	if code != console.ExitOK {
		return &console.ExitError{Code: code}
	}
	return nil
}

func failureCode(code string) int {
	if code == research.ScanMissing {
		return console.ExitFailed
	}
	return console.ExitUsage
}

func failureNote(f *research.EntityFailure) string {
	note := f.Error.Message
	if len(f.Error.Candidates) > 0 {
		note += "; candidates: " + strings.Join(f.Error.Candidates, ", ")
	}
	if f.Error.Omitted > 0 {
		note += fmt.Sprintf(" and %d more", f.Error.Omitted)
	}
	return note
}

// pointsTo returns the columns that foreign keys of a column point to.
func pointsTo(e *research.Entity, column string) string {
	var list []string
	for _, k := range e.ForeignKeys {
		if k.FromColumn == column {
			to := k.To()
			list = append(list, strings.TrimPrefix(to.DB+"."+to.Name, ".")+"."+k.ToColumn)
		}
	}
	return strings.Join(list, ", ")
}
