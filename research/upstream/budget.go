package upstream

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// How fast ktx reads, in bytes per second, which may come at once after a pause: what a
// server says without being asked, and answers that are too long.
const (
	paceUnasked = 1 << 20
	paceTooLong = 16 << 20
)

const (
	leastItem = 1 << 10  // the least that one line or message counts
	batch     = 64 << 10 // how much is counted at once
)

// budget bounds how fast ktx reads what nobody needs. When it is spent, ktx stops reading
// for a while. The server then has to wait too.
type budget struct {
	limiter *rate.Limiter
	owed    atomic.Int64 // what is not counted yet
	spent   func()       // called when the budget is spent for the first time; it may be nil
	once    sync.Once
}

func newBudget(pace int, spent func()) *budget {
	return &budget{limiter: rate.NewLimiter(rate.Limit(pace), pace), spent: spent}
}

// take counts a line or message of n bytes, and waits if the budget is spent, until the
// context ends.
func (b *budget) take(ctx context.Context, n int) {
	if b.owed.Add(int64(max(n, leastItem))) < batch {
		return
	}
	for n = int(b.owed.Swap(0)); n > 0; n -= b.limiter.Burst() {
		part := min(n, b.limiter.Burst())
		if b.spent != nil && b.limiter.Tokens() < float64(part) {
			b.once.Do(b.spent)
		}
		if b.limiter.WaitN(ctx, part) != nil {
			return
		}
	}
}
