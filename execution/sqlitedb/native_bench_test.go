//go:build csqlite && cgo && (linux || darwin)

package sqlitedb_test

import (
	"database/sql"
	"testing"
	"time"

	native "github.com/mattn/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

const ordersTable = `CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, amount REAL, status TEXT, at TEXT);
	INSERT INTO orders SELECT value, value % 5000, value * 7919 % 100000 / 100.0, substr('new paidsentdone', value % 4 * 4 + 1, 4), date('2024-01-01', value % 366 || ' days') FROM generate_series(1, 200000)`

var aggregates = []struct{ name, sql string }{
	{"filter", "SELECT count(*), sum(amount), avg(amount) FROM orders WHERE id % 7 = 3"},
	{"few-groups", "SELECT status, count(*), sum(amount) FROM orders GROUP BY status"},
	{"many-groups", "SELECT customer, sum(amount) AS s FROM orders GROUP BY customer ORDER BY s DESC LIMIT 5"},
	{"distinct", "SELECT substr(at, 1, 7) AS month, count(DISTINCT customer) FROM orders GROUP BY month"},
}

// BenchmarkNative measures aggregates through the backend with the C library. It reports
// their median time as a multiple of that of the C library alone, and that of the library
// in Go as such a multiple. The three take turns.
func BenchmarkNative(b *testing.B) {
	sql.Register("native", &native.SQLiteDriver{})
	path := testdb.SQLiteFile(b, ordersTable)
	c := open(b, path, 1)
	alone, err := sql.Open("native", "file:"+path+"?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	defer alone.Close() //nolint:errcheck // the connection has only read
	inGo, err := driver.Open("file:" + path + "?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	defer inGo.Close() //nolint:errcheck // the connection has only read
	for _, db := range []*sql.DB{alone, inGo} {
		db.SetMaxOpenConns(1)
		if _, err := db.ExecContext(b.Context(), "PRAGMA cache_size = -16384"); err != nil {
			b.Fatal(err)
		}
	}
	for _, q := range aggregates {
		approved, _ := executiontest.Approve(b, "sqlite", q.sql)
		b.Run(q.name, func(b *testing.B) {
			var through, direct, other []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := c.Query(b.Context(), approved, execution.Limits{}); err != nil {
					b.Fatal(err)
				}
				through = append(through, time.Since(start))
				start = time.Now()
				readDB(b, alone, q.sql)
				direct = append(direct, time.Since(start))
				start = time.Now()
				readDB(b, inGo, q.sql)
				other = append(other, time.Since(start))
			}
			t, d, o := median(through), median(direct), median(other)
			b.ReportMetric(float64(d.Nanoseconds()), "native-ns")
			b.ReportMetric(float64(t)/float64(d), "ratio")
			b.ReportMetric(float64(o)/float64(d), "ratio-go")
		})
	}
}
