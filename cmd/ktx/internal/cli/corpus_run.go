package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/corpus"
	corpusrun "github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/dialects"
)

// runOptions are the flags of ktx corpus run.
type runOptions struct {
	files           []string
	guard, jsonFile string
	limit           time.Duration
	by              string
	failures        bool
	filter          caseFilter
	mutants         mutation
}

// The guards that can be asked.
const (
	guardBuiltin = "builtin"
	guardExec    = "exec:"
	guardMCP     = "mcp:"
)

// The rows of the scores.
const (
	byDialect = "dialect"
	byClass   = "class"
)

func (a *app) corpusRun() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run",
		Short: "Put the cases to a guard and score its answers",
		Long: `Put the cases to a guard and score its answers as corpus/INTERPRETING.md says.

--corpus reads cases of others: a class file of ours (.yaml), or JSON Lines with
at least id, dialect, sql (or sql_b64) and expect.

--guard exec:CMD starts a program that speaks ktx-guard/1, JSON Lines over its
standard input and output (corpus/GUARD.md). CMD is split into words without a
shell: 'single' and "double" quotes hold a word together, and there are no
variables, patterns or pipes; exec:sh -c '...' has them. A crash, a late answer
and an answer outside of the protocol are results of the case; the program is
then ended and started again.

--guard mcp:CMD starts an MCP server over standard input and output, before a
throw-away PostgreSQL, and puts every case to its tool that takes SQL. {url} in
CMD stands for that database. The decision is what the database showed, not what
the server said (docs/evidence/ktx-prove.md). It needs the program ktx-prove.
Words before CMD that begin with - are flags of ktx-prove guard, such as
--role select_only.

Exit codes: 0 every case met its expectation · 1 some did not · 2 wrong usage ·
3 some could not run, a file could not be read, or the guard could not be started.`,
		Example: `  ktx corpus run
  ktx corpus run --by class --dialect postgres
  ktx corpus run --mutate --dialect postgres
  ktx corpus run --corpus cases.jsonl --guard builtin --json run.json
  ktx corpus run --guard 'exec:python3 guard.py' --timeout 5s --json theirs.json
  ktx corpus run --dialect postgres --guard 'mcp:npx -y some-mcp-server {url}'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.guard != guardBuiltin && !strings.HasPrefix(o.guard, guardExec) && !strings.HasPrefix(o.guard, guardMCP) {
				return usage("--guard %s: expected %s, %sCMD or %sCMD", escapeControls(o.guard), guardBuiltin, guardExec, guardMCP)
			}
			if o.limit <= 0 {
				return usage("--timeout must be more than nothing")
			}
			if err := oneOf("--by", o.by, []string{byDialect, byClass}); err != nil {
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
	flags.StringVar(&o.guard, "guard", guardBuiltin, "the guard that answers: builtin, exec:CMD, or mcp:CMD")
	flags.DurationVar(&o.limit, "timeout", corpusrun.DefaultLimit, "the time that a guard program has for one case")
	flags.StringVar(&o.by, "by", byDialect, "the rows of the scores: dialect, or class for one row each dialect and class")
	flags.StringVar(&o.jsonFile, "json", "", "write the run to this file; - is standard output")
	flags.BoolVar(&o.failures, "failures", true, "list the cases that did not meet their expectation")
	_ = c.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{byDialect, byClass}, cobra.ShellCompDirectiveNoFileComp))
	o.filter.flags(c)
	o.mutants.flags(c)
	return c
}

// openGuard returns the guard that --guard names, and what ends it.
func openGuard(o runOptions) (corpusrun.Guard, func() error, error) {
	if command, ok := strings.CutPrefix(o.guard, guardExec); ok {
		guard, err := corpusrun.NewExec(command, o.limit)
		if err != nil {
			return nil, nil, usage("--guard: %w", err)
		}
		return guard, guard.Close, nil
	}
	if command, ok := strings.CutPrefix(o.guard, guardMCP); ok {
		guard, err := corpusrun.NewMCP(command, o.limit)
		if errors.Is(err, corpusrun.ErrNoProve) {
			return nil, nil, failed("--guard: %w", err)
		}
		if err != nil {
			return nil, nil, usage("--guard: %w", err)
		}
		return guard, guard.Close, nil
	}
	guard, err := corpusrun.NewBuiltin(productVersion(), dialects.All())
	return guard, func() error { return nil }, err
}

func (a *app) runCorpus(ctx context.Context, o runOptions) error {
	cases, source, err := a.selectCases(o.files, o.filter)
	if err != nil {
		return err
	}
	if cases, err = o.mutants.of(cases); err != nil {
		return err
	}
	guard, end, err := openGuard(o)
	if err != nil {
		return err
	}
	progress := a.progress("ran", len(cases))
	results, err := corpusrun.Run(ctx, guard, cases, progress.step)
	progress.stop()
	if err := errors.Join(err, end()); err != nil {
		return failed("%w", err)
	}
	return a.reportRun(results, source, guard, o)
}

// selectCases reads the built-in cases, or those of the files, and returns those
// that the filter selects.
func (a *app) selectCases(files []string, filter caseFilter) ([]corpus.Case, map[string]any, error) {
	cases, source, err := a.readCases(files)
	if err != nil {
		return nil, nil, err
	}
	classes := corpusClasses()
	if len(files) > 0 {
		classes = classesOf(cases)
	}
	if cases, err = filter.of(cases, classes); err != nil {
		return nil, nil, err
	}
	if len(cases) == 0 {
		return nil, nil, usage("no case is selected")
	}
	return cases, source, nil
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
	text, err := a.readCaseText(name)
	if err != nil {
		return nil, err
	}
	if !isClassFile(name) {
		return corpus.ReadJSONLines(bytes.NewReader(text))
	}
	file := parseCases(name, text)
	return file.cases, file.err()
}

func (a *app) reportRun(results []corpusrun.Result, source map[string]any, guard corpusrun.Guard, o runOptions) error {
	unmet, unanswered := 0, 0
	for _, r := range results {
		if r.Decision == corpusrun.Error && r.Fault == "" {
			unanswered++
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
		if err := a.printRun(results, o); err != nil {
			return err
		}
	}
	switch {
	case unanswered > 0:
		return failed("%s could not run", count(unanswered, "case"))
	case unmet > 0:
		return &exitError{code: exitFindings}
	default:
		return nil
	}
}

// printRun prints the scores, and the cases that did not meet their expectation.
func (a *app) printRun(results []corpusrun.Result, o runOptions) error {
	headers := []string{"dialect", "bypasses", "false rejects", "errors", "crashes", "timeouts", "p50/p95/p99"}
	if o.by == byClass {
		headers = slices.Insert(headers, 1, "class")
	}
	var rows [][]cell
	for _, s := range corpusrun.Scores(results) {
		if (s.Class != "") != (o.by == byClass) {
			continue
		}
		row := texts(
			s.Dialect, share(s.Bypasses, s.Rejects), share(s.FalseRejects, s.Allows), share(s.Errors, s.Cases), share(s.Crashes, s.Cases), share(s.TimeOuts, s.Cases),
			fmt.Sprintf("%d/%d/%d µs", s.P50US, s.P95US, s.P99US),
		)
		if o.by == byClass {
			row = slices.Insert(row, 1, cell{text: s.Class})
		}
		rows = append(rows, row)
	}
	format, err := a.outputFormat("")
	if err != nil {
		return err
	}
	a.table(format, headers, rows)
	for _, r := range results {
		if o.failures && !r.Met {
			a.printf("%s\n", failureLine(r))
		}
	}
	return nil
}

// failureLine says what a case wanted, and what it got.
func failureLine(r corpusrun.Result) string {
	got := strings.Join(slices.DeleteFunc([]string{string(r.Decision), string(r.Fault), string(r.Code)}, func(word string) bool { return word == "" }), " ")
	line := fmt.Sprintf("%s: expected %s, got %s", r.ID, r.Expect, got)
	if r.Detail != "" {
		line += ": " + r.Detail
	}
	return escapeControls(line)
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
	return atomicfile.Write(name, 0o644, func(w io.Writer) error { return corpusrun.WriteFile(w, source, guard, results) })
}
