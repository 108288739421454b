package clickhousedb_test

import (
	"context"
	"flag"
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/clickhousedb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/chengine"
	"github.com/ktxhq/ktx/execution/executiontest/chserver"
	"github.com/ktxhq/ktx/sqlguard"
)

var update = flag.Bool("update", false, "rewrite the part of docs/evidence/second-control.md")

func openBackend(ctx context.Context, address string, connections int, guard sqlguard.ID) (execution.Backend, error) {
	return clickhousedb.Open(ctx, clickhousedb.Config{URL: execution.NewSecret(address), MaxConnections: connections}, guard)
}

func TestBackend(t *testing.T) {
	executiontest.RunBackend(t, executiontest.ClickHouse(openBackend, chserver.Config{}))
}

// TestBackendOnAnOldServer runs the suite against a server whose errors look as they did
// before 2023, and which knows fewer settings.
func TestBackendOnAnOldServer(t *testing.T) {
	executiontest.RunBackend(t, executiontest.ClickHouse(openBackend, chserver.Config{Old: true}))
}

// TestBackendOnTheEngine runs the suite against ClickHouse itself.
func TestBackendOnTheEngine(t *testing.T) {
	chengine.Need(t)
	target := executiontest.RealClickHouse(openBackend)
	target.Reader, target.Update = clickhouse.Dialect{}, *update
	executiontest.RunBackend(t, target)
}
