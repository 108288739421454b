package run

import (
	"context"
	"fmt"

	"github.com/ktxhq/ktx/sqlguard"
)

// Decision is the answer of a guard.
type Decision string

// The decisions. Error means no answer: the dialect is not supported, a crash,
// or a timeout.
const (
	Allow  Decision = "allow"
	Reject Decision = "reject"
	Error  Decision = "error"
)

// Fault is the reason for an [Error]. It is empty if the guard itself answered
// that it cannot judge the case.
type Fault string

// The faults of a guard. Each is the result of the case that was asked.
const (
	Crash    Fault = "crash"     // it ended before it answered
	TimeOut  Fault = "timeout"   // it did not answer in time
	BadReply Fault = "bad_reply" // its reply breaks the protocol
)

// Question is what a guard gets of a case.
type Question struct{ Dialect, SQL string }

// Answer is the answer to a question.
type Answer struct {
	Decision Decision
	Code     sqlguard.Code
	Fault    Fault
	Detail   string // about a fault, for people; not trusted
}

// Guard answers cases.
type Guard interface {
	// Describe names the guard and its version.
	Describe() map[string]string
	// OwnDefaults reports whether the guard must give the default answers of
	// policy cases, which are those of ktx.
	OwnDefaults() bool
	// Prepare makes the guard ready for the next question. The time that it
	// takes is not measured. An error ends the run.
	Prepare(ctx context.Context) error
	// Decide answers one question.
	Decide(ctx context.Context, q Question) Answer
}

// Builtin is the guard of ktx with its default policy.
type Builtin struct {
	version string
	guards  map[string]*sqlguard.Guard
}

var _ Guard = (*Builtin)(nil)

// NewBuiltin returns the guard for the given dialects.
func NewBuiltin(version string, dialects []sqlguard.Dialect) (*Builtin, error) {
	b := &Builtin{version: version, guards: map[string]*sqlguard.Guard{}}
	for _, d := range dialects {
		g, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
		if err != nil {
			return nil, fmt.Errorf("corpus run: %w", err)
		}
		b.guards[d.Name()] = g
	}
	return b, nil
}

// Describe implements Guard.
func (b *Builtin) Describe() map[string]string {
	out := map[string]string{"name": "builtin", "version": b.version}
	for name, g := range b.guards {
		out[name] = g.Dialect().Version()
	}
	return out
}

// OwnDefaults implements Guard.
func (*Builtin) OwnDefaults() bool { return true }

// Prepare implements Guard.
func (*Builtin) Prepare(context.Context) error { return nil }

// Of returns the guard of a dialect, or nil.
func (b *Builtin) Of(dialect string) *sqlguard.Guard { return b.guards[dialect] }

// Decide implements Guard.
func (b *Builtin) Decide(_ context.Context, q Question) Answer {
	g := b.guards[q.Dialect]
	if g == nil {
		return Answer{Decision: Error, Code: sqlguard.CodeUnsupportedDialect}
	}
	if v := g.Check(q.SQL); !v.Allowed {
		return Answer{Decision: Reject, Code: v.Code}
	}
	return Answer{Decision: Allow}
}
