package execution

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ktxhq/ktx/sqlguard"
)

// Held is a statement whose caller has its answer although the server may still
// be running it. A backend makes one when it has asked the server to end a
// statement and the server has not confirmed that, and when a connection broke
// while its statement ran. Until the statement is over, it keeps its connection's
// place in the backend and its slot in the gateway.
type Held struct {
	since time.Time
	over  chan struct{}

	mu        sync.Mutex
	seen      time.Time
	fault     error // why the last question about it had no answer
	ended     bool
	confirmed bool
}

// NewHeld returns a Held that begins now.
func NewHeld() *Held {
	now := time.Now()
	return &Held{since: now, seen: now, over: make(chan struct{})}
}

// Since returns when the backend stopped waiting for the statement.
func (h *Held) Since() time.Time { return h.since }

// Seen returns when the statement was last known to run.
func (h *Held) Seen() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen
}

// Runs records that the server still runs the statement.
func (h *Held) Runs() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen, h.fault = time.Now(), nil
}

// NotAsked records that the server could not be asked about the statement.
func (h *Held) NotAsked(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fault = err
}

// End says that the statement is no longer held. confirmed says that it is known
// to be over. Only the first call counts.
func (h *Held) End(confirmed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return
	}
	h.ended, h.confirmed = true, confirmed
	close(h.over)
}

// Over is closed when the statement is no longer held.
func (h *Held) Over() <-chan struct{} { return h.over }

// Confirmed reports whether the statement is known to be over.
func (h *Held) Confirmed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.confirmed
}

// The time to wait that a busy error suggests while statements are held: as long
// as the longest has been held, within these bounds.
const (
	heldRetryLeast = time.Second
	heldRetryMost  = 5 * time.Minute
)

// HeldPatience is how long a call waits that finds every slot taken by a held
// statement, before it fails as busy. Most statements end within that time.
const HeldPatience = time.Second

// HeldBusy returns the error for a call that finds every slot taken by a held
// statement. slots names them, such as "connections to the server". held are the
// statements, at least one.
func HeldBusy(slots string, held []*Held) *Error {
	first, seen := held[0].Since(), held[0].Seen()
	for _, h := range held[1:] {
		if h.Since().Before(first) {
			first = h.Since()
		}
		if at := h.Seen(); at.After(seen) {
			seen = at
		}
	}
	age := time.Since(first)
	held[0].mu.Lock()
	fault := held[0].fault
	held[0].mu.Unlock()
	if e, ok := errors.AsType[*Error](fault); ok && (e.Code == sqlguard.CodeConnectionLost || e.Code == sqlguard.CodeServerRestarted) {
		down := *e // the server does not answer at all, which says more than that it is busy
		return &down
	}
	message := fmt.Sprintf(
		"all %d %s are held by statements that should have ended and are not known to have ended, the first for %s; one of them was last seen running %s ago",
		len(held), slots, roundly(age), roundly(time.Since(seen)))
	if fault != nil {
		message += ", and now the database cannot be asked about it"
	}
	e := NewError(sqlguard.CodeBusy, message, fault)
	e.Retryable = true
	e.RetryAfter = min(max(age, heldRetryLeast), heldRetryMost).Truncate(100 * time.Millisecond)
	e.Hint = "try again in " + e.RetryAfter.String() + "; if this lasts, the operator must end these statements at the database"
	return e
}

// roundly returns d with a precision that suits a message.
func roundly(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}
