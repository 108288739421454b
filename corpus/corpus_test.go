package corpus_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/corpus"
)

// TestEmbedded holds that the embedded cases are those of the class files.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(sourceCases(t), embedded(t)); diff != "" {
		t.Errorf("cases (-class files +embedded):\n%s", diff)
	}
	if got, want := corpus.Version(), newestVersion(t); got != want {
		t.Errorf("version is %s; HISTORY.md says %s", got, want)
	}
}

// TestLint holds that the corpus has no mistakes that can be found without a
// guard. Which codes exist is the guard's to say; here every code that occurs
// counts as known.
func TestLint(t *testing.T) {
	t.Parallel()
	for _, p := range corpus.Lint(embedded(t), allCodes(t)) {
		t.Error(p)
	}
}

// embedded returns the cases of the binary, which are those of before while
// the files are being written anew.
func embedded(t *testing.T) []corpus.Case {
	t.Helper()
	if *update {
		t.Skip("cases.json was written just now; run the test again without -update")
	}
	return corpus.Cases()
}

func allCodes(t *testing.T) []string {
	t.Helper()
	var codes []string
	for _, c := range embedded(t) {
		codes = append(codes, c.Codes...)
	}
	return codes
}

// TestCoverage holds the promise of README.md: at least this many refusals for
// each dialect, each with its twin (which Lint sees to).
func TestCoverage(t *testing.T) {
	t.Parallel()
	refusals := map[string]int{}
	for _, c := range embedded(t) {
		if c.Expect == corpus.Reject {
			refusals[c.Dialect]++
		}
	}
	for dialect, least := range map[string]int{"postgres": 150, "mysql": 150, "sqlserver": 150, "sqlite": 80} {
		if refusals[dialect] < least {
			t.Errorf("%s has %d cases that must be refused; the bar is %d", dialect, refusals[dialect], least)
		}
	}
}

// TestCasesAreTheCallers holds that a caller's changes to the slice stay its own.
func TestCasesAreTheCallers(t *testing.T) {
	t.Parallel()
	first := embedded(t)
	first[0] = corpus.Case{}
	if corpus.Cases()[0].ID == "" {
		t.Error("a change to the returned slice reached the next caller")
	}
}

// TestFiles holds that the documents and sources travel with the binary.
func TestFiles(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d class files, %v", len(names), err)
	}
	for i := range names {
		names[i] = filepath.ToSlash(names[i])
	}
	for _, name := range append(names, "cases.json", "schema.json", "README.md", "INTERPRETING.md", "HISTORY.md", "fixtures/sqlite.sql") {
		if data, err := fs.ReadFile(corpus.Files(), name); err != nil || len(data) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
}

// TestDocumentsNameEffects holds that INTERPRETING.md explains every kind of
// effect that a case has.
func TestDocumentsNameEffects(t *testing.T) {
	t.Parallel()
	text, err := fs.ReadFile(corpus.Files(), "INTERPRETING.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range embedded(t) {
		if c.Effect != nil && !strings.Contains(string(text), "`"+c.Effect.Kind+"`") {
			t.Errorf("%s: INTERPRETING.md does not explain the effect %s", c.ID, c.Effect.Kind)
		}
	}
}
