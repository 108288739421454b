//go:build linux && cgo && duckdb && (amd64 || arm64)

package faults_test

import (
	"context"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/execution/executiontest/duckfile"
	"github.com/ktxhq/ktx/sqlguard"
)

func init() { //nolint:gochecknoinits // only builds with DuckDB have this file
	unendingOnDuckDB[0].run = func(s *stand) string {
		path := duckfile.New(s, "CREATE TABLE t AS SELECT i AS x FROM range(1000) r(i)")
		s.openConnection(execution.Connection{
			ID: connectionID, Engine: "DUCKDB", Dialect: duckdb.Dialect{}, Policy: sqlguard.Policy{MaxConstant: longConstants}, Concurrency: 2,
			Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
				return duckdbdb.Open(ctx, duckdbdb.Config{Path: path, MaxConnections: 2, Session: duckdb.Dialect{}.Session(), Reserved: duckdb.Reserved}, guard)
			},
		}, settings{beside: true})
		return s.unending("SELECT max(length(repeat('x' || a.x, 9000000))) FROM t a, t b", 0, nil)
	}
}
