package sqlserver_test

import (
	"testing"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// The cases of the class rule-leak are refused under their rules, and their twins pass. No
// server is asked, so cases that need a catalogue are not among those of this dialect.
func TestRulesDoNotLeak(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for _, c := range corpus.Cases() {
		texts[c.ID] = c.SQL
	}
	seen := 0
	for _, c := range corpus.Cases() {
		if c.Dialect != "sqlserver" || c.Policy == nil || c.Policy.Deny == nil {
			continue
		}
		seen++
		p := sqlguard.DefaultPolicy()
		p.SearchPath = []string{"dbo"}
		for _, name := range c.Policy.Deny {
			if c.Policy.Key == "access.tables" {
				p.Tables.Deny = append(p.Tables.Deny, name)
			} else {
				p.Columns = append(p.Columns, sqlguard.ColumnRule{Match: name})
			}
		}
		g, err := sqlguard.New(sqlserver.Dialect{}, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v := g.Check(c.SQL); v.Allowed {
			t.Errorf("%s: %s passes", c.ID, c.SQL)
		}
		if v := g.Check(texts[c.BenignTwin]); !v.Allowed {
			t.Errorf("%s: the twin %s is refused: %+v", c.ID, texts[c.BenignTwin], v.Findings)
		}
	}
	if seen == 0 {
		t.Error("the corpus has no such case")
	}
}
