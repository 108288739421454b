package semantictest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/semantic/semantictest"
)

// TestCasesAreRepeatable: a seed gives the same case, and the cases of many seeds hold
// what the package promises.
func TestCasesAreRepeatable(t *testing.T) {
	classes := map[string]int{}
	answers, empty, nulls, grouped := 0, 0, 0, 0
	const cases = 3000
	for seed := range uint64(cases) {
		c := semantictest.New(seed)
		if seed < 100 {
			again := semantictest.New(seed)
			if d := cmp.Diff(c, again, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".world" }, cmp.Ignore())); d != "" {
				t.Fatalf("seed %d gives two cases:\n%s", seed, d)
			}
			if d := cmp.Diff(c.DDL(semantictest.Postgres), again.DDL(semantictest.Postgres)); d != "" {
				t.Fatalf("seed %d gives two databases:\n%s", seed, d)
			}
		}
		if len(c.Want.Classes) > 0 {
			for _, k := range c.Want.Classes {
				classes[k]++
			}
			continue
		}
		answers++
		if len(c.Request.Dimensions) > 0 {
			grouped++
		}
		if len(c.Want.Rows) == 0 {
			empty++
		}
		for _, r := range c.Want.Rows {
			if len(r) != len(c.Want.Headers) {
				t.Fatalf("seed %d: a row of %d values under %d headers", seed, len(r), len(c.Want.Headers))
			}
			for _, v := range r {
				if v.Kind == semantictest.Null {
					nulls++
				}
			}
		}
	}
	t.Logf("%d of %d cases have rows to check, %d are grouped, %d empty; %d NULLs; refusals %v", answers, cases, grouped, empty, nulls, classes)
	if answers < cases/2 || grouped < cases/4 || empty > answers/3 {
		t.Errorf("the cases say too little: %d of %d have an answer, %d of them without rows, %d are grouped", answers, cases, empty, grouped)
	}
	for _, k := range []string{
		"ambiguous_field", "ambiguous_join_path", "disconnected", "fan_out", "filter_not_applicable", "hidden_field", "invalid_granularity", "invalid_request",
		"mixed_filter", "nested_aggregate", "not_an_aggregate", "segment_not_applicable", "unknown_field", "unknown_measure", "unknown_order_by", "unknown_segment",
		"unknown_source", "unsafe_expression", "window_function",
	} {
		if classes[k] == 0 {
			t.Errorf("no case is refused with %s", k)
		}
	}
}
