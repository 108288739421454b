package executiontest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// LateCancels are statements that end at about the time when they are
// cancelled. The first column of every row is the name that was passed to the
// function.
type LateCancels struct {
	// Session returns one row, whose second column names the session.
	Session func(name string) string
	// Computes returns one row after about a millisecond.
	Computes func(name string) string
	// Rows returns so many rows that the backend ends it after the first.
	Rows func(name string) string
}

// Run cancels statements at about the time when they end by themselves. Other
// statements use the same connections next. A statement that is not cancelled
// must get its own answer. There are three pairs of callers, and the statements
// of one caller of each pair are cancelled, rounds times.
func (l LateCancels) Run(t *testing.T, c *Client, rounds int) {
	t.Helper()
	var ended, answered atomic.Int64
	var sessions sync.Map
	innocent := func(name string) {
		res, err := c.Try(t.Context(), t, l.Session(name), execution.Limits{})
		if err != nil || len(res.Rows) != 1 || res.Rows[0][0].Text != name {
			t.Errorf("%s: %v, %v", name, res, err)
			return
		}
		sessions.Store(res.Rows[0][1].Text, true)
	}
	var users sync.WaitGroup
	for u := range 3 {
		users.Go(func() {
			random := rand.New(rand.NewPCG(3, uint64(u)))
			after := 500 * time.Microsecond // follows the time that a statement takes
			for i := range rounds {
				name := fmt.Sprintf("ended %d %d", u, i)
				sql, lim := l.Computes(name), execution.Limits{}
				if i%4 == 3 {
					sql, lim.Rows = l.Rows(name), 1
				}
				ctx, cancel := context.WithCancel(t.Context())
				timer := time.AfterFunc(after/2+time.Duration(random.Int64N(int64(after))), cancel)
				res, err := c.Try(ctx, t, sql, lim)
				timer.Stop()
				cancel()
				switch {
				case err == nil && len(res.Rows) == 1 && res.Rows[0][0].Text == name:
					if answered.Add(1); ended.Load() == 0 {
						after /= 2 // far from the time that it takes here
					}
					after -= after / 16
				case execution.CodeOf(err) == sqlguard.CodeCancelled:
					if ended.Add(1); answered.Load() == 0 {
						after *= 2
					}
					after += after / 16
				default:
					t.Errorf("%s: %v, %v", name, res, err)
				}
				innocent(fmt.Sprintf("behind %d %d", u, i))
			}
		})
		users.Go(func() {
			for i := range rounds {
				innocent(fmt.Sprintf("beside %d %d", u, i))
			}
		})
	}
	users.Wait()
	n := 0
	sessions.Range(func(any, any) bool { n++; return true })
	t.Logf("%d cancelled, %d answered, %d never to be cancelled, on %d sessions", ended.Load(), answered.Load(), 6*rounds, n)
	if ended.Load() == 0 || answered.Load() == 0 {
		t.Errorf("%d cancelled and %d answered, but both must happen for a cancel to come near the end of its statement", ended.Load(), answered.Load())
	}
}
