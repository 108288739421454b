package run_test

import (
	"testing"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestMaxConstantDecides checks that each case of the key guard.maxConstant passes under a
// limit that is large enough: a case that does not must be refused under every configuration.
func TestMaxConstantDecides(t *testing.T) {
	t.Parallel()
	guards := map[string]*sqlguard.Guard{}
	for _, c := range readable(t) {
		if c.Policy == nil || c.Policy.Key != "guard.maxConstant" {
			continue
		}
		if guards[c.Dialect] == nil {
			policy := sqlguard.DefaultPolicy()
			policy.MaxConstant = 1 << 60
			guards[c.Dialect] = guardOf(t, c.Dialect, policy)
		}
		if v := guards[c.Dialect].CheckOnce(c.SQL); !v.Allowed {
			t.Errorf("%s: %s: %+v", c.ID, v.Code, v.Findings)
		}
	}
	if len(guards) < 7 {
		t.Errorf("%d dialects have such cases", len(guards))
	}
}

// onServers are the dialects whose benign twins pass under their rule on real servers, as
// executiontest.Leaks checks: some pass only where a catalogue names the columns.
var onServers = map[string]bool{"postgres": true, "mysql": true, "sqlite": true}

// TestRulesDecide checks that a guard which knows nothing of the server refuses each case
// of a rule under that rule, and that its benign twin passes under it. Cases with a setup
// need a server that tells what the setup made.
func TestRulesDecide(t *testing.T) {
	t.Parallel()
	all := readable(t)
	byID := map[string]corpus.Case{}
	for _, c := range all {
		byID[c.ID] = c
	}
	n := map[string]int{}
	for _, c := range all {
		if c.Policy == nil || c.Policy.Deny == nil || c.Setup != nil {
			continue
		}
		n[c.Dialect]++
		policy := executiontest.Denying(c, "")
		if c.Dialect == "clickhouse" {
			policy.Database = "default"
		}
		guard := guardOf(t, c.Dialect, policy)
		if v := guard.CheckOnce(c.SQL); v.Allowed {
			t.Errorf("%s is allowed under its rule: %s", c.ID, c.SQL)
		}
		twin := byID[c.BenignTwin]
		if v := guard.CheckOnce(twin.SQL); !v.Allowed && !onServers[c.Dialect] {
			t.Errorf("%s is refused under the rule: %s: %+v", twin.ID, twin.SQL, v.Findings)
		}
	}
	if len(n) < 7 {
		t.Errorf("%v have such cases", n)
	}
}

func guardOf(t *testing.T, dialect string, policy sqlguard.Policy) *sqlguard.Guard {
	t.Helper()
	d, ok := dialects.Lookup(dialect)
	if !ok {
		t.Fatalf("no dialect %s", dialect)
	}
	guard, err := sqlguard.New(d, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	return guard
}
