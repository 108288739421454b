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

// Target describes one engine to the suite. [SQLite] and [PostgreSQL] make one
// from an OpenFunc.
type Target struct {
	// Engine is the name of the engine in the report.
	Engine string
	// Intro is the first paragraph of the engine's part of the report.
	Intro string
	// Dialect is the name of the dialect whose guards the suite uses.
	Dialect string
	// Open opens the backend on an address that a Database gave.
	Open OpenFunc
	// NewDatabase makes a database for the test. It has the table items (id,
	// name) with the rows (1, 'one'), (2, 'two'), (3, 'three').
	NewDatabase func(tb testing.TB) Database
	// Queries are the queries in this engine's SQL.
	Queries Queries
	// Values are queries that return one value, each with the value that is
	// expected.
	Values []ValueCase

	// Victim makes the database that is attacked, which attacks may damage.
	Victim func(tb testing.TB) Victim
	// Roles are the roles or accounts that the backend connects as. The one
	// with the most rights is first. Each is a column of the report.
	Roles []string
	// Attacks are statements that the suite sends past the guard, with a
	// dialect that refuses nothing.
	Attacks []Attack
	// Secrets is the table that the guard's policy denies, as schema.name.
	Secrets string
	// Reader is the engine's real dialect. If it is set, a guard with it must
	// refuse every attack.
	Reader sqlguard.Dialect
	// StoppedBy names the control that an error came from, as the report calls
	// it. The same control has the same name in every version.
	StoppedBy func(err *execution.Error) string
	// Report is the path of the report, relative to the test's folder.
	Report string
	// Update rewrites the engine's part of the report.
	Update bool
}

// Database is a database that the test can also reach without the backend.
type Database interface {
	// Address is the address to open the backend with.
	Address() string
	// Running counts the statements of this database's backend that run on the
	// server now. It reports false when the engine runs in this process.
	Running(tb testing.TB) (n int, ok bool)
}

// Queries are statements in one engine's SQL.
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
	// Duplicates returns one row with two columns named a of values 1 and 2. It is empty
	// if the language has no such query.
	Duplicates string
	// Empty returns no row and the columns id and name.
	Empty string
	// NoColumns returns three rows without columns. It is empty if the language
	// has no such query.
	NoColumns string
	// Slow are statements that run for a minute or more, each in its own way.
	Slow []string
	// Fails fails while it runs, before its first row. FailsLate fails after
	// 5,000 rows or more.
	Fails, FailsLate string
	// Wrong does not compile. WrongAt is the word in it at the error's
	// position, after characters of more than one byte. It is empty if the
	// engine gives no position.
	Wrong, WrongAt string
}

// ValueCase is a query that returns one value.
type ValueCase struct {
	Name string
	SQL  string
	Type string // the type of the column
	Want execution.Value
}

// RunBackend checks that the backend of target keeps the contract of
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

// suite is the target and what its tests share.
type suite struct{ Target }

// open opens a backend on a database of its own. When the test ends, it closes
// the backend if the test has not.
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
