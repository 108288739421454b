package corpusrun_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ktxhq/ktx/cmd/ktx/internal/corpusrun"
	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// scripted answers each text with what its case wants to see.
type scripted map[string]struct {
	decision corpusrun.Decision
	code     sqlguard.Code
}

func (scripted) Describe() map[string]string { return map[string]string{"name": "scripted"} }

func (s scripted) Decide(_ context.Context, _, sql string) (corpusrun.Decision, sqlguard.Code) {
	return s[sql].decision, s[sql].code
}

var (
	cases = []corpus.Case{
		{ID: "1", Dialect: "postgres", Class: "ddl", SQL: "stopped", Expect: corpus.Reject, Codes: []string{"ddl_statement", "write_statement"}},
		{ID: "2", Dialect: "postgres", Class: "ddl", SQL: "stopped otherwise", Expect: corpus.Reject, Codes: []string{"ddl_statement"}},
		{ID: "3", Dialect: "postgres", Class: "ddl", SQL: "bypass", Expect: corpus.Reject, Codes: []string{"ddl_statement"}},
		{ID: "4", Dialect: "postgres", Class: "explain", SQL: "passes", Expect: corpus.Allow},
		{ID: "5", Dialect: "postgres", Class: "explain", SQL: "false reject", Expect: corpus.Allow},
		{ID: "6", Dialect: "postgres", Class: "explain", SQL: "crash", Expect: corpus.Allow},
		{ID: "7", Dialect: "sqlite", Class: "access-policy", SQL: "by policy", Expect: corpus.Policy, Policy: &corpus.PolicyNote{Key: "k", Default: corpus.Reject}},
		{ID: "8", Dialect: "sqlite", Class: "access-policy", SQL: "against policy", Expect: corpus.Policy, Policy: &corpus.PolicyNote{Key: "k", Default: corpus.Reject}},
		{ID: "9", Dialect: "sqlite", SQL: "either", Expect: corpus.Policy},
		{ID: "10", Dialect: "sqlite", SQL: "no answer", Expect: corpus.Reject},
	}
	answers = scripted{
		"stopped": {corpusrun.Reject, "write_statement"}, "stopped otherwise": {corpusrun.Reject, "parse_error"}, "bypass": {corpusrun.Allow, ""},
		"passes": {corpusrun.Allow, ""}, "false reject": {corpusrun.Reject, "parse_error"}, "crash": {corpusrun.Error, ""},
		"by policy": {corpusrun.Reject, "x"}, "against policy": {corpusrun.Allow, ""}, "either": {corpusrun.Allow, ""}, "no answer": {corpusrun.Error, ""},
	}
)

func TestRunAndScores(t *testing.T) {
	t.Parallel()
	counted := 0
	results, err := corpusrun.Run(t.Context(), answers, cases, func() { counted++ })
	if err != nil || counted != len(cases) {
		t.Fatalf("%d cases, %v", counted, err)
	}
	var met, agrees []string
	for _, r := range results {
		if r.Met {
			met = append(met, r.ID)
		}
		if r.Agrees {
			agrees = append(agrees, r.ID)
		}
	}
	if diff := cmp.Diff([]string{"1", "2", "4", "7", "9"}, met); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"1"}, agrees); diff != "" {
		t.Error(diff)
	}
	want := []corpusrun.Score{
		{Dialect: "postgres", Rejects: 3, Bypasses: 1, Allows: 3, FalseRejects: 1, Errors: 1, Agreements: 1},
		{Dialect: "postgres", Class: "ddl", Rejects: 3, Bypasses: 1, Agreements: 1},
		{Dialect: "postgres", Class: "explain", Allows: 3, FalseRejects: 1, Errors: 1},
		{Dialect: "sqlite", Rejects: 1, Errors: 1},
		{Dialect: "sqlite", Class: "access-policy"},
	}
	if diff := cmp.Diff(want, corpusrun.Scores(results), cmpopts.IgnoreFields(corpusrun.Score{}, "P50US", "P95US")); diff != "" {
		t.Error(diff)
	}
}

func TestScoresOfTimes(t *testing.T) {
	t.Parallel()
	var results []corpusrun.Result
	for i := range 100 {
		results = append(results, corpusrun.Result{Dialect: "d", LatencyUS: int64(100 - i)})
	}
	if s := corpusrun.Scores(results); len(s) != 1 || s[0].P50US != 51 || s[0].P95US != 96 {
		t.Errorf("%+v", s)
	}
	if s := corpusrun.Scores(nil); len(s) != 0 {
		t.Errorf("%+v", s)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	results, err := corpusrun.Run(ctx, answers, cases, cancel)
	if !errors.Is(err, context.Canceled) || len(results) != 1 {
		t.Errorf("%d results, %v", len(results), err)
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	results, err := corpusrun.Run(t.Context(), answers, cases[:1], nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := corpusrun.WriteFile(&b, map[string]any{"files": []string{"a<b"}}, answers, results); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc["schema"] != "ktx-run/1" || doc["guard"] == nil || doc["corpus"] == nil || doc["scores"] == nil || !bytes.Contains(b.Bytes(), []byte("a<b")) {
		t.Errorf("%s", b.Bytes())
	}
	first, ok := doc["results"].([]any)[0].(map[string]any)
	if !ok {
		t.Fatalf("%v", doc["results"])
	}
	for _, key := range []string{"id", "dialect", "decision", "code", "expect", "latency_us", "met"} {
		if _, ok := first[key]; !ok {
			t.Errorf("a result has no %s: %v", key, first)
		}
	}
}

func TestBuiltin(t *testing.T) {
	t.Parallel()
	guard, err := corpusrun.NewBuiltin("1.2.3", dialects.All())
	if err != nil {
		t.Fatal(err)
	}
	about := guard.Describe()
	if about["name"] != "builtin" || about["version"] != "1.2.3" || about["postgres"] == "" || about["sqlite"] == "" {
		t.Errorf("%v", about)
	}
	for _, test := range []struct {
		dialect, sql string
		decision     corpusrun.Decision
		code         sqlguard.Code
	}{
		{"sqlite", "SELECT 1", corpusrun.Allow, ""},
		{"sqlite", "DROP TABLE t", corpusrun.Reject, sqlguard.CodeDDLStatement},
		{"mysql", "SELECT 1", corpusrun.Error, sqlguard.CodeUnsupportedDialect},
		{"", "SELECT 1", corpusrun.Error, sqlguard.CodeUnsupportedDialect},
	} {
		if decision, code := guard.Decide(t.Context(), test.dialect, test.sql); decision != test.decision || code != test.code {
			t.Errorf("%s %s: %s %s", test.dialect, test.sql, decision, code)
		}
	}
	if _, err := corpusrun.NewBuiltin("", []sqlguard.Dialect{nil}); err == nil {
		t.Error("a guard without a dialect is made")
	}
}
