package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/casefile"
)

// newCase is the new case: the flags of ktx corpus new, and what number adds.
type newCase struct {
	dir, dialect, class, flavour, since string
	title, sql, sqlFile, effect         string
	codes, cwe, cve, urls               []string
	twinTitle, twinSQL, twinFile        string
	path, id, twin                      string // set by number
	old                                 []byte
}

func newCommand(a *console.App) *cobra.Command {
	var n newCase
	c := &cobra.Command{
		Use:   "new --dialect DIALECT --class CLASS",
		Short: "Write a new case that must be refused, with its benign twin, into its class file",
		Long: `Write a new case that must be refused, with its benign twin, into its class file.

The case gets the next number of its class. A number that is in the class file, in
the cases of this build or in HISTORY.md is never given again. The command appends
to the file; what is in it stays as it is, byte for byte. In an empty folder it
begins a corpus of your own, with a HISTORY.md. A field without a flag
stays empty, and ktx corpus lint reports it until it is filled in.`,
		Example: `  ktx corpus new --dialect postgres --class ddl --title 'CREATE TABLE' --sql 'CREATE TABLE t (i int)' \
    --code ddl_statement --effect schema_write --cwe CWE-284 --twin 'SELECT * FROM t' --twin-title 'A read of the table'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return addCase(a, &n) },
	}
	flags := c.Flags()
	flags.StringVar(&n.dir, "dir", "corpus", "the folder of the corpus")
	flags.StringVar(&n.dialect, "dialect", "", "the dialect of the case (required)")
	flags.StringVar(&n.class, "class", "", "the class of the case (required)")
	flags.StringVar(&n.flavour, "flavour", "", "the server family within the dialect, if the case is only for one")
	flags.StringVar(&n.since, "since", "", "the version of the corpus that adds the case (default: the newest in HISTORY.md)")
	flags.StringVar(&n.title, "title", "", "what the case shows")
	flags.StringVar(&n.sql, "sql", "", "the statement")
	flags.StringVar(&n.sqlFile, "sql-file", "", "a file that holds the statement, byte for byte; - is standard input")
	flags.StringArrayVar(&n.codes, "code", nil, "a code that explains the refusal, the best one first (repeatable)")
	flags.StringVar(&n.effect, "effect", "", "what the statement does when nothing stops it")
	flags.StringArrayVar(&n.cwe, "cwe", nil, "a weakness class, such as CWE-284 (repeatable)")
	flags.StringArrayVar(&n.cve, "cve", nil, "a published vulnerability of the same construct (repeatable)")
	flags.StringArrayVar(&n.urls, "url", nil, "the https address of a document (repeatable)")
	flags.StringVar(&n.twinTitle, "twin-title", "", "what the benign twin shows")
	flags.StringVar(&n.twinSQL, "twin", "", "the statement of the benign twin")
	flags.StringVar(&n.twinFile, "twin-file", "", "a file that holds the twin's statement; - is standard input")
	for flag, values := range map[string][]string{"dialect": dialectNames(), "class": classNames(), "code": console.CodeNames(), "effect": corpus.Effects()} {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	_ = c.MarkFlagDirname("dir")
	return c
}

func addCase(a *console.App, n *newCase) error {
	if err := n.check(); err != nil {
		return err
	}
	if err := readStatements(a, n); err != nil {
		return err
	}
	if err := n.number(); err != nil {
		return err
	}
	own, twin := n.cases()
	text, err := casefile.Append(n.path, n.old, own, twin)
	if err != nil {
		return console.Failed("%s: %w", n.path, err)
	}
	if err := atomicfile.Write(n.path, 0o644, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}); err != nil {
		return console.Failed("%w", err)
	}
	open := slices.DeleteFunc(casefile.Lint([]*casefile.File{casefile.Parse(n.path, text)}, console.CodeNames()), func(p casefile.Problem) bool { return p.ID != n.id && p.ID != n.twin })
	line := 1 + bytes.Count(text[:bytes.Index(text, []byte("id: "+n.id+"\n"))+1], []byte("\n"))
	if a.JSON {
		a.PrintJSON(console.NewDocument("ktx-corpus-new/1").With("id", n.id).With("benign_twin", n.twin).With("file", n.path).With("line", line).With("problems", open))
		return nil
	}
	a.Printf("%s and its twin: %s:%d\n", n.id, console.EscapeControls(n.path), line)
	for _, p := range open {
		a.Printf("  to correct, line %d: %s: %s\n", p.Line, p.ID, console.EscapeControls(p.Message))
	}
	return nil
}

// check checks the values of the flags.
func (n *newCase) check() error {
	type named struct {
		flag  string
		value []string
		known []string
	}
	for _, f := range []named{
		{"--dialect", []string{n.dialect}, dialectNames()},
		{"--class", []string{n.class}, classNames()},
		{"--code", n.codes, console.CodeNames()},
		{"--effect", slices.DeleteFunc([]string{n.effect}, func(s string) bool { return s == "" }), corpus.Effects()},
	} {
		for _, value := range f.value {
			if value == "" {
				return console.Usage("%s is missing", f.flag)
			}
			if !slices.Contains(f.known, value) {
				return console.Usage("%s %s is not known%s", f.flag, console.EscapeControls(value), console.DidYouMean(value, f.known))
			}
		}
	}
	if n.sql != "" && n.sqlFile != "" || n.twinSQL != "" && n.twinFile != "" {
		return console.Usage("give a statement as text or as a file, not both")
	}
	if n.sqlFile == "-" && n.twinFile == "-" {
		return console.Usage("standard input can be only one of the statements")
	}
	return nil
}

// readStatements reads the statements that are given as files.
func readStatements(a *console.App, n *newCase) error {
	for _, from := range []struct {
		file string
		into *string
	}{{n.sqlFile, &n.sql}, {n.twinFile, &n.twinSQL}} {
		if from.file == "" {
			continue
		}
		text, err := readCaseText(a, from.file)
		if err != nil {
			return console.Failed("read statement: %w", err)
		}
		*from.into = string(text)
	}
	return nil
}

var historyVersion = regexp.MustCompile(`(?m)^## ([0-9]+\.[0-9]+\.[0-9]+)\b`)

// number sets the class file, its content, and the ids of the case and its twin.
func (n *newCase) number() error {
	history, err := os.ReadFile(filepath.Join(n.dir, "HISTORY.md"))
	if errors.Is(err, fs.ErrNotExist) {
		history, err = n.begin()
	}
	if err != nil {
		return console.Usage("%s is not the folder of a corpus: %w; an empty folder, named with --dir, begins one of your own", n.dir, err)
	}
	if n.since == "" {
		m := historyVersion.FindSubmatch(history)
		if m == nil {
			return console.Usage("%s has no version; give --since", filepath.Join(n.dir, "HISTORY.md"))
		}
		n.since = string(m[1])
	}
	n.path = filepath.Join(n.dir, n.dialect, n.class+".yaml")
	if n.old, err = os.ReadFile(n.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return console.Failed("read cases: %w", err)
	}
	dialects, classes := corpus.Dialects(), corpus.Classes()
	d := dialects[slices.IndexFunc(dialects, func(d corpus.Dialect) bool { return d.Name == n.dialect })]
	k := classes[slices.IndexFunc(classes, func(k corpus.Class) bool { return k.Name == n.class })]
	if len(n.old) == 0 {
		if err := os.MkdirAll(filepath.Dir(n.path), 0o755); err != nil { //nolint:gosec // others read the corpus
			return console.Failed("write case: %w", err)
		}
		n.old = fmt.Appendf(nil, "# %s.\nschema: %s\nclass: %s\ndialect: %s\ncases:\n", k.Title, corpus.Schema, n.class, n.dialect)
	}
	if n.id, err = casefile.NextID(d, k, history, n.old); err != nil {
		return console.Failed("%w", err)
	}
	n.twin = n.id + "B"
	return nil
}

// firstHistory is the list of versions of a new corpus.
const firstHistory = `# Versions of the corpus

The newest version is first. An id of a case is never given twice: when a case is
withdrawn, its version names it here.

## 0.1.0

The first cases.
`

// begin begins a corpus in an empty folder, and returns its list of
// versions.
func (n *newCase) begin() ([]byte, error) {
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 {
		return nil, errors.New("it holds files, and HISTORY.md is not among them")
	}
	return []byte(firstHistory), atomicfile.Write(filepath.Join(n.dir, "HISTORY.md"), 0o644, func(w io.Writer) error {
		_, err := io.WriteString(w, firstHistory)
		return err
	})
}

// cases returns the new case and its twin.
func (n *newCase) cases() (own, twin corpus.Case) {
	own = corpus.Case{
		ID: n.id, Class: n.class, Dialect: n.dialect, Flavour: n.flavour, Title: n.title, SQL: n.sql, Expect: corpus.Reject,
		Codes: n.codes, Effect: &corpus.Effect{Kind: n.effect}, Refs: corpus.Refs{CWE: n.cwe, CVE: n.cve, URLs: n.urls}, BenignTwin: n.twin, Since: n.since,
	}
	twin = corpus.Case{
		ID: n.twin, Class: n.class, Dialect: n.dialect, Flavour: n.flavour, Title: n.twinTitle, SQL: n.twinSQL, Expect: corpus.Allow, Since: n.since,
	}
	return own, twin
}
