// Package ending cancels a running statement at its server. It makes sure that
// the cancel never hits the next statement of the connection.
//
//	k := ending.New(statement)
//	defer context.AfterFunc(ctx, func() { k.Interrupt(context.Cause(ctx)) })()
//	if k.Begin() {
//		// send the text, read the answer
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

// How long things may take.
const (
	// severAfter is when the connection of a statement that does not end is
	// closed instead.
	severAfter = 2 * time.Second
	// tellAgain is when the server is told again: it ignores what comes before
	// it has read the statement.
	tellAgain = 25 * time.Millisecond
	// toldWait is how long the end of telling is waited for when the statement
	// is over.
	toldWait = 100 * time.Millisecond
	// stuckAfter is when the connection is closed instead where the server sends
	// on all the same: it does not hear of the end before it has sent the
	// message that it is at, which may be long and the network slow, while the
	// end of the connection reaches it at once. Where nothing more is wanted,
	// only the connection is at stake, and it gets longer.
	stuckAfter       = 75 * time.Millisecond
	stuckEnoughAfter = 500 * time.Millisecond
)

// Statement is what runs on a connection. All methods may be called beside who
// uses that.
type Statement interface {
	// Tell makes the server end the statement, and tells it again until over is
	// closed or ctx ends, see [Repeat]. It returns nil when nothing that it sent
	// can reach a later statement. Reason is why the statement is ended.
	Tell(ctx context.Context, reason error, over <-chan struct{}) error
	// Arrived is how many bytes came from the server.
	Arrived() int64
	// Deaf reports whether the server should have ended the statement by now,
	// where it is given that much patience.
	Deaf(patience time.Duration) bool
	// Sever cuts the connection.
	Sever()
}

// Call is one statement's hold on its connection.
type Call struct {
	s Statement

	mu       sync.Mutex
	begun    bool  // the statement may be at the server
	reason   error // why the statement is ended early
	finished bool
	over     chan struct{} // closed when the statement is over
	work     sync.WaitGroup
	err      error // of telling the server; read after work
	abandon  context.CancelFunc
}

// New returns the hold of a statement that did not begin.
func New(s Statement) *Call { return &Call{s: s} }

// Begin says that the text is about to be sent. It reports false when the
// statement must not begin any more.
func (k *Call) Begin() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.begun = k.reason == nil
	return k.begun
}

// Interrupt ends the statement at the server, or its connection when the server
// does not react or the statement did not begin. Only the first reason counts.
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

// watch severs the connection of a statement that does not end: where the server
// is deaf, and where it sends on. A server that sends on is one from which
// something arrived in each of several intervals: its answer to being told
// arrives in one.
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
// nil, and whether nothing that the server was told can reach a later statement.
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
			return nil // nothing is on its way
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
