package scan_test

import (
	"context"
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/clickhousedb"
	"github.com/ktxhq/ktx/execution/executiontest/chengine"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/sqlguard"
)

// clickHouseShop is a shop with most kinds of types.
var clickHouseShop = []string{
	"CREATE DATABASE shop",
	`CREATE TABLE shop.customers (id UInt32 COMMENT 'As on the card', name String, email Nullable(String), country LowCardinality(String), state Enum8('new' = 1, 'old' = 2),
		created DateTime('UTC'), key UUID, tags Array(String), initial String MATERIALIZED substring(name, 1, 1)) ENGINE = MergeTree ORDER BY id COMMENT 'People who buy'`,
	"INSERT INTO shop.customers VALUES (1, 'Ann', 'ann@example.com', 'GB', 'new', '2026-01-02 03:04:05', '6f9619ff-8b86-d011-b42d-00c04fc964ff', ['a']), (2, 'Bo''b\\\\', NULL, 'FR', 'old', '2026-01-03 00:00:00', '6f9619ff-8b86-d011-b42d-00c04fc964fe', [])",
	"CREATE TABLE shop.orders (no UInt64, customer_id UInt32, total Decimal(12, 2), weight Float64, paid Bool, day Date) ENGINE = MergeTree ORDER BY no",
	"INSERT INTO shop.orders SELECT number, 1 + number % 2, number / 4, number, number % 3 = 0, toDate('2026-01-01') + number % 28 FROM numbers(5000)",
	"CREATE VIEW shop.paid AS SELECT no, total FROM shop.orders WHERE paid",
	"CREATE TABLE shop.`odd ``name\\\\` (`a``b` Int8) ENGINE = Memory",
	"CREATE DATABASE hr", "CREATE TABLE hr.secrets (id UInt8) ENGINE = Memory",
}

// TestClickHouseEngine scans ClickHouse itself.
func TestClickHouseEngine(t *testing.T) {
	engine := chengine.Start(t, chengine.Config{})
	engine.Exec(t, clickHouseShop...)
	address := engine.Serve(t, chengine.Door{}).URL("shop")
	s := newStand(t, execution.Connection{
		Engine: "CLICKHOUSE", Dialect: clickhouse.Dialect{}, Policy: sqlguard.DefaultPolicy(),
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return clickhousedb.Open(ctx, clickhousedb.Config{URL: execution.NewSecret(address), MaxConnections: 2, Session: clickhouse.Dialect{}.Session()}, guard)
		},
	})
	s.options.SampleRows = 100
	result := s.run()
	s.golden("clickhouse", result.Report.SyncID)
	profile := read[catalog.Profile](s, result.Report.SyncID, "enrichment/relationship-profile.json")
	if c := profile.Columns["shop.customers.email"]; c.NullCount != 1 || c.DistinctCount != 1 || len(profile.Tables) != 4 {
		t.Errorf("profile %+v", profile)
	}
	if v := s.values.columns["shop.customers.state"]; len(v.Values) != 2 || !v.Complete {
		t.Errorf("values of state: %+v", v)
	}
	for _, e := range s.log.Events() {
		if e.Decision.Verdict == "reject" {
			t.Errorf("the guard refused a statement: %s: %v", e.SQL.Text, e.Decision.Codes)
		}
	}
}
