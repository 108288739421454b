package corpus

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/corpus/casefile"
)

// maxCaseFile bounds a file of cases, in bytes.
const maxCaseFile = 64 << 20

func lintCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:   "lint [FILE]...",
		Short: "Find mistakes in files of cases",
		Long: `Find mistakes in files of cases: class files (.yaml), JSON Lines, and documents such
as cases.json. Without FILE, check the class files of this build. - is standard input,
as JSON Lines or a document.

A file in which an id begins with KTX- must follow the rules of the corpus for ids,
twins, codes, effects, sources and versions, which are in corpus/README.md. Another
file needs unique ids, known dialects and expectations, codes and twins that exist,
and no statement twice.

Exit codes: 0 no mistakes · 1 mistakes · 2 wrong usage · 3 a file could not be read.`,
		Example: `  ktx corpus lint
  ktx corpus lint corpus/postgres/*.yaml
  ktx corpus lint cases.jsonl --json`,
		RunE: func(_ *cobra.Command, args []string) error {
			var files []*casefile.File
			if len(args) == 0 {
				var err error
				if files, err = casefile.Builtin(); err != nil {
					return console.Failed("%w", err)
				}
			}
			for i, name := range args {
				if slices.Contains(args[:i], name) {
					return console.Usage("%s is named twice", name)
				}
				text, err := readCaseText(a, name)
				if err != nil {
					return console.Failed("read cases: %w", err)
				}
				files = append(files, casefile.Parse(name, text))
			}
			return reportLint(a, files, casefile.Lint(files, console.CodeNames()))
		},
	}
}

// readCaseText reads a file, or standard input for the name -.
func readCaseText(a *console.App, name string) ([]byte, error) {
	in := a.In
	if name != "-" {
		f, err := os.Open(name) //nolint:gosec // the user names the file
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, fmt.Errorf("%s is a folder; name its files, such as %s", name, filepath.Join(name, "*", "*.yaml"))
		}
		in = io.Reader(f)
	}
	text, err := io.ReadAll(io.LimitReader(in, maxCaseFile+1))
	if err == nil && len(text) > maxCaseFile {
		err = fmt.Errorf("%s: longer than %d bytes", name, maxCaseFile)
	}
	return text, err
}

func reportLint(a *console.App, files []*casefile.File, problems []casefile.Problem) error {
	cases := 0
	for _, f := range files {
		cases += f.Wanted
	}
	if a.JSON {
		a.PrintJSON(console.NewDocument("ktx-corpus-lint/1").With("files", len(files)).With("cases", cases).With("problems", problems))
	} else {
		for _, p := range problems {
			id := ""
			if p.ID != "" {
				id = p.ID + ": "
			}
			a.Printf("%s\n", console.EscapeControls(fmt.Sprintf("%s:%d: %s%s", p.File, p.Line, id, p.Message)))
		}
		a.Printf("%s in %s, %s\n", console.Count(cases, "case"), console.Count(len(files), "file"), console.Count(len(problems), "problem"))
	}
	if len(problems) > 0 {
		return &console.ExitError{Code: console.ExitFindings}
	}
	return nil
}
