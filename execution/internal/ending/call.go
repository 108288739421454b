// Package ending cancels a running statement at its server. It makes sure that
// the cancel never hits the next statement of the connection.
//
//	k := ending.New(statement)
//	defer context.AfterFunc(ctx, func() { k.Interrupt(context.Cause(ctx)) })()
//	if k.Begin() {
//		// send the statement, read the answer
//	}
//	reason, delivered := k.Finish()
package ending

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution/pool"
)

// The time limits of ending a statement.
const (
	// severAfter is the time after which the connection of a statement that
	// does not end is closed.
	severAfter = 2 * time.Second
	// tellAgain is the time after which the server is told again. A server
	// ignores a cancel that comes before it has read the statement.
	tellAgain = 25 * time.Millisecond
	// toldWait is how long Finish waits for Tell to return when the statement
	// is over.
	toldWait = 100 * time.Millisecond
	// stuckAfter is the time after which the connection is closed when the
	// server keeps sending. Such a server reads the cancel only after it has
	// sent its current message, which may take long when the message is long
	// and the network slow. It notices a closed connection at once. When the
	// caller has enough rows, only the connection is lost by closing it, so the
	// server gets more time: stuckEnoughAfter.
	stuckAfter       = 75 * time.Millisecond
	stuckEnoughAfter = 500 * time.Millisecond
)

// Statement is a statement that runs on a connection. All methods may be called
// while another goroutine uses the connection.
type Statement interface {
	// Tell makes the server end the statement, and repeats that until over is
	// closed or ctx ends; see [Repeat]. It returns nil when nothing that it
	// sent can reach a later statement. reason is why the statement is ended.
	Tell(ctx context.Context, reason error, over <-chan struct{}) error
	// Arrived returns how many bytes came from the server.
	Arrived() int64
	// Deaf reports whether the server has had patience since it was told, and
	// still has not ended the statement.
	Deaf(patience time.Duration) bool
	// Sever cuts the connection.
	Sever()
}

// Call is one statement's use of its connection.
type Call struct {
	s Statement

	mu       sync.Mutex
	begun    bool  // the statement may be at the server
	reason   error // why the statement is ended early
	finished bool
	over     chan struct{} // closed when the statement is over
	work     sync.WaitGroup
	err      error // the error of Tell; read after work is done
	abandon  context.CancelFunc
}

// New returns the Call of a statement that has not begun.
func New(s Statement) *Call { return &Call{s: s} }

// Begin says that the statement is about to be sent. It returns false when the
// statement must no longer begin.
func (k *Call) Begin() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.begun = k.reason == nil
	return k.begun
}

// Interrupt ends the statement at the server. It closes the connection when the
// server does not react, and when the statement has not begun. Only the first
// reason counts.
func (k *Call) Interrupt(reason error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.finished || k.reason != nil {
		return
	}
	k.reason = reason
	if !k.begun {
		k.s.Sever() // nothing of the statement runs
		return
	}
	k.over = make(chan struct{})
	ctx, abandon := context.WithTimeout(context.Background(), severAfter)
	k.abandon = abandon
	patience := stuckAfter
	if errors.Is(reason, pool.ErrEnough) {
		patience = stuckEnoughAfter
	}
	k.work.Go(func() { k.err = k.s.Tell(ctx, reason, k.over) })
	k.work.Go(func() { k.watch(ctx, patience) })
}

// watch severs the connection of a statement that does not end, either because
// the server is deaf or because it keeps sending. A server keeps sending when
// bytes arrive in each of several intervals; the answer to a cancel arrives in
// one interval.
func (k *Call) watch(ctx context.Context, patience time.Duration) {
	const intervals = 3
	check := time.NewTicker(patience / intervals)
	defer check.Stop()
	before, seen := k.s.Arrived(), 0
	for {
		select {
		case <-k.over:
			return
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				k.s.Sever()
			}
			return
		case <-check.C:
			now := k.s.Arrived()
			if now != before {
				seen++
			}
			if seen == intervals || k.s.Deaf(patience) {
				k.s.Sever()
				return
			}
			before = now
		}
	}
}

// Finish says that the statement is over. It returns why it was interrupted, or
// nil. delivered is false when a cancel may still reach a later statement.
func (k *Call) Finish() (reason error, delivered bool) {
	k.mu.Lock()
	k.finished = true
	reason = k.reason
	k.mu.Unlock()
	if reason == nil || k.over == nil {
		return reason, reason == nil
	}
	close(k.over)
	wait := time.AfterFunc(toldWait, k.abandon)
	k.work.Wait()
	wait.Stop()
	k.abandon()
	return reason, k.err == nil
}

// Repeat runs tell at once and then again and again, until it fails, over is
// closed or ctx ends. The end of ctx is an error.
func Repeat(ctx context.Context, over <-chan struct{}, tell func() error) error {
	wait := tellAgain
	again := time.NewTimer(wait)
	defer again.Stop()
	for {
		select {
		case <-over:
			return nil // no cancel is on its way
		default:
		}
		if err := tell(); err != nil {
			return err
		}
		select {
		case <-over:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
			wait *= 2
			again.Reset(wait)
		}
	}
}
