//go:build cgo

package postgres_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

// newerSyntax has statements that only the PostgreSQL 18 grammar of the build without
// cgo reads. For the other build they are syntax errors. Both builds refuse them.
var newerSyntax = []struct{ sql, reason string }{
	{"WITH x AS (UPDATE t SET a = 1 RETURNING WITH (OLD AS o) o.a) SELECT * FROM x", "RETURNING names the old and the new row"},
	{"CREATE TABLE t (a int, b int GENERATED ALWAYS AS (a + 1) VIRTUAL)", "generated columns that are not stored"},
	{"CREATE TABLE t (a int, b int GENERATED ALWAYS AS (a + 1))", "STORED may be left out"},
	{"CREATE TABLE t (a int, r int4range, UNIQUE (a, r WITHOUT OVERLAPS))", "keys over periods"},
	{"CREATE TABLE t (a int, r int4range, FOREIGN KEY (a, PERIOD r) REFERENCES u)", "foreign keys over periods"},
	{"CREATE TABLE t (a int CHECK (a > 0) NOT ENFORCED)", "constraints that are not enforced"},
	{"ALTER TABLE t ADD CONSTRAINT c NOT NULL a", "NOT NULL as a table constraint"},
	{"ALTER TABLE t ALTER CONSTRAINT c NO INHERIT", "inheritance of a constraint"},
	{"ANALYZE ONLY t", "ONLY in maintenance commands"},
}

// otherParsers has differences between the two parsers that do not come from their
// grammars: the parser without cgo is written by hand. Each statement is a syntax error
// for one of the builds. If that is the build with the server's own grammar, it is a
// syntax error for the server too.
var otherParsers = []struct {
	pattern *regexp.Regexp
	reason  string
}{
	{
		regexp.MustCompile(`(?i)\b(is|at|in|and|or|between|like|ilike|similar|collate|operator|isnull|notnull|over|filter|within|overlaps|time|not|on|for)\b`),
		"a keyword that can continue an expression is no label or name of a column to the parser without cgo",
	},
	{
		regexp.MustCompile(`(?i)\b(if|savepoint|recursive|no|version|schema|database|language|domain|server|materialized|temp|temporary|local|global|unlogged|table)\b`),
		"a keyword that can open an optional clause is no name to the parser without cgo",
	},
	{
		regexp.MustCompile(`(?i)\b(values|row|json_\w+|xml\w+|int|integer|smallint|bigint|boolean|bit|char|character|dec|decimal|float|real|numeric|time|timestamp|interval|json|setof|grouping|extract|position|substring|overlay|trim|treat|nchar|national|none|out|inout|exists|merge_action|normalize|precision|varchar|coalesce|greatest|least|nullif)\b`),
		"a keyword that is reserved for syntax of its own passes for the name of a function or type without cgo",
	},
}

// TestBuildsAgree: the two builds have different parsers and must give the same
// answers. The parsers cannot be linked into one program, so the other build of this
// package's tests answers in a separate process.
func TestBuildsAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the package a second time")
	}
	var questions []string
	for _, sql := range statements() {
		if utf8.ValidString(sql) { // JSON cannot carry other strings
			questions = append(questions, sql)
		}
	}
	given := len(questions)
	made, least := 5_000, 1_500
	if dialecttest.Full() {
		made, least = 40_000, 6_000
	}
	questions = append(questions, mutations(questions, made, 1)...)
	mutated := len(questions)
	for _, newer := range newerSyntax {
		questions = append(questions, newer.sql)
	}
	answers := askOther(t, questions)
	if len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(answers), len(questions))
	}

	g := guard(t)
	const unreadable = `{"Code":"parse_error"`
	read, other, unlisted := 0, 0, 0
	for i, sql := range questions {
		own, err := ask(g, sql)
		if err != nil {
			t.Fatalf("%q: %v", sql, err)
		}
		ownReads, otherReads := !strings.HasPrefix(own, unreadable), !strings.HasPrefix(answers[i], unreadable)
		switch {
		case i >= mutated:
			if ownReads || !otherReads || !strings.Contains(answers[i], `"allowed":false`) {
				t.Errorf("%q (%s): want a syntax error, and another refusal without cgo", sql, newerSyntax[i-mutated].reason)
			}
		case own == answers[i]:
			if ownReads {
				read++
			}
		case i >= given && ownReads != otherReads:
			other++
			if !excused(sql) {
				// The test tolerates a few, so that a new statement in the corpus does not
				// make it fail by chance.
				unlisted++
				t.Logf("%q is read by one parser only, for no listed reason", sql)
			}
		default:
			t.Errorf("%q: the builds differ (-cgo +pure Go):\n%s", sql, cmp.Diff(fields(t, own), fields(t, answers[i])))
		}
	}
	t.Logf("%d statements: %d read alike, %d read by one parser only", len(questions), read, other)
	if read < least {
		t.Errorf("only %d statements were read", read)
	}
	if other > len(questions)/500 || unlisted > 3 {
		t.Errorf("only one parser reads %d statements, %d of them without a listed reason", other, unlisted)
	}
}

func excused(sql string) bool {
	for _, form := range otherParsers {
		if form.pattern.MatchString(sql) {
			return true
		}
	}
	return false
}

// askOther returns the answers of the build without cgo.
func askOther(t *testing.T, questions []string) []string {
	t.Helper()
	dir := t.TempDir()
	binary, from, to := filepath.Join(dir, "pure.test"), filepath.Join(dir, "questions"), filepath.Join(dir, "answers")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build without cgo: %v\n%s", err, out)
	}
	file, err := os.Create(from)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(file)
	encode := json.NewEncoder(w)
	for _, sql := range questions {
		if err := encode.Encode(sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), binary, "-test.run=^TestAnswers$")
	run.Env = append(os.Environ(), questionsEnv+"="+from, answersEnv+"="+to)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("run without cgo: %v\n%s", err, out)
	}
	text, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func fields(t *testing.T, answer string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(answer), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
