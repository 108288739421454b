package audit

import (
	"context"
	"errors"
)

// ErrUnavailable is wrapped by every error of Append that means the event is
// not recorded: no space, an I/O error, the lock of another process. Its code
// towards callers is audit_unavailable.
var ErrUnavailable = errors.New("audit log unavailable")

// Log is the record as its writers see it.
type Log interface {
	// Append records e. When it returns nil the event has been handed to the
	// operating system, and with [SyncAlways] flushed to the disk. When it
	// returns an error the caller must not do what e announces. Under
	// [FailDegrade] Append returns nil for an event that was lost; the log
	// then says so in a log.gap event.
	//
	// The context names the actor. Its end does not stop Append: the event of
	// a cancelled query is recorded with the context of that query.
	Append(ctx context.Context, e Event) error
	// HMAC returns the keyed hash that stands for a raw text in the log, in
	// hexadecimal. Equal texts have equal hashes within one log directory.
	HMAC(raw string) string
	// Close flushes what was appended and sets the anchor. Append fails
	// afterwards.
	Close() error
}
