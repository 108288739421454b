package sql

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/lsp"
	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlcheck/fix"
	"github.com/ktxhq/ktx/sqlcheck/source"
)

// LSPCommand returns the command ktx lsp.
func LSPCommand(a *console.App) *cobra.Command {
	var dialect string
	c := &cobra.Command{
		Use:   "lsp",
		Short: "Show the findings of a check in an editor (Language Server Protocol)",
		Long: `Serve an editor over standard input and output, as a language server: findings of
ktx sql check as you type, the explanation of a code on hover, and code actions that
permit a finding or make a certain rewrite. It formats nothing, and writes no file.

The dialect and the profile of a file are those of ktx sql check.`,
		Example: `  ktx lsp --dialect postgres`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dialect != wiring.DialectAuto {
				if _, err := wiring.LookupDialect(dialect); err != nil {
					return err
				}
			}
			s := lsp.Server{Version: a.Version, Today: time.Now, Check: func(ctx context.Context, path, text string) (lsp.Checked, error) {
				return checkText(ctx, a, dialect, path, text)
			}}
			err := s.Serve(cmd.Context(), stdio{a.In, a.Out})
			if errors.Is(err, lsp.ErrNoShutdown) {
				return &console.ExitError{Code: 1, Err: err} // as the protocol wants
			}
			if err != nil && !errors.Is(err, context.Canceled) {
				return console.Failed("%w", err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&dialect, "dialect", wiring.DialectAuto, "dialect of all files: "+strings.Join(wiring.DialectNames(), ", ")+" or auto")
	c.Flags().Bool("stdio", true, "for editors that pass it; standard input and output are the only way")
	_ = c.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(append(wiring.DialectNames(), wiring.DialectAuto), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// stdio is standard input and output as one stream.
type stdio struct {
	io.Reader
	io.Writer
}

// Close implements io.Closer. The process closes its own files.
func (stdio) Close() error { return nil }

// checkText checks a text as if it were the content of a file. The projects are
// read anew each time, because ktx.yaml may be open in the editor too.
func checkText(ctx context.Context, a *console.App, dialect, path, text string) (lsp.Checked, error) {
	inputs := []sqlcheck.Input{{Path: path, Stdin: true}}
	guards, err := wiring.NewFileGuards(a, dialect, inputs)
	if err != nil {
		return lsp.Checked{}, err
	}
	checker := sqlcheck.Checker{
		Stdin: strings.NewReader(text), Choose: guards.Choose, Says: guards.Says, Sources: guards.Sources, Parameters: guards.Parameters, Severities: guards.Severities, Migrations: guards.Migrations(wiring.ProfileAuto, nil),
		Whole: true, Today: time.Now(), Jobs: 1,
	}
	files, err := checker.Run(ctx, inputs)
	if err != nil {
		return lsp.Checked{}, err //nolint:wrapcheck // it says what it did
	}
	out := lsp.Checked{Findings: files[0].Findings}
	if source.Reads(path) || strings.Contains(text, "{{") {
		return out, nil
	}
	for _, s := range files[0].Statements {
		out.Statements = append(out.Statements, s.Span)
	}
	guard, problem := guards.Choose(path, text, sqlcheck.Known{})
	if problem == nil {
		out.Edits = fix.Text(guard, text)
	}
	return out, nil
}
