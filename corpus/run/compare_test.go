package run_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	result := func(id string, expect corpus.Expect, d run.Decision, code string, latency int64) run.Result {
		return run.Result{ID: id, Dialect: "sqlite", Expect: expect, Decision: d, Code: sqlguard.Code(code), Met: d == run.Decision(expect), LatencyUS: latency}
	}
	late := result("late", "reject", "error", "", 0)
	late.Fault = run.TimeOut
	crash := late
	crash.Fault = run.Crash
	before := []run.Result{
		result("same", "reject", "reject", "a", 1), result("bypass", "reject", "reject", "a", 1), result("worse", "allow", "allow", "", 1),
		result("fixed", "reject", "allow", "", 1), result("code", "reject", "reject", "a", 1), result("gone", "allow", "allow", "", 1),
		result("demand", "reject", "reject", "a", 1), late, result("still", "reject", "allow", "", 1), result("lost", "reject", "error", "", 1),
	}
	after := []run.Result{
		result("new", "allow", "allow", "", 1), result("same", "reject", "reject", "a", 99), result("bypass", "reject", "allow", "", 1), result("worse", "allow", "reject", "a", 1),
		result("fixed", "reject", "reject", "b", 1), result("code", "reject", "reject", "b", 1),
		result("demand", "allow", "allow", "", 1), crash, result("still", "reject", "allow", "", 1), result("lost", "reject", "allow", "", 1),
	}
	var got []string
	for _, c := range run.Compare(before, after) {
		got = append(got, string(c.Kind)+" "+c.ID)
	}
	want := []string{"new_bypass bypass", "new_bypass lost", "regressed worse", "fixed fixed", "demand demand", "answer late", "code code", "added new", "removed gone"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c := run.Compare(after, after); c == nil || len(c) > 0 {
		t.Errorf("a run differs from itself: %v", c)
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	results, err := run.Run(t.Context(), answers, cases, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := run.WriteFile(&b, map[string]any{"name": "n"}, answers, results); err != nil {
		t.Fatal(err)
	}
	file, err := run.ReadFile(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&run.File{Corpus: map[string]any{"name": "n"}, Guard: answers.Describe(), Results: results}, file); diff != "" {
		t.Error(diff)
	}
	document := func(results string) string { return `{"schema":"ktx-run/1","results":[` + results + `]}` }
	const one = `{"id":"a","dialect":"sqlite","decision":"reject","expect":"reject"}`
	for doc, want := range map[string]string{
		document(one): "",
		document(``):  "no results",
		`{`:           "unexpected end",
		`{"schema":"ktx-run/2","results":[` + one + `]}`:                         `schema is "ktx-run/2"`,
		document(one + "," + one):                                                `result 2: the id "a" is already used`,
		document(strings.Replace(one, `"a"`, `""`, 1)):                           "result 1 has no id",
		document(strings.Replace(one, `"reject"`, `"drop"`, 1)):                  `decision is "drop"`,
		document(strings.Replace(one, `"expect":"reject"`, `"expect":"no"`, 1)):  `expect is "no"`,
		document(strings.Replace(one, `"expect"`, `"fault":"fire","expect"`, 1)): `fault is "fire"`,
	} {
		file, err := run.ReadFile(strings.NewReader(doc))
		switch {
		case want == "" && (err != nil || !file.Results[0].Met):
			t.Errorf("%s: %+v, %v", doc, file, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v does not say %q", doc, err, want)
		}
	}
}
