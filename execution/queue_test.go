package execution_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/sqlguard"
)

// visit is one statement's way through a queue.
type visit struct {
	principal string
	cancel    context.CancelFunc
	leave     func()
	ended     chan struct{} // closed when Enter has returned
	err       error
}

func enter(q *execution.Queue, principal string) *visit {
	ctx, cancel := context.WithCancel(context.Background())
	v := &visit{principal: principal, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(v.ended)
		v.leave, v.err = q.Enter(ctx, principal)
	}()
	return v
}

// state says how far a visit has come, once all goroutines are idle.
func (v *visit) state() string {
	select {
	case <-v.ended:
	default:
		return "waits"
	}
	if v.err != nil {
		return string(execution.CodeOf(v.err))
	}
	return "runs"
}

// model is a queue that follows the documentation, without regard to speed.
type model struct {
	slots, bound int
	running      map[string]int
	waiting      []int // indexes of visits, in order of arrival
	principal    []string
	state        []string
	clock        int
	since        map[string]int
	granted      []int // every visit that waited and then got a slot, in order
}

func (m *model) total() (n int) {
	for _, r := range m.running {
		n += r
	}
	return n
}

// line returns the waiting visits of a principal.
func (m *model) line(principal string) []int {
	return slices.DeleteFunc(slices.Clone(m.waiting), func(i int) bool { return m.principal[i] != principal })
}

// waits returns the principals that wait.
func (m *model) waits() []string {
	names := map[string]bool{}
	for _, i := range m.waiting {
		names[m.principal[i]] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func (m *model) drop(i int, state string) {
	m.waiting = slices.DeleteFunc(m.waiting, func(j int) bool { return i == j })
	m.state[i] = state
}

// changed notes that a principal has more or fewer running, or begins to wait.
func (m *model) changed(principal string, by int) {
	m.clock++
	m.since[principal] = m.clock
	m.running[principal] += by
}

func (m *model) enter(principal string) {
	i := len(m.state)
	m.principal, m.state = append(m.principal, principal), append(m.state, "runs")
	if m.total() < m.slots {
		m.changed(principal, 1)
		return
	}
	if len(m.waiting) == m.bound {
		longest := slices.MaxFunc(m.waits(), func(a, b string) int {
			if d := len(m.line(a)) - len(m.line(b)); d != 0 {
				return d
			}
			return m.since[a] - m.since[b]
		})
		line := m.line(longest)
		if len(line) <= len(m.line(principal))+1 {
			m.state[i] = "busy"
			return
		}
		m.drop(line[len(line)-1], "busy")
	}
	if len(m.line(principal)) == 0 {
		m.changed(principal, 0)
	}
	m.waiting, m.state[i] = append(m.waiting, i), "waits"
}

func (m *model) leave(i int) {
	m.state[i] = "left"
	m.changed(m.principal[i], -1)
	if len(m.waiting) == 0 {
		return
	}
	next := slices.MinFunc(m.waits(), func(a, b string) int {
		if d := m.running[a] - m.running[b]; d != 0 {
			return d
		}
		return m.since[a] - m.since[b]
	})
	i = m.line(next)[0]
	m.drop(i, "runs")
	m.changed(next, 1)
	m.granted = append(m.granted, i)
}

// in returns the visits in a state.
func (m *model) in(state string) (all []int) {
	for i, s := range m.state {
		if s == state {
			all = append(all, i)
		}
	}
	return all
}

// promise is what the documentation guarantees to a principal with nothing
// running when it begins to wait: at most this many others are served first.
type promise struct {
	principal string
	from      int // of granted
	most      int
}

// broken returns whether the promise is broken, and whether it is settled. A
// promise is settled when it was kept, and when the principal runs a statement
// or no longer waits.
func (p promise) broken(m *model) (broken, settled bool) {
	others := 0
	for _, i := range m.granted[p.from:] {
		if m.principal[i] == p.principal {
			return false, true
		}
		others++
	}
	return others > p.most, len(m.line(p.principal)) == 0 || m.running[p.principal] > 0
}

// timeless hides the test's deadline, which does not follow the clock of the
// synctest bubble.
type timeless struct{ *testing.T }

// TestQueueIsItsModel compares the queue with the model over random operations
// in random order, and checks the promise of the documentation on both.
func TestQueueIsItsModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(timeless{t}, func(rt *rapid.T) {
			slots, bound := rapid.IntRange(1, 4).Draw(rt, "slots"), rapid.IntRange(1, 8).Draw(rt, "bound")
			q := execution.NewQueue(slots, bound)
			m := &model{slots: slots, bound: bound, running: map[string]int{}, since: map[string]int{}}
			var visits []*visit
			var promises []promise
			defer func() {
				for _, v := range visits {
					v.cancel()
				}
				for {
					synctest.Wait()
					running := slices.IndexFunc(visits, func(v *visit) bool { return v.state() == "runs" && v.leave != nil })
					if running < 0 {
						return
					}
					visits[running].leave()
					visits[running].leave = nil
				}
			}()
			pick := func(state, label string) int {
				of := m.in(state)
				if len(of) == 0 {
					rt.Skip()
				}
				return rapid.SampledFrom(of).Draw(rt, label)
			}
			arrive := func(names ...string) func(*rapid.T) {
				return func(rt *rapid.T) {
					principal := rapid.SampledFrom(names).Draw(rt, "principal")
					before := len(m.line(principal))
					others := len(slices.DeleteFunc(m.waits(), func(p string) bool { return m.running[p] > 0 }))
					m.enter(principal)
					if before == 0 && len(m.line(principal)) == 1 && m.running[principal] == 0 {
						promises = append(promises, promise{principal, len(m.granted), others})
					}
					visits = append(visits, enter(q, principal))
				}
			}
			rt.Repeat(map[string]func(*rapid.T){
				"flood":  arrive("flood"),
				"crowd":  arrive("b", "c"),
				"guests": arrive("flood", "b", "c", "d", "e"),
				"leave": func(*rapid.T) {
					i := pick("runs", "who leaves")
					m.leave(i)
					visits[i].leave()
					visits[i].leave() // a second time changes nothing
				},
				"cancel": func(*rapid.T) {
					i := pick("waits", "who gives up")
					m.drop(i, string(sqlguard.CodeCancelled))
					visits[i].cancel()
				},
				"time": func(*rapid.T) { time.Sleep(time.Second) },
				"": func(rt *rapid.T) {
					synctest.Wait()
					for i, v := range visits {
						want := m.state[i]
						if got := v.state(); got != want && (want != "left" || got != "runs") {
							rt.Fatalf("visit %d of %s %s, want %s", i, v.principal, got, want)
						}
						if e, ok := errors.AsType[*execution.Error](v.err); ok && e.Code == sqlguard.CodeBusy &&
							(e.RetryAfter < 100*time.Millisecond || e.RetryAfter > 30*time.Second || !e.Retryable) {
							rt.Fatalf("busy, RetryAfter is %v", e.RetryAfter)
						}
					}
					if err := q.Check(); err != nil {
						rt.Fatal(err)
					}
					promises = slices.DeleteFunc(promises, func(p promise) bool {
						broken, settled := p.broken(m)
						if broken {
							rt.Fatalf("%s waits for more than the %d before it", p.principal, p.most)
						}
						return settled
					})
				},
			})
		})
	})
}

// TestQueueOfOnePrincipal: a principal that is alone uses the whole queue.
func TestQueueOfOnePrincipal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := execution.NewQueue(3, 5)
		visits := make([]*visit, 9)
		for i := range visits {
			visits[i] = enter(q, "alone")
			synctest.Wait()
		}
		for i, want := range []string{"runs", "runs", "runs", "waits", "waits", "waits", "waits", "waits", "busy"} {
			if got := visits[i].state(); got != want {
				t.Errorf("visit %d %s, want %s", i, got, want)
			}
		}
		for i := range visits[:8] { // in order of arrival
			synctest.Wait()
			visits[i].leave()
		}
		if running, waiting, principals := q.Counts(); running+waiting+principals != 0 {
			t.Errorf("%d running, %d waiting, %d principals are left", running, waiting, principals)
		}
	})
}

// TestQueueUnderAFlood: when one principal floods the queue, another one waits
// for one slot and is never refused.
func TestQueueUnderAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots, bound, hold = 4, 64, 10 * time.Second
		q := execution.NewQueue(slots, bound)
		var all sync.WaitGroup
		var refused atomic.Int32
		for range slots + bound + 100 {
			all.Go(func() {
				leave, err := q.Enter(t.Context(), "flood")
				if err != nil {
					refused.Add(1)
					return
				}
				time.Sleep(hold)
				leave()
			})
		}
		time.Sleep(time.Second)
		if refused.Load() != 100 {
			t.Errorf("%d refused, want 100", refused.Load())
		}
		// All slots and places are taken.
		for range 5 {
			start := time.Now()
			leave, err := q.Enter(t.Context(), "other")
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(start); waited > hold {
				t.Errorf("waited %v, although slots are held for %v", waited, hold)
			}
			leave()
		}
		all.Wait()
		if got := refused.Load(); got != 101 {
			t.Errorf("%d of the flood were refused, want 100 and the one whose place was taken", got)
		}
	})
}

// TestQueueSaysWhenToComeBack: RetryAfter follows the measured times.
func TestQueueSaysWhenToComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := execution.NewQueue(1, 2)
		refusal := func(principal string) time.Duration {
			t.Helper()
			_, err := q.Enter(t.Context(), principal)
			e, ok := errors.AsType[*execution.Error](err)
			if !ok || e.Code != sqlguard.CodeBusy {
				t.Fatalf("error %v, want busy", err)
			}
			return e.RetryAfter
		}
		var visits []*visit
		for range 3 {
			visits = append(visits, enter(q, "a"))
			synctest.Wait()
		}
		if got := refusal("a"); got != 100*time.Millisecond {
			t.Errorf("RetryAfter is %v, want the least", got)
		}
		time.Sleep(4 * time.Second) // the slot is held for longer than the average so far
		if got := refusal("a"); got != 12100*time.Millisecond {
			t.Errorf("RetryAfter is %v, want three times 4 s", got)
		}
		time.Sleep(time.Hour)
		if got := refusal("a"); got != 30*time.Second {
			t.Errorf("RetryAfter is %v, want 30 s at most", got)
		}
		for _, v := range visits {
			v.leave()
			synctest.Wait()
		}
	})
}

// TestQueueUnderLoad runs many operations concurrently, for the race detector.
func TestQueueUnderLoad(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	const slots = 3
	q := execution.NewQueue(slots, 16)
	var running, served, refused atomic.Int32
	var all sync.WaitGroup
	for user := range 24 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(user)))
			for range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(400))*time.Microsecond)
				leave, err := q.Enter(ctx, fmt.Sprint(random.IntN(5)))
				if err == nil {
					if n := running.Add(1); n > slots {
						t.Errorf("%d run, of %d slots", n, slots)
					}
					served.Add(1)
					time.Sleep(time.Duration(random.IntN(50)) * time.Microsecond)
					running.Add(-1)
					leave()
				} else {
					refused.Add(1)
				}
				cancel()
			}
		})
	}
	all.Wait()
	if err := q.Check(); err != nil {
		t.Error(err)
	}
	if running, waiting, principals := q.Counts(); running+waiting+principals != 0 {
		t.Errorf("%d running, %d waiting, %d principals are left", running, waiting, principals)
	}
	t.Logf("%d served, %d not", served.Load(), refused.Load())
}

// TestTheGatewayKeepsPrincipalsApart: the principal is that of the context's
// actor.
func TestTheGatewayKeepsPrincipalsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &spy{}
		release := make(chan struct{})
		backend.query = func(context.Context) (*execution.Result, error) {
			<-release
			return &execution.Result{}, nil
		}
		g := newGateway(t, &audittest.Log{}, backend.connection(func(c *execution.Connection) { c.Concurrency, c.Queue = 1, 3 }))
		var all sync.WaitGroup
		ask := func(principal, sql string) {
			all.Go(func() {
				_, err := query(audit.WithActor(t.Context(), audit.Actor{Principal: principal}), g, sql)
				if code := execution.CodeOf(err); code != "" && (code != sqlguard.CodeBusy || sql != "SELECT flood 3") {
					t.Errorf("%s: %v", sql, err)
				}
			})
			synctest.Wait()
		}
		for i := range 4 {
			ask("flood", fmt.Sprintf("SELECT flood %d", i))
		}
		ask("other", "SELECT other")
		close(release)
		all.Wait()
		want := []string{"SELECT flood 0", "SELECT other", "SELECT flood 1", "SELECT flood 2"}
		if !slices.Equal(backend.sent, want) {
			t.Errorf("sent %q, want %q", backend.sent, want)
		}
	})
}
