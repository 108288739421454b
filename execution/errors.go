package execution

import (
	"errors"
	"fmt"
	"time"

	"github.com/ktxhq/ktx/sqlguard"
)

// Error is the reason why a statement has no answer. Its text says what to do
// next when that is known.
type Error struct {
	Code    sqlguard.Code // of the execution family
	Message string
	Hint    string
	// Retryable says that the same call may succeed later.
	Retryable  bool
	RetryAfter time.Duration // for busy

	// SQLState, Position and ServerHint come from the server. Position is the
	// byte offset into the statement plus one, or 0 when unknown.
	SQLState   string
	Position   int
	ServerHint string

	// Elapsed is how long the statement ran at the server; 0 when it was not
	// sent. Held is set when the server may still be running it.
	Elapsed time.Duration
	Held    *Held

	Err error // the cause, kept for logs; never shown to a caller
}

// NewError returns an Error of code; hint and retryability are the code's own.
func NewError(code sqlguard.Code, message string, cause error) *Error {
	info, _ := sqlguard.LookupCode(code)
	return &Error{Code: code, Message: message, Retryable: info.Retryable, Err: cause}
}

// Error returns the code and the message.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of err: that of an *Error, the primary code of a
// *sqlguard.RejectedError, "" otherwise.
func CodeOf(err error) sqlguard.Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	if r, ok := errors.AsType[*sqlguard.RejectedError](err); ok {
		return r.Verdict.Code
	}
	return ""
}
