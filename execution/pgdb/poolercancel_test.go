package pgdb_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestCancelWaitsForPooler: the connection of a cancel request to a pooler stays open after
// the call has ended, until the pooler closes it. PgBouncer frees the connection of a
// client that leaves first, and later closes another client in its place.
func TestCancelWaitsForPooler(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t)
	p := newProxy(t, server.Addr())
	c := open(t, p.through(t, url), pgdb.Config{MaxConnections: 1, Pooler: pgdb.PoolerOn})
	c.One(t, "SELECT 1")

	// The request goes to a listener that reads it and answers nothing, in place of the proxy.
	requests := make(chan net.Conn, 16)
	p.accepted.Store(func(conn net.Conn) bool { requests <- conn; return true })
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Try(ctx, t, "SELECT pg_sleep(304)", execution.Limits{})
		ended <- err
	}()
	executiontest.Eventually(t, "the statement runs", func() bool { return query[int](t, url, running) == 1 })
	leave()
	if err := <-ended; execution.CodeOf(err) != sqlguard.CodeCancelled {
		t.Fatalf("error %v, want %s", err, sqlguard.CodeCancelled)
	}
	request := <-requests
	if _, err := io.ReadFull(request, make([]byte, 16)); err != nil {
		t.Fatalf("read the request: %v", err)
	}
	if err := request.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := request.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection of the request: %v, want it open", err)
	}
	p.accepted.Store(func(net.Conn) bool { return false })
	if err := request.Close(); err != nil {
		t.Error(err)
	}
	for len(requests) > 0 {
		_ = (<-requests).Close()
	}
	executiontest.Eventually(t, "another statement is answered", func() bool {
		_, err := c.Try(t.Context(), t, "SELECT 2", execution.Limits{})
		return err == nil
	})
}
