package pgdb_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// deafText is a statement of one call that the server does not interrupt. It runs
// for a few seconds.
const deafText = "SELECT length(translate(repeat('b', 35000), repeat('a', 35000), ''))"

// A server that does not end a statement keeps its process. So the connection
// keeps its place in the pool, and the caller is told that the end is not
// confirmed.
func TestStatementsThatDoNotEndKeepTheirPlaces(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t)
	const most = 2
	watching := url + "?application_name=watcher"
	if strings.Contains(url, "?") {
		watching = url + "&application_name=watcher"
	}
	c := open(t, url, pgdb.Config{MaxConnections: most})
	const count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name <> 'watcher' AND backend_type = 'client backend'"
	var seen atomic.Int64
	var watcher, calls sync.WaitGroup
	stop := make(chan struct{})
	watcher.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				seen.Store(max(seen.Load(), int64(query[int](t, watching, count))))
			}
		}
	})
	defer watcher.Wait()
	defer close(stop)

	held := make(chan *execution.Held, most)
	for range most {
		calls.Go(func() {
			_, err := c.Try(t.Context(), t, deafText, execution.Limits{Timeout: 500 * time.Millisecond}) // enough to connect
			e := asError(t, err)
			if e.Code != sqlguard.CodeTimeout || e.Held == nil || !strings.Contains(e.Message, "not confirmed") || e.Elapsed < 500*time.Millisecond {
				t.Errorf("%+v, want a time limit whose end is not confirmed", e)
				return
			}
			held <- e.Held
		})
	}
	calls.Wait()
	close(held)
	if t.Failed() {
		return
	}
	first := asError(t, fails(t, c))
	if first.Code != sqlguard.CodeBusy || !strings.Contains(first.Message, "all 2 connections to the server are held") {
		t.Errorf("%v beside statements that do not end, want busy", first)
	}
	time.Sleep(1500 * time.Millisecond)
	if later := asError(t, fails(t, c)); later.Code == sqlguard.CodeBusy && later.RetryAfter <= first.RetryAfter {
		t.Errorf("retry after %v, and %v later; want it to grow", first.RetryAfter, later.RetryAfter)
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
	if n := seen.Load(); n > most+1 {
		t.Errorf("the server saw %d connections, want at most %d", n, most+1)
	}
}

// A connection that breaks by itself leaves its statement at the server. It keeps its
// place until the server says that the statement is over.
func TestBrokenConnectionKeepsItsPlace(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t)
	p := newProxy(t, server.Addr())
	c := open(t, p.through(t, url), pgdb.Config{MaxConnections: 1})
	const running = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%translate%' AND pid <> pg_backend_pid() AND state = 'active'"
	failed := make(chan error, 1)
	go func() {
		_, err := c.Try(t.Context(), t, deafText, execution.Limits{Timeout: time.Minute})
		failed <- err
	}()
	executiontest.Eventually(t, "the statement runs", func() bool { return query[int](t, url, running) == 1 })
	p.cut()
	e := asError(t, <-failed)
	if e.Code != sqlguard.CodeConnectionLost || e.Held == nil {
		t.Fatalf("%+v, want a lost connection whose statement is held", e)
	}
	<-e.Held.Over()
	if n := query[int](t, url, running); n != 0 || !e.Held.Confirmed() {
		t.Errorf("%d statements run when the place is free; confirmed %t", n, e.Held.Confirmed())
	}
	if got := c.One(t, "SELECT 1"); got != "1" {
		t.Errorf("got %s", got)
	}
}

func asError(t *testing.T, err error) *execution.Error {
	t.Helper()
	e, ok := errors.AsType[*execution.Error](err)
	if !ok {
		t.Fatalf("error %v, want an *execution.Error", err)
	}
	return e
}

// fails sends a statement that finds no connection.
func fails(t *testing.T, c *client) error {
	t.Helper()
	_, err := c.Try(t.Context(), t, "SELECT 1", execution.Limits{Timeout: 200 * time.Millisecond})
	return err
}

// The name of a type that was renamed, and settings of the role that would change
// answers or stop connecting.
func TestNamesFollowTheServer(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t, "CREATE TYPE mood AS ENUM ('good')", `CREATE TABLE "order" (a int)`,
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET quote_all_identifiers = on', current_database()); END $$")
	c := open(t, url, pgdb.Config{MaxConnections: 1})
	if got := c.One(t, "SELECT 'pg_class'::regclass"); got != "pg_class" {
		t.Errorf("got %s under quote_all_identifiers", got)
	}
	typed := func() string { return c.Get(t, "SELECT 'good'::mood", execution.Limits{}).Columns[0].Type }
	if got := typed(); got != "mood" {
		t.Errorf("type %s, want mood", got)
	}
	if e := c.Fails(t, "SELECT missing FROM pg_class", execution.Limits{}); e.Retryable {
		t.Error("a missing column is retryable")
	}
}
