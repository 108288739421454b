package mssqldb

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
	"github.com/ktxhq/ktx/execution/pool"
)

// unseenFor is how long a statement whose connection broke counts as running when the
// login may not see its session. The server notices a client without an answer within
// about forty seconds (its keep-alive of 30 s, and ten tries of 1 s).
const unseenFor = 45 * time.Second

// fate is what a connection knows about its last statement, whose caller may have left.
type fate struct {
	mu   sync.Mutex
	over bool      // the server has answered
	lost time.Time // when the connection broke before that
}

// begin says that the next statement begins.
func (f *fate) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over, f.lost = false, time.Time{}
}

// ended records how reading the answer to a statement ended.
func (f *fate) ended(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over = err == nil; !f.over && f.lost.IsZero() {
		f.lost = time.Now()
	}
}

// broke records that the connection broke.
func (f *fate) broke() { f.ended(tds.ErrCut) }

func (f *fate) get() (over bool, lost time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over, f.lost
}

// fates reports which of the statements of cs are over. The server acknowledges the end
// of a statement on the statement's own connection. When that is broken, another one asks
// whether the session is still there, which a login needs a permission to see.
func (d *DB) fates(ctx context.Context, cs []*conn) ([]pool.Fate, error) {
	out := make([]pool.Fate, len(cs))
	var asked []int
	for i, c := range cs {
		switch over, lost := c.held.get(); {
		case over:
			out[i] = pool.Over
		case !lost.IsZero():
			asked = append(asked, i)
		case c.wire.Arrived() != c.heard:
			c.wire.Sever() // it sends on instead of ending; the closed connection makes it notice
		}
	}
	if len(asked) == 0 {
		return out, nil
	}
	done := d.pool.Aside(ctx, nil)
	if done == nil {
		return nil, ctx.Err()
	}
	defer done()
	c, err := d.target.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Bye()
	defer context.AfterFunc(ctx, c.wire.Sever)()
	for _, i := range asked {
		sees, there, err := c.sees(cs[i])
		_, lost := cs[i].held.get()
		switch {
		case err != nil:
			return nil, err
		case sees && !there:
			out[i] = pool.Over
		case !sees && time.Since(lost) >= unseenFor:
			out[i] = pool.Unknowable
		}
	}
	return out, nil
}

// sees asks whether the session of another connection is there, and whether this login
// would see it. The server gives numbers to new sessions again, so a session that is
// younger than the statement is not the one.
func (c *conn) sees(other *conn) (sees, there bool, err error) {
	rows, err := c.own(sessionSQL(other.session), func() {})
	if err != nil {
		return false, false, err
	}
	age, told := time.Since(other.begun), false
	for _, row := range rows {
		if len(row) != 5 {
			return false, false, errSessions
		}
		if row[1] == "1" {
			sees, told = row[4] == "1", true
			continue
		}
		since, err := time.Parse(clockLayout, row[2])
		now, err2 := time.Parse(clockLayout, row[3])
		if err != nil || err2 != nil {
			return false, false, errSessions
		}
		there = there || now.Sub(since) >= age
	}
	if !told {
		return false, false, errSessions
	}
	return sees, there, nil
}

var errSessions = fmt.Errorf("%w: the server did not say which sessions it has", errState)
