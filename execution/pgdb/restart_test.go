package pgdb_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestRestart(t *testing.T) {
	server := testdb.StartPostgres(t, testdb.Options{})
	url := server.NewDatabase(t)
	for _, mode := range []struct {
		name string
		mode testdb.StopMode
	}{{"fast", testdb.Fast}, {"immediate", testdb.Immediate}} {
		t.Run(mode.name, func(t *testing.T) {
			c := open(t, url, pgdb.Config{MaxConnections: 4})
			var users sync.WaitGroup
			errs := make(chan error, 2)
			c.connect(t, 4)
			for range 2 { // two statements that run, and two idle connections
				users.Go(func() {
					_, err := c.Try(t.Context(), t, "SELECT pg_sleep(300)", execution.Limits{})
					errs <- err
				})
			}
			executiontest.Eventually(t, "the statements run", func() bool { return query[int](t, url, running) == 2 })
			if err := server.Stop(t.Context(), mode.mode); err != nil {
				t.Fatal(err)
			}
			users.Wait()
			for range 2 {
				e, ok := errors.AsType[*execution.Error](<-errs)
				// A server that stops immediately may not send its last
				// message.
				silent := mode.mode == testdb.Immediate && ok && e.Code == sqlguard.CodeConnectionLost
				if !ok || e.Code != sqlguard.CodeServerRestarted && !silent || !e.Retryable {
					t.Errorf("during the stop: %v, want %s", e, sqlguard.CodeServerRestarted)
				}
			}
			if e := c.Fails(t, "SELECT 1", execution.Limits{}); e.Code != sqlguard.CodeConnectionLost || !e.Retryable || !strings.Contains(e.Message, "refuses connections") {
				t.Errorf("while it is down: %v, want %s", e, sqlguard.CodeConnectionLost)
			}
			if err := server.Restart(t.Context(), testdb.Fast); err != nil {
				t.Fatal(err)
			}
			for range 8 {
				users.Go(func() {
					if got := c.One(t, "SELECT 1"); got != "1" {
						t.Errorf("got %s", got)
					}
				})
			}
			users.Wait()
			if n := c.Open(); n > 4 {
				t.Errorf("%d connections, want at most 4", n)
			}
		})
	}
}

// TestIdleConnectionsEnd shows that when the server ends idle connections, no
// statement gets an error.
func TestIdleConnectionsEnd(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 3})
	for range 5 {
		c.connect(t, 3)
		query[bool](t, url, "SELECT bool_and(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'ktx' AND datname = current_database()")
		executiontest.Eventually(t, "the sessions are gone", func() bool { return query[int](t, url, sessions) == 0 })
		if got := c.One(t, "SELECT 1"); got != "1" {
			t.Errorf("got %s", got)
		}
	}
}

// TestTerminatedWhileRunning shows the error of a statement whose session an
// administrator ended, and that the statement is not tried again.
func TestTerminatedWhileRunning(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 1})
	done := make(chan error, 1)
	go func() {
		_, err := c.Try(t.Context(), t, "SELECT pg_sleep(302)", execution.Limits{})
		done <- err
	}()
	executiontest.Eventually(t, "the statement is found", func() bool {
		return query[bool](t, url, "SELECT coalesce(bool_or(pg_terminate_backend(pid)), false) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(302)' AND state = 'active'")
	})
	if e, ok := errors.AsType[*execution.Error](<-done); !ok || e.Code != sqlguard.CodeServerRestarted || e.SQLState != "57P01" {
		t.Errorf("%v", e)
	}
	if got := c.One(t, "SELECT 1"); got != "1" {
		t.Errorf("got %s", got)
	}
}

func TestCannotConnect(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t)
	full := testdb.StartPostgres(t, testdb.Options{Settings: map[string]string{"max_connections": "5", "superuser_reserved_connections": "0"}})
	hold := open(t, full.URL("", ""), pgdb.Config{MaxConnections: 5})
	hold.connect(t, 5)
	for _, c := range []struct {
		name, url string
		code      sqlguard.Code
		state     string
		retryable bool
	}{
		{"nobody listens", "postgres://u:s3cret@127.0.0.1:1/d", sqlguard.CodeConnectionLost, "", true},
		{"no such socket", "postgres://u:s3cret@/d?host=/does/not/exist", sqlguard.CodeConnectionLost, "", true},
		{"no such host", "postgres://u:s3cret@host.invalid/d", sqlguard.CodeConnectionLost, "", true},
		{"wrong password", strings.Replace(url, "@", "s3cret@", 1), sqlguard.CodeDatabaseError, "28P01", false},
		{"no such database", server.URL("nowhere", ""), sqlguard.CodeDatabaseError, "3D000", false},
		{"no slot", full.URL("", ""), sqlguard.CodeBusy, "53300", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.url, pgdb.Config{})
			e := b.Fails(t, "SELECT 1", execution.Limits{})
			if e.Code != c.code || e.SQLState != c.state || e.Retryable != c.retryable || strings.Contains(e.Error(), "s3cret") {
				t.Errorf("%v (SQLSTATE %q, retryable %t)", e, e.SQLState, e.Retryable)
			}
			if n := b.Open(); n != 0 {
				t.Errorf("%d connections are counted, want none", n)
			}
		})
	}
	t.Run("caller leaves", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		b := open(t, "postgres://u:p@"+silent(t)+"/d?sslmode=disable", pgdb.Config{})
		_, err := b.Try(ctx, t, "SELECT 1", execution.Limits{})
		if execution.CodeOf(err) != sqlguard.CodeTimeout {
			t.Errorf("error %v, want %s", err, sqlguard.CodeTimeout)
		}
	})
	t.Run("closed", func(t *testing.T) {
		b := open(t, "postgres://u:p@"+silent(t)+"/d?sslmode=disable", pgdb.Config{})
		time.AfterFunc(50*time.Millisecond, func() { _ = b.Close() })
		if e := b.Fails(t, "SELECT 1", execution.Limits{}); e.Code != sqlguard.CodeDraining {
			t.Errorf("error %v, want %s", e, sqlguard.CodeDraining)
		}
	})
}
