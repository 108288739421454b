package mysqldb_test

import (
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/mysqldb"
)

// client is a backend and a way to send it statements without the guard.
type client struct {
	*mysqldb.DB
	*executiontest.Client
}

// open opens a backend with cfg. It sets cfg.URL to url.
func open(tb testing.TB, url string, cfg mysqldb.Config) *client {
	tb.Helper()
	cfg.URL = execution.NewSecret(url)
	g := executiontest.Guard(tb, "mysql", 0)
	db, err := mysqldb.Open(tb.Context(), cfg, g.ID())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &client{db, executiontest.NewClient(db, g)}
}
