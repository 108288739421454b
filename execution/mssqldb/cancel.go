package mssqldb

import (
	"sync"
	"time"
)

// severAfter is how long an interrupted statement may take to end. After that
// its connection is closed.
const severAfter = 2 * time.Second

// call ties one statement to its connection. It ends the statement when it is
// interrupted.
type call struct {
	c *conn

	mu       sync.Mutex
	reason   error // why the statement is ended early
	finished bool
	sever    *time.Timer
	work     sync.WaitGroup
}

// interrupt ends the statement on the server. When the server does not react,
// it closes the connection. Only the first reason counts.
func (k *call) interrupt(reason error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.finished || k.reason != nil {
		return
	}
	k.reason = reason
	k.sever = time.AfterFunc(severAfter, k.c.wire.Sever)
	k.attention()
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

// told returns the reason for which the statement must end, or nil.
func (k *call) told() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.reason
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

// finish records that the statement is over. It returns why the statement was
// interrupted, or nil.
func (k *call) finish() error {
	k.mu.Lock()
	k.finished = true
	reason := k.reason
	k.mu.Unlock()
	k.work.Wait()
	if k.sever != nil {
		k.sever.Stop()
	}
	return reason
}
