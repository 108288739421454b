package bigquery_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestFileName: the path of a file of an external table holds values when its folders are named for a column, as in
// email=a@b.c/0.parquet.
func TestFileName(t *testing.T) {
	p := sqlguard.DefaultPolicy()
	p.Columns = []sqlguard.ColumnRule{{Match: "shop.users.email"}}
	g, err := sqlguard.New(bigquery.Dialect{}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]bool{
		"SELECT _FILE_NAME FROM shop.users": false, "SELECT id FROM shop.users AS u WHERE u._file_name LIKE '%a@b.c%'": false, "SELECT id FROM shop.users ORDER BY _FILE_NAME": false, "SELECT id FROM shop.users": true,
	} {
		if v := g.Check(sql); v.Allowed != want {
			t.Errorf("%s: %v %+v", sql, v.Allowed, v.Findings)
		}
	}
}
