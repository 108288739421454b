package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/corpus"
)

// newCase are the flags of ktx corpus new.
type newCase struct {
	dir, dialect, class, flavour, since string
	title, sql, sqlFile, effect         string
	codes, cwe, cve, urls               []string
	twinTitle, twinSQL, twinFile        string
	path, id, twin                      string // found out
	old                                 []byte
}

func (a *app) corpusNew() *cobra.Command {
	var n newCase
	c := &cobra.Command{
		Use:   "new --dialect DIALECT --class CLASS",
		Short: "Write a new case that must be refused, with its benign twin, into its class file",
		Long: `Write a new case that must be refused, with its benign twin, into its class file.

The case gets the next number of its class. A number that the class file, the
cases of this build or HISTORY.md name is never given again. The file is appended
to; what is in it stays as it is, byte for byte. A field without a flag is left
empty, and ktx corpus lint names it until it is filled in.`,
		Example: `  ktx corpus new --dialect postgres --class ddl --title 'CREATE TABLE' --sql 'CREATE TABLE t (i int)' \
    --code ddl_statement --effect schema_write --cwe CWE-284 --twin 'SELECT * FROM t' --twin-title 'A read of the table'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.newCase(&n) },
	}
	flags := c.Flags()
	flags.StringVar(&n.dir, "dir", "corpus", "the folder of the corpus")
	flags.StringVar(&n.dialect, "dialect", "", "the dialect of the case (required)")
	flags.StringVar(&n.class, "class", "", "the class of the case (required)")
	flags.StringVar(&n.flavour, "flavour", "", "the server family within the dialect, if the case is about one")
	flags.StringVar(&n.since, "since", "", "the version that brings the case (default: the newest in HISTORY.md)")
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
	for flag, values := range map[string][]string{"dialect": corpusDialects(), "class": corpusClasses(), "code": codeNames(), "effect": corpus.Effects()} {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	_ = c.MarkFlagDirname("dir")
	return c
}

func (a *app) newCase(n *newCase) error {
	if err := n.check(); err != nil {
		return err
	}
	if err := a.statements(n); err != nil {
		return err
	}
	if err := n.number(); err != nil {
		return err
	}
	text, err := n.appended()
	if err != nil {
		return failed("%s: %w", n.path, err)
	}
	if err := atomicfile.Write(n.path, 0o644, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}); err != nil {
		return failed("%w", err)
	}
	open := slices.DeleteFunc(lintFiles([]*caseFile{parseCases(n.path, text)}), func(p caseProblem) bool { return p.ID != n.id && p.ID != n.twin })
	line := 1 + bytes.Count(text[:bytes.Index(text, []byte("id: "+n.id+"\n"))+1], []byte("\n"))
	if a.json {
		a.printJSON(newDocument("ktx-corpus-new/1").with("id", n.id).with("benign_twin", n.twin).with("file", n.path).with("line", line).with("problems", open))
		return nil
	}
	a.printf("%s and its twin: %s:%d\n", n.id, escapeControls(n.path), line)
	for _, p := range open {
		a.printf("  to mend, line %d: %s: %s\n", p.Line, p.ID, escapeControls(p.Message))
	}
	return nil
}

// check checks the names that the flags give.
func (n *newCase) check() error {
	type named struct {
		flag  string
		value []string
		known []string
	}
	for _, f := range []named{
		{"--dialect", []string{n.dialect}, corpusDialects()},
		{"--class", []string{n.class}, corpusClasses()},
		{"--code", n.codes, codeNames()},
		{"--effect", slices.DeleteFunc([]string{n.effect}, func(s string) bool { return s == "" }), corpus.Effects()},
	} {
		for _, value := range f.value {
			if value == "" {
				return usage("%s is missing", f.flag)
			}
			if !slices.Contains(f.known, value) {
				return usage("%s %s is not known%s", f.flag, escapeControls(value), didYouMean(value, f.known))
			}
		}
	}
	if n.sql != "" && n.sqlFile != "" || n.twinSQL != "" && n.twinFile != "" {
		return usage("a statement is given as text or as a file, not both")
	}
	if n.sqlFile == "-" && n.twinFile == "-" {
		return usage("standard input can be one of the statements, not both")
	}
	return nil
}

// statements reads the statements that stand in files.
func (a *app) statements(n *newCase) error {
	for _, from := range []struct {
		file string
		into *string
	}{{n.sqlFile, &n.sql}, {n.twinFile, &n.twinSQL}} {
		if from.file == "" {
			continue
		}
		text, err := a.readCaseText(from.file)
		if err != nil {
			return failed("read statement: %w", err)
		}
		*from.into = string(text)
	}
	return nil
}

var historyVersion = regexp.MustCompile(`(?m)^## ([0-9]+\.[0-9]+\.[0-9]+)\b`)

// number finds the class file and the next id.
func (n *newCase) number() error {
	history, err := os.ReadFile(filepath.Join(n.dir, "HISTORY.md"))
	if err != nil {
		return usage("%s is not the folder of a corpus: %w", n.dir, err)
	}
	if n.since == "" {
		m := historyVersion.FindSubmatch(history)
		if m == nil {
			return usage("%s has no version; give --since", filepath.Join(n.dir, "HISTORY.md"))
		}
		n.since = string(m[1])
	}
	n.path = filepath.Join(n.dir, n.dialect, n.class+".yaml")
	if n.old, err = os.ReadFile(n.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("read cases: %w", err)
	}
	dialects, classes := corpus.Dialects(), corpus.Classes()
	d := dialects[slices.IndexFunc(dialects, func(d corpus.Dialect) bool { return d.Name == n.dialect })]
	k := classes[slices.IndexFunc(classes, func(k corpus.Class) bool { return k.Name == n.class })]
	if len(n.old) == 0 {
		if err := os.MkdirAll(filepath.Dir(n.path), 0o755); err != nil { //nolint:gosec // others read the corpus
			return failed("write case: %w", err)
		}
		n.old = fmt.Appendf(nil, "# %s.\nschema: %s\nclass: %s\ndialect: %s\ncases:\n", k.Title, corpus.Schema, n.class, n.dialect)
	}
	prefix := ownPrefix + d.Code + "-" + k.Code + "-"
	var given strings.Builder
	given.Write(history)
	given.Write(n.old)
	for _, c := range corpus.Cases() {
		given.WriteString(c.ID + "\n")
	}
	last := 0
	for _, m := range regexp.MustCompile(regexp.QuoteMeta(prefix)+`([0-9]{4})`).FindAllStringSubmatch(given.String(), -1) {
		if number, err := strconv.Atoi(m[1]); err == nil {
			last = max(last, number)
		}
	}
	if last >= 9999 {
		return failed("%s has no numbers left", prefix)
	}
	n.id = fmt.Sprintf("%s%04d", prefix, last+1)
	n.twin = n.id + "B"
	return nil
}

// appended is the class file with the new case at its end. It is read again: the
// old cases must be what they were, and the new ones what was asked for.
func (n *newCase) appended() ([]byte, error) {
	block, err := n.block()
	if err != nil {
		return nil, err
	}
	text := bytes.Clone(n.old)
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	before := &caseFile{}
	if !bytes.HasSuffix(text, []byte("\ncases:\n")) { // it holds cases already
		before = parseCases(n.path, n.old)
		if err := before.err(); err != nil {
			return nil, fmt.Errorf("it has a mistake: %w", err)
		}
		text = append(text, '\n')
	}
	if bytes.Contains(n.old, []byte("\r\n")) {
		return nil, errors.New("its lines end with CR LF; cases end their lines with LF")
	}
	text = append(text, block...)
	after := parseCases(n.path, text)
	if err := after.err(); err != nil {
		return nil, fmt.Errorf("nothing can be appended, since it does not end with its list of cases: %w", err)
	}
	want, err := json.Marshal(append(slices.Clone(before.cases), n.cases()...))
	if err != nil {
		return nil, err
	}
	if got, err := json.Marshal(after.cases); err != nil || !bytes.Equal(got, want) {
		return nil, errors.New("nothing can be appended: the cases would not be those that are meant")
	}
	return text, nil
}

// cases are the new case and its twin as they must be read.
func (n *newCase) cases() []corpus.Case {
	own := corpus.Case{
		ID: n.id, Class: n.class, Dialect: n.dialect, Flavour: n.flavour, Title: n.title, SQL: n.sql, Expect: corpus.Reject,
		Codes: n.codes, Effect: &corpus.Effect{Kind: n.effect}, Refs: corpus.Refs{CWE: n.cwe, CVE: n.cve, URLs: n.urls}, BenignTwin: n.twin, Since: n.since,
	}
	twin := corpus.Case{
		ID: n.twin, Class: n.class, Dialect: n.dialect, Flavour: n.flavour, Title: n.twinTitle, SQL: n.twinSQL, Expect: corpus.Allow, Since: n.since,
	}
	return []corpus.Case{own, twin}
}

// block is the text of the new cases in a class file.
func (n *newCase) block() ([]byte, error) {
	own := pairs{}
	own.add("id", scalar(n.id)).add("title", scalar(n.title))
	twin := pairs{}
	twin.add("id", scalar(n.twin)).add("title", scalar(n.twinTitle))
	if n.flavour != "" {
		own.add("flavour", scalar(n.flavour))
		twin.add("flavour", scalar(n.flavour))
	}
	refs := pairs{}
	refs.add("cwe", sequence(n.cwe))
	if len(n.cve) > 0 {
		refs.add("cve", sequence(n.cve))
	}
	if len(n.urls) > 0 {
		refs.add("urls", sequence(n.urls))
	}
	effect := pairs{}
	effect.add("kind", scalar(n.effect))
	version := &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: n.since}
	own.add(statement(n.sql)).add("expect", scalar("reject")).add("codes", sequence(n.codes)).add("effect", effect.node(yaml.FlowStyle)).
		add("refs", refs.node(yaml.FlowStyle)).add("benign_twin", scalar(n.twin)).add("since", version)
	twin.add(statement(n.twinSQL)).add("expect", scalar("allow")).add("since", version)
	list := &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{own.node(0), twin.node(0)}}
	top := pairs{}
	top.add("cases", list)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(top.node(0)), e.Close()); err != nil {
		return nil, fmt.Errorf("write case: %w", err)
	}
	_, block, _ := bytes.Cut(b.Bytes(), []byte("\n"))
	return block, nil
}

// pairs is a YAML mapping in the making.
type pairs struct{ content []*yaml.Node }

func (p *pairs) add(name string, value *yaml.Node) *pairs {
	p.content = append(p.content, scalar(name), value)
	return p
}

func (p *pairs) node(style yaml.Style) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Style: style, Content: p.content}
}

// scalar is a text, in whichever style holds it.
func scalar(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	return n
}

func sequence(values []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, v := range values {
		n.Content = append(n.Content, scalar(v))
	}
	return n
}

// statement is the field that holds a statement.
func statement(sql string) (string, *yaml.Node) {
	if !utf8.ValidString(sql) || strings.ContainsRune(sql, 0) {
		return "sql_b64", scalar(base64.StdEncoding.EncodeToString([]byte(sql)))
	}
	if strings.ContainsFunc(sql, func(r rune) bool { return r < ' ' && r != '\n' || r > '~' }) {
		return "sql", &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: sql}
	}
	return "sql", scalar(sql)
}
