package mcp

import (
	"context"
	"errors"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/sqlguard"
)

// checker answers /v1/check by the project's policy.
type checker struct{ door *wiring.OpenProject }

// Check implements httpapi.Checker.
func (c *checker) Check(ctx context.Context, req httpapi.CheckRequest) (sqlguard.Verdict, error) {
	if req.ConnectionID != "" {
		v, err := c.door.Gateway.Check(ctx, req.ConnectionID, req.SQL)
		if known, ok := errors.AsType[*execution.Error](err); ok {
			return v, &httpapi.CheckError{Problem: httpapi.Problem{Code: string(known.Code), Message: known.Message, Hint: console.HintOf(known)}}
		}
		return v, err
	}
	d, ok := dialects.Lookup(req.Dialect)
	if !ok {
		return sqlguard.Verdict{}, &httpapi.CheckError{Problem: httpapi.Problem{
			Code: string(sqlguard.CodeInvalidArguments), Message: "unknown dialect" + console.DidYouMean(req.Dialect, wiring.DialectNames()),
		}}
	}
	guard, err := wiring.DialectGuard(c.door.Project, "", "", d)
	if err != nil {
		return sqlguard.Verdict{}, err
	}
	return guard.Check(req.SQL), nil
}
