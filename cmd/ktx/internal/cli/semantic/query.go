package semantic

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research"
)

// request are the flags of a request.
type request struct {
	connection                                       string
	measures, dimensions, filters, segments, orderBy []string
	limit                                            int
	noEmpty                                          bool
}

func (r *request) register(a *console.App, c *cobra.Command) {
	flags := c.Flags()
	flags.StringVarP(&r.connection, "connection", "c", "", "connection id (default: the only one)")
	flags.StringArrayVarP(&r.measures, "measure", "m", nil, "measure, or an expression: source.name, or NAME=sum(source.column)")
	flags.StringArrayVarP(&r.dimensions, "dimension", "d", nil, "column to group by: source.name, or source.name:month for a time")
	flags.StringArrayVarP(&r.filters, "filter", "f", nil, "condition on columns or on measures")
	flags.StringArrayVar(&r.segments, "segment", nil, "named condition: source.segment")
	flags.StringArrayVar(&r.orderBy, "order-by", nil, "sort key: header or field, with :asc or :desc")
	flags.IntVar(&r.limit, "limit", research.DefaultMaxRows, "most rows; 0 prints headers only")
	flags.BoolVar(&r.noEmpty, "no-empty", false, "leave out members of dimensions without rows")
	_ = c.RegisterFlagCompletionFunc("connection", wiring.CompleteConnections(a))
	for name, kind := range map[string]research.Kind{"measure": research.KindMeasure, "dimension": research.KindDimension} {
		_ = c.RegisterFlagCompletionFunc(name, r.completeFields(a, kind))
	}
}

// grains are the granularities of times.
var grains = []string{"hour", "day", "week", "month", "quarter", "year"}

func (r *request) input() (research.SLQueryInput, error) {
	if r.limit < 0 {
		return research.SLQueryInput{}, console.Usage("--limit %d: expected 0 or more", r.limit)
	}
	include := !r.noEmpty
	in := research.SLQueryInput{ConnectionID: r.connection, Filters: r.filters, Segments: r.segments, Limit: &r.limit, IncludeEmpty: &include}
	for _, text := range r.measures {
		m := research.SLMeasure{Expr: text}
		if name, rest, ok := strings.Cut(text, "="); ok && isName(name) {
			m = research.SLMeasure{Name: strings.TrimSpace(name), Expr: rest}
		}
		in.Measures = append(in.Measures, m)
	}
	for _, text := range r.dimensions {
		d := research.SLDimension{Field: text}
		if at := strings.LastIndexByte(text, ':'); at > 0 && slices.Contains(grains, strings.ToLower(text[at+1:])) {
			d = research.SLDimension{Field: text[:at], Granularity: strings.ToLower(text[at+1:])}
		} else if at > 0 && isName(text[at+1:]) {
			return in, console.Usage("--dimension %s: %s is not a granularity; expected one of %s", text, text[at+1:], strings.Join(grains, ", "))
		}
		in.Dimensions = append(in.Dimensions, d)
	}
	for _, text := range r.orderBy {
		o := research.SLOrder{Field: text}
		if field, ok := strings.CutSuffix(text, ":desc"); ok {
			o = research.SLOrder{Field: field, Direction: "desc"}
		} else if field, ok := strings.CutSuffix(text, ":asc"); ok {
			o = research.SLOrder{Field: field, Direction: "asc"}
		}
		in.OrderBy = append(in.OrderBy, o)
	}
	return in, nil
}

// isName reports whether a text can be the name before = in --measure, and no part of an
// expression.
func isName(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && !strings.ContainsAny(s, `"'.()<>!+-*/%,[]`+"`")
}

// completeFields completes measures or dimensions of the named connection.
func (r *request) completeFields(a *console.App, kind research.Kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		var names []string
		_ = wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
			fields, err := open.Service.SLFields(ctx, r.connection, kind)
			for _, name := range fields {
				if strings.HasPrefix(name, typed) {
					names = append(names, name)
				}
			}
			return err
		})
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// The formats of ktx sl query.
const (
	formatTable = "table"
	formatSQL   = "sql"
)

// queryCommand returns ktx sl query.
func queryCommand(a *console.App) *cobra.Command {
	var r request
	var format string
	var explain bool
	c := &cobra.Command{
		Use:   "query",
		Short: "Compute measures by dimensions",
		Long: `Compute measures by dimensions. The request is compiled to SQL of the connection's
engine, judged by its guard like every statement, and run read-only.

A request that cannot be answered correctly is refused, with what to change: a
dimension that would count rows twice is the class fan_out.

Exit codes: 0 done · 1 the request or the model is refused · 2 wrong usage ·
3 no answer.`,
		Example: `  ktx sl query -m orders.revenue -d customers.country --order-by revenue:desc --limit 5
  ktx sl query -m orders.revenue -d orders.created_at:month -f "orders.status = 'paid'" --format sql`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := console.OneOf("--format", format, []string{formatTable, console.FormatJSON, formatSQL, "pretty", "plain", "csv"}); err != nil {
				return err
			}
			in, err := r.input()
			if err != nil {
				return err
			}
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				if format == formatSQL {
					return showSQL(ctx, a, open, in)
				}
				shown := format
				if shown == formatTable {
					shown = ""
				}
				if shown, err = a.OutputFormat(shown); err != nil {
					return err
				}
				a.JSON = a.JSON || shown == console.FormatJSON
				return run(ctx, a, open, in, shown, explain)
			})
		},
	}
	r.register(a, c)
	c.Flags().StringVar(&format, "format", formatTable, "output format: table, json, csv, plain, or sql, which prints the SQL and runs nothing")
	c.Flags().BoolVar(&explain, "explain", false, "also print the plan")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{formatTable, console.FormatJSON, "csv", "plain", formatSQL}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func run(ctx context.Context, a *console.App, open *wiring.OpenProject, in research.SLQueryInput, format string, explain bool) error {
	info, err := wiring.OneConnection(ctx, open, in.ConnectionID)
	if err != nil {
		return err
	}
	in.ConnectionID, in.MaxBytes = info.ID, info.Limits.Bytes // the lower default is for the context of a model
	if explain {
		compiled, err := open.Service.SLCompile(ctx, in)
		if err != nil {
			return err
		}
		a.Errorf("%s", console.EscapeLines(compiled.Explain()))
		if format == console.FormatJSON {
			in.Include = []string{"sql", "plan"}
		}
	}
	out, err := open.Service.SLQuery(ctx, in)
	if err != nil {
		return err
	}
	if format == console.FormatJSON {
		doc := []byte(`{"schema":"ktx-sl-rows/1",`)
		a.PrintRawJSON(append(append(doc, out.AppendJSON(nil)[1:]...), '\n'))
		return nil
	}
	shortened := a.Table(format, out.Table.Headers, console.Cells(out.Table.Rows))
	for _, note := range out.Notes {
		a.Errorf("note: %s\n", console.EscapeControls(note))
	}
	if shortened {
		a.Errorf("note: long values are shown shortened; --format json, csv or plain shows them whole\n")
	}
	return nil
}

func showSQL(ctx context.Context, a *console.App, open *wiring.OpenProject, in research.SLQueryInput) error {
	compiled, err := open.Service.SLCompile(ctx, in)
	if err != nil {
		return err
	}
	if a.JSON {
		a.PrintJSON(console.NewDocument("ktx-sl-sql/1").With("connectionId", compiled.ConnectionID).With("dialect", compiled.Dialect).With("sql", compiled.Compiled.SQL))
		return nil
	}
	a.Printf("%s\n", strings.TrimRight(console.EscapeLines(compiled.Compiled.SQL), "\n"))
	return nil
}

// explainCommand returns ktx sl explain.
func explainCommand(a *console.App) *cobra.Command {
	var r request
	c := &cobra.Command{
		Use:               "explain",
		Short:             "Say how a request would be answered",
		Long:              `Say how a request would be answered: which rows are aggregated, over which joins, and what is assumed. Nothing runs.`,
		Example:           `  ktx sl explain -m orders.revenue -d customers.country`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := r.input()
			if err != nil {
				return err
			}
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				compiled, err := open.Service.SLCompile(ctx, in)
				if err != nil {
					return err
				}
				if a.JSON {
					doc := console.NewDocument("ktx-sl-plan/1").With("connectionId", compiled.ConnectionID).With("dialect", compiled.Dialect)
					a.PrintJSON(doc.With("plan", compiled.Compiled.Describe()).With("sql", compiled.Compiled.SQL).With("notes", orEmpty(compiled.Compiled.Plan.Notes)))
					return nil
				}
				a.Printf("%s", console.EscapeLines(compiled.Explain()))
				return nil
			})
		},
	}
	r.register(a, c)
	return c
}
