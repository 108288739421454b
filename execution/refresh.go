package execution

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// Refresh says how long a guard may rely on the server's last answer about
// itself: version, search path and, when the connection has them, objects. The
// zero value of a field means its default.
type Refresh struct {
	// Every is the age of an answer at which a statement waits for a newer one.
	// The gateway asks the server a little earlier, when a statement comes, so
	// that statements need not wait.
	Every time.Duration
	// Keep is the age at which an answer is no longer used. Statements then
	// fail until the server answers.
	Keep time.Duration
	// Retry is the least time between two requests to the server while an older
	// answer may still be used. It also applies to statements that name an
	// object that the guard does not know.
	Retry time.Duration
}

// The defaults of [Refresh].
const (
	DefaultRefreshEvery = 5 * time.Minute
	DefaultRefreshKeep  = 15 * time.Minute
	DefaultRefreshRetry = 10 * time.Second
)

// WithDefaults returns r with every zero field set to its default.
func (r Refresh) WithDefaults() Refresh {
	if r.Every <= 0 {
		r.Every = DefaultRefreshEvery
	}
	if r.Keep <= 0 {
		r.Keep = max(DefaultRefreshKeep, r.Every)
	}
	if r.Retry <= 0 {
		r.Retry = min(DefaultRefreshRetry, r.Every)
	}
	return r
}

const (
	// loadTime bounds one attempt to open a connection or to ask its server
	// again, no matter who waits for it.
	loadTime = 2 * time.Minute
	// refreshWait is how long a statement waits for a newer answer while an
	// older one may still be used.
	refreshWait = 5 * time.Second
)

// The reasons of a config.reload event that names a connection.
const (
	// CatalogReplaced: the server's answer about itself has changed, and a new
	// guard judges from now on.
	CatalogReplaced = "catalog_replaced"
	// CatalogUnavailable: the gateway could not ask the server. It records the
	// event once, and again only after the server has answered in between.
	CatalogUnavailable = "catalog_unavailable"
)

// CatalogInfo says what the guard of a connection knows of its server.
type CatalogInfo struct {
	Objects bool      // the guard judges with the objects of the database
	Loaded  time.Time // when the server last answered; zero before the first use
	Count   int       // number of objects known
	Failure string    // why the last attempt to ask the server failed, or ""
}

// loader opens a connection and asks its server again from time to time. One
// attempt runs at a time, in a goroutine of its own. A caller that stops waiting
// for its outcome does not end it.
type loader struct {
	mu      sync.Mutex
	running *attempt
	tried   time.Time // when the last attempt began
	failure error     // of the last attempt
	closed  bool

	// swap is held while guard and backend change together.
	swap    sync.Mutex
	closing sync.Mutex
}

// attempt is one attempt. Its outcome is set when done is closed.
type attempt struct {
	done   chan struct{}
	cancel context.CancelFunc
	state  *doorState
	err    error
}

// fresh reports whether s needs no newer answer of the server.
func (d *door) fresh(s *doorState) bool {
	return s.backend != nil && !s.doubted && time.Since(s.loaded) < d.Refresh.Every*4/5
}

// ready returns a state whose backend is open and whose guard has an answer of
// the server that is recent enough for Refresh. The first use opens the
// backend.
func (d *door) ready(ctx context.Context, log audit.Log) (*doorState, error) {
	s := d.state.Load()
	if s.backend == nil {
		return d.load(ctx, log)
	}
	age := time.Since(s.loaded)
	if s.doubted {
		age = max(age, d.Refresh.Every)
	}
	switch {
	case d.fresh(s):
		return s, nil
	case age < d.Refresh.Every:
		d.start(ctx, log, d.Refresh.Retry)
		return s, nil
	case age < d.Refresh.Keep:
		if s = d.renew(ctx, log, s); !s.loaded.IsZero() {
			return s, nil
		}
		return d.load(ctx, log) // the role was refused meanwhile: see expire
	default:
		return d.load(ctx, log)
	}
}

// renew returns a newer state than s. It returns s when the gateway asked the
// server a short while ago, and when the server does not answer soon.
func (d *door) renew(ctx context.Context, log audit.Log, s *doorState) *doorState {
	a := d.start(ctx, log, d.Refresh.Retry)
	if a == nil {
		return d.settled(s)
	}
	waiting, cancel := context.WithTimeout(ctx, refreshWait)
	defer cancel()
	select {
	case <-a.done:
	case <-waiting.Done():
	}
	return d.settled(s)
}

// settled returns the state in force, after any change in progress is complete.
// It returns s when the connection is closed.
func (d *door) settled(s *doorState) *doorState {
	d.loader.swap.Lock()
	defer d.loader.swap.Unlock()
	if now := d.state.Load(); now.backend != nil {
		return now
	}
	return s
}

// doubt makes the next statement ask the server again. The connection broke, so
// the server may have been replaced.
func (d *door) doubt() {
	d.loader.swap.Lock()
	defer d.loader.swap.Unlock()
	s := *d.state.Load()
	if s.backend == nil {
		return
	}
	s.doubted = true
	d.state.Store(&s)
}

// expire makes every statement wait for an answer of the server, because the role
// may now do more than it is allowed to.
func (d *door) expire() {
	d.loader.swap.Lock()
	defer d.loader.swap.Unlock()
	s := *d.state.Load()
	s.loaded = time.Time{}
	d.state.Store(&s)
}

// load waits for an attempt.
func (d *door) load(ctx context.Context, log audit.Log) (*doorState, error) {
	if d.Open == nil {
		return nil, d.Unavailable
	}
	a := d.start(ctx, log, 0)
	if a == nil {
		return nil, drainingError()
	}
	select {
	case <-a.done:
		return a.state, a.err
	case <-ctx.Done():
		return nil, openError(ctx, d.ID, ctx.Err())
	}
}

// start returns the attempt that is running, or begins one. It returns nil when
// the last attempt began less than pause ago, and when the connection is
// closed.
func (d *door) start(ctx context.Context, log audit.Log, pause time.Duration) *attempt {
	l := &d.loader
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running != nil {
		return l.running
	}
	if l.closed || pause > 0 && time.Since(l.tried) < pause {
		return nil
	}
	// The attempt is recorded as an act of the gateway, not of the caller who
	// happens to come first.
	ctx, cancel := context.WithTimeout(audit.WithActor(context.WithoutCancel(ctx), audit.Actor{}), loadTime)
	a := &attempt{done: make(chan struct{}), cancel: cancel}
	l.running, l.tried = a, time.Now()
	go func() {
		defer close(a.done)
		defer cancel()
		a.state, a.err = d.attempt(ctx, log)
		l.mu.Lock()
		if a.err != nil && l.closed {
			a.err = drainingError()
		}
		first := a.err != nil && l.failure == nil && !l.closed && d.state.Load().backend != nil
		l.failure = a.err
		l.mu.Unlock()
		if first {
			_ = log.Append(ctx, d.event(CatalogUnavailable, nil, CodeOf(a.err)))
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.running = nil
	}()
	return a
}

// attempt opens the backend unless it is open, asks the server about itself and
// makes the guard that knows the answer. Then it replaces guard and backend
// together. When a step fails, nothing changes.
func (d *door) attempt(ctx context.Context, log audit.Log) (next *doorState, err error) {
	old := d.state.Load()
	backend, opened := old.backend, false
	defer func() {
		if r := recover(); r != nil {
			next, err = nil, NewError(sqlguard.CodeInternalError, "the gateway met a fault of its own while connecting to "+d.ID, fmt.Errorf("panic: %v", r))
		}
		if err != nil && opened {
			err = errors.Join(err, backend.Close())
		}
	}()
	if backend == nil {
		if backend, err = d.Open(ctx, old.guard.ID()); err != nil {
			return nil, openError(ctx, d.ID, err)
		}
		opened = true
	}
	began := time.Now()
	catalog, err := backend.Catalog(ctx)
	if err != nil {
		return nil, openError(ctx, d.ID, err)
	}
	guard := old.guard
	if opened || catalog != old.catalog {
		if guard, err = sqlguard.New(d.Dialect, d.Policy, catalog); err != nil {
			return nil, fmt.Errorf("connection %s: %w", d.ID, err)
		}
	}
	if err := d.probe(ctx, backend, opened); err != nil {
		if !opened && CodeOf(err) == sqlguard.CodeNotConfigured {
			d.expire()
		}
		return nil, err
	}
	switch {
	case opened:
	case guard.ID() == old.guard.ID():
		guard = old.guard // keep it: it has cached verdicts
	default:
		if err := log.Append(ctx, d.event(CatalogReplaced, guard, "")); err != nil {
			return nil, auditError(err)
		}
	}
	next = &doorState{guard: guard, backend: backend, catalog: catalog, loaded: began}
	d.loader.swap.Lock()
	defer d.loader.swap.Unlock()
	backend.SetGuard(guard.ID())
	d.state.Store(next)
	return next, nil
}

// event is the audit event for an attempt.
func (d *door) event(reason string, guard *sqlguard.Guard, code sqlguard.Code) audit.Event {
	e := audit.Event{
		Type: audit.ConfigReload, Reason: reason, Connection: audit.Connection{ID: d.ID, Dialect: d.Dialect.Name()},
		Result: audit.Result{Code: string(code)},
	}
	if guard != nil {
		e.Decision = audit.Decision{Policy: guard.ID().String(), Parser: guard.Dialect().Version()}
	}
	return e
}

// catalogInfo says what the guard knows of its server.
func (d *door) catalogInfo() CatalogInfo {
	info := CatalogInfo{Objects: d.Objects}
	if s := d.state.Load(); s.backend != nil {
		info.Loaded = s.loaded
		if s.catalog != nil && s.catalog.Objects != nil {
			o := s.catalog.Objects
			info.Count = len(o.Functions) + len(o.Operators) + len(o.Casts) + len(o.Types) + len(o.Relations)
		}
	}
	d.loader.mu.Lock()
	defer d.loader.mu.Unlock()
	if d.loader.failure != nil {
		info.Failure = d.loader.failure.Error()
	}
	return info
}

// close ends the attempt that runs, if any, and closes the backend. Nothing
// opens it again.
func (d *door) close() error {
	l := &d.loader
	l.closing.Lock()
	defer l.closing.Unlock()
	l.mu.Lock()
	l.closed = true
	running := l.running
	l.mu.Unlock()
	if running != nil {
		running.cancel()
		<-running.done
	}
	l.swap.Lock()
	s := d.state.Load()
	d.state.Store(&doorState{guard: s.guard})
	l.swap.Unlock()
	if s.backend == nil {
		return nil
	}
	return s.backend.Close()
}
