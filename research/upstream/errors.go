package upstream

import (
	"fmt"
	"time"
)

// The codes of [Error].
const (
	CodeToolNotFound     = "TOOL_NOT_FOUND"
	CodeToolDisabled     = "TOOL_DISABLED"
	CodeValidation       = "TOOL_VALIDATION_ERROR"
	CodeExecution        = "TOOL_EXECUTION_ERROR"
	CodeTimeout          = "TOOL_EXECUTION_TIMEOUT"
	CodeServerNotFound   = "SERVER_NOT_FOUND"
	CodeServerConnection = "SERVER_CONNECTION_ERROR"
	CodeToolChanged      = "TOOL_CHANGED"
	CodeSQLRejected      = "SQL_REJECTED"
	CodeResultTooLarge   = "RESULT_TOO_LARGE"
	CodeRateLimited      = "RATE_LIMITED"
	CodeConfiguration    = "CONFIGURATION_ERROR"
)

// Error says why a tool of a server was not called, or why its call failed. It holds no
// value of env, args or headers, and no argument of the call.
type Error struct {
	Code         string
	Message      string
	Hint         string // what to do next
	Server, Tool string
	Retryable    bool
	RetryAfter   time.Duration
	Err          error // the cause, which may be nil
}

// Error returns code and message.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
