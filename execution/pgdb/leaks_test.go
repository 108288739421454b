package pgdb_test

import (
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestRulesDoNotLeak(t *testing.T) {
	server := testdb.Postgres(t)
	executiontest.Leaks(t, "postgres", func(t *testing.T, setup []string, deny func(string) sqlguard.Policy) *execution.Gateway {
		t.Helper()
		return openDoor(t, server.NewDatabase(t, setup...), func(c *execution.Connection) {
			c.ID, c.Policy = "leaks", deny("")
		}).Gateway
	})
}
