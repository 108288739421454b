package corpus_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/corpus"
)

// TestEmbedded checks that the embedded cases are those of the class files.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(sourceCases(t), embedded(t)); diff != "" {
		t.Errorf("cases (-class files +embedded):\n%s", diff)
	}
	if got, want := corpus.Version(), newestVersion(t); got != want {
		t.Errorf("version is %s; HISTORY.md says %s", got, want)
	}
}

// TestLint checks that the corpus has no mistakes that can be found without a
// guard. Only the guard knows which codes exist, so every code that occurs
// counts as known here.
func TestLint(t *testing.T) {
	t.Parallel()
	for _, p := range corpus.Lint(embedded(t), allCodes(t)) {
		t.Error(p)
	}
}

// embedded returns the embedded cases. While the files are being rewritten,
// these are still the previous cases.
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

// TestCoverage checks that each dialect has at least this many cases that must
// be refused. Lint checks that each has its twin.
func TestCoverage(t *testing.T) {
	t.Parallel()
	refusals := map[string]int{}
	for _, c := range embedded(t) {
		if c.Expect == corpus.Reject {
			refusals[c.Dialect]++
		}
	}
	for dialect, least := range map[string]int{"postgres": 150, "mysql": 150, "sqlserver": 150, "sqlite": 80, "clickhouse": 250, "bigquery": 220, "duckdb": 200} {
		if refusals[dialect] < least {
			t.Errorf("%s has %d cases that must be refused; the bar is %d", dialect, refusals[dialect], least)
		}
	}
}

// TestCasesAreTheCallers checks that a caller's changes to the slice do not
// affect other callers.
func TestCasesAreTheCallers(t *testing.T) {
	t.Parallel()
	first := embedded(t)
	first[0] = corpus.Case{}
	if corpus.Cases()[0].ID == "" {
		t.Error("a change to the returned slice reached the next caller")
	}
}

// TestFiles checks that the documents and sources are part of the binary.
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

// TestDocumentsNameEffects checks that INTERPRETING.md explains every kind of
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
