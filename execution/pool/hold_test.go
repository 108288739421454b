package pool_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// plainConn is a connection that is always ready.
type plainConn struct{ n int64 }

func (*plainConn) Ready(context.Context) bool { return true }
func (*plainConn) Destroy()                   {}
func (*plainConn) Bye()                       {}

// A held connection keeps its place until the server says that its statement is
// over, or the pool is closed.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made, asked atomic.Int64
		var over atomic.Bool
		p := pool.New(1, func(context.Context) (*plainConn, error) { return &plainConn{made.Add(1)}, nil })
		p.Ask(func(context.Context, []*plainConn) ([]pool.Fate, error) {
			if asked.Add(1) == 2 {
				return nil, errors.New("no answer")
			}
			if over.Load() {
				return []pool.Fate{pool.Over}, nil
			}
			return []pool.Fate{pool.Runs}, nil
		})
		l, err := p.Acquire(t.Context(), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		h := p.Hold(l)
		if _, err := p.Acquire(t.Context(), time.Minute); execution.CodeOf(err) != sqlguard.CodeBusy {
			t.Errorf("error %v, want busy", err)
		}
		time.Sleep(time.Minute)
		if n := asked.Load(); n < 5 || n > 30 {
			t.Errorf("the server was asked %d times in a minute, want growing intervals", n)
		}
		if open, _ := p.Count(); open != 1 || made.Load() != 1 {
			t.Errorf("%d connections, and %d made; want only the held one", open, made.Load())
		}
		over.Store(true)
		<-h.Over()
		if l, err = p.Acquire(t.Context(), time.Second); err != nil || !h.Confirmed() || l.Conn.n != 2 {
			t.Fatalf("%v, confirmed %t; want a new connection", err, h.Confirmed())
		}
		over.Store(false)
		h = p.Hold(l)
		p.Close()
		<-h.Over()
		if h.Confirmed() {
			t.Error("closing the pool confirmed the end of a statement that runs")
		}
	})
}

// The place of a connection that broke by itself is free again when the server says that
// its statement is over, and otherwise soon after the server cannot be asked any more.
func TestHoldLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers atomic.Bool
		down := execution.NewError(sqlguard.CodeConnectionLost, "nobody listens", nil)
		p := pool.New(1, func(context.Context) (*plainConn, error) { return &plainConn{}, nil })
		defer p.Close()
		p.Ask(func(context.Context, []*plainConn) ([]pool.Fate, error) {
			if answers.Load() {
				return []pool.Fate{pool.Unknowable}, nil
			}
			return nil, down
		})
		l, err := p.Acquire(t.Context(), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		h := p.HoldLost(l)
		if _, err := p.Acquire(t.Context(), time.Minute); execution.CodeOf(err) != sqlguard.CodeConnectionLost {
			t.Errorf("error %v beside a server that does not listen, want what connecting says", err)
		}
		began := time.Now()
		<-h.Over()
		if waited := time.Since(began); h.Confirmed() || waited < 10*time.Second || waited > 20*time.Second {
			t.Errorf("confirmed %t after %s", h.Confirmed(), waited)
		}
		answers.Store(true)
		if l, err = p.Acquire(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		h = p.Hold(l)
		<-h.Over()
		if h.Confirmed() {
			t.Error("an end that nobody can find out is confirmed")
		}
	})
}

// At the server's limit for the role, a caller waits for a connection of the pool.
func TestServerTakesNoMoreConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int64
		p := pool.New(4, func(context.Context) (*plainConn, error) {
			if made.Add(1) > 1 {
				return nil, execution.NewError(sqlguard.CodeBusy, "too many connections for the role", nil)
			}
			return &plainConn{}, nil
		})
		defer p.Close()
		first, err := p.Acquire(t.Context(), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() { p.Release(first) })
		second, err := p.Acquire(t.Context(), 5*time.Second)
		if err != nil || second.Conn != first.Conn {
			t.Fatalf("error %v, want the connection of the first caller", err)
		}
		if _, err := p.Acquire(t.Context(), time.Second); execution.CodeOf(err) != sqlguard.CodeBusy {
			t.Errorf("error %v, want busy", err)
		}
		p.Discard(second)
		if _, err := p.Acquire(t.Context(), time.Second); execution.CodeOf(err) != sqlguard.CodeBusy {
			t.Errorf("error %v without any connection to wait for, want busy", err)
		}
	})
}
