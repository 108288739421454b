package execution_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestReloadKeepsWhatDidNotChange(t *testing.T) {
	log := &audittest.Log{}
	same, changed, gone, added := &spy{}, &spy{}, &spy{}, &spy{}
	named := func(id, settings string, rows int) func(*execution.Connection) {
		return func(c *execution.Connection) { c.ID, c.Settings, c.Limits.Rows = id, settings, rows }
	}
	g := newGateway(t, log, same.connection(named("same", "1", 5)), changed.connection(named("changed", "1", 5)), gone.connection(named("gone", "1", 5)))
	ask := func(id string) error {
		_, err := g.Query(t.Context(), execution.Request{ConnectionID: id, SQL: "SELECT 1"})
		return err
	}
	for _, id := range []string{"same", "changed", "gone"} {
		if err := ask(id); err != nil {
			t.Fatal(err)
		}
	}
	next, other := &spy{}, &spy{}
	did, err := g.Reload(t.Context(), other.connection(named("same", "1", 5)), next.connection(named("changed", "1", 7)), added.connection(named("added", "", 0)))
	if err != nil {
		t.Fatal(err)
	}
	want := execution.Reloaded{Added: []string{"added"}, Changed: []string{"changed"}, Removed: []string{"gone"}, Kept: []string{"same"}}
	if !reflect.DeepEqual(did, want) {
		t.Errorf("reload did %+v, want %+v", did, want)
	}
	for _, id := range []string{"same", "changed", "added"} {
		if err := ask(id); err != nil {
			t.Error(err)
		}
	}
	if err := ask("gone"); execution.CodeOf(err) != sqlguard.CodeUnknownConnection {
		t.Errorf("a connection that is gone answers %v", err)
	}
	if info, _ := g.Connection(t.Context(), "changed"); info.Limits.Rows != 7 {
		t.Errorf("limits %+v", info.Limits)
	}
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*spy{"same": same, "changed": changed, "gone": gone, "next": next, "added": added} {
		if !s.closed {
			t.Errorf("the backend %s is not closed", name)
		}
	}
	if len(same.sent) != 2 || len(other.sent) != 0 || len(changed.sent) != 1 || len(next.sent) != 1 {
		t.Errorf("sent to same %q and %q, to changed %q and %q", same.sent, other.sent, changed.sent, next.sent)
	}
	reloads := log.Events(audit.ConfigReload, audit.GatewayStart)
	if len(reloads) != 2 || reloads[1].Reason != execution.ReloadDone || len(reloads[1].Process.Config) != 64 || reloads[0].Process.Config == reloads[1].Process.Config {
		t.Errorf("events %+v", reloads)
	}
}

// A change of any field that is data makes a different connection.
func TestReloadSeesEveryChange(t *testing.T) {
	for field := range reflect.TypeFor[execution.Connection]().Fields() {
		if field.Type.Kind() == reflect.Func || field.Name == "ID" {
			continue
		}
		t.Run(field.Name, func(t *testing.T) {
			s := &spy{}
			g := newGateway(t, &audittest.Log{}, s.connection(func(c *execution.Connection) { c.Settings = "1" }))
			did, err := g.Reload(t.Context(), s.connection(func(c *execution.Connection) {
				c.Settings = "1"
				change(t, reflect.ValueOf(c).Elem().FieldByIndex(field.Index))
			}))
			if err != nil || !slices.Equal(did.Changed, []string{"shop"}) {
				t.Errorf("reload did %+v, %v", did, err)
			}
		})
	}
}

// change gives v another value.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Interface().(type) {
	case sqlguard.Dialect:
		v.Set(reflect.ValueOf(otherDialect{}))
		return
	case *execution.Error:
		v.Set(reflect.ValueOf(execution.NewError(sqlguard.CodeNotConfigured, "why", errors.New("cause"))))
		return
	}
	switch v.Kind() { //nolint:exhaustive // the test fails on every other kind
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 7)
	case reflect.Struct:
		change(t, v.Field(0))
	default:
		t.Fatalf("no other value is known for %s", v.Type())
	}
}

type otherDialect struct{ wordDialect }

func (otherDialect) Version() string { return "2" }

func TestReloadThatCannotBe(t *testing.T) {
	log, backend := &audittest.Log{}, &spy{}
	g := newGateway(t, log, backend.connection())
	before := log.Events()[0].Process.Config
	if _, err := g.Reload(t.Context(), backend.connection(), backend.connection()); err == nil {
		t.Error("two connections with one id were accepted")
	}
	events := log.Events(audit.ConfigReload)
	if len(events) != 1 || events[0].Reason != execution.ReloadRefused || events[0].Process.Config != before {
		t.Errorf("events %+v", events)
	}
	log.Fail(errors.New("no space"))
	if _, err := g.Reload(t.Context()); execution.CodeOf(err) != sqlguard.CodeAuditUnavailable {
		t.Errorf("a reload that is not recorded: %v", err)
	}
	if _, err := g.Reload(t.Context(), execution.Connection{}); execution.CodeOf(err) != sqlguard.CodeAuditUnavailable {
		t.Errorf("a refusal that is not recorded: %v", err)
	}
	log.Fail(nil)
	if _, err := query(t.Context(), g, "SELECT 1"); err != nil {
		t.Errorf("the old configuration is not in force: %v", err)
	}
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Reload(t.Context()); execution.CodeOf(err) != sqlguard.CodeDraining {
		t.Errorf("a reload after the end: %v", err)
	}
}

// A reload that removes a connection lets a running call end, and closes the
// backend only then.
func TestReloadLetsCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, backend := &audittest.Log{}, &spy{}
		release := make(chan struct{})
		backend.query = func(context.Context) (*execution.Result, error) {
			<-release
			if backend.closed {
				t.Error("the backend was closed under the call")
			}
			return &execution.Result{}, nil
		}
		g := newGateway(t, log, backend.connection(func(c *execution.Connection) { c.Concurrency = 1 }))
		ended := make(chan error, 2)
		for i := range 2 { // the second one waits for a slot
			go func() {
				_, err := query(t.Context(), g, fmt.Sprintf("SELECT %d", i))
				ended <- err
			}()
		}
		synctest.Wait()
		if _, err := g.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		close(release)
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if !backend.closed || len(backend.sent) != 2 {
			t.Errorf("closed %v, sent %q", backend.closed, backend.sent)
		}
		if err := g.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A Close whose context has ended also ends the statements on connections that
// a reload removed.
func TestCloseEndsWhatAReloadLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan struct{})
		backend := &closer{closed: closed}
		backend.query = func(context.Context) (*execution.Result, error) {
			<-closed
			return nil, execution.NewError(sqlguard.CodeDraining, "closed", nil)
		}
		g := newGateway(t, &audittest.Log{}, backend.connection(func(c *execution.Connection) {
			c.Open = func(_ context.Context, guard sqlguard.ID) (execution.Backend, error) {
				backend.SetGuard(guard)
				return backend, nil
			}
		}))
		ended := make(chan error, 1)
		go func() {
			_, err := query(t.Context(), g, "SELECT 1")
			ended <- err
		}()
		synctest.Wait()
		if _, err := g.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := <-ended; execution.CodeOf(err) != sqlguard.CodeDraining {
			t.Error(err)
		}
	})
}

// closer is a spy that lets a test wait until it is closed.
type closer struct {
	spy
	closed chan struct{}
	once   sync.Once
}

func (c *closer) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// opener opens backends, counts the open ones and remembers under which guard
// each statement ran.
type opener struct {
	mu   sync.Mutex
	ran  map[string]sqlguard.ID
	open atomic.Int32
}

type opened struct {
	*opener
	guard atomic.Pointer[sqlguard.ID]
	inUse atomic.Int32
	over  atomic.Bool
	t     *testing.T
}

func (o *opener) backend(t *testing.T) func(context.Context, sqlguard.ID) (execution.Backend, error) {
	t.Helper()
	return func(_ context.Context, guard sqlguard.ID) (execution.Backend, error) {
		o.open.Add(1)
		b := &opened{opener: o, t: t}
		b.guard.Store(&guard)
		return b, nil
	}
}

func (b *opened) Query(_ context.Context, stmt sqlguard.Approved, _ execution.Limits) (*execution.Result, error) {
	b.inUse.Add(1)
	defer b.inUse.Add(-1)
	if b.over.Load() {
		return nil, execution.NewError(sqlguard.CodeDraining, "closed", nil)
	}
	id := *b.guard.Load()
	text, err := stmt.SQLFor(id)
	if err != nil {
		return nil, err
	}
	runtime.Gosched()
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, twice := b.ran[text]; twice {
		b.t.Errorf("%q ran twice", text)
	}
	b.ran[text] = id
	return &execution.Result{}, nil
}

func (b *opened) Catalog(context.Context) (*sqlguard.Catalog, error) { return nil, nil }
func (b *opened) SetGuard(id sqlguard.ID)                            { b.guard.Store(&id) }
func (b *opened) Probe(context.Context) (execution.ProbeReport, error) {
	return execution.ProbeReport{}, nil
}

func (b *opened) Close() error {
	b.over.Store(true)
	if b.inUse.Load() != 0 {
		b.t.Error("a backend is closed while a statement runs on it")
	}
	b.open.Add(-1)
	return nil
}

// TestReloadUnderLoad replaces the policy of a connection again and again while
// calls run. Every decision follows one policy, every statement that ran was
// approved by the guard that its decision names, no call is lost, and no
// backend stays open.
func TestReloadUnderLoad(t *testing.T) {
	const callers, calls, reloads = 16, 200, 50
	before := goleak.IgnoreCurrent()
	log, o := &audittest.Log{}, &opener{ran: map[string]sqlguard.ID{}}
	config := func(maxBytes int) []execution.Connection {
		connection := execution.Connection{
			ID: "shop", Engine: "WORDS", Dialect: wordDialect{}, Policy: sqlguard.Policy{MaxBytes: maxBytes},
			Open: o.backend(t), Settings: "1", Queue: callers,
		}
		steady := connection
		steady.ID, steady.Policy.MaxBytes = "steady", 100
		return []execution.Connection{connection, steady}
	}
	guard := map[string]int{} // the policy by the ID of its guard
	for _, n := range []int{30, 100} {
		made, err := sqlguard.New(wordDialect{}, sqlguard.Policy{MaxBytes: n}, nil)
		if err != nil {
			t.Fatal(err)
		}
		guard[made.ID().String()] = n
	}
	g := newGateway(t, log, config(30)...)
	var answers, refusals atomic.Int32
	var wait sync.WaitGroup
	for caller := range callers {
		wait.Go(func() {
			for i := range calls {
				// Only one of the policies allows every second statement.
				text := fmt.Sprintf("SELECT %02d %03d", caller, i)
				if i%2 == 1 {
					text += " and more than thirty bytes"
				}
				id := "shop"
				if i%5 == 0 {
					id = "steady"
				}
				_, err := g.Query(t.Context(), execution.Request{ConnectionID: id, SQL: text})
				switch code := execution.CodeOf(err); {
				case err == nil:
					answers.Add(1)
				case code == sqlguard.CodeInputTooLarge && i%2 == 1 && id == "shop":
					refusals.Add(1)
				default:
					t.Errorf("%s: %v", text, err)
				}
			}
		})
	}
	for i := range reloads {
		did, err := g.Reload(t.Context(), config([]int{100, 30}[i%2])...)
		if err != nil || !slices.Equal(did.Changed, []string{"shop"}) || !slices.Equal(did.Kept, []string{"steady"}) {
			t.Errorf("reload %d did %+v, %v", i, did, err)
		}
		for range 20 {
			runtime.Gosched()
		}
	}
	wait.Wait()
	if err := g.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if n := o.open.Load(); n != 0 {
		t.Errorf("%d backends are left open", n)
	}
	if total := answers.Load() + refusals.Load(); total != callers*calls || int(answers.Load()) != len(o.ran) {
		t.Errorf("%d answers and %d refusals of %d calls; %d ran", answers.Load(), refusals.Load(), callers*calls, len(o.ran))
	}
	decisions := log.Events(audit.QueryDecision)
	if len(decisions) != callers*calls {
		t.Errorf("%d decisions of %d calls", len(decisions), callers*calls)
	}
	outcomes := map[string]int{}
	for _, e := range log.Events(audit.QueryFinished) {
		outcomes[e.QueryID]++
	}
	for _, e := range decisions {
		maxBytes, known := guard[e.Decision.Policy]
		allowed := e.Decision.Verdict == audit.VerdictAllow
		id, ran := o.ran[e.SQL.Text]
		switch {
		case !known, e.Connection.ID == "steady" && maxBytes != 100:
			t.Errorf("%q on %s was judged by an unknown policy %s", e.SQL.Text, e.Connection.ID, e.Decision.Policy)
		case allowed != (len(e.SQL.Text) <= maxBytes):
			t.Errorf("%q: %s under the policy of %d bytes", e.SQL.Text, e.Decision.Verdict, maxBytes)
		case allowed != ran, ran && id.String() != e.Decision.Policy:
			t.Errorf("%q: %s by %s, ran %v by %s", e.SQL.Text, e.Decision.Verdict, e.Decision.Policy, ran, id)
		case outcomes[e.QueryID] != 0 != ran, outcomes[e.QueryID] > 1:
			t.Errorf("%q: ran %v, %d outcomes", e.SQL.Text, ran, outcomes[e.QueryID])
		}
	}
	if n := len(log.Events(audit.ConfigReload)); n != reloads {
		t.Errorf("%d reloads recorded", n)
	}
	goleak.VerifyNone(t, before)
	t.Logf("%d calls, %d refused, %d reloads", len(decisions), refusals.Load(), reloads)
}
