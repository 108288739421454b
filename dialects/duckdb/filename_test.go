package duckdb_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestFilename: the path of a file holds values when its folders are named for a column, as in
// email=a@b.c/0.parquet.
func TestFilename(t *testing.T) {
	p := sqlguard.DefaultPolicy()
	p.Columns = []sqlguard.ColumnRule{{Match: "main.users.email"}}
	g, err := sqlguard.New(duckdb.Dialect{}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]bool{
		"SELECT filename FROM users": false, "SELECT id FROM users AS u WHERE u.FileName LIKE '%a@b.c%'": false, "SELECT id FROM users ORDER BY filename": false, "SELECT id FROM users": true,
	} {
		if v := g.Check(sql); v.Allowed != want {
			t.Errorf("%s: %v %+v", sql, v.Allowed, v.Findings)
		}
	}
}
