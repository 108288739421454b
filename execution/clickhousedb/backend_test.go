package clickhousedb_test

import (
	"context"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/clickhousedb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/chserver"
	"github.com/ktxhq/ktx/sqlguard"
)

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
