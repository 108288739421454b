package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/report"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlguard"
)

func (a *app) sqlCommand() *cobra.Command {
	var (
		connection, file, output string
		maxRows                  int
		timeout                  time.Duration
	)
	c := &cobra.Command{
		Use:   "sql [TEXT | -]",
		Short: "Run one guarded statement, or check files with `ktx sql check`",
		Long: `Run one read-only statement on a connection of the project. The text is the
argument, standard input (-), or a file (--file).`,
		Example: `  ktx sql -c demo "SELECT status, count(*) FROM orders GROUP BY status"
  ktx sql -c demo --file report.sql --output csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.statement(args, file)
			if err != nil {
				return err
			}
			format, err := a.outputFormat(output)
			if err != nil {
				return err
			}
			return a.withGateway(cmd.Context(), "cli", func(ctx context.Context, d *door) error {
				id, err := a.oneConnection(d, connection)
				if err != nil {
					return err
				}
				if timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, timeout)
					defer cancel()
				}
				return a.runStatement(ctx, d, id, text, maxRows, format)
			})
		},
	}
	flags := c.Flags()
	flags.StringVarP(&connection, "connection", "c", "", "connection id (default: the only one)")
	flags.StringVar(&file, "file", "", "read the statement from a file; - is standard input")
	flags.IntVar(&maxRows, "max-rows", 0, "most rows to print (default 1000)")
	flags.DurationVar(&timeout, "timeout", 0, "give up after this time (default: the connection's limit)")
	flags.StringVar(&output, "output", "", "pretty, plain, json or csv (default: pretty on a terminal, plain elsewhere)")
	_ = c.RegisterFlagCompletionFunc("connection", a.completeConnections)
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"pretty", "plain", "json", "csv"}, cobra.ShellCompDirectiveNoFileComp))
	c.AddCommand(a.checkCommand())
	return c
}

// maxStatementFile bounds a statement read from a file: far above what the
// guard takes, so that the guard says what is wrong with it.
const maxStatementFile = 16 << 20

// statement returns the text to run from the argument, a file or standard input.
func (a *app) statement(args []string, file string) (string, error) {
	var r io.Reader
	switch {
	case len(args) == 1 && file != "":
		return "", usage("give the statement as an argument or with --file, not both")
	case len(args) == 1 && args[0] != "-":
		return args[0], nil
	case len(args) == 1 || file == "-":
		r = a.in
	case file != "":
		f, err := os.Open(file) //nolint:gosec // the user names the file
		if err != nil {
			return "", &exitError{code: exitFailed, err: fmt.Errorf("read statement: %w", err)}
		}
		defer func() { _ = f.Close() }()
		r = f
	default:
		return "", usage("no statement: give it as an argument, with --file, or - for standard input")
	}
	text, err := io.ReadAll(io.LimitReader(r, maxStatementFile))
	if err != nil {
		return "", &exitError{code: exitFailed, err: fmt.Errorf("read statement: %w", err)}
	}
	return string(text), nil
}

// oneConnection returns the id asked for, or the only one there is.
func (a *app) oneConnection(d *door, asked string) (string, error) {
	if asked != "" {
		return asked, nil
	}
	all := d.gateway.Connections()
	if len(all) == 1 {
		return all[0].ID, nil
	}
	var ids []string
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return "", usage("name a connection with -c: %v", ids)
}

func (a *app) runStatement(ctx context.Context, d *door, id, text string, maxRows int, format string) error {
	in := research.SQLExecutionInput{ConnectionID: id, SQL: text, MaxRows: maxRows}
	if info, err := d.gateway.Connection(id); err == nil {
		in.MaxBytes = info.Limits.Bytes // a person can scroll; a model cannot
	}
	out, err := research.New(d.gateway, a.logger()).SQLExecution(ctx, in)
	if err != nil {
		return a.refused(err, text)
	}
	if format == "json" {
		var body map[string]json.RawMessage
		if err := json.Unmarshal(out.AppendJSON(nil), &body); err != nil {
			return fmt.Errorf("encode result: %w", err)
		}
		body["schema"] = json.RawMessage(`"ktx-rows/1"`)
		a.printJSON(body)
	} else if err := a.table(format, out.Headers, cells(out.Rows, format)); err != nil {
		return err
	}
	for _, note := range out.Notes {
		a.errorf("note: %s\n", note)
	}
	if out.Truncated {
		a.errorf("note: more exists than the %d rows shown (cut by %s)\n", len(out.Rows), out.TruncatedBy)
	}
	return nil
}

// refused prints a refusal with the place it points at; other errors pass.
func (a *app) refused(err error, text string) error {
	r, ok := errors.AsType[*sqlguard.RejectedError](err)
	if !ok || a.json {
		return err
	}
	report.Human(a.err, []report.Result{{Name: "statement", Text: text, Verdict: r.Verdict}}, report.Style{Color: a.colored(a.err)})
	return &exitError{code: exitFindings}
}

func cells(rows [][]execution.Value, format string) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		out[i] = make([]string, len(row))
		for j, v := range row {
			out[i][j] = v.Text
			if v.Kind == execution.Null && format != "csv" {
				out[i][j] = "NULL"
			}
		}
	}
	return out
}
