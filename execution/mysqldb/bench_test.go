package mysqldb_test

import (
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
)

var benchmarkTexts = []struct{ name, sql string }{
	{"one", "SELECT 1"},
	{"aggregate", "SELECT COUNT(*), SUM(n), AVG(n) FROM numbers WHERE n % 7 = 3"},
	{"rows", "SELECT n, n * 2 AS m, CONCAT('row ', n) AS name, n / 3.0 AS part, NOW() AS at, n % 2 = 0 AS even FROM numbers WHERE n <= 1000"},
}

// BenchmarkRatio measures a statement through the backend and the same
// statement through the driver alone. It reports the median time of the first
// as a multiple of the second. The driver runs the statement in the text
// protocol and outside of a transaction. The two take turns, each on its own
// connection.
func BenchmarkRatio(b *testing.B) {
	server := testdb.MariaDB(b)
	url := server.NewDatabase(b, "CREATE TABLE numbers (n int PRIMARY KEY)",
		"INSERT INTO numbers SELECT t0.n + 10 * (t1.n - 1) + 100 * (t2.n - 1) + 1000 * (t3.n - 1) FROM "+crossed(4))
	plain, err := server.DB(b, url).Conn(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer plain.Close() //nolint:errcheck // the connection has only read
	c := open(b, url, mysqldb.Config{})
	for _, q := range benchmarkTexts {
		approved, _ := executiontest.Approve(b, "mysql", q.sql)
		b.Run(q.name, func(b *testing.B) {
			var direct, through []time.Duration
			for b.Loop() {
				start := time.Now()
				readAll(b, plain, q.sql)
				direct = append(direct, time.Since(start))
				start = time.Now()
				if _, err := c.Query(b.Context(), approved, execution.Limits{}); err != nil {
					b.Fatal(err)
				}
				through = append(through, time.Since(start))
			}
			d, t := median(direct), median(through)
			b.ReportMetric(float64(d.Nanoseconds()), "driver-ns")
			b.ReportMetric(float64(t.Nanoseconds()), "mysqldb-ns")
			b.ReportMetric(float64(t)/float64(d), "ratio")
		})
	}
}

func readAll(b *testing.B, conn *sql.Conn, text string) {
	b.Helper()
	rows, err := conn.QueryContext(b.Context(), text)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below reports the error of Close
	columns, err := rows.Columns()
	if err != nil {
		b.Fatal(err)
	}
	values := make([]sql.RawBytes, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
