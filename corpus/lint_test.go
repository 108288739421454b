package corpus_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/corpus"
)

// observed is what an engine did, in one observation.
func observed(outcome, probe string) corpus.Evidence {
	return corpus.Evidence{Engine: "postgresql", Version: "15.18", Role: "superuser", Tx: "none", Outcome: outcome, Probe: probe, Date: "2026-11-30"}
}

func TestLintFinds(t *testing.T) {
	t.Parallel()
	pair := func() []corpus.Case {
		return []corpus.Case{
			{
				ID: "KTX-PG-DDL-0001", Class: "ddl", Dialect: "postgres", Title: "t", SQL: "DROP TABLE t", Expect: corpus.Reject,
				Codes: []string{"ddl_statement"}, Effect: &corpus.Effect{Kind: "schema_write"}, Refs: corpus.Refs{CWE: []string{"CWE-284"}},
				BenignTwin: "KTX-PG-DDL-0001B", Since: "0.1.0", Evidence: []corpus.Evidence{observed("executed", "changed: catalog pg_class")},
			},
			{ID: "KTX-PG-DDL-0001B", Class: "ddl", Dialect: "postgres", Title: "t", SQL: "SELECT 1", Expect: corpus.Allow, Since: "0.1.0"},
		}
	}
	if got := corpus.Lint(pair(), []string{"ddl_statement"}); len(got) > 0 {
		t.Fatalf("a sound pair has problems: %v", got)
	}
	for _, tt := range []struct {
		want   string
		damage func(c []corpus.Case) []corpus.Case
	}{
		{"the ID is used twice", func(c []corpus.Case) []corpus.Case { return append(c, c[1]) }},
		{"unknown dialect", func(c []corpus.Case) []corpus.Case { c[0].Dialect = "pg"; return c }},
		{"unknown class", func(c []corpus.Case) []corpus.Case { c[0].Class = "dll"; return c }},
		{"the ID is not KTX-LITE-DDL- and four digits", func(c []corpus.Case) []corpus.Case { c[0].Dialect = "sqlite"; return c }},
		{"the ID is not KTX-PG-CPY- and four digits", func(c []corpus.Case) []corpus.Case { c[1].Class = "copy"; return c }},
		{"the ID is not KTX-PG-DDL- and four digits", func(c []corpus.Case) []corpus.Case { c[1].ID = "KTX-PG-DDL-1B"; return c }},
		{"the title is missing", func(c []corpus.Case) []corpus.Case { c[1].Title = ""; return c }},
		{"the title is longer than 120 characters", func(c []corpus.Case) []corpus.Case { c[1].Title = strings.Repeat("é", 121); return c }},
		{`unknown effect "boom"`, func(c []corpus.Case) []corpus.Case { c[0].Effect = &corpus.Effect{Kind: "boom"}; return c }},
		{`unknown flavour "mariadb" of postgres`, func(c []corpus.Case) []corpus.Case { c[0].Flavour = "mariadb"; return c }},
		{`unknown engine "oracle"`, func(c []corpus.Case) []corpus.Case { c[0].Engine = &corpus.Engine{Name: "oracle"}; return c }},
		{`"9.x" is not a version`, func(c []corpus.Case) []corpus.Case {
			c[0].Engine = &corpus.Engine{Name: "postgresql", Min: "9", Max: "9.x"}
			return c
		}},
		{`since is "next"`, func(c []corpus.Case) []corpus.Case { c[1].Since = "next"; return c }},
		{"the statement is the same as that of KTX-PG-DDL-0001", func(c []corpus.Case) []corpus.Case { c[1].SQL = c[0].SQL; return c }},
		{`unknown code "drop"`, func(c []corpus.Case) []corpus.Case { c[0].Codes = []string{"drop"}; return c }},
		{"names no code", func(c []corpus.Case) []corpus.Case { c[0].Codes = nil; return c }},
		{"names no effect", func(c []corpus.Case) []corpus.Case { c[0].Effect = nil; return c }},
		{"must pass has codes", func(c []corpus.Case) []corpus.Case { c[1].Codes = c[0].Codes; return c }},
		{`expect is ""`, func(c []corpus.Case) []corpus.Case { c[0].Expect = ""; return c }},
		{"does not say on what", func(c []corpus.Case) []corpus.Case { c[0].Expect = corpus.Policy; return c }},
		{"what the default is", func(c []corpus.Case) []corpus.Case {
			c[0].Expect, c[0].Policy = corpus.Policy, &corpus.PolicyNote{Key: "k", Default: corpus.Policy}
			return c
		}},
		{"does not depend on it", func(c []corpus.Case) []corpus.Case {
			c[0].Policy = &corpus.PolicyNote{Key: "k", Default: corpus.Allow}
			return c
		}},
		{"has no benign twin", func(c []corpus.Case) []corpus.Case { c[0].BenignTwin = ""; return c }},
		{"no case names it", func(c []corpus.Case) []corpus.Case { c[0].BenignTwin = ""; return c }},
		{"does not exist", func(c []corpus.Case) []corpus.Case { return c[:1] }},
		{"must be allow", func(c []corpus.Case) []corpus.Case { c[1].Expect = corpus.Reject; return c }},
		{"not KTX-PG-DDL-0001B", func(c []corpus.Case) []corpus.Case { c[0].BenignTwin = "KTX-PG-DDL-0002B"; return c }},
		{"must pass has a benign twin", func(c []corpus.Case) []corpus.Case { c[1].BenignTwin = "x"; return c }},
		{"has no source", func(c []corpus.Case) []corpus.Case { c[0].Refs = corpus.Refs{}; return c }},
		{"not a CWE number", func(c []corpus.Case) []corpus.Case { c[0].Refs.CWE = []string{"284"}; return c }},
		{"not a CVE number", func(c []corpus.Case) []corpus.Case { c[0].Refs.CVE = []string{"CVE-1"}; return c }},
		{"not an https address", func(c []corpus.Case) []corpus.Case { c[0].Refs.URLs = []string{"http://example.com"}; return c }},
		{"evidence 1 is neither", func(c []corpus.Case) []corpus.Case {
			c[0].Evidence = []corpus.Evidence{{Engine: "postgresql"}}
			return c
		}},
		{"no evidence shows the effect schema_write", func(c []corpus.Case) []corpus.Case { c[0].Evidence = nil; return c }},
		{"no evidence shows the effect schema_write", func(c []corpus.Case) []corpus.Case {
			c[0].Evidence = []corpus.Evidence{observed("timed_out", "")}
			return c
		}},
		{"the evidence shows what it does", func(c []corpus.Case) []corpus.Case {
			c[0].NotShown = &corpus.NotShown{Kind: "unseen", Text: "t"}
			return c
		}},
		{"a text, and one of the kinds", func(c []corpus.Case) []corpus.Case {
			c[0].Evidence, c[0].NotShown = nil, &corpus.NotShown{Kind: "later", Text: "t"}
			return c
		}},
		{"only a case that must be refused says why", func(c []corpus.Case) []corpus.Case {
			c[1].NotShown = &corpus.NotShown{Kind: "unseen", Text: "t"}
			return c
		}},
		{"no engine of sqlserver can be had", func(c []corpus.Case) []corpus.Case {
			c[0].Dialect, c[0].ID, c[0].Evidence = "sqlserver", "KTX-MS-DDL-0001", nil
			return c
		}},
		{"is already that of", func(c []corpus.Case) []corpus.Case {
			other := c[0]
			other.ID, other.SQL = "KTX-PG-DDL-0002", "DROP TABLE u"
			return append(c, other)
		}},
	} {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			got := corpus.Lint(tt.damage(pair()), []string{"ddl_statement"})
			if !slices.ContainsFunc(got, func(p corpus.Problem) bool { return strings.Contains(p.String(), tt.want) }) {
				t.Errorf("problems %v do not say %q", got, tt.want)
			}
		})
	}
}

// TestShown checks which observations show an effect, for every kind of effect.
func TestShown(t *testing.T) {
	t.Parallel()
	const rows = "returned_rows"
	for _, tt := range []struct {
		kind, outcome, probe string
		want                 bool
	}{
		{"none", "executed", "", true},
		{"none", "timed_out", "", false},
		{"hidden_text", "executed", rows, true},
		{"hidden_text", "timed_out", "", false},
		{"hidden_sql", "executed", rows, true},
		{"hidden_sql", "executed", "changed: rows public.orders", true},
		{"data_write", "executed", rows, false},
		{"data_write", "executed", "returned_rows; changed: transaction", false},
		{"data_write", "timed_out", "changed: session setting x, rows public.orders", true},
		{"schema_write", "executed", "changed: catalog pg_class", true},
		{"file_read", "executed", rows, true},
		{"file_read", "executed", "changed: rows public.docs", true},
		{"file_read", "failed x", "changed: file new.db", false},
		{"file_write", "executed", "changed: file new.db", true},
		{"file_write", "executed", "changed: session setting x", false},
		{"network", "failed x", "changed: connection to 192.0.2.1:80", true},
		{"network", "executed", "changed: file master.info", false},
		{"lock", "executed", "changed: lock relation RowExclusiveLock", true},
		{"lock", "executed", "changed: session variable @x", false},
		{"sequence", "executed", "changed: sequence public.s", true},
		{"sequence", "executed", rows, false},
		{"code_execution", "timed_out", "", false},
		{"code_execution", "executed", "changed: file /tmp/x", true},
		{"disclosure", "executed", rows, true},
		{"disclosure", "crashed", "", false},
		{"disclosure", "executed", "changed: connection to 192.0.2.1:80", false},
		{"resource", "timed_out", "took_a_second", true},
		{"resource", "timed_out", "", false},
		{"resource", "failed 53400", "", true},
		{"resource", "crashed", "", true},
		{"server_control", "crashed", "", true},
		{"server_control", "timed_out", "", false},
		{"session_change", "executed", "changed: session setting x", true},
		{"session_change", "executed", "", false},
	} {
		c := corpus.Case{Effect: &corpus.Effect{Kind: tt.kind}, Evidence: []corpus.Evidence{observed(tt.outcome, tt.probe)}}
		if got := c.Shown(); got != tt.want {
			t.Errorf("%s, %s, %q: shown is %t", tt.kind, tt.outcome, tt.probe, got)
		}
	}
}

// TestLintOthers checks that cases of other origin may have any ids, and what
// they must have nevertheless.
func TestLintOthers(t *testing.T) {
	t.Parallel()
	cases := []corpus.Case{
		{ID: "one", Dialect: "postgres", Class: "mine", SQL: "a", Expect: corpus.Reject, BenignTwin: "two", Codes: []string{"ddl_statement"}},
		{ID: "two", Dialect: "postgres", SQL: "b", Expect: corpus.Allow},
		{ID: "three", Dialect: "sqlite", SQL: "a", Expect: corpus.Policy},
	}
	if got := corpus.LintOthers(cases, []string{"ddl_statement"}); len(got) > 0 {
		t.Fatalf("sound cases have problems: %v", got)
	}
	got := corpus.LintOthers(append(cases,
		corpus.Case{ID: "two", Dialect: "pg", SQL: "c", Expect: "no"},
		corpus.Case{Dialect: "sqlite", SQL: "a", Expect: corpus.Reject, BenignTwin: "one", Codes: []string{"x"}},
	), []string{"ddl_statement"})
	want := []corpus.Problem{
		{Index: 3, ID: "two", Field: "id", Message: "the ID is used twice"},
		{Index: 0, ID: "one", Field: "benign_twin", Message: "the benign twin two does not exist, or is not to be allowed"},
		{Index: 3, ID: "two", Field: "dialect", Message: `unknown dialect "pg"`},
		{Index: 3, ID: "two", Field: "expect", Message: `expect is "no"; it must be reject, allow or policy`},
		{Index: 4, Field: "id", Message: "the ID is missing"},
		{Index: 4, Field: "sql", Message: "the statement is the same as that of three"},
		{Index: 4, Field: "codes", Message: `unknown code "x"`},
		{Index: 4, Field: "benign_twin", Message: "the benign twin one does not exist, or is not to be allowed"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
