package mysqldb_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// deafText is a statement of one call that the server does not interrupt. It runs
// for a few seconds, and for scale times as long.
func deafText(scale int) string {
	return fmt.Sprintf("SELECT locate(concat(repeat('a', 40000), 'b'), repeat('a', %d))", 40_000+80_000*scale)
}

// A server that does not end a statement keeps its thread. So the connection
// keeps its place in the pool, and the caller is told that the end is not
// confirmed.
func TestStatementsThatDoNotEndKeepTheirPlaces(t *testing.T) {
	server := testdb.MariaDB(t)
	url := server.NewDatabase(t)
	const most = 2
	c := open(t, url, mysqldb.Config{MaxConnections: most})
	watch := server.DB(t, url)
	watch.SetMaxOpenConns(1)
	var database string
	if err := watch.QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&database); err != nil {
		t.Fatal(err)
	}
	seen := 0
	var watcher sync.WaitGroup
	stop := make(chan struct{})
	watcher.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				var n int
				if err := watch.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.processlist WHERE db = ? AND id <> CONNECTION_ID()", database).Scan(&n); err != nil {
					t.Error(err)
					return
				}
				seen = max(seen, n)
			}
		}
	})

	executiontest.Scaled(t, func(scale int) bool {
		held, began := executiontest.Hold(t, c.Client, most, deafText(scale), time.Duration(scale)*500*time.Millisecond)
		_, err := c.Try(t.Context(), t, "SELECT 1", execution.Limits{Timeout: 200 * time.Millisecond})
		e, _ := errors.AsType[*execution.Error](err)
		busy := execution.CodeOf(err) == sqlguard.CodeBusy
		if began && busy && !strings.Contains(e.Message, "all 2 connections to the server are held") {
			t.Errorf("%v beside statements that do not end", err)
		}
		executiontest.Over(t, held)
		executiontest.Eventually(t, "there is room again", func() bool {
			_, err := c.Try(t.Context(), t, "SELECT 1", execution.Limits{})
			return err == nil
		})
		return began && busy
	})
	close(stop)
	watcher.Wait()
	if seen > most+1 {
		t.Errorf("the server saw %d connections, want at most %d", seen, most+1)
	}
}
