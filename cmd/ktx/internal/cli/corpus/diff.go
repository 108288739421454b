package corpus

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	corpusrun "github.com/ktxhq/ktx/corpus/run"
)

func diffCommand(a *console.App) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two runs, case by case",
		Long: `Compare two files that ktx corpus run --json wrote, case by case: decision, code,
fault and expectation. Times are not compared. - is standard input.

The kinds of change, the most serious first:

  new_bypass  must be refused, and is allowed in B but not in A
  regressed   met its expectation in A, and does not in B
  fixed       meets its expectation in B, and did not in A
  demand      the expectation itself changed
  answer      another decision or fault, equally right or wrong
  code        another code
  added       only in B
  removed     only in A

Exit codes: 0 no case differs · 1 some do · 2 wrong usage · 3 a file could not be
read.`,
		Example: `  ktx corpus run --json after.json
  ktx corpus diff before.json after.json`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			format, err := a.OutputFormat(output)
			if err != nil {
				return err
			}
			if args[0] == "-" && args[1] == "-" {
				return console.Usage("standard input can be only one of the runs")
			}
			var runs [2]*corpusrun.File
			for i, name := range args {
				if runs[i], err = readRun(a, name); err != nil {
					return console.Failed("%w", err)
				}
			}
			changes := corpusrun.Compare(runs[0].Results, runs[1].Results)
			if format == console.FormatJSON {
				a.PrintJSON(console.NewDocument("ktx-run-diff/1").
					With("before", runSource(args[0], runs[0])).
					With("after", runSource(args[1], runs[1])).
					With("counts", countsJSON(changes)).
					With("changes", changes))
			} else {
				printChanges(a, format, changes)
			}
			if len(changes) > 0 {
				return &console.ExitError{Code: console.ExitFindings}
			}
			return nil
		},
	}
	console.OutputFlag(c, &output)
	return c
}

// readRun reads a run from a file, or from standard input for the name -.
func readRun(a *console.App, name string) (file *corpusrun.File, err error) {
	in := a.In
	if name != "-" {
		f, err := os.Open(name) //nolint:gosec // the user names the file
		if err != nil {
			return nil, fmt.Errorf("read run: %w", err)
		}
		defer func() { _ = f.Close() }()
		in = io.Reader(f)
	}
	if file, err = corpusrun.ReadFile(in); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return file, nil
}

func runSource(name string, f *corpusrun.File) console.Document {
	return console.Document{}.With("file", name).With("corpus", f.Corpus).With("guard", f.Guard).With("results", len(f.Results))
}

// countChanges counts the changes by kind.
func countChanges(changes []corpusrun.Change) map[corpusrun.ChangeKind]int {
	counts := map[corpusrun.ChangeKind]int{}
	for _, c := range changes {
		counts[c.Kind]++
	}
	return counts
}

// countsJSON returns the counts in the order of the kinds. It has every kind.
func countsJSON(changes []corpusrun.Change) console.Document {
	counts := countChanges(changes)
	var out console.Document
	for _, kind := range corpusrun.ChangeKinds() {
		out = out.With(string(kind), counts[kind])
	}
	return out
}

func printChanges(a *console.App, format string, changes []corpusrun.Change) {
	if format != console.FormatCSV && len(changes) == 0 {
		a.Printf("no case differs\n")
		return
	}
	var rows [][]console.Cell
	for _, c := range changes {
		rows = append(rows, console.Texts(string(c.Kind), c.ID, c.Dialect, c.Class, sideText(c.Before), sideText(c.After)))
	}
	a.Table(format, []string{"change", "id", "dialect", "class", "before", "after"}, rows)
	if format == console.FormatCSV {
		return
	}
	var totals []string
	counts := countChanges(changes)
	for _, kind := range corpusrun.ChangeKinds() {
		if n := counts[kind]; n != 0 {
			totals = append(totals, fmt.Sprintf("%s %d", kind, n))
		}
	}
	a.Printf("%s\n", strings.Join(totals, ", "))
}

// sideText returns an answer with its expectation, or - when there is none.
func sideText(s *corpusrun.Side) string {
	if s == nil {
		return "-"
	}
	words := []string{string(s.Decision)}
	for _, more := range []string{string(s.Fault), string(s.Code)} {
		if more != "" {
			words = append(words, more)
		}
	}
	return strings.Join(words, " ") + " (expected " + string(s.Expect) + ")"
}
