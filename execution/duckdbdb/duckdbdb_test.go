//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package duckdbdb_test

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb"
	"github.com/ktxhq/ktx/execution/duckdbdb/engine"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/duckfile"
	"github.com/ktxhq/ktx/sqlguard"
)

var update = flag.Bool("update", false, "rewrite the part of DuckDB in docs/evidence/second-control.md")

// TestMain lets the test's own program be the process that runs the engine.
func TestMain(m *testing.M) {
	if engine.Asked(os.Args[1:]) {
		os.Exit(engine.Run(os.Stdin, os.Stdout))
	}
	if harm := hostile[os.Args[len(os.Args)-1]]; harm != nil {
		beHostile(harm)
		return
	}
	os.Exit(m.Run())
}

func openBackend(ctx context.Context, address string, connections int, guard sqlguard.ID) (execution.Backend, error) {
	db, err := duckdbdb.Open(ctx, duckdbdb.Config{Path: address, MaxConnections: connections, Session: duckdb.Dialect{}.Session()}, guard)
	if err != nil {
		return nil, err
	}
	return db, nil
}

func TestBackend(t *testing.T) {
	target := executiontest.DuckDB(openBackend, executiontest.DuckDBFile{New: duckfile.New, Rows: duckfile.Lines})
	target.Reader = duckdb.Dialect{}
	target.Update = *update
	executiontest.RunBackend(t, target)
}
