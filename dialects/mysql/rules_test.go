package mysql_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestDeniedNames checks that a rule which denies a name denies every spelling that a
// server may treat as the same name.
func TestDeniedNames(t *testing.T) {
	policy := sqlguard.DefaultPolicy()
	policy.Database = "shop"
	policy.Tables.Deny = []string{"shop.api_keys", "shop.größen", "shop.顧客"}
	tables, err := sqlguard.New(mysql.Dialect{}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{
		"shop.api_keys", "API_KEYS", "`Api_Keys`", "apİ_keys", "api_\u212aeys", "ápi_keys", "api_keyſ", "GRÖßEN", "grosen", "顧客",
		// The brackets suggest the name of WITH, but the servers find the table.
		"(WITH api_keys AS (SELECT 1 AS id) SELECT id FROM api_keys UNION (WITH n AS (SELECT 1) SELECT id FROM api_keys)) AS d",
		"(WITH RECURSIVE api_keys AS (SELECT 1 AS id UNION SELECT 2) (WITH n AS (SELECT 1 AS id) SELECT id FROM n) UNION SELECT id FROM api_keys) AS d",
		"(WITH api_keys AS (SELECT 1 AS id) SELECT id FROM (WITH z AS (SELECT id FROM api_keys) SELECT id FROM z UNION SELECT id FROM api_keys) AS x) AS d",
		"(WITH api_keys AS (SELECT 1 AS id) SELECT id FROM (WITH api_keys AS (SELECT id FROM api_keys) SELECT id FROM api_keys) AS x) AS d",
	} {
		if v := tables.Check("SELECT id FROM " + from); v.Allowed {
			t.Errorf("%s is allowed", from)
		}
	}
	for _, from := range []string{
		"api_key", "größe", "住所",
		"(WITH api_keys AS (SELECT 1 AS id) SELECT id FROM api_keys UNION SELECT id FROM api_keys) AS d",
		"(WITH api_keys AS (WITH x AS (SELECT 1 AS id) SELECT id FROM x) SELECT id FROM api_keys) AS d",
	} {
		if v := tables.Check("SELECT id FROM " + from); !v.Allowed {
			t.Errorf("%s: %v", from, v.Findings)
		}
	}
	policy = sqlguard.DefaultPolicy()
	policy.Database = "shop"
	policy.Columns = []sqlguard.ColumnRule{{Match: "shop.customers.email"}, {Match: "shop.customers.prénom"}}
	columns, err := sqlguard.New(mysql.Dialect{}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"email", "EMAIL", "`Email`", "emaİl", "c.EMAİL", "MAX(emaıl)", "émail", "prenom", "c.PRÈNOM"} {
		if v := columns.Check("SELECT " + name + " FROM customers AS c"); v.Allowed {
			t.Errorf("%s is allowed", name)
		}
	}
	for _, name := range []string{"_rowid", "c._ROWID", "MAX(`_rowid`)", "shop.customers._rowid"} { // an integer key has this name too
		if v := columns.Check("SELECT " + name + " FROM customers AS c"); v.Allowed || v.Code != sqlguard.CodeColumnNotAllowed {
			t.Errorf("%s: %v", name, v.Findings)
		}
	}
	if v := tables.Check("SELECT _rowid FROM customers"); !v.Allowed {
		t.Errorf("%v", v.Findings)
	}
	if v := columns.Check("SELECT emails, größe, 名前 FROM customers AS c"); !v.Allowed {
		t.Errorf("%v", v.Findings)
	}
}
