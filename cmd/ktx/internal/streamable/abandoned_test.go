package streamable_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/ktxhq/ktx/httpapi"
)

// TestAbandonedCalls: a call of a session whose connection was dropped ends after a
// while, unless another stream of the session is open.
func TestAbandonedCalls(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) { c.Abandoned = 50 * time.Millisecond })
	drop := func(id string) {
		ctx, cancel := context.WithCancel(t.Context())
		d.call(ctx, t, id, wait)
		cancel()
	}
	drop(d.begin(t))
	d.isCancelled(t)

	id := d.begin(t)
	ctx, leave := context.WithCancel(t.Context())
	stream, err := http.DefaultClient.Do(d.request(ctx, t, "GET", id, "")) // returns when the stream is open
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	drop(id)
	select {
	case <-d.cancelled:
		t.Fatal("a call ended although its session has a stream")
	case <-time.After(500 * time.Millisecond):
	}
	leave()
	d.isCancelled(t)
}

// TestAbandonedWithoutSessions: without sessions nobody can come back.
func TestAbandonedWithoutSessions(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) { c.Abandoned, c.Sessions = 50*time.Millisecond, nil })
	ctx, cancel := context.WithCancel(t.Context())
	d.call(ctx, t, "", wait)
	cancel()
	d.isCancelled(t)
}

// TestCallHeader: what a client says about its call is not believed.
func TestCallHeader(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) { c.Abandoned = 50 * time.Millisecond })
	id := d.begin(t)
	ctx, cancel := context.WithCancel(t.Context())
	d.call(ctx, t, id, wait, "Ktx-Call", "mine")
	cancel()
	d.isCancelled(t)
}
