package run

import (
	"context"
	"fmt"

	"github.com/ktxhq/ktx/sqlguard"
)

// Decision is what a guard answered.
type Decision string

// The decisions. Error stands for no answer: no reader, a crash, a time-out.
const (
	Allow  Decision = "allow"
	Reject Decision = "reject"
	Error  Decision = "error"
)

// Fault says why an [Error] is one. It is empty where the guard itself answered
// that it cannot judge the case.
type Fault string

// The faults of a guard. Each is a result of the case that was asked.
const (
	Crash    Fault = "crash"     // it ended before it answered
	TimeOut  Fault = "timeout"   // it did not answer in time
	BadReply Fault = "bad_reply" // it answered something else than the protocol has
)

// Question is what a guard is told of a case.
type Question struct{ Dialect, SQL string }

// Answer is what became of a question.
type Answer struct {
	Decision Decision
	Code     sqlguard.Code
	Fault    Fault
	Detail   string // of a fault, for people; not trusted text
}

// Guard answers cases.
type Guard interface {
	// Describe names the guard and its version.
	Describe() map[string]string
	// OwnDefaults reports whether the guard is held to the default answers that
	// policy cases name. Those are the defaults of ktx.
	OwnDefaults() bool
	// Prepare makes the guard ready for the next question, outside of the time
	// that is measured. Its error ends the run.
	Prepare(ctx context.Context) error
	// Decide answers one question.
	Decide(ctx context.Context, q Question) Answer
}

// Builtin is the product's own guard with the policy of a configuration that
// says nothing.
type Builtin struct {
	version string
	guards  map[string]*sqlguard.Guard
}

var _ Guard = (*Builtin)(nil)

// NewBuiltin returns the guard over the given dialects.
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
