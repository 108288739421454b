//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package semantictest_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/execution/executiontest/duckfile"
	"github.com/ktxhq/ktx/sqlguard"
)

func init() { //nolint:gochecknoinits // only builds with DuckDB have this file
	onDuckDB = func(t *testing.T, guard sqlguard.ID, ddl []string) (execution.Backend, error) {
		t.Helper()
		return duckdbdb.Open(t.Context(), duckdbdb.Config{Path: duckfile.New(t, ddl...), Session: duckdb.Dialect{}.Session(), Reserved: duckdb.Reserved}, guard)
	}
}
