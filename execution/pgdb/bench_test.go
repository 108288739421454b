package pgdb_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
)

var benchmarkTexts = []struct{ name, sql string }{
	{"one", "SELECT 1"},
	{"aggregate", "SELECT count(*), sum(n), avg(n) FROM numbers WHERE n % 7 = 3"},
	{"rows", "SELECT n, n * 2 AS m, 'row ' || n AS name, n / 3.0 AS part, now() AS at, n % 2 = 0 AS even FROM numbers WHERE n <= 1000"},
}

const benchmarkTable = "CREATE TABLE numbers AS SELECT n FROM generate_series(1, 8000) AS n; ANALYZE numbers"

// BenchmarkRatio compares the median time of a statement through the backend
// with that of the same statement through pgx with its cached statement. It
// reports the ratio. The two take turns, each on its own connection.
func BenchmarkRatio(b *testing.B) {
	url := testdb.Postgres(b).NewDatabase(b, benchmarkTable)
	plain, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer plain.Close(b.Context()) //nolint:errcheck // the connection has only read
	c := open(b, url, pgdb.Config{})
	for _, q := range benchmarkTexts {
		approved, _ := executiontest.Approve(b, "postgres", q.sql)
		b.Run(q.name, func(b *testing.B) {
			var direct, through []time.Duration
			for b.Loop() {
				start := time.Now()
				rows, err := plain.Query(b.Context(), q.sql)
				if err != nil {
					b.Fatal(err)
				}
				for rows.Next() {
					if _, err := rows.Values(); err != nil {
						b.Fatal(err)
					}
				}
				if rows.Err() != nil {
					b.Fatal(rows.Err())
				}
				direct = append(direct, time.Since(start))
				start = time.Now()
				if _, err := c.Query(b.Context(), approved, execution.Limits{}); err != nil {
					b.Fatal(err)
				}
				through = append(through, time.Since(start))
			}
			d, t := median(direct), median(through)
			b.ReportMetric(float64(d.Nanoseconds()), "pgx-ns")
			b.ReportMetric(float64(t.Nanoseconds()), "pgdb-ns")
			b.ReportMetric(float64(t)/float64(d), "ratio")
		})
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
