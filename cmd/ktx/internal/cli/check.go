package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/check"
	"github.com/ktxhq/ktx/cmd/ktx/internal/report"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// checkOptions are the flags of ktx sql check.
type checkOptions struct{ dialect, format, failOn, stdinName string }

const (
	formatHuman = "human"
	dialectAuto = "auto"
)

// The severities that --fail-on takes. Every code of a refused statement is an
// error, and a file that was not checked is one whatever is asked.
var severities = []string{"error", "warning", "note", "never"}

func (a *app) checkCommand() *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use:   "check [PATH | GLOB | -]...",
		Short: "Judge the statements of SQL files, without a database",
		Long: `Judge every statement of the files by the guard: may it run through the gateway?

A folder stands for the .sql, .pgsql, .psql and .sqlite files in it. Links to
files are followed, links to folders are not.

The dialect of a file is --dialect, else that of check.overrides in the nearest
ktx.yaml, else a first line "-- ktx: dialect=NAME", else that of the connection
after which a folder of its path is named, else that of its extension (.pgsql,
.psql, .sqlite). It is never guessed. The policy is that of the connection, or
of the guard block of the nearest ktx.yaml.

Exit codes: 0 all may run · 1 some may not · 2 wrong usage or configuration ·
3 some could not be checked.`,
		Example: `  ktx sql check --dialect postgres queries/
  git show HEAD:report.sql | ktx sql check --dialect sqlite -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.json {
				if cmd.Flags().Changed("format") && o.format != formatJSON {
					return usage("--json and --format %s contradict each other", escapeControls(o.format))
				}
				o.format = formatJSON
			}
			a.json = o.format == formatJSON
			if err := o.validate(); err != nil {
				return err
			}
			if len(args) == 0 {
				return usage("name files, folders or patterns to check, or - for standard input")
			}
			return a.check(cmd.Context(), args, o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.dialect, "dialect", dialectAuto, "dialect of all files: "+strings.Join(dialectNames(), ", ")+" or auto")
	flags.StringVar(&o.format, "format", formatHuman, "human or json")
	flags.StringVar(&o.failOn, "fail-on", "error", "the least severity that makes the exit code 1: error, warning, note, or never")
	flags.StringVar(&o.stdinName, "stdin-filename", "stdin", "name of standard input in reports, and for settling its dialect")
	_ = c.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(append(dialectNames(), dialectAuto), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{formatHuman, formatJSON}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(severities, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (o checkOptions) validate() error {
	if err := oneOf("--format", o.format, []string{formatHuman, formatJSON}); err != nil {
		return err
	}
	if err := oneOf("--fail-on", o.failOn, severities); err != nil {
		return err
	}
	if o.dialect == dialectAuto {
		return nil
	}
	_, err := lookupDialect(o.dialect)
	return err
}

// oneOf returns an error of usage unless value is one of known.
func oneOf(flag, value string, known []string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return usage("%s %s: expected one of %s", flag, escapeControls(value), strings.Join(known, ", "))
}

func dialectNames() []string {
	var names []string
	for _, d := range dialects.All() {
		names = append(names, d.Name())
	}
	return names
}

func lookupDialect(name string) (sqlguard.Dialect, error) {
	if d, ok := dialects.Lookup(name); ok {
		return d, nil
	}
	return nil, usage("no reader for the dialect %q%s", name, didYouMean(name, dialectNames()))
}

func (a *app) check(ctx context.Context, args []string, o checkOptions) error {
	inputs, err := check.Find(args, o.stdinName)
	if err != nil {
		return asUsage(err)
	}
	guards, err := a.newGuards(o.dialect, inputs)
	if err != nil {
		return err
	}
	progress := a.progress("checked", len(inputs))
	checker := check.Checker{Stdin: a.in, Choose: guards.choose, Whole: a.json, OnFile: progress.step}
	files, fileTexts, err := checker.Run(ctx, inputs)
	progress.stop()
	if err != nil {
		return failed("%w", err)
	}
	summary := summarize(files)
	if a.json {
		text, err := report.JSON(files, summary)
		if err != nil {
			return failed("%w", err)
		}
		a.printRawJSON(text)
	} else {
		report.Human(a.out, results(files, fileTexts), report.Style{Color: a.colored(a.out)})
		a.errorf("%s, %s: %d refused, %s not checked\n", count(summary.Files, "file"), count(summary.Statements, "statement"), summary.Refused, count(summary.NotChecked, "file"))
	}
	switch {
	case summary.NotChecked > 0:
		return &exitError{code: exitFailed}
	case summary.Refused > 0 && o.failOn != "never":
		return &exitError{code: exitFindings}
	default:
		return nil
	}
}

func summarize(files []report.File) report.Summary {
	summary := report.Summary{Files: len(files)}
	for _, f := range files {
		if len(f.Findings) > 0 {
			summary.NotChecked++
		}
		summary.Statements += f.Judged
		summary.Refused += f.Refused
	}
	return summary
}

// results is what human output shows: everything with a finding.
func results(files []report.File, fileTexts []string) []report.Result {
	var shown []report.Result
	for i, f := range files {
		shown = append(shown, report.Result{Name: f.Path, Text: fileTexts[i], Findings: f.Refusals}, report.Result{Name: f.Path, Text: fileTexts[i], Findings: f.Findings})
	}
	return shown
}
