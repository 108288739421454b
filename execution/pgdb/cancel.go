package pgdb

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Times of a cancel.
const (
	// severAfter is when the connection of a statement that does not end is
	// closed instead.
	severAfter = 2 * time.Second
	// cancelAgain is when a cancel is repeated: the server ignores one that
	// comes before it has read the statement.
	cancelAgain = 25 * time.Millisecond
	// cancelWait is how long the end of a cancel request is waited for when
	// the statement is over.
	cancelWait = 100 * time.Millisecond
)

// call is one statement's hold on its connection. It makes sure that the
// statement ends when it is told to, and that no cancel of it reaches the next
// one.
type call struct {
	c *conn

	mu       sync.Mutex
	reason   error // why the statement is ended early
	finished bool
	over     chan struct{} // closed when the statement is over
	quiet    chan struct{} // closed when no cancel request is under way
	err      error         // of the last cancel request; read after quiet
	abandon  context.CancelFunc
	sever    *time.Timer
}

// interrupt ends the statement at the server, or its connection when the
// server does not react. Only the first reason counts.
func (k *call) interrupt(reason error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.finished || k.reason != nil {
		return
	}
	k.reason = reason
	k.over, k.quiet = make(chan struct{}), make(chan struct{})
	k.sever = time.AfterFunc(severAfter, k.c.sever)
	ctx, abandon := context.WithTimeout(context.Background(), severAfter)
	k.abandon = abandon
	go k.cancel(ctx)
}

// cancel sends cancel requests until the statement is over. The server closes
// a request's connection when it has sent the signal, so that a request that
// has ended cannot reach a later statement.
func (k *call) cancel(ctx context.Context) {
	defer close(k.quiet)
	wait := cancelAgain
	again := time.NewTimer(wait)
	defer again.Stop()
	for {
		k.err = errors.Join(k.c.pg.CancelRequest(ctx), ctx.Err())
		select {
		case <-k.over:
			return
		case <-ctx.Done():
			return
		case <-again.C:
			wait *= 2
			again.Reset(wait)
		}
	}
}

// finish says that the statement is over. It returns why it was interrupted,
// or nil, and whether every cancel request is known to have had its effect.
func (k *call) finish() (reason error, delivered bool) {
	k.mu.Lock()
	k.finished = true
	reason = k.reason
	k.mu.Unlock()
	if reason == nil {
		return nil, false
	}
	close(k.over)
	k.sever.Stop()
	wait := time.AfterFunc(cancelWait, k.abandon)
	<-k.quiet
	wait.Stop()
	k.abandon()
	return reason, k.err == nil
}
