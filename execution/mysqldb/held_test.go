package mysqldb_test

import (
	"errors"
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
// for a few seconds.
const deafText = "SELECT locate(concat(repeat('a', 40000), 'b'), repeat('a', 120000))"

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
	var watcher, calls sync.WaitGroup
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

	held := make(chan *execution.Held, most)
	for range most {
		calls.Go(func() {
			e := c.Fails(t, deafText, execution.Limits{Timeout: 500 * time.Millisecond}) // enough to connect
			if e.Code != sqlguard.CodeTimeout || e.Held == nil || !strings.Contains(e.Message, "not confirmed") || e.Elapsed < 500*time.Millisecond {
				t.Errorf("%+v, want a time limit whose end is not confirmed", e)
				return
			}
			held <- e.Held
		})
	}
	calls.Wait()
	close(held)
	if !t.Failed() {
		_, err := c.Try(t.Context(), t, "SELECT 1", execution.Limits{Timeout: 200 * time.Millisecond})
		if e, ok := errors.AsType[*execution.Error](err); !ok || e.Code != sqlguard.CodeBusy || !strings.Contains(e.Message, "all 2 connections to the server are held") {
			t.Errorf("%v beside statements that do not end, want busy", err)
		}
	}
	for h := range held {
		select {
		case <-h.Over():
			if !h.Confirmed() {
				t.Error("the end of the statement was not confirmed")
			}
		case <-time.After(time.Minute):
			t.Fatal("the statement is held for a minute")
		}
	}
	executiontest.Eventually(t, "there is room again", func() bool {
		_, err := c.Try(t.Context(), t, "SELECT 1", execution.Limits{})
		return err == nil
	})
	close(stop)
	watcher.Wait()
	if seen > most+1 {
		t.Errorf("the server saw %d connections, want at most %d", seen, most+1)
	}
}
