package scan_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/sqlguard"
)

// sqlServerAnswers are rows by a part of the statement that asks for them. A value is
// "" for NULL.
var sqlServerAnswers = []struct {
	part string
	rows [][]string
}{
	{"o.is_ms_shipped = 0 AND o.object_id >", [][]string{{"11", "dbo", "customers", "U"}, {"12", "sales", "orders", "U"}, {"13", "sales", "paid", "V"}, {"14", "hr", "secrets", "U"}}},
	{"FROM sys.columns c JOIN sys.objects o", [][]string{
		{"11", "1", "id", "int", "int", "4", "10", "0", "0", "1", "0"},
		{"11", "2", "name", "nvarchar", "nvarchar", "100", "0", "0", "1", "0", "0"},
		{"11", "3", "price", "decimal", "decimal", "9", "10", "2", "1", "0", "1"},
		{"11", "4", "active", "bit", "bit", "1", "1", "0", "1", "0", "0"},
		{"11", "5", "code", "CodeType", "varchar", "20", "0", "0", "1", "0", "0"},
		{"11", "6", "version", "timestamp", "timestamp", "8", "0", "0", "0", "0", "0"},
		{"12", "1", "no", "int", "int", "4", "10", "0", "0", "0", "0"},
		{"12", "2", "customer_id", "int", "int", "4", "10", "0", "1", "0", "0"},
		{"13", "1", "no", "int", "int", "4", "10", "0", "1", "0", "0"},
		{"14", "1", "id", "int", "int", "4", "10", "0", "1", "0", "0"},
	}},
	{"FROM sys.extended_properties", [][]string{{"11", "0", "People who buy", ""}, {"11", "2", "As on the invoice", "name"}}},
	{"FROM sys.partitions", [][]string{{"11", "2"}, {"12", "70000"}}},
	{"FROM sys.indexes", [][]string{{"11", "1", "id"}, {"12", "1", "no"}}},
	{"FROM sys.foreign_keys", [][]string{{"90", "1", "12", "FK_orders_customers", "customer_id", "dbo", "customers", "id"}}},
	{"FROM [dbo].[customers]", [][]string{{"1", "Ann", "2.50", "1", "C-1", "3", "0"}, {"2", "", "3.00", "0", "C-2", "3", "0"}}},
	{"SELECT count(*) FROM [sales].[orders]", [][]string{{"70000"}}},
	{"FROM [sales].[orders] TABLESAMPLE (20 ROWS) REPEATABLE (1)", [][]string{{"1", "1"}, {"70000", "2"}}},
	{"FROM [sales].[paid]", [][]string{{"1"}}},
}

// TestSQLServer scans a stand-in that speaks the protocol of SQL Server and has the
// answers written down. It shows that the statements pass the guard, what the scan
// makes of the answers, and nothing about the engine.
func TestSQLServer(t *testing.T) {
	t.Parallel()
	server := tdsserver.Start(t, tdsserver.Config{})
	server.First(func(q tdsserver.Request) tdsserver.Handler {
		for _, a := range sqlServerAnswers {
			if strings.Contains(q.Text, a.part) {
				return func(r *tdsserver.Reply) error { return reply(r, a.rows) }
			}
		}
		return nil
	})
	policy := sqlguard.DefaultPolicy()
	policy.Schemas.Deny = []string{"hr"}
	address := server.URL("encrypt", "true", "certificate", server.CertificateFile())
	s := newStand(t, execution.Connection{
		Engine: "SQLSERVER", Dialect: sqlserver.Dialect{}, Policy: policy,
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return mssqldb.Open(ctx, mssqldb.Config{URL: execution.NewSecret(address), MaxConnections: 2, Session: sqlserver.Dialect{}.Session()}, guard)
		},
	})
	s.options.NoProfile, s.options.SampleRows = true, 20
	s.run()
	s.again()
	s.options.NoProfile = false
	result := s.run()
	s.golden("sqlserver", result.Report.SyncID)
	profile := read[catalog.Profile](s, result.Report.SyncID, "enrichment/relationship-profile.json")
	if c := profile.Columns["dbo.customers.name"]; c.NullCount != 1 || c.DistinctCount != 1 || len(profile.Tables) != 3 {
		t.Errorf("profile %+v", profile)
	}
	for _, e := range s.log.Events() {
		if e.Decision.Verdict == "reject" {
			t.Errorf("the guard refused a statement: %s: %v", e.SQL.Text, e.Decision.Codes)
		}
	}
}

// reply answers with rows of texts.
func reply(r *tdsserver.Reply, rows [][]string) error {
	var columns []tdsserver.Column
	for range rows[0] {
		columns = append(columns, tdsserver.Column{Name: "c", Type: tdsserver.NVarChar(200)})
	}
	if err := r.Columns(columns...); err != nil {
		return err
	}
	for _, row := range rows {
		values := make([]any, len(row))
		for i, v := range row {
			if v != "" {
				values[i] = v
			}
		}
		if err := r.Row(values...); err != nil {
			return err
		}
	}
	return nil
}
