package bigquery_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestWildcards: a name with a star is judged as every table that it may stand for, whatever a
// condition on _TABLE_SUFFIX says.
func TestWildcards(t *testing.T) {
	const table, column, star, unresolved = "relation_not_allowed", "column_not_allowed", "stands for every relation", "unresolved_object"
	for _, test := range []struct {
		policy sqlguard.Policy
		want   map[string]string
	}{
		{sqlguard.Policy{Tables: sqlguard.Names{Deny: []string{"shop.customers"}}}, map[string]string{
			"SELECT id FROM `shop.cust*`": star, "SELECT id FROM `shop.*`": star, "SELECT _TABLE_SUFFIX FROM `shop.customers*`": star, "SELECT id FROM `SHOP.CUST*`": star,
			"SELECT id FROM shop.`c*` WHERE _TABLE_SUFFIX = 'ountries'": star, "SELECT id FROM `p.shop.cust*`": star, "SELECT id FROM `cust*`": unresolved, "SELECT id FROM `*`": unresolved,
			"SELECT id FROM APPENDS(TABLE `shop.cust*`, NULL, NULL)": star, "SELECT id FROM `shop.orders` UNION ALL SELECT id FROM `shop.cu*`": star,
			"SELECT id FROM `shop.INFORMATION_SCHEMA.*`": table, "SELECT id FROM `sh*.customers`": table, "SELECT id FROM `shop.c*s`": table,
			"SELECT id FROM `shop.customers_*`": "", "SELECT id FROM `shop.ord*` WHERE _TABLE_SUFFIX = 'ers'": "",
		}},
		{sqlguard.Policy{Tables: sqlguard.Names{Allow: []string{"shop.events_*"}}}, map[string]string{
			"SELECT id FROM `shop.events_*`": "", "SELECT id FROM `shop.events_2026*`": "", "SELECT id FROM `shop.event*`": star, "SELECT id FROM `shop.*`": star,
		}},
		{sqlguard.Policy{Columns: []sqlguard.ColumnRule{{Match: "shop.customers.email"}}}, map[string]string{
			"SELECT email FROM `shop.cust*`": column, "SELECT * FROM `shop.*`": column, "SELECT t FROM `shop.cust*` AS t": column, "SELECT t.EMAIL FROM `shop.c*` AS t": column,
			"SELECT id FROM `shop.cust*` WHERE email LIKE 'a%'": column, "SELECT email FROM `cust*`": column, "SELECT id FROM `shop.ord*`": unresolved,
			"SELECT id, _TABLE_SUFFIX FROM `shop.cust*`": "",
		}},
	} {
		p := sqlguard.DefaultPolicy()
		p.Tables, p.Columns = test.policy.Tables, test.policy.Columns
		g, err := sqlguard.New(bigquery.Dialect{}, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		for sql, want := range test.want {
			v := g.Check(sql)
			switch {
			case want == "" && !v.Allowed:
				t.Errorf("%+v: %s: %+v", test.policy, sql, v.Findings)
			case want == star && (v.Code != table || !strings.Contains(v.Findings[0].Message, star) || v.Findings[0].Hint == ""):
				t.Errorf("%+v: %s: %+v", test.policy, sql, v.Findings)
			case want != "" && want != star && string(v.Code) != want:
				t.Errorf("%+v: %s: %s, want %s", test.policy, sql, v.Code, want)
			}
		}
	}
}
