package scan_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb"
	"github.com/ktxhq/ktx/execution/executiontest/bqserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// bigQueryRows answers a statement with texts; the text NULL is null.
func bigQueryRows(columns string, rows ...[]string) bqserver.Query {
	q := bqserver.Query{Rows: len(rows)}
	for name := range strings.FieldsSeq(columns) {
		q.Fields = append(q.Fields, bqserver.Field{Name: name, Type: "STRING"})
	}
	q.Row = func(w io.Writer, i int) {
		values := make([]string, len(rows[i]))
		for k, v := range rows[i] {
			if values[k] = bqserver.Text(v); v == "NULL" {
				values[k] = "null"
			}
		}
		bqserver.Values(values...)(w, i)
	}
	return q
}

// TestBigQueryStructure scans a stand-in, which proves that the guard permits the
// statements of the scan and that their answers are read. Whether the service answers them
// so is not known.
func TestBigQueryStructure(t *testing.T) {
	server := bqserver.Start(t, bqserver.Config{})
	server.Match(`^SELECT schema_name FROM INFORMATION_SCHEMA\.SCHEMATA WHERE schema_name > '' `, bigQueryRows("schema_name", []string{"shop"}))
	server.Match("^SELECT t\\.table_name, t\\.table_type, o\\.option_value FROM `shop`\\.INFORMATION_SCHEMA\\.TABLES AS t\n", bigQueryRows("table_name table_type option_value",
		[]string{"customers", "BASE TABLE", `"People who \"buy\""`}, []string{"orders", "BASE TABLE", "NULL"}, []string{"paid", "VIEW", "NULL"}))
	server.Match("^SELECT c\\.table_name, c\\.ordinal_position, ", bigQueryRows("table_name ordinal_position column_name data_type is_nullable description",
		[]string{"customers", "1", "id", "INT64", "NO", "As on the card"}, []string{"customers", "2", "name", "STRING(40)", "YES", "NULL"},
		[]string{"customers", "3", "tags", "ARRAY<STRING>", "NO", "NULL"}, []string{"customers", "4", "place", "STRUCT<city STRING, at GEOGRAPHY>", "YES", "NULL"},
		[]string{"orders", "1", "no", "INT64", "YES", "NULL"}, []string{"orders", "2", "customer_id", "INT64", "YES", "NULL"},
		[]string{"orders", "3", "total", "NUMERIC(12, 2)", "YES", "NULL"}, []string{"orders", "4", "created", "TIMESTAMP", "YES", "NULL"}, []string{"orders", "5", "raw", "BYTES", "YES", "NULL"},
		[]string{"paid", "1", "no", "INT64", "YES", "NULL"}))
	server.Match("^SELECT table_id, row_count FROM `shop`\\.__TABLES__ ", bigQueryRows("table_id row_count", []string{"customers", "2"}, []string{"orders", "9000000"}, []string{"paid", "0"}))
	s := newStand(t, execution.Connection{
		Engine: "BIGQUERY", Dialect: bigquery.Dialect{}, Policy: sqlguard.DefaultPolicy(),
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return bigquerydb.Open(ctx, bigquerydb.Config{URL: execution.NewSecret(server.URL()), Session: bigquery.Dialect{}.Session()}, guard)
		},
	})
	s.options.NoProfile = true
	s.golden("bigquery", s.run().Report.SyncID)

	// The stand-in has no rows, so that no profile can be made. The guard judges its
	// statements nevertheless.
	s.options.NoProfile = false
	s.run()
	sampled := false
	for _, e := range s.log.Events() {
		if e.Decision.Verdict == "reject" {
			t.Errorf("the guard refused a statement: %s: %v", e.SQL.Text, e.Decision.Codes)
		}
	}
	for _, r := range server.Requests() {
		config, _ := r.Body["configuration"].(map[string]any)
		query, _ := config["query"].(map[string]any)
		sql, _ := query["query"].(string)
		sampled = sampled || strings.Contains(sql, "`shop`.`orders` TABLESAMPLE SYSTEM (")
	}
	if !sampled {
		t.Error("no sample of the large table was asked for")
	}
}
