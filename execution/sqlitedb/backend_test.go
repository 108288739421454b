package sqlitedb_test

import (
	"context"
	"errors"
	"flag"
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/sqlguard"
)

var update = flag.Bool("update", false, "rewrite the part of SQLite in docs/evidence/second-control.md")

func openBackend(ctx context.Context, address string, connections int, guard sqlguard.ID) (execution.Backend, error) {
	return sqlitedb.Open(ctx, sqlitedb.Config{Path: address, MaxConnections: connections}, guard)
}

func TestBackend(t *testing.T) {
	target := executiontest.SQLite(openBackend)
	target.Reader = sqlite.Dialect{}
	target.Update = *update
	executiontest.RunBackend(t, target)
}

// client is a database with what sends it statements past the guard.
type client struct {
	*sqlitedb.DB
	*executiontest.Client
}

func open(tb testing.TB, path string, connections int) *client {
	tb.Helper()
	g := executiontest.Guard(tb, "sqlite", 0)
	db, err := sqlitedb.Open(tb.Context(), sqlitedb.Config{Path: path, MaxConnections: connections}, g.ID())
	if err != nil {
		tb.Fatalf("open %s: %v", path, err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return &client{db, executiontest.NewClient(db, g)}
}

// rows returns the texts of all values.
func (c *client) rows(tb testing.TB, sql string) [][]string {
	tb.Helper()
	res, err := c.Try(tb.Context(), tb, sql, execution.Limits{})
	if err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
	rows := make([][]string, len(res.Rows))
	for i, row := range res.Rows {
		for _, v := range row {
			rows[i] = append(rows[i], v.Text)
		}
	}
	return rows
}

// fails returns the error of a statement that must not run.
func (c *client) fails(tb testing.TB, sql string) *execution.Error {
	tb.Helper()
	res, err := c.Try(tb.Context(), tb, sql, execution.Limits{})
	if err == nil {
		tb.Fatalf("%s: ran and returned %v", sql, res.Rows)
	}
	return typed(tb, err)
}

func typed(tb testing.TB, err error) *execution.Error {
	tb.Helper()
	e, ok := errors.AsType[*execution.Error](err)
	if !ok {
		tb.Fatalf("error %v (%T), want an *execution.Error", err, err)
	}
	return e
}
