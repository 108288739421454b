package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/research/catalog"
)

// sqliteShapes has every kind of relation and column that a scan has to tell apart.
var sqliteShapes = []string{
	"CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, big AS (upper(name)), kept TEXT AS (lower(name)) STORED, born DATE, data BLOB, anything, price MONEY(10,2), n INT8)",
	"CREATE TABLE orders (region INT, no INT, customer_id INTEGER REFERENCES Customers, PRIMARY KEY (region, no)) WITHOUT ROWID",
	"CREATE TABLE lines (rowid INT, order_no INT, order_region INT, FOREIGN KEY (order_region, order_no) REFERENCES orders (region, no))",
	"CREATE TABLE orphans (x INT REFERENCES nowhere (y))",
	`CREATE TABLE "Größe ""x"".y" ("a.b" INT, "日本" TEXT, 'it''s' TEXT)`,
	"CREATE VIEW named AS SELECT name, n FROM customers",
	"CREATE VIRTUAL TABLE words USING fts5(body)",
	"INSERT INTO customers (name, data, anything, n) VALUES ('Ann', x'00ff', 'text', 1), ('Bob', NULL, 7, 'not a number'), ('Ann', x'01', x'02', 3)",
}

func TestSQLiteStructure(t *testing.T) {
	t.Parallel()
	s := newStand(t, sqliteAt(testdb.SQLiteFile(t, sqliteShapes...)))
	result := s.run()
	s.golden("sqlite", result.Report.SyncID)
	for _, e := range s.log.Events() {
		if e.Decision.Verdict == "reject" {
			t.Errorf("the guard refused a statement: %s: %v", e.SQL.Text, e.Decision.Codes)
		}
	}
	profile := read[catalog.Profile](s, result.Report.SyncID, "enrichment/relationship-profile.json")
	if c := profile.Columns["main.customers.n"]; c.DistinctCount != 3 || c.RowCount != 3 || fmt.Sprint(c.SampleValues) != "[1 3 not a number]" {
		t.Errorf("n: %+v", c)
	}
	if c := profile.Columns["main.customers.data"]; c.NullCount != 1 || len(c.SampleValues) != 0 {
		t.Errorf("data: %+v", c)
	}
}

// TestSQLiteBrokenView: a view that cannot be read does not keep the other tables from
// being scanned.
func TestSQLiteBrokenView(t *testing.T) {
	t.Parallel()
	s := newStand(t, sqliteAt(testdb.SQLiteFile(t, "CREATE TABLE a (x INT)", "CREATE TABLE b (y INT)", "CREATE VIEW v AS SELECT y FROM b", "CREATE VIEW w AS SELECT x FROM a", "DROP TABLE b")))
	result := s.run()
	if warnings := fmt.Sprint(result.Report.Warnings); result.Tables != 2 || !strings.Contains(warnings, "main.v") {
		t.Errorf("%d tables, warnings %s", result.Tables, warnings)
	}
}

// TestSQLiteSample: the sample of a large table comes from all of it, also where its
// row ids do not lie evenly.
func TestSQLiteSample(t *testing.T) {
	t.Parallel()
	const fill = "INSERT INTO %s SELECT value, 'place ' || (value / 1000) FROM generate_series(0, 19999)"
	s := newStand(t, sqliteAt(testdb.SQLiteFile(t,
		"CREATE TABLE even (id INTEGER PRIMARY KEY, place TEXT)", fmt.Sprintf(strings.Replace(fill, "generate_series(0, 19999)", "(WITH RECURSIVE c(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM c WHERE value < 19999) SELECT value FROM c)", 1), "even"),
		"CREATE TABLE uneven (id INTEGER PRIMARY KEY, place TEXT)", "INSERT INTO uneven SELECT * FROM even", "INSERT INTO uneven VALUES (9000000000000000000, 'last')",
	)))
	s.options.SampleRows = 800
	result := s.run()
	profile := read[catalog.Profile](s, result.Report.SyncID, "enrichment/relationship-profile.json")
	for table, distinct := range map[string]int64{"even": 20, "uneven": 1} {
		place := profile.Columns["main."+table+".place"]
		if place.DistinctCount < distinct || place.RowCount < 500 || place.RowCount > 800 {
			t.Errorf("%s: %+v; %v", table, place, result.Report.Warnings)
		}
	}
	if all := s.values.columns["main.uneven.place"]; all.Distinct != 21 || !all.Complete {
		t.Errorf("values %+v; %v", all, result.Report.Warnings)
	}
}

func TestSQLiteEmpty(t *testing.T) {
	t.Parallel()
	s := newStand(t, sqliteAt(testdb.SQLiteFile(t)))
	if result := s.run(); result.Tables != 0 || len(result.Report.Warnings) != 0 {
		t.Errorf("an empty database: %+v", result)
	}
}
