package mssqldb

import (
	"errors"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution/pool"
)

// severAfter is how long an interrupted statement may take to end. After that
// its caller waits no longer.
const severAfter = 2 * time.Second

// call ties one statement to its connection. It ends the statement when it is
// interrupted.
type call struct {
	c *conn

	mu       sync.Mutex
	running  bool  // the statement was sent
	reason   error // why the statement is ended early
	finished bool
	left     chan struct{} // closed when the caller waits no longer for the statement
	late     *time.Timer
	drain    *time.Timer
	work     sync.WaitGroup
}

func newCall(c *conn) *call { return &call{c: c, left: make(chan struct{})} }

// interrupt ends the statement on the server. When the server does not react, the
// caller leaves. Only the first reason counts.
func (k *call) interrupt(reason error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.finished || k.reason != nil {
		return
	}
	k.reason = reason
	k.late = time.AfterFunc(severAfter/2, k.listen)
	k.attention()
}

// listen calls leave after another half of severAfter.
func (k *call) listen() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.finished {
		before := k.c.wire.Arrived()
		k.late = time.AfterFunc(severAfter/2, func() { k.leave(before) })
	}
}

// leave ends the wait for a statement that does not end. It closes the connection of a
// server that keeps sending, which that makes it notice. Otherwise it leaves the connection
// open, because the end of the answer will say when the statement is over.
func (k *call) leave(before int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.finished {
		return
	}
	if k.running && k.c.wire.Arrived() == before && !errors.Is(k.reason, pool.ErrEnough) && !errors.Is(k.reason, pool.ErrClosing) {
		k.c.heard = before
		close(k.left)
		return
	}
	k.c.wire.Sever()
}

// attention sends an attention if a request is unanswered. It may have to wait
// until the request is written. The caller holds mu.
func (k *call) attention() {
	k.work.Go(func() {
		if k.c.wire.Attention() != nil {
			k.c.wire.Sever()
		}
	})
}

// enough ends the statement after that time when no further row is needed.
func (k *call) enough(after time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.finished:
	case k.drain == nil:
		k.drain = time.AfterFunc(after, func() { k.interrupt(pool.ErrEnough) })
	case after == 0:
		k.drain.Reset(0)
	}
}

// told returns the reason for which the statement must end, or nil.
func (k *call) told() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.reason
}

// begin says that the statement itself is about to be sent.
func (k *call) begin() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running = true
}

// sent records that a request was sent. An interrupt that came earlier found no
// request to end, so sent repeats it.
func (k *call) sent() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reason != nil {
		k.attention()
	}
}

// finish records that the statement is over, or that nobody waits for it. It returns why
// the statement was interrupted, or nil.
func (k *call) finish() error {
	k.mu.Lock()
	k.finished = true
	reason := k.reason
	late, drain := k.late, k.drain
	k.mu.Unlock()
	for _, timer := range []*time.Timer{late, drain} {
		if timer != nil {
			timer.Stop()
		}
	}
	return reason
}
