//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package scan_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/execution/executiontest/duckfile"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/sqlguard"
)

func duckAt(config duckdbdb.Config) execution.Connection {
	policy := sqlguard.DefaultPolicy()
	policy.Schemas.Deny = []string{config.Catalogue()}
	return execution.Connection{
		Engine: "DUCKDB", Dialect: duckdb.Dialect{}, Policy: policy,
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			config.MaxConnections, config.Session, config.Reserved = 2, duckdb.Dialect{}.Session(), duckdb.Reserved
			return duckdbdb.Open(ctx, config, guard)
		},
	}
}

// notRefused fails the test when the guard refused a statement of the scan.
func (s *stand) notRefused() {
	s.t.Helper()
	for _, e := range s.log.Events() {
		if e.Decision.Verdict == "reject" {
			s.t.Errorf("the guard refused a statement: %s: %v", e.SQL.Text, e.Decision.Codes)
		}
	}
}

func TestDuckDBFile(t *testing.T) {
	t.Parallel()
	s := newStand(t, duckAt(duckdbdb.Config{Path: duckfile.New(t,
		"CREATE TYPE mood AS ENUM ('fine', 'it''s, bad')",
		`CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, mood mood, tags VARCHAR[], place STRUCT(x DOUBLE, y DOUBLE), born DATE, key UUID, "Größe ""x""" UTINYINT,
			initial VARCHAR GENERATED ALWAYS AS (upper(name)))`,
		"CREATE TABLE orders (no UBIGINT, region INTEGER, customer_id INTEGER REFERENCES customers (id), total DECIMAL(12, 2), made TIMESTAMPTZ, PRIMARY KEY (region, no))",
		"CREATE SCHEMA staging", "CREATE TABLE staging.orders (payload JSON, raw BLOB, took INTERVAL)",
		"CREATE VIEW named AS SELECT name, id FROM customers",
		"COMMENT ON TABLE orders IS 'What was bought'", "COMMENT ON COLUMN orders.total IS 'With tax'",
		"INSERT INTO customers (id, name, mood, born) SELECT i, 'name ' || i % 3, 'fine', DATE '2000-01-01' + i::INTEGER FROM range(1, 201) r(i)",
		"INSERT INTO orders SELECT i, i % 5, 1 + i % 200, i * 1.5, TIMESTAMPTZ '2026-01-01 00:00:00+00' FROM range(20000) r(i)",
		`INSERT INTO staging.orders VALUES ('{"a": 1}', '\xAA'::BLOB, INTERVAL '1 day')`,
	)}))
	s.options.SampleRows = 1000
	result := s.run()
	s.golden("duckdb", result.Report.SyncID)
	s.notRefused()
	profile := read[catalog.Profile](s, result.Report.SyncID, "enrichment/relationship-profile.json")
	if c := profile.Columns["main.customers.name"]; c.DistinctCount != 3 || c.RowCount != 200 {
		t.Errorf("name: %+v", c)
	}
	if c := profile.Columns["main.orders.region"]; c.DistinctCount != 5 || c.RowCount < 500 || c.RowCount > 1000 {
		t.Errorf("region: %+v", c)
	}
}

func TestDuckDBFolder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"customers.csv":             "id,name\n1,Ann\n2,Bob\n3,Cem\n",
		"raw/events.jsonl":          "{\"kind\":\"click\",\"customer\":1}\n{\"kind\":\"view\",\"customer\":2}\n",
		"orders/year=2025/a.csv":    "no,customer_id\n1,1\n2,2\n",
		"orders/year=2026/b.csv":    "no,customer_id\n3,1\n4,3\n",
		"notes/readme.txt":          "no table\n",
		".hidden/secret.csv":        "x\n1\n",
		"parts/part-0000.csv":       "x\n1\n",
		"parts/part-0001.csv":       "x\n2\n",
		"sales/2026/it's \"q\".csv": "x\n2\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	duckfile.Exec(t, filepath.Join(root, "shop.duckdb"), "CREATE TABLE items (id INTEGER)", "INSERT INTO items VALUES (1)")
	s := newStand(t, duckAt(duckdbdb.Config{Files: root}))
	result := s.run()
	s.golden("duckdb-folder", result.Report.SyncID)
	s.notRefused()
}
