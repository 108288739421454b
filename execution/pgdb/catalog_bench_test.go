package pgdb_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// BenchmarkCatalog loads the objects of databases with many relations of 20
// columns. Every fifth relation is a view. It loads them the first time, and
// again when nothing has changed. It reports the memory that the objects keep.
func BenchmarkCatalog(b *testing.B) {
	for _, relations := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("relations=%d", relations), func(b *testing.B) {
			url := manyRelations(b, relations)
			b.Run("first", func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					c := open(b, url, pgdb.Config{Objects: true})
					c.Get(b, "SELECT 1", execution.Limits{})
					var before, after runtime.MemStats
					runtime.GC()
					runtime.ReadMemStats(&before)
					b.StartTimer()
					catalog, err := c.Catalog(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					runtime.GC()
					runtime.ReadMemStats(&after)
					if got := len(catalog.Objects.Relations); got != relations {
						b.Fatalf("%d relations, want %d", got, relations)
					}
					b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB-kept")
					b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/(1<<20), "MiB-allocated")
					b.StartTimer()
				}
			})
			b.Run("again", func(b *testing.B) {
				c := open(b, url, pgdb.Config{Objects: true})
				for b.Loop() {
					if _, err := c.Catalog(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("guard", func(b *testing.B) {
				catalog, err := open(b, url, pgdb.Config{Objects: true}).Catalog(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := sqlguard.New(postgres.Dialect{}, sqlguard.DefaultPolicy(), catalog); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// manyRelations makes a database of n relations and returns its URL.
func manyRelations(tb testing.TB, n int) string {
	tb.Helper()
	server := testdb.Postgres(tb)
	url := server.NewDatabase(tb)
	columns := make([]string, 20)
	for i := range columns {
		columns[i] = fmt.Sprintf("column_%d %s", i, []string{"bigint", "text", "timestamptz", "numeric(12,2)", "boolean"}[i%5])
	}
	table := "(" + strings.Join(columns, ", ") + ")"
	for from := 0; from < n; from += 500 {
		var sql strings.Builder
		for i := from; i < min(n, from+500); i++ {
			if i%5 == 4 {
				fmt.Fprintf(&sql, "CREATE VIEW relation_%d AS SELECT * FROM relation_%d WHERE column_0 > %d;", i, i-1, i)
			} else {
				fmt.Fprintf(&sql, "CREATE TABLE relation_%d %s;", i, table)
			}
		}
		server.Exec(tb, url, sql.String())
	}
	return url
}
