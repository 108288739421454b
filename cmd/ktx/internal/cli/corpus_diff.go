package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	corpusrun "github.com/ktxhq/ktx/corpus/run"
)

func (a *app) corpusDiff() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two runs, case by case",
		Long: `Compare two files that ktx corpus run --json wrote, case by case: decision, code,
fault and expectation. Times are not compared. - is standard input.

The kinds of change, the gravest first: new_bypass (must be refused, and is
allowed only in B), regressed (met its expectation in A only), fixed (meets it in
B only), demand (the expectation itself changed), answer (another decision or
fault, equally right or wrong), code, added and removed.

Exit codes: 0 nothing differs · 1 something does · 2 wrong usage · 3 a file could
not be read.`,
		Example: `  ktx corpus run --json after.json
  ktx corpus diff before.json after.json`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			format, err := a.outputFormat(output)
			if err != nil {
				return err
			}
			if args[0] == "-" && args[1] == "-" {
				return usage("standard input can be one of the runs, not both")
			}
			var runs [2]*corpusrun.File
			for i, name := range args {
				if runs[i], err = a.readRun(name); err != nil {
					return failed("%w", err)
				}
			}
			changes := corpusrun.Compare(runs[0].Results, runs[1].Results)
			if format == formatJSON {
				a.printJSON(newDocument("ktx-run-diff/1").
					with("before", runSource(args[0], runs[0])).
					with("after", runSource(args[1], runs[1])).
					with("counts", countsJSON(changes)).
					with("changes", changes))
			} else {
				a.printChanges(format, changes)
			}
			if len(changes) > 0 {
				return &exitError{code: exitFindings}
			}
			return nil
		},
	}
	outputFlag(c, &output)
	return c
}

// readRun reads a run file, or standard input.
func (a *app) readRun(name string) (file *corpusrun.File, err error) {
	in := a.in
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

func runSource(name string, f *corpusrun.File) document {
	return document{}.with("file", name).with("corpus", f.Corpus).with("guard", f.Guard).with("results", len(f.Results))
}

// countChanges counts by kind.
func countChanges(changes []corpusrun.Change) map[corpusrun.ChangeKind]int {
	counts := map[corpusrun.ChangeKind]int{}
	for _, c := range changes {
		counts[c.Kind]++
	}
	return counts
}

// countsJSON is the counts in the order of the kinds; every kind is there.
func countsJSON(changes []corpusrun.Change) document {
	counts := countChanges(changes)
	var out document
	for _, kind := range corpusrun.ChangeKinds() {
		out = out.with(string(kind), counts[kind])
	}
	return out
}

func (a *app) printChanges(format string, changes []corpusrun.Change) {
	if format != formatCSV && len(changes) == 0 {
		a.printf("no case differs\n")
		return
	}
	var rows [][]cell
	for _, c := range changes {
		rows = append(rows, texts(string(c.Kind), c.ID, c.Dialect, c.Class, sideText(c.Before), sideText(c.After)))
	}
	a.table(format, []string{"change", "id", "dialect", "class", "before", "after"}, rows)
	if format == formatCSV {
		return
	}
	var totals []string
	counts := countChanges(changes)
	for _, kind := range corpusrun.ChangeKinds() {
		if n := counts[kind]; n != 0 {
			totals = append(totals, fmt.Sprintf("%s %d", kind, n))
		}
	}
	a.printf("%s\n", strings.Join(totals, ", "))
}

// sideText is an answer with what was expected of it; - where there is none.
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
