package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/sqlguard"
)

// Result is the answer to one case.
type Result struct {
	ID        string        `json:"id"`
	Dialect   string        `json:"dialect"`
	Class     string        `json:"class,omitempty"`
	Effect    string        `json:"-"` // the kind of effect of the case, or ""
	Decision  Decision      `json:"decision"`
	Code      sqlguard.Code `json:"code,omitempty"`
	Fault     Fault         `json:"fault,omitempty"`
	Detail    string        `json:"detail,omitempty"`
	Expect    corpus.Expect `json:"expect"`
	LatencyUS int64         `json:"latency_us"`
	// Met reports whether the decision is the expected one. On a policy case,
	// ktx must give the default answer that the case names. Another guard may
	// give either.
	Met bool `json:"met"`
	// Agrees reports whether the case lists the code.
	Agrees bool `json:"agrees"`
}

// Run puts every case to the guard, in order. It returns early if ctx ends or
// if the guard cannot be prepared. onCase, if not nil, is called after each
// case.
func Run(ctx context.Context, guard Guard, cases []corpus.Case, onCase func()) ([]Result, error) {
	results := make([]Result, 0, len(cases))
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return results, fmt.Errorf("corpus run: %w", err)
		}
		if err := guard.Prepare(ctx); err != nil {
			return results, fmt.Errorf("corpus run: case %s: %w", c.ID, err)
		}
		start := time.Now()
		var answer Answer
		if err := corpus.KnowsDialect(c.Dialect); err != nil {
			answer = Answer{Decision: Error, Code: sqlguard.CodeUnsupportedDialect, Detail: err.Error()}
		} else {
			answer = guard.Decide(ctx, Question{Dialect: c.Dialect, SQL: c.SQL})
		}
		took := time.Since(start)
		if err := ctx.Err(); err != nil && answer.Decision == Error {
			return results, fmt.Errorf("corpus run: %w", err)
		}
		effect := ""
		if c.Effect != nil {
			effect = c.Effect.Kind
		}
		results = append(results, Result{
			Effect: effect,
			ID:     c.ID, Dialect: c.Dialect, Class: c.Class, Expect: c.Expect, LatencyUS: took.Microseconds(),
			Decision: answer.Decision, Code: answer.Code, Fault: answer.Fault, Detail: answer.Detail,
			Met:    meets(answer.Decision, c, guard.OwnDefaults()),
			Agrees: answer.Decision == Reject && slices.Contains(c.Codes, string(answer.Code)),
		})
		if onCase != nil {
			onCase()
		}
	}
	return results, nil
}

func meets(d Decision, c corpus.Case, ownDefaults bool) bool {
	switch {
	case d == Error:
		return false
	case c.Expect == corpus.Policy && ownDefaults && c.Policy != nil:
		return d == Decision(c.Policy.Default)
	default:
		return c.Expect == corpus.Policy || d == Decision(c.Expect)
	}
}
