//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package duckdbdb_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/execution/executiontest/duckfile"
	"github.com/ktxhq/ktx/sqlguard"
)

var benchmarkTexts = []struct{ name, sql string }{
	{"one", "SELECT 1"},
	{"aggregate", "SELECT count(*), sum(n), avg(n) FROM many WHERE n % 7 = 3"},
	{"rows", "SELECT n, n * 2 AS m, 'row ' || n AS name, n / 3.0 AS part, TIMESTAMP '2024-02-29 12:00:00' AS at, n % 2 = 0 AS even FROM many WHERE n <= 1000"},
}

// BenchmarkLatency measures a statement through the whole gateway, and through the engine's
// own interface in this process, which leaves the rows in the engine's form. It reports the
// first in times of the second. Both ask the same file in turn.
func BenchmarkLatency(b *testing.B) {
	path := duckfile.New(b, "CREATE TABLE many AS SELECT i AS n FROM range(1, 100001) r(i)")
	bare := duckfile.Reader(b, path)
	log, err := audit.Open(filepath.Join(b.TempDir(), "audit"), audit.Config{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	g, err := execution.NewGateway(b.Context(), log, execution.Connection{
		ID: "warehouse", Dialect: duckdb.Dialect{}, Policy: sqlguard.DefaultPolicy(),
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return duckdbdb.Open(ctx, duckdbdb.Config{Path: path, MaxConnections: 1, Session: duckdb.Dialect{}.Session(), Reserved: duckdb.Reserved}, guard)
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := errors.Join(g.Close(context.Background()), log.Close()); err != nil {
			b.Error(err)
		}
	})
	for _, q := range benchmarkTexts {
		b.Run(q.name, func(b *testing.B) {
			var through, alone []time.Duration
			ask := func() int {
				res, err := g.Query(b.Context(), execution.Request{ConnectionID: "warehouse", SQL: q.sql})
				if err != nil {
					b.Fatal(err)
				}
				return len(res.Rows)
			}
			if rows := bare(q.sql); rows != ask() {
				b.Fatalf("%d rows without the gateway", rows)
			}
			for b.Loop() {
				start := time.Now()
				bare(q.sql)
				alone = append(alone, time.Since(start))
				start = time.Now()
				ask()
				through = append(through, time.Since(start))
			}
			slices.Sort(through)
			slices.Sort(alone)
			for name, at := range map[string]int{"p50": 50, "p99": 99} {
				b.ReportMetric(float64(through[len(through)*at/100])/float64(alone[len(alone)*at/100]), name)
			}
			b.ReportMetric(float64(alone[len(alone)/2].Nanoseconds()), "alone-ns-p50")
			b.ReportMetric(0, "ns/op")
		})
	}
}
