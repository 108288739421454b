package cli

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/corpus"
)

// maxCaseFile bounds a file of cases.
const maxCaseFile = 64 << 20

// ownPrefix begins the ids of the corpus. Cases of others have other ids.
const ownPrefix = "KTX-"

func (a *app) corpusLint() *cobra.Command {
	return &cobra.Command{
		Use:   "lint [FILE]...",
		Short: "Find mistakes in files of cases",
		Long: `Find mistakes in files of cases: class files (.yaml) and JSON Lines. Without FILE,
the class files of this build. - is standard input, as JSON Lines.

A file in which an id begins with KTX- is held to the rules of the corpus: ids,
twins, codes, effects, sources and versions, as corpus/README.md has them. A file
of others needs ids that are unique, dialects and expectations that are known,
codes and twins that exist, and no statement twice.

Exit codes: 0 no mistakes · 1 mistakes · 2 wrong usage · 3 a file could not be read.`,
		Example: `  ktx corpus lint
  ktx corpus lint corpus/postgres/*.yaml
  ktx corpus lint cases.jsonl --json`,
		RunE: func(_ *cobra.Command, args []string) error {
			var files []*caseFile
			if len(args) == 0 {
				var err error
				if files, err = builtinFiles(); err != nil {
					return failed("%w", err)
				}
			}
			for i, name := range args {
				if slices.Contains(args[:i], name) {
					return usage("%s is named twice", name)
				}
				text, err := a.readCaseText(name)
				if err != nil {
					return failed("read cases: %w", err)
				}
				files = append(files, parseCases(name, text))
			}
			return a.reportLint(files, lintFiles(files))
		},
	}
}

// builtinFiles returns the class files of this build.
func builtinFiles() ([]*caseFile, error) {
	var files []*caseFile
	names, err := fs.Glob(corpus.Files(), "*/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(corpus.Files(), name)
		if err != nil {
			return nil, err
		}
		files = append(files, parseCases(name, text))
	}
	return files, nil
}

// readCaseText reads a file of cases, or standard input.
func (a *app) readCaseText(name string) ([]byte, error) {
	in := a.in
	if name != "-" {
		f, err := os.Open(name) //nolint:gosec // the user names the file
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = io.Reader(f)
	}
	text, err := io.ReadAll(io.LimitReader(in, maxCaseFile+1))
	if err == nil && len(text) > maxCaseFile {
		err = fmt.Errorf("%s: longer than %d bytes", name, maxCaseFile)
	}
	return text, err
}

// lintFiles returns the problems of all files, by file and line. Files of the
// corpus are looked at together, and so are those of others.
func lintFiles(files []*caseFile) []caseProblem {
	type source struct {
		file  *caseFile
		place casePlace
	}
	var (
		ours, others         []corpus.Case
		ourSource, otherFrom []source
		problems             = []caseProblem{}
		unread               = map[string]bool{} // ids of cases that could not be read
	)
	for _, f := range files {
		own := slices.ContainsFunc(f.cases, func(c corpus.Case) bool { return strings.HasPrefix(c.ID, ownPrefix) })
		if own && isClassFile(f.name) {
			f.checkName()
		}
		problems = append(problems, f.problems...)
		for _, p := range f.problems {
			unread[p.ID] = true
		}
		for i, c := range f.cases {
			if own {
				ours, ourSource = append(ours, c), append(ourSource, source{f, f.places[i]})
			} else {
				others, otherFrom = append(others, c), append(otherFrom, source{f, f.places[i]})
			}
		}
	}
	collect := func(found []corpus.Problem, from []source) {
		for _, p := range found {
			if (p.Field == "id" || p.Field == "benign_twin") && (unread[p.ID+"B"] || p.ID != "" && unread[strings.TrimSuffix(p.ID, "B")]) {
				continue // its twin is there, and has a problem of its own
			}
			s := from[p.Index]
			problems = append(problems, caseProblem{s.file.name, s.place.of(p.Field), p.ID, p.Field, p.Message})
		}
	}
	collect(corpus.Lint(ours, codeNames()), ourSource)
	collect(corpus.LintOthers(others, codeNames()), otherFrom)
	order := func(name string) int {
		return slices.IndexFunc(files, func(f *caseFile) bool { return f.name == name })
	}
	slices.SortStableFunc(problems, func(x, y caseProblem) int {
		return cmp.Or(cmp.Compare(order(x.File), order(y.File)), cmp.Compare(x.Line, y.Line))
	})
	return problems
}

// checkName holds that a class file lies where its class and dialect say.
func (f *caseFile) checkName() {
	if len(f.cases) == 0 {
		return
	}
	c := f.cases[0]
	name := filepath.ToSlash(f.name)
	if want := c.Class + ".yaml"; path.Base(name) != want {
		f.add(1, "", "", "holds the class %s, which belongs into %s/%s", c.Class, c.Dialect, want)
		return
	}
	folder := path.Base(path.Dir(name))
	if folder != c.Dialect && slices.Contains(corpusDialects(), folder) {
		f.add(1, "", "", "holds cases of %s, which belong into %s/%s.yaml", c.Dialect, c.Dialect, c.Class)
	}
}

func (a *app) reportLint(files []*caseFile, problems []caseProblem) error {
	cases := 0
	for _, f := range files {
		cases += f.wanted
	}
	if a.json {
		a.printJSON(newDocument("ktx-corpus-lint/1").with("files", len(files)).with("cases", cases).with("problems", problems))
	} else {
		for _, p := range problems {
			id := ""
			if p.ID != "" {
				id = p.ID + ": "
			}
			a.printf("%s\n", escapeControls(fmt.Sprintf("%s:%d: %s%s", p.File, p.Line, id, p.Message)))
		}
		a.printf("%s in %s, %s\n", count(cases, "case"), count(len(files), "file"), count(len(problems), "problem"))
	}
	if len(problems) > 0 {
		return &exitError{code: exitFindings}
	}
	return nil
}
