package sqlitedb

import (
	"context"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/sqlitedb/engine"
)

// The lists that tests compare with the engine.
var (
	Functions        = functions
	RefusedFunctions = refusedFunctions
)

// MaxAbandoned is how many abandoned statements may be in flight.
const MaxAbandoned = maxAbandoned

// MaxValueBytes is the longest value that a connection can touch.
const MaxValueBytes = maxValueBytes

// Tamper calls f with each idle connection.
func (db *DB) Tamper(f func(*engine.Conn)) {
	db.pool.mu.Lock()
	defer db.pool.mu.Unlock()
	for _, s := range db.pool.idle {
		f(s.conn)
	}
}

// Hold takes a connection out of use until release is called.
func (db *DB) Hold() (release func()) {
	db.pool.slots <- struct{}{}
	return func() { <-db.pool.slots }
}

// Acquire waits for a connection as a statement does, and takes it out of use
// until release is called.
func (db *DB) Acquire(ctx context.Context) (release func(), err error) {
	s, err := db.pool.acquire(ctx, db.path, execution.Limits{}.WithDefaults(), func() {})
	if err != nil {
		return nil, err
	}
	return func() { db.pool.release(s) }, nil
}

// Sessions returns how many connections are open, in whatever state, and how
// many are abandoned.
func (db *DB) Sessions() (open, abandoned int) {
	db.pool.mu.Lock()
	defer db.pool.mu.Unlock()
	return db.pool.sessions, len(db.pool.abandoned)
}
