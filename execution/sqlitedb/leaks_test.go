package sqlitedb_test

import (
	"context"
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestRulesDoNotLeak(t *testing.T) {
	executiontest.Leaks(t, "sqlite", func(t *testing.T, setup []string, deny func(string) sqlguard.Policy) *execution.Gateway {
		t.Helper()
		path, policy := testdb.SQLiteFile(t, setup...), deny("")
		g, err := execution.NewGateway(t.Context(), &audittest.Log{}, execution.Connection{
			ID: "leaks", Engine: "SQLITE", Dialect: sqlite.Dialect{}, Policy: policy,
			Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
				return sqlitedb.Open(ctx, sqlitedb.Config{Path: path, Session: sqlite.Dialect{}.Session(), Access: sqlguard.ReadRulesOf(sqlite.Dialect{}, policy)}, guard)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = g.Close(context.Background()) })
		return g
	})
}
