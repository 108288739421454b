package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/corpusrun"
	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/execution"
)

func (a *app) corpusCommand() *cobra.Command {
	return group("corpus", "The statements that a read-only guard must refuse or allow", a.corpusList(), a.corpusShow(), a.corpusRun())
}

// caseFilter selects cases.
type caseFilter struct{ dialect, class, expect string }

func (f *caseFilter) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.dialect, "dialect", "", "only cases of this dialect")
	c.Flags().StringVar(&f.class, "class", "", "only cases of this class")
	c.Flags().StringVar(&f.expect, "expect", "", "only cases with this expectation: reject, allow or policy")
}

func (f *caseFilter) of(cases []corpus.Case) []corpus.Case {
	return slices.DeleteFunc(slices.Clone(cases), func(c corpus.Case) bool {
		return f.dialect != "" && c.Dialect != f.dialect || f.class != "" && c.Class != f.class || f.expect != "" && string(c.Expect) != f.expect
	})
}

func (a *app) corpusList() *cobra.Command {
	var filter caseFilter
	c := &cobra.Command{
		Use:   "list",
		Short: "List the cases",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cases := filter.of(corpus.Cases())
			if a.json {
				type entry struct {
					ID         string        `json:"id"`
					Class      string        `json:"class"`
					Dialect    string        `json:"dialect"`
					Flavour    string        `json:"flavour,omitempty"`
					Title      string        `json:"title"`
					Expect     corpus.Expect `json:"expect"`
					Codes      []string      `json:"codes"`
					BenignTwin string        `json:"benign_twin,omitempty"`
				}
				list := []entry{}
				for _, c := range cases {
					list = append(list, entry{c.ID, c.Class, c.Dialect, c.Flavour, c.Title, c.Expect, append([]string{}, c.Codes...), c.BenignTwin})
				}
				a.printJSON(map[string]any{"schema": "ktx-corpus-list/1", "cases": list})
				return nil
			}
			format, err := a.outputFormat("")
			if err != nil {
				return err
			}
			var rows [][]string
			for _, c := range cases {
				rows = append(rows, []string{c.ID, c.Class, string(c.Expect), strings.Join(c.Codes, ","), c.Title})
			}
			return a.table(format, []string{"id", "class", "expect", "codes", "title"}, rows)
		},
	}
	filter.flags(c)
	return c
}

func (a *app) corpusShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Print one case, and what the guard of this build answers",
		Args:  cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var ids []string
			for _, c := range corpus.Cases() {
				ids = append(ids, c.ID)
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cases := corpus.Cases()
			i := slices.IndexFunc(cases, func(c corpus.Case) bool { return strings.EqualFold(c.ID, args[0]) })
			if i < 0 {
				var ids []string
				for _, c := range cases {
					ids = append(ids, c.ID)
				}
				near := ""
				if n := execution.Nearest(args[0], ids); n != "" {
					near = "; did you mean " + n + "?"
				}
				return usage("no case has the id %q%s", args[0], near)
			}
			guard, err := corpusrun.NewBuiltin(productVersion(), dialects.All())
			if err != nil {
				return err
			}
			results, err := corpusrun.Run(cmd.Context(), guard, cases[i:i+1])
			if err != nil {
				return err
			}
			if a.json {
				a.printJSON(map[string]any{"schema": "ktx-corpus-case/1", "case": cases[i], "answer": results[0]})
				return nil
			}
			c := cases[i]
			a.printf("%s  %s\n", a.paint(a.out, styleBold, c.ID), c.Title)
			a.printf("dialect  %s, class %s\nexpect   %s %s\n", c.Dialect, c.Class, c.Expect, strings.Join(c.Codes, ", "))
			if c.BenignTwin != "" {
				a.printf("twin     %s\n", c.BenignTwin)
			}
			a.printf("answer   %s %s\n\n%s\n", results[0].Decision, results[0].Code, escapeLines(c.SQL))
			return nil
		},
	}
}

// escapeLines makes control characters visible and keeps the lines.
func escapeLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = shorten(escapeControls(lines[i]), 2000)
	}
	return strings.Join(lines, "\n")
}

func (a *app) corpusRun() *cobra.Command {
	var (
		files         []string
		guardName     string
		jsonFile      string
		filter        caseFilter
		listFailures  bool
		writesResults = "write the run to this file; - is standard output"
	)
	c := &cobra.Command{
		Use:   "run",
		Short: "Put the cases to a guard and score its answers",
		Long: `Put the cases to a guard and score its answers as corpus/INTERPRETING.md says.

--corpus reads cases of others: a class file of ours (.yaml), or JSON Lines with
at least id, dialect, sql (or sql_b64) and expect.

Exit code: 0 every case met its expectation, 1 some did not, 3 some could not run.`,
		Example: `  ktx corpus run
  ktx corpus run --corpus cases.jsonl --guard builtin --json run.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if guardName != "builtin" {
				return usage("--guard %s: this version knows builtin", guardName)
			}
			cases, source, err := readCases(files)
			if err != nil {
				return err
			}
			guard, err := corpusrun.NewBuiltin(productVersion(), dialects.All())
			if err != nil {
				return err
			}
			results, err := corpusrun.Run(cmd.Context(), guard, filter.of(cases))
			if err != nil {
				return &exitError{code: exitFailed, err: err}
			}
			return a.reportRun(results, source, guard, jsonFile, listFailures)
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&files, "corpus", nil, "cases to read instead of the built-in ones (repeatable)")
	flags.StringVar(&guardName, "guard", "builtin", "the guard that answers")
	flags.StringVar(&jsonFile, "json", "", writesResults)
	flags.BoolVar(&listFailures, "failures", true, "list the cases that did not meet their expectation")
	filter.flags(c)
	return c
}

// readCases reads the built-in cases, or those of the files.
func readCases(files []string) ([]corpus.Case, map[string]any, error) {
	if len(files) == 0 {
		return corpus.Cases(), map[string]any{"name": "ktx", "version": corpus.Version()}, nil
	}
	var all []corpus.Case
	for _, name := range files {
		text, err := os.ReadFile(name) //nolint:gosec // the user names the file
		if err != nil {
			return nil, nil, &exitError{code: exitFailed, err: fmt.Errorf("read cases: %w", err)}
		}
		var cases []corpus.Case
		switch filepath.Ext(name) {
		case ".yaml", ".yml":
			cases, err = decodeYAML(text)
		default:
			cases, err = corpus.ReadJSONLines(bytes.NewReader(text))
		}
		if err != nil {
			return nil, nil, usage("%s: %v", name, err)
		}
		all = append(all, cases...)
	}
	return all, map[string]any{"files": files}, nil
}

func (a *app) reportRun(results []corpusrun.Result, source map[string]any, guard corpusrun.Guard, jsonFile string, listFailures bool) error {
	unmet, failed := 0, 0
	for _, r := range results {
		if r.Decision == corpusrun.Error {
			failed++
		} else if !r.Met {
			unmet++
		}
	}
	if jsonFile != "" {
		if err := a.writeRun(jsonFile, source, guard, results); err != nil {
			return err
		}
	}
	if jsonFile != "-" {
		var rows [][]string
		for _, s := range corpusrun.Scores(results) {
			if s.Class != "" {
				continue
			}
			rows = append(rows, []string{
				s.Dialect, share(s.Bypasses, s.Rejects), share(s.FalseRejects, s.Allows), fmt.Sprint(s.Errors),
				fmt.Sprintf("%d/%d µs", s.P50US, s.P95US),
			})
		}
		format, err := a.outputFormat("")
		if err != nil {
			return err
		}
		if err := a.table(format, []string{"dialect", "bypasses", "false rejects", "errors", "p50/p95"}, rows); err != nil {
			return err
		}
		for _, r := range results {
			if listFailures && !r.Met {
				a.printf("%s: expected %s, got %s %s\n", r.ID, r.Expect, r.Decision, r.Code)
			}
		}
	}
	switch {
	case failed > 0:
		return &exitError{code: exitFailed, err: fmt.Errorf("%d cases could not run", failed)}
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
		return corpusrun.WriteFile(a.out, source, guard, results)
	}
	return writeFile(name, func(w io.Writer) error { return corpusrun.WriteFile(w, source, guard, results) })
}
