// Package audittest provides an [audit.Log] for the tests of packages that
// write events. It keeps events in memory and fails on demand. Nothing in the
// shipped binary imports it.
package audittest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
)

// Log is an audit log in memory. The zero value is ready to use.
type Log struct {
	mu     sync.Mutex
	events []audit.Event
	err    error
	closed bool
}

var _ audit.Log = (*Log)(nil)

// Append keeps e with the actor of ctx, a sequence number and a time, or
// returns the error set by Fail.
func (l *Log) Append(ctx context.Context, e audit.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return fmt.Errorf("%w: the log is closed", audit.ErrUnavailable)
	case l.err != nil:
		return fmt.Errorf("%w: %w", audit.ErrUnavailable, l.err)
	}
	e = audit.Attribute(ctx, e)
	e.Seq = int64(len(l.events)) + 1
	if e.Time.IsZero() {
		e.Time = time.Now().UTC()
	}
	e.SQL.Tables = slices.Clone(e.SQL.Tables)
	e.SQL.Functions = slices.Clone(e.SQL.Functions)
	e.Decision.Codes = slices.Clone(e.Decision.Codes)
	l.events = append(l.events, e)
	return nil
}

// HMAC hashes raw under a fixed key.
func (l *Log) HMAC(raw string) string {
	mac := hmac.New(sha256.New, []byte("audittest"))
	mac.Write([]byte(raw))
	return hex.EncodeToString(mac.Sum(nil))
}

// Close makes later appends fail.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}

// Fail makes Append fail with err, wrapped in [audit.ErrUnavailable], until it
// is called with nil.
func (l *Log) Fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

// Events returns the events kept so far, only those of the given types when
// any are given.
func (l *Log) Events(types ...audit.Type) []audit.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []audit.Event
	for _, e := range l.events {
		if len(types) == 0 || slices.Contains(types, e.Type) {
			out = append(out, e)
		}
	}
	return out
}
