package mssqldb

import (
	"sync"
	"time"
)

// severAfter is when the connection of a statement that does not end is closed
// instead.
const severAfter = 2 * time.Second

// call is one statement's hold on its connection. It makes sure that the
// statement ends when it is told to.
type call struct {
	c *conn

	mu       sync.Mutex
	reason   error // why the statement is ended early
	finished bool
	sever    *time.Timer
	work     sync.WaitGroup
}

// interrupt ends the statement at the server, or its connection when the server
// does not react. Only the first reason counts.
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

// attention sends one where a request is unanswered. It may have to wait until
// the request is written. The caller holds mu.
func (k *call) attention() {
	k.work.Go(func() {
		if k.c.wire.Attention() != nil {
			k.c.wire.Sever()
		}
	})
}

// told returns why the statement is to end, or nil.
func (k *call) told() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.reason
}

// sent says that a request was sent. An interrupt that came before it found
// nothing to end, and is repeated.
func (k *call) sent() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reason != nil {
		k.attention()
	}
}

// finish says that the statement is over. It returns why it was interrupted, or
// nil.
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
