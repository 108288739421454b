package sqlitedb_test

import (
	"context"
	"flag"
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/sqlguard"
)

var update = flag.Bool("update", false, "rewrite the part of SQLite in docs/second-control.md")

func TestBackend(t *testing.T) {
	target := executiontest.SQLite(func(ctx context.Context, address string, connections int, guard sqlguard.ID) (execution.Backend, error) {
		return sqlitedb.Open(ctx, sqlitedb.Config{Path: address, MaxConnections: connections}, guard)
	})
	target.Reader = sqlite.Dialect{}
	target.Update = *update
	executiontest.RunBackend(t, target)
}
