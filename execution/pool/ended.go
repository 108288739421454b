package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// Reasons to end a statement early, in addition to those of a context.
var (
	ErrTimeLimit    = errors.New("the time limit of the statement is over")
	ErrNoConnection = errors.New("there was no connection within the time limit")
	ErrClosing      = errors.New("the backend is being closed")
	// ErrEnough says that the caller wants no further row. It is not a failure.
	ErrEnough = errors.New("enough rows were read")
)

// BusyRetry is how long a caller should wait that found every connection in
// use.
const BusyRetry = 500 * time.Millisecond

// Unconfirmed returns the error for a statement that was ended early without the
// server confirming that it is over. The
// arguments reason, cause and limit are those of [Ended].
func Unconfirmed(reason, cause error, limit time.Duration) *execution.Error {
	const told = "; the server was asked to end it, which is not confirmed"
	e := Ended(reason, cause, limit)
	switch {
	case errors.Is(reason, ErrTimeLimit):
		e.Message = fmt.Sprintf("the statement ran longer than %s", limit) + told
	case errors.Is(reason, ErrNoConnection):
	case errors.Is(reason, context.DeadlineExceeded):
		e.Message = "the caller's deadline passed" + told
	case errors.Is(reason, ErrClosing):
		e.Message = "the connection is being closed" + told
	default:
		e.Message = "the statement was cancelled" + told
	}
	return e
}

// Ended returns the error for a statement that was ended early. reason is why
// it was ended, cause the resulting error, and limit the statement's time
// limit.
func Ended(reason, cause error, limit time.Duration) *execution.Error {
	switch {
	case errors.Is(reason, ErrTimeLimit):
		return execution.NewError(sqlguard.CodeTimeout, fmt.Sprintf("the statement ran longer than %s and was ended", limit), cause)
	case errors.Is(reason, ErrNoConnection):
		return execution.NoConnection("there was no connection to the server within the time limit", cause)
	case errors.Is(reason, context.DeadlineExceeded):
		return execution.NewError(sqlguard.CodeTimeout, "the caller's deadline passed and the statement was ended", cause)
	case errors.Is(reason, ErrClosing):
		return execution.NewError(sqlguard.CodeDraining, "the connection is being closed", cause)
	default:
		return execution.NewError(sqlguard.CodeCancelled, "the statement was cancelled", cause)
	}
}

// NotBegun returns the error for a session whose opening the server did not end within the
// limit of the statement. The statement was not run.
func NotBegun(cause error, limit time.Duration) *execution.Error {
	e := execution.NewError(sqlguard.CodeTimeout, fmt.Sprintf("the server did not open the session within %s; the statement was not run", limit), cause)
	e.Hint, e.Retryable = "the statement is not at fault: the server is slow or overloaded, so try again later", true
	return e
}

// Unopened marks the error of a session that the server refused to open: nothing that the
// caller writes helps.
func Unopened(e *execution.Error) *execution.Error {
	if e.Code == sqlguard.CodeDatabaseError {
		e.Message = "the server did not open the session, and the statement was not run: " + e.Message
		e.Hint, e.Retryable = "the statement is not at fault; tell the operator", false
	}
	return e
}
