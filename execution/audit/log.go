package audit

import (
	"context"
	"errors"
)

// ErrUnavailable is wrapped by every error of Append that means that the event
// is not recorded: no space, an I/O error, the lock of another process. Callers
// of the gateway get the code audit_unavailable.
var ErrUnavailable = errors.New("audit log unavailable")

// Log is the audit log as its writers see it.
type Log interface {
	// Append records e. When it returns nil, the event has been handed to the
	// operating system, and with [SyncAlways] flushed to the disk. When it
	// returns an error, the caller must not do what e records. Under
	// [FailDegrade] Append returns nil for an event that was lost; the log
	// later records the loss in a log.gap event.
	//
	// The context names the actor. Append runs even when the context has ended,
	// because the event of a cancelled query is recorded with the context of
	// that query.
	Append(ctx context.Context, e Event) error
	// HMAC returns the keyed hash that identifies a raw statement in the log,
	// in hexadecimal. Equal strings have equal hashes within one log directory.
	HMAC(raw string) string
	// Close flushes the appended events and sets the anchor. Afterwards, Append
	// fails.
	Close() error
}
