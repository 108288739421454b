package bigquery_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestRevealedViews: each view of a group is refused without it, and read with it alone.
func TestRevealedViews(t *testing.T) {
	t.Parallel()
	plain := dialecttest.NewGuard(t, bigquery.Dialect{})
	views := 0
	for _, r := range (bigquery.Dialect{}).Reveals() {
		if r.Kind != "relation" {
			continue
		}
		views++
		sql := "SELECT * FROM `region-eu`." + strings.TrimSuffix(r.Name, "*")
		if strings.HasSuffix(r.Name, "_BY_*") {
			sql += "ORGANIZATION"
		}
		if v := plain.Check(sql); v.Allowed || v.Findings[0].Reveal != r.Group {
			t.Errorf("%s without a group: %v %+v", sql, v.Allowed, v.Findings)
		}
		for _, group := range sqlguard.Groups() {
			p := sqlguard.DefaultPolicy()
			p.Reveal = []sqlguard.Group{group}
			g, err := sqlguard.New(bigquery.Dialect{}, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v := g.Check(sql); v.Allowed != (group == r.Group) {
				t.Errorf("%s with %s: %v %+v", sql, group, v.Allowed, v.Findings)
			}
		}
	}
	if views < 15 {
		t.Errorf("only %d views", views)
	}
	for _, view := range []string{"TABLE_STORAGE_BY_PROJECT", "TABLE_STORAGE_USAGE_TIMELINE", "SCHEMATA_REPLICAS"} {
		if v := plain.Check("SELECT * FROM `region-eu`.INFORMATION_SCHEMA." + view); !v.Allowed {
			t.Errorf("%s: %+v", view, v.Findings)
		}
	}
}
