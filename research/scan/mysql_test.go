package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/research/catalog"
)

// mariadbShapes has every kind of relation and column that a scan has to tell apart.
var mariadbShapes = []string{
	`CREATE TABLE customers (id bigint unsigned AUTO_INCREMENT PRIMARY KEY, name varchar(100) NOT NULL COMMENT 'As on the invoice',
		upper_name varchar(100) AS (upper(name)) VIRTUAL, total decimal(10,2) AS (year * 2) STORED, state enum('new','it''s late','Ü') NOT NULL,
		flags set('a','b'), active tinyint(1), bits bit(1), big longtext, raw varbinary(20), at datetime(3), year year) COMMENT 'People who buy'`,
	"CREATE TABLE orders (region int, no int, customer_id bigint unsigned, PRIMARY KEY (region, no), CONSTRAINT buyer FOREIGN KEY (customer_id) REFERENCES customers (id))",
	"CREATE TABLE `lines` (id int PRIMARY KEY, order_no int, order_region int, CONSTRAINT lines_order FOREIGN KEY (order_region, order_no) REFERENCES orders (region, no))",
	"CREATE TABLE `Größe``x.y \\\\ 'z'` (`a.b` int, `日本` text)",
	"CREATE TABLE `Lines` (id int)",
	"CREATE VIEW paid AS SELECT no, customer_id FROM orders",
	"CREATE TABLE parted (id int PRIMARY KEY, name text) PARTITION BY HASH (id) PARTITIONS 3",
	"INSERT INTO customers (name, state, active) VALUES ('Berlin', 'new', 1), ('BERLIN', 'new', 0), ('berlin ', 'Ü', 1)",
}

// dbOf returns the name of the database in a URL.
func dbOf(url string) string {
	name := url[strings.LastIndexByte(url, '/')+1:]
	name, _, _ = strings.Cut(name, "?")
	return name
}

func TestMariaDBStructure(t *testing.T) {
	t.Parallel()
	server := testdb.MariaDB(t)
	other := dbOf(server.NewDatabase(t, "CREATE TABLE regions (id int PRIMARY KEY)"))
	url := server.NewDatabase(t, append([]string{fmt.Sprintf("CREATE TABLE places (id int PRIMARY KEY, region_id int, FOREIGN KEY (region_id) REFERENCES %s.regions (id))", other)}, mariadbShapes...)...)
	s := newStand(t, mysqlAt(server, url, other))
	s.options.Databases = []string{other}
	result := s.run()
	for path, text := range s.files() { // the names of databases differ from run to run
		if strings.Contains(path, "live-database") && strings.Contains(path, "tables/") && !strings.Contains(text, `"db": "`+dbOf(url)) && !strings.Contains(text, `"db": "`+other) {
			t.Errorf("%s is of another database", path)
		}
	}
	s.goldenNames = strings.NewReplacer(dbOf(url), "SHOP", other, "OTHER")
	s.golden(server.Product(), result.Report.SyncID)
	for _, e := range s.log.Events() {
		if e.Decision.Verdict == "reject" {
			t.Errorf("the guard refused a statement: %s: %v", e.SQL.Text, e.Decision.Codes)
		}
	}
	if v := s.values.columns[dbOf(url)+".customers.name"]; len(v.Values) != 3 || v.Distinct != 3 || !v.Complete {
		t.Errorf("values that differ in case are different values: %+v", v)
	}
}

// TestMariaDBSample: the sample of a large table comes from all of it, by ranges of
// its key or by chance.
func TestMariaDBSample(t *testing.T) {
	t.Parallel()
	server := testdb.MariaDB(t)
	const numbers = "(SELECT e.d * 10000 + f.d * 1000 + g.d * 100 + h.d * 10 + i.d AS seq FROM digits e, digits f, digits g, digits h, digits i WHERE e.d < 2) n"
	url := server.NewDatabase(t,
		"CREATE TABLE digits (d int)", "INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
		"CREATE TABLE keyed (id int PRIMARY KEY, place varchar(30))", "CREATE TABLE keyless (no varchar(10) PRIMARY KEY, place varchar(30))",
		"INSERT INTO keyed SELECT seq, IF(seq % 1000 = 7, 'Place', concat('place ', seq DIV 1000)) FROM "+numbers,
		"INSERT INTO keyless SELECT seq, concat('place ', seq DIV 1000) FROM "+numbers,
	)
	s := newStand(t, mysqlAt(server, url))
	s.options.SampleRows = 800
	result := s.run()
	profile := read[catalog.Profile](s, result.Report.SyncID, "enrichment/relationship-profile.json")
	for _, table := range []string{"keyed", "keyless"} {
		place := profile.Columns[dbOf(url)+"."+table+".place"]
		if place.DistinctCount < 20 || place.RowCount < 500 || place.RowCount > 800 {
			t.Errorf("%s: %+v; %v", table, place, result.Report.Warnings)
		}
	}
	all := s.values.columns[dbOf(url)+".keyed.place"]
	if all.Distinct != 21 || !all.Complete || all.Values[0].Count != 999 {
		t.Errorf("values %+v; %v", all, result.Report.Warnings)
	}
}

func TestMariaDBEmpty(t *testing.T) {
	t.Parallel()
	server := testdb.MariaDB(t)
	s := newStand(t, mysqlAt(server, server.NewDatabase(t)))
	if result := s.run(); result.Tables != 0 || len(result.Report.Warnings) != 0 {
		t.Errorf("an empty database: %+v", result)
	}
}

// TestMariaDBRights: columns that the user may not read are not profiled.
func TestMariaDBRights(t *testing.T) {
	t.Parallel()
	server := testdb.MariaDB(t)
	url := server.NewDatabase(t, "CREATE TABLE part (id int, hidden int, shown int)", "CREATE TABLE secret (id int)", "INSERT INTO part VALUES (1, 2, 3)")
	user := server.NewUser(t, fmt.Sprintf("SELECT (id, shown), INSERT (hidden) ON %s.part", dbOf(url)))
	s := newStand(t, mysqlAt(server, server.URL(dbOf(url), user)))
	result := s.run()
	profile := read[catalog.Profile](s, result.Report.SyncID, "enrichment/relationship-profile.json")
	if result.Tables != 1 || len(profile.Columns) != 2 || len(result.Report.Warnings) != 0 {
		t.Errorf("%d tables, profiled %v, warnings %v", result.Tables, sortedKeys(profile.Columns), result.Report.Warnings)
	}
}
