package pool_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// fake is a connection that a test looks at.
type fake struct {
	number int
	dead   atomic.Bool
	closed atomic.Int32
}

func (f *fake) Ready(context.Context) bool { return !f.dead.Load() }
func (f *fake) Destroy()                   { f.closed.Add(1) }
func (f *fake) Bye()                       { f.closed.Add(1) }

// dials makes fakes and remembers them.
type dials struct {
	mu   sync.Mutex
	all  []*fake
	fail error
	wait time.Duration
}

func (d *dials) dial(ctx context.Context) (*fake, error) {
	if d.wait > 0 {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(d.wait):
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return nil, d.fail
	}
	f := &fake{number: len(d.all) + 1}
	d.all = append(d.all, f)
	return f, nil
}

func (d *dials) open() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, f := range d.all {
		if f.closed.Load() == 0 {
			n++
		}
	}
	return n
}

func take(t *testing.T, p *pool.Pool[*fake]) *pool.Lease[*fake] {
	t.Helper()
	l, err := p.Acquire(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestReuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{}
		p := pool.New(2, d.dial)
		defer p.Close()
		a, b := take(t, p), take(t, p)
		if a.Reused || b.Reused || a.Conn == b.Conn {
			t.Errorf("new connections %+v, %+v", a, b)
		}
		p.Release(a)
		time.Sleep(time.Second)
		p.Release(b)
		c := take(t, p)
		if c.Conn != b.Conn || !c.Reused {
			t.Errorf("got connection %d, want the one used last, %d", c.Conn.number, b.Conn.number)
		}
		if e := take(t, p); e.Conn != a.Conn || e.Idle != time.Second {
			t.Errorf("got connection %d, idle for %v; want %d, idle for a second", e.Conn.number, e.Idle, a.Conn.number)
		} else {
			p.Discard(e)
		}
		p.Discard(c)
		if d.open() != 0 {
			t.Errorf("%d connections are open", d.open())
		}
	})
}

// An idle connection that is dead or too old is replaced.
func TestNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{}
		p := pool.New(3, d.dial)
		defer p.Close()
		leases := []*pool.Lease[*fake]{take(t, p), take(t, p), take(t, p)}
		for _, l := range leases {
			p.Release(l)
		}
		leases[2].Conn.dead.Store(true)
		l := take(t, p)
		if l.Conn != leases[1].Conn {
			t.Errorf("got connection %d, want another idle one", l.Conn.number)
		}
		p.Release(l)
		leases[0].Conn.dead.Store(true)
		leases[1].Conn.dead.Store(true)
		if l = take(t, p); l.Reused || l.Conn.number != 4 {
			t.Errorf("got %+v, want a new connection", l)
		}
		p.Release(l)
		if n := d.open(); n != 1 {
			t.Errorf("%d connections are open", n)
		}
		time.Sleep(2 * time.Minute)
		for range 35 { // in use all the time, for more than an hour
			l = take(t, p)
			p.Release(l)
			time.Sleep(2 * time.Minute)
		}
		if l.Conn.number == 4 {
			t.Error("a connection is older than an hour")
		}
	})
}

// The pool closes a connection that nobody used for five minutes.
func TestIdleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{}
		p := pool.New(2, d.dial)
		defer p.Close()
		a, b := take(t, p), take(t, p)
		p.Release(a)
		time.Sleep(3 * time.Minute)
		p.Release(b)
		time.Sleep(2*time.Minute + time.Second)
		if a.Conn.closed.Load() != 1 || b.Conn.closed.Load() != 0 {
			t.Errorf("after five minutes: %d and %d", a.Conn.closed.Load(), b.Conn.closed.Load())
		}
		time.Sleep(3 * time.Minute)
		if b.Conn.closed.Load() != 1 {
			t.Error("the second is still open")
		}
	})
}

// Waiting callers are served in order of arrival; a caller that leaves takes no
// connection with it.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{}
		p := pool.New(1, d.dial)
		defer p.Close()
		held := take(t, p)
		var mu sync.Mutex
		var order []int
		var users sync.WaitGroup
		for i := range 5 {
			users.Go(func() {
				ctx := t.Context()
				if i == 2 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, 10*time.Second)
					defer cancel()
				}
				l, err := p.Acquire(ctx, time.Minute)
				if i == 2 {
					if execution.CodeOf(err) != sqlguard.CodeBusy {
						t.Errorf("the caller that left: %v", err)
					}
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				p.Release(l)
			})
			synctest.Wait()
		}
		time.Sleep(15 * time.Second)
		p.Release(held)
		users.Wait()
		if !slices.Equal(order, []int{0, 1, 3, 4}) {
			t.Errorf("the order is %v", order)
		}
	})
}

func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{fail: errors.New("nobody is there")}
		p := pool.New(1, d.dial)
		if _, err := p.Acquire(t.Context(), time.Minute); err == nil || err.Error() != "nobody is there" {
			t.Errorf("error %v, want that of the dial", err)
		}
		d.fail = nil
		held := take(t, p) // works: the failed dial gave its right back
		start := time.Now()
		_, err := p.Acquire(t.Context(), 3*time.Second)
		e, ok := errors.AsType[*execution.Error](err)
		if !ok || e.Code != sqlguard.CodeBusy || e.RetryAfter <= 0 || time.Since(start) != 3*time.Second {
			t.Errorf("error %v after %v, want busy after the limit", err, time.Since(start))
		}
		if _, err = p.Acquire(t.Context(), time.Hour); execution.CodeOf(err) != sqlguard.CodeBusy || time.Since(start) != 33*time.Second {
			t.Errorf("error %v after %v, want busy after half a minute", err, time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err = p.Acquire(ctx, time.Minute); execution.CodeOf(err) != sqlguard.CodeCancelled {
			t.Errorf("error %v, want cancelled", err)
		}
		p.Release(held)
		if l := p.Idle(); l == nil || l.Conn != held.Conn {
			t.Errorf("the idle one is %v", l)
		} else {
			p.Release(l)
		}
		f, err := p.Fresh(t.Context())
		if err != nil || f.Conn == held.Conn || held.Conn.closed.Load() != 1 {
			t.Errorf("fresh gave %v, %v", f, err)
		}
		if l := p.Idle(); l != nil {
			t.Errorf("idle: %v", l)
		}
		p.Discard(f)
		p.Close()
		for _, get := range []func() error{
			func() error { _, err := p.Acquire(t.Context(), time.Minute); return err },
			func() error { _, err := p.Fresh(t.Context()); return err },
		} {
			if execution.CodeOf(get()) != sqlguard.CodeDraining {
				t.Errorf("a closed pool gives %v", get())
			}
		}
	})
}

// Close tells the users of connections, waits for them, and ends waiting
// callers.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dials{}
		p := pool.New(2, d.dial)
		used, idle := take(t, p), take(t, p)
		var users sync.WaitGroup
		users.Go(func() {
			told := make(chan struct{})
			stop := p.OnClose(func() { close(told) })
			<-told
			stop()
			time.Sleep(time.Second)
			p.Release(used)
		})
		d.wait = time.Hour
		p.Discard(idle)
		users.Go(func() { // makes a connection
			if _, err := p.Acquire(t.Context(), time.Minute); !errors.Is(err, pool.ErrClosing) {
				t.Errorf("the caller that was connecting: %v", err)
			}
		})
		synctest.Wait()
		users.Go(func() { // waits for one
			if _, err := p.Acquire(t.Context(), time.Minute); execution.CodeOf(err) != sqlguard.CodeDraining {
				t.Errorf("the caller that waited: %v", err)
			}
		})
		synctest.Wait()
		start := time.Now()
		p.Close()
		if time.Since(start) != time.Second || d.open() != 0 {
			t.Errorf("closed after %v with %d connections open", time.Since(start), d.open())
		}
		p.Close()
		users.Wait()
	})
}

// Callers that come and go lose no connection.
func TestStorm(t *testing.T) {
	before := goleak.IgnoreCurrent()
	d := &dials{}
	p := pool.New(3, d.dial)
	var users sync.WaitGroup
	var busy atomic.Int32
	for u := range 16 {
		users.Go(func() {
			for i := range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+(u*31+i*7)%40)*10*time.Microsecond)
				l, err := p.Acquire(ctx, time.Minute)
				cancel()
				if err != nil {
					if execution.CodeOf(err) == "" {
						t.Error(err)
					}
					continue
				}
				if n := busy.Add(1); n > 3 {
					t.Errorf("%d connections in use", n)
				}
				busy.Add(-1)
				switch i % 7 {
				case 0:
					p.Discard(l)
				case 1:
					p.Release(l)
					p.Forget()
				default:
					p.Release(l)
				}
			}
		})
	}
	users.Wait()
	var leases []*pool.Lease[*fake]
	for range 3 {
		leases = append(leases, take(t, p))
	}
	if n := d.open(); n != 3 {
		t.Errorf("%d connections are open, want the three in use", n)
	}
	for _, l := range leases {
		p.Release(l)
	}
	p.Close()
	if n := d.open(); n != 0 {
		t.Errorf("%d connections are open after Close", n)
	}
	goleak.VerifyNone(t, before)
}

func TestEnded(t *testing.T) {
	for reason, code := range map[error]sqlguard.Code{
		pool.ErrTimeLimit:        sqlguard.CodeTimeout,
		pool.ErrNoConnection:     sqlguard.CodeTimeout,
		context.DeadlineExceeded: sqlguard.CodeTimeout,
		pool.ErrClosing:          sqlguard.CodeDraining,
		context.Canceled:         sqlguard.CodeCancelled,
		errors.New("anything"):   sqlguard.CodeCancelled,
	} {
		if e := pool.Ended(reason, nil, time.Second); e.Code != code {
			t.Errorf("%v is %s, want %s", reason, e.Code, code)
		}
	}
}
