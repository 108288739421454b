package sqlserver_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestDeniedNames checks that a rule which denies a name denies every name that a collation
// may treat as the same name.
func TestDeniedNames(t *testing.T) {
	policy := sqlguard.DefaultPolicy()
	policy.SearchPath = []string{"dbo"}
	policy.Tables.Deny = []string{"dbo.api_keys", "dbo.größen", "dbo.顧客ID", "dbo.さくら"}
	policy.Schemas.Deny = []string{"hr"}
	tables, err := sqlguard.New(sqlserver.Dialect{}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"dbo.api_keys", "API_KEYS", "dbo.ａｐｉ_ｋｅｙｓ", "dbo.[api_keys ]", "dbo.[api_ke\u200bys]", "dbo.[api_keys\u00ad]",
		"ｄｂｏ.api_keys", "ｈｒ.x", "[hr ].x", "dbo.ápi_keys", "dbo.grossen", "dbo.顧客ＩＤ", "dbo.顧客id", "dbo.サクラ", "hŕ.x",
	} {
		if v := tables.Check("SELECT id FROM " + name); v.Allowed {
			t.Errorf("%s is allowed", name)
		}
	}
	for _, name := range []string{"dbo.api_key", "größe", "dbo.顧客", "h.x"} {
		if v := tables.Check("SELECT id FROM " + name); !v.Allowed {
			t.Errorf("%s: %v", name, v.Findings)
		}
	}
	// A function that searches a table by an index does not accept a name of WITH.
	for _, from := range []string{
		"CONTAINSTABLE(api_keys, *, 'x') AS k", "FREETEXTTABLE(api_keys, *, 'x') AS k", "SEMANTICKEYPHRASETABLE(api_keys, *) AS k",
		"CHANGETABLE(CHANGES api_keys, 0) AS k", "VECTOR_SEARCH(TABLE = api_keys, COLUMN = a, SIMILAR_TO = 'x', METRIC = 'cosine') AS k",
	} {
		if v := tables.Check("WITH api_keys AS (SELECT 1 AS a) SELECT * FROM " + from); v.Allowed {
			t.Errorf("%s is allowed", from)
		}
	}
	// Dots before a name lead to a table, whatever WITH names.
	for _, from := range []string{".api_keys", "..api_keys", "...api_keys", "..[api_keys] AS k", "orders AS o JOIN ..api_keys AS k ON k.id = o.id"} {
		if v := tables.Check("WITH api_keys AS (SELECT 1 AS a) SELECT * FROM " + from); v.Allowed {
			t.Errorf("%s is allowed", from)
		}
	}
	if v := tables.Check("WITH api_keys AS (SELECT 1 AS a) SELECT * FROM api_keys"); !v.Allowed {
		t.Errorf("%v", v.Findings)
	}
	policy = sqlguard.DefaultPolicy()
	policy.SearchPath = []string{"dbo"}
	policy.Columns = []sqlguard.ColumnRule{{Match: "dbo.customers.email"}, {Match: "dbo.customers.ＩＤ番号"}}
	columns, err := sqlguard.New(sqlserver.Dialect{}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"email", "EMAIL", "ｅｍａｉｌ", "[email ]", "émail", "c.ｅmail", "[e\u00admail]", "ID番号", "c.id番号"} {
		if v := columns.Check("SELECT " + name + " FROM customers AS c"); v.Allowed {
			t.Errorf("%s is allowed", name)
		}
	}
	if v := columns.Check("SELECT emails, größe FROM customers AS c"); !v.Allowed {
		t.Errorf("%v", v.Findings)
	}
}
