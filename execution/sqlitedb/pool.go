package sqlitedb

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

const (
	// maxAbandoned is how many abandoned statements may be in flight before
	// new ones are refused. Each keeps a processor busy.
	maxAbandoned = 4
	// closeWait is how long Close waits for the statements that it ended.
	closeWait = 2 * time.Second
	// retryAfter is what a busy error suggests.
	retryAfter = time.Second
)

// pool holds the connections. Who waits for one is served in order of arrival.
type pool struct {
	// slots has room for one token per connection that may be in use. The
	// runtime wakes the senders of a full channel in the order they came.
	slots chan struct{}
	done  chan struct{} // closed by close

	mu        sync.Mutex
	idle      []*session
	running   map[*session]context.CancelFunc
	abandoned int
	closed    bool
	sessions  int           // open, in whatever state
	gone      chan struct{} // closed when the pool is closed and sessions is 0
}

func (p *pool) init(connections int) {
	p.slots = make(chan struct{}, connections)
	p.done = make(chan struct{})
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

// acquire waits at most wait for a connection to path. What the caller starts
// on it is ended by end when the pool closes.
func (p *pool) acquire(ctx context.Context, path string, wait time.Duration, end context.CancelFunc) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, ended(err)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ended(ctx.Err())
	case <-p.done:
		return nil, errClosed()
	case <-timer.C:
		return nil, busy("every connection to the database is in use")
	}
	s, err := p.take(path, end)
	if err != nil {
		<-p.slots
		return nil, err
	}
	return s, nil
}

// take returns an idle session on the file that is at path now, or opens one.
// The caller has a slot.
func (p *pool) take(path string, end context.CancelFunc) (*session, error) {
	file, err := fileAt(path)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	switch {
	case p.closed:
		p.mu.Unlock()
		return nil, errClosed()
	case p.abandoned >= maxAbandoned:
		p.mu.Unlock()
		return nil, busy("statements that reached their time limit are still being ended")
	}
	var s *session
	var stale []*session // on a file that was replaced
	for len(p.idle) > 0 && s == nil {
		s = p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if !os.SameFile(s.file, file) {
			stale = append(stale, s)
			s = nil
		}
	}
	if s == nil {
		p.sessions++ // for the one that is about to be opened
	} else {
		p.running[s] = end
	}
	p.mu.Unlock()

	for _, old := range stale {
		p.drop(old)
	}
	if s != nil {
		return s, nil
	}
	if s, err = openSession(path); err != nil {
		p.forget()
		return nil, err
	}
	p.mu.Lock()
	p.running[s] = end
	closed := p.closed
	p.mu.Unlock()
	if closed {
		p.discard(s)
		return nil, errClosed()
	}
	return s, nil
}

// release gives back a session that may be used again, with its slot.
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

// discard closes a session that may not be used again, and gives back its slot.
func (p *pool) discard(s *session) {
	p.mu.Lock()
	delete(p.running, s)
	p.mu.Unlock()
	p.drop(s)
	<-p.slots
}

// abandon gives back the slot of a session whose statement cannot be ended
// now. The session is closed when the statement has ended.
func (p *pool) abandon(s *session, hasEnded <-chan answer) {
	p.mu.Lock()
	p.abandoned++
	p.mu.Unlock()
	go func() {
		<-hasEnded
		p.mu.Lock()
		p.abandoned--
		delete(p.running, s)
		p.mu.Unlock()
		p.drop(s)
	}()
	<-p.slots
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

// close ends what runs, closes every session and waits for that.
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
