package sqlitedb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// interruptGrace is how long an interrupted statement may take to stop. If it
// stops in that time, its connection is kept.
const interruptGrace = 25 * time.Millisecond

// Query runs an approved statement and returns its rows within lim. It waits
// for a connection at most as long as the statement itself may run. It returns
// at the deadline or when ctx ends, even if the statement cannot be
// interrupted; see the package documentation.
func (db *DB) Query(ctx context.Context, stmt sqlguard.Approved, lim execution.Limits) (*execution.Result, error) {
	text, err := stmt.SQLFor(*db.guard.Load())
	if err != nil {
		return nil, fmt.Errorf("query SQLite: %w", err)
	}
	lim = lim.WithDefaults()
	run, end := context.WithCancel(ctx)
	defer end()
	s, err := db.pool.acquire(run, db.path, lim, end)
	if err != nil {
		return nil, err
	}
	run, cancel := context.WithTimeout(run, lim.Timeout)
	defer cancel()

	start := time.Now()
	ran := make(chan answer, 1)
	go func() { ran <- s.answer(run, text, lim) }()
	select {
	case a := <-ran:
		return db.finish(run, s, a, start)
	case <-run.Done():
	}
	grace := time.NewTimer(interruptGrace)
	defer grace.Stop()
	select {
	case a := <-ran:
		return db.finish(run, s, a, start)
	case <-grace.C:
		e := db.endedBy(run)
		e.Message += "; the engine was asked to end it, which is not confirmed"
		e.Held, e.Elapsed = db.pool.abandon(s, ran), time.Since(start)
		return nil, e
	}
}

// finish releases or closes the connection, and returns the answer.
func (db *DB) finish(run context.Context, s *session, a answer, start time.Time) (*execution.Result, error) {
	if a.unfit {
		db.pool.discard(s)
	} else {
		db.pool.release(s)
	}
	if a.err != nil && run.Err() != nil && interrupted(a.err) {
		a.err = db.endedBy(run)
	}
	if e, ok := errors.AsType[*execution.Error](a.err); ok {
		e.Elapsed = time.Since(start)
	}
	return a.result, a.err
}

// endedBy returns the reason for which a statement was ended early.
func (db *DB) endedBy(run context.Context) *execution.Error {
	if db.pool.isClosed() {
		return errClosed()
	}
	return ended(run.Err())
}

// answer is the outcome of one statement.
type answer struct {
	result *execution.Result
	err    error
	unfit  bool // the connection may not be used again
}

// answer runs a statement in a transaction and rolls it back. Afterwards it
// checks that the session has not changed.
func (s *session) answer(ctx context.Context, text string, lim execution.Limits) (a answer) {
	defer func() {
		if r := recover(); r != nil { // out of memory, or a fault inside the engine
			a = answer{err: broken(r), unfit: true}
		}
	}()
	if err := s.checkPins(); err != nil {
		return answer{err: err, unfit: true}
	}
	if err := s.waitForLocks(lim.LockTimeout); err != nil {
		return answer{err: databaseError(err, ""), unfit: true}
	}
	if err := s.runOwn(s.begin, nil); err != nil {
		return answer{err: err, unfit: true}
	}
	if a.err = s.prepareAccess(); a.err == nil {
		a.result, a.err = s.read(ctx, text, lim)
	}
	if s.conn.GetAutocommit() { // the statement ended the transaction, or an error did
		a.unfit = true
		return a
	}
	if err := s.runOwn(s.rollback, nil); err != nil {
		a.unfit = true
	}
	return a
}

// read sends the statement of a caller to the engine. No other function does.
// The text must be one statement, and the engine must say that it does not
// write.
func (s *session) read(ctx context.Context, text string, lim execution.Limits) (_ *execution.Result, err error) {
	start := time.Now()
	s.conn.SetInterrupt(ctx)
	defer s.conn.SetInterrupt(context.Background())
	stmt, tail, err := s.conn.Prepare(text)
	if err != nil {
		return nil, s.refused(err, text)
	}
	if stmt == nil {
		return nil, refusal("the text holds no statement")
	}
	defer func() { _ = stmt.Close() }() // stmt.Err has reported the same error
	if err := s.nothingIn(tail); err != nil {
		return nil, err
	}
	if !stmt.ReadOnly() {
		return nil, refusal("the statement writes")
	}
	s.running = true
	defer func() { s.running = false }()
	s.temp.Begin(lim.Temp)
	r := newReader(stmt, lim)
	for r.more() {
	}
	if err := stmt.Err(); err != nil {
		if s.temp.Reached() {
			return nil, tempFull(err, lim.Temp)
		}
		return nil, s.refused(err, "")
	}
	r.tellBytes()
	r.result.Elapsed = time.Since(start)
	return r.result, nil
}

// refused returns the error of a statement: the rule that denies what it reads, or
// the engine's own error.
func (s *session) refused(err error, text string) error {
	if s.access != nil && s.access.denied != nil {
		return s.access.denied
	}
	return databaseError(err, text)
}

// nothingIn refuses anything after the first statement of a text, except white
// space, comments and semicolons.
func (s *session) nothingIn(tail string) error {
	for strings.TrimSpace(tail) != "" {
		next, rest, err := s.conn.Prepare(tail)
		if err != nil || next != nil {
			if next != nil {
				_ = next.Close() // it was not run
			}
			return refusal("the text holds more than one statement; a call runs one")
		}
		tail = rest
	}
	return nil
}

// interrupted reports whether err is the error of a statement whose context
// ended. A statement that waits for a lock ends with the error busy then.
func interrupted(err error) bool {
	return errors.Is(err, sqlite3.INTERRUPT) || execution.CodeOf(err) == sqlguard.CodeBusy
}
