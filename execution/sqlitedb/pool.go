package sqlitedb

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	// maxAbandoned is how many abandoned statements may run before the pool
	// refuses new statements, if there are more connections than that. Each
	// abandoned statement keeps a processor busy and its connection in use.
	maxAbandoned = 4
	// closeWait is how long Close waits for the statements that it has ended.
	closeWait = 2 * time.Second
	// retryAfter is the time to wait that a busy error suggests.
	retryAfter = time.Second
)

// pool holds the connections. Callers that wait for one are served in order of
// arrival.
type pool struct {
	// slots has room for one element for each connection that may be in use.
	// The runtime wakes the senders on a full channel in the order of arrival.
	slots chan struct{}
	done  chan struct{} // closed by close
	lost  chan struct{} // closed when close gives up on the abandoned statements
	// access has the rules that every session applies.
	access sqlguard.ReadRules

	mu        sync.Mutex
	idle      []*session
	running   map[*session]context.CancelFunc
	abandoned []*execution.Held
	closed    bool
	sessions  int           // open, in any state
	gone      chan struct{} // closed when the pool is closed and sessions is 0
}

func (p *pool) init(connections int) {
	p.slots = make(chan struct{}, connections)
	p.done = make(chan struct{})
	p.lost = make(chan struct{})
	p.gone = make(chan struct{})
	p.running = make(map[*session]context.CancelFunc)
}

// adopt takes a session that was opened outside of the pool.
func (p *pool) adopt(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions++
	p.idle = append(p.idle, s)
}

func (p *pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// acquire waits for a connection to path, at most as long as the statement may
// run. The pool calls end when it closes, to end what the caller runs on the
// connection.
func (p *pool) acquire(ctx context.Context, path string, lim execution.Limits, end context.CancelFunc) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, ended(err)
	}
	patience := lim.Timeout
	if p.full() != nil {
		patience = min(patience, execution.HeldPatience)
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ended(ctx.Err())
	case <-p.done:
		return nil, errClosed()
	case <-timer.C:
		if err := p.full(); err != nil {
			return nil, err
		}
		return nil, busy("every connection to the database is in use")
	}
	// Opening a file may wait for a lock. It uses the statement's time for
	// that.
	ctx, cancel := context.WithTimeout(ctx, lim.Timeout)
	defer cancel()
	s, err := p.take(ctx, path, lim.LockTimeout, end)
	if err != nil {
		<-p.slots
		return nil, err
	}
	return s, nil
}

// take returns an idle session on the file that is at path now, or opens one.
// The caller holds a slot.
func (p *pool) take(ctx context.Context, path string, lockTimeout time.Duration, end context.CancelFunc) (*session, error) {
	file, err := fileAt(path)
	if err != nil { // the file was there when the pool was made
		return nil, execution.NewError(sqlguard.CodeConnectionLost, err.Message, err)
	}
	s, idle, stale, err := p.pick(file, end)
	for _, old := range stale {
		p.drop(old)
	}
	switch {
	case err != nil:
		return nil, err
	case idle:
		return s, nil
	}
	if err := s.open(ctx, path, lockTimeout); err != nil {
		p.mu.Lock()
		delete(p.running, s)
		p.mu.Unlock()
		p.forget()
		if p.isClosed() {
			return nil, errClosed()
		}
		return nil, err
	}
	return s, nil
}

// pick returns an idle session on file, or a session that is not opened yet. It
// also returns the stale sessions, whose file was replaced. The caller must
// drop them.
func (p *pool) pick(file os.FileInfo, end context.CancelFunc) (s *session, idle bool, stale []*session, err *execution.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, false, nil, errClosed()
	case len(p.abandoned) >= maxAbandoned:
		return nil, false, nil, p.heldBusy()
	}
	for len(p.idle) > 0 {
		s = p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if os.SameFile(s.file, file) {
			p.running[s] = end
			return s, true, stale, nil
		}
		stale = append(stale, s)
	}
	s = newSession(p.access)
	p.sessions++
	p.running[s] = end
	return s, false, stale, nil
}

// release returns a session that may be used again, and its slot.
func (p *pool) release(s *session) {
	p.mu.Lock()
	delete(p.running, s)
	closed := p.closed
	if !closed {
		p.idle = append(p.idle, s)
	}
	p.mu.Unlock()
	if closed {
		p.drop(s)
	}
	<-p.slots
}

// discard closes a session that may not be used again, and returns its slot.
func (p *pool) discard(s *session) {
	p.mu.Lock()
	delete(p.running, s)
	p.mu.Unlock()
	p.drop(s)
	<-p.slots
}

// full returns the error for a pool whose connections are all abandoned, or as
// many as there may be. Otherwise it returns nil.
func (p *pool) full() *execution.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.abandoned) < min(maxAbandoned, cap(p.slots)) {
		return nil
	}
	return p.heldBusy()
}

// heldBusy returns the error for a caller that finds the pool full of abandoned
// statements. The caller holds mu.
func (p *pool) heldBusy() *execution.Error {
	for _, h := range p.abandoned {
		h.Runs()
	}
	if len(p.abandoned) < cap(p.slots) {
		return execution.HeldBusy("processors that such statements may use", p.abandoned)
	}
	return execution.HeldBusy("connections to the database file", p.abandoned)
}

// abandon keeps the slot of a session whose statement cannot be ended now. When
// the statement has ended, it closes the session and returns the slot.
func (p *pool) abandon(s *session, hasEnded <-chan answer) *execution.Held {
	h := execution.NewHeld()
	p.mu.Lock()
	p.abandoned = append(p.abandoned, h)
	p.mu.Unlock()
	go func() {
		select {
		case <-hasEnded:
		case <-p.lost:
			h.End(false)
			<-hasEnded
		}
		p.mu.Lock()
		p.abandoned = slices.DeleteFunc(p.abandoned, func(other *execution.Held) bool { return other == h })
		delete(p.running, s)
		p.mu.Unlock()
		p.drop(s)
		h.End(true)
		<-p.slots
	}()
	return h
}

// drop closes a session.
func (p *pool) drop(s *session) {
	s.close()
	p.forget()
}

// forget counts one session less.
func (p *pool) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions--
	if p.closed && p.sessions == 0 {
		close(p.gone)
	}
}

// close ends every running statement, closes every session, and waits until
// they are closed.
func (p *pool) close() error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.done)
		if p.sessions == 0 {
			close(p.gone)
		}
	}
	for _, end := range p.running {
		end()
	}
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()

	for _, s := range idle {
		p.drop(s)
	}
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-p.gone:
		return nil
	case <-timer.C:
		p.mu.Lock()
		defer p.mu.Unlock()
		select {
		case <-p.lost:
		default:
			close(p.lost)
		}
		return fmt.Errorf("close SQLite: %d statements could not be ended within %v", p.sessions, closeWait)
	}
}

func errClosed() *execution.Error {
	return execution.NewError(sqlguard.CodeDraining, "the connection is closed", nil)
}

func busy(message string) *execution.Error {
	e := execution.NewError(sqlguard.CodeBusy, message, nil)
	e.Hint = "try again after a second"
	e.RetryAfter = retryAfter
	return e
}
