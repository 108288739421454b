package sqlitedb

import "github.com/ncruces/go-sqlite3"

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
func (db *DB) Tamper(f func(*sqlite3.Conn)) {
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

// Sessions returns how many connections are open, in whatever state, and how
// many are abandoned.
func (db *DB) Sessions() (open, abandoned int) {
	db.pool.mu.Lock()
	defer db.pool.mu.Unlock()
	return db.pool.sessions, db.pool.abandoned
}
