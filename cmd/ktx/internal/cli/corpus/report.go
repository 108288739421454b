package corpus

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/corpus"
	corpusreport "github.com/ktxhq/ktx/corpus/report"
	corpusrun "github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/dialects"
)

// reportOptions are the flags of ktx corpus report.
type reportOptions struct {
	html, run, before string
	files             []string
	filter            caseFilter
}

func reportCommand(a *console.App) *cobra.Command {
	var o reportOptions
	c := &cobra.Command{
		Use:   "report --html FILE",
		Short: "Write a run as one HTML page",
		Long: `Write a run over the cases as one HTML file that needs no other files. It has
scores, a matrix of classes and dialects, and a page for each case with its
statement, the expectation and its reason, the evidence, and the answer. The file
works without JavaScript.

Without --run, the guard of this build answers, and each page shows its findings in
the statement and in the syntax tree. --run takes a file of any guard that ktx
corpus run --json wrote. --before compares with an earlier run.

Exit codes: 0 the file is written, whatever the scores · 2 wrong usage · 3 a file
could not be read or written.`,
		Example: `  ktx corpus report --html report.html
  ktx corpus report --html theirs.html --run theirs.json --before last-week.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.html == "" {
				return console.Usage("--html is missing; name a file, or - for standard output")
			}
			inputs := slices.Concat(o.files, []string{o.run, o.before})
			if n := len(inputs) - len(slices.DeleteFunc(slices.Clone(inputs), func(name string) bool { return name == "-" })); n > 1 {
				return console.Usage("standard input can be only one of the files, and %d name it", n)
			}
			return writeReport(cmd.Context(), a, o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.html, "html", "", "the file to write; - is standard output")
	flags.StringVar(&o.run, "run", "", "a run file to report, instead of asking the guard of this build")
	flags.StringVar(&o.before, "before", "", "the run file of an earlier run to compare with")
	flags.StringArrayVar(&o.files, "corpus", nil, "cases to read instead of the built-in ones (repeatable); - is standard input")
	o.filter.flags(c)
	return c
}

func writeReport(ctx context.Context, a *console.App, o reportOptions) error {
	cases, source, unread, err := selectCases(a, o.files, o.filter)
	if err != nil {
		return err
	}
	if len(unread) > 0 {
		return console.Failed("read cases: %s", unread[0])
	}
	r := corpusreport.Report{Source: source, Cases: cases}
	if o.before != "" {
		if r.Before, err = readRun(a, o.before); err != nil {
			return console.Failed("%w", err)
		}
	}
	if err := answers(ctx, a, o, &r); err != nil {
		return console.Failed("%w", err)
	}
	write := func(w io.Writer) error { return corpusreport.Write(w, r) }
	if o.html == "-" {
		err = write(a.Out)
	} else {
		err = atomicfile.Write(o.html, 0o644, write)
	}
	if err != nil {
		return console.Failed("%w", err)
	}
	return nil
}

// answers adds the results to a report: those of the run file, else those of the
// guard of this build.
func answers(ctx context.Context, a *console.App, o reportOptions, r *corpusreport.Report) error {
	if o.run != "" {
		file, err := readRun(a, o.run)
		if err != nil {
			return err
		}
		r.Guard, r.Results = file.Guard, file.Results
		return nil
	}
	guard, err := corpusrun.NewBuiltin(a.Version, dialects.All())
	if err != nil {
		return err //nolint:wrapcheck // the error says what was done
	}
	progress := a.Progress("ran", len(r.Cases))
	r.Results, err = corpusrun.Run(ctx, guard, r.Cases, progress.Step)
	progress.Stop()
	if err != nil {
		return err //nolint:wrapcheck // the error says what was done
	}
	r.Guard = guard.Describe()
	r.Read = func(c corpus.Case) (corpusreport.Reading, bool) {
		g := guard.Of(c.Dialect)
		if g == nil {
			return corpusreport.Reading{}, false
		}
		return corpusreport.Read(g, c.SQL), true
	}
	return nil
}
