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
	// stuckAfter is when the connection is closed instead where the server sends
	// on all the same: it does not hear of a cancel before it has sent the
	// message that it is at, which may be long and the network slow, while the
	// end of the connection reaches it at once. Where nothing more is wanted,
	// only the connection is at stake, and it gets longer.
	stuckAfter       = 75 * time.Millisecond
	stuckEnoughAfter = 500 * time.Millisecond
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
	work     sync.WaitGroup
	err      error // of the last cancel request; read after work
	abandon  context.CancelFunc
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
	k.over = make(chan struct{})
	ctx, abandon := context.WithTimeout(context.Background(), severAfter)
	k.abandon = abandon
	patience := stuckAfter
	if errors.Is(reason, errEnough) {
		patience = stuckEnoughAfter
	}
	k.work.Go(func() { k.request(ctx) })
	k.work.Go(func() { k.watch(ctx, patience) })
}

// request sends cancel requests until the statement is over. The server closes
// a request's connection when it has sent the signal, so that a request that
// has ended cannot reach a later statement.
func (k *call) request(ctx context.Context) {
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

// watch severs the connection of a statement that does not end. A server that
// sends on is one from which something arrived in each of several intervals: its
// answer to the cancel arrives in one.
func (k *call) watch(ctx context.Context, patience time.Duration) {
	const intervals = 3
	check := time.NewTicker(patience / intervals)
	defer check.Stop()
	before, seen := k.c.frames.arrived.Load(), 0
	for {
		select {
		case <-k.over:
			return
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				k.c.sever()
			}
			return
		case <-check.C:
			now := k.c.frames.arrived.Load()
			if now != before {
				seen++
			}
			if seen == intervals {
				k.c.sever()
				return
			}
			before = now
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
	wait := time.AfterFunc(cancelWait, k.abandon)
	k.work.Wait()
	wait.Stop()
	k.abandon()
	return reason, k.err == nil
}
