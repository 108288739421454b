package sqlitedb_test

import (
	"database/sql"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

var benchmarkTexts = []struct{ name, sql string }{
	{"one", "SELECT 1"},
	{"aggregate", "SELECT count(*), sum(n), avg(n) FROM numbers WHERE n % 7 = 3"},
	{"rows", "SELECT n, n * 2 AS m, 'row ' || n AS name, n / 3.0 AS part, '2024-02-29' AS at, n % 2 = 0 AS even FROM numbers WHERE n <= 1000"},
	{"wide", "SELECT n, printf('%02000d', n) AS text FROM numbers WHERE n <= 1000"},
}

const benchmarkTable = "CREATE TABLE numbers (n INTEGER PRIMARY KEY, x); INSERT INTO numbers SELECT value, hex(value) FROM generate_series(1, 8000)"

// BenchmarkRatio measures a statement through the backend, through the driver's
// own interface, and through database/sql. It reports the median time of the
// first as a multiple of each of the others. The three take turns, each on its
// own connection. Every value is copied into Go's memory.
func BenchmarkRatio(b *testing.B) {
	path := testdb.SQLiteFile(b, benchmarkTable)
	c := open(b, path, 1)
	conn, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READONLY)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the connection has only read
	db, err := driver.Open("file:" + path + "?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // the connection has only read
	for _, q := range benchmarkTexts {
		approved, _ := executiontest.Approve(b, "sqlite", q.sql)
		b.Run(q.name, func(b *testing.B) {
			var direct, standard, through []time.Duration
			for b.Loop() {
				start := time.Now()
				readConn(b, conn, q.sql)
				direct = append(direct, time.Since(start))
				start = time.Now()
				readDB(b, db, q.sql)
				standard = append(standard, time.Since(start))
				start = time.Now()
				if _, err := c.Query(b.Context(), approved, execution.Limits{}); err != nil {
					b.Fatal(err)
				}
				through = append(through, time.Since(start))
			}
			d, s, t := median(direct), median(standard), median(through)
			b.ReportMetric(float64(d.Nanoseconds()), "driver-ns")
			b.ReportMetric(float64(s.Nanoseconds()), "sql-ns")
			b.ReportMetric(float64(t.Nanoseconds()), "sqlitedb-ns")
			b.ReportMetric(float64(t)/float64(d), "ratio")
			b.ReportMetric(float64(t)/float64(s), "ratio-sql")
		})
	}
}

// readConn reads every value through the driver's own interface.
func readConn(b *testing.B, conn *sqlite3.Conn, text string) {
	b.Helper()
	stmt, _, err := conn.Prepare(text)
	if err != nil {
		b.Fatal(err)
	}
	var rows [][]any
	for stmt.Step() {
		row := make([]any, stmt.ColumnCount())
		if err := stmt.Columns(row...); err != nil {
			b.Fatal(err)
		}
		rows = append(rows, row)
	}
	if err := stmt.Close(); err != nil || len(rows) == 0 {
		b.Fatalf("%d rows, error %v", len(rows), err)
	}
}

// readDB reads every value through database/sql.
func readDB(b *testing.B, db *sql.DB, text string) {
	b.Helper()
	rows, err := db.QueryContext(b.Context(), text)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below reports the error of Close
	names, err := rows.Columns()
	if err != nil {
		b.Fatal(err)
	}
	var all [][]any
	for rows.Next() {
		row, into := make([]any, len(names)), make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			b.Fatal(err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil || len(all) == 0 {
		b.Fatalf("%d rows, error %v", len(all), err)
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// BenchmarkQuery measures the time and the allocations of one client.
func BenchmarkQuery(b *testing.B) {
	c := open(b, testdb.SQLiteFile(b, benchmarkTable), 1)
	for _, q := range benchmarkTexts {
		approved, _ := executiontest.Approve(b, "sqlite", q.sql)
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Query(b.Context(), approved, execution.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkClients measures statements by 16 clients on 4 connections.
func BenchmarkClients(b *testing.B) {
	c := open(b, testdb.SQLiteFile(b, benchmarkTable), 4)
	for _, q := range benchmarkTexts {
		approved, _ := executiontest.Approve(b, "sqlite", q.sql)
		b.Run(q.name, func(b *testing.B) {
			work := make(chan struct{})
			var clients sync.WaitGroup
			for range 16 {
				clients.Go(func() {
					for range work {
						if _, err := c.Query(b.Context(), approved, execution.Limits{}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			for b.Loop() {
				work <- struct{}{}
			}
			close(work)
			clients.Wait()
		})
	}
}

// BenchmarkOpen measures a connection with its pins.
func BenchmarkOpen(b *testing.B) {
	path := testdb.SQLiteFile(b, benchmarkTable)
	for b.Loop() {
		db, err := tryOpen(b, path)
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
