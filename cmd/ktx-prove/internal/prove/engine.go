package prove

import (
	"context"
	"fmt"

	"github.com/ktxhq/ktx/corpus"
)

// Attempt is one way to run a statement.
type Attempt struct {
	Role     string // one of the engine's roles
	ReadOnly bool   // inside a read-only transaction, or its equivalent
}

// Tx returns the transaction of the attempt, as evidence names it.
func (a Attempt) Tx() string {
	if a.ReadOnly {
		return "read_only"
	}
	return "none"
}

// setupError is the error of an engine that cannot set up what a case needs.
type setupError struct {
	text string
	err  error
}

func (e *setupError) Error() string { return fmt.Sprintf("set up %q: %v", e.text, e.err) }
func (e *setupError) Unwrap() error { return e.err }

// setup returns what a case sets up in the database and in its session.
func setup(c corpus.Case) (database, session []string) {
	if c.Setup == nil {
		return nil, nil
	}
	return c.Setup.Database, c.Setup.Session
}

// setUpSession runs what a case sets up in its session. What the role that may only read is
// not allowed to set up is left out.
func setUpSession(a Attempt, reader string, c corpus.Case, run func(text string) error) error {
	_, texts := setup(c)
	for _, text := range texts {
		if err := run(text); err != nil && a.Role != reader {
			return &setupError{text, err}
		}
	}
	return nil
}

// engine is a database server that this package started, with the fixture in
// it.
type engine interface {
	// name is the product: postgresql, mariadb, mysql or sqlite.
	name() string
	version() string
	// roles returns the administrator and the role that may only read.
	roles() [2]string
	// prepare creates what a case needs in addition to the fixture. It reports
	// whether it created anything.
	prepare(ctx context.Context, c corpus.Case) (bool, error)
	// try runs the statement of a case in a new session, which has ended when
	// try returns, after what the case sets up in it. Changed has what the
	// session itself showed. After an error, nothing is known about the
	// statement.
	try(ctx context.Context, a Attempt, c corpus.Case) (Outcome, error)
	// snapshot reads the state of the server.
	snapshot(ctx context.Context) (State, error)
	// reset restores the fixture, whether the server runs or not.
	reset(ctx context.Context) error
	// log returns what the server has logged.
	log() string
	close() error
}
