package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// The times between two attempts to connect: the first one, and the longest. Each
// failure doubles the time.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// The states of a server.
const (
	StatusConnected    = "connected"
	StatusDisconnected = "disconnected"
	StatusError        = "error"
	StatusDisabled     = "disabled"
)

// link is one server, with its connection when there is one.
type link struct {
	manager *Manager

	mu         sync.Mutex
	server     Server
	session    *session
	connecting *attempt
	failures   int // to connect, since the last success
	breaks     int // of connections, until one holds
	retryAt    time.Time
	failure    *Error    // of the last attempt, nil after a success
	busy       int       // calls that use the session, and readings of its tools
	used       time.Time // by the last call
	idle       *time.Timer
	retired    bool
	stale      bool // the server says that its tools have changed
	refreshing bool
	reading    chan struct{} // has an element while the tools are read
	readAt     time.Time     // when changed tools may be read again
	readPause  time.Duration
	listed     *listing
	calls      []time.Time // within the last minute, oldest first
}

// listing is a list of tools. It is immutable.
type listing struct {
	tools    []*Tool
	byName   map[string]*Tool
	at       time.Time
	live     bool // from the server, not from the cache
	problems []string
	digest   string
	title    string // the name and version that the server gave itself
	untested error  // why no tool may be called
}

func newLink(m *Manager, s Server) *link {
	return &link{manager: m, server: s, reading: make(chan struct{}, 1)}
}

func newListing(tools []*Tool, at time.Time, problems []string) *listing {
	l := &listing{tools: tools, byName: make(map[string]*Tool, len(tools)), at: at, problems: problems, digest: digest(tools)}
	for _, t := range tools {
		l.byName[t.Name] = t
	}
	return l
}

// attempt is a connection that is being made.
type attempt struct {
	done    chan struct{}
	session *session
	err     error
}

// acquire returns the open connection, and makes one first if there is none. Release
// must be called afterwards.
func (l *link) acquire(ctx context.Context) (s *session, release func(), err error) {
	l.mu.Lock()
	l.busy++
	if l.idle != nil {
		l.idle.Stop()
	}
	s, a, err := l.ensure()
	l.mu.Unlock()
	if a != nil {
		select {
		case <-a.done:
			s, err = a.session, a.err
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		l.release()
		return nil, nil, err
	}
	return s, sync.OnceFunc(l.release), nil
}

// ensure returns the open connection, or the attempt to wait for. The caller holds the
// lock.
func (l *link) ensure() (*session, *attempt, error) {
	if l.session != nil && l.session.alive() {
		return l.session, nil, nil
	}
	if l.connecting != nil {
		return nil, l.connecting, nil
	}
	if wait := time.Until(l.retryAt); wait > 0 {
		e := *l.failure
		e.RetryAfter = wait.Round(time.Millisecond)
		e.Message += fmt.Sprintf("; the next attempt is in %s", max(wait.Round(time.Second), time.Second))
		return nil, nil, &e
	}
	a := &attempt{done: make(chan struct{})}
	l.connecting = a
	if !l.manager.spawn(func(ctx context.Context) { l.connect(ctx, a) }) {
		l.connecting = nil
		return nil, nil, &Error{Code: CodeServerConnection, Server: l.server.Name, Message: "ktx is stopping", Retryable: true}
	}
	return nil, a, nil
}

// connect makes a connection, and reads the tools.
func (l *link) connect(ctx context.Context, a *attempt) {
	l.mu.Lock()
	server := l.server
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, timeoutOf(&server))
	defer cancel()
	s, err := dial(ctx, &server, l.manager.options.Root, l.manager.options.Version, l.manager.resultBytes(), l.changed)
	if err == nil {
		if _, err = l.relist(ctx, s, &server); err != nil {
			s.close()
			err = s.explain(&server, err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(a.done)
	l.connecting = nil
	if err != nil {
		a.err = err
		l.failed(err)
		return
	}
	a.session, l.session, l.used = s, s, time.Now()
	l.failures, l.retryAt, l.failure = 0, time.Time{}, nil
	l.manager.spawn(func(ctx context.Context) { l.await(ctx, s) })
	if l.retired && l.busy == 0 {
		// Calls that wait for the connection began with this configuration. The last of
		// them has been given up.
		l.drop()
	}
}

// failed remembers a failure, and when to try again.
func (l *link) failed(err error) {
	if !errors.As(err, &l.failure) {
		l.failure = &Error{Code: CodeServerConnection, Server: l.server.Name, Message: "no connection", Retryable: true, Err: err}
	}
	l.failures++
	l.rest(l.failures)
}

// rest refuses to connect for a while, after a number of failures.
func (l *link) rest(failures int) {
	pause := lastPause
	if failures < 7 {
		pause = min(lastPause, firstPause<<(failures-1))
	}
	l.retryAt = time.Now().Add(pause)
	l.manager.logger.Warn("no connection to an upstream server", "server", l.server.Name, "error", l.failure.Message, "retry", pause)
}

// freeBreaks is how many connections in a row may break soon, each to be replaced at
// once.
const freeBreaks = 5

// broke notes that a connection broke, and its process has ended. A server whose
// connections break again and again is left alone for a while, like one that cannot be
// connected to. The caller holds the lock.
func (l *link) broke(s *session) {
	if time.Since(s.since) >= lastPause {
		l.breaks = 0
	}
	l.breaks++
	if l.breaks <= freeBreaks {
		return
	}
	l.failure = &Error{Code: CodeServerConnection, Server: l.server.Name, Message: "the connection breaks again and again", Retryable: true, Hint: "ktx upstream check " + l.server.Name + " says more"}
	if s.process != nil {
		l.failure.Message = "the server ends again and again"
		if said := s.process.said(); said != "" {
			l.failure.Message += "; it wrote: " + said
		}
	}
	l.rest(l.breaks - freeBreaks)
}

// await forgets a connection that has ended. When the manager is closed, it ends it: a
// retired link is not among those that the manager knows.
func (l *link) await(ctx context.Context, s *session) {
	select {
	case <-s.ended:
	case <-ctx.Done():
		s.close()
		<-s.ended
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == s {
		l.session = nil
		l.broke(s)
	}
}

// release says that a call or a reading of the tools has ended. After the last one, the
// connection is closed when it was not used by a call for some time.
func (l *link) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy--
	if l.busy > 0 {
		return
	}
	if l.retired {
		l.drop()
		return
	}
	left := time.Until(l.used.Add(idleOf(&l.server)))
	if left <= 0 {
		l.drop()
		return
	}
	l.idle = time.AfterFunc(left, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.busy == 0 {
			l.drop()
		}
	})
}

// use notes that a call used the connection.
func (l *link) use() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used = time.Now()
}

// drop closes the connection in the background. The caller holds the lock.
func (l *link) drop() {
	s := l.session
	l.session = nil
	if s != nil && !l.manager.spawn(func(context.Context) { s.close() }) {
		s.close()
	}
}

// retire closes the connection when no call uses it any more.
func (l *link) retire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.retired = true
	if l.idle != nil {
		l.idle.Stop()
	}
	if l.busy == 0 {
		l.drop()
	}
}

// breakOff closes a connection that does not work any more.
func (l *link) breakOff(s *session) {
	l.mu.Lock()
	present := l.session == s
	if present {
		l.session = nil
	}
	l.mu.Unlock()
	s.close()
	if present {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.broke(s)
	}
}

// relist reads the tools of a connection, and reports whether they are others than before.
func (l *link) relist(ctx context.Context, s *session, server *Server) (changed bool, err error) {
	l.mu.Lock()
	l.stale = false
	l.mu.Unlock()
	raws, problem, err := s.list(ctx)
	if err != nil {
		return false, err
	}
	if raws == nil && problem == "" {
		l.mu.Lock()
		before := l.listed
		l.mu.Unlock()
		if before != nil && before.live {
			return false, nil
		}
		raws = []json.RawMessage{}
	}
	tools, problems := parseTools(server.Name, raws)
	if problem != "" {
		problems = append(problems, problem)
	}
	listed := newListing(tools, time.Now(), problems)
	listed.live, listed.title = true, s.about
	listed.untested = l.manager.pin(server.Name, tools)
	for _, p := range problems {
		l.manager.logger.Warn("an upstream server lists tools that cannot be used", "server", server.Name, "problem", p)
	}
	l.mu.Lock()
	same := l.listed != nil && l.listed.live && l.listed.untested == nil && listed.untested == nil && l.listed.digest == listed.digest
	if same { // the index, and what was made of the tools, stay
		listed.tools, listed.byName = l.listed.tools, l.listed.byName
	}
	l.listed = listed
	l.mu.Unlock()
	if !same {
		l.manager.lists.Add(1)
	}
	l.manager.keep(*server, listed, raws)
	return !same, nil
}

// changed is called when the server says that its tools have changed. It reads them in
// the background, at most once at a time.
func (l *link) changed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stale = true
	if l.refreshing || l.session == nil {
		return
	}
	l.refreshing = l.manager.spawn(func(ctx context.Context) {
		defer func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.refreshing = false
		}()
		for again := true; again; {
			if l.fresh(ctx) != nil {
				return // the failure is shown by Servers
			}
			l.mu.Lock()
			again = l.stale && l.session != nil && !l.retired
			l.mu.Unlock()
		}
	})
}

// The time between two readings of tools that the server says have changed. It doubles
// while the server keeps changing them. After a reading that took long it is longer: this
// many times as long as the reading, and at most longestChangePause.
const (
	firstChangePause   = 200 * time.Millisecond
	lastChangePause    = 2 * time.Second
	longestChangePause = 10 * time.Second
	readShare          = 20
)

// fresh connects, and reads the tools again if they may have changed.
func (l *link) fresh(ctx context.Context) error {
	s, release, err := l.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	if l.upToDate() {
		return nil
	}
	server, begin := l.settings(), time.Now()
	ctx, cancel := context.WithTimeout(ctx, timeoutOf(&server))
	defer cancel()
	select {
	case l.reading <- struct{}{}:
		defer func() { <-l.reading }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.upToDate() || l.known().live && l.known().at.After(begin) {
		return nil // another call has read them
	}
	l.mu.Lock()
	changed, wait := l.stale, time.Until(l.readAt)
	l.mu.Unlock()
	if changed {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	start := time.Now()
	differs, err := l.relist(ctx, s, &server)
	if err != nil {
		return s.explain(&server, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readPause = min(2*l.readPause, lastChangePause)
	if !differs || time.Since(l.readAt) > lastPause { // it was quiet for a while
		l.readPause = firstChangePause
	}
	l.readAt = time.Now().Add(max(l.readPause, min(readShare*time.Since(start), longestChangePause)))
	return nil
}

// outdated reports whether the tools have to be read.
func (l *link) outdated() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stale || l.listed == nil || time.Since(l.listed.at) > l.manager.ttl()
}

// upToDate reports whether the tools are those that the server has now, as far as is
// known.
func (l *link) upToDate() bool { return !l.outdated() && l.known().live }

// known returns the list of tools, which may be old, or nil.
func (l *link) known() *listing {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.listed
}

// status returns the state and the last error.
func (l *link) status() (state string, failure *Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.server.Disabled:
		return StatusDisabled, nil
	case l.session != nil && l.session.alive():
		return StatusConnected, nil
	case l.failure != nil:
		return StatusError, l.failure
	default:
		return StatusDisconnected, nil
	}
}

// admit counts a call, and returns how long to wait when there were too many within a
// minute.
func (l *link) admit(now time.Time, most int) (wait time.Duration) {
	if most <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.calls) > 0 && now.Sub(l.calls[0]) >= time.Minute {
		l.calls = l.calls[1:]
	}
	if len(l.calls) >= most {
		return l.calls[len(l.calls)-most].Add(time.Minute).Sub(now)
	}
	l.calls = append(l.calls, now)
	return 0
}

func timeoutOf(s *Server) time.Duration {
	if s.Timeout > 0 {
		return s.Timeout
	}
	return DefaultTimeout
}

func idleOf(s *Server) time.Duration {
	if s.Idle > 0 {
		return s.Idle
	}
	return DefaultIdle
}
