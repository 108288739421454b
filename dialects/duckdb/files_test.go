package duckdb_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// files are those of a folder, by path, with the table that each is. A pattern has several.
type files map[string]string

func (f *files) Tables(path string) (out []sqlguard.CatalogName) {
	for table := range strings.FieldsSeq((*f)[path]) {
		schema, name, _ := strings.Cut(table, ".")
		out = append(out, sqlguard.CatalogName{Schema: schema, Name: name})
	}
	return out
}

// TestFiles: statements may name the files that are there, by their canonical paths, and the
// rules on their tables hold for them. Each line of testdata/files.refused.txt is refused.
func TestFiles(t *testing.T) {
	t.Parallel()
	policy := sqlguard.DefaultPolicy()
	policy.Tables.Deny = []string{"main.salaries"}
	policy.SearchPath = []string{"main"}
	there := &files{
		"orders.csv": "main.orders", "raw/events.jsonl": "raw.events", "events/day=1/part-0.parquet": "main.events", "salaries.csv": "main.salaries", "customers.csv": "main.customers",
		"raw/*.jsonl": "raw.events raw.visits", "pay/*.csv": "pay.bonus main.salaries", "*/*.csv": "main.salaries pay.bonus",
	}
	guard := func(d sqlguard.Dialect, p sqlguard.Policy) *sqlguard.Guard {
		t.Helper()
		g, err := sqlguard.New(d, p, &sqlguard.Catalog{SearchPath: []string{"main"}, Views: []sqlguard.CatalogName{}}) // as the backend has it for a folder
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	each := func(name string, f func(sql string)) {
		t.Helper()
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for sql := range strings.Lines(string(text)) {
			f(strings.TrimSpace(sql))
		}
	}
	with, without := guard(duckdb.Dialect{Files: there}, policy), guard(duckdb.Dialect{}, policy)
	each("files.passes.txt", func(sql string) {
		if v := with.CheckOnce(sql); !v.Allowed {
			t.Errorf("%s: %s %v", sql, v.Code, v.Findings)
		}
		if without.CheckOnce(sql).Allowed && !strings.Contains(sql, "orders.csv o") { // a name without quotes can be one of a table
			t.Errorf("allowed without files: %s", sql)
		}
	})
	policy.Columns = []sqlguard.ColumnRule{{Match: "main.customers.email"}}
	columns := guard(duckdb.Dialect{Files: there}, policy)
	each("files.refused.txt", func(sql string) {
		if columns.CheckOnce(sql).Allowed {
			t.Errorf("allowed: %s", sql)
		}
		if !strings.Contains(sql, "customers.csv") && with.CheckOnce(sql).Allowed {
			t.Errorf("allowed without a rule on columns: %s", sql)
		}
	})
}
