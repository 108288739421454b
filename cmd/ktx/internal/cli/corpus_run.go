package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/corpusrun"
	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects"
)

// runOptions are the flags of ktx corpus run.
type runOptions struct {
	files           []string
	guard, jsonFile string
	failures        bool
	filter          caseFilter
}

const guardBuiltin = "builtin"

func (a *app) corpusRun() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run",
		Short: "Put the cases to a guard and score its answers",
		Long: `Put the cases to a guard and score its answers as corpus/INTERPRETING.md says.

--corpus reads cases of others: a class file of ours (.yaml), or JSON Lines with
at least id, dialect, sql (or sql_b64) and expect.

Exit codes: 0 every case met its expectation · 1 some did not · 2 wrong usage ·
3 some could not run, or a file could not be read.`,
		Example: `  ktx corpus run
  ktx corpus run --corpus cases.jsonl --guard builtin --json run.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("--guard", o.guard, []string{guardBuiltin}); err != nil {
				return err
			}
			if cmd.Flags().Changed("json") && o.jsonFile == "" {
				return usage("--json is blank; name a file, or - for standard output")
			}
			return a.runCorpus(cmd.Context(), o)
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&o.files, "corpus", nil, "cases to read instead of the built-in ones (repeatable); - is standard input")
	flags.StringVar(&o.guard, "guard", guardBuiltin, "the guard that answers")
	flags.StringVar(&o.jsonFile, "json", "", "write the run to this file; - is standard output")
	flags.BoolVar(&o.failures, "failures", true, "list the cases that did not meet their expectation")
	o.filter.flags(c)
	return c
}

func (a *app) runCorpus(ctx context.Context, o runOptions) error {
	cases, source, err := a.readCases(o.files)
	if err != nil {
		return err
	}
	classes := corpusClasses()
	if len(o.files) > 0 {
		classes = classesOf(cases)
	}
	if cases, err = o.filter.of(cases, classes); err != nil {
		return err
	}
	if len(cases) == 0 {
		return usage("no case is selected")
	}
	guard, err := corpusrun.NewBuiltin(productVersion(), dialects.All())
	if err != nil {
		return err
	}
	progress := a.progress("ran", len(cases))
	results, err := corpusrun.Run(ctx, guard, cases, progress.step)
	progress.stop()
	if err != nil {
		return failed("%w", err)
	}
	return a.reportRun(results, source, guard, o)
}

// readCases reads the built-in cases, or those of the files.
func (a *app) readCases(files []string) ([]corpus.Case, map[string]any, error) {
	if len(files) == 0 {
		return corpus.Cases(), map[string]any{"name": "ktx", "version": corpus.Version()}, nil
	}
	var all []corpus.Case
	from := map[string]string{} // file by id
	for _, name := range files {
		cases, err := a.readCaseFile(name)
		if err != nil {
			return nil, nil, failed("read cases: %s: %w", name, err)
		}
		for _, c := range cases {
			if first, taken := from[c.ID]; taken {
				return nil, nil, failed("read cases: %s: the id %q is already used in %s", name, c.ID, first)
			}
			from[c.ID] = name
		}
		all = append(all, cases...)
	}
	return all, map[string]any{"files": files}, nil
}

func (a *app) readCaseFile(name string) ([]corpus.Case, error) {
	if name == "-" {
		return corpus.ReadJSONLines(a.in)
	}
	text, err := os.ReadFile(name) //nolint:gosec // the user names the file
	if err != nil {
		return nil, err
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return decodeYAML(text)
	default:
		return corpus.ReadJSONLines(bytes.NewReader(text))
	}
}

func (a *app) reportRun(results []corpusrun.Result, source map[string]any, guard corpusrun.Guard, o runOptions) error {
	unmet, errored := 0, 0
	for _, r := range results {
		if r.Decision == corpusrun.Error {
			errored++
		} else if !r.Met {
			unmet++
		}
	}
	if o.jsonFile != "" {
		if err := a.writeRun(o.jsonFile, source, guard, results); err != nil {
			return failed("%w", err)
		}
	}
	if o.jsonFile != "-" {
		var rows [][]cell
		for _, s := range corpusrun.Scores(results) {
			if s.Class != "" {
				continue
			}
			rows = append(rows, texts(
				s.Dialect, share(s.Bypasses, s.Rejects), share(s.FalseRejects, s.Allows), fmt.Sprint(s.Errors),
				fmt.Sprintf("%d/%d µs", s.P50US, s.P95US),
			))
		}
		format, err := a.outputFormat("")
		if err != nil {
			return err
		}
		a.table(format, []string{"dialect", "bypasses", "false rejects", "errors", "p50/p95"}, rows)
		for _, r := range results {
			if o.failures && !r.Met {
				a.printf("%s\n", strings.TrimRight(fmt.Sprintf("%s: expected %s, got %s %s", escapeControls(r.ID), r.Expect, r.Decision, r.Code), " "))
			}
		}
	}
	switch {
	case errored > 0:
		return failed("%s could not run", count(errored, "case"))
	case unmet > 0:
		return &exitError{code: exitFindings}
	default:
		return nil
	}
}

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d (%.2f %%)", n, of, 100*float64(n)/float64(of))
}

func (a *app) writeRun(name string, source map[string]any, guard corpusrun.Guard, results []corpusrun.Result) error {
	if name == "-" {
		var b bytes.Buffer
		if err := corpusrun.WriteFile(&b, source, guard, results); err != nil {
			return err
		}
		a.printRawJSON(b.Bytes())
		return nil
	}
	return writeFile(name, 0o644, func(w io.Writer) error { return corpusrun.WriteFile(w, source, guard, results) })
}
