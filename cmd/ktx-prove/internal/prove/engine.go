package prove

import (
	"context"

	"github.com/ktxhq/ktx/corpus"
)

// Attempt is one way to run a statement.
type Attempt struct {
	Role     string // one of the engine's
	ReadOnly bool   // inside a read-only transaction, or what stands for it
}

// Tx is the attempt's transaction as evidence has it.
func (a Attempt) Tx() string {
	if a.ReadOnly {
		return "read_only"
	}
	return "none"
}

// engine is a server of this package's own, with the fixture in it.
type engine interface {
	// name is the product: postgresql, mariadb, mysql, sqlite.
	name() string
	version() string
	// roles are the administrator's and that of who may only read.
	roles() [2]string
	// prepare makes what a case needs beyond the fixture, and reports whether
	// it made anything.
	prepare(ctx context.Context, c corpus.Case) (bool, error)
	// try runs one text in a session of its own, which has ended when try
	// returns. Changed holds what the session itself showed. An error says that
	// nothing can be said of the text.
	try(ctx context.Context, a Attempt, sql string) (Outcome, error)
	// snapshot reads the server's state.
	snapshot(ctx context.Context) (State, error)
	// reset brings the server back to the fixture, running or not.
	reset(ctx context.Context) error
	// log is what the server has logged.
	log() string
	close() error
}
