package pgdb_test

import (
	"errors"
	"fmt"
	"math"
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
// for a few seconds, and for scale times as long.
func deafText(scale int) string {
	n := int(35_000 * math.Sqrt(float64(scale)))
	return fmt.Sprintf("SELECT length(translate(repeat('b', %d), repeat('a', %[1]d), ''))", n)
}

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
	var watcher sync.WaitGroup
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

	executiontest.Scaled(t, func(scale int) bool {
		held, began := executiontest.Hold(t, c.Client, most, deafText(scale), time.Duration(scale)*500*time.Millisecond)
		first, busy := refused(t, c)
		if began && busy {
			if !strings.Contains(first.Message, "all 2 connections to the server are held") {
				t.Errorf("%v beside statements that do not end", first)
			}
			time.Sleep(1500 * time.Millisecond)
			if later, busy := refused(t, c); busy && later.RetryAfter <= first.RetryAfter {
				t.Errorf("retry after %v, and %v later; want it to grow", first.RetryAfter, later.RetryAfter)
			}
		}
		executiontest.Over(t, held)
		executiontest.Eventually(t, "there is room again", func() bool {
			_, err := c.Try(t.Context(), t, "SELECT 1", execution.Limits{})
			return err == nil
		})
		return began && busy
	})
	if n := seen.Load(); n > most+1 {
		t.Errorf("the server saw %d connections, want at most %d", n, most+1)
	}
}

// refused sends a statement, and reports whether it is refused for want of a connection.
func refused(t *testing.T, c *client) (*execution.Error, bool) {
	t.Helper()
	_, err := c.Try(t.Context(), t, "SELECT 1", execution.Limits{Timeout: 200 * time.Millisecond})
	e, _ := errors.AsType[*execution.Error](err)
	return e, execution.CodeOf(err) == sqlguard.CodeBusy
}

// A connection that breaks by itself leaves its statement at the server. It keeps its
// place until the server says that the statement is over.
func TestBrokenConnectionKeepsItsPlace(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t)
	p := newProxy(t, server.Addr())
	c := open(t, p.through(t, url), pgdb.Config{MaxConnections: 1})
	const running = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%translate%' AND pid <> pg_backend_pid() AND state = 'active'"
	executiontest.Scaled(t, func(scale int) bool {
		failed := make(chan error, 1)
		go func() {
			_, err := c.Try(t.Context(), t, deafText(scale), execution.Limits{Timeout: time.Hour})
			failed <- err
		}()
		executiontest.Eventually(t, "the statement runs, or has ended already", func() bool { return query[int](t, url, running) == 1 || len(failed) == 1 })
		p.cut()
		err := <-failed
		if err == nil {
			return false
		}
		e := asError(t, err)
		if e.Code != sqlguard.CodeConnectionLost || e.Held == nil {
			t.Fatalf("%+v, want a lost connection whose statement is held", e)
		}
		<-e.Held.Over()
		if n := query[int](t, url, running); n != 0 || !e.Held.Confirmed() {
			t.Errorf("%d statements run when the place is free; confirmed %t", n, e.Held.Confirmed())
		}
		return true
	})
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
