package dialects_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestRelativesRefuseTheirCases puts the cases that need a relative of PostgreSQL or
// MySQL to the guard of that relative. It refuses each one with the code that explains it
// best, and admits its twin.
func TestRelativesRefuseTheirCases(t *testing.T) {
	t.Parallel()
	cases := corpus.Cases()
	byID := make(map[string]corpus.Case, len(cases))
	for _, c := range cases {
		byID[c.ID] = c
	}
	for _, name := range dialects.Profiles() {
		base, relative, _ := strings.Cut(name, ":")
		d, ok := dialects.Lookup(name)
		if !ok {
			t.Fatalf("%s: no dialect", name)
		}
		g, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, c := range cases {
			if c.Dialect != base || c.Engine == nil || !slices.Contains(c.Engine.Needs, relative) {
				continue
			}
			n++
			if v := g.Check(c.SQL); v.Allowed || string(v.Code) != c.Codes[0] {
				t.Errorf("%s: %s: allowed %t, code %s, want %s", name, c.SQL, v.Allowed, v.Code, c.Codes[0])
			}
			if v := g.Check(byID[c.BenignTwin].SQL); !v.Allowed {
				t.Errorf("%s: %s: %+v", name, byID[c.BenignTwin].SQL, v.Findings)
			}
		}
		if n == 0 {
			t.Errorf("%s: no case", name)
		}
	}
}
