package mysqldb

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/execution/pool"
)

// errEnough says that no further row is wanted.
var errEnough = errors.New("enough rows were read")

// Times of a cancel.
const (
	// severAfter is when the connection of a statement that does not end is
	// closed instead.
	severAfter = 2 * time.Second
	// killAgain is when KILL QUERY is repeated: the server ignores one that
	// comes before it has read the statement.
	killAgain = 25 * time.Millisecond
	// killWait is how long the end of a KILL is waited for when the statement is
	// over.
	killWait = 100 * time.Millisecond
	// stuckAfter is when the connection is closed instead where the server sends
	// on all the same: it does not look for a KILL before it has sent the row
	// that it is at, which may be long and the network slow. Where nothing more
	// is wanted, only the connection is at stake, and it gets longer.
	stuckAfter       = 75 * time.Millisecond
	stuckEnoughAfter = 500 * time.Millisecond
	// deafAfter is when the connection is closed instead where the server was
	// told: it has marked the statement, and ends it when it looks. MariaDB
	// answers some a KILL after two seconds only, such as one of several
	// sessions in SLEEP.
	deafAfter = 180 * time.Millisecond
)

// call is one statement's hold on its connection. It makes sure that the
// statement ends when it is told to, and that no KILL of it reaches the next
// one.
type call struct {
	c    *conn
	pool *pool.Pool[*conn]

	mu       sync.Mutex
	sent     bool  // the text may be at the server
	reason   error // why the statement is ended early
	finished bool
	over     chan struct{} // closed when the statement is over
	work     sync.WaitGroup
	err      error        // of the last KILL; read after work
	told     atomic.Int64 // when the first KILL was sent, in Unix nanoseconds
	abandon  context.CancelFunc
}

// begin says that the text is about to be sent. It reports false when the
// statement must not begin any more.
func (k *call) begin() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sent = k.reason == nil
	return k.sent
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
	if !k.sent {
		k.c.wire.Sever() // nothing of the statement runs
		return
	}
	k.over = make(chan struct{})
	ctx, abandon := context.WithTimeout(context.Background(), severAfter)
	k.abandon = abandon
	patience := stuckAfter
	if errors.Is(reason, errEnough) {
		patience = stuckEnoughAfter
	}
	k.work.Go(func() {
		k.err = k.kill(ctx)
		if k.err != nil && !errors.Is(reason, errEnough) {
			k.c.wire.Sever() // nobody tells the server; it has its own time limit
		}
	})
	k.work.Go(func() { k.watch(ctx, patience) })
}

// kill sends KILL QUERY on a connection of its own until the statement is over.
// The server answers when the statement was told, so that a KILL that was
// answered cannot reach a later statement.
//
// Where the server takes no further connection, an idle one of the pool serves.
func (k *call) kill(ctx context.Context) error {
	c, err := k.c.dialer.connect(ctx)
	if err == nil {
		defer c.Bye()
		return k.killOn(ctx, c)
	}
	for l := k.pool.Idle(); l != nil; l = k.pool.Idle() {
		if l.Conn.Ready(ctx) {
			if err = k.killOn(ctx, l.Conn); err == nil {
				k.pool.Release(l)
				return nil
			}
		}
		k.pool.Discard(l)
	}
	return err
}

// killOn sends KILL QUERY on c until the statement is over.
func (k *call) killOn(ctx context.Context, c *conn) error {
	stop := context.AfterFunc(ctx, c.wire.Sever)
	defer stop()
	wait := killAgain
	again := time.NewTimer(wait)
	defer again.Stop()
	for {
		select {
		case <-k.over:
			return nil // nothing is on its way
		default:
		}
		k.told.CompareAndSwap(0, time.Now().UnixNano())
		if err := c.kill(k.c.id); err != nil {
			return err
		}
		select {
		case <-k.over:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
			wait *= 2
			again.Reset(wait)
		}
	}
}

// watch severs the connection of a statement that does not end: where the server
// was told and says nothing, and where it sends on. A server that sends on is one
// from which something arrived in each of several intervals: its answer to the
// KILL arrives in one.
func (k *call) watch(ctx context.Context, patience time.Duration) {
	const intervals = 3
	check := time.NewTicker(patience / intervals)
	defer check.Stop()
	before, seen := k.c.wire.Arrived(), 0
	for {
		select {
		case <-k.over:
			return
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				k.c.wire.Sever()
			}
			return
		case <-check.C:
			now := k.c.wire.Arrived()
			if now != before {
				seen++
			}
			told := k.told.Load()
			if seen == intervals || told != 0 && time.Since(time.Unix(0, told)) > max(deafAfter, patience) {
				k.c.wire.Sever()
				return
			}
			before = now
		}
	}
}

// finish says that the statement is over. It returns why it was interrupted, or
// nil, and whether every KILL is known to have had its effect.
func (k *call) finish() (reason error, delivered bool) {
	k.mu.Lock()
	k.finished = true
	reason = k.reason
	k.mu.Unlock()
	if reason == nil || k.over == nil {
		return reason, reason == nil
	}
	close(k.over)
	wait := time.AfterFunc(killWait, k.abandon)
	k.work.Wait()
	wait.Stop()
	k.abandon()
	return reason, k.err == nil
}
