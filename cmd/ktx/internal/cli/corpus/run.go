package corpus

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
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/casefile"
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

// The values of --guard.
const (
	guardBuiltin = "builtin"
	guardExec    = "exec:"
	guardMCP     = "mcp:"
)

// The values of --by.
const (
	byDialect = "dialect"
	byClass   = "class"
	byEffect  = "effect"
)

func runCommand(a *console.App) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run",
		Short: "Ask a guard about each case, and score its answers",
		Long: `Ask a guard about each case, and score its answers. corpus/INTERPRETING.md explains
the scores.

--corpus reads cases from files: class files (.yaml), JSON Lines with at least id,
dialect, sql (or sql_b64) and expect, or documents such as cases.json. A line that
holds no such case is reported, and the others run.

--guard exec:CMD starts a program that speaks ktx-guard/1, which is JSON Lines over
its standard input and output (corpus/GUARD.md). CMD is split into words without a
shell. Quotes, 'single' or "double", keep a word together. For variables, patterns
or pipes, write exec:sh -c '...'. A crash, a late answer and an answer outside of
the protocol are results of the case; the program is then ended and started again.

--guard mcp:CMD starts an MCP server over standard input and output, with a
temporary PostgreSQL behind it (with --dialect mysql before CMD, MariaDB; with
--dialect sqlite, a file), and sends every case to its tool that takes SQL. {url}
in CMD stands for that database. The decision is what happened in the
database, not what the server answered (docs/evidence/ktx-prove.md). It needs the program
ktx-prove. Words before CMD that begin with - are flags of ktx-prove guard, such as
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
				return console.Usage("--guard %s: expected %s, %sCMD or %sCMD", console.EscapeControls(o.guard), guardBuiltin, guardExec, guardMCP)
			}
			if o.limit <= 0 {
				return console.Usage("--timeout must be more than 0")
			}
			if err := console.OneOf("--by", o.by, []string{byDialect, byClass, byEffect}); err != nil {
				return err
			}
			if cmd.Flags().Changed("json") && o.jsonFile == "" {
				return console.Usage("--json is blank; name a file, or - for standard output")
			}
			return runCorpus(cmd.Context(), a, o)
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&o.files, "corpus", nil, "cases to read instead of the built-in ones (repeatable); - is standard input")
	flags.StringVar(&o.guard, "guard", guardBuiltin, "the guard that answers: builtin, exec:CMD, or mcp:CMD")
	flags.DurationVar(&o.limit, "timeout", corpusrun.DefaultLimit, "the time limit of a guard program for one case")
	flags.StringVar(&o.by, "by", byDialect, "the rows of the scores: dialect; class for one row for each dialect and class; effect for one for each dialect and kind of effect")
	flags.StringVar(&o.jsonFile, "json", "", "write the run to this file; - is standard output")
	flags.BoolVar(&o.failures, "failures", true, "list the cases that did not meet their expectation")
	_ = c.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{byDialect, byClass, byEffect}, cobra.ShellCompDirectiveNoFileComp))
	o.filter.flags(c)
	o.mutants.flags(c)
	return c
}

// openGuard returns the guard that --guard names, and a function that ends it.
func openGuard(a *console.App, o runOptions) (corpusrun.Guard, func() error, error) {
	if command, ok := strings.CutPrefix(o.guard, guardExec); ok {
		guard, err := corpusrun.NewExec(command, o.limit)
		if err != nil {
			return nil, nil, console.Usage("--guard: %w", err)
		}
		return guard, guard.Close, nil
	}
	if command, ok := strings.CutPrefix(o.guard, guardMCP); ok {
		guard, err := corpusrun.NewMCP(command, o.limit)
		if errors.Is(err, corpusrun.ErrNoProve) {
			return nil, nil, console.Failed("--guard: %w", err)
		}
		if err != nil {
			return nil, nil, console.Usage("--guard: %w", err)
		}
		return guard, guard.Close, nil
	}
	guard, err := corpusrun.NewBuiltin(a.Version, dialects.All())
	return guard, func() error { return nil }, err
}

func runCorpus(ctx context.Context, a *console.App, o runOptions) error {
	cases, source, unread, err := selectCases(a, o.files, o.filter)
	if err != nil {
		return err
	}
	if len(unread) > 0 {
		source["unread"] = unread
	}
	if cases, err = o.mutants.of(cases); err != nil {
		return err
	}
	guard, end, err := openGuard(a, o)
	if err != nil {
		return err
	}
	progress := a.Progress("ran", len(cases))
	results, err := corpusrun.Run(ctx, guard, cases, progress.Step)
	progress.Stop()
	if err := errors.Join(err, end()); err != nil {
		return console.Failed("%w", err)
	}
	for _, line := range unread {
		a.Errorf("%s\n", console.EscapeControls(line))
	}
	return reportRun(a, results, source, len(unread), guard, o)
}

// selectCases reads the built-in cases, or those of the files, and returns those
// that the filter selects. The lines of the files that hold no case are in unread, each with
// its file and what is wrong with it.
func selectCases(a *console.App, files []string, filter caseFilter) (cases []corpus.Case, source map[string]any, unread []string, err error) {
	if cases, source, unread, err = readCases(a, files); err != nil {
		return nil, nil, nil, err
	}
	if len(cases) == 0 && len(unread) > 0 {
		return nil, nil, nil, console.Failed("read cases: %s", unread[0])
	}
	classes := classNames()
	if len(files) > 0 {
		classes = classesOf(cases)
	}
	if cases, err = filter.of(cases, classes); err != nil {
		return nil, nil, nil, err
	}
	if len(cases) == 0 {
		return nil, nil, nil, console.Usage("no case is selected")
	}
	return cases, source, unread, nil
}

// readCases reads the built-in cases, or those of the files, and the lines of the files that
// hold none.
func readCases(a *console.App, files []string) (all []corpus.Case, source map[string]any, unread []string, err error) {
	if len(files) == 0 {
		return corpus.Cases(), map[string]any{"name": "ktx", "version": corpus.Version()}, nil, nil
	}
	from := map[string]string{} // file by id
	for _, name := range files {
		cases, bad, err := readCaseFile(a, name)
		if err != nil {
			return nil, nil, nil, console.Failed("read cases: %s: %w", name, err)
		}
		for _, line := range bad {
			unread = append(unread, name+": "+line.Error())
		}
		for _, c := range cases {
			if first, taken := from[c.ID]; taken {
				return nil, nil, nil, console.Failed("read cases: %s: the id %q is already used in %s", name, c.ID, first)
			}
			from[c.ID] = name
		}
		all = append(all, cases...)
	}
	return all, map[string]any{"files": files}, unread, nil
}

func readCaseFile(a *console.App, name string) ([]corpus.Case, []*corpus.LineError, error) {
	text, err := readCaseText(a, name)
	if err != nil {
		return nil, nil, err
	}
	if !casefile.IsClassFile(name) {
		return corpus.ReadJSONLines(bytes.NewReader(corpus.Lines(text)))
	}
	file := casefile.Parse(name, text)
	return file.Cases, nil, file.Err()
}

func reportRun(a *console.App, results []corpusrun.Result, source map[string]any, unread int, guard corpusrun.Guard, o runOptions) error {
	unmet, unanswered := 0, 0
	for _, r := range results {
		if r.Decision == corpusrun.Error && r.Fault == "" {
			unanswered++
		} else if !r.Met {
			unmet++
		}
	}
	if o.jsonFile != "" {
		if err := writeRun(a, o.jsonFile, source, guard, results); err != nil {
			return console.Failed("%w", err)
		}
	}
	if o.jsonFile != "-" {
		if err := printRun(a, results, o); err != nil {
			return err
		}
	}
	switch {
	case unread > 0 && unanswered == 0:
		return console.Failed("%s held no case", console.Count(unread, "line"))
	case unread > 0:
		return console.Failed("%s held no case and %s could not run", console.Count(unread, "line"), console.Count(unanswered, "case"))
	case unanswered > 0:
		return console.Failed("%s could not run", console.Count(unanswered, "case"))
	case unmet > 0:
		return &console.ExitError{Code: console.ExitFindings}
	default:
		return nil
	}
}

// printRun prints the scores, and the cases that did not meet their expectation.
func printRun(a *console.App, results []corpusrun.Result, o runOptions) error {
	headers := []string{"dialect", "bypasses", "false rejects", "errors", "crashes", "timeouts", "p50/p95/p99"}
	scores := slices.DeleteFunc(corpusrun.Scores(results), func(s corpusrun.Score) bool { return (s.Class != "") != (o.by == byClass) })
	if o.by == byEffect {
		scores = corpusrun.ScoresByEffect(results)
	}
	if o.by != byDialect {
		headers = slices.Insert(headers, 1, o.by)
	}
	var rows [][]console.Cell
	for _, s := range scores {
		row := console.Texts(
			s.Dialect, share(s.Bypasses, s.Rejects), share(s.FalseRejects, s.Allows), share(s.Errors, s.Cases), share(s.Crashes, s.Cases), share(s.TimeOuts, s.Cases),
			fmt.Sprintf("%d/%d/%d µs", s.P50US, s.P95US, s.P99US),
		)
		if o.by != byDialect {
			row = slices.Insert(row, 1, console.Cell{Text: s.Class + s.Effect})
		}
		rows = append(rows, row)
	}
	format, err := a.OutputFormat("")
	if err != nil {
		return err
	}
	a.Table(format, headers, rows)
	for _, r := range results {
		if o.failures && !r.Met {
			a.Printf("%s\n", failureLine(r))
		}
	}
	return nil
}

// failureLine returns the expectation of a case and the answer.
func failureLine(r corpusrun.Result) string {
	got := strings.Join(slices.DeleteFunc([]string{string(r.Decision), string(r.Fault), string(r.Code)}, func(word string) bool { return word == "" }), " ")
	line := fmt.Sprintf("%s: expected %s, got %s", r.ID, r.Expect, got)
	if r.Detail != "" {
		line += ": " + r.Detail
	}
	return console.EscapeControls(line)
}

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d (%.2f %%)", n, of, 100*float64(n)/float64(of))
}

func writeRun(a *console.App, name string, source map[string]any, guard corpusrun.Guard, results []corpusrun.Result) error {
	if name == "-" {
		var b bytes.Buffer
		if err := corpusrun.WriteFile(&b, source, guard, results); err != nil {
			return err
		}
		a.PrintRawJSON(b.Bytes())
		return nil
	}
	return atomicfile.Write(name, 0o644, func(w io.Writer) error { return corpusrun.WriteFile(w, source, guard, results) })
}
