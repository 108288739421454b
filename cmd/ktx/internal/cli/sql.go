package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research"
)

// sqlOptions are the flags of ktx sql.
type sqlOptions struct {
	connection, file, output string
	maxRows                  int
	timeout                  time.Duration
}

func (a *app) sqlCommand() *cobra.Command {
	var o sqlOptions
	c := &cobra.Command{
		Use:   "sql [TEXT | -]",
		Short: "Run one guarded statement, or check files with `ktx sql check`",
		Long: `Run one read-only statement on a connection of the project. The text is the
argument, standard input (-), or a file (--file).

Rows go to standard output. The formats json and csv are exact; in csv NULL is
an empty field and an empty text is "". Notes, such as that more rows exist, go
to standard error.

Exit codes: 0 done · 1 refused by the guard · 2 wrong usage or configuration ·
3 no answer: the database's own error, a time limit, no connection.`,
		Example: `  ktx sql -c demo "SELECT status, count(*) FROM orders GROUP BY status"
  ktx sql -c demo --file report.sql --output csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return nil
			}
			if near := suggestion(cmd, args[0]); near != "" {
				return usage("unknown command %q for %q; did you mean %s?", args[0], cmd.CommandPath(), near)
			}
			return usage("the statement is one argument, and %d are given: quote it", len(args))
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("max-rows") && o.maxRows < 1 {
				return usage("--max-rows %d: expected at least 1", o.maxRows)
			}
			if cmd.Flags().Changed("timeout") && o.timeout <= 0 {
				return usage("--timeout %s: expected more than 0", o.timeout)
			}
			format, err := a.outputFormat(o.output)
			if err != nil {
				return err
			}
			a.json = a.json || format == formatJSON
			name, text, err := a.statement(args, o.file)
			if err != nil {
				return err
			}
			return a.withGateway(cmd.Context(), "cli", func(ctx context.Context, d *door) error {
				if err := a.runStatement(ctx, d, o, text, format); err != nil {
					return &statementError{err: err, name: name, text: text}
				}
				return nil
			})
		},
	}
	flags := c.Flags()
	flags.StringVarP(&o.connection, "connection", "c", "", "connection id (default: the only one)")
	flags.StringVar(&o.file, "file", "", "read the statement from a file; - is standard input")
	flags.IntVar(&o.maxRows, "max-rows", 0, fmt.Sprintf("most rows to print (default %d, or the connection's limit)", research.DefaultMaxRows))
	flags.DurationVar(&o.timeout, "timeout", 0, "give up after this time, such as 5s (default: the connection's limit)")
	outputFlag(c, &o.output)
	_ = c.RegisterFlagCompletionFunc("connection", a.completeConnections())
	c.AddCommand(a.checkCommand())
	return c
}

// maxStatementFile bounds a statement read from a file: far above what the
// guard takes, so that the guard says what is wrong with it.
const maxStatementFile = 16 << 20

// statement returns the text to run from the argument, a file or standard
// input, and what to call it in messages.
func (a *app) statement(args []string, file string) (name, text string, err error) {
	var r io.Reader
	switch {
	case len(args) == 1 && file != "":
		return "", "", usage("give the statement as an argument or with --file, not both")
	case len(args) == 1 && args[0] != "-":
		return "statement", args[0], nil
	case len(args) == 1 || file == "-":
		name, r = "stdin", a.in
	case file != "":
		f, err := os.Open(file) //nolint:gosec // the user names the file
		if err != nil {
			return "", "", failed("read statement: %w", err)
		}
		defer func() { _ = f.Close() }()
		name, r = file, f
	default:
		return "", "", usage("no statement: give it as an argument, with --file, or - for standard input")
	}
	content, err := io.ReadAll(io.LimitReader(r, maxStatementFile))
	if err != nil {
		return "", "", failed("read statement: %w", err)
	}
	return name, strings.TrimPrefix(string(content), byteOrderMark), nil
}

// byteOrderMark begins a file in some editors. It is encoding, not SQL.
const byteOrderMark = "\uFEFF"

// oneConnection returns the connection asked for, or the only one there is.
func (a *app) oneConnection(ctx context.Context, d *door, asked string) (execution.ConnectionInfo, error) {
	if asked != "" {
		return d.gateway.Connection(ctx, asked)
	}
	all := d.gateway.Connections(ctx)
	switch len(all) {
	case 0:
		return execution.ConnectionInfo{}, usage("no connection is configured in %s", d.project.File)
	case 1:
		return all[0], nil
	}
	var ids []string
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return execution.ConnectionInfo{}, usage("name a connection with -c: %s", strings.Join(ids, ", "))
}

func (a *app) runStatement(ctx context.Context, d *door, o sqlOptions, text, format string) error {
	info, err := a.oneConnection(ctx, d, o.connection)
	if err != nil {
		return err
	}
	if o.timeout > 0 {
		if limit := info.Limits.Timeout; o.timeout > limit {
			a.errorf("note: --timeout was lowered from %s to this connection's limit of %s\n", o.timeout, limit)
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	out, err := research.New(d.gateway, a.logger()).SQLExecution(ctx, research.SQLExecutionInput{
		ConnectionID: info.ID, SQL: text, MaxRows: o.maxRows,
		MaxBytes: info.Limits.Bytes, // a person can scroll; a model cannot
	})
	if err != nil {
		return err
	}
	shortened := false
	if format == formatJSON {
		a.printRawJSON(rowsJSON(out))
	} else {
		shortened = a.table(format, out.Headers, cells(out.Rows))
	}
	for _, note := range out.Notes {
		a.errorf("note: %s\n", escapeControls(flagsOf.Replace(note)))
	}
	if out.Truncated && len(out.Notes) == 0 {
		a.errorf("note: more exists than the %s shown (cut by %s)\n", count(len(out.Rows), "row"), out.TruncatedBy)
	}
	if shortened {
		a.errorf("note: long values are shown shortened; --output json, csv or plain shows them whole\n")
	}
	return nil
}

// flagsOf calls an argument of the tool by the flag that it is here.
var flagsOf = strings.NewReplacer("maxRows may be", "--max-rows may be", "maxRows was lowered", "--max-rows was lowered")

// rowsJSON is the answer on one line, numbers as the server wrote them.
func rowsJSON(out *research.SQLExecutionOutput) []byte {
	doc := []byte(`{"schema":"ktx-rows/1",`)
	doc = append(doc, out.AppendJSON(nil)[1:]...) // the same object goes on
	return append(doc, '\n')
}

func cells(rows [][]execution.Value) [][]cell {
	out := make([][]cell, len(rows))
	for i, row := range rows {
		out[i] = make([]cell, len(row))
		for j, v := range row {
			out[i][j] = cell{text: v.Text, null: v.Kind == execution.Null}
		}
	}
	return out
}
