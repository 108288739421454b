package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/research/catalog"
)

// postgresShapes has every kind of relation and column that a scan has to tell apart.
var postgresShapes = []string{
	"CREATE SCHEMA sales", "CREATE SCHEMA \"Über.Lager\"",
	"CREATE TYPE status AS ENUM ('new', 'paid', 'it''s late')",
	"CREATE DOMAIN email_address AS varchar(200) CHECK (VALUE LIKE '%@%')",
	`CREATE TABLE customers (
		id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, "Full Name" text GENERATED ALWAYS AS (upper(name)) STORED,
		email email_address, tags text[], born date, score numeric(10,2), active boolean, profile jsonb)`,
	"COMMENT ON TABLE customers IS 'People who buy'", "COMMENT ON COLUMN customers.score IS 'From 0 to 100'",
	"CREATE TABLE sales.orders (region int, no int, customer_id bigint REFERENCES customers, state status, note text, PRIMARY KEY (region, no))",
	`CREATE TABLE sales.lines (id int PRIMARY KEY, order_no int, order_region int, qty smallint,
		CONSTRAINT lines_order FOREIGN KEY (order_region, order_no) REFERENCES sales.orders (region, no))`,
	`CREATE TABLE "Über.Lager"."Teil ""x"".y" ("größe" int, "a.b" text, "日本" timestamptz)`,
	"CREATE TABLE customers_2 (LIKE customers)",
	"CREATE TABLE sales.customers (id int)",
	"CREATE TABLE sales.events (day date NOT NULL, kind text, customer_id bigint REFERENCES customers) PARTITION BY RANGE (day)",
	"CREATE TABLE sales.events_2025 PARTITION OF sales.events FOR VALUES FROM ('2025-01-01') TO ('2026-01-01')",
	"CREATE TABLE sales.events_2026 PARTITION OF sales.events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01') PARTITION BY LIST (kind)",
	"CREATE TABLE sales.events_2026_a PARTITION OF sales.events_2026 FOR VALUES IN ('a')",
	"CREATE VIEW sales.paid AS SELECT no, customer_id FROM sales.orders WHERE state = 'paid'",
	"CREATE MATERIALIZED VIEW sales.totals AS SELECT region, count(*) AS n FROM sales.orders GROUP BY region",
	"CREATE EXTENSION file_fdw", "CREATE SERVER files FOREIGN DATA WRAPPER file_fdw",
	"CREATE FOREIGN TABLE sales.feed (line text) SERVER files OPTIONS (filename '/nowhere')",
	"CREATE TABLE employees (id int PRIMARY KEY, boss int REFERENCES employees)",
	"INSERT INTO customers (name, email, born, active) SELECT 'Name ' || n % 7, n || '@example.org', date '1980-01-01' + n, n % 2 = 0 FROM generate_series(1, 40) n",
	"INSERT INTO sales.orders SELECT n % 3, n, 1 + n % 40, 'paid' FROM generate_series(1, 60) n",
	"INSERT INTO sales.events SELECT date '2025-06-01' + n, 'a', 1 FROM generate_series(1, 20) n",
	"REFRESH MATERIALIZED VIEW sales.totals",
}

func TestPostgresStructure(t *testing.T) {
	t.Parallel()
	s := newStand(t, postgresAt(testdb.Postgres(t).NewDatabase(t, postgresShapes...)))
	result := s.run()
	s.golden("postgres", result.Report.SyncID)
	for _, e := range s.log.Events() {
		if e.Decision.Verdict == "reject" {
			t.Errorf("the guard refused a statement: %s: %v", e.SQL.Text, e.Decision.Codes)
		}
	}
}

// TestPostgresRights: what the role may not read is a warning, and is not in the scan.
func TestPostgresRights(t *testing.T) {
	t.Parallel()
	server := testdb.Postgres(t)
	reader := server.NewRole(t)
	url := server.NewDatabase(t,
		"CREATE SCHEMA closed", "CREATE TABLE closed.t (id int)", "CREATE TABLE secret (id int)",
		"CREATE TABLE part (id int, hidden text, shown text)", "CREATE TABLE open (id int)",
		"INSERT INTO part VALUES (1, 'a', 'b')",
		fmt.Sprintf("GRANT SELECT ON open TO %s; GRANT SELECT (id, shown) ON part TO %[1]s; GRANT SELECT ON closed.t TO %[1]s", reader),
	)
	database := url[strings.LastIndexByte(url, '/')+1:]
	database, _, _ = strings.Cut(database, "?")
	s := newStand(t, postgresAt(server.URL(database, reader)))
	result := s.run()
	if result.Tables != 2 {
		t.Errorf("%d tables, want open and part", result.Tables)
	}
	warnings := fmt.Sprint(result.Report.Warnings)
	if !strings.Contains(warnings, "(2)") || !strings.Contains(warnings, "closed.t, public.secret") {
		t.Errorf("warnings: %s", warnings)
	}
	profile := read[catalog.Profile](s, result.Report.SyncID, "enrichment/relationship-profile.json")
	if _, ok := profile.Columns["public.part.hidden"]; ok || len(profile.Columns) != 3 {
		t.Errorf("profiled: %v", sortedKeys(profile.Columns))
	}
}

// TestPostgresWide: a table with as many columns as a server permits.
func TestPostgresWide(t *testing.T) {
	t.Parallel()
	var columns []string
	for i := range 1600 {
		columns = append(columns, fmt.Sprintf("c%d int", i))
	}
	s := newStand(t, postgresAt(testdb.Postgres(t).NewDatabase(t, "CREATE TABLE wide ("+strings.Join(columns, ", ")+")", "INSERT INTO wide (c7) VALUES (1), (2)")))
	result := s.run()
	profile := read[catalog.Profile](s, result.Report.SyncID, "enrichment/relationship-profile.json")
	c := profile.Columns["public.wide.c7"]
	if result.Columns != 1600 || len(profile.Columns) != 1600 || c.DistinctCount != 2 || profile.Columns["public.wide.c8"].NullCount != 2 {
		t.Errorf("%d columns, %d profiled, c7 %+v, warnings %v", result.Columns, len(profile.Columns), c, result.Report.Warnings)
	}
}

func TestPostgresEmpty(t *testing.T) {
	t.Parallel()
	s := newStand(t, postgresAt(testdb.Postgres(t).NewDatabase(t)))
	if result := s.run(); result.Tables != 0 || len(result.Report.Warnings) != 0 {
		t.Errorf("an empty database: %+v", result)
	}
}

// TestPostgresSample: the sample of a large table comes from all of it, and the values
// from all rows.
func TestPostgresSample(t *testing.T) {
	t.Parallel()
	s := newStand(t, postgresAt(testdb.Postgres(t).NewDatabase(t,
		"CREATE TABLE readings (id int PRIMARY KEY, place text, at timestamptz)",
		"INSERT INTO readings SELECT n, 'place ' || n / 1000, now() FROM generate_series(0, 19999) n",
		"CREATE VIEW half AS SELECT * FROM readings WHERE id < 10000",
	)))
	s.options.SampleRows = 500
	result := s.run()
	profile := read[catalog.Profile](s, result.Report.SyncID, "enrichment/relationship-profile.json")
	place := profile.Columns["public.readings.place"]
	if profile.Tables[1].RowCount != 20000 || place.DistinctCount != 20 || place.RowCount < 300 || place.RowCount > 500 {
		t.Errorf("tables %+v, place %+v", profile.Tables, place)
	}
	all := s.values.columns["public.readings.place"]
	if len(all.Values) != 20 || all.Distinct != 20 || !all.Complete || all.Values[0].Count != 1000 || all.Values[0].Text != "place 0" {
		t.Errorf("values %+v; %v", all, result.Report.Warnings)
	}
	if half := s.values.columns["public.half.place"]; half.Complete || len(half.Values) == 0 {
		t.Errorf("the values of a view are those of its first rows: %+v", half)
	}
}
