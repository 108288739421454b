package sql

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research"
)

// runOptions are the flags of ktx sql.
type runOptions struct {
	connection, file, output string
	expanded                 expansion
	noPager, interactive     bool
	maxRows                  int
	timeout                  time.Duration
}

// Command returns the command ktx sql, with ktx sql check below it.
func Command(a *console.App) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "sql [TEXT | -]",
		Short: "Run one guarded statement, or check files with `ktx sql check`",
		Long: `Run one read-only statement on a connection of the project. Give the statement as
the argument, on standard input (-), or in a file (--file). With -i, a shell reads
statements from the terminal.

Rows go to standard output. The formats json and csv are exact. In csv, NULL is an
empty field, and an empty text is "". Notes go to standard error, such as the note
that more rows exist.

Exit codes: 0 done · 1 refused by the guard · 2 wrong usage or configuration ·
3 no answer: the database's own error, a time limit, no connection.`,
		Example: `  ktx sql -c demo "SELECT status, count(*) FROM orders GROUP BY status"
  ktx sql -c demo --file report.sql --output csv`,
		Args:              console.OneText("statement"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("max-rows") && cmd.Flags().Changed("limit") {
				return console.Usage("--limit and --max-rows are the same: give one of them")
			}
			if (cmd.Flags().Changed("max-rows") || cmd.Flags().Changed("limit")) && o.maxRows < 1 {
				return console.Usage("--max-rows %d: expected at least 1", o.maxRows)
			}
			if cmd.Flags().Changed("timeout") && o.timeout <= 0 {
				return console.Usage("--timeout %s: expected more than 0", o.timeout)
			}
			if err := console.OneOf("--expanded", string(o.expanded), expansions); err != nil {
				return err
			}
			format, err := formatOf(a, o.output)
			if err != nil {
				return err
			}
			if o.interactive {
				return interactive(cmd.Context(), a, o, format, len(args) > 0)
			}
			a.JSON = a.JSON || format == console.FormatJSON
			name, text, err := readStatement(a, args, o.file)
			if err != nil {
				return err
			}
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				if err := runStatement(ctx, a, open, o, text, format); err != nil {
					return &console.StatementError{Err: err, Name: name, Text: text}
				}
				return nil
			})
		},
	}
	flags := c.Flags()
	flags.StringVarP(&o.connection, "connection", "c", "", "connection id (default: the only one)")
	flags.StringVarP(&o.file, "file", "f", "", "read the statement from a file; - is standard input")
	flags.IntVar(&o.maxRows, "max-rows", 0, fmt.Sprintf("most rows to print (default %d, or the connection's limit)", research.DefaultMaxRows))
	flags.DurationVar(&o.timeout, "timeout", 0, "give up after this time, such as 5s (default: the connection's limit)")
	flags.IntVar(&o.maxRows, "limit", 0, "the same as --max-rows")
	flags.StringVarP((*string)(&o.expanded), "expanded", "x", string(expandWide), "in a pretty table, one line for each value: on, off, or auto when the table is wider than the terminal")
	flags.Lookup("expanded").NoOptDefVal = string(expandOn)
	flags.BoolVarP(&o.interactive, "interactive", "i", false, "read statements and commands from the terminal, with history and completion")
	flags.BoolVar(&o.noPager, "no-pager", false, "do not show long results in a pager")
	outputFlag(c, &o.output)
	_ = c.RegisterFlagCompletionFunc("expanded", cobra.FixedCompletions(expansions, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("connection", wiring.CompleteConnections(a))
	c.AddCommand(checkCommand(a))
	return c
}

// interactive runs the shell, if there is a terminal and no statement.
func interactive(ctx context.Context, a *console.App, o runOptions, format string, statement bool) error {
	switch {
	case statement || o.file != "":
		return console.Usage("-i reads statements from the terminal: leave the statement or --file out")
	case !a.Interactive() || !a.Out.Terminal || a.OwnInterrupts == nil:
		return console.Usage("-i needs a terminal; give a statement as an argument, with --file, or - for standard input")
	case format == console.FormatJSON:
		return console.Usage("-i is for people: leave --json out, or give a statement")
	}
	return wiring.WithGateway(ctx, a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
		return runShell(ctx, a, open, o, format)
	})
}

// maxStatementFile bounds the statement that is read from a file, in bytes. It is
// far above the limit of the guard, so that the guard can say that the statement
// is too long.
const maxStatementFile = 16 << 20

// readStatement returns the statement from the argument, a file or standard input,
// and what messages call it.
func readStatement(a *console.App, args []string, file string) (name, text string, err error) {
	var r io.Reader
	switch {
	case len(args) == 1 && file != "":
		return "", "", console.Usage("give the statement as an argument or with --file, not both")
	case len(args) == 1 && args[0] != "-":
		return "statement", args[0], nil
	case len(args) == 1 || file == "-":
		name, r = "stdin", a.In
	case file != "":
		f, err := os.Open(file) //nolint:gosec // the user names the file
		if err != nil {
			return "", "", console.Failed("read statement: %w", err)
		}
		defer func() { _ = f.Close() }()
		name, r = file, f
	default:
		return "", "", console.Usage("no statement: give it as an argument, with --file, or - for standard input")
	}
	content, err := io.ReadAll(io.LimitReader(r, maxStatementFile))
	if err != nil {
		return "", "", console.Failed("read statement: %w", err)
	}
	return name, strings.TrimPrefix(string(content), byteOrderMark), nil
}

// byteOrderMark stands at the beginning of files of some editors. It belongs to
// the encoding, not to the statement.
const byteOrderMark = "\uFEFF"

func runStatement(ctx context.Context, a *console.App, open *wiring.OpenProject, o runOptions, text, format string) error {
	info, err := wiring.OneConnection(ctx, open, o.connection)
	if err != nil {
		return err
	}
	if o.timeout > 0 {
		if limit := info.Limits.Timeout; o.timeout > limit {
			a.Errorf("note: --timeout was lowered from %s to this connection's limit of %s\n", o.timeout, limit)
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	out, err := open.Service.SQLExecution(ctx, research.SQLExecutionInput{
		ConnectionID: info.ID, SQL: text, MaxRows: o.maxRows,
		MaxBytes: info.Limits.Bytes, // the lower default is for the context of a model
	})
	if err != nil {
		return err
	}
	shortened, err := printResult(ctx, a, format, o, out)
	if err != nil {
		return err
	}
	for _, note := range out.Notes {
		a.Errorf("note: %s\n", console.EscapeControls(flagsOf.Replace(note)))
	}
	if out.Truncated && len(out.Notes) == 0 {
		a.Errorf("note: more rows exist than the %s shown (cut by %s)\n", console.Count(len(out.Rows), "row"), out.TruncatedBy)
	}
	if shortened {
		a.Errorf("note: long values are shown shortened; --output json, csv or plain shows them whole\n")
	}
	return nil
}

// flagsOf replaces an argument of the tool by the flag of this command.
var flagsOf = strings.NewReplacer("maxRows may be", "--max-rows may be", "maxRows was lowered", "--max-rows was lowered")

// rowsJSON returns the result as JSON on one line, with numbers as the server
// wrote them.
func rowsJSON(out *research.SQLExecutionOutput) []byte {
	doc := []byte(`{"schema":"ktx-rows/1",`)
	doc = append(doc, out.AppendJSON(nil)[1:]...) // the members of the result follow in the same object
	return append(doc, '\n')
}
