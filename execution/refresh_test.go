package execution_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/sqlguard"
)

// server is a backend whose catalogue a test can change. It counts how often
// the gateway asks for it.
type server struct {
	spy
	asked   int
	answer  func(context.Context) (*sqlguard.Catalog, error)
	started chan struct{} // when set, gets a value when a call of Catalog begins
}

func (s *server) Catalog(ctx context.Context) (*sqlguard.Catalog, error) {
	s.mu.Lock()
	s.asked++
	answer, started := s.answer, s.started
	s.mu.Unlock()
	if started != nil {
		started <- struct{}{}
	}
	return answer(ctx)
}

// tells makes the server answer with a catalogue or an error.
func (s *server) tells(c *sqlguard.Catalog, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = func(context.Context) (*sqlguard.Catalog, error) { return c, err }
}

func (s *server) questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *server) connection(change ...func(*execution.Connection)) execution.Connection {
	return s.spy.connection(append([]func(*execution.Connection){func(c *execution.Connection) {
		c.Dialect = tableDialect{} // every statement reads the table t of some schema
		c.Policy.Schemas.Deny = []string{"hr"}
		c.Open = func(_ context.Context, guard sqlguard.ID) (execution.Backend, error) {
			s.SetGuard(guard)
			return s, nil
		}
	}}, change...)...)
}

// inSchema is the catalogue of a server whose search path has one schema.
func inSchema(name string) *sqlguard.Catalog {
	return &sqlguard.Catalog{SearchPath: []string{name}, Database: "shop"}
}

func closeGateway(t *testing.T, g *execution.Gateway) {
	t.Helper()
	if err := g.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func catalogOf(t *testing.T, g *execution.Gateway) execution.CatalogInfo {
	t.Helper()
	info, err := g.Connection(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	return info.Catalog
}

func TestWhatTheServerTellsIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, backend := &audittest.Log{}, &server{}
		tells := func(schema string) { // in a second, in which a statement that does not wait for it ends
			backend.tells(inSchema(schema), nil)
			answer := backend.answer
			backend.answer = func(ctx context.Context) (*sqlguard.Catalog, error) {
				time.Sleep(time.Second)
				return answer(ctx)
			}
		}
		tells("public")
		g := newGateway(t, log, backend.connection())
		defer closeGateway(t, g)
		ask := func(want sqlguard.Code, questions int) {
			t.Helper()
			_, err := query(t.Context(), g, "SELECT t")
			time.Sleep(2 * time.Second)
			if execution.CodeOf(err) != want || backend.questions() != questions {
				t.Errorf("err %v, want %q; asked %d times, want %d", err, want, backend.questions(), questions)
			}
		}
		ask("", 1)
		time.Sleep(3 * time.Minute)
		ask("", 1)
		// When little time is left, the gateway asks again while the statement
		// runs without waiting.
		time.Sleep(time.Minute)
		ask("", 2)
		// The gateway does not judge with an old answer.
		tells("hr")
		time.Sleep(time.Hour)
		ask(sqlguard.CodeRelationNotAllowed, 3)
		tells("public")
		time.Sleep(4 * time.Minute)
		ask(sqlguard.CodeRelationNotAllowed, 4)
		ask("", 4)
		want := "gateway.start query.decision:allow query.finished:ok query.decision:allow query.finished:ok query.decision:allow query.finished:ok " +
			"config.reload query.decision:reject query.decision:reject config.reload query.decision:allow query.finished:ok"
		if got := events(log); got != want {
			t.Errorf("events %q, want %q", got, want)
		}
		for _, e := range log.Events() {
			if e.Type == audit.ConfigReload && (e.Reason != execution.CatalogReplaced || e.Connection.ID != "shop" || len(e.Decision.Policy) != 64) {
				t.Errorf("event %+v", e)
			}
		}
	})
}

func TestAnEqualCatalogueKeepsTheGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, backend := &audittest.Log{}, &server{}
		backend.tells(inSchema("public"), nil)
		g := newGateway(t, log, backend.connection())
		defer closeGateway(t, g)
		for range 3 {
			backend.tells(inSchema("public"), nil) // another value with the same content
			if _, err := query(t.Context(), g, "SELECT t"); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
		}
		if backend.questions() != 3 || strings.Contains(events(log), "config.reload") {
			t.Errorf("asked %d times; events %q", backend.questions(), events(log))
		}
	})
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, backend := &audittest.Log{}, &server{}
		backend.tells(inSchema("public"), nil)
		g := newGateway(t, log, backend.connection())
		defer closeGateway(t, g)
		began := time.Now()
		if _, err := query(t.Context(), g, "SELECT t"); err != nil {
			t.Fatal(err)
		}
		if info := catalogOf(t, g); !info.Loaded.Equal(began) || info.Failure != "" {
			t.Errorf("%+v", info)
		}
		backend.tells(nil, errors.New("gone"))
		for range 5 {
			time.Sleep(2 * time.Minute) // up to 10 minutes after the last answer
			if _, err := query(t.Context(), g, "SELECT t"); err != nil {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
			synctest.Wait()
		}
		if info := catalogOf(t, g); !info.Loaded.Equal(began) || !strings.Contains(info.Failure, "cannot connect") {
			t.Errorf("%+v", info)
		}
		asked := backend.questions()
		for range 20 {
			if _, err := query(t.Context(), g, "SELECT t"); err != nil {
				t.Error(err)
			}
		}
		if got := backend.questions() - asked; got != 0 {
			t.Errorf("asked %d times at once", got)
		}
		time.Sleep(6 * time.Minute)
		sent := len(backend.sent)
		for range 3 {
			if _, err := query(t.Context(), g, "SELECT t"); execution.CodeOf(err) != sqlguard.CodeConnectionLost {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		}
		if len(backend.sent) != sent {
			t.Error("a statement was sent")
		}
		// The next statement fails too.
		if _, err := query(t.Context(), g, "SELECT t"); err == nil {
			t.Error("no error")
		}
		backend.tells(inSchema("public"), nil)
		if _, err := query(t.Context(), g, "SELECT t"); err != nil {
			t.Errorf("the connection does not recover: %v", err)
		}
		if info := catalogOf(t, g); info.Failure != "" {
			t.Errorf("%+v", info)
		}
		// The failure is recorded once.
		n := 0
		for _, e := range log.Events() {
			if e.Type == audit.ConfigReload {
				n++
				if e.Reason != execution.CatalogUnavailable || e.Result.Code != string(sqlguard.CodeConnectionLost) {
					t.Errorf("event %+v", e)
				}
			}
		}
		if n != 1 {
			t.Errorf("%d events, want 1", n)
		}
	})
}

func TestASlowServerHoldsStatementsUpForSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &server{}
		backend.tells(inSchema("public"), nil)
		g := newGateway(t, &audittest.Log{}, backend.connection())
		defer closeGateway(t, g)
		if _, err := query(t.Context(), g, "SELECT t"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(6 * time.Minute)
		release := make(chan struct{})
		backend.mu.Lock()
		backend.answer = func(context.Context) (*sqlguard.Catalog, error) {
			<-release
			return inSchema("hr"), nil
		}
		backend.mu.Unlock()
		began := time.Now()
		if _, err := query(t.Context(), g, "SELECT t"); err != nil || time.Since(began) != 5*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		close(release)
		synctest.Wait()
		if _, err := query(t.Context(), g, "SELECT t"); execution.CodeOf(err) != sqlguard.CodeRelationNotAllowed || backend.questions() != 2 {
			t.Errorf("%v, asked %d times", err, backend.questions())
		}
	})
}

// TestManyCallersAskOnce starts callers together, on a connection that was
// never used and on one whose last use was long ago.
func TestManyCallersAskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &server{}
		backend.answer = func(context.Context) (*sqlguard.Catalog, error) {
			time.Sleep(time.Second)
			return inSchema("public"), nil
		}
		opened := 0
		g := newGateway(t, &audittest.Log{}, backend.connection(func(c *execution.Connection) {
			open := c.Open
			c.Open = func(ctx context.Context, id sqlguard.ID) (execution.Backend, error) {
				opened++
				return open(ctx, id)
			}
		}))
		defer closeGateway(t, g)
		for i := range 3 {
			var callers sync.WaitGroup
			for range 16 {
				callers.Go(func() {
					if _, err := query(t.Context(), g, "SELECT t"); err != nil {
						t.Error(err)
					}
				})
			}
			callers.Wait()
			if backend.questions() != i+1 || opened != 1 {
				t.Errorf("asked %d times, opened %d times", backend.questions(), opened)
			}
			time.Sleep(time.Hour)
		}
	})
}

// TestACallerWhoLeavesDoesNotEndAnOpening: a caller gives up while the
// connection opens.
func TestACallerWhoLeavesDoesNotEndAnOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &server{}
		backend.answer = func(ctx context.Context) (*sqlguard.Catalog, error) {
			time.Sleep(time.Minute)
			return inSchema("public"), ctx.Err()
		}
		g := newGateway(t, &audittest.Log{}, backend.connection())
		defer closeGateway(t, g)
		_, err := g.Query(t.Context(), execution.Request{ConnectionID: "shop", SQL: "SELECT t", Limits: execution.Limits{Timeout: time.Second}})
		if execution.CodeOf(err) != sqlguard.CodeTimeout {
			t.Errorf("err = %v, want timeout", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := query(ctx, g, "SELECT t"); execution.CodeOf(err) != sqlguard.CodeCancelled {
			t.Errorf("err = %v, want cancelled", err)
		}
		time.Sleep(time.Minute)
		if _, err := query(t.Context(), g, "SELECT t"); err != nil || backend.questions() != 1 {
			t.Errorf("%v, asked %d times", err, backend.questions())
		}
	})
}

func TestCloseEndsAnOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &server{}
		backend.answer = func(ctx context.Context) (*sqlguard.Catalog, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		g := newGateway(t, &audittest.Log{}, backend.connection())
		ended := make(chan error, 1)
		go func() {
			_, err := query(t.Context(), g, "SELECT t")
			ended <- err
		}()
		synctest.Wait()
		stopping, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.Close(stopping); err != nil {
			t.Error(err)
		}
		if err := <-ended; execution.CodeOf(err) != sqlguard.CodeDraining {
			t.Errorf("err = %v, want draining", err)
		}
		if !backend.closed {
			t.Error("the backend is open")
		}
	})
}

func TestAFaultWhileOpeningIsAnError(t *testing.T) {
	backend := &server{}
	backend.answer = func(context.Context) (*sqlguard.Catalog, error) { panic("secret") }
	g := newGateway(t, &audittest.Log{}, backend.connection())
	defer closeGateway(t, g)
	for range 2 {
		if _, err := query(t.Context(), g, "SELECT t"); execution.CodeOf(err) != sqlguard.CodeInternalError || strings.Contains(err.Error(), "secret") {
			t.Errorf("err = %v", err)
		}
	}
}

func TestANameThatIsNotKnownAsksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, backend := &audittest.Log{}, &server{}
		both := &sqlguard.Catalog{SearchPath: []string{"public", "hr"}, Database: "shop"}
		backend.tells(both, nil)
		g := newGateway(t, log, backend.connection())
		defer closeGateway(t, g)
		ask := func(want sqlguard.Code, questions int) {
			t.Helper()
			if _, err := query(t.Context(), g, "SELECT t"); execution.CodeOf(err) != want || backend.questions() != questions {
				t.Errorf("err %v, want %q; asked %d times, want %d", err, want, backend.questions(), questions)
			}
		}
		for range 5 {
			ask(sqlguard.CodeUnresolvedObject, 1) // the gateway asked a moment ago
		}
		time.Sleep(execution.DefaultRefreshRetry)
		ask(sqlguard.CodeUnresolvedObject, 2)
		ask(sqlguard.CodeUnresolvedObject, 2)
		time.Sleep(execution.DefaultRefreshRetry)
		backend.tells(inSchema("public"), nil)
		ask("", 3)
		// Each call has one decision: the one of the newer guard.
		if got := strings.Count(events(log), "query.decision"); got != 8 {
			t.Errorf("%d decisions: %s", got, events(log))
		}
	})
}

// TestAReplacedGuardJudgesAgain replaces the guard while a statement that the
// old guard approved waits for a slot.
func TestAReplacedGuardJudgesAgain(t *testing.T) {
	for schema, want := range map[string]struct {
		code   sqlguard.Code
		events string
	}{
		"sales": {"", "query.decision:allow query.decision:allow query.finished:ok"},
		"hr":    {sqlguard.CodeRelationNotAllowed, "query.decision:allow query.decision:reject query.finished:error:relation_not_allowed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			log, backend := &audittest.Log{}, &server{}
			backend.tells(inSchema("public"), nil)
			release := make(chan struct{})
			backend.query = func(context.Context) (*execution.Result, error) {
				<-release
				return &execution.Result{}, nil
			}
			g := newGateway(t, log, backend.connection(func(c *execution.Connection) { c.Concurrency, c.Refresh.Every = 1, time.Second }))
			defer closeGateway(t, g)
			first, second, third := make(chan error, 1), make(chan error, 1), make(chan error, 1)
			for _, outcome := range []chan error{first, second, third} {
				go func() {
					_, err := query(t.Context(), g, "SELECT t")
					outcome <- err
				}()
				synctest.Wait()
				if outcome == second { // it waits; the third statement brings the new guard
					time.Sleep(2 * time.Second)
					backend.tells(inSchema(schema), nil)
				}
			}
			close(release)
			if err := <-first; err != nil {
				t.Errorf("the first statement: %v", err)
			}
			for _, outcome := range []chan error{second, third} {
				if err := <-outcome; execution.CodeOf(err) != want.code {
					t.Errorf("%s: %v, want %q", schema, err, want.code)
				}
			}
			waited := log.Events()[2].QueryID // after the start event and the decision on the first statement
			var got []string
			for _, e := range log.Events() {
				if e.QueryID == waited {
					got = append(got, eventText(e))
				}
			}
			if diff := strings.Join(got, " "); diff != want.events {
				t.Errorf("%s: events %q, want %q", schema, diff, want.events)
			}
		})
	}
}

// TestABrokenConnectionAsksAgain: the server may have been replaced since then.
func TestABrokenConnectionAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &server{}
		backend.tells(inSchema("public"), nil)
		g := newGateway(t, &audittest.Log{}, backend.connection())
		defer closeGateway(t, g)
		if _, err := query(t.Context(), g, "SELECT t"); err != nil {
			t.Fatal(err)
		}
		backend.query = func(context.Context) (*execution.Result, error) {
			return nil, execution.NewError(sqlguard.CodeServerRestarted, "gone", nil)
		}
		time.Sleep(execution.DefaultRefreshRetry)
		if _, err := query(t.Context(), g, "SELECT t"); execution.CodeOf(err) != sqlguard.CodeServerRestarted {
			t.Errorf("err = %v", err)
		}
		backend.tells(inSchema("hr"), nil)
		if _, err := query(t.Context(), g, "SELECT t"); execution.CodeOf(err) != sqlguard.CodeRelationNotAllowed {
			t.Errorf("err = %v", err)
		}
	})
}

// TestSwapUnderLoad changes the server's answer all the time. The audit log
// shows that each statement that ran was approved by the guard whose ID the
// backend had at that time.
func TestSwapUnderLoad(t *testing.T) {
	log, backend := &audittest.Log{}, &judging{ran: map[string]sqlguard.ID{}}
	paths := []string{"public", "hr", "sales", "public"}
	var turn int
	backend.answer = func(context.Context) (*sqlguard.Catalog, error) {
		backend.mu.Lock()
		defer backend.mu.Unlock()
		turn++
		return inSchema(paths[turn%len(paths)]), nil
	}
	g := newGateway(t, log, backend.connection(func(c *execution.Connection) {
		c.Refresh = execution.Refresh{Every: time.Microsecond, Keep: time.Hour, Retry: time.Microsecond}
		c.Open = func(_ context.Context, guard sqlguard.ID) (execution.Backend, error) {
			backend.SetGuard(guard)
			return backend, nil
		}
	}))
	var callers sync.WaitGroup
	for caller := range 16 {
		callers.Go(func() {
			for i := range 200 {
				_, err := query(t.Context(), g, fmt.Sprintf("SELECT %d %d", caller, i))
				if code := execution.CodeOf(err); err != nil && code != sqlguard.CodeRelationNotAllowed {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	closeGateway(t, g)
	last := map[string]audit.Event{} // decision by HMAC of the statement
	for _, e := range log.Events() {
		if e.Type == audit.QueryDecision {
			last[e.SQL.HMAC] = e
		}
	}
	refused := 0
	for text, guard := range backend.ran {
		e := last[log.HMAC(text)]
		if e.Decision.Verdict != audit.VerdictAllow || e.Decision.Policy != guard.String() {
			t.Errorf("%s ran under %v; its last decision is %+v", text, guard, e.Decision)
		}
	}
	for _, e := range last {
		if e.Decision.Verdict == audit.VerdictReject {
			refused++
		}
	}
	if len(backend.ran)+refused != 16*200 || refused == 0 || len(backend.ran) == 0 {
		t.Errorf("%d ran and %d were refused of %d", len(backend.ran), refused, 16*200)
	}
}

// judging is a server that remembers under which guard each statement ran.
type judging struct {
	server
	ran map[string]sqlguard.ID
}

func (j *judging) Query(_ context.Context, stmt sqlguard.Approved, _ execution.Limits) (*execution.Result, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	text, err := stmt.SQLFor(j.guard)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	if _, again := j.ran[text]; again {
		return nil, errors.New("a statement ran twice")
	}
	j.ran[text] = j.guard
	return &execution.Result{}, nil
}
