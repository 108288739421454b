package research

import (
	"errors"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research/upstream"
	"github.com/ktxhq/ktx/sqlguard"
)

// hasUpstreams reports whether the project configures other MCP servers.
func hasUpstreams(s *Service) bool { return s.stores.Load().Upstream != nil }

// hasUpstreamWrites reports whether a rule enables a tool that is not read-only.
func hasUpstreamWrites(s *Service) bool { return hasUpstreams(s) && s.stores.Load().Upstream.Writes() }

// describeUpstream returns what the client is told of an error of another server.
func describeUpstream(x *upstream.Error) ToolError {
	e := ToolError{
		Code: sqlguard.Code(x.Code), Message: x.Message, Hint: x.Hint, Server: x.Server, Tool: x.Tool,
		Retryable: x.Retryable, RetryAfterMs: x.RetryAfter.Milliseconds(),
	}
	if r, ok := errors.AsType[*sqlguard.RejectedError](x.Err); ok {
		why := describe(r, "")
		e.Verdict, e.Hint = why.Verdict, why.Hint
		e.Message = string(why.Code) + ": " + why.Message
	} else if cause, ok := errors.AsType[*execution.Error](x.Err); ok && x.Code == upstream.CodeSQLRejected {
		e.Message, e.Hint = cause.Error(), cause.Hint
	}
	return e
}

// recorded gives the error of a call that could not be recorded its code.
func recorded(err error) error {
	if errors.Is(err, audit.ErrUnavailable) {
		return execution.NewError(sqlguard.CodeAuditUnavailable, "the call could not be recorded, so it was not sent", err)
	}
	return err
}
