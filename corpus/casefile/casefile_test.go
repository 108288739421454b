package casefile_test

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/casefile"
)

// codes are all codes that a case of this build names.
func codes() []string {
	var all []string
	for _, c := range corpus.Cases() {
		all = append(all, c.Codes...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestBuiltinFiles: the class files of this build have the cases of this build, and
// no mistakes.
func TestBuiltinFiles(t *testing.T) {
	t.Parallel()
	files, err := casefile.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range casefile.Lint(files, codes()) {
		t.Errorf("%+v", p)
	}
	got, want := map[string]corpus.Case{}, map[string]corpus.Case{}
	for _, f := range files {
		for _, c := range f.Cases {
			got[c.ID] = c
		}
	}
	for _, c := range corpus.Cases() {
		want[c.ID] = c
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestProblemsHaveLines: a case that cannot be read is a problem with its line, and
// the cases behind it are read.
func TestProblemsHaveLines(t *testing.T) {
	t.Parallel()
	const class = "schema: " + corpus.Schema + "\nclass: ddl\ndialect: sqlite\ncases:\n  - id: X-1\n    title: one\n    nosuch: 1\n  - id: X-2\n    title: two\n    sql: SELECT 1\n    expect: allow\n"
	const lines = "{\"id\":\"X-1\",\"nosuch\":1}\n{\"id\":\"X-2\",\"dialect\":\"sqlite\",\"sql\":\"SELECT 1\",\"expect\":\"allow\"}\n"
	for name, test := range map[string]struct {
		text, message string
		line          int
	}{"a.yaml": {class, "nosuch", 7}, "a.jsonl": {lines, `neither "sql" nor "sql_b64"`, 1}} {
		f := casefile.Parse(name, []byte(test.text))
		problems := casefile.Lint([]*casefile.File{f}, nil)
		if len(problems) == 0 || problems[0].File != name || problems[0].Line != test.line || !strings.Contains(problems[0].Message, test.message) {
			t.Errorf("%s: %+v, want one first at line %d", name, problems, test.line)
		}
		if f.Err() == nil || f.Wanted != 2 || len(f.Cases) != 1 || f.Cases[0].ID != "X-2" {
			t.Errorf("%s: error %v, %d wanted, read %+v", name, f.Err(), f.Wanted, f.Cases)
		}
	}
}

// TestAppend appends a case to every class file of this build: nothing before it
// changes, and the only mistake of the result is that the new case has no evidence.
func TestAppend(t *testing.T) {
	t.Parallel()
	files, err := casefile.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	known := codes()
	statements := []string{"DROP TABLE \"a: #b\"", "DROP TABLE a;\n-- '\n", "DROP TABLE \x00", "DROP TABLE \xff", "DROP TABLE ä\u202e"}
	for i, f := range files {
		first := f.Cases[0]
		name := first.Dialect + "/" + first.Class + ".yaml"
		text, err := fs.ReadFile(corpus.Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		own, twin := pair(t, first, text, statements[i%len(statements)])
		got, err := casefile.Append(name, text, own, twin)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.HasPrefix(got, text) {
			t.Errorf("%s: something before the new case changed", name)
		}
		problems := casefile.Lint([]*casefile.File{casefile.Parse(name, got)}, known)
		if len(problems) != 1 || problems[0].Field != "evidence" || problems[0].ID != own.ID {
			t.Errorf("%s: %+v", name, problems)
		}
	}
}

// pair is a new case and its twin for the class file of a case.
func pair(t *testing.T, of corpus.Case, text []byte, statement string) (own, twin corpus.Case) {
	t.Helper()
	dialects, classes := corpus.Dialects(), corpus.Classes()
	d := dialects[slices.IndexFunc(dialects, func(d corpus.Dialect) bool { return d.Name == of.Dialect })]
	class := classes[slices.IndexFunc(classes, func(c corpus.Class) bool { return c.Name == of.Class })]
	id, err := casefile.NextID(d, class, text)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte(id)) || slices.ContainsFunc(corpus.Cases(), func(c corpus.Case) bool { return c.ID == id }) {
		t.Errorf("the id %s is given twice", id)
	}
	own = corpus.Case{
		ID: id, Class: of.Class, Dialect: of.Dialect, Title: "Dropped", SQL: statement, Expect: corpus.Reject, Codes: []string{"ddl_statement"},
		Effect: &corpus.Effect{Kind: "schema_write"}, Refs: corpus.Refs{CWE: []string{"CWE-284"}}, BenignTwin: id + "B", Since: of.Since,
	}
	twin = corpus.Case{
		ID: id + "B", Class: of.Class, Dialect: of.Dialect, Title: "Read", SQL: "SELECT 'read' AS a_column_of_" + of.Class, Expect: corpus.Allow, Since: of.Since,
	}
	return own, twin
}

// TestAppendRefuses: a file to which nothing can be appended is an error.
func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	const head = "schema: " + corpus.Schema + "\nclass: ddl\ndialect: sqlite\ncases:\n"
	const one = "  - id: X-2\n    title: two\n    sql: SELECT 1\n    expect: allow\n"
	own, twin := corpus.Case{ID: "X-3", Expect: corpus.Reject, Effect: &corpus.Effect{}}, corpus.Case{ID: "X-3B", Expect: corpus.Allow}
	for name, text := range map[string]string{
		"CR LF":                strings.ReplaceAll(head+one, "\n", "\r\n"),
		"cases not at its end": "cases:\n" + one + strings.TrimSuffix(head, "cases:\n"),
		"a mistake":            head + "  - id: X-1\n    nosuch: 1\n",
	} {
		if got, err := casefile.Append("a.yaml", []byte(text), own, twin); err == nil {
			t.Errorf("%s: appended\n%s", name, got)
		}
	}
}

// TestNextIDIsNeverGivenTwice: a number that only the history has is not given again.
func TestNextIDIsNeverGivenTwice(t *testing.T) {
	t.Parallel()
	d, class := corpus.Dialects()[0], corpus.Classes()[0]
	prefix := casefile.OwnPrefix + d.Code + "-" + class.Code + "-"
	got, err := casefile.NextID(d, class, []byte("withdrawn: "+prefix+"9000\n"))
	if want := prefix + "9001"; err != nil || got != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	if got, err := casefile.NextID(d, class, []byte(prefix+"9999")); err == nil {
		t.Errorf("after the last number comes %s", got)
	}
}
