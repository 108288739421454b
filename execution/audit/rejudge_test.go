package audit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestRejudge: an outcome is known only when no literal that the log lacks could decide.
func TestRejudge(t *testing.T) {
	refusing := func(code sqlguard.Code, when func(string) bool) func(string) (sqlguard.Verdict, error) {
		return func(sql string) (sqlguard.Verdict, error) {
			if when(sql) {
				return sqlguard.Verdict{Code: code, Findings: []sqlguard.Finding{{Code: code}}}, nil
			}
			return sqlguard.Verdict{Allowed: true}, nil
		}
	}
	always := func(string) bool { return true }
	never := func(string) bool { return false }
	allowed := audit.Decision{Verdict: audit.VerdictAllow}
	refused := func(code string) audit.Decision {
		return audit.Decision{Verdict: audit.VerdictReject, Codes: []string{code}}
	}
	normal := audit.SQL{Normalized: "select ? from t limit ?"}
	for name, c := range map[string]struct {
		sql      audit.SQL
		decision audit.Decision
		check    func(string) (sqlguard.Verdict, error)
		want     audit.Outcome
		text     string
	}{
		"the same":                       {normal, allowed, refusing("", never), audit.Same, "select '1' from t limit '1'"},
		"refused now":                    {normal, allowed, refusing("relation_not_allowed", always), audit.NowRefused, "select '1' from t limit '1'"},
		"allowed now":                    {normal, refused("relation_not_allowed"), refusing("", never), audit.NowAllowed, "select '1' from t limit '1'"},
		"the other constant parses":      {normal, allowed, refusing("parse_error", func(s string) bool { return strings.Contains(s, "'1'") }), audit.Same, "select 1 from t limit 1"},
		"neither constant parses":        {normal, allowed, refusing("parse_error", always), audit.Unknown, ""},
		"a literal decides now":          {normal, allowed, refusing("setting_not_allowed", always), audit.Unknown, ""},
		"a literal decided then":         {normal, refused("setting_not_allowed"), refusing("", never), audit.Unknown, ""},
		"the text is there":              {audit.SQL{Normalized: "select ?", Text: "SELECT 5"}, refused("parse_error"), refusing("", never), audit.NowAllowed, "SELECT 5"},
		"a name that is not known":       {audit.SQL{Normalized: `select "?" from t`}, allowed, refusing("", never), audit.Unknown, ""},
		"no text":                        {audit.SQL{}, allowed, refusing("", never), audit.Unknown, ""},
		"no decision":                    {normal, audit.Decision{}, refusing("", never), audit.Unknown, ""},
		"refused then and now, a parser": {normal, refused("parse_error"), refusing("parse_error", always), audit.Unknown, ""},
	} {
		got, err := audit.Rejudge(audit.Event{SQL: c.sql, Decision: c.decision}, c.check)
		if err != nil || got.Outcome != c.want || got.Text != c.text {
			t.Errorf("%s: %s %q %v, want %s %q", name, got.Outcome, got.Text, err, c.want, c.text)
		}
	}
	fault := errors.New("no such connection")
	if _, err := audit.Rejudge(audit.Event{SQL: normal, Decision: allowed}, func(string) (sqlguard.Verdict, error) { return sqlguard.Verdict{}, fault }); !errors.Is(err, fault) {
		t.Errorf("a check that fails: %v", err)
	}
}
