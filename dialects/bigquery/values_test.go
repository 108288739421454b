package bigquery_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestPartitionsUnderRules: the name of a partition is a value of the column by which the table
// is partitioned, so rules of access refuse it.
func TestPartitionsUnderRules(t *testing.T) {
	plain := dialecttest.NewGuard(t, bigquery.Dialect{})
	for _, rules := range []sqlguard.Policy{
		{Columns: []sqlguard.ColumnRule{{Match: "shop.visits.day"}}},
		{Tables: sqlguard.Names{Deny: []string{"shop.visits"}}},
		{Schemas: sqlguard.Names{Allow: []string{"shop"}}},
	} {
		p := sqlguard.DefaultPolicy()
		p.Reveal, p.Columns, p.Tables, p.Schemas = sqlguard.Groups(), rules.Columns, rules.Tables, rules.Schemas
		ruled, err := sqlguard.New(bigquery.Dialect{}, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{
			"SELECT partition_id FROM shop.INFORMATION_SCHEMA.PARTITIONS",
			"SELECT * FROM `shop.INFORMATION_SCHEMA.PARTITIONS`",
			"SELECT * EXCEPT (total_rows) FROM shop.INFORMATION_SCHEMA.PARTITIONS",
			"SELECT count(*) FROM shop.INFORMATION_SCHEMA.PARTITIONS WHERE Partition_ID = '20260101'",
			"SELECT p FROM shop.INFORMATION_SCHEMA.PARTITIONS AS p",
			"SELECT to_json_string(p) FROM shop.information_schema.partitions AS p",
			"SELECT PARTITIONS FROM shop.INFORMATION_SCHEMA.PARTITIONS",
			"FROM shop.INFORMATION_SCHEMA.PARTITIONS |> WHERE total_rows > 1",
			"FROM shop.INFORMATION_SCHEMA.PARTITIONS |> AGGREGATE max(partition_id)",
			"SELECT t.table_name FROM shop.INFORMATION_SCHEMA.TABLES AS t JOIN shop.INFORMATION_SCHEMA.PARTITIONS AS p ON p.partition_id = t.table_name",
		} {
			if v := ruled.Check(sql); v.Allowed || v.Code != sqlguard.CodeColumnNotAllowed || v.Findings[0].Object != "INFORMATION_SCHEMA.PARTITIONS.partition_id" && v.Findings[0].Object != "INFORMATION_SCHEMA.partitions.partition_id" {
				t.Errorf("%s: %v %+v", sql, v.Allowed, v.Findings)
			}
			if v := plain.Check(sql); !v.Allowed {
				t.Errorf("%s without rules: %+v", sql, v.Findings)
			}
		}
		for _, sql := range []string{
			"SELECT table_name, sum(total_rows), max(last_modified_time) FROM shop.INFORMATION_SCHEMA.PARTITIONS GROUP BY table_name",
			"SELECT * FROM shop.INFORMATION_SCHEMA.TABLE_OPTIONS",
			"SELECT is_partitioning_column FROM shop.INFORMATION_SCHEMA.COLUMNS",
		} {
			if v := ruled.Check(sql); !v.Allowed {
				t.Errorf("%s: %+v", sql, v.Findings)
			}
		}
	}
}
