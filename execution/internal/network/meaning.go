package network

import (
	"cmp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// Meaning says how to report an error of a service to the caller.
type Meaning struct {
	Code  sqlguard.Code // "" means a database error
	Hint  string
	Again bool // a retry may succeed although nothing was changed
}

// To puts the meaning into an error.
func (m Meaning) To(out *execution.Error) {
	if m.Code != "" {
		info, _ := sqlguard.LookupCode(m.Code)
		out.Code, out.Retryable = m.Code, info.Retryable
	}
	if out.Code == sqlguard.CodeBusy {
		out.RetryAfter = pool.BusyRetry
	}
	out.Hint, out.Retryable = cmp.Or(m.Hint, out.Hint), out.Retryable || m.Again
}
