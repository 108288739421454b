package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// scripted gives each statement the answer that its case expects.
type scripted map[string]struct {
	decision run.Decision
	code     sqlguard.Code
	fault    run.Fault
}

func (scripted) Describe() map[string]string { return map[string]string{"name": "scripted"} }

func (scripted) OwnDefaults() bool { return true }

func (scripted) Prepare(context.Context) error { return nil }

func (s scripted) Decide(_ context.Context, q run.Question) run.Answer {
	a := s[q.SQL]
	return run.Answer{Decision: a.decision, Code: a.code, Fault: a.fault}
}

// foreign is a guard for which the default answers of ktx do not count.
type foreign struct{ scripted }

func (foreign) OwnDefaults() bool { return false }

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
		"stopped": {run.Reject, "write_statement", ""}, "stopped otherwise": {run.Reject, "parse_error", ""}, "bypass": {run.Allow, "", ""},
		"passes": {run.Allow, "", ""}, "false reject": {run.Reject, "parse_error", ""}, "crash": {run.Error, "", run.Crash},
		"by policy": {run.Reject, "x", ""}, "against policy": {run.Allow, "", ""}, "either": {run.Allow, "", ""}, "no answer": {run.Error, "", ""},
	}
)

func TestRunAndScores(t *testing.T) {
	t.Parallel()
	counted := 0
	results, err := run.Run(t.Context(), answers, cases, func() { counted++ })
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
	// The default answers of ktx do not count for other guards.
	others, err := run.Run(t.Context(), foreign{answers}, cases, nil)
	if err != nil || !others[7].Met || others[9].Met {
		t.Errorf("%+v, %v", others, err)
	}
	want := []run.Score{
		{Dialect: "postgres", Cases: 6, Rejects: 3, Bypasses: 1, Allows: 3, FalseRejects: 1, Errors: 1, Crashes: 1, Agreements: 1},
		{Dialect: "postgres", Class: "ddl", Cases: 3, Rejects: 3, Bypasses: 1, Agreements: 1},
		{Dialect: "postgres", Class: "explain", Cases: 3, Allows: 3, FalseRejects: 1, Errors: 1, Crashes: 1},
		{Dialect: "sqlite", Cases: 4, Rejects: 1, Errors: 1},
		{Dialect: "sqlite", Class: "access-policy", Cases: 2},
	}
	scores := run.Scores(results)
	if diff := cmp.Diff(want, scores, cmpopts.IgnoreFields(run.Score{}, "P50US", "P95US", "P99US")); diff != "" {
		t.Error(diff)
	}
	third, sixth, none := 1./3, 1./6, 0.
	if diff := cmp.Diff(run.Rates{Bypass: &third, FalseReject: &third, Error: &sixth, Crash: &sixth, TimeOut: &none}, scores[0].Rates()); diff != "" {
		t.Error(diff)
	}
	if r := scores[4].Rates(); r.Bypass != nil || r.FalseReject != nil {
		t.Errorf("rates of no cases: %+v", r)
	}
}

func TestScoresOfTimes(t *testing.T) {
	t.Parallel()
	var results []run.Result
	for i := range 100 {
		results = append(results, run.Result{Dialect: "d", LatencyUS: int64(100 - i)})
	}
	if s := run.Scores(results); len(s) != 1 || s[0].P50US != 51 || s[0].P95US != 96 || s[0].P99US != 100 {
		t.Errorf("%+v", s)
	}
	if s := run.Scores(nil); len(s) != 0 {
		t.Errorf("%+v", s)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	results, err := run.Run(ctx, answers, cases, cancel)
	if !errors.Is(err, context.Canceled) || len(results) != 1 {
		t.Errorf("%d results, %v", len(results), err)
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	results, err := run.Run(t.Context(), answers, cases[:1], nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := run.WriteFile(&b, map[string]any{"files": []string{"a<b"}}, answers, results); err != nil {
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
	guard, err := run.NewBuiltin("1.2.3", dialects.All())
	if err != nil {
		t.Fatal(err)
	}
	about := guard.Describe()
	if about["name"] != "builtin" || about["version"] != "1.2.3" || about["postgres"] == "" || about["sqlite"] == "" {
		t.Errorf("%v", about)
	}
	for _, test := range []struct {
		dialect, sql string
		decision     run.Decision
		code         sqlguard.Code
	}{
		{"sqlite", "SELECT 1", run.Allow, ""},
		{"sqlite", "DROP TABLE t", run.Reject, sqlguard.CodeDDLStatement},
		{"trino", "SELECT 1", run.Error, sqlguard.CodeUnsupportedDialect},
		{"", "SELECT 1", run.Error, sqlguard.CodeUnsupportedDialect},
	} {
		if a := guard.Decide(t.Context(), run.Question{Dialect: test.dialect, SQL: test.sql}); a.Decision != test.decision || a.Code != test.code {
			t.Errorf("%s %s: %+v", test.dialect, test.sql, a)
		}
	}
	if _, err := run.NewBuiltin("", []sqlguard.Dialect{nil}); err == nil {
		t.Error("a guard without a dialect is made")
	}
}
