package executiontest

import (
	"context"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// OpenFunc opens the backend under test on an address (the path of a file or
// the URL of a server) with a pool of at most connections connections.
type OpenFunc func(ctx context.Context, address string, connections int, guard sqlguard.ID) (execution.Backend, error)

// Target is one engine as the suite sees it. [SQLite] and [PostgreSQL] make
// one from an OpenFunc.
type Target struct {
	// Engine is the name of the engine in the report.
	Engine string
	// Intro opens the engine's part of the report.
	Intro string
	// Dialect is the name of the dialect whose guards the suite uses.
	Dialect string
	// Open opens the backend on an address that a Database gave.
	Open OpenFunc
	// NewDatabase makes a database of the test's own with the table items
	// (id, name) of the rows (1, 'one'), (2, 'two'), (3, 'three').
	NewDatabase func(tb testing.TB) Database
	// Queries are the texts of this engine's SQL.
	Queries Queries
	// Values are texts that return one value, and what it must be.
	Values []ValueCase

	// Victim makes the database that is attacked: one that may be harmed.
	Victim func(tb testing.TB) Victim
	// Roles name who the backend may connect as, the mightiest first. Each is
	// a column of the report.
	Roles []string
	// Attacks are sent past a guard that refuses nothing.
	Attacks []Attack
	// Secrets is the table that the guard's policy denies, as schema.name.
	Secrets string
	// Reader is the engine's real dialect. Where it is given, a guard over it
	// must refuse every attack.
	Reader sqlguard.Dialect
	// StoppedBy says which control an error came from, in the words of the
	// report. The same control has the same words in every version.
	StoppedBy func(err *execution.Error) string
	// Report is the file of the report, seen from the test's folder.
	Report string
	// Update rewrites the engine's part of the report.
	Update bool
}

// Database is a database with an independent way in.
type Database interface {
	// Address is what the backend is opened with.
	Address() string
	// Running counts the statements that run at the server now, on behalf of
	// this database's backend. ok is false when the engine runs in this process.
	Running(tb testing.TB) (n int, ok bool)
}

// Queries are texts of one engine's SQL.
type Queries struct {
	// One returns one row with one column named one of value 1.
	One string
	// Numbers returns n rows with one column named n: 1 to n, in order.
	Numbers func(n int) string
	// Texts returns rows rows with one column named text, each a string of
	// size ASCII bytes.
	Texts func(rows, size int) string
	// Cells returns one row for each size with the columns id (1, 2, …) and
	// cell, an ASCII string of that size.
	Cells func(sizes ...int) string
	// Columns returns one row with n columns named c1 to cn of values 1 to n.
	Columns func(n int) string
	// Duplicates returns one row with two columns named a of values 1 and 2.
	Duplicates string
	// Empty returns no row and the columns id and name.
	Empty string
	// NoColumns returns three rows without columns; empty where the language
	// has no such query.
	NoColumns string
	// Slow are texts that run for a minute or more, each in its own way.
	Slow []string
	// Fails fails when it runs, before its first row; FailsLate after 5,000
	// rows or more have been returned.
	Fails, FailsLate string
	// Wrong does not compile; WrongAt is the word of it that the error's
	// position names, after characters of more than one byte. Empty where the
	// engine gives no position.
	Wrong, WrongAt string
}

// ValueCase is a text that returns one value.
type ValueCase struct {
	Name string
	SQL  string
	Type string // of the column
	Want execution.Value
}

// RunBackend holds the backend of target to the contract of
// [execution.Backend].
func RunBackend(t *testing.T, target Target) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"approval", testApproval},
		{"results", testResults},
		{"values", testValues},
		{"caps", testCaps},
		{"errors", testErrors},
		{"ending", testEnding},
		{"pool", testPool},
		{"closing", testClosing},
		{"facts", testFacts},
		{"attacks", testAttacks},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, &suite{Target: target}) })
	}
}

// suite is the target with what its tests share.
type suite struct{ Target }

// open opens a backend on a database of its own. It is closed when the test
// ends, if the test has not done so.
func (s *suite) open(t *testing.T, connections int) (*Client, Database) {
	t.Helper()
	db := s.NewDatabase(t)
	return s.openAt(t, db.Address(), connections), db
}

func (s *suite) openAt(t *testing.T, address string, connections int) *Client {
	t.Helper()
	g := Guard(t, s.Dialect, 0)
	b, err := s.Open(t.Context(), address, connections, g.ID())
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return NewClient(b, g)
}
