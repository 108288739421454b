package execution_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestErrorsOfTheGateway: each way in which a statement does not run, or does
// not finish, has its own code and says whether the caller should try again.
// None returns rows.
func TestErrorsOfTheGateway(t *testing.T) {
	// held is a connection whose only slot is taken. free gives the slot back.
	held := func(t *testing.T, log audit.Log, queue int) (g *execution.Gateway, free func()) {
		t.Helper()
		backend, release := &spy{}, make(chan struct{})
		backend.query = func(context.Context) (*execution.Result, error) {
			<-release
			return &execution.Result{}, nil
		}
		g = newGateway(t, log, backend.connection(func(c *execution.Connection) { c.Concurrency, c.Queue = 1, queue }))
		go func() { _, _ = query(t.Context(), g, "SELECT held") }()
		synctest.Wait()
		return g, func() { close(release); synctest.Wait() }
	}
	opening := func(t *testing.T, log audit.Log, open func(context.Context) error) *execution.Gateway {
		t.Helper()
		g := newGateway(t, log, (&spy{}).connection(func(c *execution.Connection) {
			c.Open = func(ctx context.Context, _ sqlguard.ID) (execution.Backend, error) { return nil, open(ctx) }
		}))
		t.Cleanup(func() { // ends an attempt to open that nobody waits for
			if err := g.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		return g
	}
	answering := func(t *testing.T, log audit.Log, err error) *execution.Gateway {
		t.Helper()
		backend := &spy{query: func(context.Context) (*execution.Result, error) { return nil, err }}
		return newGateway(t, log, backend.connection())
	}
	limited := func(ctx context.Context, g *execution.Gateway) (*execution.Result, error) {
		return g.Query(ctx, execution.Request{ConnectionID: "shop", SQL: "SELECT 1", Limits: execution.Limits{Timeout: time.Second}})
	}
	after := func(t *testing.T, wait time.Duration) context.Context {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(wait, cancel)
		return ctx
	}
	as := func(t *testing.T, principal string) context.Context {
		t.Helper()
		return audit.WithActor(t.Context(), audit.Actor{Principal: principal})
	}
	for _, c := range []struct {
		name      string
		code      sqlguard.Code
		retryable bool
		run       func(*testing.T, *audittest.Log) (*execution.Result, error)
	}{
		{"its turn does not come", sqlguard.CodeTimeout, true, func(t *testing.T, log *audittest.Log) (*execution.Result, error) {
			t.Helper()
			g, free := held(t, log, 5)
			defer free()
			return limited(t.Context(), g)
		}},
		{"its caller leaves while it waits", sqlguard.CodeCancelled, true, func(t *testing.T, log *audittest.Log) (*execution.Result, error) {
			t.Helper()
			g, free := held(t, log, 5)
			defer free()
			return limited(after(t, time.Millisecond), g)
		}},
		{"no place to wait", sqlguard.CodeBusy, true, func(t *testing.T, log *audittest.Log) (*execution.Result, error) {
			t.Helper()
			g, free := held(t, log, 1)
			defer free()
			go func() { _, _ = query(t.Context(), g, "SELECT waits") }()
			synctest.Wait()
			return limited(t.Context(), g)
		}},
		{"its place goes to another principal", sqlguard.CodeBusy, true, func(t *testing.T, log *audittest.Log) (*execution.Result, error) {
			t.Helper()
			g, free := held(t, log, 2)
			defer free()
			go func() { _, _ = query(as(t, "flood"), g, "SELECT first") }()
			synctest.Wait()
			go func() {
				synctest.Wait() // until the next statement waits
				_, _ = query(as(t, "other"), g, "SELECT other")
			}()
			return query(as(t, "flood"), g, "SELECT 1")
		}},
		{"the gateway stops", sqlguard.CodeDraining, true, func(t *testing.T, log *audittest.Log) (*execution.Result, error) {
			t.Helper()
			g := answering(t, log, nil)
			if err := g.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			return limited(t.Context(), g)
		}},
		{"the log cannot be written", sqlguard.CodeAuditUnavailable, false, func(t *testing.T, log *audittest.Log) (*execution.Result, error) {
			t.Helper()
			g := answering(t, log, nil)
			log.Fail(errors.New("no space left on device"))
			return limited(t.Context(), g)
		}},
		{"no connection", sqlguard.CodeConnectionLost, true, func(t *testing.T, log *audittest.Log) (*execution.Result, error) {
			t.Helper()
			return limited(t.Context(), opening(t, log, func(context.Context) error { return errors.New("refused") }))
		}},
		{"no connection in time", sqlguard.CodeTimeout, true, func(t *testing.T, log *audittest.Log) (*execution.Result, error) {
			t.Helper()
			return limited(t.Context(), opening(t, log, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }))
		}},
		{"its caller leaves while it connects", sqlguard.CodeCancelled, true, func(t *testing.T, log *audittest.Log) (*execution.Result, error) {
			t.Helper()
			return limited(after(t, time.Millisecond), opening(t, log, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }))
		}},
		{"the connection breaks", sqlguard.CodeConnectionLost, true, func(t *testing.T, log *audittest.Log) (*execution.Result, error) {
			t.Helper()
			return limited(t.Context(), answering(t, log, execution.NewError(sqlguard.CodeConnectionLost, "it broke", nil)))
		}},
		{"the server restarts", sqlguard.CodeServerRestarted, true, func(t *testing.T, log *audittest.Log) (*execution.Result, error) {
			t.Helper()
			return limited(t.Context(), answering(t, log, execution.NewError(sqlguard.CodeServerRestarted, "it stops", nil)))
		}},
		{"the statement takes too long", sqlguard.CodeTimeout, false, func(t *testing.T, log *audittest.Log) (*execution.Result, error) {
			t.Helper()
			return limited(t.Context(), answering(t, log, execution.NewError(sqlguard.CodeTimeout, "too long", nil)))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &audittest.Log{}
				res, err := c.run(t, log)
				e, ok := errors.AsType[*execution.Error](err)
				if !ok || e.Code != c.code || e.Retryable != c.retryable || e.Message == "" || res != nil {
					t.Fatalf("%v, %+v; want %s, retryable %t", res, err, c.code, c.retryable)
				}
				if (e.RetryAfter > 0) != (c.code == sqlguard.CodeBusy) {
					t.Errorf("RetryAfter is %v", e.RetryAfter)
				}
				if c.code == sqlguard.CodeDraining || c.code == sqlguard.CodeAuditUnavailable {
					return // the guard decided nothing
				}
				found := false
				for _, o := range log.Events(audit.QueryFinished, audit.QueryCancelled) {
					found = found || o.Result.Code == string(c.code)
				}
				if !found {
					t.Errorf("the log has no outcome: %s", events(log))
				}
			})
		})
	}
}

// TestAuditUnavailable: a fault of the audit log is told by its cause.
func TestAuditUnavailable(t *testing.T) {
	t.Parallel()
	for cause, part := range map[error]string{
		syscall.EMFILE: "ulimit -n", syscall.ENFILE: "ulimit -n", audit.ErrLocked: "another process keeps the lock", syscall.ENOSPC: "disk is full", syscall.EIO: "",
	} {
		e := execution.AuditUnavailable("it cannot be opened", fmt.Errorf("open: %w", cause))
		if e.Code != sqlguard.CodeAuditUnavailable || !errors.Is(e, cause) || !strings.HasPrefix(e.Message, "it cannot be opened") ||
			!strings.Contains(e.Hint, part) || (part == "") != (e.Hint == "") || part == "ulimit -n" && strings.Contains(e.Hint, "disk") {
			t.Errorf("%v: %q, %q", cause, e.Message, e.Hint)
		}
	}
}
