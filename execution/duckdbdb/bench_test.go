//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package duckdbdb_test

import (
	"context"
	"testing"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/duckfile"
	"github.com/ktxhq/ktx/sqlguard"
)

// BenchmarkLatency measures a statement through the whole gateway beside the engine's own
// interface in this process, which leaves the rows in the engine's form. Both ask the same
// file.
func BenchmarkLatency(b *testing.B) {
	path := duckfile.New(b, "CREATE TABLE many AS SELECT i AS n FROM range(1, 100001) r(i)")
	open := func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
		return duckdbdb.Open(ctx, duckdbdb.Config{Path: path, MaxConnections: 1, Session: duckdb.Dialect{}.Session(), Reserved: duckdb.Reserved}, guard)
	}
	executiontest.Beside(b, duckdb.Dialect{}, open, []executiontest.BesideText{
		{Name: "one", SQL: "SELECT 1"},
		{Name: "aggregate", SQL: "SELECT count(*), sum(n), avg(n) FROM many WHERE n % 7 = 3"},
		{Name: "rows", SQL: "SELECT n, n * 2 AS m, 'row ' || n AS name, n / 3.0 AS part, TIMESTAMP '2024-02-29 12:00:00' AS at, n % 2 = 0 AS even FROM many WHERE n <= 1000"},
	}, duckfile.Reader(b, path))
}
