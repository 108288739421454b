package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
)

// defaultQueryLimit is how many rows ktx audit query shows unless told.
const defaultQueryLimit = 100

// queryOptions are the flags of ktx audit query.
type queryOptions struct {
	conditions
	limit   int
	reverse bool
	events  bool
	output  string
}

func queryCommand(a *console.App) *cobra.Command {
	var o queryOptions
	c := &cobra.Command{
		Use:   "query",
		Short: "List the statements, or events, that meet conditions, the newest first",
		Long: `List statements, the newest first. A row has the time of the decision, the
principal, the connection, the verdict and its codes, how the statement ended, its
rows, its milliseconds, the address of the client, and the statement without literals. Decision and outcome
are one row. A statement whose end is not recorded is unfinished. --events, --event
and --reason list single events instead.

All conditions must hold. Names are compared as the log has them. Tables and
functions match in any case, and with or without their schema.

Statements come from the index when ktx audit index has made one, which is faster in
a large log. Events, and everything with --no-index, are read from the log.

Other processes may write to the log meanwhile. The memory that the command needs
does not grow with the log.

Exit codes: 0 done, even when nothing was found · 2 wrong usage · 3 the log could
not be read.`,
		Example: `  ktx audit query --verdict reject --since 1d
  ktx audit query --table orders --min-rows 1000 --output csv --limit 0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			format, err := a.OutputFormat(o.output)
			if err != nil {
				return err
			}
			a.JSON = a.JSON || format == console.FormatJSON
			if o.limit < 0 {
				return console.Usage("--limit %d: expected at least 0", o.limit)
			}
			if err := o.resolve(cmd, time.Now()); err != nil {
				return err
			}
			o.events = o.events || len(o.Types) > 0 || o.Reason != "" // no statement has a reason
			dir, err := logDir(a, cmd)
			if err != nil {
				return err
			}
			r, err := openLog(dir)
			if err != nil {
				return err
			}
			defer func() { _ = r.Close() }()
			if !o.events {
				if x := openIndex(a, cmd, dir); x != nil {
					defer func() { _ = x.Close() }() // it was only read
					return queryLog(cmd.Context(), a, indexRows(a, x, o), o, format)
				}
			}
			return queryLog(cmd.Context(), a, logRows(a, r, o), o, format)
		},
	}
	o.addAll(a, c)
	flags := c.Flags()
	flags.IntVarP(&o.limit, "limit", "n", defaultQueryLimit, "most rows; 0 for all")
	flags.BoolVar(&o.reverse, "reverse", false, "the oldest first")
	flags.BoolVar(&o.events, "events", false, "single events instead of statements")
	indexFlag(c)
	console.OutputFlag(c, &o.output)
	return c
}

// queryLog prints the rows that meet the conditions. With a limit and --reverse
// these are the oldest ones.
func queryLog(ctx context.Context, a *console.App, rows eachRow, o queryOptions, format string) error {
	out := newRowPrinter(a, format, o.events)
	more := false
	// take prints a row and returns whether another one is wanted.
	take := func(row audit.Row) bool {
		if o.limit > 0 && out.printed == o.limit {
			more = true
			return false
		}
		out.add(row)
		return a.Out.Failure() == nil
	}
	if err := rows(ctx, take); err != nil {
		return err
	}
	out.end(more)
	if out.printed == 0 {
		a.Errorf("note: nothing in the log meets the conditions\n")
	}
	if more {
		a.Errorf("note: more exist than the %s shown; --limit 0 shows all\n", console.Count(out.printed, "row"))
	}
	if out.shortened {
		a.Errorf("note: long values are shown shortened; --output json, csv or plain shows them whole\n")
	}
	return nil
}

// eachRow calls take for everything that meets the conditions, until take returns
// false.
type eachRow func(ctx context.Context, take func(audit.Row) bool) error

// indexRows reads the rows by the index.
func indexRows(a *console.App, x *index.Index, o queryOptions) eachRow {
	return func(ctx context.Context, take func(audit.Row) bool) error {
		page := index.Page{Limit: 1000, Oldest: o.reverse}
		if o.limit > 0 {
			page.Limit = min(page.Limit, o.limit+1)
		}
		for first := true; ; first = false {
			found, err := x.Statements(ctx, o.Filter, page)
			if err != nil {
				return err
			}
			if first {
				noteIndex(a, found.State)
			}
			for _, s := range found.Statements {
				if !take(audit.StatementRow(s)) {
					return nil
				}
			}
			if page.After = found.Next; page.After == 0 {
				return nil
			}
		}
	}
}

// logRows reads the rows from the log itself.
func logRows(a *console.App, r *audit.Reader, o queryOptions) eachRow {
	return func(ctx context.Context, take func(audit.Row) bool) error { return readRows(ctx, a, r, o, take) }
}

func readRows(ctx context.Context, a *console.App, r *audit.Reader, o queryOptions, take func(audit.Row) bool) error {
	read, join := r.Newest, audit.NewestStatements
	if o.reverse {
		read, join = r.All, audit.Statements
	}
	if o.events {
		for rec, err := range read(ctx) {
			if err := noteBadLine(a, err); err != nil {
				return err
			}
			if err == nil && o.Match(rec.Event) && !take(audit.EventRow(rec.Event)) {
				return nil
			}
		}
		return nil
	}
	for s, err := range join(read(ctx)) {
		if err := noteBadLine(a, err); err != nil {
			return err
		}
		if err == nil && o.MatchStatement(s) && !take(audit.StatementRow(s)) {
			return nil
		}
	}
	return nil
}

// noteBadLine prints a note about a line of the log that is no event, and returns
// every other error.
func noteBadLine(a *console.App, err error) error {
	if _, bad := errors.AsType[*audit.LineError](err); bad {
		a.Errorf("note: %s\n", console.EscapeControls(err.Error()))
		return nil
	}
	return err
}

// rowPrinter prints rows while they are read.
type rowPrinter struct {
	app       *console.App
	format    string
	events    bool
	printed   int
	block     [][]console.Cell
	shortened bool
}

// prettyBlock is the number of rows of a pretty table that share their column
// widths.
const prettyBlock = 1000

func newRowPrinter(a *console.App, format string, events bool) *rowPrinter {
	out := &rowPrinter{app: a, format: format, events: events}
	switch format {
	case console.FormatJSON:
		a.PrintRawJSON([]byte(`{"schema":"ktx-audit-query/1","rows":[`))
	case console.FormatPretty:
	default:
		out.line(console.Texts(out.headers()...))
	}
	return out
}

func (o *rowPrinter) headers() []string {
	if o.events {
		return []string{"time", "seq", "event", "principal", "connection", "verdict", "codes", "status", "rows", "ms", "reason", "address", "query_id", "sql"}
	}
	return []string{"time", "seq", "principal", "connection", "verdict", "codes", "status", "rows", "ms", "address", "query_id", "sql"}
}

func (o *rowPrinter) add(row audit.Row) {
	o.printed++
	if o.format == console.FormatJSON {
		var b bytes.Buffer
		if o.printed > 1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(row); err != nil {
			o.app.Out.Fail(err)
			return
		}
		o.app.PrintRawJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
		return
	}
	cells := rowCells(row, o.events)
	switch o.format {
	case console.FormatPretty:
		if o.block = append(o.block, cells); len(o.block) == prettyBlock {
			o.flush()
		}
	default:
		o.line(cells)
	}
}

// line prints one row of csv or plain.
func (o *rowPrinter) line(row []console.Cell) {
	if o.format == console.FormatCSV {
		var b bytes.Buffer
		o.app.CSVRow(&b, row)
		_, _ = o.app.Out.Write(b.Bytes())
		return
	}
	shown := make([]string, len(row))
	for i, c := range row {
		shown[i] = c.Shown()
	}
	o.app.Printf("%s\n", strings.Join(shown, "\t"))
}

func (o *rowPrinter) flush() {
	if len(o.block) > 0 || o.printed == 0 {
		o.shortened = o.app.Table(o.format, o.headers(), o.block) || o.shortened
		o.block = o.block[:0]
	}
}

func (o *rowPrinter) end(more bool) {
	switch o.format {
	case console.FormatJSON:
		o.app.PrintRawJSON([]byte("\n],\"more\":" + strconv.FormatBool(more) + "}\n"))
	case console.FormatPretty:
		o.flush()
	}
}

// rowCells returns the values in the order of the headers.
func rowCells(r audit.Row, events bool) []console.Cell {
	text := func(s string) console.Cell { return console.Cell{Text: s, Null: s == ""} }
	row := []console.Cell{text(r.Time.Format("2006-01-02T15:04:05.000Z")), text(strconv.FormatInt(r.Seq, 10))}
	if events {
		row = append(row, text(r.Event))
	}
	rows, ms := console.Cell{Null: true}, console.Cell{Null: true}
	if r.Rows != nil {
		rows, ms = text(strconv.FormatInt(*r.Rows, 10)), text(strconv.FormatFloat(*r.ExecMS, 'f', 3, 64))
	}
	row = append(row, text(r.Principal), text(r.Connection), text(r.Verdict), text(strings.Join(r.Codes, ",")), text(r.Status), rows, ms)
	if events {
		row = append(row, text(r.Reason))
	}
	return append(row, text(r.Address), text(r.QueryID), text(r.SQL))
}
