package bigquerydb_test

import (
	"context"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/sqlguard"
)

func openBackend(_ context.Context, address string, connections int, guard sqlguard.ID) (execution.Backend, error) {
	return bigquerydb.Open(context.Background(), bigquerydb.Config{URL: execution.NewSecret(address), MaxConnections: connections}, guard)
}

func TestBackend(t *testing.T) {
	executiontest.RunBackend(t, executiontest.BigQuery(openBackend))
}
